// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <vector>

#include "display/raw_pixels.h"

namespace dormouse::display::testing {

// Owns the bytes that a RawPixels points to.
struct Picture {
    Picture(int w, int h, Pixel fill)
        : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), fill) {}

    void set(int x, int y, Pixel pixel) {
        pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
            pixel;
    }
    RawPixels raw() const {
        return {width, height, static_cast<std::uint32_t>(width) * 4, kPixmanX8R8G8B8,
                std::as_bytes(std::span{pixels})};
    }

    int width;
    int height;
    std::vector<Pixel> pixels;
};

}  // namespace dormouse::display::testing
