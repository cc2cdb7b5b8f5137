#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""deltas.py [--names N] [--rate RATE] [--tamis TAMIS] [--json FILE]: what a night's change of a list costs as a stream.

A list of N names (2,000,000) is built and exported; then some of its names go and as many come, and it is built and exported again.
For each kind and each share of names that change, the table has the bytes of the new stream: whole, whole by zstd, and as
the difference from the old one by the tools that Debian has (zstd --patch-from, xdelta3, bsdiff, rsync).  A filter of kind
bloom or blocked is built for a tenth more names than it has, so that m is the same each night.

"floor" is the least that any tool could need that knows only which share f of the bits differ: m H(f) / 8 bytes, where H is the
entropy of a bit that is 1 with probability f.  The last rows are of the sorted names themselves, for a reader that builds
its filter from them.  Each difference is applied, and what comes out is compared.
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

SHARES = (0.001, 0.01, 0.05)
KINDS = ("fuse", "blocked", "bloom")
COLUMNS = ("bits that differ", "whole", "zstd -19", "floor", "zstd --patch-from", "xdelta3", "bsdiff", "rsync", "rsync -B 128")
ZSTD = ("zstd", "-qq", "-f", "--long=31")  # -qq: it has notes about its parser


def run(*argv, **options):
    return subprocess.run([str(arg) for arg in argv], check=True, **options)


def name(number):
    """A name as long as those of blocklists, of which nobody can guess the next: 50 bits, and one of eight endings."""
    bits = random.Random(number).getrandbits(53)
    letters = "".join("abcdefghijklmnopqrstuvwxyz234567"[bits >> 5 * i & 31] for i in range(10))
    return f'{letters}.{("com", "net", "org", "info", "xyz", "top", "ru", "site")[bits >> 50]}\n'


def write_names(path, numbers):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(sorted(map(name, numbers)))


class Nights:
    """A scratch directory with the streams of each night."""

    def __init__(self, args, work):
        self.tamis, self.rate, self.names, self.work = args.tamis, args.rate, args.names, work
        self.seconds = {}

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def timed(self, tool, *argv):
        """Runs it, and keeps the most seconds of a processor that it took."""
        before = os.times()
        run(*argv)
        after = os.times()
        spent = after.children_user - before.children_user + after.children_system - before.children_system
        self.seconds[tool] = max(self.seconds.get(tool, 0), spent)

    def build(self, kind, keys, stream):
        store = self.path("store")
        room = () if kind == "fuse" else ("-n", self.names * 11 // 10)
        run(self.tamis, "--store", store, "build", "list", keys, "--kind", kind, "-p", self.rate, "-q", *room)
        run(self.tamis, "--store", store, "export", "list", "--to", "tamis", "--force", stream)
        shutil.rmtree(store)

    def same(self, tool, one, other):
        with open(one, "rb") as a, open(other, "rb") as b:
            if a.read() != b.read():
                sys.exit(f"{tool}: what came out is not the new stream")

    def rsync(self, old, new, *options):
        there = self.path("there")
        shutil.copy(old, there)
        said = run("rsync", "--no-whole-file", "--ignore-times", "--stats", *options, new, there, stdout=subprocess.PIPE, text=True,
                   env=dict(os.environ, LC_ALL="C")).stdout
        self.same("rsync", there, new)
        return sum(int(re.search(f"Total bytes {way}: ([0-9,]+)", said)[1].replace(",", "")) for way in ("sent", "received"))

    def differences(self, old, new):
        """The bytes of each tool's way from the file `old` to the file `new`."""
        out, back = self.path("out"), self.path("back")
        tools = {
            "zstd -19": ((*ZSTD, "-19", new, "-o", out), (*ZSTD, "-d", out, "-o", back)),
            "zstd --patch-from": ((*ZSTD, "-19", f"--patch-from={old}", new, "-o", out),
                                  (*ZSTD, "-d", f"--patch-from={old}", out, "-o", back)),
            "xdelta3": (("xdelta3", "-f", "-9", "-S", "lzma", "-B", 1 << 27, "-e", "-s", old, new, out),
                        ("xdelta3", "-f", "-B", 1 << 27, "-d", "-s", old, out, back)),
            "bsdiff": (("bsdiff", old, new, out), ("bspatch", old, back, out)),
        }
        row = {"whole": os.path.getsize(new)}
        for tool, (make, apply) in tools.items():
            self.timed(f"{tool}, make", *make)
            row[tool] = os.path.getsize(out)
            self.timed(f"{tool}, apply", *apply)
            self.same(tool, back, new)
        row["rsync"] = self.rsync(old, new)
        row["rsync -B 128"] = self.rsync(old, new, "-B", "128")
        return row


def bits_that_differ(old, new):
    """The share of bits in which two files of one size differ, and the bytes that their places need at least."""
    with open(old, "rb") as a, open(new, "rb") as b:
        one, other = a.read(), b.read()
    if len(one) != len(other):
        return None, None
    count = (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()
    share = count / (8 * len(one))
    if share in (0, 1):
        return share, 0
    return share, math.ceil(len(one) * -(share * math.log2(share) + (1 - share) * math.log2(1 - share)))


def rows_of(at):
    """A row for each kind and share, and for the names themselves."""
    count, old_names, new_names = at.names, at.path("old.names"), at.path("new.names")
    write_names(old_names, range(count))
    for kind in KINDS:
        at.build(kind, old_names, at.path(f"old.{kind}"))
    nights = [("one goes, one comes", 1, 1)]
    nights += [(f"{share:.1%} go, as many come", round(count * share), round(count * share)) for share in SHARES]
    nights += [("1.0% come", 0, round(count * 0.01))]
    for what, gone, come in nights:
        write_names(new_names, range(gone, count + come))
        for kind in KINDS:
            old, new = at.path(f"old.{kind}"), at.path("new")
            at.build(kind, new_names, new)
            row = at.differences(old, new)
            row["bits that differ"], row["floor"] = bits_that_differ(old, new)
            yield kind, what, row
        yield "the names", what, at.differences(old_names, new_names)


def shown(column, value):
    if value is None:
        return "-"
    return f"{value:.2%}" if column == "bits that differ" else f"{value:,}"


def main():
    parser = argparse.ArgumentParser(usage="deltas.py [--names N] [--rate RATE] [--tamis TAMIS] [--json FILE]")
    parser.add_argument("--names", type=int, default=2_000_000)
    parser.add_argument("--rate", default="0.1%")
    parser.add_argument("--tamis", default=os.path.join(os.path.dirname(__file__), "..", "..", ".build", "test", "bin", "tamis"))
    parser.add_argument("--json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        nights, rows, began = Nights(args, work), [], time.monotonic()
        print("| kind | the night | " + " | ".join(COLUMNS) + " |\n|---|---|" + "---|" * len(COLUMNS))
        for kind, what, row in rows_of(nights):
            rows.append({"kind": kind, "night": what, **row})
            print(f"| {kind} | {what} | " + " | ".join(shown(column, row.get(column)) for column in COLUMNS) + " |", flush=True)
    print(f"\nbytes; {args.names:,} names at {args.rate}; {time.monotonic() - began:.0f} s.  Most seconds of a processor:")
    print(", ".join(f"{tool} {seconds:.1f}" for tool, seconds in nights.seconds.items()))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
