// SPDX-License-Identifier: Apache-2.0
// The spellings of keys that clients really send, dialect by dialect: each list
// is all that the dialect's own documentation or source names, but for keys that
// a PC under QEMU 7.2 does not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hostd/desktop/key_names.h"

namespace dormouse::desktop {
namespace {

using testing::HasSubstr;

struct Spelling {
    std::string name;
    std::string keys;  // QKeyCodes in the order of pressing
};

std::string read(std::string_view text) {
    const auto chords = parse_keys(text);
    if (!chords) return fmt::format("error: {} ({})", chords.error().message, chords.error().hint);
    std::string all;
    for (const auto& chord : *chords) {
        if (!all.empty()) all += " |";
        for (const auto key : chord.keys) all += fmt::format("{}{}", all.empty() ? "" : " ", key);
    }
    return all;
}

std::string changed_case(std::string text, int (*change)(int)) {
    // A lone letter's case says whether Shift is meant.
    if (text.size() == 1) return text;
    std::transform(text.begin(), text.end(), text.begin(),
                   [change](unsigned char byte) { return static_cast<char>(change(byte)); });
    return text;
}

void expect_all(const std::vector<Spelling>& spellings) {
    for (const auto& [name, keys] : spellings) {
        EXPECT_EQ(read(name), keys) << name;
        EXPECT_EQ(read(changed_case(name, std::tolower)), keys) << name;
        EXPECT_EQ(read(changed_case(name, std::toupper)), keys) << name;
    }
}

std::vector<Spelling> numbered(std::string name, std::string key, int first, int last) {
    std::vector<Spelling> all;
    for (int i = first; i <= last; ++i) all.push_back({name + std::to_string(i), key + std::to_string(i)});
    return all;
}

std::vector<Spelling> letters(const std::string& prefix) {
    std::vector<Spelling> all;
    for (char letter = 'a'; letter <= 'z'; ++letter)
        all.push_back({prefix + static_cast<char>(prefix.empty() ? letter : letter - 'a' + 'A'),
                       std::string(1, letter)});
    return all;
}

TEST(KeyDialects, XdotoolAndAnthropicNameKeysAsXDoes) {
    expect_all(letters(""));
    expect_all(numbered("", "", 0, 9));
    expect_all(numbered("F", "f", 1, 12));
    expect_all(numbered("KP_", "kp_", 0, 9));
    expect_all({{"Return", "ret"},
                {"BackSpace", "backspace"},
                {"Tab", "tab"},
                {"ISO_Left_Tab", "shift tab"},
                {"Escape", "esc"},
                {"space", "spc"},
                {"Delete", "delete"},
                {"Insert", "insert"},
                {"Linefeed", "lf"},
                {"Home", "home"},
                {"End", "end"},
                {"Prior", "pgup"},
                {"Page_Up", "pgup"},
                {"Next", "pgdn"},
                {"Page_Down", "pgdn"},
                {"Up", "up"},
                {"Down", "down"},
                {"Left", "left"},
                {"Right", "right"},
                {"Shift_L", "shift"},
                {"Shift_R", "shift_r"},
                {"Control_L", "ctrl"},
                {"Control_R", "ctrl_r"},
                {"Alt_L", "alt"},
                {"Alt_R", "alt_r"},
                {"Meta_L", "meta_l"},
                {"Meta_R", "meta_r"},
                {"Super_L", "meta_l"},
                {"Super_R", "meta_r"},
                {"ISO_Level3_Shift", "alt_r"},
                // xdotool's own aliases
                {"alt", "alt"},
                {"ctrl", "ctrl"},
                {"control", "ctrl"},
                {"meta", "meta_l"},
                {"super", "meta_l"},
                {"shift", "shift"},
                {"enter", "ret"},
                {"Caps_Lock", "caps_lock"},
                {"Num_Lock", "num_lock"},
                {"Scroll_Lock", "scroll_lock"},
                {"Print", "sysrq"},
                {"Sys_Req", "sysrq"},
                {"Pause", "pause"},
                {"Break", "pause"},
                {"Menu", "compose"},
                {"Help", "help"},
                {"Cancel", "stop"},
                {"Undo", "undo"},
                {"Redo", "again"},
                {"Find", "find"}});
}

TEST(KeyDialects, XdotoolHasTheKeypad) {
    expect_all({{"KP_Enter", "kp_enter"},
                {"KP_Add", "kp_add"},
                {"KP_Subtract", "kp_subtract"},
                {"KP_Multiply", "kp_multiply"},
                {"KP_Divide", "kp_divide"},
                {"KP_Decimal", "kp_decimal"},
                {"KP_Separator", "kp_comma"},
                {"KP_Equal", "kp_equals"},
                {"KP_Home", "kp_7"},
                {"KP_Up", "kp_8"},
                {"KP_Prior", "kp_9"},
                {"KP_Page_Up", "kp_9"},
                {"KP_Left", "kp_4"},
                {"KP_Begin", "kp_5"},
                {"KP_Right", "kp_6"},
                {"KP_End", "kp_1"},
                {"KP_Down", "kp_2"},
                {"KP_Next", "kp_3"},
                {"KP_Page_Down", "kp_3"},
                {"KP_Insert", "kp_0"},
                {"KP_Delete", "kp_decimal"}});
}

TEST(KeyDialects, XdotoolHasPunctuationByName) {
    expect_all({{"exclam", "shift 1"},
                {"quotedbl", "shift apostrophe"},
                {"numbersign", "shift 3"},
                {"dollar", "shift 4"},
                {"percent", "shift 5"},
                {"ampersand", "shift 7"},
                {"apostrophe", "apostrophe"},
                {"quoteright", "apostrophe"},
                {"parenleft", "shift 9"},
                {"parenright", "shift 0"},
                {"asterisk", "shift 8"},
                {"plus", "shift equal"},
                {"comma", "comma"},
                {"minus", "minus"},
                {"period", "dot"},
                {"slash", "slash"},
                {"colon", "shift semicolon"},
                {"semicolon", "semicolon"},
                {"less", "shift comma"},
                {"equal", "equal"},
                {"greater", "shift dot"},
                {"question", "shift slash"},
                {"at", "shift 2"},
                {"bracketleft", "bracket_left"},
                {"backslash", "backslash"},
                {"bracketright", "bracket_right"},
                {"asciicircum", "shift 6"},
                {"underscore", "shift minus"},
                {"grave", "grave_accent"},
                {"quoteleft", "grave_accent"},
                {"braceleft", "shift bracket_left"},
                {"bar", "shift backslash"},
                {"braceright", "shift bracket_right"},
                {"asciitilde", "shift grave_accent"}});
}

TEST(KeyDialects, XdotoolHasMediaKeysAndThoseOfEastAsianKeyboards) {
    expect_all({{"XF86AudioMute", "audiomute"},
                {"XF86AudioLowerVolume", "volumedown"},
                {"XF86AudioRaiseVolume", "volumeup"},
                {"XF86AudioPlay", "audioplay"},
                {"XF86AudioStop", "audiostop"},
                {"XF86AudioPrev", "audioprev"},
                {"XF86AudioNext", "audionext"},
                {"XF86AudioMedia", "mediaselect"},
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
                {"XF86MenuKB", "menu"},
                {"SunProps", "props"},
                {"SunFront", "front"},
                {"Henkan_Mode", "henkan"},
                {"Muhenkan", "muhenkan"},
                {"Hiragana", "hiragana"},
                {"Hiragana_Katakana", "katakanahiragana"},
                {"Hangul", "lang1"},
                {"Hangul_Hanja", "lang2"}});
}

TEST(KeyDialects, OpenAiNamesThemInUpperCase) {
    expect_all({{"ENTER", "ret"},
                {"RETURN", "ret"},
                {"ESC", "esc"},
                {"ESCAPE", "esc"},
                {"SPACE", "spc"},
                {"BACKSPACE", "backspace"},
                {"TAB", "tab"},
                {"UP", "up"},
                {"DOWN", "down"},
                {"LEFT", "left"},
                {"RIGHT", "right"},
                {"ARROWUP", "up"},
                {"ARROWDOWN", "down"},
                {"ARROWLEFT", "left"},
                {"ARROWRIGHT", "right"},
                {"ALT", "alt"},
                {"CTRL", "ctrl"},
                {"CONTROL", "ctrl"},
                {"CMD", "meta_l"},
                {"COMMAND", "meta_l"},
                {"META", "meta_l"},
                {"SHIFT", "shift"},
                {"OPTION", "alt"},
                {"SUPER", "meta_l"},
                {"WIN", "meta_l"},
                {"DELETE", "delete"},
                {"DEL", "delete"},
                {"HOME", "home"},
                {"END", "end"},
                {"INSERT", "insert"},
                {"PAGEUP", "pgup"},
                {"PAGEDOWN", "pgdn"},
                {"CAPSLOCK", "caps_lock"},
                {"NUMLOCK", "num_lock"},
                {"SCROLLLOCK", "scroll_lock"},
                {"PRINTSCREEN", "sysrq"},
                {"PAUSE", "pause"},
                {"/", "slash"},
                {"\\", "backslash"}});
    expect_all(numbered("F", "f", 1, 12));
    EXPECT_EQ(read(join_keys({"CTRL", "L"})), "ctrl l");
    EXPECT_EQ(read(join_keys({"CTRL", "SHIFT", "ARROWLEFT"})), "ctrl shift left");
    EXPECT_EQ(read(join_keys({"CTRL", "+"})), "ctrl shift equal");
    EXPECT_EQ(read(join_keys({"ALT", " "})), "alt spc");
    EXPECT_EQ(read(join_keys({"+"})), "shift equal");
    EXPECT_EQ(read(join_keys({"a"})), "a");
}

// Playwright's USKeyboardLayout: the codes of the DOM, and the key values.
TEST(KeyDialects, PlaywrightTakesCodesOfTheDom) {
    expect_all(letters("Key"));
    expect_all(numbered("Digit", "", 0, 9));
    expect_all(numbered("Numpad", "kp_", 0, 9));
    expect_all(numbered("F", "f", 1, 12));
    expect_all({{"Escape", "esc"},
                {"Backquote", "grave_accent"},
                {"Minus", "minus"},
                {"Equal", "equal"},
                {"Backslash", "backslash"},
                {"Backspace", "backspace"},
                {"Tab", "tab"},
                {"BracketLeft", "bracket_left"},
                {"BracketRight", "bracket_right"},
                {"CapsLock", "caps_lock"},
                {"Semicolon", "semicolon"},
                {"Quote", "apostrophe"},
                {"Enter", "ret"},
                {"ShiftLeft", "shift"},
                {"Comma", "comma"},
                {"Period", "dot"},
                {"Slash", "slash"},
                {"ShiftRight", "shift_r"},
                {"ControlLeft", "ctrl"},
                {"MetaLeft", "meta_l"},
                {"AltLeft", "alt"},
                {"Space", "spc"},
                {"AltRight", "alt_r"},
                {"AltGraph", "alt_r"},
                {"MetaRight", "meta_r"},
                {"ContextMenu", "compose"},
                {"ControlRight", "ctrl_r"},
                {"PrintScreen", "sysrq"},
                {"ScrollLock", "scroll_lock"},
                {"Pause", "pause"},
                {"PageUp", "pgup"},
                {"PageDown", "pgdn"},
                {"Insert", "insert"},
                {"Delete", "delete"},
                {"Home", "home"},
                {"End", "end"},
                {"ArrowLeft", "left"},
                {"ArrowUp", "up"},
                {"ArrowRight", "right"},
                {"ArrowDown", "down"},
                {"NumLock", "num_lock"},
                {"NumpadDivide", "kp_divide"},
                {"NumpadMultiply", "kp_multiply"},
                {"NumpadSubtract", "kp_subtract"},
                {"NumpadAdd", "kp_add"},
                {"NumpadDecimal", "kp_decimal"},
                {"NumpadEnter", "kp_enter"},
                {"Shift", "shift"},
                {"Control", "ctrl"},
                {"Alt", "alt"},
                {"Meta", "meta_l"},
                {"ControlOrMeta", "ctrl"},
                {"Control+Shift+T", "ctrl shift t"},
                {"ControlOrMeta+a", "ctrl a"}});
}

// The other codes that a browser on Linux tells of.
TEST(KeyDialects, TheDomHasMoreCodes) {
    expect_all({{"IntlBackslash", "less"},
                {"IntlRo", "ro"},
                {"IntlYen", "yen"},
                {"KanaMode", "katakanahiragana"},
                {"Convert", "henkan"},
                {"NonConvert", "muhenkan"},
                {"Lang1", "lang1"},
                {"Lang2", "lang2"},
                {"Lang4", "hiragana"},
                {"NumpadEqual", "kp_equals"},
                {"NumpadComma", "kp_comma"},
                {"MediaPlayPause", "audioplay"},
                {"MediaStop", "audiostop"},
                {"MediaTrackNext", "audionext"},
                {"MediaTrackPrevious", "audioprev"},
                {"MediaSelect", "mediaselect"},
                {"AudioVolumeMute", "audiomute"},
                {"AudioVolumeDown", "volumedown"},
                {"AudioVolumeUp", "volumeup"},
                {"BrowserBack", "ac_back"},
                {"BrowserForward", "ac_forward"},
                {"BrowserRefresh", "ac_refresh"},
                {"BrowserHome", "ac_home"},
                {"BrowserFavorites", "ac_bookmarks"},
                {"BrowserStop", "stop"},
                {"LaunchMail", "mail"},
                {"LaunchApp1", "computer"},
                {"LaunchApp2", "calculator"},
                {"Copy", "copy"},
                {"Cut", "cut"},
                {"Paste", "paste"},
                {"Undo", "undo"},
                {"Again", "again"},
                {"Find", "find"},
                {"Open", "open"},
                {"Props", "props"},
                {"Help", "help"},
                {"OSLeft", "meta_l"},
                {"OSRight", "meta_r"}});
}

// The table of @e2b/desktop.
TEST(KeyDialects, E2bWritesThemWithUnderscores) {
    expect_all(numbered("f", "f", 1, 12));
    expect_all({{"alt", "alt"},
                {"alt_left", "alt"},
                {"alt_right", "alt_r"},
                {"backspace", "backspace"},
                {"break", "pause"},
                {"caps_lock", "caps_lock"},
                {"cmd", "meta_l"},
                {"command", "meta_l"},
                {"control", "ctrl"},
                {"control_left", "ctrl"},
                {"control_right", "ctrl_r"},
                {"ctrl", "ctrl"},
                {"del", "delete"},
                {"delete", "delete"},
                {"down", "down"},
                {"end", "end"},
                {"enter", "ret"},
                {"esc", "esc"},
                {"escape", "esc"},
                {"home", "home"},
                {"insert", "insert"},
                {"left", "left"},
                {"menu", "compose"},
                {"meta", "meta_l"},
                {"num_lock", "num_lock"},
                {"page_down", "pgdn"},
                {"page_up", "pgup"},
                {"pause", "pause"},
                {"print", "sysrq"},
                {"right", "right"},
                {"scroll_lock", "scroll_lock"},
                {"shift", "shift"},
                {"shift_left", "shift"},
                {"shift_right", "shift_r"},
                {"space", "spc"},
                {"super", "meta_l"},
                {"super_left", "meta_l"},
                {"super_right", "meta_r"},
                {"tab", "tab"},
                {"up", "up"},
                {"win", "meta_l"},
                {"windows", "meta_l"}});
}

TEST(KeyDialects, PyAutoGuiHasNamesOfItsOwn) {
    expect_all(numbered("num", "kp_", 0, 9));
    expect_all({{"add", "kp_add"},
                {"altleft", "alt"},
                {"altright", "alt_r"},
                {"apps", "compose"},
                {"browserback", "ac_back"},
                {"capslock", "caps_lock"},
                {"ctrlleft", "ctrl"},
                {"ctrlright", "ctrl_r"},
                {"decimal", "kp_decimal"},
                {"divide", "kp_divide"},
                {"multiply", "kp_multiply"},
                {"nexttrack", "audionext"},
                {"pgdn", "pgdn"},
                {"pgup", "pgup"},
                {"playpause", "audioplay"},
                {"prevtrack", "audioprev"},
                {"prntscrn", "sysrq"},
                {"prtsc", "sysrq"},
                {"prtscr", "sysrq"},
                {"shiftleft", "shift"},
                {"shiftright", "shift_r"},
                {"subtract", "kp_subtract"},
                {"volumedown", "volumedown"},
                {"volumemute", "audiomute"},
                {"volumeup", "volumeup"},
                {"winleft", "meta_l"},
                {"winright", "meta_r"},
                {"optionleft", "alt"},
                {"optionright", "alt_r"}});
}

TEST(KeyDialects, EachPrintableAsciiCharacterIsAKey) {
    for (char character = '!'; character <= '~'; ++character) {
        const auto stroke = us_keystroke(character);
        ASSERT_TRUE(stroke);
        EXPECT_EQ(read(std::string(1, character)),
                  fmt::format("{}{}", stroke->shift ? "shift " : "", stroke->key))
            << character;
    }
    EXPECT_EQ(read(" "), "spc");
}

TEST(KeyDialects, ACharacterThatNoKeyHasIsToBeTyped) {
    for (const char* character : {"é", "ß", "Ω", "日", "🦔", "€"}) {
        EXPECT_EQ(
            read(character),
            fmt::format("error: the keyboard has no key '{}' (keys are those of a US keyboard; to write "
                        "this character use the action 'type')",
                        character));
        EXPECT_THAT(read(std::string{"ctrl+"} + character), HasSubstr("the keyboard has no key"));
    }
}

TEST(KeyDialects, SpacesInANameAreNoticed) {
    EXPECT_THAT(read("Page Down"), HasSubstr("did you mean Page_Down?"));
    EXPECT_THAT(read("num lock"), HasSubstr("did you mean Num_Lock?"));
    EXPECT_EQ(read("Up Down"), "up | down");
}

TEST(HeldKeys, AreOneCombinationOrNone) {
    EXPECT_TRUE(parse_held("")->keys.empty());
    EXPECT_EQ(*parse_held("ctrl+shift"), (Chord{{"ctrl", "shift"}}));
    EXPECT_EQ(*parse_held("Meta"), (Chord{{"meta_l"}}));
    EXPECT_THAT(parse_held("ctrl shift").error().message, HasSubstr("only one can be held"));
    EXPECT_THAT(parse_held("ctlr").error().hint, HasSubstr("ctrl"));
}

}  // namespace
}  // namespace dormouse::desktop
