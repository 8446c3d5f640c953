# SPDX-License-Identifier: Apache-2.0
"""Daemon, keeper and QEMU are killed at will: desktops go on, or it is shown what became of them."""

import os
import pathlib
import signal

import harness


def qemu_pid(daemon, desktop):
    found = [pid for pid, line in harness.all_processes() if "qemu-system" in line.split(" ")[0] and desktop["id"] in line]
    if len(found) != 1:
        raise AssertionError(f"processes of {desktop['id']}: {found}")
    return found[0]


def keeper_pid(desktop):
    found = [pid for pid, line in harness.all_processes() if "dormouse-keeper" in line.split(" ")[0] and desktop["id"] in line]
    if len(found) != 1:
        raise AssertionError(f"keepers of {desktop['id']}: {found}")
    return found[0]


class DesktopOutlivesTheDaemon(harness.DesktopTest):
    def test_a_killed_daemon_finds_its_desktops_again(self):
        names = [self.api.create(name)["name"] for name in ("first", "second")]
        before = {name: qemu_pid(self.daemon, self.api.get(name)) for name in names}
        self.open_page("first")
        self.daemon.kill()
        self.api = type(self).api = self.daemon.start()
        for name in names:
            desktop = self.api.get(name)
            self.assertEqual(desktop["state"], "running")
            self.assertEqual(qemu_pid(self.daemon, desktop), before[name], "the same machine")
        log = self.wait_page("first", "the page is still open")
        place = [log["inner"]["sx"] + 200, log["inner"]["sy"] + 101]
        self.api.act("first", {"action": "left_click", "coordinate": place}, {"action": "type", "text": "still 日本 here"})
        self.wait_page("first", "it can be typed into", lambda log: log["values"]["name"] == "still 日本 here")
        for name in names:
            harness.wait_until(f"{name} is ready again", lambda: self.api.get(name)["ready"])
            self.api.delete(name)

    def test_a_daemon_killed_in_the_middle_of_a_key_leaves_none_down(self):
        name = self.api.create("pressed")["name"]
        log = self.open_page(name)
        place = [log["inner"]["sx"] + 480, log["inner"]["sy"] + 120]
        end = [place[0] + 150, place[1] + 20]
        # A drag takes about half a second; the daemon is killed while the button is down.
        connection = harness.http.client.HTTPConnection("127.0.0.1", self.daemon.port)
        body = harness.json.dumps({"action": "left_click_drag", "start_coordinate": place, "coordinate": end})
        connection.request("POST", f"/v1/desktops/{name}/actions", body, {"Authorization": f"Bearer {self.api.token}"})
        self.wait_page(name, "the button is down", lambda log: any(e["type"] == "mousedown" for e in log["events"]))
        self.daemon.kill()
        connection.close()
        self.api = type(self).api = self.daemon.start()
        log = self.wait_page(name, "the button is up", lambda log: any(e["type"] == "mouseup" for e in log["events"]))
        up = [event for event in log["events"] if event["type"] == "mouseup"]
        self.assertEqual(up[-1]["buttons"], 0)
        self.api.delete(name)

    def test_a_killed_machine_is_shown_and_starts_again(self):
        name = self.api.create("killed")["name"]
        os.kill(qemu_pid(self.daemon, self.api.get(name)), signal.SIGKILL)
        failed = self.api.wait_state(name, "failed", harness.REACT_SECONDS)
        self.assertIn("signal 9", failed["reason"])
        self.assertEqual(failed["exit"]["status"], "signal 9 (Killed)")
        with self.assertRaises(harness.ApiError) as refused:
            self.api.screenshot(name)
        self.assertEqual(refused.exception.status, 409)
        self.assertEqual(self.api.call("POST", f"/v1/desktops/{name}/start")["state"], "starting")
        started = self.api.wait_state(name, "running")
        self.assertTrue(started["ready"])
        self.assertIsNone(started["exit"])
        # From its disk, with the browser open again.
        harness.wait_until("the browser takes an address", lambda: self.try_page(name), harness.BOOT_SECONDS, pause=1)

        # A reboot inside the guest comes back by itself.
        self.api.act(name, {"action": "key", "text": "alt+F2"})
        harness.wait_until("the guest has gone down", lambda: self.try_reboot(name), harness.BOOT_SECONDS, pause=1)
        harness.wait_until("the agent answers again", lambda: self.api.get(name)["ready"], harness.BOOT_SECONDS)
        self.assertEqual(self.api.get(name)["state"], "running")
        harness.wait_until("the browser takes an address", lambda: self.try_page(name), harness.BOOT_SECONDS, pause=1)
        self.api.delete(name)

    def try_page(self, name):
        try:
            return self.open_page(name)
        except (AssertionError, harness.ApiError):
            return None

    def try_reboot(self, name):
        self.api.act(name, {"action": "key", "text": "alt+F2"}, {"action": "wait", "duration": 5},
                     {"action": "type", "text": "xfce4-terminal -e 'sudo systemctl reboot'"},
                     {"action": "key", "text": "Return"}, {"action": "wait", "duration": 10})
        return not self.api.get(name)["ready"]

    def test_a_killed_keeper_takes_its_machine_along(self):
        desktop = self.api.create("kept")
        pid = qemu_pid(self.daemon, desktop)
        os.kill(keeper_pid(desktop), signal.SIGKILL)
        failed = self.api.wait_state("kept", "failed", harness.REACT_SECONDS)
        self.assertIn("keeper", failed["reason"])
        harness.wait_until("the machine is gone", lambda: not pathlib.Path(f"/proc/{pid}").exists())
        self.api.delete("kept")


if __name__ == "__main__":
    harness.main()
