# SPDX-License-Identifier: Apache-2.0
"""An agent opens a page in Chromium by the address bar and fills a form: every action is proven by the
page's own log of DOM events, which is read back from screenshots."""

import unittest

import harness

TEXT = "naïve Ωmega 日本語 مرحبا 🦔"
ASCII = "The quick brown fox! \"#$%&'()*+,-./0189:;<=>?@[\\]^_`{|}~"


class AgentFillsAForm(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.desktop = cls.api.create("form")["name"]

    def setUp(self):
        log = self.open_page(self.desktop)
        # Where the page's top left pixel is on the screen.
        self.x, self.y = log["inner"]["sx"], log["inner"]["sy"]

    def do(self, *actions):
        return self.api.act(self.desktop, *actions)

    def at(self, x, y):
        return [self.x + x, self.y + y]

    # The form's places, in pixels of the page (assets/guest/usr/share/dormouse/test-page).
    NAME = (200, 101)
    NOTES = (200, 180)

    def focus(self, place, element):
        self.do({"action": "left_click", "coordinate": self.at(*place)})
        return self.wait_page(self.desktop, f"{element} has the focus", lambda log: log["focus"] == element)

    def test_types_any_text_into_a_field(self):
        self.focus(self.NAME, "name")
        self.do({"action": "type", "text": TEXT})
        log = self.wait_page(self.desktop, "the whole text is there", lambda log: log["values"]["name"] == TEXT)
        self.assertEqual(log["values"]["name"], TEXT)

    def test_types_every_ascii_character_by_keys(self):
        self.focus(self.NOTES, "notes")
        self.do({"action": "type", "text": ASCII, "method": "keys"})
        log = self.wait_page(self.desktop, "all characters are there", lambda log: log["values"]["notes"] == ASCII)
        self.assertTrue(any(event["type"] == "keydown" for event in log["events"]))
        self.assertFalse(any(event["type"] == "paste" for event in log["events"]))

    def test_keeps_what_was_on_the_clipboard(self):
        self.focus(self.NAME, "name")
        self.do({"action": "type", "text": "kept"}, {"action": "key", "text": "ctrl+a"},
                {"action": "key", "text": "ctrl+c"}, {"action": "key", "text": "Delete"},
                {"action": "type", "text": "Ω"}, {"action": "key", "text": "ctrl+v"})
        self.wait_page(self.desktop, "the old clipboard is pasted", lambda log: log["values"]["name"] == "Ωkept")

    def test_presses_keys_with_modifiers(self):
        self.focus(self.NAME, "name")
        self.do({"action": "type", "text": "abc"}, {"action": "key", "text": "shift+Home"},
                {"action": "key", "text": "BackSpace"})
        log = self.wait_page(self.desktop, "the text was selected and removed",
                             lambda log: log["values"]["name"] == "" and log["total"] > 6)
        home = [event for event in log["events"] if event["type"] == "keydown" and event["key"] == "Home"]
        self.assertEqual(home[-1]["modifiers"], harness.pagelog.SHIFT)

    def test_clicks_with_each_button(self):
        place = self.at(470, 110)  # the drawing area
        for action, kind in (("left_click", "click"), ("double_click", "dblclick"), ("right_click", "contextmenu")):
            with self.subTest(action):
                self.do({"action": action, "coordinate": place})
                log = self.wait_page(self.desktop, f"{kind} was seen",
                                     lambda log: any(e["type"] == kind for e in log["events"]))
                seen = [event for event in log["events"] if event["type"] == kind][-1]
                self.assertEqual([seen["screenX"], seen["screenY"]], place)

    def test_clicks_where_the_pointer_is(self):
        place = self.at(480, 120)
        self.do({"action": "mouse_move", "coordinate": place}, {"action": "left_click"})
        log = self.wait_page(self.desktop, "a click was seen", lambda log: any(e["type"] == "click" for e in log["events"]))
        seen = [event for event in log["events"] if event["type"] == "click"][-1]
        self.assertEqual([seen["screenX"], seen["screenY"]], place)

    def test_drags(self):
        start, end = self.at(460, 100), self.at(650, 170)
        self.do({"action": "left_click_drag", "start_coordinate": start, "coordinate": end})
        log = self.wait_page(self.desktop, "the button is up again",
                             lambda log: any(e["type"] == "mouseup" for e in log["events"]))
        mouse = [event for event in log["events"] if event["type"] in ("mousedown", "mousemove", "mouseup")]
        kinds = [event["type"] for event in mouse]
        self.assertEqual((kinds[0], kinds[-1]), ("mousedown", "mouseup"))
        # Chromium puts moves together when it is busy; one at least tells that it is a drag.
        self.assertGreaterEqual(kinds.count("mousemove"), 1)
        self.assertEqual([mouse[0]["screenX"], mouse[0]["screenY"]], start)
        self.assertEqual([mouse[-1]["screenX"], mouse[-1]["screenY"]], end)
        self.assertEqual(mouse[-1]["buttons"], 0)

    def test_scrolls_down_and_up(self):
        place = self.at(200, 300)
        self.do({"action": "scroll", "scroll_direction": "down", "scroll_amount": 5, "coordinate": place})
        # Chromium joins turns that come close together.
        self.wait_page(self.desktop, "the wheel was turned five times, and the page has moved",
                       lambda log: sum(event["deltaY"] for event in log["events"] if event["type"] == "wheel")
                       == 600 and log["scroll"]["y"] > 100)
        self.do({"action": "scroll", "scroll_direction": "up", "scroll_amount": 10, "coordinate": place})
        self.wait_page(self.desktop, "the page is at its top", lambda log: log["scroll"]["y"] == 0)

    def test_a_failing_action_stops_the_rest_and_nothing_stays_down(self):
        self.focus(self.NAME, "name")
        with self.assertRaises(harness.ApiError) as refused:
            self.do({"action": "type", "text": "x"}, {"action": "left_click", "coordinate": [5000, 10]})
        self.assertEqual((refused.exception.status, refused.exception.code), (400, "invalid_argument"))
        self.assertIn("0..1279", refused.exception.message)
        # All are checked before the first is carried out.
        self.do({"action": "type", "text": "y"})
        self.wait_page(self.desktop, "only the second text is there", lambda log: log["values"]["name"] == "y")

    def test_a_screenshot_in_between_comes_in_the_answer(self):
        results = self.do({"action": "mouse_move", "coordinate": [5, 5]}, {"action": "screenshot"},
                          {"action": "wait", "duration": 0.1})
        self.assertEqual([result["action"] for result in results], ["mouse_move", "screenshot", "wait"])
        image = harness.picture(harness.decode_image(results[1]))
        self.assertEqual(image.size, (1280, 800))
        self.assertGreaterEqual(results[2]["took_ms"], 100)


if __name__ == "__main__":
    harness.main()
