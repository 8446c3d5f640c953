# SPDX-License-Identifier: Apache-2.0
"""A deleted desktop leaves no process, no file, no socket and no row; so does one whose creation failed."""

import contextlib
import pathlib
import sqlite3

import harness


class NothingIsLeft(harness.DesktopTest):
    def leftovers(self):
        with contextlib.closing(sqlite3.connect(f"file:{self.daemon.home}/dormouse.db?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT id, name FROM desktops").fetchall()
        files = sorted(str(path) for path in (self.daemon.home / "desktops").rglob("*"))
        sockets = sorted(str(path) for path in self.daemon.run_folder().rglob("*"))
        return {"rows": rows, "files": files, "sockets": sockets, "processes": self.daemon.processes()}

    NOTHING = {"rows": [], "files": [], "sockets": [], "processes": []}

    def test_after_delete_of_a_running_and_of_a_stopped_one(self):
        self.assertEqual(self.leftovers(), self.NOTHING)
        self.api.create("running")
        self.api.create("stopped")
        self.api.call("POST", "/v1/desktops/stopped/stop")
        self.api.wait_state("stopped", "stopped")
        self.assertIsNone(self.api.get("stopped")["reason"])
        found = self.leftovers()
        self.assertEqual(len(found["rows"]), 2)
        self.assertEqual(len(found["processes"]), 3, "keeper, network and QEMU of the one that runs")
        self.api.delete("running")
        self.api.delete("stopped")
        self.assertEqual(self.leftovers(), self.NOTHING)

    def test_after_a_creation_that_failed(self):
        # A template whose memory image cannot be read.
        broken = self.daemon.home / "templates"
        broken.mkdir(mode=0o711)
        source = (pathlib.Path(harness.TEMPLATES) / "desktop").resolve()
        copy = broken / "broken-0123456789abcdef"
        copy.mkdir(mode=0o755)
        for file in source.iterdir():
            if file.name not in ("template.json", "wake.stream"):
                (copy / file.name).symlink_to(file)
        (copy / "wake.stream").write_bytes(b"QEVM" + b"\0" * 100)
        (copy / "wake.stream").chmod(0o644)
        manifest = harness.json.loads((source / "template.json").read_text())
        manifest.update(name="broken", hash="0123456789abcdef")
        (copy / "template.json").write_text(harness.json.dumps(manifest))
        (broken / "broken").symlink_to(copy.name)
        (broken / "desktop").symlink_to(source)

        other = harness.Daemon()
        self.addCleanup(other.destroy)
        other.environment["DORMOUSE_TEMPLATES"] = str(broken)
        api = other.start()
        with self.assertRaises(harness.ApiError) as failed:
            api.call("POST", "/v1/desktops", {"name": "never", "template": "broken"})
        self.assertGreaterEqual(failed.exception.status, 500)
        self.assertEqual(api.list(), [])
        self.assertEqual(list((other.home / "desktops").iterdir()), [])
        self.assertEqual(other.processes(), [])


if __name__ == "__main__":
    harness.main()
