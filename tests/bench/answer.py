#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""answer.py [--lines N] [--names N] [--tamis TAMIS]: how long a program waits for a line of `tamis check --answer`.

The helper has a list of N names (2,000,000) open.  A line goes in, and the clock runs until its answer is there; then the next
line goes in.  `cat` does the same for comparison: its lines take what two pipes and two changes of the process take.  Beside
the times stand the calls of read(2) and write(2) that the helper makes for a line, by /proc/PID/io, and the load.
"""
import argparse
import os
import subprocess
import tempfile
import time

WARM = 200


def calls(pid):
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        of = dict(line.split(": ") for line in file.read().splitlines())
    return int(of["syscr"]), int(of["syscw"])


def measure(what, command, lines):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as helper:
        into, out = helper.stdin.fileno(), helper.stdout.fileno()
        for line in lines[:WARM]:
            os.write(into, line)
            os.read(out, 4096)
        before, took = calls(helper.pid), []
        for line in lines:
            began = time.perf_counter_ns()
            os.write(into, line)
            os.read(out, 4096)
            took.append(time.perf_counter_ns() - began)
        after = calls(helper.pid)
        helper.stdin.close()
        helper.wait()
    took.sort()
    at = [f"{took[min(len(took) - 1, int(len(took) * share))] / 1000:.1f}" for share in (0.5, 0.9, 0.99, 0.999)]
    print(f"| {what} | {' | '.join(at)} | {(after[0] - before[0]) / len(lines):.2f} | {(after[1] - before[1]) / len(lines):.2f} |", flush=True)


def main():
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--names", type=int, default=2_000_000)
    parser.add_argument("--tamis", default=os.path.join(top, ".build/test/bin/tamis"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        tamis = [options.tamis, "--store", os.path.join(directory, "store")]
        names = "".join(f"host{i}.example\n" for i in range(options.names))
        subprocess.run([*tamis, "build", "list", "-q"], input=names, text=True, check=True)
        lines = [f"host{i * 7919 % (2 * options.names)}.example\n".encode() for i in range(options.lines)]
        print(f"load {' '.join(f'{load:.1f}' for load in os.getloadavg())}, {os.cpu_count()} processors, {options.names} names")
        print("| microseconds from line to answer | median | 90 % | 99 % | 99.9 % | reads a line | writes a line |\n|---|---|---|---|---|---|---|")
        measure("`tamis check --answer`", [*tamis, "check", "list", "--answer", "OK,ERR"], lines)
        measure("the same, `--channel --first-word`", [*tamis, "check", "list", "--answer", "OK,ERR", "--channel", "--first-word"],
                [b"7 " + line[:-1] + b" -\n" for line in lines])
        measure("`cat`", ["cat"], lines)


main()
