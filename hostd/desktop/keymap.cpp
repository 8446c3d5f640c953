// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/keymap.h"

#include <array>

namespace dormouse::desktop {

namespace {

// Views of constants for the letters and digits, whose keys are named as they are.
constexpr std::string_view kPlainKeys = "abcdefghijklmnopqrstuvwxyz0123456789";

struct Place {
    char plain;
    char shifted;
    QKeyCode key;
};

constexpr std::array kPunctuation{
    Place{'`', '~', "grave_accent"}, Place{'-', '_', "minus"},         Place{'=', '+', "equal"},
    Place{'[', '{', "bracket_left"}, Place{']', '}', "bracket_right"}, Place{'\\', '|', "backslash"},
    Place{';', ':', "semicolon"},    Place{'\'', '"', "apostrophe"},   Place{',', '<', "comma"},
    Place{'.', '>', "dot"},          Place{'/', '?', "slash"},
};

constexpr std::string_view kShiftedDigits = ")!@#$%^&*(";  // over 0 to 9

QKeyCode plain_key(char character) {
    return kPlainKeys.substr(kPlainKeys.find(character), 1);
}

}  // namespace

std::optional<Keystroke> us_keystroke(char character) {
    if (character >= 'A' && character <= 'Z')
        return Keystroke{plain_key(static_cast<char>(character - 'A' + 'a')), true};
    if ((character >= 'a' && character <= 'z') || (character >= '0' && character <= '9'))
        return Keystroke{plain_key(character), false};
    if (character == ' ') return Keystroke{"spc", false};
    if (character == '\n') return Keystroke{kReturnKey, false};
    if (character == '\t') return Keystroke{kTabKey, false};
    if (character == '\0') return std::nullopt;
    if (const auto digit = kShiftedDigits.find(character); digit != std::string_view::npos)
        return Keystroke{plain_key(static_cast<char>('0' + static_cast<int>(digit))), true};
    for (const auto& place : kPunctuation) {
        if (place.plain == character) return Keystroke{place.key, false};
        if (place.shifted == character) return Keystroke{place.key, true};
    }
    return std::nullopt;
}

}  // namespace dormouse::desktop
