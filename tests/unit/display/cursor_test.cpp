// SPDX-License-Identifier: Apache-2.0
#include "display/cursor.h"

#include <gtest/gtest.h>

#include <limits>

namespace dormouse::display {
namespace {

constexpr Pixel kGrey = 0xff808080;
constexpr Pixel kGreen = 0xff00ff00;

class Cursor : public ::testing::Test {
  protected:
    // Four by four, hot spot 1, 2.
    CursorState at(int x, int y, Pixel fill = kGreen) const {
        return {std::make_shared<const CursorShape>(CursorShape{Image{{4, 4}, fill}, 1, 2}),
                x,
                y,
                true,
                true,
                false,
                1};
    }
    int count(Pixel pixel) const {
        int found = 0;
        for (int y = 0; y < image.size().height; ++y)
            for (const auto each : image.row(y)) found += each == pixel ? 1 : 0;
        return found;
    }
    Image image{{20, 10}, kGrey};
    Rect screen{0, 0, 20, 10};
};

TEST_F(Cursor, HotSpotIsWhereThePointerIs) {
    EXPECT_EQ(draw_cursor(at(10, 5), screen, image), CursorDrawn::Drawn);
    EXPECT_EQ(image.at(9, 3), kGreen);
    EXPECT_EQ(image.at(12, 6), kGreen);
    EXPECT_EQ(count(kGreen), 16);
}

TEST_F(Cursor, IsCutAtEachBorder) {
    struct Case {
        int x, y, seen;
    };
    for (const auto& [x, y, seen] : {Case{0, 5, 12}, Case{19, 5, 8}, Case{10, 0, 8}, Case{10, 9, 12},
                                     Case{0, 0, 6}, Case{19, 9, 6}, Case{-2, 5, 4}, Case{20, 5, 4}}) {
        image = Image{{20, 10}, kGrey};
        EXPECT_EQ(draw_cursor(at(x, y), screen, image), CursorDrawn::Drawn);
        EXPECT_EQ(count(kGreen), seen) << x << "," << y;
    }
}

TEST_F(Cursor, IsNotDrawnOutside) {
    constexpr auto kFar = std::numeric_limits<int>::max();
    for (const auto& [x, y] :
         {std::pair{-3, 5}, {21, 5}, {5, -2}, {5, 12}, {kFar, 5}, {5, kFar}, {-kFar - 1, -kFar - 1}}) {
        EXPECT_EQ(draw_cursor(at(x, y), screen, image), CursorDrawn::Outside) << x << "," << y;
        EXPECT_EQ(count(kGrey), 200);
    }
}

TEST_F(Cursor, HotSpotFarAwayDoesNotOverflow) {
    constexpr auto kFar = std::numeric_limits<int>::max();
    auto cursor = at(-kFar, kFar);
    cursor.shape = std::make_shared<const CursorShape>(CursorShape{Image{{4, 4}, kGreen}, kFar, -kFar});
    EXPECT_EQ(draw_cursor(cursor, screen, image), CursorDrawn::Outside);
}

TEST_F(Cursor, IsDrawnIntoAPartOfTheScreen) {
    Image part{{6, 6}, kGrey};
    EXPECT_EQ(draw_cursor(at(10, 5), {10, 4, 6, 6}, part), CursorDrawn::Drawn);
    EXPECT_EQ(part.at(0, 0), kGreen);
    EXPECT_EQ(part.at(2, 2), kGreen);
    EXPECT_EQ(part.at(3, 0), kGrey);
    EXPECT_EQ(part.at(0, 3), kGrey);
}

TEST_F(Cursor, HalfTransparentPixelsAreMixed) {
    draw_cursor(at(10, 5, 0x80800000), screen, image);  // red at half, multiplied by its alpha
    EXPECT_EQ(image.at(10, 5), 0xffc04040);
    draw_cursor(at(3, 5, 0), screen, image);
    EXPECT_EQ(image.at(3, 5), kGrey);
}

TEST_F(Cursor, ColoursBeyondTheirAlphaEndAtWhite) {
    draw_cursor(at(10, 5, 0x00ffffff), screen, image);
    EXPECT_EQ(image.at(10, 5), 0xffffffff);
}

TEST_F(Cursor, IsAnArrowWhereItsShapeWasNeverTold) {
    image = Image{{40, 40}, kGrey};
    CursorState cursor{nullptr, 10, 10, true, true, false, 1};
    EXPECT_EQ(draw_cursor(cursor, {0, 0, 40, 40}, image), CursorDrawn::Drawn);
    EXPECT_EQ(image.at(10, 10), 0xff000000);  // its tip is its hot spot
    EXPECT_EQ(image.at(11, 13), 0xffffffff);
    EXPECT_EQ(image.at(9, 10), kGrey);
    EXPECT_EQ(image.at(11, 10), kGrey);
    cursor.guessed = true;
    EXPECT_EQ(draw_cursor(cursor, {0, 0, 40, 40}, image), CursorDrawn::Unknown);
}

TEST_F(Cursor, SaysWhyNothingIsDrawn) {
    auto hidden = at(10, 5);
    hidden.visible = false;
    EXPECT_EQ(draw_cursor(hidden, screen, image), CursorDrawn::Hidden);
    EXPECT_EQ(draw_cursor({}, screen, image), CursorDrawn::Unknown);
    auto nowhere = at(10, 5);
    nowhere.placed = false;
    EXPECT_EQ(draw_cursor(nowhere, screen, image), CursorDrawn::Unknown);
    EXPECT_EQ(cursor_name(CursorDrawn::Unknown), "unknown");
    EXPECT_EQ(count(kGrey), 200);
}

}  // namespace
}  // namespace dormouse::display
