// SPDX-License-Identifier: Apache-2.0
#include "display/cursor.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dormouse::display {

namespace {

// Black, white and what is seen through.
constexpr std::string_view kArrow[] = {
    "#           ", "##          ", "#.#         ", "#..#        ", "#...#       ",
    "#....#      ", "#.....#     ", "#......#    ", "#.......#   ", "#........#  ",
    "#.........# ", "#......#####", "#...#..#    ", "#..##..#    ", "#.#  #..#   ",
    "##   #..#   ", "#     #..#  ", "      #..#  ", "       ##   ",
};

std::shared_ptr<const CursorShape> make_arrow() {
    CursorShape shape;
    shape.image = Image{{static_cast<int>(kArrow[0].size()), static_cast<int>(std::size(kArrow))}, 0};
    for (int y = 0; y < shape.image.size().height; ++y) {
        const auto row = shape.image.row(y);
        for (std::size_t x = 0; x < row.size(); ++x) {
            const char colour = kArrow[y][x];
            if (colour != ' ') row[x] = colour == '#' ? 0xff000000 : 0xffffffff;
        }
    }
    return std::make_shared<const CursorShape>(std::move(shape));
}

// Null where nothing is to be drawn. A place that was guessed is not enough: a
// guest without a shape then draws its pointer itself.
std::shared_ptr<const CursorShape> shape_of(const CursorState& cursor) {
    if (!cursor.placed || cursor.shape) return cursor.placed ? cursor.shape : nullptr;
    return cursor.guessed ? nullptr : arrow_cursor();
}

// The part of the shape that is seen, in pixels of the screen. 64 bits: position
// and hot spot come from the guest.
Rect visible_part(const CursorState& cursor, const CursorShape& shape, const Rect& region) {
    const auto size = shape.image.size();
    const auto left = std::int64_t{cursor.x} - shape.hot_x;
    const auto top = std::int64_t{cursor.y} - shape.hot_y;
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

std::shared_ptr<const CursorShape> arrow_cursor() {
    static const auto arrow = make_arrow();
    return arrow;
}

CursorDrawn place_cursor(const CursorState& cursor, const Rect& region) {
    const auto shape = shape_of(cursor);
    if (!shape) return CursorDrawn::Unknown;
    if (!cursor.visible) return CursorDrawn::Hidden;
    return visible_part(cursor, *shape, region).empty() ? CursorDrawn::Outside : CursorDrawn::Drawn;
}

CursorDrawn draw_cursor(const CursorState& cursor, const Rect& region, Image& image) {
    const auto placed = place_cursor(cursor, region);
    if (placed != CursorDrawn::Drawn) return placed;
    const auto shape = shape_of(cursor);
    const auto part = visible_part(cursor, *shape, region);
    const int shape_x = part.x - (cursor.x - shape->hot_x);
    const int shape_y = part.y - (cursor.y - shape->hot_y);
    for (int y = 0; y < part.height; ++y) {
        const auto from = shape->image.row(shape_y + y).subspan(static_cast<std::size_t>(shape_x));
        const auto into =
            image.row(part.y - region.y + y).subspan(static_cast<std::size_t>(part.x - region.x));
        for (std::size_t x = 0; x < static_cast<std::size_t>(part.width); ++x)
            into[x] = blend(into[x], from[x]);
    }
    return placed;
}

}  // namespace dormouse::display
