// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_inputs.h"

#include "hostd/base/file.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

class TemplateInputsTest : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        inputs_ = {folder_ / "recipe", folder_ / "builder", folder_ / "agent"};
        for (const auto& file : {inputs_.recipe_file, inputs_.builder, inputs_.agent_binary})
            ASSERT_TRUE(write_file_atomic(file, file.filename().string()));
        recipe_.overlay = folder_ / "overlay";
        ASSERT_TRUE(make_directories(recipe_.overlay / "etc"));
        ASSERT_TRUE(write_file_atomic(recipe_.overlay / "etc" / "a", "content"));
    }
    std::string hash() { return bake_hash(recipe_, inputs_, "machine").value(); }

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
    ASSERT_TRUE(write_file_atomic(inputs_.recipe_file, "another recipe"));
    differs("the recipe");
    ASSERT_TRUE(write_file_atomic(recipe_.overlay / "etc" / "a", "other content"));
    differs("a file's content");
    std::filesystem::rename(recipe_.overlay / "etc" / "a", recipe_.overlay / "etc" / "b");
    differs("a file's name");
    std::filesystem::permissions(recipe_.overlay / "etc" / "b", std::filesystem::perms{0755});
    differs("whether it is a program");
    std::filesystem::create_symlink("b", recipe_.overlay / "etc" / "c");
    differs("a link");
    EXPECT_NE(bake_hash(recipe_, inputs_, "another machine").value(), seen.back());
}

TEST_F(TemplateInputsTest, PackagesHaveAHashOfTheirOwn) {
    const auto before = packages_hash(recipe_, inputs_).value();
    ASSERT_TRUE(write_file_atomic(inputs_.agent_binary, "another agent"));
    EXPECT_EQ(packages_hash(recipe_, inputs_).value(), before);
    recipe_.packages = {"ab"};
    EXPECT_NE(packages_hash(recipe_, inputs_).value(), before);
}

TEST_F(TemplateInputsTest, AMissingInputIsNamed) {
    std::filesystem::remove(inputs_.agent_binary);
    const auto hash = bake_hash(recipe_, inputs_, "machine");
    ASSERT_FALSE(hash);
    EXPECT_NE(hash.error().message.find("agent"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::desktop
