// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/result.h"

namespace dormouse::desktop {

inline constexpr std::size_t kLongestText = 100'000;  // characters

// A run of more characters than this is pasted even where keys could write it.
// For now none is: what goes by keys works in every program, also in those that
// have another shortcut for pasting or none.
inline constexpr std::size_t kLongestTypedRun = std::numeric_limits<std::size_t>::max();

// A part of a text, written in one way.
struct TextRun {
    enum class How { Keys, Paste };
    How how = How::Keys;
    // Keys: only what us_keystroke() knows; '\n' is Return, '\t' is Tab.
    // Paste: UTF-8 without '\n' and '\t'.
    std::string text;
    friend bool operator==(const TextRun&, const TextRun&) = default;
};

// Splits a text for writing it into the focused window. Newlines (also CR LF
// and a lone CR) and tabs are always keys, for they do something; between them a
// stretch that has anything beyond ASCII is pasted whole, so that "naïve Ωmega"
// is one paste. Errc::InvalidArgument for invalid UTF-8 and for other control
// characters, naming the character's position; Errc::TooLarge beyond kLongestText.
Result<std::vector<TextRun>> plan_text(std::string_view text);

}  // namespace dormouse::desktop
