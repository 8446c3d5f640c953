#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps files and headers small: no source file above 800 lines, each with its licence line.

ALLOWED may only shrink: a file in it that has become small enough fails the check too.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 800
ALLOWED: set[str] = set()
SUFFIXES = {".h", ".cpp", ".py", ".sh", ".js", ".css", ".sql", ".cmake", ".toml"}


def main() -> int:
    problems = []
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT).as_posix()
        if path.suffix not in SUFFIXES or relative.split("/")[0] in {"build", ".git"} or not path.is_file():
            continue
        if relative.startswith("tests/fuzz/corpus/"):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:5]):
            problems.append(f"{relative}: has no SPDX-License-Identifier line at its start")
        if len(lines) > LIMIT and relative not in ALLOWED:
            problems.append(f"{relative}: {len(lines)} lines; split it (limit {LIMIT})")
        if len(lines) <= LIMIT and relative in ALLOWED:
            problems.append(f"{relative}: small enough now; take it off the list in tools/check_sizes.py")
    print("\n".join(problems) if problems else "sizes: all files within the limit")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
