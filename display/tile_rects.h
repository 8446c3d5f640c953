// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "display/image.h"

namespace dormouse::display {

// Changes are found and told in squares of this many pixels.
constexpr int kTileSide = 64;

inline int tiles_across(Size size) {
    return (size.width + kTileSide - 1) / kTileSide;
}
inline int tiles_down(Size size) {
    return (size.height + kTileSide - 1) / kTileSide;
}

// Marked tiles as rectangles: runs along a row, and runs of the same extent in
// rows that follow one another put together.
class TileRects {
  public:
    explicit TileRects(Size screen) : screen_(Rect::whole(screen)) {}

    // For each row from the top: its runs, then its end.
    void add_run(int first_column, int columns, int row) {
        const Rect run{first_column * kTileSide, row * kTileSide, columns * kTileSide, kTileSide};
        for (auto& open : growing_) {
            if (open.x != run.x || open.width != run.width || open.bottom() != run.y) continue;
            open.height += kTileSide;
            return;
        }
        growing_.push_back(run);
    }
    void end_row(int row) {
        const int next = (row + 1) * kTileSide;
        std::erase_if(growing_, [&](const Rect& rect) {
            if (rect.bottom() == next) return false;
            done_.push_back(intersect(rect, screen_));
            return true;
        });
    }
    // Clipped to the screen; none overlap.
    std::vector<Rect> finish() && {
        for (const auto& rect : growing_) done_.push_back(intersect(rect, screen_));
        return std::move(done_);
    }

  private:
    Rect screen_;
    std::vector<Rect> growing_;
    std::vector<Rect> done_;
};

// `marked(column, row)` says which tiles.
template <class Marked>
std::vector<Rect> rects_of_tiles(Size size, Marked marked) {
    TileRects rects{size};
    const int across = tiles_across(size);
    for (int row = 0; row < tiles_down(size); ++row) {
        for (int column = 0; column < across;) {
            const int first = column;
            while (column < across && marked(column, row)) ++column;
            if (column > first) {
                rects.add_run(first, column - first, row);
            } else {
                ++column;
            }
        }
        rects.end_row(row);
    }
    return std::move(rects).finish();
}

}  // namespace dormouse::display
