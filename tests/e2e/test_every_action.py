# SPDX-License-Identifier: Apache-2.0
"""Whatever a person does with mouse and keyboard, an agent does: each action and each modifier is proven by the DOM
events that Chromium got."""

import os
import pathlib
import tempfile
import time
import unittest

import harness
from pagelog import ALT, CONTROL, META, SHIFT


class EveryAction(harness.PageTest):
    def test_each_button_clicks_where_it_shall(self):
        place = self.at(*harness.DRAW)
        buttons = {"left_click": (0, "click"), "middle_click": (1, "auxclick"), "right_click": (2, "contextmenu")}
        for action, (button, kind) in buttons.items():
            with self.subTest(action):
                self.do({"action": action, "coordinate": place})
                log = self.wait_events(action, kind)
                down = self.events(log, "mousedown")[-1]
                self.assertEqual((down["button"], [down["screenX"], down["screenY"]]), (button, place))
                self.assertEqual(self.events(log, "mouseup")[-1]["buttons"], 0)

    def test_double_and_triple_clicks(self):
        self.focus(harness.NAME, "name")
        self.do({"action": "type", "text": "two words"},
                {"action": "double_click", "coordinate": self.at(55, 101)}, {"action": "key", "text": "x"})
        self.wait_page(self.desktop, "a word was selected", lambda log: log["values"]["name"] in ("x words", "xwords"))
        self.do({"action": "triple_click", "coordinate": self.at(55, 101)}, {"action": "key", "text": "y"})
        log = self.wait_page(self.desktop, "all was selected", lambda log: log["values"]["name"] == "y")
        self.assertEqual(len(self.events(log, "dblclick")), 2)

    def test_repeated_clicks_are_no_double_clicks(self):
        self.do({"action": "left_click", "coordinate": self.at(*harness.DRAW), "repeat": 3})
        log = self.wait_events("three clicks", "click", 3)
        self.assertEqual(self.events(log, "dblclick"), [])

    def test_each_modifier_is_held_during_a_click(self):
        place = self.at(*harness.DRAW)
        for keys, modifiers in (("shift", SHIFT), ("ctrl", CONTROL), ("alt", ALT), ("super", META),
                                ("ctrl+shift", CONTROL | SHIFT), ("ctrl+alt+shift", CONTROL | ALT | SHIFT)):
            with self.subTest(keys):
                self.clear()
                self.do({"action": "left_click", "coordinate": place, "text": keys})
                log = self.wait_events(f"a click with {keys}", "click")
                self.assertEqual([event["modifiers"] for event in self.events(log, "mousedown", "mouseup", "click")],
                                 [modifiers] * 3)
                self.wait_page(self.desktop, "no key is held", lambda log: log["keys"]["held"] == [])

    def test_drags_straight_along_a_path_and_with_a_modifier(self):
        start, end = self.at(470, 100), self.at(670, 180)
        self.do({"action": "left_click_drag", "start_coordinate": start, "coordinate": end, "text": "shift"})
        log = self.wait_events("the end of the drag", "mouseup")
        mouse = self.events(log, "mousedown", "mousemove", "mouseup")
        self.assertEqual([[mouse[0]["screenX"], mouse[0]["screenY"]], [mouse[-1]["screenX"], mouse[-1]["screenY"]]],
                         [start, end])
        self.assertEqual({event["modifiers"] for event in mouse}, {SHIFT})
        self.clear()
        path = [self.at(600, 100), self.at(600, 180), self.at(500, 180)]
        self.do({"action": "left_click_drag", "start_coordinate": start, "path": path})
        log = self.wait_events("the end of the path", "mouseup")
        seen = [[event["screenX"], event["screenY"]] for event in self.events(log, "mousedown", "mousemove", "mouseup")]
        for corner in [start, *path]:
            self.assertIn(corner, seen)

    @unittest.skipUnless(os.environ.get("DORMOUSE_LONG"), "needs an emulated desktop that nothing else slows down")
    def test_drags_what_can_be_dropped(self):
        self.do({"action": "left_click_drag", "start_coordinate": self.at(*harness.ITEM),
                 "coordinate": self.at(*harness.TARGET)})
        log = self.wait_events("the drop", "drop")
        drop = self.events(log, "drop")[0]
        self.assertEqual((drop["target"], drop["data"]), ("target", "item"))

    def test_the_button_stays_down_between_calls(self):
        places = [self.at(470, 100), self.at(600, 120), self.at(650, 190)]
        self.do({"action": "left_mouse_down", "coordinate": places[0]})
        self.do({"action": "mouse_move", "coordinate": places[1]})
        self.do({"action": "mouse_move", "coordinate": places[2]})
        log = self.wait_events("moves with the button down", "mousemove", 4)
        self.assertEqual(self.events(log, "mouseup"), [])
        self.do({"action": "left_mouse_up"})
        log = self.wait_events("the release", "mouseup")
        up = self.events(log, "mouseup")[-1]
        self.assertEqual([up["screenX"], up["screenY"]], places[2])

    def test_a_failing_call_lets_the_button_go(self):
        self.do({"action": "left_mouse_down", "coordinate": self.at(*harness.DRAW)})
        self.wait_events("the press", "mousedown")
        with self.assertRaises(harness.ApiError) as refused:
            self.do({"action": "left_click"})
        self.assertIn("left_mouse_up", str(refused.exception))
        self.wait_events("the release", "mouseup")

    def test_scrolls_four_ways_by_the_exact_amount(self):
        place = self.at(*harness.BOX)
        ways = (("down", 0, 1), ("right", 1, 0), ("up", 0, -1), ("left", -1, 0))
        for amount in (1, 5):
            for direction, x, y in ways:
                with self.subTest(direction=direction, amount=amount):
                    self.clear()
                    # The pointer comes from elsewhere each time.
                    self.do({"action": "mouse_move", "coordinate": self.at(30, 30)},
                            {"action": "scroll", "scroll_direction": direction, "scroll_amount": amount,
                             "coordinate": place})

                    def deltas(log):
                        wheel = self.events(log, "wheel")
                        return sum(e["deltaX"] for e in wheel), sum(e["deltaY"] for e in wheel)

                    wanted = (120 * x * amount, 120 * y * amount)
                    self.wait_page(self.desktop, f"{amount} {direction}", lambda log: deltas(log) == wanted)
                    time.sleep(0.3)
                    self.assertEqual(deltas(self.wait_page(self.desktop, "the log")), wanted)
        self.do({"action": "scroll", "scroll_direction": "right", "scroll_amount": 3, "coordinate": place})
        self.wait_page(self.desktop, "the box has moved sideways", lambda log: log["scroll"]["boxx"] > 100)

    @unittest.skipUnless(os.environ.get("DORMOUSE_LONG"), "needs an emulated desktop that nothing else slows down")
    def test_scrolls_sideways_in_the_file_manager(self):
        middle = self.launch("thunar /usr/bin", "--class thunar")
        self.api.act_for(self.desktop, {"action": "key", "text": "ctrl+3"}, {"action": "wait", "duration": 3},
                         screenshot="settled")

        def scroll(direction):
            answer = self.api.act_for(self.desktop, {"action": "scroll", "scroll_direction": direction,
                                                     "scroll_amount": 5, "coordinate": middle}, screenshot="settled")
            return answer["changed"]

        moved = scroll("right")
        self.assertGreater(sum(region["width"] * region["height"] for region in moved), 20_000, moved)
        back = scroll("left")
        self.assertGreater(sum(region["width"] * region["height"] for region in back), 20_000, back)

    @unittest.skipUnless(os.environ.get("DORMOUSE_LONG"), "not seen to pass since it was changed")
    def test_scrolls_with_a_modifier(self):
        self.do({"action": "scroll", "scroll_direction": "down", "scroll_amount": 2, "coordinate": self.at(*harness.DRAW),
                 "text": "shift"})
        log = self.wait_events("the wheel", "wheel")
        self.assertEqual({event["modifiers"] for event in self.events(log, "wheel")}, {SHIFT})
        self.do({"action": "scroll", "scroll_direction": "up", "scroll_amount": 1, "coordinate": self.at(*harness.DRAW),
                 "text": "ctrl"})
        # Chromium zooms by it; back again.
        self.wait_page(self.desktop, "the page was zoomed", lambda log: log["inner"]["dpr"] != 1)
        self.do({"action": "key", "text": "ctrl+0"})
        self.wait_page(self.desktop, "the page has its size again", lambda log: log["inner"]["dpr"] == 1)

    def test_tells_where_the_pointer_is(self):
        place = self.at(123, 234)
        result = self.do({"action": "mouse_move", "coordinate": place}, {"action": "wait", "duration": 0.2},
                         {"action": "cursor_position"})[-1]
        self.assertEqual([result["x"], result["y"]], place)

    def test_holds_and_repeats_keys(self):
        self.focus(harness.NAME, "name")
        self.clear()
        results = self.do({"action": "key", "text": "a b", "repeat": 3},
                          {"action": "hold_key", "text": "shift+c", "duration": 0.7})
        self.assertGreaterEqual(results[1]["took_ms"], 700)
        log = self.wait_page(self.desktop, "all keys", lambda log: log["keys"]["up"] == 8)
        self.assertEqual(log["values"]["name"], "abababC")
        self.assertEqual(log["keys"]["held"], [])

    def test_ctrl_click_and_middle_click_open_a_tab_and_the_side_buttons_go_back_and_forward(self):
        link = self.at(*harness.LINK)
        self.do({"action": "left_click", "coordinate": link, "text": "ctrl"})
        self.do({"action": "wait", "duration": 1}, {"action": "key", "text": "ctrl+Tab"})
        self.wait_page(self.desktop, "the link's page is in another tab", lambda log: log["query"] == "?linked")
        self.do({"action": "key", "text": "ctrl+w"})
        self.wait_page(self.desktop, "the first tab is back", lambda log: log["query"] != "?linked")
        self.do({"action": "middle_click", "coordinate": link})
        self.do({"action": "wait", "duration": 1}, {"action": "key", "text": "ctrl+Tab"})
        self.wait_page(self.desktop, "again", lambda log: log["query"] == "?linked")
        self.do({"action": "key", "text": "ctrl+w"})
        self.wait_page(self.desktop, "the first tab is back", lambda log: log["query"] != "?linked")
        self.do({"action": "left_click", "coordinate": link})
        self.wait_page(self.desktop, "the link was followed", lambda log: log["query"] == "?linked")
        self.do({"action": "back_click", "coordinate": self.at(*harness.DRAW)})
        self.wait_page(self.desktop, "back", lambda log: log["query"] != "?linked")
        self.do({"action": "forward_click", "coordinate": self.at(*harness.DRAW)})
        self.wait_page(self.desktop, "forward", lambda log: log["query"] == "?linked")

    def test_undoes_the_scale_of_the_picture_that_was_seen(self):
        x, y = self.at(*harness.DRAW)
        self.api.act_for(self.desktop, {"action": "left_click", "coordinate": [x // 2, y // 2]},
                         coordinates={"scale": 0.5})
        log = self.wait_events("a click", "click")
        click = self.events(log, "click")[-1]
        self.assertEqual((click["screenX"], click["screenY"]), (x // 2 * 2 + 1, y // 2 * 2 + 1))
        with self.assertRaises(harness.ApiError) as refused:
            self.api.act_for(self.desktop, {"action": "left_click", "coordinate": [640, 0]}, coordinates={"scale": 0.5})
        self.assertIn("x 0..639, y 0..399", refused.exception.message)

    def test_gives_back_the_settled_picture_and_what_changed(self):
        place = self.at(*harness.DRAW)
        answer = self.api.act_for(self.desktop, {"action": "left_click", "coordinate": place}, screenshot="settled",
                                  image={"format": "jpeg", "scale": 0.5}, coordinates={"width": 1280, "height": 800})
        image = harness.picture(harness.base64.b64decode(answer["screenshot"]["data"]))
        self.assertEqual(image.size, (640, 400))
        self.assertEqual(answer["screenshot"]["media_type"], "image/jpeg")
        self.assertEqual((answer["screenshot"]["screen_width"], answer["screenshot"]["screen_height"]), (1280, 800))
        self.assertTrue(answer["settled"]["settled"])
        self.assertLess(answer["settled"]["took_ms"], 10000)
        self.assertTrue(any(r["x"] <= place[0] < r["x"] + r["width"] and r["y"] <= place[1] < r["y"] + r["height"]
                            for r in answer["changed"]), answer["changed"])
        quiet = self.api.act_for(self.desktop, {"action": "wait", "duration": 0}, screenshot="after")
        self.assertEqual(quiet["changed"], [])
        self.assertNotIn("settled", quiet)

    @unittest.skipUnless(os.environ.get("DORMOUSE_LONG"), "takes more than a minute")
    def test_a_forgotten_button_is_let_go(self):
        self.do({"action": "left_mouse_down", "coordinate": self.at(*harness.DRAW)})
        time.sleep(50)
        self.do({"action": "mouse_move", "coordinate": self.at(600, 120)})  # not forgotten yet
        time.sleep(50)
        self.assertEqual(self.events(self.wait_page(self.desktop, "the log"), "mouseup"), [])
        self.wait_events("the release", "mouseup")

    @unittest.skipUnless(os.environ.get("DORMOUSE_LONG"), "not seen to pass since it was changed")
    def test_by_the_command_line(self):
        x, y = self.at(*harness.DRAW)
        with tempfile.TemporaryDirectory() as folder:
            shot, part = pathlib.Path(folder, "now.jpg"), pathlib.Path(folder, "part.png")
            self.daemon.cli("click", self.desktop, x, y, "--modifiers", "ctrl", "--screenshot", "settled", shot)
            self.assertEqual(harness.picture(shot.read_bytes()).size, (1280, 800))
            self.assertEqual(self.daemon.cli("cursor", self.desktop).stdout, f"{x} {y}\n")
            self.daemon.cli("zoom", self.desktop, 0, 0, 320, 200, part, "--size", 640, 400)
            self.assertEqual(harness.picture(part.read_bytes()).size, (640, 400))
        self.daemon.cli("drag", self.desktop, x, y, x + 50, y, x + 50, y + 40)
        self.daemon.cli("scroll", self.desktop, "right", 2, "--at", x, y)
        log = self.wait_page(self.desktop, "two turns", lambda log: sum(
            event["deltaX"] for event in self.events(log, "wheel")) == 240)
        self.assertEqual(self.events(log, "click")[0]["modifiers"], CONTROL)
        self.assertEqual(len(self.events(log, "mouseup")), 2)

    def test_zooms_into_a_region(self):
        left, top = self.at(20, 60)
        region = [left, top, left + 320, top + 200]
        results = self.do({"action": "zoom", "region": region, "size": [320, 200]}, {"action": "screenshot"},
                          {"action": "zoom", "region": region})
        plain, whole, large = (harness.picture(harness.decode_image(result)) for result in results)
        self.assertEqual(plain.tobytes(), whole.crop(region).tobytes())
        self.assertEqual(large.size, (1280, 800))


if __name__ == "__main__":
    harness.main()
