#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a page with tables and pictures of what scripts/bench.sh measured.

    scripts/bench-page.py FOLDER PAGE     FOLDER has results.tsv and machine.txt; pictures go beside PAGE
"""
import collections
import math
import os
import sys

OWN = "own kernel"
Row = collections.namedtuple("Row", "table what input size by us spread bytes cpu")


def read(folder):
    rows = []
    with open(os.path.join(folder, "results.tsv"), encoding="utf-8") as file:
        for line in file:
            f = line.rstrip("\n").split("\t")
            rows.append(Row(*f[:5], float(f[5]), float(f[6]), float(f[7]), float(f[8])))
    with open(os.path.join(folder, "machine.txt"), encoding="utf-8") as file:
        machine = [line.rstrip("\n").split("\t") for line in file if "\t" in line]
    return rows, machine


def number(us):
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def time(row):
    return "–" if row is None else number(row.us) + (f" ±{row.spread / 2:.0f} %" if row.spread >= 4 else "")


def table(head, lines):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(out + ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def order(keys):
    return list(dict.fromkeys(keys))


def kernels(rows, found):
    lines = []
    for what, kind in order((r.what, r.input) for r in rows):
        for size in order(r.size for r in rows if (r.what, r.input) == (what, kind)):
            own, other, copy = (found.get((what, kind, size, by)) for by in (OWN, "cv::cuda", "device copy"))
            if own is None:
                continue
            copied = copy or next((found[k] for k in found if k[1:] == (kind, size, "device copy") and found[k].bytes == own.bytes), None)
            lines.append([what, kind, size, time(own), time(other), f"{other.us / own.us:.1f}" if other else "–",
                          f"{own.us / copied.us:.2f}" if copied else "–", f"{own.bytes / own.us / 1e3:.0f}"])
    return table(["Operation", "Input", "Size", "Own kernel, µs", "cv::cuda, µs", "cv::cuda / own", "own / device copy", "GB/s"], lines)


def elements(rows):
    rows = [r for r in rows if r.table == "elements"]
    found = {(r.what, r.input, r.by): r for r in rows}
    lines = []
    for what, kind in order((r.what, r.input) for r in rows):
        cold, hot = (found.get((what, kind, by)) for by in ("from memory", "from the cache"))
        lines.append([f"`{what}`", kind, time(cold), time(hot), number(cold.cpu)])
    return table(["Element", "Input", "From memory, µs", "From the cache, µs", "CPU time, µs"], lines)


def by_who(rows, name, head):
    rows = [r for r in rows if r.table == name]
    return table([head, "Size", "By", "µs a frame", "Frames a second", "CPU time, µs"],
                 [[r.what, r.size, r.by, time(r), f"{1e6 / r.us:.0f}", number(r.cpu)] for r in rows])


def bars(found, path):
    """How many times as fast as cv::cuda the own kernels are, on a logarithmic axis."""
    size = "1920x1080"
    pairs = [(f"{k[0]} {k[1]}", found[k[:3] + ("cv::cuda",)].us / r.us) for k, r in found.items()
             if k[2:] == (size, OWN) and k[:3] + ("cv::cuda",) in found]
    if not pairs:
        return False
    pairs.sort(key=lambda p: -p[1])
    left, width, step = 230, 420, 20
    most = max(p[1] for p in pairs)
    low, high = math.log10(0.5), math.log10(max(most * 1.5, 10))

    def x(value):
        return left + width * (math.log10(max(value, 0.5)) - low) / (high - low)

    height = 40 + step * len(pairs)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="100%" height="100%" fill="#fff"/><text x="4" y="16">Times as fast as cv::cuda, {size}</text>']
    for i, (name, ratio) in enumerate(pairs):
        y = 30 + i * step
        a, b = sorted((x(1), x(ratio)))
        out.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{name}</text>'
                   f'<rect x="{a:.1f}" y="{y}" width="{max(b - a, 1):.1f}" height="{step - 5}" fill="{"#2a7" if ratio >= 1 else "#c54"}"/>'
                   f'<text x="{b + 5:.1f}" y="{y + 12}">{ratio:.3g}</text>')
    out.append(f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="24" y2="{height - 8}" stroke="#333"/></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")
    return True


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, page = sys.argv[1:]
    rows, machine = read(folder)
    here = os.path.dirname(page) or "."
    picture = os.path.join("images" if os.path.isdir(os.path.join(here, "images")) else ".", "speed-up.svg")
    have = {r.table for r in rows}
    out = ["<!-- Made by scripts/bench.sh: run that again. -->\n# Performance\n",
           "Medians; ± is half the distance between the quartiles, where that is 2 % or more. To measure on your machine: "
           "`./dev bench`.\n", table(["Machine", ""], machine)]
    if "kernels" in have:
        of_kernels = [r for r in rows if r.table == "kernels"]
        found = {(r.what, r.input, r.size, r.by): r for r in of_kernels}
        out.append("## Kernels\n\nTime on the GPU of one call, over images that together are larger than its caches, recorded into a CUDA "
                   "graph where the call can be. A device copy reads and writes as many bytes as the operation has to.\n")
        if bars(found, os.path.join(here, picture)):
            out.append(f"![Times as fast as cv::cuda]({picture})\n")
        out.append(kernels(of_kernels, found))
    if "elements" in have:
        out.append("## Elements\n\n`appsrc ! element ! fakesink` with frames of 1920x1080 that are in GPU memory already and stay there: the "
                   "longer of the host's time and the GPU's. CPU time is that of all threads of the process.\n")
        out.append(elements(rows))
    for name, head, title, text in (
            ("chain", "Chain", "A chain of operations", "The same six operations as elements of a pipeline, and as programs that call OpenCV."),
            ("pipelines", "Pipelines", "Many pipelines", "The chain in so many pipelines of one process, and in as many threads with a CUDA stream each."),
            ("video", "Videos", "From the decoder", "`nvh264dec ! cudacvtcolor ! cudaresize scale=0.5 ! cudagaussianfilter ! cudacanny`, and the decoder alone.")):
        if name in have:
            out.append(f"## {title}\n\n{text} Times are of a frame, with all that run at once counted.\n")
            out.append(by_who(rows, name, head))
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    main()
