// SPDX-License-Identifier: Apache-2.0
#include "display/cursor.h"

#include <algorithm>

namespace dormouse::display {

namespace {

// The part of the shape that is seen, in pixels of the screen. 64 bits: position
// and hot spot come from the guest.
Rect visible_part(const CursorState& cursor, const Rect& region) {
    const auto size = cursor.shape->image.size();
    const auto left = std::int64_t{cursor.x} - cursor.shape->hot_x;
    const auto top = std::int64_t{cursor.y} - cursor.shape->hot_y;
    const auto from_x = std::max<std::int64_t>(left, region.x);
    const auto from_y = std::max<std::int64_t>(top, region.y);
    const auto to_x = std::min<std::int64_t>(left + size.width, region.right());
    const auto to_y = std::min<std::int64_t>(top + size.height, region.bottom());
    if (to_x <= from_x || to_y <= from_y) return {};
    return {static_cast<int>(from_x), static_cast<int>(from_y), static_cast<int>(to_x - from_x),
            static_cast<int>(to_y - from_y)};
}

// `over` has its colours multiplied by its alpha. A colour that is larger than
// its alpha allows comes from a broken guest, and ends at white.
Pixel blend(Pixel under, Pixel over) {
    const Pixel rest = 255 - (over >> 24);
    Pixel result = 0xff000000;
    for (const unsigned shift : {0U, 8U, 16U}) {
        const Pixel below = ((under >> shift) & 0xff) * rest;
        const Pixel sum = ((over >> shift) & 0xff) + (below + 127) / 255;
        result |= std::min<Pixel>(sum, 255) << shift;
    }
    return result;
}

}  // namespace

std::string_view cursor_name(CursorDrawn drawn) {
    switch (drawn) {
        case CursorDrawn::Drawn:
            return "drawn";
        case CursorDrawn::Outside:
            return "outside";
        case CursorDrawn::Hidden:
            return "hidden";
        case CursorDrawn::Unknown:
            return "unknown";
    }
    return {};
}

CursorDrawn place_cursor(const CursorState& cursor, const Rect& region) {
    if (!cursor.shape || !cursor.placed) return CursorDrawn::Unknown;
    if (!cursor.visible) return CursorDrawn::Hidden;
    return visible_part(cursor, region).empty() ? CursorDrawn::Outside : CursorDrawn::Drawn;
}

CursorDrawn draw_cursor(const CursorState& cursor, const Rect& region, Image& image) {
    const auto placed = place_cursor(cursor, region);
    if (placed != CursorDrawn::Drawn) return placed;
    const auto part = visible_part(cursor, region);
    const auto& shape = cursor.shape->image;
    const int shape_x = part.x - (cursor.x - cursor.shape->hot_x);
    const int shape_y = part.y - (cursor.y - cursor.shape->hot_y);
    for (int y = 0; y < part.height; ++y) {
        const auto from = shape.row(shape_y + y).subspan(static_cast<std::size_t>(shape_x));
        const auto into =
            image.row(part.y - region.y + y).subspan(static_cast<std::size_t>(part.x - region.x));
        for (std::size_t x = 0; x < static_cast<std::size_t>(part.width); ++x)
            into[x] = blend(into[x], from[x]);
    }
    return placed;
}

}  // namespace dormouse::display
