// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/utf8.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(Utf8, KnowsWhatIsAndWhatIsNot) {
    for (const char* good : {"", "a", "\xc3\xa9", "\xe6\x97\xa5", "\xf0\x9f\xa6\x94", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(is_utf8(good)) << good;
    // Overlong, a surrogate, beyond U+10FFFF, alone, cut off.
    for (const char* bad :
         {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe6\x97", "a\xff"})
        EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Utf8, MakesOneLineOfAnything) {
    EXPECT_EQ(one_line("a\tb\nc\x1b[0m\x7f", 100), "a\tb c [0m ");
    EXPECT_EQ(one_line("\xc2\x85|\xe2\x80\xa8|", 100), " | |") << "line ends of other worlds";
    EXPECT_EQ(one_line("\xe6\x97", 100), "\xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_EQ(one_line("ab\xe6\x97\xa5", 4), "ab") << "never a part of a character";
    EXPECT_TRUE(is_utf8(one_line("\xff\xfe\x80 x", 100)));
}

TEST(Utf8, LeavesOutTheBeginningOfACharacterAtTheEnd) {
    EXPECT_EQ(whole_characters("ab\xe6\x97"), "ab");
    EXPECT_EQ(whole_characters("ab\xf0\x9f\xa6"), "ab");
    EXPECT_EQ(whole_characters("ab\xe6\x97\xa5"), "ab\xe6\x97\xa5");
    EXPECT_EQ(whole_characters("ab"), "ab");
    EXPECT_EQ(whole_characters(""), "");
}

}  // namespace
}  // namespace dormouse
