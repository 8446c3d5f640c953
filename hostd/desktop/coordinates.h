// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "hostd/base/result.h"
#include "hostd/desktop/actions.h"

namespace dormouse::desktop {

struct ScreenSize {
    int width = 0;  // pixels; 0 when there is no picture yet
    int height = 0;
    friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

// Between the pixels that the caller means and those of the screen. A pixel of a
// smaller picture stands for several of the screen: its centre is meant. Where
// both have the same size nothing changes. A plain value.
class CoordinateMap {
  public:
    // Errc::InvalidArgument for a size that cannot be.
    static Result<CoordinateMap> make(const std::optional<Coordinates>& coordinates, ScreenSize screen);

    // Errc::InvalidArgument names the range of what is allowed; Unavailable while
    // there is no screen.
    Result<Point> to_screen(const Point& point) const;
    // What a picture of that part shows, at least one pixel.
    Result<Region> to_screen(const Box& box) const;

    Point from_screen(const Point& point) const;     // of the screen; what lies outside is brought in
    Region from_screen(const Region& region) const;  // all pixels that have a part in it

    const ScreenSize& screen() const { return screen_; }
    const ScreenSize& seen() const { return seen_; }  // the caller's picture

  private:
    CoordinateMap(ScreenSize screen, ScreenSize seen) : screen_(screen), seen_(seen) {}

    ScreenSize screen_;
    ScreenSize seen_;
};

}  // namespace dormouse::desktop
