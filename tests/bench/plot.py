#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""plot.py RUN.json GROW.json DIRECTORY, or plot.py SIZES.json DIRECTORY: what tamis-bench measured, as SVG for
docs/performance.md.

    operations-out.svg, operations-in.svg   each operation as a multiple of its limit
    keys.svg, segments.svg, processes.svg   how the cost grows
    sizes.svg                               of tamis-bench --max-keys: the cost in both sorts of page

The files are readable on a light and on a dark page.
"""
import json
import math
import os
import sys
from xml.sax.saxutils import escape

WIDTH = 780
STYLE = """
:root { --back: #ffffff; --text: #1f2328; --soft: #59636e; --grid: #d8dee4;
        --c0: #0b5fb4; --c1: #b4420b; --c2: #1a7f37; --c3: #8250df; --c4: #6e7781; --pale: #9cc3ea; }
@media (prefers-color-scheme: dark) {
:root { --back: #14171b; --text: #e6e8eb; --soft: #9aa4af; --grid: #30363d;
        --c0: #58a6ff; --c1: #f0883e; --c2: #56d364; --c3: #bc8cff; --c4: #8b949e; --pale: #2f5580; }
}
text { font: 13px system-ui, sans-serif; fill: var(--text); }
.title { font-size: 16px; font-weight: 600; }
.soft { fill: var(--soft); font-size: 12px; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.back { fill: var(--back); } .grid { stroke: var(--grid); } .one { stroke: var(--text); stroke-width: 1.5; }
.batch { fill: var(--c0); } .single { fill: var(--pale); }
.line { fill: none; stroke-width: 2.2; } .dashed { stroke-dasharray: 6 4; stroke-width: 1.6; }
""" + "".join(f".s{i} {{ stroke: var(--c{i}); }} .f{i} {{ fill: var(--c{i}); }}\n" for i in range(5))


class Picture:
    """An SVG that grows downwards."""

    def __init__(self, height, title, subtitle):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="{escape(title)}">', f"<style>{STYLE}</style>",
            f'<rect class="back" width="{WIDTH}" height="{height}"/>']
        self.text(20, 30, title, "title")
        self.text(20, 50, subtitle, "soft")

    def text(self, x, y, content, classes=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}">{escape(content)}</text>')

    def line(self, x1, y1, x2, y2, classes):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>')

    def rect(self, x, y, width, height, classes):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                          f'class="{classes}"/>')

    def path(self, points, classes):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{places}" class="line {classes}"/>')

    def dot(self, x, y, classes):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" class="{classes}"/>')

    def scale(self, left, top, bottom, most, width):
        """Lines of a grid from 0 to `most`, which is `width` wide, with their figures below."""
        step = step_for(most, 6)
        for i in range(int(most / step) + 1):
            x = left + i * step * width / most
            self.line(x, top, x, bottom, "grid")
            self.text(x, bottom + 16, f"{i * step:g}", "soft middle")

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.parts) + "\n</svg>\n")


def step_for(most, about):
    """A round distance between lines of a grid, of which `about` go up to `most`."""
    raw = most / about
    scale = 10.0 ** math.floor(math.log10(raw))
    return next(scale * factor for factor in (1, 2, 5, 10) if scale * factor >= raw)


def machine_line(run):
    machine = run["machine"]
    return f'{machine["cpu"]} ({machine["features"]}), {machine["processors"]} processors, {machine["kernel"]}'


# ---- Each operation as a multiple of its limit --------------------------------------------------------


def operation_rows(figures, place):
    """(title, [(label, {call: figure})]) of each kind."""
    groups = []
    for kind in ("blocked", "bloom", "counting", "fuse"):
        rows = []
        for keys, short in (("8", "8 bytes"), ("url", "URL")):
            for operation in ("hit", "miss", "re-add", "add", "remove"):
                calls = {call: figures.get(f"{kind}/{keys}/{place}/{call}/{operation}/p1") for call in ("batch", "single")}
                calls = {call: figure for call, figure in calls.items() if figure and figure.get("ratio")}
                if calls:
                    rows.append((f"{operation}, {short}", calls))
        if rows:
            groups.append((kind, rows))
    return groups


def plot_operations(run, figures, place, path):
    groups = operation_rows(figures, place)
    count = sum(len(rows) for _, rows in groups)
    ratios = [figure["ratio"] for _, rows in groups for _, calls in rows for figure in calls.values()]
    most = max(ratios, default=1) * 1.02
    left, right, top = 130, 250, 92
    bottom = top + 25 * count + 28 * len(groups)
    scale = (WIDTH - left - right) / most
    where = "out of cache" if place == "out" else "in cache"
    picture = Picture(bottom + 46, f"Operations {where}, as multiples of their limits",
                      "one process; shorter is better, 1 is what the machine can do at best")
    picture.rect(left, 64, 12, 10, "batch")
    picture.text(left + 18, 74, "batch", "soft")
    picture.rect(left + 80, 64, 12, 10, "single")
    picture.text(left + 98, 74, "one key a call", "soft")
    picture.scale(left, top, bottom, most, WIDTH - left - right)
    y = top
    for kind, rows in groups:
        picture.text(20, y + 20, kind, "title")
        y += 28
        for label, calls in rows:
            picture.text(left - 10, y + 14, label, "soft end")
            for call, offset, height in (("batch", 2, 12), ("single", 15, 5)):
                if call in calls:
                    picture.rect(left, y + offset, calls[call]["ratio"] * scale, height, call)
            figure = calls.get("batch") or calls["single"]
            picture.text(WIDTH - right + 12, y + 14,
                         f'{figure["least_ns"]:.1f} ns, {figure["ratio"]:.2f} x ({figure["limit"]})', "soft")
            y += 25
    picture.line(left + scale, top, left + scale, bottom, "one")
    picture.text(20, bottom + 36, machine_line(run), "soft")
    picture.write(path)


# ---- How the cost grows -------------------------------------------------------------------------------


def plot_lines(path, title, subtitle, labels, series, run, unit, axis, log_axis=False, log_values=False):
    """labels: of each place on the x axis; series: (name, values or None of each place, dashed), and behind these the number
    of another one whose colour it takes, if it belongs to that; log_values: from 0.5 on."""
    left, right, top, bottom = 60, 150, 76, 380
    picture = Picture(bottom + 62, title, subtitle)
    values = [value for _, line, *_ in series for value in line if value]
    most, least = max(values, default=1) * 1.08, 0.0
    step = step_for(most, 6)
    width = WIDTH - left - right

    def share(value):
        if log_values:
            return math.log(max(value, 0.5) / 0.5) / math.log(most / 0.5)
        return (value - least) / (most - least)

    def place(i, value):
        x = left + width * (i + 0.5 if not log_axis else i) / max(1, len(labels) - (0 if not log_axis else 1))
        return x, bottom - share(value) * (bottom - top)

    grid = [i * step for i in range(int(most / step) + 1)]
    if log_values:
        grid = [value for value in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if value <= most]
    for value in grid:
        y = place(0, value)[1]
        picture.line(left, y, WIDTH - right, y, "grid")
        picture.text(left - 8, y + 4, f"{value:g}", "soft end")
    for i, label in enumerate(labels):
        picture.text(place(i, 0)[0], bottom + 18, label, "soft middle")
    picture.text(20, 70, unit, "soft")
    picture.text(WIDTH - right + 34, bottom + 18, axis, "soft")
    ends = []
    for number, (name, line, dashed, *other) in enumerate(series):
        number = other[0] if other else number
        points = [place(i, value) for i, value in enumerate(line) if value]
        if not points:
            continue
        picture.path(points, f"s{number % 5}" + (" dashed" if dashed else ""))
        if not dashed:
            for x, y in points:
                picture.dot(x, y, f"f{number % 5}")
        ends.append([points[-1][1], name, number % 5])
    ends.sort()
    for i, end in enumerate(ends):
        if i > 0:
            end[0] = max(end[0], ends[i - 1][0] + 15)
        picture.text(WIDTH - right + 10, end[0] + 4, end[1], f"f{end[2]}")
    picture.text(20, bottom + 48, machine_line(run), "soft")
    picture.write(path)


def short(number):
    for size, letter in ((10**9, " G"), (10**6, " M"), (10**3, " k")):
        if number >= size:
            return f"{number // size}{letter}"
    return str(number)


def grown(figures, axis, value, call, operation, team="p1"):
    figure = figures.get(f"growth/{axis}/{value}/{call}/{operation}/{team}")
    return figure["least_ns"] if figure else None


def plot_growth(run, directory):
    figures = {figure["name"]: figure for figure in run["figures"]}

    def values_of(axis):
        return sorted(int(c["name"].rsplit("/", 1)[1]) for c in run["cases"] if f"/{axis}/" in c["name"])

    operations = ("hit", "miss", "re-add", "add")
    keys = values_of("keys")
    series = [(name, [grown(figures, "keys", n, "batch", name) for n in keys], False) for name in operations]
    series.append(("limit: line", [grown(figures, "keys", n, "limit", "line") for n in keys], True))
    plot_lines(os.path.join(directory, "keys.svg"), "Cost by the number of keys",
               "blocked, rate 0.1 %, 8-byte keys, batches, one process; filters of 10 k keys (21 kB) to a billion (2.1 GB)"
               if keys and keys[-1] >= 10**9 else "blocked, rate 0.1 %, 8-byte keys, batches, one process",
               [short(n) for n in keys], series, run, "ns a key", "keys", log_axis=True)
    segments = values_of("segments")
    series = [(name, [grown(figures, "segments", n, "batch", name) for n in segments], False) for name in operations]
    series.append(("limit: line", [grown(figures, "segments", n, "limit", "line") for n in segments], True))
    total = next((c["keys"] for c in run["cases"] if "/segments/" in c["name"]), 0)
    plot_lines(os.path.join(directory, "segments.svg"), "Cost by the number of segments",
               f"blocked, rate 1 %, {short(total)} keys in a filter that grew, 8-byte keys, batches, one process",
               [str(n) for n in segments], series, run, "ns a key", "segments")
    processes = values_of("processes")
    teams = ("p1", "p2", "p3", "p4")
    series = []
    for name in operations:
        costs = [grown(figures, "processes", processes[0], "batch", name, team) if processes else None for team in teams]
        series.append((name, [1000 / cost if cost else None for cost in costs], False))
    plot_lines(os.path.join(directory, "processes.svg"), "Keys a second by the number of processes",
               f'blocked, rate 1 %, out of cache, 8-byte keys, batches; {run["machine"]["processors"]} processors',
               ["1", "2", "3", "4"], series, run, "million keys a second", "processes")


def plot_sizes(run, directory):
    figures = {figure["name"]: figure for figure in run["figures"]}
    sizes = sorted({case["keys"] for case in run["cases"]})
    series = []
    for call, operation, name in (("batch", "hit", "hit"), ("batch", "add", "add"), ("limit", "line", "line read")):
        for pages in ("huge", "small"):
            found = [figures.get(f"sizes/{pages}/{n}/{call}/{operation}/p1") for n in sizes]
            series.append((f"{name}, {pages}", [figure["least_ns"] if figure else None for figure in found],
                           call == "limit", len(series) % 4))
    plot_lines(os.path.join(directory, "sizes.svg"), "Cost by size, in pages of 4 KiB (small) and of 2 MiB (huge)",
               "blocked, rate 1 %, 8-byte keys, batches, one process; filters of 10 k keys (13 kB) and more",
               [short(n) for n in sizes], series, run, "ns a key", "keys", log_axis=True, log_values=True)


def main():
    if len(sys.argv) == 3:
        with open(sys.argv[1], encoding="utf-8") as file:
            plot_sizes(json.load(file), sys.argv[2])
        return 0
    if len(sys.argv) != 4:
        print(__doc__.split(":")[0], file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        growth = json.load(file)
    directory = sys.argv[3]
    os.makedirs(directory, exist_ok=True)
    figures = {figure["name"]: figure for figure in run["figures"]}
    for place in ("out", "in"):
        plot_operations(run, figures, place, os.path.join(directory, f"operations-{place}.svg"))
    plot_growth(growth, directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
