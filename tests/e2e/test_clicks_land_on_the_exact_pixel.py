# SPDX-License-Identifier: Apache-2.0
"""A click lands on the pixel that was named: at the corners, at the edges, in the middle."""

import harness


class ClicksLandOnTheExactPixel(harness.DesktopTest):
    def test_corners_edges_and_middle(self):
        name = self.api.create("pixels")["name"]
        self.open_page(name, harness.TEST_PAGE + "#full", mode="full")
        self.api.act(name, {"action": "key", "text": "F11"})
        self.wait_page(name, "the page fills the screen",
                       lambda log: (log["inner"]["w"], log["inner"]["h"], log["inner"]["dpr"]) == (1280, 800, 1))
        # Chromium says for some seconds how to leave full screen, on top of the page.
        places = [(640, 400), (639, 399), (641, 401), (1, 1), (0, 799), (1279, 799), (1279, 0), (0, 0), (1278, 798),
                  (0, 400), (1279, 400), (640, 799), (333, 777), (1023, 511)]
        for x, y in places:
            with self.subTest(place=(x, y)):
                self.api.act(name, {"action": "key", "text": "F9"})  # empties the log
                self.wait_page(name, "the log is empty",
                               lambda log: not any(e["type"] == "mousedown" for e in log["events"]))
                self.api.act(name, {"action": "left_click", "coordinate": [x, y]})
                log = self.wait_page(name, f"a click at {x}, {y}",
                                     lambda log: any(e["type"] == "mousedown" for e in log["events"]))
                down = [event for event in log["events"] if event["type"] == "mousedown"]
                self.assertEqual([(e["screenX"], e["screenY"]) for e in down], [(x, y)])


if __name__ == "__main__":
    harness.main()
