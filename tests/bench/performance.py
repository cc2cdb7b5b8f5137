#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""performance.py RUN.json GROW.json PAGE.md, or performance.py SIZES.json PAGE.md: the figures of tamis-bench as tables, put
into a page of docs/.

What stands between the lines "<!-- figures: begin -->" and "<!-- figures: end -->" of the page is replaced; of a run of
--max-keys what stands between "<!-- sizes: begin -->" and "<!-- sizes: end -->".
"""
import json
import re
import sys

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
SIZES_BEGIN, SIZES_END = "<!-- sizes: begin -->", "<!-- sizes: end -->"
TEAMS = ("p1", "p2", "t2")
LIMITS = (("line", "read a random line"), ("or", "one locked OR"), ("two-ors", "two locked ORs on a line"),
          ("hash", "hashing alone"))


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def ns(figure, key="least_ns"):
    return f"{figure[key]:.1f}" if figure else "-"


def gain(one, other):
    return f'{one["least_ns"] / other["least_ns"]:.2f}' if one and other else "-"


class Run:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.json = json.load(file)
        self.figures = {figure["name"]: figure for figure in self.json["figures"]}

    def get(self, *parts):
        return self.figures.get("/".join(str(part) for part in parts))

    def command(self):
        """Without the names of files, which are whoever's who ran it."""
        return re.sub(r" --(json|dir)[ =]\S+", "", self.json["command"])

    def machine(self):
        machine = self.json["machine"]
        return (f'{machine["cpu"]} ({machine["features"]}), {machine["processors"]} processors, {machine["caches"]}; '
                f'{machine["memory_bytes"] / 2**30:.0f} GiB, pages of {machine["page_bytes"]} bytes, huge pages '
                f'{machine["huge_pages"]}; {machine["file_system"]}; {machine["kernel"]}; {machine["compiler"]}; '
                f'libbloom {self.json["libbloom"] or "not there"}. Batches use {machine["simd"]} code. Seed {self.json["seed"]}.')


def requirements(run, title="What was asked for"):
    rows = []
    for r in run.json["requirements"]:
        is_ns = r["unit"] == "ns"
        unit = " ns" if is_ns else " times"
        rows.append((r["what"], f'{r["measured"]:.2f}{unit}', f'{r["limit"]:.2f} ns' if r["limit"] > 0 else "",
                     (f'at most {r["wanted"]:.2f} ns: {r["rule"]}' if is_ns else f'at least {r["wanted"]:g} times'),
                     "yes" if r["holds"] else "**no**"))
    yield f"### {title}\n"
    yield from table(("requirement", "measured", "limit", "wanted", "holds"), rows)


def case_tables(run, case):
    prefix = case["name"]
    yield (f'### {case["title"][0].upper()}{case["title"][1:]}\n')
    yield (f'{case["keys"]:,} keys, {case["data_bytes"] / 1e6:.2f} MB, k = {case["k"]}.\n')
    rows = []
    for limit, name in LIMITS:
        figures = [run.get(prefix, "limit", limit, team) for team in TEAMS]
        if figures[0]:
            rows.append((name, *(ns(figure) for figure in figures)))
    yield from table(("limit, ns", "1 process", "2 processes", "2 threads"), rows)
    rows = []
    has_portable = any(name.startswith(f"{prefix}/batch/") and name.endswith("/c1") for name in run.figures)
    for call in ("batch", "single", "libbloom"):
        for operation in ("hit", "miss", "re-add", "add", "remove"):
            one, two, threads = (run.get(prefix, call, operation, team) for team in TEAMS)
            if not one and not two and not threads:
                continue
            has_limit = one and "limit" in one
            rows.append((call, operation, ns(one), ns(one, "median_ns"), one["limit"] if has_limit else "",
                         f'{one["ratio"]:.2f}' if has_limit else "", ns(two), gain(one, two), ns(threads),
                         gain(one, threads)))
            portable = run.get(prefix, call, operation, "c1")
            if has_portable:
                rows[-1] += (ns(portable), f'{portable["ratio"]:.2f}' if portable else "")
    yield from table(("call", "operation", "least", "median", "limit", "ratio", "2 processes", "times", "2 threads",
                      "times", *(("portable C", "ratio") if has_portable else ())), rows)
    build = run.get(prefix, "batch", "build", "all")
    if build:
        yield (f'Built by all processors in {build["least_ns"]:.1f} ns a key, sorting and writing to the disk '
               "included.\n")


def growth_rows(run, axis, team="p1"):
    for case in run.json["cases"]:
        if not case["name"].startswith(f"growth/{axis}/"):
            continue
        figures = [run.get(case["name"], "batch", operation, team) for operation in ("add", "re-add", "hit", "miss")]
        singles = [run.get(case["name"], "single", operation, team) for operation in ("hit", "miss")]
        yield case, [ns(figure) for figure in figures], [ns(figure) for figure in singles], \
            ns(run.get(case["name"], "limit", "line", team))


def growth(run):
    yield "### How the cost grows\n"
    yield f'`{run.command()}`; ns a key, the least, batches, 8-byte keys, one process unless said.\n'
    yield "![cost by keys](plots/keys.svg)\n"
    yield from table(("keys, rate 0.1 %", "MB", "add", "re-add", "hit", "miss", "line read"), [
        (f'{case["keys"]:,}', f'{case["data_bytes"] / 1e6:.2f}', *figures, line)
        for case, figures, _, line in growth_rows(run, "keys")])
    sizes = [case["keys"] for case, *_ in growth_rows(run, "keys")]
    small, large = min(sizes, key=lambda n: abs(n - 10**6)), sizes[-1]
    if large > small:
        factors = []
        for operation in ("hit", "miss", "re-add", "add"):
            few, many = (run.get("growth", "keys", n, "batch", operation, "p1") for n in (small, large))
            factors.append(f"{operation} {gain(many, few)}")
        yield f"From {small:,} keys to {large:,} the cost of a key grew by these factors: {', '.join(factors)}.\n"
    yield "![cost by segments](plots/segments.svg)\n"
    yield from table(("segments", "keys", "add", "re-add", "hit", "miss", "hit, single", "miss, single", "line read"), [
        (str(case["segments"]), f'{case["keys"]:,}', *figures, *singles, line)
        for case, figures, singles, line in growth_rows(run, "segments")])
    made = [(case["name"].rsplit("/", 1)[1], case, *rest) for case, *rest in growth_rows(run, "made")]
    if made:  # not in runs of before this was measured
        yield "What growth costs: filters of as many keys at 1 %, which both grow, made for few keys and for all.\n"
        yield from table(("made for", "keys", "segments", "MB", "add", "re-add", "hit", "miss"), [
            (f"{int(capacity):,}", f'{case["keys"]:,}', str(case["segments"]), f'{case["all_bytes"] / 1e6:.2f}', *figures)
            for capacity, case, figures, _, _ in made])
    yield "![keys by processes](plots/processes.svg)\n"
    rows = []
    for team, name in (("p1", "1"), ("p2", "2"), ("p3", "3"), ("p4", "4"), ("t2", "2 threads")):
        for case, figures, _, line in growth_rows(run, "processes", team):
            rows.append((name, *figures, line))
    yield from table(("processes", "add", "re-add", "hit", "miss", "line read"), rows)


def size_tables(run):
    """Of each size a row in each sort of page: the calls, and what it takes to have the filter."""
    calls, lives = [], []
    for case in sorted(run.json["cases"], key=lambda case: (case["keys"], case["pages"] != "small")):
        at = case["name"]
        line, ors = run.get(at, "limit", "line", "p1"), run.get(at, "limit", "two-ors", "p1")
        hit, add = run.get(at, "batch", "hit", "p1"), run.get(at, "batch", "add", "p1")
        size = (f'{case["keys"]:,}', case["pages"])
        calls.append((*size, ns(add), ns(ors), gain(add, ors), ns(run.get(at, "batch", "re-add", "p1")), ns(hit),
                      ns(run.get(at, "batch", "miss", "p1")), ns(line), gain(hit, line), ns(run.get(at, "boost", "add", "p1")),
                      ns(run.get(at, "boost", "hit", "p1"))))
        lives.append((*size, f'{case["data_bytes"] / 1e6:,.2f}', f'{case["fill_s"]:.2f}', f'{case["sync_s"]:.2f}',
                      f'{case["open_us"]:.0f}', f'{case["table_bytes"] / 1e6:.2f}', f'{case["huge_bytes"] / 1e6:,.0f}'))
    yield "![cost by size](plots/sizes.svg)\n"
    yield from table(("keys at 1 %", "pages", "new key", "two ORs", "ratio", "known key", "hit", "miss", "line read",
                      "hit / line", "Boost, new", "Boost, hit"), calls)
    yield from table(("keys at 1 %", "pages", "MB", "filled in s", "sync, s", "open, us", "page tables, MB", "huge, MB"), lives)


def lines_of_sizes(run):
    yield SIZES_BEGIN
    yield ""
    yield f'{run.machine()} {"Boost.Bloom beside it." if run.json["boost"] else ""}\n'
    yield from size_tables(run)
    yield from requirements(run, "What was asked of large filters")
    yield SIZES_END


def lines_of(run, grown):
    yield BEGIN
    yield ""
    yield f"{run.machine()}\n"
    yield f'`{run.command()}`, which is Tamis {run.json["version"]}.\n'
    yield from requirements(run)
    for place, name in (("out", "out of cache"), ("in", "in cache")):
        yield f"![operations {name}](plots/operations-{place}.svg)\n"
    for case in run.json["cases"]:
        yield from case_tables(run, case)
    yield from growth(grown)
    yield END


def put(path, begin, end, lines):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        print(f"performance.py: {path} has no lines {begin} and {end}", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + "\n".join(lines) + after)
    return 0


def main():
    if len(sys.argv) == 3:
        return put(sys.argv[2], SIZES_BEGIN, SIZES_END, lines_of_sizes(Run(sys.argv[1])))
    if len(sys.argv) == 4:
        return put(sys.argv[3], BEGIN, END, lines_of(Run(sys.argv[1]), Run(sys.argv[2])))
    print(__doc__.split(":")[0], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
