// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/result.h"
#include "hostd/desktop/actions.h"

namespace dormouse::desktop {

inline constexpr std::size_t kLongestText = 100'000;  // characters

// A line of more characters than this is pasted even where keys could write it:
// Chromium under emulation takes 15 to 20 keys a second, so that this many take
// as long as a paste does. What goes by keys works in every program, also in
// those that have no shortcut for pasting.
inline constexpr std::size_t kLongestTypedRun = 30;

// A part of a text, written in one way.
struct TextRun {
    enum class How { Keys, Paste };
    How how = How::Keys;
    // Keys: only what us_keystroke() knows; '\n' is Return, '\t' is Tab.
    // Paste: UTF-8; '\n' and '\t' only where all was asked to be pasted.
    std::string text;
    bool keys_too = false;  // of a Paste: keys could write it as well
    friend bool operator==(const TextRun&, const TextRun&) = default;
};

// Splits a text for writing it into the focused window. Newlines (also CR LF
// and a lone CR) and tabs are keys, for they do something; between them a
// stretch that has anything beyond ASCII is pasted whole, so that "naïve Ωmega"
// is one paste. With TypeMethod::Paste all is one run, with TypeMethod::Keys
// what the keyboard lacks is an error. Errc::InvalidArgument for invalid UTF-8 and for other control
// characters, naming the character's position; Errc::TooLarge beyond kLongestText.
Result<std::vector<TextRun>> plan_text(std::string_view text, TypeMethod method = TypeMethod::Auto);

}  // namespace dormouse::desktop
