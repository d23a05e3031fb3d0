#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fails when a launch line in the documentation or in an element has a bare caps filter.

A filter such as video/x-raw,width=320 means system memory, so frames would leave the GPU there. It has to name its
memory, as in 'video/x-raw(ANY),width=320' or 'video/x-raw(memory:GpuMat)', in quotes where a shell reads it.

usage: docs.py FOLDER
"""
import pathlib
import re
import sys

MEDIA = r"(?:video/x-raw|application/x-opencv-mat)"
# A filter stands between exclamation marks, or is given to a capsfilter.
FILTER = re.compile(r"(?:!\s*|caps=)(['\"]?)" + MEDIA + r"(\([^)]*\))?")
ELEMENT = re.compile(r"\bcuda[a-z0-9]+")


def problems(text, in_shell):
    # A launch line may go on over several lines, after a backslash or within a string of adjacent literals.
    for found in FILTER.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        quote, memory = found.groups()
        around = text[max(0, found.start() - 300):found.end() + 300]
        if not ELEMENT.search(around):
            continue
        if not memory:
            yield line, f"{found.group().strip()} names no memory: write (ANY), or (memory:…)"
        elif in_shell and not quote:
            yield line, f"{found.group().strip()} needs quotes: a shell reads parentheses"


def self_test():
    assert not list(problems("cudacanny ! 'video/x-raw(ANY),width=3' ! x", True))
    assert list(problems("cudacanny ! video/x-raw,width=3 ! x", True))
    assert list(problems("cudacanny ! 'video/x-raw,width=3' ! x", True))
    assert list(problems("cudacanny ! video/x-raw(ANY) ! x", True))
    assert not list(problems("cudacanny ! video/x-raw(ANY) ! x", False))
    assert list(problems('"cudacanny ! capsfilter caps=video/x-raw ! x"', False))


def main():
    self_test()
    root = pathlib.Path(sys.argv[1])
    files = [p for p in sorted(root.rglob("*.md")) if not any(part.startswith((".", "build")) for part in p.relative_to(root).parts)]
    sources = sorted((root / "gst").rglob("*.cpp"))
    failed = 0
    for path in files + sources:
        in_shell = path.suffix != ".cpp"
        for line, problem in problems(path.read_text(encoding="utf-8"), in_shell):
            print(f"{path.relative_to(root)}:{line}: {problem}")
            failed += 1
    print(f"{len(files)} pages and {len(sources)} sources, {failed} bare filters")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
