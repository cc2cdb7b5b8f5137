#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Applies mutants, one at a time, and looks whether the tests notice.  tables.py says what a mutant is.

Without names all mutants are taken, but for those that a run before this one has killed on the same tree: so a run that was
ended goes on where it was.  .build/mutants/results has what was killed, when, in what time, and by which test.

The tree is copied to .build/mutants/1 and 2, and built there.  First the tests of all mutants run without one; they must pass,
and their times are kept.  Then for each mutant its tests are run until one fails, the quickest one first, and all of them
ROUNDS times, as a test of a race may miss its instant.  "killed" means that one did fail; "LIVED" that none did, which makes the
exit status 1.  A mutant that does not apply or does not build is an error too.
"""
import argparse
import hashlib
import itertools
import os
import queue
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True  # the tree stays as it is

import tables
from copies import NOT_COPIED, WORK, Copy, Tests
from tables import TOP, Bad

RESULTS = os.path.join(WORK, "results")
LIMIT_S = 60  # a mutant may make its tests wait for ever
CONTROL_LIMIT_S = 600
PROMISE_MUTANTS_MIN = 3
ROUNDS = 4


def spell(test):
    return test[0] + (":" + test[1] if test[1] else "")


# ---- Results --------------------------------------------------------------------------------------


def tree_id():
    """What all files of the tree have, but for documents and these tables."""
    whole = hashlib.sha256()
    for folder, folders, files in os.walk(TOP):
        folders[:] = sorted(name for name in folders if name not in (*NOT_COPIED, "docs", "mutants"))
        for path in sorted(os.path.join(folder, name) for name in files if not name.endswith(".md") and name != ".git"):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    whole.update(hashlib.sha256(os.path.relpath(path, TOP).encode() + b"\0" + file.read()).digest())
    return whole.hexdigest()[:12]


def id_of(mutant):
    return hashlib.sha256(repr((mutant.items, mutant.changes)).encode()).hexdigest()[:12]


class Results:
    """The tree's id, and then lines of: the word killed or passed; mutant or test; the mutant's id; seconds; when; by what."""

    def __init__(self):
        self.killed, self.seconds = {}, {}
        self.lock = threading.Lock()
        self.tree = tree_id()
        os.makedirs(WORK, exist_ok=True)
        with open(RESULTS, "a+", encoding="utf-8") as file:
            file.seek(0)
            first, *lines = file.read().split("\n")
            if first != self.tree:
                lines = []
                file.truncate(0)
                file.write(self.tree + "\n")
        for verdict, name, mutant, seconds, *_ in map(str.split, filter(None, lines)):
            if verdict == "killed":
                self.killed[name] = mutant
            else:
                self.seconds[name] = float(seconds)

    def add(self, *words):
        with self.lock, open(RESULTS, "a", encoding="utf-8") as file:
            file.write(" ".join(words[:4] + (time.strftime("%Y-%m-%dT%H:%M"),) + words[4:]) + "\n")


# ---- Judging --------------------------------------------------------------------------------------


def share(copies, work, do):
    """do(copy, item) for each item of work, in as many threads as there are copies."""
    left = queue.SimpleQueue()
    for item in work:
        left.put(item)

    def do_some(copy):
        while True:
            try:
                item = left.get_nowait()
            except queue.Empty:
                return
            do(copy, item)

    threads = [threading.Thread(target=do_some, args=(copy,), daemon=True) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def build_all(copies, mutants):
    """The tree as it is.  The second copy finds in the compiler's cache what the first has compiled."""
    for copy in copies:
        with open(os.path.join(copy.logs, "build"), "w", encoding="utf-8") as log:
            names = {name for mutant in mutants for name, _ in mutant.tests(copy.tests.known)}
            copy.build(names, log, os.cpu_count())


def control(copies, mutants, results):
    """How many of their tests fail without them."""
    failed = []

    def pass_one(copy, test):
        begin = time.monotonic()
        with open(os.path.join(copy.logs, spell(test).replace("/", "_")), "w", encoding="utf-8") as log:
            try:
                passed = copy.tests.passes(test, log, CONTROL_LIMIT_S) or copy.tests.passes(test, log, CONTROL_LIMIT_S)
            except Bad as why:
                passed = log.write("%s\n" % why) < 0
        if passed:
            results.seconds[spell(test)] = time.monotonic() - begin
            results.add("passed", spell(test), "-", "%.1f" % results.seconds[spell(test)])
        else:
            failed.append(test)
            print("FAILED without a mutant: %s; see %s" % (spell(test), log.name), flush=True)

    tests = {test for mutant in mutants for test in mutant.tests(copies[0].tests.known)}
    share(copies, sorted((test for test in tests if spell(test) not in results.seconds), key=str), pass_one)
    return len(failed)


def kills(copy, test, log, results):
    """Whether a test fails, and how."""
    limit = max(LIMIT_S, 3 * results.seconds.get(spell(test), 2 * LIMIT_S))
    passed = copy.tests.passes(test, log, limit)
    return None if passed else spell(test) + (" without an end" if passed is None else "")


def judge(copy, mutant, results):
    """(the test that kills it or None, seconds of building, seconds of tests)"""
    edited = mutant.edit(copy.tree)
    whole = {path: tables.read(copy.tree, path) for path in edited}
    tests = [test for test in mutant.tests(copy.tests.known) if spell(test) in results.seconds]
    tests.sort(key=lambda test: results.seconds.get(spell(test), 0))
    if not tests:
        raise Bad("is not judged: its tests do not pass without it")
    begin = time.monotonic()
    with open(os.path.join(copy.logs, mutant.name), "w", encoding="utf-8") as log:
        try:
            for path, text in edited.items():
                tables.write(copy.tree, path, text)
            copy.build([name for name, _ in tests], log)
            built = time.monotonic()
            killer = next(filter(None, (kills(copy, test, log, results) for test in tests * ROUNDS)), None)
        finally:
            for path, text in whole.items():
                tables.write(copy.tree, path, text)
    return killer, built - begin, time.monotonic() - built


def run(mutants, before, number):
    begin = time.monotonic()
    results = Results()
    copies = [Copy(n + 1, max(1, os.cpu_count() // number)) for n in range(number)]
    for mutant in mutants:
        if copies[0].tests.lacking(mutant):
            raise Bad("%s: %s names tests that are not there" % (mutant.table, mutant.name))
    build_all(copies, mutants)
    print("built in %.0f s" % (time.monotonic() - begin), flush=True)
    counts = {"killed": 0, "LIVED": 0, "ERROR": control(copies, mutants, results)}
    print("%d mutants, judged after %.0f s" % (len(mutants), time.monotonic() - begin), flush=True)

    def judge_group(copy, group):
        for mutant in group:
            try:
                killer, build_s, tests_s = judge(copy, mutant, results)
                verdict = "killed" if killer else "LIVED"
                print("%-6s %s (%s, built in %.1f s, tested in %.1f s)"
                      % (verdict, mutant.name, "by " + killer if killer else mutant.what, build_s, tests_s), flush=True)
                if killer:
                    results.add("killed", mutant.name, id_of(mutant), "%.1f" % (build_s + tests_s), killer)
            except Bad as bad:
                verdict = "ERROR"
                print("ERROR  %s %s" % (mutant.name, bad), flush=True)
            counts[verdict] += 1

    def by_file(mutant):
        return mutant.changes[0]["file"]

    # Mutants of one file follow each other: the file is compiled once for each, and not once more in between.
    groups = [list(group) for _, group in itertools.groupby(sorted(mutants, key=by_file), by_file)]
    share(copies, sorted(groups, key=len, reverse=True), judge_group)
    print("tree %s, %s: %d of %d mutants killed, %d of them in this run of %.0f s; %d lived, %d errors" % (
        results.tree, time.strftime("%Y-%m-%d"), before + counts["killed"], before + len(mutants), counts["killed"],
        time.monotonic() - begin, counts["LIVED"], counts["ERROR"]))
    return 0 if counts["killed"] == len(mutants) and not counts["ERROR"] else 1


# ---- Checks ---------------------------------------------------------------------------------------


def check(mutants, build_folder):
    """Says what no longer applies, which tests are missing, and which promises have too few mutants."""
    tests = Tests(build_folder) if build_folder else None
    bad = 0
    for mutant in mutants.values():
        try:
            mutant.edit(TOP)
            if tests and tests.lacking(mutant):
                raise Bad("names tests that are not there: " + " ".join(tests.lacking(mutant)))
        except Bad as why:
            bad += 1
            print("%s: %s %s" % (mutant.table, mutant.name, why))
    few = [(word, n) for word, _, n in tables.promises(mutants) if n < PROMISE_MUTANTS_MIN]
    for word, n in few:
        print("only %d of %d mutants: %s" % (n, PROMISE_MUTANTS_MIN, word))
    print("%d mutants, %d of them bad" % (len(mutants), bad))
    return 1 if bad or few else 0


def follow(mutants):
    """Writes into the tables where texts stand that have moved to another file or function."""
    for mutant in mutants.values():
        try:
            mutant.edit(TOP)
        except Bad:
            if tables.follow(mutant, TOP):
                print("%s: %s follows" % (mutant.table, mutant.name))
    return check(tables.load(), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", nargs="?", const="", metavar="BUILD",
                        help="build nothing: say which texts are not found and where, which tests BUILD lacks, and which promise "
                             "has fewer than three mutants")
    parser.add_argument("--follow", action="store_true",
                        help="build nothing: write into the tables where texts stand that have moved, then check")
    parser.add_argument("--promises", action="store_true", help="build nothing: print how many mutants break each promise")
    parser.add_argument("--copies", type=int, metavar="N", default=min(2, os.cpu_count()), help="how many at a time (2)")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        mutants = tables.load()
        if options.check is not None:
            return check(mutants, options.check)
        if options.follow:
            return follow(mutants)
        if options.promises:
            print("\n".join("%3d  %s: %s" % (n, word, sentence) for word, sentence, n in tables.promises(mutants)))
            return 0
        unknown = [name for name in options.names if name not in mutants]
        if unknown:
            raise Bad("no such mutant: " + " ".join(unknown))
        names, before = options.names or sorted(mutants), 0
        if not options.names:
            killed = Results().killed
            names = [name for name in names if killed.get(name) != id_of(mutants[name])]
            before = len(mutants) - len(names)
            print("%d of %d mutants are killed already" % (before, len(mutants)), flush=True)
        return run([mutants[name] for name in names], before, options.copies) if names else 0
    except Bad as why:
        sys.exit("run.py: %s" % why)


if __name__ == "__main__":
    sys.exit(main())
