// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "display/image.h"

namespace dormouse::display {

constexpr std::size_t kMostChanges = 32;

// Where two pictures differ: the 64x64 tiles that differ, neighbours put
// together, each rectangle drawn in to the pixels that really differ. When more
// than `most` are left, those are put together that gain the least area by it;
// such ones may overlap others. From top to bottom, then left to right; empty
// when the pictures are equal. Pictures of different sizes differ as a whole:
// one rectangle, all of `now`. Any thread; about a millisecond for 1280x800.
std::vector<Rect> find_changes(const ImageView& before, const ImageView& now,
                               std::size_t most = kMostChanges);

}  // namespace dormouse::display
