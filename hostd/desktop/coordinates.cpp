// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/coordinates.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dormouse::desktop {

namespace {

// What a virtio tablet can tell apart.
constexpr int kLargestSide = 32768;

Result<> need(const ScreenSize& screen) {
    if (screen.width > 0 && screen.height > 0) return {};
    return fail(Errc::Unavailable, "the desktop has no screen yet", "try again when it has started");
}

// The pixel of `to` pixels under the centre of one of `from`.
int centre(int pixel, int from, int to) {
    return static_cast<int>((2 * std::int64_t{pixel} + 1) * to / (2 * std::int64_t{from}));
}

int floor_edge(int edge, int from, int to) {
    return static_cast<int>(std::int64_t{edge} * to / from);
}
int ceil_edge(int edge, int from, int to) {
    return static_cast<int>((std::int64_t{edge} * to + from - 1) / from);
}

// As pictures are scaled: to the nearest whole number of pixels, never to none.
int scaled(int pixels, double scale) {
    return std::max(1, static_cast<int>(std::lround(pixels * scale)));
}

}  // namespace

Result<CoordinateMap> CoordinateMap::make(const std::optional<Coordinates>& coordinates, ScreenSize screen) {
    if (!coordinates) return CoordinateMap{screen, screen};
    ScreenSize seen{coordinates->width, coordinates->height};
    if (seen.width == 0 && seen.height == 0) {
        if (!(coordinates->scale > 0 && coordinates->scale <= 10))
            return fail(Errc::InvalidArgument,
                        fmt::format("coordinates.scale {} is not between 0 and 10", coordinates->scale));
        seen = {scaled(screen.width, coordinates->scale), scaled(screen.height, coordinates->scale)};
    }
    if (seen.width < 1 || seen.height < 1 || seen.width > kLargestSide || seen.height > kLargestSide)
        return fail(Errc::InvalidArgument,
                    fmt::format("coordinates: a picture of {}×{} pixels cannot be", seen.width, seen.height),
                    "give the width and height of the screenshot that the coordinates are of");
    return CoordinateMap{screen, seen};
}

Result<Point> CoordinateMap::to_screen(const Point& point) const {
    DORMOUSE_TRY(need(screen_));
    if (point.x < 0 || point.y < 0 || point.x >= seen_.width || point.y >= seen_.height)
        return fail(Errc::InvalidArgument,
                    fmt::format("coordinate ({}, {}) is outside the {}: x 0..{}, y 0..{}", point.x, point.y,
                                seen_ == screen_ ? "screen" : "picture", seen_.width - 1, seen_.height - 1));
    return Point{centre(point.x, seen_.width, screen_.width), centre(point.y, seen_.height, screen_.height)};
}

Result<Region> CoordinateMap::to_screen(const Box& box) const {
    DORMOUSE_TRY(need(screen_));
    if (box.left < 0 || box.top < 0 || box.right > seen_.width || box.bottom > seen_.height ||
        box.left >= box.right || box.top >= box.bottom)
        return fail(Errc::InvalidArgument,
                    fmt::format("region [{}, {}, {}, {}] is not in the {}: x 0..{}, y 0..{}", box.left,
                                box.top, box.right, box.bottom, seen_ == screen_ ? "screen" : "picture",
                                seen_.width, seen_.height),
                    "a region is [left, top, right, bottom], with right beyond left and bottom beyond top");
    const int left = floor_edge(box.left, seen_.width, screen_.width);
    const int top = floor_edge(box.top, seen_.height, screen_.height);
    const int right = ceil_edge(box.right, seen_.width, screen_.width);
    const int bottom = ceil_edge(box.bottom, seen_.height, screen_.height);
    return Region{left, top, std::max(1, right - left), std::max(1, bottom - top)};
}

Point CoordinateMap::from_screen(const Point& point) const {
    if (!need(screen_)) return point;
    const Point inside{std::clamp(point.x, 0, screen_.width - 1), std::clamp(point.y, 0, screen_.height - 1)};
    return {centre(inside.x, screen_.width, seen_.width), centre(inside.y, screen_.height, seen_.height)};
}

Region CoordinateMap::from_screen(const Region& region) const {
    if (!need(screen_)) return region;
    const int left = floor_edge(region.x, screen_.width, seen_.width);
    const int top = floor_edge(region.y, screen_.height, seen_.height);
    const int right = ceil_edge(region.x + region.width, screen_.width, seen_.width);
    const int bottom = ceil_edge(region.y + region.height, screen_.height, seen_.height);
    return {left, top, right - left, bottom - top};
}

}  // namespace dormouse::desktop
