// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/keymap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace dormouse::desktop {
namespace {

TEST(UsKeystroke, KnowsEveryPrintableCharacterOfAscii) {
    std::set<std::string> strokes;
    for (char character = ' '; character <= '~'; ++character) {
        const auto stroke = us_keystroke(character);
        ASSERT_TRUE(stroke) << character;
        EXPECT_TRUE(strokes.insert(fmt::format("{} {}", stroke->key, stroke->shift)).second)
            << character << " is written as another is";
    }
    EXPECT_EQ(strokes.size(), 95u);
}

TEST(UsKeystroke, FollowsTheUsLayout) {
    const std::map<char, Keystroke> expected{
        {'a', {"a", false}},
        {'Z', {"z", true}},
        {'0', {"0", false}},
        {')', {"0", true}},
        {'!', {"1", true}},
        {'@', {"2", true}},
        {'#', {"3", true}},
        {'$', {"4", true}},
        {'%', {"5", true}},
        {'^', {"6", true}},
        {'&', {"7", true}},
        {'*', {"8", true}},
        {'(', {"9", true}},
        {'-', {"minus", false}},
        {'_', {"minus", true}},
        {'=', {"equal", false}},
        {'+', {"equal", true}},
        {'[', {"bracket_left", false}},
        {'}', {"bracket_right", true}},
        {'\\', {"backslash", false}},
        {'|', {"backslash", true}},
        {';', {"semicolon", false}},
        {':', {"semicolon", true}},
        {'\'', {"apostrophe", false}},
        {'"', {"apostrophe", true}},
        {',', {"comma", false}},
        {'<', {"comma", true}},
        {'.', {"dot", false}},
        {'>', {"dot", true}},
        {'/', {"slash", false}},
        {'?', {"slash", true}},
        {'`', {"grave_accent", false}},
        {'~', {"grave_accent", true}},
        {' ', {"spc", false}},
    };
    for (const auto& [character, stroke] : expected) EXPECT_EQ(us_keystroke(character), stroke) << character;
}

TEST(UsKeystroke, WritesNewlineAndTabByTheirKeysAndNothingElse) {
    EXPECT_EQ(us_keystroke('\n'), (Keystroke{"ret", false}));
    EXPECT_EQ(us_keystroke('\t'), (Keystroke{"tab", false}));
    for (int code = 0; code < 256; ++code) {
        if (code == '\n' || code == '\t' || (code >= ' ' && code <= '~')) continue;
        EXPECT_FALSE(us_keystroke(static_cast<char>(code))) << code;
    }
}

}  // namespace
}  // namespace dormouse::desktop
