// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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
// without '_'; beside X's names also those of OpenAI ("CMD", "PAGEDOWN"), of the
// DOM and Playwright ("ArrowLeft", "KeyA", "Digit1"), of E2B ("page_down"), and
// single characters. '+' itself is "plus" or just '+'
// ("ctrl++"). A character that needs Shift brings it along ("?" presses shift
// and slash), except that beside Ctrl, Alt or Super the case of a letter means
// nothing: people write "Ctrl+C" and do not mean Shift.
// Errc::InvalidArgument names the key that is not known and those that are near.
Result<std::vector<Chord>> parse_keys(std::string_view text);

// What OpenAI and others send: a list of keys that are held together, as the
// text that parse_keys() reads. {"CTRL", "+"} gives "CTRL++", " " is "space".
std::string join_keys(const std::vector<std::string>& names);

// One combination to hold while something else is done; as parse_keys(), but
// without spaces. Empty for an empty text.
Result<Chord> parse_held(std::string_view text);

// Whether a key does nothing but modify others.
bool is_modifier(QKeyCode key);

// Every key that parse_keys() and us_keystroke() can press, each once.
const std::vector<QKeyCode>& pressable_keys();

}  // namespace dormouse::desktop
