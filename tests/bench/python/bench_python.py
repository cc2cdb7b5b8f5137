#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_python.py LIBRARY [--keys N] [--rounds N] [--svg FILE]: Python's calls beside the library's own and other packages.

LIBRARY is .build/test/tests/bench/libbench_python.so.  It needs tamis in PYTHONPATH, and pybloomfiltermmap3 and rbloom of PyPI.
Keys are URLs as bytes objects, filters have a rate of 1 % and no file on a disk.  Each figure is the least of the rounds.
docs/python.md has the table and the plot that it makes.
"""
import argparse
import array
import ctypes
import os
import platform
import sys
import tempfile
import time

import pybloomfilter
import rbloom
import tamis

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from performance import table
from plot import WIDTH, Picture

RATE, SINGLE_KEYS = 0.01, 1_000_000
ADD, CONTAINS, ONE = range(3)
# Two copies of the library want more memory for their threads than glibc sets aside for what is loaded later.
TUNABLE = {"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=8192"}
HEAD = sys.getsizeof(b"") - 1  # where the characters of a bytes object begin
ROWS = (("add many", ("library", "tamis", "pybloomfilter", "rbloom", "set")), ("ask many", ("library", "tamis")),
        ("ask one", ("loop alone", "library", "tamis", "pybloomfilter", "rbloom", "set")))


class Library:
    """The library's calls, by library.c, for the keys of a list."""

    def __init__(self, path, store):
        self.call = ctypes.CDLL(os.path.abspath(path)).library_seconds
        self.call.restype = ctypes.c_double
        self.store = store.encode()

    def seconds(self, name, what, keys):
        places = array.array("Q", (id(key) + HEAD for key in keys))
        sizes = array.array("Q", map(len, keys))
        count = len(keys)
        pointers = [(ctypes.c_uint64 * count).from_buffer(numbers) for numbers in (places, sizes)]
        taken = self.call(self.store, name.encode(), what, *pointers, ctypes.c_size_t(count))
        if taken < 0:
            raise RuntimeError("a call of the library failed")
        return taken


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def ask_each(keys, container):
    for key in keys:
        key in container


def ask_nothing(keys):
    for _ in keys:
        pass


def one_round(library, store, keys, some):
    """{(operation, who): nanoseconds a key}"""
    plain, tested = store.create("plain", len(keys), RATE), store.create("tested", len(keys), RATE)
    others = {"pybloomfilter": pybloomfilter.BloomFilter(len(keys), RATE), "rbloom": rbloom.Bloom(len(keys), RATE), "set": set()}
    plain.close()
    times = {("add many", "library"): library.seconds("plain", ADD, keys),
             ("add many", "tamis"): seconds(lambda: tested.add_many(keys))}
    for name, other in others.items():
        times["add many", name] = seconds(lambda other=other: other.update(keys))
    times["ask many", "library"] = library.seconds("tested", CONTAINS, keys)
    times["ask many", "tamis"] = seconds(lambda: tested.contains_many(keys))
    per_key = {row: taken / len(keys) * 1e9 for row, taken in times.items()}
    singles = {"loop alone": lambda: ask_nothing(some)}
    singles |= {name: lambda other=other: ask_each(some, other) for name, other in {"tamis": tested, **others}.items()}
    for name, call in singles.items():
        per_key["ask one", name] = seconds(call) / len(some) * 1e9
    per_key["ask one", "library"] = library.seconds("tested", ONE, some) / len(some) * 1e9
    tested.close()
    store.drop("plain")
    store.drop("tested")
    return per_key


def least(rounds):
    return {row: min(figures[row] for figures in rounds) for row in rounds[0]}


def requirements(figures):
    """(what, measured, wanted)"""
    def above(operation):
        return figures[operation, "tamis"] - figures[operation, "library"]

    def faster(operation, name, other):
        return figures[other] / figures[operation, name]

    return [
        ("`add_many` above the library's batch", f"{above('add many'):.0f} ns a key", "at most 60 ns"),
        ("single `in` above the library's call, and above the loop", f"{above('ask one') - figures['ask one', 'loop alone']:.0f} ns",
         "at most 60 ns"),
        ("`add_many` beside pybloomfiltermmap3's `update`",
         f"{faster('add many', 'tamis', ('add many', 'pybloomfilter')):.1f} times as fast", "at least 5 times"),
        ("`contains_many` beside rbloom's `in`", f"{faster('ask many', 'tamis', ('ask one', 'rbloom')):.1f} times as fast",
         "at least 2 times"),
        ("single `in` beside rbloom's", f"{faster('ask one', 'tamis', ('ask one', 'rbloom')):.2f} times as fast",
         "at least 0.7 times")]


def tables(figures):
    names = ("loop alone", "library", "tamis", "pybloomfilter", "rbloom", "set")
    yield from table(("ns a key", *names), [
        (operation, *(f"{figures[operation, name]:.0f}" if (operation, name) in figures else "" for name in names))
        for operation, _ in ROWS])
    yield from table(("", "measured", "wanted"), requirements(figures))


def plot(figures, count, path):
    left, right, top, thick = 150, 90, 70, 22
    bottom = top + sum(34 + thick * len(names) for _, names in ROWS)
    most = max(figures.values())
    scale = (WIDTH - left - right) / most
    picture = Picture(bottom + 30, "Nanoseconds a key in Python",
                      f"{count:,} URLs as bytes, rate 1 %, one process; shorter is better; 'library' is the call of C")
    picture.scale(left, top, bottom, most, WIDTH - left - right)
    y = top
    for operation, names in ROWS:
        picture.text(20, y + 22, operation, "title")
        y += 32
        for name in names:
            width = figures[operation, name] * scale
            picture.text(left - 10, y + 13, name, "soft end")
            picture.rect(left, y + 3, width, thick - 8, "batch" if name == "tamis" else "single")
            picture.text(left + width + 8, y + 14, f"{figures[operation, name]:.0f}", "soft")
            y += thick
        y += 2
    picture.write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg")
    options = parser.parse_args()
    keys = [b"https://example.com/%d" % i for i in range(options.keys)]
    some = keys[::max(1, len(keys) // SINGLE_KEYS)]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place, tamis.Store(place + "/store") as store:
        library = Library(options.library, place + "/store")
        rounds = [one_round(library, store, keys, some) for _ in range(options.rounds)]
    figures = least(rounds)
    print(f"Python {platform.python_version()}, {len(keys)} keys, {len(some)} for single calls, the least of {len(rounds)}\n")
    print("\n".join(tables(figures)))
    if options.svg:
        plot(figures, len(keys), options.svg)


if __name__ == "__main__":
    if "GLIBC_TUNABLES" not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | TUNABLE)
    main()
