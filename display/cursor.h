// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "display/framebuffer.h"

namespace dormouse::display {

// What became of a wish to see the pointer.
enum class CursorDrawn {
    Drawn,
    Outside,  // it is not within the part of the screen that is shown
    Hidden,   // the guest has hidden it
    Unknown,  // the guest has told no shape or place: it draws its pointer into the picture itself, or has
              // none
};

std::string_view cursor_name(CursorDrawn drawn);  // "drawn", "outside", ...

// Whether and where; nothing is drawn.
CursorDrawn place_cursor(const CursorState& cursor, const Rect& region);

// An arrow. For a guest that tells where its pointer is and has not told what it
// looks like: QEMU 7.2 does not repeat that to a new listener.
std::shared_ptr<const CursorShape> arrow_cursor();

// Lays the pointer over `image`, which shows the part of the screen that begins
// at `region.x`, `region.y`. What lies outside is left away. Any thread.
CursorDrawn draw_cursor(const CursorState& cursor, const Rect& region, Image& image);

}  // namespace dormouse::display
