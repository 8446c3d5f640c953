# SPDX-License-Identifier: Apache-2.0
"""Every key by every name that clients give it reaches Chromium as the key that was meant: what the DOM calls it (code) and
what it writes (key)."""

import os
import unittest

import harness
from pagelog import ALT, CONTROL, META, SHIFT

# code and key of the DOM, then the key's names: of xdotool (Anthropic), OpenAI, Playwright, E2B and others.
NAMED = [
    ("Enter", "Enter", "Return ENTER RETURN Enter enter"),
    ("Escape", "Escape", "Escape ESC Escape esc"),
    ("Backspace", "Backspace", "BackSpace BACKSPACE Backspace backspace"),
    ("Tab", "Tab", "Tab TAB tab"),
    ("Space", " ", "space SPACE Space spacebar"),
    ("Delete", "Delete", "Delete DELETE del"),
    ("Insert", "Insert", "Insert INSERT insert"),
    ("Home", "Home", "Home HOME home"),
    ("End", "End", "End END end"),
    ("PageUp", "PageUp", "Page_Up Prior PAGEUP PageUp page_up pgup"),
    ("PageDown", "PageDown", "Page_Down Next PAGEDOWN PageDown page_down pgdn"),
    ("ArrowUp", "ArrowUp", "Up UP ARROWUP ArrowUp up"),
    ("ArrowDown", "ArrowDown", "Down DOWN ARROWDOWN ArrowDown down"),
    ("ArrowLeft", "ArrowLeft", "Left LEFT ARROWLEFT ArrowLeft left"),
    ("ArrowRight", "ArrowRight", "Right RIGHT ARROWRIGHT ArrowRight right"),
    ("ShiftLeft", "Shift", "Shift_L shift SHIFT ShiftLeft shift_left"),
    ("ShiftRight", "Shift", "Shift_R ShiftRight shift_right"),
    ("ControlLeft", "Control", "Control_L ctrl CTRL Control ControlLeft control_left ControlOrMeta"),
    ("ControlRight", "Control", "Control_R ControlRight control_right"),
    ("AltLeft", "Alt", "Alt_L alt ALT OPTION AltLeft alt_left"),
    ("AltRight", "Alt", "Alt_R AltRight AltGraph alt_right"),
    ("MetaLeft", "Meta", "Super_L super CMD META WIN Meta MetaLeft super_left windows"),
    ("MetaRight", "Meta", "Super_R Meta_R MetaRight super_right"),
    ("CapsLock", "CapsLock", "Caps_Lock CAPSLOCK CapsLock caps_lock"),
    ("NumLock", "NumLock", "Num_Lock NUMLOCK NumLock num_lock"),
    ("ScrollLock", "ScrollLock", "Scroll_Lock SCROLLLOCK ScrollLock scroll_lock"),
    ("Pause", "Pause", "Pause PAUSE break"),
    # Print is the desktop's own shortcut and reaches no page.
    ("ContextMenu", "ContextMenu", "Menu ContextMenu menu apps"),
    ("Minus", "-", "minus - Minus"),
    ("Equal", "=", "equal = Equal"),
    ("BracketLeft", "[", "bracketleft [ BracketLeft"),
    ("BracketRight", "]", "bracketright ] BracketRight"),
    ("Backslash", "\\", "backslash \\ Backslash"),
    ("Semicolon", ";", "semicolon ; Semicolon"),
    ("Quote", "'", "apostrophe ' Quote"),
    ("Backquote", "`", "grave ` Backquote"),
    ("Comma", ",", "comma , Comma"),
    ("Period", ".", "period . Period"),
    ("Slash", "/", "slash / Slash"),
    ("IntlBackslash", "<", "IntlBackslash"),
    ("NumpadEnter", "Enter", "KP_Enter NumpadEnter"),
    ("NumpadAdd", "+", "KP_Add NumpadAdd"),
    ("NumpadSubtract", "-", "KP_Subtract NumpadSubtract"),
    ("NumpadMultiply", "*", "KP_Multiply NumpadMultiply"),
    ("NumpadDivide", "/", "KP_Divide NumpadDivide"),
    # Without Num Lock the keypad moves.
    ("Numpad7", "Home", "KP_7 KP_Home Numpad7 num7"),
    ("Numpad8", "ArrowUp", "KP_8 KP_Up Numpad8 num8"),
    ("Numpad9", "PageUp", "KP_9 KP_Page_Up Numpad9 num9"),
    ("Numpad4", "ArrowLeft", "KP_4 KP_Left Numpad4 num4"),
    ("Numpad5", "Clear", "KP_5 KP_Begin Numpad5 num5"),
    ("Numpad6", "ArrowRight", "KP_6 KP_Right Numpad6 num6"),
    ("Numpad1", "End", "KP_1 KP_End Numpad1 num1"),
    ("Numpad2", "ArrowDown", "KP_2 KP_Down Numpad2 num2"),
    ("Numpad3", "PageDown", "KP_3 KP_Page_Down Numpad3 num3"),
    ("Numpad0", "Insert", "KP_0 KP_Insert Numpad0 num0"),
    ("NumpadDecimal", "Delete", "KP_Decimal KP_Delete NumpadDecimal"),
    ("NumpadEqual", "=", "KP_Equal NumpadEqual"),
    *((f"F{i}", f"F{i}", f"F{i} f{i}") for i in range(1, 13)),
    *((f"Key{c.upper()}", c, f"{c} Key{c.upper()}") for c in "abcdefghijklmnopqrstuvwxyz"),
    *((f"Digit{i}", str(i), f"{i} Digit{i}") for i in range(10)),
]
# Characters that bring Shift along, and X's names for them.
SHIFTED = dict(zip("!@#$%^&*()_+{}|:\"<>?~",
                   "exclam at numbersign dollar percent asciicircum ampersand asterisk parenleft parenright underscore plus "
                   "braceleft braceright bar colon quotedbl less greater question asciitilde".split()))


# Keys that no page is told of: X's own names, and those of the DOM.
BEYOND_PAGES = [
    ("XF86AudioMute", "XF86AudioMute AudioVolumeMute volumemute"),
    ("XF86AudioLowerVolume", "XF86AudioLowerVolume AudioVolumeDown volumedown"),
    ("XF86AudioRaiseVolume", "XF86AudioRaiseVolume AudioVolumeUp volumeup"),
    ("XF86AudioPlay", "XF86AudioPlay MediaPlayPause playpause"),
    ("XF86AudioStop", "XF86AudioStop MediaStop"),
    ("XF86AudioPrev", "XF86AudioPrev MediaTrackPrevious prevtrack"),
    ("XF86AudioNext", "XF86AudioNext MediaTrackNext nexttrack"),
    ("XF86Back", "XF86Back BrowserBack"),
    ("XF86Forward", "XF86Forward BrowserForward"),
    ("XF86Reload", "XF86Reload BrowserRefresh"),
    ("XF86Favorites", "XF86Favorites BrowserFavorites"),
    ("XF86Copy", "XF86Copy Copy"),
    ("XF86Cut", "XF86Cut Cut"),
    ("XF86Paste", "XF86Paste Paste"),
    ("XF86Open", "XF86Open Open"),
    ("Undo", "Undo"),
    ("Redo", "Redo Again"),
    ("Find", "Find"),
    ("Help", "Help"),
    ("Cancel", "Cancel BrowserStop"),
    ("Linefeed", "Linefeed"),
    ("XF86MenuKB", "XF86MenuKB"),
    ("SunProps", "SunProps Props"),
    ("SunFront", "SunFront"),
    ("Henkan_Mode", "Henkan_Mode Convert"),
    ("Muhenkan", "Muhenkan NonConvert"),
    ("Hiragana_Katakana", "Hiragana_Katakana KanaMode"),
    ("Hiragana", "Hiragana Lang4"),
    ("Hangul", "Hangul Lang1"),
    ("Hangul_Hanja", "Hangul_Hanja Lang2"),
]


class EveryKey(harness.PageTest):
    mode = "keys"

    def press(self, names, keys=1):
        """The keydowns that one action with these keys, one after the other, led to: (code, key, modifiers).
        `keys`: how many each of them presses."""
        count = keys * len(names)
        before = self.wait_page(self.desktop, "the log")["keys"]
        self.do({"action": "key", "text": " ".join(names)})
        log = self.wait_page(self.desktop, f"all of {names}",
                             lambda log: log["keys"]["up"] >= before["up"] + count and not log["keys"]["held"], 20)
        self.assertEqual(log["keys"]["n"] - before["n"], count)
        return [(event["code"], event["key"], event["modifiers"]) for event in self.events(log, "keydown")[-count:]]

    def test_every_name_of_every_dialect(self):
        wanted = [(name, code, key) for code, key, names in NAMED for name in names.split()]
        for start in range(0, len(wanted), 9):
            group = wanted[start:start + 9]
            with self.subTest(names=[name for name, _, _ in group]):
                self.assertEqual([(code, key) for code, key, _ in self.press([name for name, _, _ in group])],
                                 [(code, key) for _, code, key in group])

    def test_characters_that_need_shift(self):
        for start in range(0, len(SHIFTED), 4):
            for names in (list(SHIFTED)[start:start + 4], list(SHIFTED.values())[start:start + 4]):
                with self.subTest(names=names):
                    seen = [key for _, key, modifiers in self.press(names, 2) if modifiers == SHIFT and key != "Shift"]
                    self.assertEqual(seen, list(SHIFTED)[start:start + 4])

    def test_each_modifier_and_their_combinations(self):
        cases = {"ctrl+KeyB": ("b", CONTROL), "Control+Shift+B": ("B", CONTROL | SHIFT), "ALT+B": ("b", ALT),
                 "alt+shift+b": ("B", ALT | SHIFT), "shift+ArrowLeft": ("ArrowLeft", SHIFT),
                 "CTRL+ALT+x": ("x", CONTROL | ALT), "cmd+b": ("b", META), "Meta+Shift+b": ("B", META | SHIFT),
                 "ctrl+alt+shift+super+b": ("B", CONTROL | ALT | SHIFT | META)}
        for keys, expected in cases.items():
            with self.subTest(keys):
                _, key, modifiers = self.press([keys], len(keys.split("+")))[-1]
                self.assertEqual((key, modifiers), expected)

    def test_a_list_of_keys_is_held_together(self):
        self.clear()
        self.do({"action": "key", "keys": ["CTRL", "SHIFT", "ARROWLEFT"]})
        log = self.wait_page(self.desktop, "three keys", lambda log: log["keys"]["up"] == 3)
        self.assertEqual([event["key"] for event in self.events(log, "keydown")], ["Control", "Shift", "ArrowLeft"])

    @unittest.skipUnless(os.environ.get("DORMOUSE_LONG"), "needs an emulated desktop that nothing else slows down")
    def test_keys_that_no_page_is_told_of(self):
        self.launch_xev()
        wanted = [(name, keysym) for keysym, names in BEYOND_PAGES for name in names.split()]
        names = [name for name, _ in wanted]
        self.do(*({"action": "key", "text": " ".join(names[at:at + 8])} for at in range(0, len(names), 8)),
                {"action": "key", "text": "Escape"})
        harness.wait_until("all keys", lambda: "Escape" in self.keys_seen_by_xev())
        self.assertEqual(self.keys_seen_by_xev(), [keysym for _, keysym in wanted] + ["Escape"])

    def test_a_misspelt_key_is_told_with_what_is_near(self):
        for text, hint in (("Retrun", "Return"), ("Page Down", "Page_Down"), ("ctrl+é", "type")):
            with self.assertRaises(harness.ApiError) as refused:
                self.do({"action": "key", "text": text})
            self.assertIn(hint, str(refused.exception))


if __name__ == "__main__":
    harness.main()
