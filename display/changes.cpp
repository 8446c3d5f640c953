// SPDX-License-Identifier: Apache-2.0
#include "display/changes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "display/tile_rects.h"

namespace dormouse::display {

namespace {

constexpr std::size_t kMostCompared = 256;

class Comparison {
  public:
    Comparison(const ImageView& before, const ImageView& now) : before_(before), now_(now) {}

    bool differs(const Rect& rect) const {
        for (int y = rect.y; y < rect.bottom(); ++y)
            if (row_differs(rect, y)) return true;
        return false;
    }

    // The smallest rectangle with all differences of `rect`, which has some.
    Rect tighten(const Rect& rect) const {
        int top = rect.y;
        int bottom = rect.bottom();
        while (!row_differs(rect, top)) ++top;
        while (!row_differs(rect, bottom - 1)) --bottom;
        int left = rect.right();
        int right = rect.x;
        for (int y = top; y < bottom; ++y) {
            const auto a = before_.row(y);
            const auto b = now_.row(y);
            const auto differ = [&](int x) {
                return a[static_cast<std::size_t>(x)] != b[static_cast<std::size_t>(x)];
            };
            int x = rect.x;
            while (x < left && !differ(x)) ++x;
            left = std::min(left, x);
            for (x = rect.right(); x > right && !differ(x - 1);) --x;
            right = std::max(right, x);
        }
        return {left, top, right - left, bottom - top};
    }

  private:
    bool row_differs(const Rect& rect, int y) const {
        const auto from = static_cast<std::size_t>(rect.x);
        return std::memcmp(before_.row(y).data() + from, now_.row(y).data() + from,
                           static_cast<std::size_t>(rect.width) * sizeof(Pixel)) != 0;
    }

    ImageView before_;
    ImageView now_;
};

bool reads_before(const Rect& a, const Rect& b) {
    return std::tie(a.y, a.x) < std::tie(b.y, b.x);
}

Rect around(const Rect& a, const Rect& b) {
    const int left = std::min(a.x, b.x);
    const int top = std::min(a.y, b.y);
    return {left, top, std::max(a.right(), b.right()) - left, std::max(a.bottom(), b.bottom()) - top};
}

// Area that is in neither but would be told as changed.
std::int64_t waste(const Rect& a, const Rect& b) {
    return around(a, b).area() - a.area() - b.area();
}

void merge_cheapest(std::vector<Rect>& rects) {
    auto least = std::numeric_limits<std::int64_t>::max();
    std::size_t first = 0;
    std::size_t second = 1;
    for (std::size_t i = 0; i < rects.size(); ++i) {
        for (std::size_t j = i + 1; j < rects.size(); ++j) {
            const auto cost = waste(rects[i], rects[j]);
            if (cost >= least) continue;
            std::tie(least, first, second) = std::tuple{cost, i, j};
        }
    }
    rects[first] = around(rects[first], rects[second]);
    rects.erase(rects.begin() + static_cast<std::ptrdiff_t>(second));
}

void merge_neighbours(std::vector<Rect>& rects) {
    std::sort(rects.begin(), rects.end(), reads_before);
    std::vector<Rect> halved;
    for (std::size_t i = 0; i < rects.size(); i += 2)
        halved.push_back(i + 1 < rects.size() ? around(rects[i], rects[i + 1]) : rects[i]);
    rects = std::move(halved);
}

}  // namespace

std::vector<Rect> find_changes(const ImageView& before, const ImageView& now, std::size_t most) {
    if (before.size != now.size) return {Rect::whole(now.size)};
    const Comparison comparison{before, now};
    auto rects = rects_of_tiles(now.size, [&](int column, int row) {
        const Rect tile{column * kTileSide, row * kTileSide, kTileSide, kTileSide};
        return comparison.differs(intersect(tile, Rect::whole(now.size)));
    });
    for (auto& rect : rects) rect = comparison.tighten(rect);
    // A guest can draw a chequerboard of thousands: looking for the best pair is for few.
    while (rects.size() > kMostCompared) merge_neighbours(rects);
    while (rects.size() > std::max<std::size_t>(most, 1)) merge_cheapest(rects);
    std::sort(rects.begin(), rects.end(), reads_before);
    return rects;
}

}  // namespace dormouse::display
