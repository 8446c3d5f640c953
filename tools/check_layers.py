#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow the layers of ARCHITECTURE.md.

Each folder may include itself and the folders listed for it; each third-party
library has one home. Exits 1 and names file and line of what does not fit.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

BASE = {"hostd/base"}
# folder -> folders it may include
ALLOWED = {
    "hostd/base": set(),
    "db": BASE,
    "display": BASE,
    "guest/protocol": BASE,
    "hostd/schema": BASE,
    "hostd/wsio": BASE,
    "vmm": BASE | {"guest/protocol"},
    "vmm/net": BASE | {"vmm"},
    "guest/agent": BASE | {"guest/protocol"},
    "hostd/client": BASE | {"hostd/schema", "hostd/wsio"},
    "hostd/desktop": BASE | {"db", "vmm", "vmm/net", "display", "guest/protocol"},
    "hostd/cli": BASE | {"hostd/client", "hostd/schema"},
    "webview": set(),
    "hostd/api": BASE | {"hostd/desktop", "vmm/net", "display", "hostd/schema", "hostd/wsio", "webview"},
    # The composition root sees all of the server side.
    "hostd": BASE | {"db", "vmm", "vmm/net", "display", "guest/protocol", "hostd/desktop", "hostd/schema", "hostd/wsio",
                     "hostd/api"},
}

# start of an included header -> folders that may use it
HOMES = {
    "sqlite3.h": {"db"},
    "libwebsockets.h": {"hostd/wsio"},
    "systemd/": {"display"},
    "libavcodec/": {"display"},
    "rfb/": {"display"},
    "libdeflate.h": {"display"},
    "slirp/": {"vmm/net"},
    "glib": {"vmm/net"},
    "ares": {"vmm/net"},
    "seccomp.h": {"vmm/net"},
    "turbojpeg.h": {"display"},
    "webp/": {"display"},
    "xcb/": {"guest/agent"},
    "spdlog/": {"hostd/base"},
    "CLI/": {"hostd/cli", "hostd"},
    "toml++/": {"hostd/base"},
    "Q": {"hostd/console"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path: pathlib.PurePath) -> str | None:
    """The layer that a path from the root belongs to: the longest that fits."""
    text = path.as_posix()
    fits = [folder for folder in ALLOWED if text.startswith(folder + "/")]
    return max(fits, key=len, default=None)


def check(path: pathlib.Path, folder: str) -> list[str]:
    problems = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        bracket, name = found.groups()
        where = f"{path.relative_to(ROOT)}:{number}"
        target = folder_of(pathlib.PurePosixPath(name))
        if bracket == '"' and target and target != folder and target not in ALLOWED[folder]:
            problems.append(f"{where}: {folder} may not include {target} ({name})")
        if bracket == '"' and not target and not name.endswith("_embedded.h"):
            problems.append(f"{where}: write the path from the root: {name}")
        if bracket == "<":
            for start, homes in HOMES.items():
                home_fits = name.startswith(start) and (start != "Q" or name[1:2].isupper())
                if home_fits and folder not in homes:
                    problems.append(f"{where}: <{name}> belongs to {', '.join(sorted(homes))}")
    return problems


def main() -> int:
    problems = []
    count = 0
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT)
        if path.suffix not in {".h", ".cpp"} or relative.parts[0] in {"build", "tests", ".git"}:
            continue
        folder = folder_of(relative)
        if folder is None:
            problems.append(f"{relative}: belongs to no layer")
            continue
        count += 1
        problems += check(path, folder)
    print("\n".join(problems) if problems else f"layers: {count} files, all arrows point down")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
