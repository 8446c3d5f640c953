// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_report.h"

#include <gmock/gmock.h>

#include "hostd/base/file.h"
#include "hostd/desktop/machine_plan.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

using testing::HasSubstr;

constexpr const char* kBuiltIn = R"(name = "desktop"
suite = "bookworm"
machine.kernel_arguments = "quiet"
files.overlay = "assets/guest"
system.user = "user"
)";
constexpr const char* kOwn = "from = \"desktop\"\nmachine.memory_mib = 1024\n";

class TemplateReport : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        host_.config.home = folder_;
        host_.config.templates = folder_ / "templates";
        host_.config.run = folder_ / "run";
        host_.qemu = {7, 2, 15, "7.2.15"};
        host_.data_folder = folder_ / "data";
        host_.keeper_binary = folder_ / "bin/dormouse-keeper";
        for (const char* below :
             {"data/assets/templates", "data/assets/guest", "data/guest/image", "bin", "templates"})
            ASSERT_TRUE(make_directories(folder_ / below));
        ASSERT_TRUE(write_file_atomic(host_.data_folder / "assets/templates/desktop.toml", kBuiltIn));
        for (const char* file : {"data/guest/image/build-rootfs.sh", "data/guest/image/stage-packages.sh",
                                 "data/guest/image/stage-disk.sh", "bin/dormouse-guestd"})
            ASSERT_TRUE(write_file_atomic(folder_ / file, "one"));
    }
    // As a bake of now would leave it.
    Template bake(const char* name, const char* text) {
        auto around = surroundings_in(host_.data_folder);
        around.name = TemplateName::parse(name).value();
        const auto recipe = parse_recipe(text, around).value();
        auto made = plan_template(host_, recipe).value();
        made.inputs = hash_inputs(recipe, host_.bake_inputs()).value();
        made.hash = bake_hash(made.inputs, machine_of(made));
        made.folder = host_.config.templates / fmt::format("{}-{}", name, made.hash);
        made.created_at = WallTime{std::chrono::seconds{1'700'000'000}};
        EXPECT_TRUE(make_directories(made.folder));
        EXPECT_TRUE(write_file_atomic(made.recipe_file(), text));
        EXPECT_TRUE(write_template_manifest(made));
        return made;
    }

    SystemClock clock_;
    EventLoop loop_{clock_};
    WorkPool pool_{1};
    Host host_{.config = {}, .loop = loop_, .pool = pool_};
};

TEST_F(TemplateReport, AFreshOneIsNotStale) {
    EXPECT_EQ(why_stale(host_, bake("desktop", kBuiltIn)), std::nullopt);
    EXPECT_EQ(why_stale(host_, bake("mine", kOwn)), std::nullopt);
}

TEST_F(TemplateReport, SaysWhatHasChanged) {
    const auto built_in = bake("desktop", kBuiltIn);
    const auto mine = bake("mine", kOwn);
    ASSERT_TRUE(write_file_atomic(folder_ / "bin/dormouse-guestd", "two"));
    EXPECT_EQ(why_stale(host_, built_in), "changed since: the guest agent");
    ASSERT_TRUE(write_file_atomic(folder_ / "data/guest/image/stage-disk.sh", "two"));
    EXPECT_EQ(why_stale(host_, mine), "changed since: the guest agent, the builder");
}

TEST_F(TemplateReport, AChangeOfTheBuiltInRecipeMakesThoseStaleThatInheritIt) {
    const auto built_in = bake("desktop", kBuiltIn);
    const auto mine = bake("mine", kOwn);
    ASSERT_TRUE(
        write_file_atomic(host_.data_folder / "assets/templates/desktop.toml",
                          std::string{kBuiltIn} + "commands = []\nsystem.timezone = \"Europe/Berlin\"\n"));
    EXPECT_THAT(why_stale(host_, mine).value_or(""),
                HasSubstr("not understood any more: the recipe 'desktop'"));
    ASSERT_TRUE(write_file_atomic(host_.data_folder / "assets/templates/desktop.toml",
                                  std::string{kBuiltIn} + "system.timezone = \"Europe/Berlin\"\n"));
    EXPECT_EQ(why_stale(host_, built_in), "changed since: the recipe");
    EXPECT_EQ(why_stale(host_, mine), "changed since: the recipe");
}

TEST_F(TemplateReport, AnotherQemuMakesThemStale) {
    const auto mine = bake("mine", kOwn);
    host_.qemu.text = "7.2.16";
    EXPECT_THAT(why_stale(host_, mine).value_or(""),
                HasSubstr("baked with QEMU 7.2.15, and this host has 7.2.16"));
}

TEST_F(TemplateReport, AnEarlyBakeIsStaleAndWithoutTheSourcesNothingIsSaid) {
    auto mine = bake("mine", kOwn);
    mine.inputs = {};
    EXPECT_THAT(why_stale(host_, mine).value_or(""), HasSubstr("earlier version"));
    host_.data_folder.clear();
    EXPECT_EQ(why_stale(host_, mine), std::nullopt);
}

TEST_F(TemplateReport, HasWhatTheManifestSaysAndTheSizeOnDisk) {
    const auto mine = bake("mine", kOwn);
    ASSERT_TRUE(write_file_atomic(mine.disk(), std::string(1 << 20, 'x')));
    const auto info = report_on(host_, mine);
    EXPECT_EQ(info.name, mine.name);
    EXPECT_EQ(info.hash, mine.hash);
    EXPECT_EQ(info.parent, "desktop");
    EXPECT_EQ(info.memory_mib, 1024);
    EXPECT_EQ(info.created_at, mine.created_at);
    EXPECT_GE(info.size, 1U << 20);
    EXPECT_FALSE(info.is_built_in);
    EXPECT_FALSE(info.stale);
    EXPECT_TRUE(report_on(host_, bake("desktop", kBuiltIn)).is_built_in);
}

}  // namespace
}  // namespace dormouse::desktop
