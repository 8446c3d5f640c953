// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace dormouse::desktop {

// A key of the machine's keyboard under QEMU's name for it (QKeyCode in
// qapi/ui.json): "ret", "bracket_left". It names a place on a US keyboard; what
// it writes is decided by the layout in the guest. Always views a constant.
using QKeyCode = std::string_view;

inline constexpr QKeyCode kShiftKey = "shift";
inline constexpr QKeyCode kReturnKey = "ret";
inline constexpr QKeyCode kTabKey = "tab";

struct Keystroke {
    QKeyCode key;
    bool shift = false;
    friend bool operator==(const Keystroke&, const Keystroke&) = default;
};

// How the US layout, which every template has, writes a character: the 95
// printable ones of ASCII, newline (Return) and tab; nothing for all others.
std::optional<Keystroke> us_keystroke(char character);

}  // namespace dormouse::desktop
