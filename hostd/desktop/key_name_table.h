// SPDX-License-Identifier: Apache-2.0
// The names of keys, as a table; for key_names.cpp. X's keysym names come first
// in each group, since suggestions show the first that is near; then what else
// people and models write. Keys are those that Debian 12's QEMU (7.2) has and
// that its virtio keyboard passes on; it has no F13 to F24. Left out on purpose:
// power, sleep and wake, which would take the desktop away from under its user.
#pragma once

#include <array>
#include <string_view>

#include "hostd/desktop/keymap.h"

namespace dormouse::desktop {

struct KeyName {
    std::string_view name;
    QKeyCode key;
    bool shift = false;
};

inline constexpr auto kKeyNames = std::to_array<KeyName>({
    // modifiers
    {"shift", "shift"},
    {"Shift_L", "shift"},
    {"Shift_R", "shift_r"},
    {"ctrl", "ctrl"},
    {"Control", "ctrl"},
    {"Control_L", "ctrl"},
    {"Control_R", "ctrl_r"},
    {"ctrl_l", "ctrl"},
    {"ctrl_r", "ctrl_r"},
    {"alt", "alt"},
    {"Alt_L", "alt"},
    {"Alt_R", "alt_r"},
    {"option", "alt"},
    {"AltGr", "alt_r"},
    {"ISO_Level3_Shift", "alt_r"},
    {"Mode_switch", "alt_r"},
    {"super", "meta_l"},
    {"Super_L", "meta_l"},
    {"Super_R", "meta_r"},
    {"meta", "meta_l"},
    {"Meta_L", "meta_l"},
    {"Meta_R", "meta_r"},
    {"win", "meta_l"},
    {"windows", "meta_l"},
    {"cmd", "meta_l"},
    {"command", "meta_l"},
    // writing
    {"Return", "ret"},
    {"Enter", "ret"},
    {"Escape", "esc"},
    {"esc", "esc"},
    {"BackSpace", "backspace"},
    {"bksp", "backspace"},
    {"Tab", "tab"},
    {"ISO_Left_Tab", "tab", true},
    {"space", "spc"},
    {"spacebar", "spc"},
    {"Delete", "delete"},
    {"del", "delete"},
    {"Insert", "insert"},
    {"ins", "insert"},
    {"Linefeed", "lf"},
    // moving
    {"Home", "home"},
    {"End", "end"},
    {"Page_Up", "pgup"},
    {"Prior", "pgup"},
    {"pgup", "pgup"},
    {"Page_Down", "pgdn"},
    {"Next", "pgdn"},
    {"pgdn", "pgdn"},
    {"pgdown", "pgdn"},
    {"Up", "up"},
    {"Down", "down"},
    {"Left", "left"},
    {"Right", "right"},
    {"ArrowUp", "up"},
    {"ArrowDown", "down"},
    {"ArrowLeft", "left"},
    {"ArrowRight", "right"},
    // functions
    {"F1", "f1"},
    {"F2", "f2"},
    {"F3", "f3"},
    {"F4", "f4"},
    {"F5", "f5"},
    {"F6", "f6"},
    {"F7", "f7"},
    {"F8", "f8"},
    {"F9", "f9"},
    {"F10", "f10"},
    {"F11", "f11"},
    {"F12", "f12"},
    // X has its Menu on the PC's "application" key, which QEMU calls compose.
    {"Menu", "compose"},
    {"ContextMenu", "compose"},
    {"apps", "compose"},
    {"Print", "sysrq"},
    {"Sys_Req", "sysrq"},
    {"PrintScreen", "sysrq"},
    {"prtsc", "sysrq"},
    {"Pause", "pause"},
    {"Break", "pause"},
    {"Caps_Lock", "caps_lock"},
    {"caps", "caps_lock"},
    {"Num_Lock", "num_lock"},
    {"Scroll_Lock", "scroll_lock"},
    {"Help", "help"},
    {"Cancel", "stop"},
    {"Undo", "undo"},
    {"Redo", "again"},
    {"Find", "find"},
    // keypad; the digits need Num Lock in the guest, without it they move
    {"KP_0", "kp_0"},
    {"KP_1", "kp_1"},
    {"KP_2", "kp_2"},
    {"KP_3", "kp_3"},
    {"KP_4", "kp_4"},
    {"KP_5", "kp_5"},
    {"KP_6", "kp_6"},
    {"KP_7", "kp_7"},
    {"KP_8", "kp_8"},
    {"KP_9", "kp_9"},
    {"KP_Enter", "kp_enter"},
    {"KP_Add", "kp_add"},
    {"KP_Subtract", "kp_subtract"},
    {"KP_Multiply", "kp_multiply"},
    {"KP_Divide", "kp_divide"},
    {"KP_Decimal", "kp_decimal"},
    {"KP_Equal", "kp_equals"},
    {"KP_Insert", "kp_0"},
    {"KP_Delete", "kp_decimal"},
    {"KP_Home", "kp_7"},
    {"KP_End", "kp_1"},
    {"KP_Page_Up", "kp_9"},
    {"KP_Prior", "kp_9"},
    {"KP_Page_Down", "kp_3"},
    {"KP_Next", "kp_3"},
    {"KP_Up", "kp_8"},
    {"KP_Down", "kp_2"},
    {"KP_Left", "kp_4"},
    {"KP_Right", "kp_6"},
    {"KP_Begin", "kp_5"},
    // media and browser
    {"XF86AudioMute", "audiomute"},
    {"XF86AudioLowerVolume", "volumedown"},
    {"XF86AudioRaiseVolume", "volumeup"},
    {"XF86AudioPlay", "audioplay"},
    {"XF86AudioStop", "audiostop"},
    {"XF86AudioPrev", "audioprev"},
    {"XF86AudioNext", "audionext"},
    {"XF86Back", "ac_back"},
    {"XF86Forward", "ac_forward"},
    {"XF86Reload", "ac_refresh"},
    {"XF86HomePage", "ac_home"},
    {"XF86Favorites", "ac_bookmarks"},
    {"XF86Copy", "copy"},
    {"XF86Cut", "cut"},
    {"XF86Paste", "paste"},
    {"XF86Open", "open"},
    {"XF86Calculator", "calculator"},
    {"XF86Mail", "mail"},
    {"XF86MyComputer", "computer"},
    // East Asian keyboards
    {"Henkan_Mode", "henkan"},
    {"Henkan", "henkan"},
    {"Muhenkan", "muhenkan"},
    {"Hiragana_Katakana", "katakanahiragana"},
    {"Hangul", "lang1"},
    {"Hangul_Hanja", "lang2"},
});

struct CharacterName {
    std::string_view name;
    char character;
};

// X's names of the punctuation, and a few that are just as common.
inline constexpr auto kCharacterNames = std::to_array<CharacterName>({
    {"exclam", '!'},     {"quotedbl", '"'},     {"numbersign", '#'},  {"dollar", '$'},
    {"percent", '%'},    {"ampersand", '&'},    {"apostrophe", '\''}, {"quoteright", '\''},
    {"parenleft", '('},  {"parenright", ')'},   {"asterisk", '*'},    {"plus", '+'},
    {"comma", ','},      {"minus", '-'},        {"period", '.'},      {"slash", '/'},
    {"colon", ':'},      {"semicolon", ';'},    {"less", '<'},        {"equal", '='},
    {"greater", '>'},    {"question", '?'},     {"at", '@'},          {"bracketleft", '['},
    {"backslash", '\\'}, {"bracketright", ']'}, {"asciicircum", '^'}, {"underscore", '_'},
    {"grave", '`'},      {"quoteleft", '`'},    {"braceleft", '{'},   {"bar", '|'},
    {"braceright", '}'}, {"asciitilde", '~'},   {"dot", '.'},         {"equals", '='},
    {"hyphen", '-'},     {"dash", '-'},         {"backtick", '`'},    {"tilde", '~'},
    {"pipe", '|'},       {"hash", '#'},
});

}  // namespace dormouse::desktop
