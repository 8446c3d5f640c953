# SPDX-License-Identifier: Apache-2.0
"""A click lands on the pixel that was named: at the corners, at the edges, in the middle, and wherever else."""

import os
import random
import zlib

import harness

LONG = bool(os.environ.get("DORMOUSE_LONG"))


# Where Chromium says how to leave full screen, whenever the pointer comes near: its own window, not the page's.
HINT = (340, 0, 940, 160)


class ClicksLandOnTheExactPixel(harness.PageTest):
    mode = "full"

    def setUp(self):
        super().setUp()
        full = lambda log: (log["inner"]["w"], log["inner"]["h"], log["inner"]["dpr"]) == (1280, 800, 1)
        # A browser that is busy with its first pages forgets a shortcut now and then.
        for last in (False, False, True):
            self.do({"action": "key", "text": "F11"})
            try:
                self.wait_page(self.desktop, "the page fills the screen", full, seconds=30)
                break
            except AssertionError:
                if last:
                    raise
        self.addCleanup(self.do, {"action": "key", "text": "F11"})

    def test_corners_edges_and_middle(self):
        places = [(640, 400), (639, 399), (641, 401), (1, 1), (0, 799), (1279, 799), (1279, 0), (0, 0), (1278, 798),
                  (0, 400), (1279, 400), (640, 799), (333, 777), (1023, 511)]
        self.check(places)

    def test_random_pixels(self):
        numbers = random.Random(3)
        for _ in range(10 if LONG else 1):
            places = [(x, y) for x, y in ((numbers.randrange(1280), numbers.randrange(800)) for _ in range(200))
                      if not (HINT[0] <= x < HINT[2] and y < HINT[3])][:100]
            self.check(places)

    def check(self, places):
        """Clicks everywhere in one call. The page's log is too short for all, but it counts and sums them up."""
        self.clear()
        self.do(*({"action": "left_click", "coordinate": list(place)} for place in places))
        log = self.wait_page(self.desktop, f"{len(places)} clicks", lambda log: log["downs"]["n"] >= len(places))
        expected = zlib.crc32("".join(f"{x},{y};" for x, y in places).encode())
        self.assertEqual(log["downs"], {"n": len(places), "crc": expected}, self.events(log, "mousedown"))


if __name__ == "__main__":
    harness.main()
