// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/recipe_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostd/base/file.h"
#include "hostd/base/random.h"
#include "hostd/base/toml.h"

namespace dormouse::cli {
namespace {

using testing::HasSubstr;

class RecipePacker : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(make_directories(folder_ / "tools/bin"));
        ASSERT_TRUE(write_file_atomic(folder_ / "note.txt", "hello"));
        ASSERT_TRUE(write_file_atomic(folder_ / "tools/bin/run", "#!/bin/sh\n", 0755));
        ASSERT_TRUE(write_file_atomic(folder_ / "tools/read me", std::string("\0\1", 2)));
        ASSERT_TRUE(
            write_file_atomic(folder_ / "key.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\nab\"c\\\n"));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string refused(const std::string& source) {
        const auto packed = pack_recipe("\nfiles.add = [{source = '" + source + "'}]", folder_);
        return packed ? "" : packed.error().message;
    }
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("dormouse-pack-" + random_hex(8));
};

TEST_F(RecipePacker, PutsFilesWhereTheyAreNamedAndKeepsTheLines) {
    const std::string text =
        "name = 'm' # ümläut\n"
        "files.add = [{ path = '/ü', source = 'note.txt' }, {path='/opt/t', source=\"tools\"}]\n"
        "[[repositories]]\n"
        "key = 'key.asc' # beside\n";
    const auto packed = pack_recipe(text, folder_);
    ASSERT_TRUE(packed) << packed.error().message;
    EXPECT_EQ(*packed,
              "name = 'm' # ümläut\n"
              "files.add = [{ path = '/ü', source = [{path = \"\", mode = \"0644\", data = \"aGVsbG8=\"}] }, "
              "{path='/opt/t', source=[{path = \"bin/run\", mode = \"0755\", data = \"IyEvYmluL3NoCg==\"}, "
              "{path = \"read me\", mode = \"0644\", data = \"AAE=\"}]}]\n"
              "[[repositories]]\n"
              "key = \"-----BEGIN PGP PUBLIC KEY BLOCK-----\\u000Aab\\\"c\\\\\\u000A\" # beside\n");
    const auto root = toml::parse(*packed);
    EXPECT_EQ(root["repositories"][0]["key"].value<std::string>(),
              "-----BEGIN PGP PUBLIC KEY BLOCK-----\nab\"c\\\n");
}

TEST_F(RecipePacker, LeavesAloneWhatNamesNothing) {
    for (const std::string text :
         {"name = 'm'\n", "", "not toml [", "files.add = 3",
          "files.add = [3, {content = 'x'}, {source = [1]}]",
          "[[repositories]]\nkey = \"\"\"\n-----BEGIN PGP PUBLIC KEY BLOCK-----\n\"\"\"\n"})
        EXPECT_EQ(pack_recipe(text, folder_).value(), text);
}

TEST_F(RecipePacker, TakesNothingFromElsewhere) {
    std::filesystem::create_symlink("/etc", folder_ / "link");
    std::filesystem::create_symlink("/etc/passwd", folder_ / "tools/link");
    EXPECT_THAT(refused("/etc/passwd"),
                HasSubstr("line 2: 'source': '/etc/passwd' must be the name of a file"));
    EXPECT_THAT(refused("../x"), HasSubstr("beside the recipe"));
    EXPECT_THAT(refused("tools/../../x"), HasSubstr("beside the recipe"));
    EXPECT_THAT(refused(""), HasSubstr("beside the recipe"));
    EXPECT_THAT(refused("link/passwd"), HasSubstr("links are not followed"));
    EXPECT_THAT(refused("tools"), HasSubstr("links are not followed"));
    EXPECT_THAT(refused("nothing"), HasSubstr("No such file"));
}

TEST_F(RecipePacker, RefusesAKeyThatIsNoneAndTooMuch) {
    const auto key = pack_recipe("[[repositories]]\nkey = 'note.txt'", folder_);
    ASSERT_FALSE(key);
    EXPECT_THAT(key.error().hint, HasSubstr("gpg --enarmor"));
    ASSERT_TRUE(write_file_atomic(folder_ / "large", std::string(400 << 10, 'x')));
    EXPECT_EQ(refused("large"), "");
    const auto twice = pack_recipe("files.add = [{source = 'large'}, {source = 'large'}]", folder_);
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, Errc::TooLarge);
}

}  // namespace
}  // namespace dormouse::cli
