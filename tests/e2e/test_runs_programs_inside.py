#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent runs programs inside its desktop and gets what they write and how they end."""

import harness
from harness import ApiError


class RunsProgramsInside(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api.create("box")

    def run_in(self, command, **options):
        return self.api.call("POST", "/v1/desktops/box/exec", {"command": command, **options})

    def test_output_exit_code_and_signal(self):
        result = self.run_in("echo out; echo err >&2; exit 3")
        self.assertEqual((result["stdout"], result["stderr"], result["exit_code"]), ("out\n", "err\n", 3))
        result = self.run_in(["sh", "-c", "kill -9 $$"])
        self.assertEqual((result["exit_code"], result["signal"]), (None, 9))

    def test_as_whom_and_where(self):
        self.assertEqual(self.api.exec("box", "id -un; pwd"), "user\n/home/user\n")
        self.assertEqual(self.api.exec("box", "id -un; pwd", user="root", cwd="/tmp"), "root\n/tmp\n")
        self.assertIn("sudo", self.api.exec("box", ["id", "-Gn"]).split())
        # The agent itself runs with more than a program is due.
        self.assertEqual(self.api.exec("box", "nice; cat /proc/self/oom_score_adj"), "0\n0\n")

    def test_input_and_environment(self):
        self.assertEqual(self.api.exec("box", ["wc", "-c"], stdin="ü" * 1000), "2000\n")
        self.assertEqual(self.api.exec("box", "echo $GREETING $DISPLAY", env={"GREETING": "a b"}), "a b :0\n")

    def test_a_program_finds_the_session(self):
        self.assertIn("1280x800", self.api.exec("box", "xdpyinfo | grep dimensions"))
        self.assertIn("org.freedesktop.DBus", self.api.exec(
            "box", "gdbus call --session --dest org.freedesktop.DBus --object-path / --method org.freedesktop.DBus.ListNames"))

    def test_a_program_that_does_not_end(self):
        result = self.run_in("echo begun; sleep 1000", timeout=2)
        self.assertTrue(result["timed_out"])
        self.assertEqual(result["stdout"], "begun\n")
        self.assertEqual(self.api.exec("box", "pgrep -x sleep || true"), "")

    def test_more_output_than_anybody_wants(self):
        result = self.run_in("echo first; head -c 5000000 /dev/zero | tr '\\0' a; echo last")
        self.assertTrue(result["stdout"].startswith("first\n") and result["stdout"].endswith("last\n"))
        self.assertGreater(result["stdout_left_out"], 4_000_000)

    def test_what_is_wrong_is_said(self):
        for body in ({}, {"command": []}, {"command": "a", "user": "me"}, {"command": "a", "timeout": 0}):
            with self.assertRaises(ApiError) as caught:
                self.api.call("POST", "/v1/desktops/box/exec", body)
            self.assertEqual(caught.exception.status, 400)
        result = self.run_in(["/no/such/program"])  # as shells say it
        self.assertEqual(result["exit_code"], 127)
        self.assertIn("/no/such/program", result["stderr"])

    def test_by_the_command_line(self):
        result = self.daemon.cli("exec", "box", "echo hi; exit 5", check=False)
        self.assertEqual((result.stdout, result.returncode), ("hi\n", 5))


if __name__ == "__main__":
    harness.main()
