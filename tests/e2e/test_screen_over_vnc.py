# SPDX-License-Identifier: Apache-2.0
"""The fallback source of pictures: a desktop whose QEMU has a VNC server and no D-Bus display."""

import harness


class ScreenOverVnc(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        cls.daemon = harness.Daemon()
        cls.daemon.environment["DORMOUSE_DISPLAY_SOURCE"] = "vnc"
        cls.addClassCleanup(cls.daemon.destroy)
        cls.api = cls.daemon.start()

    def test_a_click_on_the_page_shows_up(self):
        name = self.api.create("vnc")["name"]
        lines = [line for _, line in harness.all_processes()
                 if str(self.daemon.run_folder()) in line and line.startswith("qemu-system")]
        self.assertEqual(len(lines), 1)
        self.assertIn(" -vnc none ", lines[0])
        self.assertNotIn("dbus", lines[0])

        # The page draws what it has seen as a barcode: reading it means that every pixel is where it belongs.
        self.open_page(name)
        self.api.act(name, {"action": "left_click", "coordinate": [333, 555]})
        log = self.wait_page(name, "the click is in the page's log",
                             lambda log: any(e["type"] == "mousedown" for e in log["events"]))
        down = [event for event in log["events"] if event["type"] == "mousedown"]
        self.assertEqual([(e["screenX"], e["screenY"]) for e in down], [(333, 555)])
        self.assertEqual(harness.picture(self.api.screenshot(name)).size, (1280, 800))

    def test_the_source_survives_a_restart_of_the_daemon_with_another_setting(self):
        name = self.api.create("kept")["name"]
        before = harness.picture(self.api.screenshot(name)).size
        self.daemon.stop()
        # The setting is for machines that are started; this one runs, and has VNC only.
        self.daemon.environment["DORMOUSE_DISPLAY_SOURCE"] = "auto"
        type(self).api = self.daemon.start()
        self.api.wait_state(name, "running")
        self.assertEqual(harness.picture(self.api.screenshot(name)).size, before)
        self.daemon.environment["DORMOUSE_DISPLAY_SOURCE"] = "vnc"


if __name__ == "__main__":
    harness.main()
