// SPDX-License-Identifier: Apache-2.0
#include "display/still_options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dormouse::display {
namespace {

const Size kScreen{1280, 800};

Size size_of(const StillOptions& options) {
    const auto plan = plan_still(options, kScreen);
    EXPECT_TRUE(plan) << plan.error().message;
    return plan ? plan->size : Size{};
}

TEST(StillOptions, DefaultIsTheWholeScreenAsItIs) {
    EXPECT_EQ(*plan_still({}, kScreen), (StillPlan{{0, 0, 1280, 800}, {1280, 800}}));
}

TEST(StillOptions, ScaleAndLimitsKeepTheProportions) {
    EXPECT_EQ(size_of({.scale = 0.5}), (Size{640, 400}));
    EXPECT_EQ(size_of({.scale = 0.05}), (Size{64, 40}));
    EXPECT_EQ(size_of({.max_width = 1000}), (Size{1000, 625}));
    EXPECT_EQ(size_of({.max_height = 100}), (Size{160, 100}));
    EXPECT_EQ(size_of({.max_width = 1000, .max_height = 100}), (Size{160, 100}));
    EXPECT_EQ(size_of({.scale = 0.1, .max_width = 1000}), (Size{128, 80}));
    EXPECT_EQ(size_of({.max_width = 8000}), kScreen) << "a limit does not make it larger";
    EXPECT_EQ(size_of({.region = Rect{0, 0, 1280, 1}, .max_width = 10}), (Size{10, 1}));
    EXPECT_EQ(size_of({.region = Rect{10, 20, 100, 50}, .scale = 0.333}), (Size{33, 17}));
}

TEST(StillOptions, ExactSizeMayBeLarger) {
    EXPECT_EQ(size_of({.region = Rect{10, 20, 100, 50}, .exact = {400, 200}}), (Size{400, 200}));
    EXPECT_EQ(plan_still({.scale = 0.5, .exact = {400, 200}}, kScreen).error().code, Errc::InvalidArgument);
    EXPECT_EQ(plan_still({.exact = {400, 0}}, kScreen).error().code, Errc::InvalidArgument);
    EXPECT_EQ(plan_still({.exact = {9000, 10}}, kScreen).error().code, Errc::InvalidArgument);
}

TEST(StillOptions, RegionReachesToTheLastPixelAndNoFurther) {
    for (const Rect inside : {Rect{0, 0, 1280, 800}, Rect{1279, 799, 1, 1}, Rect{0, 799, 1280, 1}})
        EXPECT_EQ(plan_still({.region = inside}, kScreen)->region, inside);
    constexpr auto kMost = std::numeric_limits<int>::max();
    for (const Rect outside : {Rect{0, 0, 1281, 800}, Rect{1, 0, 1280, 800}, Rect{0, 1, 1, 800},
                               Rect{1280, 0, 1, 1}, Rect{-1, 0, 10, 10}, Rect{0, 0, 0, 10},
                               Rect{0, 0, 10, -1}, Rect{kMost, 0, kMost, 1}, Rect{0, 0, kMost, kMost}}) {
        const auto plan = plan_still({.region = outside}, kScreen);
        ASSERT_FALSE(plan) << outside.x << " " << outside.width;
        EXPECT_EQ(plan.error().code, Errc::InvalidArgument);
        EXPECT_NE(plan.error().message.find("1280x800"), std::string::npos) << plan.error().message;
    }
}

TEST(StillOptions, NumbersOutOfRangeAreRefusedWithTheRange) {
    for (const double scale :
         {0.0, -1.0, 0.0499, 1.01, std::nan(""), std::numeric_limits<double>::infinity()}) {
        const auto plan = plan_still({.scale = scale}, kScreen);
        ASSERT_FALSE(plan) << scale;
        EXPECT_NE(plan.error().message.find("0.05 to 1"), std::string::npos) << plan.error().message;
    }
    EXPECT_FALSE(plan_still({.max_width = -1}, kScreen));
    EXPECT_FALSE(plan_still({.max_height = 8193}, kScreen));
    EXPECT_FALSE(plan_still({.format = ImageFormat::Jpeg, .quality = 101}, kScreen));
    EXPECT_FALSE(plan_still({.quality = 50}, kScreen)) << "a png has no quality";
    EXPECT_TRUE(plan_still({.format = ImageFormat::Webp, .quality = 1}, kScreen));
}

TEST(StillOptions, DescriptionsTellOptionsApart) {
    EXPECT_EQ(describe({}), "png");
    EXPECT_EQ(
        describe({.format = ImageFormat::Jpeg, .region = Rect{0, 1, 20, 3}, .scale = 0.5, .quality = 60}),
        "jpeg-r0.1.20.3-s0.5-q60");
    EXPECT_EQ(describe({.max_width = 5, .max_height = 6, .max_bytes = 7}), "png-w5-h6-b7");
    EXPECT_EQ(describe({.exact = {5, 6}}), "png-x5.6");
}

TEST(StillOptions, FormatsHaveNamesAndMediaTypes) {
    EXPECT_EQ(format_name(ImageFormat::Jpeg), "jpeg");
    EXPECT_EQ(media_type(ImageFormat::Webp), "image/webp");
    EXPECT_EQ(media_type(ImageFormat::Png), "image/png");
}

}  // namespace
}  // namespace dormouse::display
