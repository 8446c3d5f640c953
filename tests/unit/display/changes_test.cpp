// SPDX-License-Identifier: Apache-2.0
#include "display/changes.h"

#include <gtest/gtest.h>

#include <random>

#include "decode.h"

namespace dormouse::display {
namespace {

using testing::noise;

class Changes : public ::testing::Test {
  protected:
    void fill(const Rect& rect) {
        for (int y = rect.y; y < rect.bottom(); ++y)
            for (int x = rect.x; x < rect.right(); ++x) now.row(y)[static_cast<std::size_t>(x)] ^= 0xffffff;
    }
    std::vector<Rect> found(std::size_t most = kMostChanges) const {
        return find_changes(before.view(), now.view(), most);
    }
    Image before = noise({300, 200}, 1);
    Image now = before;
};

TEST_F(Changes, EqualPicturesHaveNone) {
    EXPECT_TRUE(found().empty());
    EXPECT_TRUE(find_changes({}, {}).empty() || find_changes({}, {}).front().empty());
}

TEST_F(Changes, OnePixelIsOneRectangleOfOnePixel) {
    for (const auto& [x, y] : {std::pair{0, 0}, {63, 63}, {64, 64}, {299, 199}, {299, 0}}) {
        now = before;
        fill({x, y, 1, 1});
        EXPECT_EQ(found(), (std::vector<Rect>{{x, y, 1, 1}}));
    }
}

TEST_F(Changes, AreaOverManyTilesIsOneRectangle) {
    fill({50, 30, 200, 150});
    EXPECT_EQ(found(), (std::vector<Rect>{{50, 30, 200, 150}}));
}

TEST_F(Changes, PlacesApartAreTheirOwnFromTopToBottom) {
    fill({280, 190, 5, 5});
    fill({10, 10, 3, 4});
    fill({200, 12, 2, 2});
    EXPECT_EQ(found(), (std::vector<Rect>{{10, 10, 3, 4}, {200, 12, 2, 2}, {280, 190, 5, 5}}));
}

TEST_F(Changes, TooManyAreMergedWhereItCostsLeast) {
    fill({0, 0, 4, 4});
    fill({0, 70, 4, 4});
    fill({290, 190, 4, 4});
    EXPECT_EQ(found(2), (std::vector<Rect>{{0, 0, 4, 74}, {290, 190, 4, 4}}));
    EXPECT_EQ(found(1), (std::vector<Rect>{{0, 0, 294, 194}}));
    EXPECT_EQ(found(0).size(), 1U);
}

TEST_F(Changes, DifferentSizesDifferAsAWhole) {
    now = Image{{30, 20}};
    EXPECT_EQ(found(), (std::vector<Rect>{{0, 0, 30, 20}}));
}

TEST_F(Changes, EachDifferenceIsInsideOfARectangleHoweverMany) {
    // A hostile chequerboard: thousands of tiles, none beside another.
    before = Image{{4096, 4096}, 0xff000000};
    now = before;
    std::mt19937 random{3};
    std::vector<std::pair<int, int>> changed;
    for (int row = 0; row < 64; ++row) {
        for (int column = row % 2; column < 64; column += 2) {
            const int x = column * 64 + static_cast<int>(random() % 64);
            const int y = row * 64 + static_cast<int>(random() % 64);
            fill({x, y, 1, 1});
            changed.emplace_back(x, y);
        }
    }
    const auto rects = found();
    EXPECT_LE(rects.size(), kMostChanges);
    for (const auto& [x, y] : changed)
        EXPECT_TRUE(std::any_of(rects.begin(), rects.end(),
                                [x = x, y = y](const Rect& rect) { return rect.contains(x, y); }));
}

}  // namespace
}  // namespace dormouse::display
