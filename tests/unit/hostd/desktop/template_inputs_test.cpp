// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_inputs.h"

#include <set>

#include "hostd/base/file.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

class TemplateInputsTest : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        inputs_ = {folder_ / "build-rootfs.sh", folder_ / "agent"};
        for (const char* file : {"build-rootfs.sh", "stage-packages.sh", "stage-disk.sh", "agent"})
            ASSERT_TRUE(write_file_atomic(folder_ / file, file));
        recipe_.overlay = folder_ / "overlay";
        ASSERT_TRUE(make_directories(recipe_.overlay / "etc"));
        ASSERT_TRUE(write_file_atomic(recipe_.overlay / "etc" / "a", "content"));
    }
    std::string hash(const char* machine = "machine") {
        return bake_hash(hash_inputs(recipe_, inputs_).value(), machine);
    }

    Recipe recipe_{.name = TemplateName::parse("small").value(),
                   .suite = "bookworm",
                   .packages = {"a", "b"},
                   .user = "user"};
    BakeInputs inputs_;
};

TEST_F(TemplateInputsTest, TheSameInputsGiveTheSameHash) {
    EXPECT_EQ(hash(), hash());
}

TEST_F(TemplateInputsTest, EverythingThatGoesInCounts) {
    std::vector<std::string> seen{hash()};
    const auto differs = [&](const char* what) {
        const auto now = hash();
        for (const auto& before : seen) EXPECT_NE(now, before) << what;
        seen.push_back(now);
    };
    ASSERT_TRUE(write_file_atomic(inputs_.agent_binary, "another agent"));
    differs("the agent");
    ASSERT_TRUE(write_file_atomic(inputs_.builder, "another builder"));
    differs("the builder");
    ASSERT_TRUE(write_file_atomic(folder_ / "stage-packages.sh", "another stage"));
    differs("the first stage");
    ASSERT_TRUE(write_file_atomic(folder_ / "stage-disk.sh", "another stage"));
    differs("the second stage");
    ASSERT_TRUE(write_file_atomic(recipe_.overlay / "etc" / "a", "other content"));
    differs("a file's content");
    std::filesystem::rename(recipe_.overlay / "etc" / "a", recipe_.overlay / "etc" / "b");
    differs("a file's name");
    std::filesystem::permissions(recipe_.overlay / "etc" / "b", std::filesystem::perms{0755});
    differs("whether it is a program");
    std::filesystem::create_symlink("b", recipe_.overlay / "etc" / "c");
    differs("a link");
    EXPECT_NE(hash("another machine"), seen.back());
}

TEST_F(TemplateInputsTest, EveryKeyOfTheRecipeCounts) {
    std::set<std::string> seen{hash()};
    const auto differs = [&](const char* what) { EXPECT_TRUE(seen.insert(hash()).second) << what; };
    const auto change = [&](auto& field, auto value, const char* what) {
        field = value;
        differs(what);
    };
    change(recipe_.name, TemplateName::parse("other").value(), "name");
    change(recipe_.description, "words", "description");
    change(recipe_.suite, "trixie", "suite");
    change(recipe_.memory_mib, 1024, "memory");
    change(recipe_.cpus, 3, "cpus");
    change(recipe_.disk_gib, 10, "disk");
    change(recipe_.screen_width, 1024, "width");
    change(recipe_.screen_height, 768, "height");
    change(recipe_.kernel_arguments, "quiet", "kernel arguments");
    change(recipe_.packages, std::vector<std::string>{"a"}, "packages");
    change(recipe_.added_packages, std::vector<std::string>{"b"}, "added packages");
    change(recipe_.locale, "de_DE.UTF-8", "locale");
    change(recipe_.timezone, "Europe/Berlin", "time zone");
    change(recipe_.keyboard, "de", "keyboard");
    change(recipe_.user, "me", "user");
    recipe_.repositories.push_back({.name = "r",
                                    .uri = "http://a",
                                    .suites = {"s"},
                                    .components = {"c"},
                                    .key = "k",
                                    .packages = {"p"}});
    differs("a repository");
    change(recipe_.repositories[0].uri, "http://b", "its address");
    change(recipe_.repositories[0].key, "l", "its key");
    change(recipe_.repositories[0].suites, std::vector<std::string>{"t"}, "its suites");
    change(recipe_.repositories[0].components, std::vector<std::string>{"d"}, "its components");
    change(recipe_.repositories[0].packages, std::vector<std::string>{"q"}, "its packages");
    recipe_.files.push_back({.path = "/a", .content = "x", .mode = 0644, .is_users = false});
    differs("a file");
    change(recipe_.files[0].content, "y", "its content");
    change(recipe_.files[0].mode, 0600U, "its mode");
    change(recipe_.files[0].is_users, true, "its owner");
    recipe_.commands.push_back({.text = "true", .as_user = false, .recipe = "small", .line = 3});
    differs("a command");
    change(recipe_.commands[0].as_user, true, "who runs it");
    const auto before = hash();
    recipe_.commands[0].line = 4;  // a comment above it
    EXPECT_EQ(hash(), before);
}

TEST_F(TemplateInputsTest, WhatHasChangedIsNamed) {
    const auto before = hash_inputs(recipe_, inputs_).value();
    EXPECT_EQ(differences(before, before), "");
    ASSERT_TRUE(write_file_atomic(inputs_.agent_binary, "another agent"));
    recipe_.cpus = 1;
    EXPECT_EQ(differences(before, hash_inputs(recipe_, inputs_).value()), "the recipe, the guest agent");
}

TEST_F(TemplateInputsTest, TheDataFolderIsFoundFromWhereTheProgramIs) {
    EXPECT_FALSE(find_data_folder(folder_ / "build/release/bin"));
    ASSERT_TRUE(make_directories(folder_ / "build/release/bin"));
    ASSERT_TRUE(make_directories(folder_ / "guest/image"));
    ASSERT_TRUE(make_directories(folder_ / "assets/templates"));
    ASSERT_TRUE(write_file_atomic(folder_ / "guest/image/build-rootfs.sh", ""));
    EXPECT_EQ(find_data_folder(folder_ / "build/release/bin").value(), folder_);
}

TEST_F(TemplateInputsTest, PackagesHaveAHashOfTheirOwn) {
    const auto before = packages_hash(recipe_, inputs_).value();
    ASSERT_TRUE(write_file_atomic(inputs_.agent_binary, "another agent"));
    EXPECT_EQ(packages_hash(recipe_, inputs_).value(), before);
    recipe_.added_packages = {"c"};
    recipe_.commands = {{.text = "true"}};
    ASSERT_TRUE(write_file_atomic(folder_ / "stage-disk.sh", "another stage"));
    EXPECT_EQ(packages_hash(recipe_, inputs_).value(), before) << "those of the parent are shared";
    recipe_.packages = {"ab"};
    EXPECT_NE(packages_hash(recipe_, inputs_).value(), before);
}

TEST_F(TemplateInputsTest, AMissingInputIsNamed) {
    std::filesystem::remove(inputs_.agent_binary);
    const auto hashes = hash_inputs(recipe_, inputs_);
    ASSERT_FALSE(hashes);
    EXPECT_NE(hashes.error().message.find("agent"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::desktop
