// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_store.h"

#include "hostd/base/file.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

class TemplateStoreTest : public TemporaryFolder {
  protected:
    Template make(const std::string& hash) {
        const TemplateStore store{folder_};
        auto name = TemplateName::parse("desktop").value();
        Template made{.name = name,
                      .hash = hash,
                      .folder = store.folder_of(name, hash),
                      .memory_mib = 2048,
                      .cpus = 2,
                      .screen_width = 1280,
                      .screen_height = 800,
                      .kernel_arguments = "quiet",
                      .user = "user",
                      .accelerator = "tcg",
                      .cpu_model = "qemu64",
                      .qemu_version = "7.2.22",
                      .command_hash = "ab"};
        EXPECT_TRUE(make_directories(made.folder));
        EXPECT_TRUE(write_template_manifest(made));
        return made;
    }
    TemplateName desktop_ = TemplateName::parse("desktop").value();
};

TEST_F(TemplateStoreTest, SaysWhatToDoWhenThereIsNone) {
    const TemplateStore store{folder_};
    const auto none = store.newest(desktop_);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::Unavailable);
    EXPECT_NE(none.error().hint.find("./dormouse up"), std::string::npos);
}

TEST_F(TemplateStoreTest, AManifestComesBackAsItWasWritten) {
    const TemplateStore store{folder_};
    const auto made = make("0123456789abcdef");
    ASSERT_TRUE(store.publish(made));
    const auto found = store.newest(desktop_);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->hash, made.hash);
    EXPECT_EQ(found->folder, made.folder);
    EXPECT_EQ(found->kernel_arguments, "quiet");
    EXPECT_EQ(found->command_hash, "ab");
}

TEST_F(TemplateStoreTest, TheNewestReplacesTheOneBefore) {
    const TemplateStore store{folder_};
    ASSERT_TRUE(store.publish(make("aaaa")));
    ASSERT_TRUE(store.publish(make("bbbb")));
    EXPECT_EQ(store.newest(desktop_)->hash, "bbbb");
    EXPECT_TRUE(store.find(desktop_, "aaaa")) << "desktops may stand on it";
}

TEST_F(TemplateStoreTest, GarbageIsWhatNobodyStandsOn) {
    const TemplateStore store{folder_};
    for (const auto* hash : {"aaaa", "bbbb", "cccc"}) ASSERT_TRUE(store.publish(make(hash)));
    ASSERT_TRUE(make_directories(folder_ / "desktop-dddd.partial"));
    const auto removed = store.collect_garbage({"aaaa"});
    ASSERT_EQ(removed.size(), 1u);
    EXPECT_EQ(removed[0], store.folder_of(desktop_, "bbbb"));
    EXPECT_TRUE(store.find(desktop_, "aaaa"));
    EXPECT_TRUE(store.find(desktop_, "cccc"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "desktop-dddd.partial")) << "a bake may be at work there";
}

TEST_F(TemplateStoreTest, ADamagedManifestIsRefused) {
    const TemplateStore store{folder_};
    const auto made = make("aaaa");
    for (const auto* text :
         {"", "{", "[]", "{}", R"({"version":2})", R"({"version":1,"name":"../x","hash":"a"})"}) {
        ASSERT_TRUE(write_file_atomic(made.folder / "template.json", text));
        EXPECT_FALSE(read_template(made.folder)) << text;
    }
}

TEST_F(TemplateStoreTest, AllOfAManifestComesBack) {
    auto made = make("0123456789abcdef");
    made.description = "for research";
    made.parent = "desktop";
    made.locale = "de_DE.UTF-8";
    made.timezone = "Europe/Berlin";
    made.keyboard = "de";
    made.created_at = WallTime{std::chrono::milliseconds{1'796'043'194'123}};
    made.inputs = {.recipe = "r", .guest_files = "f", .agent = "a", .builder = "b"};
    made.packages_hash = "p";
    ASSERT_TRUE(write_template_manifest(made));
    const auto found = read_template(made.folder);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->description, made.description);
    EXPECT_EQ(found->parent, made.parent);
    EXPECT_EQ(found->locale, made.locale);
    EXPECT_EQ(found->timezone, made.timezone);
    EXPECT_EQ(found->keyboard, made.keyboard);
    EXPECT_EQ(found->created_at, made.created_at);
    EXPECT_EQ(found->inputs, made.inputs);
    EXPECT_EQ(found->packages_hash, made.packages_hash);
}

TEST_F(TemplateStoreTest, ListsTheNewestOfEachName) {
    const TemplateStore store{folder_};
    ASSERT_TRUE(store.publish(make("aaaa")));
    ASSERT_TRUE(store.publish(make("bbbb")));
    std::filesystem::create_symlink("nowhere", folder_ / "broken");
    ASSERT_TRUE(make_directories(folder_ / "packages"));
    const auto all = store.list();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].hash, "bbbb");
}

TEST_F(TemplateStoreTest, RemovesANameButNotWhatDesktopsStandOn) {
    const TemplateStore store{folder_};
    const auto old = make("aaaa");
    const auto unused = make("bbbb");
    const auto current = make("cccc");
    ASSERT_TRUE(store.publish(current));
    ASSERT_TRUE(store.remove(desktop_, {"aaaa"}));
    EXPECT_FALSE(store.newest(desktop_));
    EXPECT_TRUE(std::filesystem::exists(old.folder));
    EXPECT_FALSE(std::filesystem::exists(unused.folder));
    EXPECT_FALSE(std::filesystem::exists(current.folder));
    EXPECT_EQ(store.remove(TemplateName::parse("mine").value(), {}).error().code, Errc::NotFound);
}

TEST_F(TemplateStoreTest, KeepsThePackagesThatTemplatesWereMadeFrom) {
    const TemplateStore store{folder_};
    auto made = make("aaaa");
    made.packages_hash = "1111";
    ASSERT_TRUE(write_template_manifest(made));
    ASSERT_TRUE(store.publish(made));
    ASSERT_TRUE(make_directories(folder_ / "packages"));
    for (const char* name : {"1111.tar", "2222.tar", "3333.tar"})
        ASSERT_TRUE(write_file_atomic(folder_ / "packages" / name, ""));
    store.collect_packages("2222");
    EXPECT_TRUE(std::filesystem::exists(folder_ / "packages/1111.tar"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "packages/2222.tar"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "packages/3333.tar"));
}

}  // namespace
}  // namespace dormouse::desktop
