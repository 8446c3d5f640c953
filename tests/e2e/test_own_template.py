# SPDX-License-Identifier: Apache-2.0
"""Templates of one's own: five lines make one, what fails says which line, and nothing is left of what does not succeed."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

import harness

# Little that is not there yet, small, and in Debian's main.
RECIPE = '''name = "small"
from = "desktop"
machine = { screen = "1024x768", memory_mib = 1024 }
packages.install = ["sl"]
files.add = [{ path = "/home/user/note", content = "of the recipe", owner = "user", mode = "0600" }, { path = "/opt/tool", source = "tool" }]
system.keyboard = "de"
system.commands = ["echo made > /etc/dormouse-marker", { run = "id -un > ~/who", as = "user" }]
'''
# All of these are elsewhere on a German keyboard.
TYPED = "zyZY-_/?'@[]{}\\|~"
BAKE_SECONDS = 600


class OwnTemplate(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        # A folder of templates of our own, on the same disk: the bake and the packages of the built-in one are shared.
        cls.folder = pathlib.Path(harness.tempfile.mkdtemp(prefix="dormouse-e2e-templates-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o711)
        cls.templates = cls.folder / "templates"
        cls.templates.mkdir(mode=0o711)
        shared = pathlib.Path(harness.TEMPLATES)
        bake = (shared / "desktop").resolve()
        (cls.templates / bake.name).mkdir(mode=0o711)
        for file in bake.iterdir():
            os.link(file, cls.templates / bake.name / file.name)
        (cls.templates / "desktop").symlink_to(bake.name)
        (cls.templates / "packages").mkdir(mode=0o700)
        for file in (shared / "packages").glob("*.tar"):
            os.link(file, cls.templates / "packages" / file.name)
        (cls.folder / "tool").mkdir()
        (cls.folder / "tool" / "run").write_text("#!/bin/sh\necho ran\n")
        (cls.folder / "tool" / "run").chmod(0o755)

        cls.daemon = harness.Daemon()
        cls.addClassCleanup(cls.daemon.destroy)
        cls.daemon.environment["DORMOUSE_TEMPLATES"] = str(cls.templates)
        cls.api = cls.daemon.start()

    def recipe(self, text, name="recipe.toml"):
        file = self.folder / name
        file.write_text(text)
        return file

    def build(self, file, *options, check=True):
        result = subprocess.run([harness.BIN / "dormouse", "template", "build", file, *options], text=True,
                                env=self.daemon.environment, capture_output=True, timeout=BAKE_SECONDS)
        if check and result.returncode != 0:
            raise AssertionError(f"template build: {result.returncode}\n{result.stderr[-3000:]}")
        return result

    def start_build(self, text):
        """Begins a build over the API; its operation."""
        return self.api.call("POST", "/v1/templates", {"recipe": text})["operation"]

    def wait_operation(self, operation, condition, what):
        def reached():
            now = self.api.call("GET", f"/v1/operations/{operation['id']}")
            return now if condition(now) else None

        return harness.wait_until(what, reached, BAKE_SECONDS)

    def leftovers(self):
        """What there is besides the built-in template and its packages."""
        there = {path.name for path in self.templates.iterdir()} | {path.name for path in (self.templates / "packages").iterdir()}
        bake = (self.templates / "desktop").resolve().name
        builders = [line for _, line in harness.all_processes() if str(self.templates) in line and "build-rootfs" in line]
        run = sorted(path.name for path in self.daemon.run_folder().iterdir())
        return (sorted(name for name in there - {"desktop", bake, "packages", "bake.lock"} if not name.endswith(".tar")),
                builders, run)

    NOTHING = ([], [], [])

    def test_five_lines_make_a_template(self):
        file = self.recipe(RECIPE)
        began = time.monotonic()
        made = self.build(file)
        took = time.monotonic() - began
        print(f"--- baked in {took:.0f} s")
        self.assertEqual(made.stdout, "small\n")
        for line in ("installing 1 packages: sl", "+ echo made", "booting", "trying a wake"):
            self.assertIn(line, made.stderr)

        began = time.monotonic()
        again = self.build(self.recipe("# a comment changes nothing\n" + RECIPE))
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(again.stdout, "small\n")

        small = self.api.call("GET", "/v1/templates/small")
        self.assertEqual((small["screen"], small["memory_mib"], small["from"], small["stale"], small["desktops"]),
                         ({"width": 1024, "height": 768}, 1024, "desktop", False, 0))
        self.assertIn('from = "desktop"', small["recipe"])
        self.assertGreater(small["size_bytes"], 1 << 30)
        self.assertIn("+ echo made", self.daemon.cli("template", "show", "small", "--log").stdout)
        self.assertIn("1024×768", self.daemon.cli("template", "list").stdout)

        self.daemon.cli("create", "tiny", "--template", "small")
        self.assertEqual(harness.picture(self.api.screenshot("tiny")).size, (1024, 768))
        self.assertEqual(self.api.get("tiny")["memory_mib"], 1024)
        inside = self.daemon.cli(
            "exec", "tiny", "--", "sh", "-c",
            "cat /etc/dormouse-marker /home/user/who /home/user/note; stat -c '%U %a' /home/user/note; /opt/tool/run; test -x /usr/games/sl && echo sl; "
            "free -m | awk '/Mem:/ { print ($2 < 1024) }'").stdout
        self.assertEqual(inside, "made\nuser\nof the recipeuser 600\nran\nsl\n1\n")

        # The layout is there for who asks, and what is typed by keys is exact all the same.
        layouts = self.daemon.cli("exec", "tiny", "--", "sh", "-c", "setxkbmap -query; cat /etc/default/keyboard").stdout
        self.assertRegex(layouts, "layout: +us,de")
        self.assertIn('XKBLAYOUT="de"', layouts)
        page = self.open_page("tiny")
        self.api.act("tiny", {"action": "left_click", "coordinate": [page["inner"]["sx"] + 200, page["inner"]["sy"] + 101]},
                     {"action": "type", "text": TYPED, "method": "keys"})
        self.wait_page("tiny", "it is typed on a US keyboard", lambda log: log["values"]["name"] == TYPED)

        with self.assertRaises(harness.ApiError) as refused:
            self.api.call("DELETE", "/v1/templates/small")
        self.assertEqual(refused.exception.status, 409)
        self.assertIn("'tiny'", str(refused.exception.body))
        self.api.delete("tiny")
        self.daemon.cli("template", "remove", "small")
        self.assertEqual(self.leftovers(), self.NOTHING)
        self.assertEqual([one["name"] for one in self.api.call("GET", "/v1/templates")["templates"]], ["desktop"])

    def test_a_command_that_fails_is_named_and_leaves_nothing(self):
        text = 'name = "broken"\nfrom = "desktop"\nsystem.commands = [\n  "true",\n  "echo fine",\n  "echo my last words; exit 7",\n  "true",\n]\n'
        failed = self.build(self.recipe(text), check=False)
        self.assertNotEqual(failed.returncode, 0)
        for part in ("(line 6)", "exit status 7", "`echo my last words; exit 7`", "my last words"):
            self.assertIn(part, failed.stderr.splitlines()[-2], failed.stderr[-2000:])
        self.assertEqual(self.leftovers(), self.NOTHING)

        missing = self.build(self.recipe('name = "broken"\nfrom = "desktop"\npackages.install = ["nosuchpackage"]\n'), check=False)
        self.assertIn("E: Unable to locate package nosuchpackage", missing.stderr)
        self.assertEqual(self.leftovers(), self.NOTHING)

    def test_an_archive_that_cannot_be_reached_is_named(self):
        key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nabc\n-----END PGP PUBLIC KEY BLOCK-----\n"
        (self.folder / "key.asc").write_text(key)
        port = harness.free_port()  # nobody listens there
        text = (f'name = "broken"\nfrom = "desktop"\n[[repositories]]\nname = "browser"\nuri = "http://127.0.0.1:{port}/deb"\n'
                'suites = ["stable"]\ncomponents = ["main"]\nkey = "key.asc"\ninstall = ["browser"]\n')
        failed = self.build(self.recipe(text), check=False)
        self.assertIn(f"the repository 'browser' (http://127.0.0.1:{port}/deb) cannot be used", failed.stderr)
        self.assertEqual(self.leftovers(), self.NOTHING)

    def test_what_is_wrong_in_a_recipe_is_said_at_once(self):
        for text, message in (('name = "x"\nfrom = "nothing"\n', "line 2: 'from': there is no built-in recipe 'nothing'"),
                              ('name = "desktop"\nfrom = "desktop"\n', "built-in template"),
                              ('name = "x"\nfrom = "desktop"\nfiles.add = [{path = "/etc/x", source = "/etc/shadow"}]\n', "line 3")):
            with self.assertRaises(harness.ApiError) as refused:
                self.start_build(text)
            self.assertEqual(refused.exception.status, 400)
            self.assertIn(message, str(refused.exception.body))
        result = self.build(self.recipe('name = "x"\nfrom = "desktop"\nfiles.add = [{path = "/etc/x", source = "/etc/shadow"}]\n'), check=False)
        self.assertIn("beside the recipe", result.stderr)

    def test_a_cancelled_build_leaves_nothing(self):
        text = 'name = "slow"\nfrom = "desktop"\nsystem.commands = ["sleep 1000"]\n'
        process = subprocess.Popen([harness.BIN / "dormouse", "template", "build", self.recipe(text)], text=True,
                                   env=self.daemon.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        operation = harness.wait_until("the build has begun", lambda: next(
            (one for one in self.api.call("GET", "/v1/operations")["operations"] if one["state"] == "running"), None))
        self.wait_operation(operation, lambda now: "sleep 1000" in now["step"], "its command runs")
        with self.assertRaises(harness.ApiError) as second:
            self.start_build(text)
        self.assertEqual(second.exception.status, 409)
        # Meanwhile the daemon is as quick as ever.
        began = time.monotonic()
        self.api.list()
        self.assertLess(time.monotonic() - began, 2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("the build was cancelled", errors)
        ended = self.wait_operation(operation, lambda now: now["state"] != "running", "it has ended")
        self.assertEqual(ended["state"], "cancelled")
        self.assertEqual(self.leftovers(), self.NOTHING)

    def test_a_daemon_killed_in_the_middle_leaves_nothing(self):
        operation = self.start_build('name = "slow"\nfrom = "desktop"\nsystem.commands = ["sleep 1000"]\n')
        self.wait_operation(operation, lambda now: "sleep 1000" in now["step"], "its command runs")
        self.daemon.kill()
        # The builder notices, and takes down what it has.
        harness.wait_until("the builder has ended", lambda: not self.leftovers()[1], 60)
        type(self).api = self.api = self.daemon.start()
        harness.wait_until("all of it is removed", lambda: self.leftovers() == self.NOTHING, 60)
        with contextlib.suppress(harness.ApiError):
            self.api.call("DELETE", "/v1/templates/slow")


if __name__ == "__main__":
    harness.main()
