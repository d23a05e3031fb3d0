#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays the launch line of each element's page for a few frames on the CPU, and lets GStreamer's leaks tracer say what
is still alive in the end.

    play-lines.py FOLDER_OF_PAGES
"""
import os
import re
import shlex
import subprocess
import sys


def play(line):
    """Exit code, output, and the kinds of objects alive in the end."""
    words = []
    for word in shlex.split(line):
        words.append("fakesink" if word == "autovideosink" else word)
        if word == "videotestsrc":
            words.append("num-buffers=6")
    env = dict(os.environ, GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7,default:0", GST_DEBUG_NO_COLOR="1")
    run = subprocess.run(["gst-launch-1.0", *words], env=env, text=True, timeout=60,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    alive = re.findall(r"object-alive, type-name=\(string\)(\w+)", run.stdout)
    return run.returncode, run.stdout, alive


def main():
    _, _, always_alive = play("videotestsrc ! videoconvert ! autovideosink")
    passed = failed = 0
    for page in sorted(os.listdir(sys.argv[1])):
        text = open(os.path.join(sys.argv[1], page), encoding="utf-8").read()
        found = re.search(r"^gst-launch-1\.0 (.*)$", text, re.M)
        if page == "README.md":
            continue
        if not found:
            print(f"{page}: no launch line")
            failed += 1
            continue
        code, output, alive = play(found[1])
        leaked = sorted(set(alive) - set(always_alive))
        if code == 0 and "ERROR" not in output and not leaked:
            passed += 1
        else:
            failed += 1
            print(f"{page}: {found[1]}\n  exit code {code}, alive in the end: {', '.join(leaked) or 'nothing'}")
            print("\n".join("  " + s for s in output.splitlines() if "TRACE" not in s))
    print(f"{passed} passed, {failed} failed")
    return failed > 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
