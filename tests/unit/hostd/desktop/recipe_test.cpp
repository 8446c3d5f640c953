// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/recipe.h"

#include <gtest/gtest.h>

namespace dormouse::desktop {
namespace {

constexpr const char* kSmall = R"(
name = "small"
suite = "bookworm"
[machine]
memory_mib = 1024
screen = "800x600"
kernel_arguments = "root=/dev/vda rw"
[packages]
install = ["xterm", "libstdc++6"]
[files]
overlay = "assets/guest"
[system]
user = "user"
commands = ["true"]
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Recipe, IsReadWithItsDefaults) {
    const auto recipe = parse_recipe(kSmall, "/source");
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(recipe->name.str(), "small");
    EXPECT_EQ(recipe->memory_mib, 1024);
    EXPECT_EQ(recipe->cpus, 2);
    EXPECT_EQ(recipe->screen_width, 800);
    EXPECT_EQ(recipe->screen_height, 600);
    EXPECT_EQ(recipe->overlay, "/source/assets/guest");
    EXPECT_EQ(recipe->packages, (std::vector<std::string>{"xterm", "libstdc++6"}));
}

TEST(Recipe, TheBuiltInOneIsGood) {
    const std::filesystem::path source{DORMOUSE_SOURCE_DIR};
    const auto recipe = load_recipe(source / "assets/templates/desktop.toml", source);
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(recipe->name.str(), "desktop");
    EXPECT_TRUE(std::filesystem::is_directory(recipe->overlay));
}

TEST(Recipe, WhatIsWrongIsNamedWithItsLine) {
    const struct {
        const char* from;
        const char* to;
        const char* expected;
    } cases[] = {
        {"name = \"small\"", "name = \"Small\"", "Small"},
        {"name = \"small\"", "name = 7", "line 2"},
        {"name = \"small\"", "nam = \"small\"", "'nam'"},
        {"suite = \"bookworm\"\n", "", "'suite' is missing"},
        {"memory_mib = 1024", "memory_mib = 100", "512 to 65536"},
        {"memory_mib = 1024", "memory_mib = 1024.5", "line 5"},
        {"memory_mib = 1024", "memory = 1024", "'machine.memory'"},
        {"800x600", "800*600", "WIDTHxHEIGHT"},
        {"800x600", "10x10", "WIDTHxHEIGHT"},
        {"\"xterm\"", "\"--option\"", "--option"},
        {"\"xterm\"", "3", "list of texts"},
        {"user = \"user\"", "user = \"a b\"", "system.user"},
        {"[files]", "[files", "line"},
    };
    for (const auto& one : cases) {
        const auto recipe = parse_recipe(with(kSmall, one.from, one.to), "/source");
        ASSERT_FALSE(recipe) << one.to;
        EXPECT_EQ(recipe.error().code, Errc::InvalidArgument);
        EXPECT_NE(recipe.error().message.find(one.expected), std::string::npos) << recipe.error().message;
    }
}

}  // namespace
}  // namespace dormouse::desktop
