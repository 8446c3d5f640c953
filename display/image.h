// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dormouse::display {

// Whole pixels, counted from the top left corner.
struct Size {
    int width = 0;
    int height = 0;

    bool empty() const { return width <= 0 || height <= 0; }
    friend bool operator==(const Size&, const Size&) = default;
};

struct Rect {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;

    static Rect whole(Size size) { return {0, 0, size.width, size.height}; }

    int right() const { return x + width; }    // one past the last column
    int bottom() const { return y + height; }  // one past the last row
    bool empty() const { return width <= 0 || height <= 0; }
    std::int64_t area() const { return empty() ? 0 : std::int64_t{width} * height; }
    bool contains(int px, int py) const { return px >= x && py >= y && px < right() && py < bottom(); }
    friend bool operator==(const Rect&, const Rect&) = default;
};

// What both have in common; empty (all zero) when nothing. The sides of both
// must fit an int: check numbers from outside with clip_to() first.
inline Rect intersect(const Rect& a, const Rect& b) {
    const int left = std::max(a.x, b.x);
    const int top = std::max(a.y, b.y);
    const int right = std::min(a.right(), b.right());
    const int bottom = std::min(a.bottom(), b.bottom());
    if (right <= left || bottom <= top) return {};
    return {left, top, right - left, bottom - top};
}

// Pixels are 32-bit words 0xFFRRGGBB (in memory B, G, R, 255): what QEMU calls
// PIXMAN_x8r8g8b8, with the unused byte always 255.
using Pixel = std::uint32_t;

// Somebody else's pixels; valid as long as they are.
struct ImageView {
    const Pixel* pixels = nullptr;
    Size size;
    std::size_t stride = 0;  // in pixels

    std::span<const Pixel> row(int y) const {
        return {pixels + static_cast<std::size_t>(y) * stride, static_cast<std::size_t>(size.width)};
    }
    // The part of it inside `rect`, which must lie within it.
    ImageView part(const Rect& rect) const {
        return {pixels + static_cast<std::size_t>(rect.y) * stride + static_cast<std::size_t>(rect.x),
                {rect.width, rect.height},
                stride};
    }
};

// A picture of its own, rows without gaps. A plain value: copying copies the pixels.
class Image {
  public:
    Image() = default;
    explicit Image(Size size, Pixel fill = 0xff000000)
        : size_(size),
          pixels_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height), fill) {}

    explicit Image(const ImageView& view);  // a copy

    Size size() const { return size_; }
    bool empty() const { return size_.empty(); }
    std::span<Pixel> row(int y) {
        return {pixels_.data() + offset(y), static_cast<std::size_t>(size_.width)};
    }
    std::span<const Pixel> row(int y) const {
        return {pixels_.data() + offset(y), static_cast<std::size_t>(size_.width)};
    }
    Pixel at(int x, int y) const { return row(y)[static_cast<std::size_t>(x)]; }
    ImageView view() const { return {pixels_.data(), size_, static_cast<std::size_t>(size_.width)}; }
    friend bool operator==(const Image&, const Image&) = default;

  private:
    std::size_t offset(int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width);
    }

    Size size_;
    std::vector<Pixel> pixels_;
};

inline Image::Image(const ImageView& view) : size_(view.size) {
    pixels_.reserve(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height));
    for (int y = 0; y < size_.height; ++y) {
        const auto from = view.row(y);
        pixels_.insert(pixels_.end(), from.begin(), from.end());
    }
}

}  // namespace dormouse::display
