# SPDX-License-Identifier: BSD-2-Clause
"""mypy, from PyPI, takes a program that uses the package, and refuses wrong ones; stubtest finds the stubs of the extension
to be what the extension has."""

import os
import subprocess
import unittest

from support import StoreTest, pypi, skip

GOOD = """
import tamis
store = tamis.Store("/tmp/x")
with store.create("seen", 1000, 0.01) as seen:
    new: bool = seen.add("a")
    answers: bytes = seen.add_many(["a", b"b", bytearray(b"c")])
    names: list[str] = list(store)
    items: int = seen.stat.items + len(seen)
with store.build("list", fp_rate=0.01) as build:
    build.add_many(line.rstrip("\\n") for line in open("list"))
windowed = store.create("windowed", 1000, window="30d")
with tamis.Frontier(store, "crawl") as frontier:
    was_new: bytes = frontier.push_many(["a", (b"b", "payload"), (None, b"", 5)], priority=1)
    for item in frontier.take(10, lease=60):
        url: str = item.text
        done: bytes = frontier.done(item, push=[url + "/"])
"""
WRONG = ("seen.add(5)", "seen.add_many(5)", "x: int = seen.add_many([])", "seen.nothing", "store.create(5)", "frontier.push_many([5])", "tamis.nothing")


class Types(StoreTest):
    def run_(self, *words):
        return subprocess.run([PYTHON, "-m", *words], capture_output=True, text=True, check=False, cwd=self.directory,
                              env=os.environ | {"MYPYPATH": os.environ["PYTHONPATH"]})

    def check(self, program):
        path = os.path.join(self.directory, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        return self.run_("mypy", "--strict", "--cache-dir", self.directory + "/cache", path)

    def test_right_program_passes_and_each_wrong_line_is_refused(self):
        done = self.check(GOOD)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.check(GOOD + "\n".join(WRONG) + "\n")
        first = GOOD.count("\n") + 1
        self.assertEqual({int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line},
                         set(range(first, first + len(WRONG))), done.stdout)

    def test_package_itself_is_typed(self):
        done = self.run_("mypy", "--strict", "--ignore-missing-imports", "--allow-subclassing-any",
                         "--no-warn-unused-ignores", "-p", "tamis")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_stubs_are_those_of_the_extension(self):
        done = self.run_("mypy.stubtest", "tamis._tamis", "--ignore-disjoint-bases")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    PYTHON = pypi("mypy")
    if PYTHON is None:
        skip("PyPI cannot be reached")
    unittest.main()
