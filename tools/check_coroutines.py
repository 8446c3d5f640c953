#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds what GCC 12 compiles wrongly around co_await (see hostd/base/task.h).

A capturing lambda in the same statement: its captures are destroyed twice. Make the task in
one statement and await it in the next. A bare co_await as a condition: an illegal instruction
with sanitizers. Name the value first.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONDITION = re.compile(r"\b(?:if|while)\s*\(\s*!?\s*co_await\b")
LAMBDA = re.compile(r"(?<![\w\])])\[[^\[\]]+\]\s*(?:\(|\{)")


def statement_after(text: str, start: int) -> str:
    """From a co_await to the end of its statement, with nested blocks."""
    depth = 0
    for position in range(start, len(text)):
        character = text[position]
        if character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
            if depth < -1:  # out of the call that the co_await stands in
                return text[start:position]
        elif character == ";" and depth <= 0:
            return text[start:position]
    return text[start:]


def main() -> int:
    problems = []
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT)
        if path.suffix not in {".h", ".cpp"} or relative.parts[0] in {"build", ".git"}:
            continue
        text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        for found in CONDITION.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            problems.append(f"{relative}:{line}: co_await as a condition")
        for found in re.finditer(r"\bco_await\b", text):
            if LAMBDA.search(statement_after(text, found.end())):
                line = text.count("\n", 0, found.start()) + 1
                problems.append(f"{relative}:{line}: a capturing lambda in a statement with co_await")
    print("\n".join(problems) if problems else "coroutines: nothing that GCC 12 gets wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
