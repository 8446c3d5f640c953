// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/time.h"

#include <gtest/gtest.h>

namespace dormouse::schema {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kStart{std::chrono::seconds{1'796'043'194}};  // 2026-11-30T12:53:14Z

TEST(Time, IsWrittenInUtcWithMilliseconds) {
    EXPECT_EQ(format_time(kStart), "2026-11-30T12:53:14.000Z");
    EXPECT_EQ(format_time(kStart + 250ms), "2026-11-30T12:53:14.250Z");
    EXPECT_EQ(format_time(WallTime{}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(format_time(WallTime{-1ms}), "1969-12-31T23:59:59.999Z");
}

TEST(Time, IsReadInEveryFormOfTheRfc) {
    for (const auto* text : {"2026-11-30T12:53:14Z", "2026-11-30t12:53:14z", "2026-11-30 12:53:14Z",
                             "2026-11-30T12:53:14.000000000000Z", "2026-11-30T14:53:14+02:00",
                             "2026-11-29T23:23:14-13:30", "2026-11-30T12:53:14-00:00"})
        EXPECT_EQ(parse_time(text).value(), kStart) << text;
    EXPECT_EQ(parse_time("2026-11-30T12:53:14.5Z").value(), kStart + 500ms);
    EXPECT_EQ(parse_time("2026-11-30T12:53:14.123456789Z").value(), kStart + 123456789ns);
    EXPECT_EQ(parse_time("2024-02-29T00:00:00Z").value(), WallTime{1'709'164'800s});
    EXPECT_EQ(parse_time("2016-12-31T23:59:60Z").value(), parse_time("2017-01-01T00:00:00Z").value());
}

TEST(Time, BringsBackWhatItWrote) {
    for (const auto time : {WallTime{}, kStart + 1ms, WallTime{-123'456'789ms}})
        EXPECT_EQ(parse_time(format_time(time)).value(), time);
}

TEST(Time, IsNothingElse) {
    for (const auto* text : {"",
                             "2026-11-30",
                             "2026-11-30T12:53Z",
                             "2026-11-30T12:53:14",
                             "2026-13-30T12:53:14Z",
                             "2026-02-29T12:53:14Z",
                             "2026-00-01T12:53:14Z",
                             "2026-11-30T24:00:00Z",
                             "2026-11-30T12:60:14Z",
                             "2026-11-30T12:53:61Z",
                             "2026-11-30T12:53:14.Z",
                             "2026-11-30T12:53:14Zx",
                             " 2026-11-30T12:53:14Z",
                             "2026-11-30T12:53:14+2:00",
                             "2026-11-30T12:53:14+24:00",
                             "2026-11-30T12:53:14+01:60",
                             "0001-01-01T00:00:00Z",
                             "9999-12-31T23:59:59Z",
                             "-026-11-30T12:53:14Z",
                             "2026-11-30T12:53:14,5Z"})
        EXPECT_FALSE(parse_time(text)) << text;
}

}  // namespace
}  // namespace dormouse::schema
