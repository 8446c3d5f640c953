// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/text_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "hostd/desktop/keymap.h"

namespace dormouse::desktop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TextRun keys(std::string text) {
    return {TextRun::How::Keys, std::move(text), false};
}
TextRun paste(std::string text, bool keys_too = false) {
    return {TextRun::How::Paste, std::move(text), keys_too};
}

TEST(TextPlan, TypesAsciiByKeysAlsoOverSeveralLines) {
    EXPECT_THAT(*plan_text("Hello, World!"), ElementsAre(keys("Hello, World!")));
    EXPECT_THAT(*plan_text("a\nb\tc"), ElementsAre(keys("a\nb\tc")));
    EXPECT_THAT(*plan_text(""), IsEmpty());
}

TEST(TextPlan, TakesEveryKindOfLineEndForOneReturn) {
    EXPECT_THAT(*plan_text("a\r\nb\rc\n\r\n"), ElementsAre(keys("a\nb\nc\n\n")));
}

TEST(TextPlan, PastesAStretchWithAnythingElseWhole) {
    EXPECT_THAT(*plan_text("naïve Ωmega 日本語 مرحبا 🦔"),
                ElementsAre(paste("naïve Ωmega 日本語 مرحبا 🦔")));
    EXPECT_THAT(*plan_text("plain\nnaïve Ωmega\tplain"),
                ElementsAre(keys("plain\n"), paste("naïve Ωmega"), keys("\tplain")));
    EXPECT_THAT(*plan_text("é\né"), ElementsAre(paste("é"), keys("\n"), paste("é")));
}

TEST(TextPlan, PastesLinesThatWouldTakeLongByKeys) {
    const std::string line(kLongestTypedRun, 'x');
    EXPECT_THAT(*plan_text(line), ElementsAre(keys(line)));
    EXPECT_THAT(*plan_text(line + "y\nshort"), ElementsAre(paste(line + "y", true), keys("\nshort")));
}

TEST(TextPlan, TakesTheMethodThatWasAskedFor) {
    const std::string line(100, 'x');
    EXPECT_THAT(*plan_text(line, TypeMethod::Keys), ElementsAre(keys(line)));
    EXPECT_THAT(*plan_text("a\r\nb\tc", TypeMethod::Paste), ElementsAre(paste("a\nb\tc")));
    EXPECT_EQ(plan_text("aé", TypeMethod::Keys).error().message,
              "character 2 of the text, 'é', is on no key of a US keyboard");
}

TEST(TextPlan, RefusesControlCharactersAndNamesThePlace) {
    EXPECT_EQ(plan_text("né\x1b[A").error().message,
              "character 3 of the text is the control character U+001B, which cannot be typed");
    EXPECT_EQ(plan_text(std::string_view{"a\0b", 3}).error().code, Errc::InvalidArgument);
    EXPECT_THAT(plan_text("\x7f").error().message, HasSubstr("U+007F"));
    EXPECT_THAT(plan_text("ok\xc2\x85").error().message,
                HasSubstr("character 3 of the text is the control character U+0085"));
}

TEST(TextPlan, RefusesInvalidUtf8AndNamesThePlace) {
    EXPECT_EQ(plan_text("né\xff").error().message, "the text is not valid UTF-8 at character 3 (byte 4)");
    for (const std::string_view bad :
         {"\x80", "\xc0\x80", "\xc3", "\xe2\x82", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3(", "\xf0\x9f\xa6"})
        EXPECT_EQ(plan_text(bad).error().code, Errc::InvalidArgument);
    for (const std::string_view good : {"\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                        "\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(plan_text(good));
}

TEST(TextPlan, HasALimitInCharactersNotBytes) {
    std::string hedgehogs;
    for (std::size_t i = 0; i < kLongestText; ++i) hedgehogs += "🦔";
    EXPECT_TRUE(plan_text(hedgehogs));
    EXPECT_EQ(plan_text(hedgehogs + "x").error().code, Errc::TooLarge);
}

TEST(TextPlan, LosesNothingAndTypesOnlyWhatKeysCanWrite) {
    std::mt19937 random{7};
    const std::vector<std::string> pieces{"a", "Z", " ", "~", "\n", "\t", "é", "日", "🦔", "1"};
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (auto count = random() % 30; count > 0; --count) text += pieces[random() % pieces.size()];
        const auto plan = plan_text(text);
        ASSERT_TRUE(plan);
        std::string joined;
        for (std::size_t i = 0; i < plan->size(); ++i) {
            const auto& run = (*plan)[i];
            ASSERT_FALSE(run.text.empty());
            joined += run.text;
            if (run.how == TextRun::How::Keys) {
                for (const char character : run.text) ASSERT_TRUE(us_keystroke(character));
                ASSERT_TRUE(i == 0 || (*plan)[i - 1].how == TextRun::How::Paste);
            } else {
                ASSERT_EQ(run.text.find_first_of("\n\t"), std::string::npos);
            }
        }
        ASSERT_EQ(joined, text);
    }
}

}  // namespace
}  // namespace dormouse::desktop
