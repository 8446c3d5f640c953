// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/key_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hostd/desktop/key_name_table.h"

namespace dormouse::desktop {
namespace {

using testing::HasSubstr;

// "ctrl shift t | ret": the chords of a text, or "error: message (hint)".
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

std::string words_of(const Keystroke& stroke) {
    return fmt::format("{}{}", stroke.shift ? "shift " : "", stroke.key);
}

TEST(KeyNames, AreThoseOfXdotool) {
    EXPECT_EQ(read("Return"), "ret");
    EXPECT_EQ(read("Escape"), "esc");
    EXPECT_EQ(read("BackSpace"), "backspace");
    EXPECT_EQ(read("Page_Up"), "pgup");
    EXPECT_EQ(read("Prior"), "pgup");
    EXPECT_EQ(read("Next"), "pgdn");
    EXPECT_EQ(read("KP_0"), "kp_0");
    EXPECT_EQ(read("KP_Enter"), "kp_enter");
    EXPECT_EQ(read("F1"), "f1");
    EXPECT_EQ(read("F12"), "f12");
    EXPECT_EQ(read("Super_L"), "meta_l");
    EXPECT_EQ(read("super"), "meta_l");
    EXPECT_EQ(read("Control_R"), "ctrl_r");
    EXPECT_EQ(read("ISO_Left_Tab"), "shift tab");
    EXPECT_EQ(read("ISO_Level3_Shift"), "alt_r");
    EXPECT_EQ(read("Menu"), "compose");
    EXPECT_EQ(read("exclam"), "shift 1");
    EXPECT_EQ(read("bracketleft"), "bracket_left");
    EXPECT_EQ(read("asciitilde"), "shift grave_accent");
    EXPECT_EQ(read("XF86Back"), "ac_back");
}

TEST(KeyNames, MayBeWrittenInAnyCaseAndAsPeopleWriteThem) {
    EXPECT_EQ(read("RETURN"), "ret");
    EXPECT_EQ(read("enter"), "ret");
    EXPECT_EQ(read("esc"), "esc");
    EXPECT_EQ(read("backspace"), "backspace");
    EXPECT_EQ(read("pagedown"), "pgdn");
    EXPECT_EQ(read("page_down"), "pgdn");
    EXPECT_EQ(read("PageUp"), "pgup");
    EXPECT_EQ(read("ArrowLeft"), "left");
    EXPECT_EQ(read("del"), "delete");
    EXPECT_EQ(read("kp0"), "kp_0");
    EXPECT_EQ(read("Control+c"), "ctrl c");
    EXPECT_EQ(read("CMD+space"), "meta_l spc");
    EXPECT_EQ(read("meta+Left"), "meta_l left");
    EXPECT_EQ(read("win"), "meta_l");
    EXPECT_EQ(read("option+F4"), "alt f4");
    EXPECT_EQ(read("plus"), "shift equal");
    EXPECT_EQ(read("minus"), "minus");
    EXPECT_EQ(read("space"), "spc");
}

TEST(KeyNames, SingleCharactersStandForThemselves) {
    EXPECT_EQ(read("a"), "a");
    EXPECT_EQ(read("A"), "shift a");
    EXPECT_EQ(read("/"), "slash");
    EXPECT_EQ(read("?"), "shift slash");
    EXPECT_EQ(read("7"), "7");
    EXPECT_EQ(read("_"), "shift minus");
    EXPECT_EQ(read(" "), "spc");
    EXPECT_EQ(read("\n"), "ret");
    for (char character = '!'; character <= '~'; ++character) {
        const auto stroke = us_keystroke(character);
        EXPECT_EQ(read(std::string(1, character)), words_of(*stroke)) << character;
    }
}

TEST(KeyChords, PressModifiersFirst) {
    EXPECT_EQ(read("ctrl+shift+t"), "ctrl shift t");
    EXPECT_EQ(read("t+ctrl+shift"), "ctrl shift t");
    EXPECT_EQ(read("ctrl+alt+Delete"), "ctrl alt delete");
    EXPECT_EQ(read("ctrl+?"), "ctrl shift slash");
    EXPECT_EQ(read("shift+?"), "shift slash");
    EXPECT_EQ(read("Shift_R+?"), "shift_r slash");
    EXPECT_EQ(read("ctrl+shift"), "ctrl shift");
}

TEST(KeyChords, MayContainThePlusKey) {
    EXPECT_EQ(read("+"), "shift equal");
    EXPECT_EQ(read("ctrl++"), "ctrl shift equal");
    EXPECT_EQ(read("ctrl+plus"), "ctrl shift equal");
    EXPECT_EQ(read("ctrl+minus"), "ctrl minus");
    EXPECT_EQ(read("ctrl+-"), "ctrl minus");
}

TEST(KeyChords, IgnoreTheCaseOfALetterBesideACommandingModifier) {
    EXPECT_EQ(read("Ctrl+C"), "ctrl c");
    EXPECT_EQ(read("CTRL+SHIFT+T"), "ctrl shift t");
    EXPECT_EQ(read("alt+F"), "alt f");
    EXPECT_EQ(read("shift+A"), "shift a");
}

TEST(KeySequences, AreSeparatedBySpaces) {
    EXPECT_EQ(read("ctrl+a Delete"), "ctrl a | delete");
    EXPECT_EQ(read("  Tab \t Tab  Return "), "tab | tab | ret");
}

TEST(KeyErrors, NameTheKeyAndWhatIsNear) {
    EXPECT_EQ(read("Retrun"), "error: there is no key 'Retrun' (did you mean Return?)");
    EXPECT_EQ(read("ctrl+Escpae"), "error: there is no key 'Escpae' (did you mean Escape?)");
    EXPECT_THAT(read("Page_Dwn"), HasSubstr("did you mean Page_Down"));
    EXPECT_THAT(read("contrl+a"), HasSubstr("Control"));
    EXPECT_EQ(read("ctrl-c"), "error: there is no key 'ctrl-c' (did you mean ctrl+c?)");
    EXPECT_THAT(read("hello world"), HasSubstr("use the action 'type'"));
    EXPECT_THAT(read("F13"), HasSubstr("F1 to F12"));
    EXPECT_THAT(read("ctrl+é"), HasSubstr("'é'"));
}

TEST(KeyErrors, SayWhatIsWrongWithTheForm) {
    EXPECT_THAT(read(""), HasSubstr("no key is named"));
    EXPECT_THAT(read("   "), HasSubstr("no key is named"));
    EXPECT_THAT(read("ctrl+"), HasSubstr("ends where a key is expected"));
    EXPECT_THAT(read("++"), HasSubstr("ends where a key is expected"));
    EXPECT_THAT(read("+a"), HasSubstr("no + between"));
    EXPECT_THAT(read("ctrl+ctrl+a"), HasSubstr("twice"));
    EXPECT_THAT(read("a+a"), HasSubstr("twice"));
    EXPECT_THAT(read("a+b+c+d+e+f+g+h+i"), HasSubstr("more than 8 keys at once"));
    EXPECT_THAT(read(std::string(1001, 'a')), HasSubstr("longer than"));
    std::string many;
    for (int i = 0; i < 101; ++i) many += "a ";
    EXPECT_THAT(read(many), HasSubstr("more than 100 keys"));
}

TEST(KeyErrors, AreFitForAMessageWhateverTheInput) {
    const auto error = parse_keys("\xff\x01zzz").error();
    EXPECT_EQ(error.code, Errc::InvalidArgument);
    EXPECT_EQ(error.message, "there is no key '??zzz'");
    EXPECT_LT(parse_keys(std::string(900, 'z')).error().message.size(), 100u);
}

TEST(KeyTable, EveryNameCanBeReadAndGivesItsKey) {
    for (const auto& entry : kKeyNames)
        EXPECT_EQ(read(entry.name), words_of({entry.key, entry.shift})) << entry.name;
    for (const auto& entry : kCharacterNames)
        EXPECT_EQ(read(entry.name), read(std::string(1, entry.character))) << entry.name;
}

TEST(KeyTable, PressableKeysAreAllThereIsEachOnce) {
    const auto& keys = pressable_keys();
    const std::set<QKeyCode> unique{keys.begin(), keys.end()};
    EXPECT_EQ(unique.size(), keys.size());
    for (const auto& entry : kKeyNames) EXPECT_TRUE(unique.count(entry.key)) << entry.key;
    for (char character = ' '; character <= '~'; ++character)
        EXPECT_TRUE(unique.count(us_keystroke(character)->key));
}

// The values of QKeyCode in Debian 12's QEMU (7.2.22), as query-qmp-schema lists
// them: a name that is not among them would be refused only when it is used.
TEST(KeyTable, HasOnlyNamesThatQemuKnows) {
    const std::string known =
        " shift shift_r alt alt_r ctrl ctrl_r menu esc 1 2 3 4 5 6 7 8 9 0 minus equal backspace tab q w e r "
        "t y u i o"
        " p bracket_left bracket_right ret a s d f g h j k l semicolon apostrophe grave_accent backslash z x "
        "c v b n m"
        " comma dot slash asterisk spc caps_lock f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 num_lock scroll_lock "
        "kp_divide"
        " kp_multiply kp_subtract kp_add kp_enter kp_decimal sysrq kp_0 kp_1 kp_2 kp_3 kp_4 kp_5 kp_6 kp_7 "
        "kp_8 kp_9"
        " less f11 f12 print home pgup pgdn end left up down right insert delete stop again props undo front "
        "copy open"
        " paste find cut lf help meta_l meta_r compose pause ro hiragana henkan yen muhenkan "
        "katakanahiragana kp_comma"
        " kp_equals power sleep wake audionext audioprev audiostop audioplay audiomute volumeup volumedown "
        "mediaselect"
        " mail calculator computer ac_home ac_back ac_forward ac_refresh ac_bookmarks lang1 lang2 ";
    for (const auto key : pressable_keys()) EXPECT_THAT(known, HasSubstr(fmt::format(" {} ", key)));
}

}  // namespace
}  // namespace dormouse::desktop
