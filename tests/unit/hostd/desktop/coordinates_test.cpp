// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/coordinates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::desktop {
namespace {

using testing::HasSubstr;

constexpr ScreenSize kScreen{1280, 800};

CoordinateMap map_of(std::optional<Coordinates> coordinates) {
    return *CoordinateMap::make(coordinates, kScreen);
}

TEST(CoordinateMap, ChangesNothingWhereTheCallerSeesTheScreenItself) {
    for (const auto& coordinates : {std::optional<Coordinates>{}, std::optional{Coordinates{1}},
                                    std::optional{Coordinates{1, 1280, 800}}}) {
        const auto map = map_of(coordinates);
        for (int x = 0; x < 1280; x += 7) {
            EXPECT_EQ(map.to_screen(Point{x, x % 800}).value(), (Point{x, x % 800}));
            EXPECT_EQ(map.from_screen(Point{x, x % 800}), (Point{x, x % 800}));
        }
        EXPECT_EQ(map.to_screen(Box{1, 2, 30, 40}).value(), (Region{1, 2, 29, 38}));
    }
}

TEST(CoordinateMap, MeansTheCentreOfAPixelOfASmallerPicture) {
    const auto half = map_of(Coordinates{0.5});
    EXPECT_EQ(half.seen(), (ScreenSize{640, 400}));
    EXPECT_EQ(half.to_screen(Point{0, 0}).value(), (Point{1, 1}));
    EXPECT_EQ(half.to_screen(Point{639, 399}).value(), (Point{1279, 799}));
    const auto third = map_of(Coordinates{1, 427, 267});
    for (int x = 0; x < 427; ++x) {
        const auto point = third.to_screen(Point{x, 0}).value();
        EXPECT_EQ(point.x, (2 * x + 1) * 1280 / (2 * 427));
        // Back it is the pixel that was meant.
        EXPECT_EQ(third.from_screen(point).x, x);
    }
}

TEST(CoordinateMap, KnowsLargerPicturesToo) {
    const auto twice = map_of(Coordinates{1, 2560, 1600});
    EXPECT_EQ(twice.to_screen(Point{2559, 1599}).value(), (Point{1279, 799}));
    EXPECT_EQ(twice.to_screen(Point{1, 1}).value(), (Point{0, 0}));
}

TEST(CoordinateMap, NamesTheRangeThatIsAllowed) {
    EXPECT_EQ(map_of({}).to_screen(Point{1280, 0}).error().message,
              "coordinate (1280, 0) is outside the screen: x 0..1279, y 0..799");
    EXPECT_EQ(map_of(Coordinates{0.5}).to_screen(Point{640, 0}).error().message,
              "coordinate (640, 0) is outside the picture: x 0..639, y 0..399");
    EXPECT_THAT(map_of({}).to_screen(Box{0, 0, 1281, 5}).error().message, HasSubstr("x 0..1280, y 0..800"));
    EXPECT_EQ(map_of({}).to_screen(Box{5, 5, 5, 6}).error().code, Errc::InvalidArgument);
}

TEST(CoordinateMap, GivesRegionsAllPixelsThatHaveAPartInThem) {
    const auto half = map_of(Coordinates{0.5});
    EXPECT_EQ(half.to_screen(Box{1, 1, 2, 2}).value(), (Region{2, 2, 2, 2}));
    EXPECT_EQ(half.from_screen(Region{3, 3, 2, 2}), (Region{1, 1, 2, 2}));
    EXPECT_EQ(half.from_screen(Region{0, 0, 1280, 800}), (Region{0, 0, 640, 400}));
}

TEST(CoordinateMap, RefusesSizesThatCannotBe) {
    for (const auto& wrong : {Coordinates{0}, Coordinates{-1}, Coordinates{1, 640, 0}, Coordinates{1, 0, 5},
                              Coordinates{1, 40000, 5}})
        EXPECT_EQ(CoordinateMap::make(wrong, kScreen).error().code, Errc::InvalidArgument);
}

TEST(CoordinateMap, WithoutAScreenThereAreNoPoints) {
    const auto map = CoordinateMap::make({}, {});
    ASSERT_TRUE(map);
    EXPECT_EQ(map->to_screen(Point{0, 0}).error().code, Errc::Unavailable);
    EXPECT_EQ(map->from_screen(Point{3, 4}), (Point{3, 4}));
}

}  // namespace
}  // namespace dormouse::desktop
