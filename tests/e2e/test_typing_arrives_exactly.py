# SPDX-License-Identifier: Apache-2.0
"""Text of any script arrives exactly where it is typed: in Chromium, in the terminal and in the editor. What they got is
read back from the test page, from the file and from the clipboard."""

import os
import random
import time
import zlib

import unittest

import harness
from pagelog import text_matches

LONG = bool(os.environ.get("DORMOUSE_LONG"))
SAMPLE = "naïve Ωmega 日本語 مرحبا 🦔"
# Words in which something may go wrong: accents of their own, both directions, beyond the basic plane, joined emoji.
WORDS = ["plain", "naïve", "cafe\u0301", "Ωmega", "ёжик", "日本語", "汉字", "한국어", "مرحبا", "שלום", "हिन्दी", "ไทย",
         "🦔", "👩‍👩‍👧", "🇨🇿", "𝒳", "“quoted”", "½", "€", "<b>&amp;</b>", "$HOME", "`x`", "\\n", "~!@#%^&*()"]


def mixed_text(characters, line):
    """So many characters of mixed scripts, in lines of at most so many."""
    numbers = random.Random(5)
    lines, current = [], ""
    while sum(map(len, lines)) + len(lines) + len(current) < characters:
        word = numbers.choice(WORDS)
        if len(current) + 1 + len(word) > line:
            lines.append(current)
            current = ""
        current += (" " if current else "") + word
    return "\n".join([*lines, current])[:characters].rstrip()


class TypingArrivesExactly(harness.PageTest):
    def type_text(self, text, method="auto"):
        start = time.monotonic()
        self.do({"action": "type", "text": text, "method": method})
        return time.monotonic() - start

    def wait_notes(self, text, seconds=harness.REACT_SECONDS):
        return self.wait_page(self.desktop, f"{len(text)} characters are there",
                              lambda log: text_matches(log["values"]["notes"], text), seconds)

    def test_a_thousand_characters_within_three_seconds(self):
        self.focus(harness.NOTES, "notes")
        text = ("The quick brown fox jumps over the lazy dog. " * 23)[:1000]
        took = self.type_text(text)
        self.wait_notes(text)
        print(f"1,000 characters: {took:.2f} s")
        self.assertLess(took, 3)

    def test_five_thousand_characters_in_chromium(self):
        self.focus(harness.NOTES, "notes")
        text = SAMPLE + " " + mixed_text(5000 - len(SAMPLE) - 1, 1700)
        took = self.type_text(text)
        self.wait_notes(text)
        print(f"{len(text)} mixed characters in Chromium: {took:.2f} s")

    def test_five_thousand_characters_in_the_terminal(self):
        self.launch("xfce4-terminal --disable-server --maximize -x sh -c 'cat >/tmp/typed'",
                    "--class xfce4-terminal")
        # A terminal's line holds no more than 4,095 bytes.
        text = SAMPLE + "\n" + mixed_text(5000 - len(SAMPLE) - 1, 600) + "\n"
        took = self.type_text(text)
        self.do({"action": "key", "text": "ctrl+d"})
        harness.wait_until("the terminal has ended", lambda: self.api.exec(
            self.desktop, "pgrep -x cat >/dev/null || echo ended") == "ended\n")
        self.assertEqual(self.api.exec(self.desktop, "cat /tmp/typed"), text)
        print(f"{len(text)} mixed characters in the terminal: {took:.2f} s")

    def test_five_thousand_characters_in_the_editor(self):
        self.launch("mousepad --disable-server", "--class mousepad")
        text = SAMPLE + "\n" + mixed_text(5000 - len(SAMPLE) - 1, 1700)
        took = self.type_text(text)
        self.do({"action": "key", "text": "ctrl+a"}, {"action": "key", "text": "ctrl+c"},
                {"action": "wait", "duration": 1})
        self.assertEqual(self.api.exec(self.desktop, "xclip -selection clipboard -o"), text)
        print(f"{len(text)} mixed characters in the editor: {took:.2f} s")

    def test_no_key_is_lost_and_none_sticks(self):
        self.focus(harness.NOTES, "notes")
        self.clear()
        count = 10_000 if LONG else 1000
        numbers = random.Random(7)
        text = "".join(numbers.choice("abcdefghijklmnopqrstuvwxyz0123456789 ,.-") for _ in range(count))
        took = self.type_text(text, "keys")
        log = self.wait_notes(text, 60 + count / 8)
        self.assertEqual(log["keys"]["n"], count)
        log = self.wait_page(self.desktop, "all keys are up", lambda log: log["keys"]["up"] == count)
        self.assertEqual(log["keys"]["held"], [])
        self.assertEqual(log["keys"]["crc"], zlib.crc32("".join(c + "\n" for c in text).encode()))
        print(f"{count} keys: {took:.2f} s")

    def test_newlines_and_tabs_are_keys_unless_all_is_pasted(self):
        self.focus(harness.NAME, "name")
        self.type_text("Ω one\tΩ two\nthree")
        log = self.wait_page(self.desktop, "both fields", lambda log: log["values"]["notes"] == "Ω two\nthree")
        self.assertEqual(log["values"]["name"], "Ω one")
        self.type_text("\n\tfour\n", "paste")
        self.wait_notes("Ω two\nthree\n\tfour\n")

    @unittest.skipUnless(LONG, "needs an emulated desktop that nothing else slows down")
    def test_where_paste_does_nothing_keys_do(self):
        self.launch_xev()
        line = "abcdefghijklmnopqrstuvwxyz" * 2
        self.type_text(line)
        harness.wait_until("all keys", lambda: len(self.keys_seen_by_xev()) >= len(line) + 2)
        self.assertEqual(self.keys_seen_by_xev(), ["Control_L", "v", *line])


if __name__ == "__main__":
    harness.main()
