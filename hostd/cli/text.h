// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hostd/base/clock.h"

namespace dormouse::cli {

// Text from outside, fit for a terminal: control characters, which could move
// the cursor or worse, become "?".
std::string plain(std::string_view text);

// "just now", "12 s ago", "3 min ago", "2 h ago", "5 days ago".
std::string relative_time(WallTime then, WallTime now);

std::string human_size(std::uint64_t bytes);  // "812 bytes", "45.2 KiB", "12.0 GiB"

// How many columns of a terminal it takes: one a code point, which is right for
// all but wide scripts.
std::size_t columns(std::string_view text);

enum class Style { None, Bold, Dim, Green, Yellow, Red };
std::string styled(std::string_view text, Style style, bool colour);
Style style_of_state(std::string_view state);  // of a desktop

}  // namespace dormouse::cli
