// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/labels.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(Labels, KeysAndValuesHaveTheirShape) {
    for (const char* good : {"a", "0", "team", "example.org/team_1-x"})
        EXPECT_TRUE(check_label_key(good)) << good;
    for (const char* bad : {"", "-a", ".a", "Team", "a b", "a=b", "a\n", "\xc3\xa9"})
        EXPECT_FALSE(check_label_key(bad)) << bad;
    EXPECT_TRUE(check_label_key(std::string(63, 'a')));
    EXPECT_FALSE(check_label_key(std::string(64, 'a')));
    for (const char* good : {"", "a=b", "na\xc3\xafve \xf0\x9f\xa6\x94"})
        EXPECT_TRUE(check_label_value(good)) << good;
    for (const char* bad : {"a\nb", "\t", "\x7f", "\xff", "\xc2\x85"})
        EXPECT_FALSE(check_label_value(bad)) << bad;
    EXPECT_TRUE(check_label_value(std::string(255, 'x')));
    EXPECT_FALSE(check_label_value(std::string(256, 'x')));
}

TEST(Labels, ThereAreAtMostThirtyTwo) {
    Labels labels;
    for (int i = 0; i < 32; ++i) labels.emplace("k" + std::to_string(i), "");
    EXPECT_TRUE(check_labels(labels));
    labels.emplace("one-more", "");
    EXPECT_EQ(check_labels(labels).error().code, Errc::InvalidArgument);
}

TEST(Labels, AFilterIsAKeyOrAKeyWithItsValue) {
    const Labels labels{{"team", "a=b"}, {"empty", ""}};
    const auto matches = [&](std::string_view text) { return fits(labels, *parse_label_filter(text)); };
    EXPECT_TRUE(matches("team"));
    EXPECT_TRUE(matches("team=a=b"));
    EXPECT_TRUE(matches("empty="));
    EXPECT_FALSE(matches("team="));
    EXPECT_FALSE(matches("tea"));
    EXPECT_FALSE(parse_label_filter("=x"));
    EXPECT_TRUE(fits(labels, std::vector<LabelFilter>{}));
    EXPECT_FALSE(fits(labels, std::vector{*parse_label_filter("team"), *parse_label_filter("other")}));
}

TEST(Labels, ComeBackFromTheTextTheyAreKeptAs) {
    const Labels labels{{"a", "x = y"}, {"b", ""}};
    EXPECT_EQ(*labels_from_text(labels_to_text(labels)), labels);
    EXPECT_EQ(*labels_from_text(""), Labels{});
    for (const char* broken : {"a=b", "a\n", "=x\n", "A=x\n"})
        EXPECT_EQ(labels_from_text(broken).error().code, Errc::Corrupt) << broken;
}

}  // namespace
}  // namespace dormouse
