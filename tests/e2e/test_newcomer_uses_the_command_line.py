# SPDX-License-Identifier: Apache-2.0
"""The newcomer's way through the command line, from the first desktop to `down`."""

import json
import re

import harness


class NewcomerUsesTheCommandLine(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls.daemon.cli("create", "research")
        assert made.stdout == "research\n", made.stdout

    def cli(self, *arguments, **options):
        return self.daemon.cli(*arguments, **options).stdout

    def refused(self, code, *arguments, **options):
        result = self.daemon.cli(*arguments, check=False, **options)
        self.assertEqual(result.returncode, code, (arguments, result))
        self.assertRegex(result.stderr, r"\Adormouse: .+\n(  .+\n)?\Z")
        return result

    def test_the_first_words(self):
        self.assertIn("./dormouse up", self.cli())
        self.assertIn("Exit codes", self.cli("--help"))
        self.assertIn("./dormouse click research 640 400", self.cli("help", "click"))
        self.assertIn("daemon", self.cli("version"))
        version = json.loads(self.cli("version", "--json"))
        self.assertEqual(version["daemon"]["version"], version["version"])
        self.assertEqual(self.cli("where", "token").strip(), str(self.daemon.home / "admin.token"))
        self.assertEqual(self.cli("where", "url").strip(), f"http://127.0.0.1:{self.daemon.port}")
        self.assertEqual(self.cli("ping"), "")

    def test_listing_and_showing(self):
        table = self.cli("list").splitlines()
        self.assertTrue(table[0].startswith("NAME"), table)
        self.assertRegex(table[1], r"^research +running +\S.* ago|just now")
        self.assertEqual(self.cli("list", "--names"), "research\n")
        self.assertEqual(json.loads(self.cli("list", "--json"))["desktops"], self.api.list())
        self.assertEqual(json.loads(self.cli("--json", "show", "research")), self.api.get("research"))
        shown = self.cli("show", "research")
        link = re.search(r"^Link +(\S+)$", shown, re.MULTILINE)[1]
        self.assertEqual(link, f"http://127.0.0.1:{self.daemon.port}/desktops/research#token={self.api.token}")
        self.assertNotIn("\x1b", shown)

    def address_bar(self):
        return harness.picture(self.api.screenshot("research")).crop((120, 45, 1200, 80)).tobytes()

    def test_seeing_and_acting(self):
        file = self.daemon.home / "now.png"
        self.assertIn("1280×800", self.cli("screenshot", "research", file))
        self.assertEqual(harness.picture(file.read_bytes()).size, (1280, 800))
        # Without a file's name it lands here, as research.png.
        self.cli("screenshot", "research", cwd=self.daemon.home)
        self.assertTrue((self.daemon.home / "research.png").read_bytes().startswith(b"\x89PNG"))

        before = self.address_bar()
        self.assertEqual(self.cli("key", "research", "ctrl+l"), "")
        # Looks before it types, as a person does: a page that has the focus is asked first what ctrl+l means, and
        # takes the keys behind it until it has answered.
        harness.wait_until("the address bar has the focus", lambda: self.address_bar() != before)
        self.assertEqual(self.cli("type", "research", "-", input=harness.TEST_PAGE), "")
        self.cli("key", "research", "Return")
        self.wait_page("research", "the test page is open", lambda log: log["mode"] == "form")
        # The page knows where on the screen it is from the first click on it.
        self.assertEqual(self.cli("click", "research", 300, 640), "")
        page = self.wait_page("research", "the click was seen", lambda log: log["inner"]["sx"] is not None)

        def at(x, y):
            return page["inner"]["sx"] + x, page["inner"]["sy"] + y

        place = at(480, 120)  # the drawing area
        for options, kind in (((), "click"), (("--double",), "dblclick"), (("--right",), "contextmenu")):
            with self.subTest(kind):
                self.cli("click", "research", *place, *options)
                self.wait_page("research", f"{kind} was seen",
                               lambda log: any(event["type"] == kind and (event["screenX"], event["screenY"]) == place
                                               for event in log["events"]))
        self.cli("move", "research", *at(460, 100))
        self.cli("drag", "research", *at(460, 100), *at(650, 170))
        self.wait_page("research", "the button is up again",
                       lambda log: any(event["type"] == "mouseup" and (event["screenX"], event["screenY"]) == at(650, 170)
                                       for event in log["events"]))
        done = json.loads(self.cli("scroll", "research", "down", "5", "--at", *at(200, 300), "--json"))
        self.assertEqual([result["action"] for result in done["results"]], ["scroll"])
        self.wait_page("research", "the page has scrolled", lambda log: log["scroll"]["y"] > 100)

    def test_what_goes_wrong_is_told(self):
        self.refused(3, "show", "nobody")
        self.refused(3, "delete", "nobody")
        self.refused(4, "create", "research")
        self.refused(2, "create", "Not A Name")
        self.refused(2, "click", "research", "5000", "1")
        self.refused(2, "key", "research", "hyper+nonsense")
        self.refused(2, "click", "research", "1")
        self.assertIn("screenshot", self.refused(2, "screnshot", "research").stderr)
        self.assertIn("./dormouse up", self.refused(2, "up").stderr)
        answer = self.refused(3, "show", "nobody", "--json")
        self.assertEqual(json.loads(answer.stdout)["error"]["code"], "not_found")

        other = harness.Daemon()  # never started
        self.addCleanup(other.destroy)
        unreachable = other.cli("list", check=False)
        self.assertEqual(unreachable.returncode, 5)
        self.assertIn("./dormouse up", unreachable.stderr)
        self.assertEqual(other.cli("ping", check=False).returncode, 5)
        self.assertEqual(other.cli("down").stdout, "Nothing runs\n")

    def test_tokens(self):
        secret = self.cli("token", "create", "my agent").strip()
        self.assertRegex(secret, r"\Adm_\S+\Z")
        tokens = json.loads(self.cli("token", "list", "--json"))["tokens"]
        mine = next(token for token in tokens if token["name"] == "my agent")
        self.assertEqual(mine["scope"], "agent")
        self.assertNotIn(secret, self.cli("token", "list"))

        def as_agent(*arguments):
            environment = {**self.daemon.environment, "DORMOUSE_TOKEN": secret}
            return harness.subprocess.run([harness.BIN / "dormouse", *arguments], env=environment, text=True,
                                          capture_output=True, timeout=harness.REACT_SECONDS)

        self.assertEqual(as_agent("list", "--names").stdout, "research\n")
        self.assertEqual(as_agent("token", "list").returncode, 6)
        self.cli("token", "delete", mine["id"])
        self.assertEqual(as_agent("list").returncode, 6)

    def test_the_doctor(self):
        result = self.daemon.cli("doctor", "--json", check=False)
        report = json.loads(result.stdout)
        checks = {one["check"]: one for one in report["checks"]}
        for check in ("daemon", "QEMU", "port", "template", "token file", "state folder", "run folder", "leftovers"):
            self.assertEqual(checks[check]["level"], "ok", checks[check])
        self.assertEqual(result.returncode, 0 if report["healthy"] else 1)
        for one in report["checks"]:
            self.assertTrue(one["level"] == "ok" or one["advice"], one)
        self.assertIn("accelerator", self.daemon.cli("doctor", check=False).stdout)

        left = self.daemon.home / "desktops" / "d-0123456789"
        left.mkdir()
        try:
            report = json.loads(self.daemon.cli("doctor", "--json", check=False).stdout)
            leftovers = next(one for one in report["checks"] if one["check"] == "leftovers")
            self.assertEqual(leftovers["level"], "warn")
            self.assertIn(str(left), leftovers["text"])
        finally:
            left.rmdir()


class DownEndsEverything(harness.DesktopTest):
    def test_desktops_first_then_the_daemon(self):
        self.daemon.cli("create", "kept")
        self.daemon.cli("create", "gone")
        self.assertEqual(self.daemon.cli("delete", "gone").stdout, "gone is gone\n")
        down = self.daemon.cli("down")
        self.assertEqual(down.stdout, "kept is stopped\nThe daemon has ended\n")
        self.assertEqual(self.daemon.process.wait(timeout=10), 0)
        self.assertEqual(self.daemon.processes(), [])
        self.assertEqual(self.daemon.cli("down").stdout, "Nothing runs\n")

        api = self.daemon.start()
        self.assertEqual([(one["name"], one["state"]) for one in api.list()], [("kept", "stopped")])


if __name__ == "__main__":
    harness.main()
