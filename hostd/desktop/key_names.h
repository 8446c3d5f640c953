// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "hostd/base/result.h"
#include "hostd/desktop/keymap.h"

namespace dormouse::desktop {

// Keys that are held down together. Pressed in this order (modifiers first),
// released in the reverse one. Never empty, never the same key twice.
struct Chord {
    std::vector<QKeyCode> keys;
    friend bool operator==(const Chord&, const Chord&) = default;
};

inline constexpr std::size_t kMostChords = 100;     // in one text
inline constexpr std::size_t kMostKeysInChord = 8;  // more fingers than that is a mistake

// Reads what xdotool's `key` takes: names of keys joined by '+' to a chord, and
// several chords separated by spaces ("ctrl+a Delete"). Any case, with or
// without '_'; beside X's names also the usual others ("enter", "cmd",
// "ArrowLeft") and single characters. '+' itself is "plus" or just '+'
// ("ctrl++"). A character that needs Shift brings it along ("?" presses shift
// and slash), except that beside Ctrl, Alt or Super the case of a letter means
// nothing: people write "Ctrl+C" and do not mean Shift.
// Errc::InvalidArgument names the key that is not known and those that are near.
Result<std::vector<Chord>> parse_keys(std::string_view text);

// Every key that parse_keys() and us_keystroke() can press, each once.
const std::vector<QKeyCode>& pressable_keys();

}  // namespace dormouse::desktop
