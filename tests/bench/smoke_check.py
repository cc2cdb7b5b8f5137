#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""smoke_check.py RUN.json GROW.json SIZES.json: every figure that a run must have is there, with its samples and its limit."""
import json
import sys

TEAMS = ["p1", "p2", "t2"]
OPERATIONS = {
    "blocked": ["add", "re-add", "hit", "miss"],
    "bloom": ["add", "re-add", "hit", "miss"],
    "counting": ["add", "re-add", "hit", "miss", "remove"],
    "fuse": ["hit", "miss"],
}


def wanted_of_run():
    for kind, operations in OPERATIONS.items():
        for case in [f"{kind}/{keys}/{place}" for keys in ("8", "url") for place in ("out", "in")]:
            for team in TEAMS:
                yield from (f"{case}/limit/{limit}/{team}" for limit in ("line", "or", "two-ors", "hash"))
                yield from (f"{case}/{call}/{operation}/{team}" for call in ("batch", "single")
                            for operation in operations)
            if kind == "blocked":
                yield from (f"{case}/batch/{operation}/c1" for operation in operations)
            if kind == "fuse":
                yield f"{case}/batch/build/all"


def wanted_of_growth():
    for operation in ("add", "re-add", "hit", "miss"):
        for keys in (3000, 9000, 30000):
            yield f"growth/keys/{keys}/batch/{operation}/p1"
        for segments in (1, 2, 3):
            yield f"growth/segments/{segments}/batch/{operation}/p1"
            yield f"growth/segments/{segments}/single/{operation}/p1"
        for made in (1000, 80000):
            yield f"growth/made/{made}/batch/{operation}/p1"
        for team in ("p1", "p2", "p3", "p4", "t2"):
            yield f"growth/processes/4/batch/{operation}/{team}"


def wanted_of_sizes():
    for keys in (3000, 30000):
        for pages in ("small", "huge"):
            yield from (f"sizes/{pages}/{keys}/batch/{operation}/p1" for operation in ("add", "re-add", "hit", "miss"))
            yield from (f"sizes/{pages}/{keys}/limit/{limit}/p1" for limit in ("line", "two-ors"))


def check(path, wanted):
    with open(path, encoding="utf-8") as file:
        run = json.load(file)
    problems = []
    figures = {figure["name"]: figure for figure in run["figures"]}
    for name in wanted:
        figure = figures.get(name)
        if figure is None:
            problems.append(f"{name} is missing")
            continue
        samples = [sample for level in figure["samples_ns"] for sample in level]
        if not 0 < figure["least_ns"] <= figure["median_ns"]:
            problems.append(f"{name}: least and median")
        # Of filters by size, an OR is measured while the filter is filled only: in four parts.
        fewest = 1 if figure["operation"] == "build" else 4 if name.startswith("sizes/") and figure["call"] == "limit" else 5
        if len(samples) < fewest:
            problems.append(f"{name}: {len(samples)} samples")
        if figure["call"] in ("batch", "single") and figure["operation"] != "build" and not figure.get("ratio", 0) > 0:
            problems.append(f"{name}: no limit")
        if figure["operation"] == "hit" and figure["yes"] != figure["keys_used"]:
            problems.append(f"{name}: not all were found")
        if figure["operation"] == "miss" and figure["yes"] > figure["keys_used"] / 20:
            problems.append(f"{name}: too many strangers were let in")
    for key in ("cpu", "simd", "processors", "caches", "page_bytes", "kernel", "compiler", "file_system"):
        if not run["machine"].get(key):
            problems.append(f"machine: {key}")
    if not run["command"].startswith("tamis-bench ") or "--smoke" not in run["command"] or run["seed"] != 1:
        problems.append("command and seed")
    return run, problems


def main():
    run, problems = check(sys.argv[1], wanted_of_run())
    if len(run["requirements"]) < 20:
        problems.append("requirements")
    grown, more = check(sys.argv[2], wanted_of_growth())
    problems += more
    if [case["segments"] for case in grown["cases"] if "/segments/" in case["name"]] != [1, 2, 3]:
        problems.append("filters have not grown as planned")
    sized, more = check(sys.argv[3], wanted_of_sizes())
    problems += more
    for case in sized["cases"]:
        if not (case["pages"] == case["name"].split("/")[1] and case["fill_s"] > 0 and case["sync_s"] > 0 and
                0 < case["open_us"] < 1e6 and case["table_bytes"] > 0):
            problems.append(f'{case["name"]}: what it costs besides its keys')
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
