// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hostd/cli/bench.h"

namespace dormouse::cli::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Bench, SummarisesAnOddAndAnEvenNumberOfSamples) {
    const auto odd = summarise({3, 1, 2});
    EXPECT_EQ(odd.count, 3U);
    EXPECT_DOUBLE_EQ(odd.median, 2);
    EXPECT_DOUBLE_EQ(odd.max, 3);
    EXPECT_DOUBLE_EQ(summarise({4, 1, 2, 3}).median, 2.5);
}

TEST(Bench, TakesTheSampleThatNinetyFiveOfAHundredDoNotExceed) {
    std::vector<double> samples;
    for (int i = 100; i > 0; --i) samples.push_back(i);
    EXPECT_DOUBLE_EQ(summarise(samples).p95, 95);
    EXPECT_DOUBLE_EQ(summarise({7}).p95, 7);
    EXPECT_EQ(summarise({}).count, 0U);
}

TEST(Bench, WritesTheAgreedJson) {
    const Measurement plain{.name = "create", .samples = {100, 300.126}};
    const Measurement compared{
        .name = "screenshot_changed", .samples = {10}, .baseline = Baseline{"scrot", 200}};
    EXPECT_EQ(json::parse(to_json({plain, compared})), json::parse(R"({"results":[
        {"name":"create","unit":"ms","count":2,"median":200.06,"p95":300.13,"max":300.13},
        {"name":"screenshot_changed","unit":"ms","count":1,"median":10,"p95":10,"max":10,
         "baseline":{"name":"scrot","median":200}}]})"));
}

TEST(Bench, ShowsHowManyTimesFasterThanTheUsualWay) {
    const auto table = to_table({{.name = "a", .samples = {10}, .baseline = Baseline{"scrot", 200}}}, false);
    EXPECT_THAT(table, HasSubstr("20.0"));
    EXPECT_THAT(to_table({{.name = "a", .samples = {10}}}, false), Not(HasSubstr("scrot")));
}

TEST(Bench, PassesOnWhyAMeasurementFailed) {
    const SystemClock clock;
    const auto failed = timed(clock, []() -> Result<> { return fail(Errc::Timeout, "too slow"); });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::Timeout);
}

}  // namespace
}  // namespace dormouse::cli::bench
