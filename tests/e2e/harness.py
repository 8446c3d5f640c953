# SPDX-License-Identifier: Apache-2.0
"""What every end-to-end test stands on: a real daemon, its API, real desktops.

Each test file is a program (unittest) that ctest runs. It gets from the environment:
  DORMOUSE_BIN_DIR    where dormoused, dormouse and dormouse-keeper are
  DORMOUSE_TEMPLATES  the folder of baked templates (tests/e2e/bake.sh sees to it)
A daemon has a state folder and a port of its own, and everything is gone after the test.
"""

import base64
import contextlib
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import pagelog
from PIL import Image

BIN = pathlib.Path(os.environ["DORMOUSE_BIN_DIR"])
TEMPLATES = os.environ["DORMOUSE_TEMPLATES"]
TEST_PAGE = "file:///usr/share/dormouse/test-page/index.html"

# Long enough for a boot under emulation on a busy host; nothing waits longer than it must.
BOOT_SECONDS = 600
REACT_SECONDS = 60


class ApiError(Exception):
    def __init__(self, status, body):
        error = body.get("error", {}) if isinstance(body, dict) else {}
        super().__init__(f"{status} {error.get('code')}: {error.get('message')} ({error.get('hint')})")
        self.status = status
        self.code = error.get("code")
        self.message = error.get("message", "")
        self.body = body


def wait_until(what, condition, seconds=REACT_SECONDS, pause=0.1):
    """Asks until `condition()` gives something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)


class Api:
    """The HTTP API, spoken plainly."""

    def __init__(self, port, token):
        self.port = port
        self.token = token

    def raw(self, method, path, body=None, headers=None, token="own"):
        """Returns (status, headers, body bytes)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOOT_SECONDS)
        all_headers = dict(headers or {})
        bearer = self.token if token == "own" else token
        if bearer:
            all_headers["Authorization"] = f"Bearer {bearer}"
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=all_headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def call(self, method, path, body=None, token="own"):
        text = None if body is None else json.dumps(body)
        status, _, answer = self.raw(method, path, text, {"Content-Type": "application/json"}, token)
        parsed = json.loads(answer) if answer else None
        if status >= 400:
            raise ApiError(status, parsed)
        return parsed

    def create(self, name=None):
        return self.call("POST", "/v1/desktops", {"name": name} if name else {})

    def get(self, name):
        return self.call("GET", f"/v1/desktops/{name}")

    def list(self):
        return self.call("GET", "/v1/desktops")["desktops"]

    def delete(self, name):
        return self.call("DELETE", f"/v1/desktops/{name}")

    def act(self, name, *actions):
        return self.call("POST", f"/v1/desktops/{name}/actions", {"actions": list(actions)})["results"]

    def exec(self, name, command, timeout=60, **options):
        """Runs a program inside; a list, or one line for the shell. Returns what it wrote, and fails where it fails."""
        result = self.call("POST", f"/v1/desktops/{name}/exec", {"command": command, "timeout": timeout, **options})
        if result["exit_code"] != 0:
            raise AssertionError(f"{command}: {result}")
        return result["stdout"]

    def act_for(self, name, *actions, **options):
        """The whole answer, with the options of the call: screenshot, image, coordinates."""
        return self.call("POST", f"/v1/desktops/{name}/actions", {"actions": list(actions), **options})

    def screenshot(self, name):
        status, _, body = self.raw("GET", f"/v1/desktops/{name}/screenshot")
        if status != 200:
            raise ApiError(status, json.loads(body))
        return body

    def wait_state(self, name, state, seconds=BOOT_SECONDS):
        def reached():
            desktop = self.get(name)
            if desktop["state"] == "failed" and state != "failed":
                raise AssertionError(f"{name} failed: {desktop['reason']}")
            return desktop if desktop["state"] == state else None

        return wait_until(f"{name} is {state}", reached, seconds)


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    """dormoused with a state folder of its own."""

    def __init__(self):
        # Below /var/tmp, where the user that machines run as may pass.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="dormouse-e2e-", dir="/var/tmp"))
        self.port = free_port()
        self.environment = {
            **os.environ,
            "DORMOUSE_HOME": str(self.home),
            "DORMOUSE_TEMPLATES": TEMPLATES,
            "DORMOUSE_LISTEN": f"127.0.0.1:{self.port}",
        }
        self.process = None
        self.api = None

    def start(self):
        log = open(self.home / "daemon.log", "ab")
        with log:
            self.process = subprocess.Popen([BIN / "dormoused"], env=self.environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)

        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"dormoused ended with {self.process.returncode}:\n{self.log_tail()}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                return Api(self.port, None).raw("GET", "/healthz")[0] == 200
            return False

        wait_until("the daemon answers", answers, pause=0.02)
        self.api = Api(self.port, (self.home / "admin.token").read_text().strip())
        return self.api

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)

    def log_tail(self, lines=25):
        text = (self.home / "daemon.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def cli(self, *arguments, check=True, **options):
        result = subprocess.run([BIN / "dormouse", *map(str, arguments)], env=self.environment, text=True,
                                capture_output=True, timeout=BOOT_SECONDS, **options)
        if check and result.returncode != 0:
            raise AssertionError(f"dormouse {arguments}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    def run_folder(self):
        return pathlib.Path(subprocess.run([BIN / "dormouse", "where", "run"], env=self.environment, text=True,
                                           capture_output=True, check=True).stdout.strip())

    def processes(self):
        """Process ids of everything that runs for this state folder, but the daemon."""
        return [pid for pid, line in all_processes() if str(self.home) in line or str(self.run_folder()) in line]

    def destroy(self):
        """Deletes all desktops, ends the daemon, removes the state folder."""
        try:
            if self.process and self.process.poll() is None:
                for desktop in self.api.list():
                    with contextlib.suppress(ApiError):
                        self.api.delete(desktop["id"])
        finally:
            self.stop()
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.run_folder(), ignore_errors=True)
            shutil.rmtree(self.home, ignore_errors=True)


def all_processes():
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


class DesktopTest(unittest.TestCase):
    """A test with a daemon of its own; one daemon for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.destroy)
        cls.api = cls.daemon.start()

    def run(self, result=None):
        failures = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > failures:
            self.keep_evidence()

    def keep_evidence(self):
        """After a failure: the last lines of the log, and pictures of all desktops."""
        print(f"--- the daemon's log\n{self.daemon.log_tail(60)}", file=sys.stderr)
        folder = pathlib.Path(os.environ.get("DORMOUSE_EVIDENCE", tempfile.gettempdir()))
        with contextlib.suppress(Exception):
            for desktop in self.api.list():
                print(f"--- {desktop}", file=sys.stderr)
                file = folder / f"{self.id()}-{desktop['name']}.png"
                with contextlib.suppress(Exception):
                    file.write_bytes(self.api.screenshot(desktop["id"]))
                    print(f"--- picture: {file}", file=sys.stderr)

    # What a person does with the browser.

    def page(self, name):
        """The test page's own log, from a screenshot; None while it cannot be read."""
        with contextlib.suppress(pagelog.PageLogError):
            return pagelog.decode(self.api.screenshot(name))
        return None

    def wait_page(self, name, what, condition=lambda log: True, seconds=REACT_SECONDS):
        last = None

        def reached():
            nonlocal last
            last = self.page(name) or last
            return last if last and condition(last) else None

        try:
            return wait_until(what, reached, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; the page says: {json.dumps(last)[:3000]}") from None

    def open_page(self, name, url=TEST_PAGE, mode="form", by_mouse=False):
        """Opens the test page through the address bar."""
        to_the_bar = {"action": "left_click", "coordinate": [600, 62]} if by_mouse else {"action": "key", "text": "ctrl+l"}
        self.api.act(name, to_the_bar, {"action": "type", "text": url},
                     {"action": "key", "text": "Return"})
        # The page learns where it is on the screen from the first motion over it: one that does not know is fresh.
        # And one whose address is another is the page before.
        query = url.partition("#")[0].partition("?")[2]
        self.wait_page(name, f"{url} is open", lambda log: log["mode"] == mode and log["inner"]["sx"] is None
                       and log["query"].lstrip("?") == query)
        self.api.act(name, {"action": "mouse_move", "coordinate": [100, 700]},
                     {"action": "mouse_move", "coordinate": [101, 701]})
        return self.wait_page(name, "the page knows its place", lambda log: log["inner"]["sx"] is not None)


class PageTest(DesktopTest):
    """One desktop for all tests of a class, with the test page open anew for each."""

    mode = "form"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.desktop = cls.api.create("page")["name"]

    def setUp(self):
        self.show(self.mode)

    def show(self, mode):
        url = TEST_PAGE + ("" if mode == "form" else f"#{mode}")
        # A fragment alone would not load the page anew.
        log = self.open_page(self.desktop, f"{TEST_PAGE}?{self._testMethodName[5:20]}{url[len(TEST_PAGE):]}", mode,
                             by_mouse=mode == "keys")  # that page keeps all keys to itself
        # Where the page's top left pixel is on the screen.
        self.x, self.y = log["inner"]["sx"], log["inner"]["sy"]

    def do(self, *actions):
        return self.api.act(self.desktop, *actions)

    def at(self, x, y):
        return [self.x + x, self.y + y]

    def events(self, log, *kinds):
        return [event for event in log["events"] if event["type"] in kinds]

    def wait_events(self, what, kind, count=1):
        """The page's log once it has so many events of a kind."""
        return self.wait_page(self.desktop, what, lambda log: len(self.events(log, kind)) >= count)

    def focus(self, place, element):
        self.do({"action": "left_click", "coordinate": self.at(*place)})
        return self.wait_page(self.desktop, f"{element} has the focus", lambda log: log["focus"] == element)

    def launch(self, command, window):
        """Starts a program and waits until its window is in front and drawn; gives the middle of it. It ends with the test."""
        before = picture(self.api.screenshot(self.desktop))
        self.api.exec(self.desktop, f"setsid {command} >/dev/null 2>&1 &")
        search = f"xdotool search --sync --onlyvisible {window}"
        self.addCleanup(self.api.exec, self.desktop,
                        f"{search.replace('--sync ', '')} windowkill; sleep 1; true")  # it may be gone
        self.api.exec(self.desktop, f"{search} windowactivate --sync")
        shape = dict(line.split("=") for line in
                     self.api.exec(self.desktop, f"{search} getwindowgeometry --shell").splitlines())
        left, top, width, height = (int(shape[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))
        box = (left, top, min(left + width, 1280), min(top + height, 800))

        def is_drawn():
            now = picture(self.api.screenshot(self.desktop)).crop(box)
            pairs = list(zip(now.getdata(), before.crop(box).getdata()))
            return sum(a != b for a, b in pairs) > len(pairs) / 4

        wait_until(f"{command} is drawn", is_drawn)
        self.api.act_for(self.desktop, {"action": "wait", "duration": 0}, screenshot="settled")
        return [(box[0] + box[2]) // 2, (box[1] + box[3]) // 2]

    def launch_xev(self):
        """A window that takes keys and nothing else, and writes down the names that X has for them."""
        self.launch("stdbuf -oL xev -event keyboard >/tmp/xev", "--name 'Event Tester'")

    def keys_seen_by_xev(self):
        return re.findall(r"KeyPress event.*?\(keysym \w+, (\w+)\)", self.api.exec(self.desktop, "cat /tmp/xev"), re.S)

    def clear(self):
        """Empties the page's log: F9, or the button where keys are under test."""
        self.do({"action": "left_click", "coordinate": self.at(*CLEAR)} if self.mode == "keys" else
                {"action": "key", "text": "F9"})
        return self.wait_page(self.desktop, "the log is empty", lambda log: log["keys"]["n"] == 0 and log["downs"]["n"] == 0)


# Places of the form, in pixels of the page (assets/guest/usr/share/dormouse/test-page).
NAME, NOTES, CLEAR = (200, 101), (200, 180), (145, 384)
DRAW, BOX, ITEM, TARGET, LINK = (500, 110), (520, 390), (465, 497), (542, 497), (603, 497)


def picture(png):
    return Image.open(io.BytesIO(png)).convert("RGB")


def decode_image(result):
    return base64.b64decode(result["image"]["data"])


def main():
    unittest.main(verbosity=2)
