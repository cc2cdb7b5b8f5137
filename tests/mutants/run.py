#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Applies mutants, one at a time, and looks whether the tests notice.

A mutant is a small change that breaks one promise: NAME.patch in this folder, a unified diff with a head:

    what:        what is broken, in a sentence
    promise:     the promise that it breaks, and where that stands
    tests:       the tests that must fail with it, as ctest names them; NAME:CASE is one case of a program;
                 NAME may have * and ?
    equivalent:  only if nobody can notice the mutant: why

The tree is copied to .build/mutants/tree and built there.  For each mutant its tests are run until one
fails.  "killed" means that one did; "LIVED" that none did, which makes the exit status 1.  A patch that
does not apply or does not build is an error too.  Without names, all mutants are taken.
"""
import argparse
import filecmp
import fnmatch
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(TOP, ".build", "mutants")
TREE, BUILD, LOGS = (os.path.join(WORK, name) for name in ("tree", "build", "logs"))
LIMIT_S = 60  # a mutant may make its tests wait for ever
PROMISE_MUTANTS_MIN = 3
KEYS = ("what", "promise", "tests", "equivalent")


class Bad(Exception):
    """A patch that is no mutant, or no mutant of this tree."""


# ---- Patches --------------------------------------------------------------------------------------


class Mutant:
    """name, the fields of the head, and changes: a list of (file, old text, new text)."""

    def __init__(self, name):
        self.name = name
        self.fields = {}
        self.changes = []
        with open(os.path.join(HERE, name + ".patch"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        if lines[-1] == "":
            lines.pop()
        at = self.read_head(lines)
        self.read_diff(lines[at:])
        for key in KEYS[:3]:
            if not self.fields.get(key):
                raise Bad("has no line '%s:'" % key)

    def read_head(self, lines):
        key = None
        for at, line in enumerate(lines):
            if line.startswith("--- "):
                return at
            found = re.match(r"(\w+):\s+(.*)", line)
            if found and found.group(1) in KEYS:
                key = found.group(1)
                self.fields[key] = found.group(2)
            elif key and line.startswith(" "):
                self.fields[key] += " " + line.strip()
            else:
                raise Bad("has a line in its head that is no field: " + line)
        raise Bad("has no diff")

    def read_diff(self, lines):
        path, old, new = None, [], []
        for line in lines + ["@@"]:
            if line.startswith(("--- ", "+++ ", "@@")):
                if old or new:
                    self.changes.append((path, "\n".join(old) + "\n", "\n".join(new) + "\n"))
                old, new = [], []
                if line.startswith("+++ "):
                    path = line[4:].split("\t")[0].removeprefix("b/")
                continue
            if line[:1] in (" ", "-", ""):
                old.append(line[1:])
            if line[:1] in (" ", "+", ""):
                new.append(line[1:])

    def edit(self, tree, backwards=False):
        """The files as they are with it, or without it again: {path: text}."""
        texts = {}
        for path, old, new in self.changes:
            if backwards:
                old, new = new, old
            if path not in texts:
                try:
                    with open(os.path.join(tree, path), encoding="utf-8") as file:
                        texts[path] = "\n" + file.read()
                except OSError as error:
                    raise Bad("changes %s, which is not there" % path) from error
            count = texts[path].count("\n" + old)
            if count != 1:
                raise Bad("does not apply: the lines that it changes stand %d times in %s, not once:\n%s"
                          % (count, path, old))
            texts[path] = texts[path].replace("\n" + old, "\n" + new)
        return {path: text[1:] for path, text in texts.items()}

    def tests(self, known=()):
        """(name, case or None) for each test; patterns stand for those of the known tests."""
        for item in self.fields["tests"].split():
            name, _, case = item.partition(":")
            for match in [name] if name in known else fnmatch.filter(known, name) or [name]:
                yield match, case or None


def all_names():
    return sorted(name[:-6] for name in os.listdir(HERE) if name.endswith(".patch"))


# ---- Tests ----------------------------------------------------------------------------------------


class Tests:
    """What ctest knows of a build directory: {name: (command, properties)}.  ctest tells the command of a
    program only once that is built."""

    def __init__(self, build):
        self.build = build
        self.read()

    def read(self):
        shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], check=True,
                               stdout=subprocess.PIPE).stdout
        self.known = {}
        for test in json.loads(shown)["tests"]:
            self.known[test["name"]] = (test.get("command", []),
                                        {p["name"]: p["value"] for p in test.get("properties", [])})

    def targets(self, names):
        """What must be built for these tests: the program of that name, or else the command, and the Redis module."""
        shown = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout
        there = {line.split(":")[0] for line in shown.split("\n")}
        found = set()
        for name in names:
            fuzzer = re.sub("^fuzz_(.*)_corpus$", r"replay_\1", re.sub("^fuzz_(.*)_mutated$", r"mutate_\1", name))
            programs = {name, name.split(".")[0], fuzzer} & there
            found |= programs or {"tamis_cli"}
            if "redis" in self.known[name][1].get("LABELS", []):
                found |= {target for target in there if target.startswith(("tamis_redis", "redis_"))}
        return found

    def passes(self, name, case, log):
        """True or False; None if it did not end in time."""
        command, properties = self.known[name]
        environment = dict(os.environ)
        environment.update(p.split("=", 1) for p in properties.get("ENVIRONMENT", []))
        process = subprocess.Popen(command + ([case] if case else []), stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, env=environment, cwd=properties.get("WORKING_DIRECTORY"),
                                   start_new_session=True)
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what a test that failed has left running
        except ProcessLookupError:
            pass
        process.wait()
        if status is not None and status == properties.get("SKIP_RETURN_CODE"):
            raise Bad("is not judged: %s was skipped" % name)
        return None if status is None else status == 0


# ---- The copy -------------------------------------------------------------------------------------


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def copy_tree():
    """Files that are the same are left alone, so that only what differs is built again."""
    there = set()
    for folder, folders, files in os.walk(TOP):
        folders[:] = [name for name in folders if name not in (".build", ".git", "__pycache__")]
        inside = os.path.relpath(folder, TOP)
        os.makedirs(os.path.join(TREE, inside), exist_ok=True)
        for name in files:
            if inside == "." and name == ".git":
                continue
            source, copy = os.path.join(folder, name), os.path.join(TREE, inside, name)
            there.add(os.path.normpath(copy))
            if not os.path.exists(copy) or not filecmp.cmp(source, copy, shallow=False):
                shutil.copy(source, copy)
                os.utime(copy)
    for folder, _, files in os.walk(TREE):
        for name in files:
            if os.path.join(folder, name) not in there:
                os.unlink(os.path.join(folder, name))


def configure():
    command = ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
               "-DCMAKE_C_FLAGS_RELEASE=-O1 -g0", "-DCMAKE_C_FLAGS=-w"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def build(targets, log):
    done = subprocess.run(["ninja", "-C", BUILD, "-j", str(os.cpu_count())] + sorted(targets), stdout=log,
                          stderr=log, check=False)
    return done.returncode == 0


# ---- Judging --------------------------------------------------------------------------------------


def judge(mutant, tests):
    """The test that kills it, or None."""
    edited = mutant.edit(TREE)
    whole = {path: open(os.path.join(TREE, path), encoding="utf-8").read() for path in edited}
    targets = tests.targets([name for name, _ in mutant.tests(tests.known)])
    with open(os.path.join(LOGS, mutant.name), "w", encoding="utf-8") as log:
        try:
            for path, text in edited.items():
                write(os.path.join(TREE, path), text)
            if not build(targets, log):
                raise Bad("does not build; see " + log.name)
            tests.read()
            for name, case in mutant.tests(tests.known):
                log.write("==== %s %s\n" % (name, case or ""))
                log.flush()
                passed = tests.passes(name, case, log)
                if not passed:
                    return name + (":" + case if case else "") + (" without an end" if passed is None else "")
            return None
        finally:
            for path, text in whole.items():
                write(os.path.join(TREE, path), text)


def control(mutants, tests):
    """Do their tests pass without them?"""
    wanted = sorted({test for mutant in mutants for test in mutant.tests(tests.known)}, key=str)
    bad = 0
    with open(os.path.join(LOGS, "control"), "w", encoding="utf-8") as log:
        if not build(tests.targets([name for name, _ in wanted]), log):
            sys.exit("run.py: the tree does not build; see " + log.name)
        tests.read()
        for name, case in wanted:
            begin = time.monotonic()
            log.write("==== %s %s\n" % (name, case or ""))
            log.flush()
            passed = tests.passes(name, case, log)
            bad += not passed
            log.write("==== %s in %.1f s\n" % ("passed" if passed else "FAILED", time.monotonic() - begin))
            if not passed:
                print("FAILED without a mutant: %s %s; see %s" % (name, case or "", log.name), flush=True)
    return bad


def run(mutants, with_control):
    os.makedirs(LOGS, exist_ok=True)
    copy_tree()
    configure()
    tests = Tests(BUILD)
    killed = lived = equivalent = errors = 0
    mutants = [mutant for mutant in mutants if not lacks_tests(mutant, tests)] or sys.exit(1)
    if with_control:
        errors += control(mutants, tests)
    for mutant in mutants:
        if "equivalent" in mutant.fields:
            equivalent += 1
            print("equivalent %s: %s" % (mutant.name, mutant.fields["equivalent"]), flush=True)
            continue
        begin = time.monotonic()
        try:
            killer = judge(mutant, tests)
        except Bad as bad:
            errors += 1
            print("ERROR  %s %s" % (mutant.name, bad), flush=True)
            continue
        killed += killer is not None
        lived += killer is None
        verdict = "killed %s (by %s" % (mutant.name, killer) if killer else "LIVED  %s (" % mutant.name
        print("%s, %.0f s)" % (verdict, time.monotonic() - begin), flush=True)
        if not killer:
            print("       " + mutant.fields["what"], flush=True)
    print("%d of %d mutants killed, %d lived, %d equivalent, %d errors"
          % (killed, len(mutants), lived, equivalent, errors))
    return 1 if lived or errors else 0


def lacks_tests(mutant, tests):
    """Says which tests are not there."""
    unknown = sorted({name for name, _ in mutant.tests(tests.known) if name not in tests.known})
    if unknown:
        print("%s names tests that are not there: %s" % (mutant.name, " ".join(unknown)))
    return bool(unknown)


def count_promises():
    """How many mutants break each promise of docs/promises.md: {sentence: number}.  Promises of other documents are
    not counted.  (Heads from before that page was made call it README.)"""
    with open(os.path.join(HERE, "promises.txt"), encoding="utf-8") as file:
        counts = {line.strip(): 0 for line in file}
    for name in all_names():
        for promise in Mutant(name).fields["promise"].split("; "):
            document, _, sentence = promise.partition(": ")
            if document not in ("promises.md", "README"):
                continue
            sentence = sentence.removesuffix(".")
            if sentence not in counts:
                raise Bad("%s breaks a promise that promises.txt has not: %s" % (name, sentence))
            counts[sentence] += 1
    return counts


def check(build_directory):
    tests = Tests(build_directory) if build_directory else None
    bad = 0
    for name in all_names():
        try:
            mutant = Mutant(name)
            mutant.edit(TOP)
            bad += tests is not None and lacks_tests(mutant, tests)
        except Bad as why:
            bad += 1
            print("%s %s" % (name, why))
    print("%d mutants, %d of them bad" % (len(all_names()), bad))
    few = bad_promises()
    return 1 if bad or few else 0


def bad_promises():
    """Says which promises have too few mutants."""
    try:
        few = {promise: n for promise, n in count_promises().items() if n < PROMISE_MUTANTS_MIN}
    except Bad as why:
        print(why)
        return True
    for promise, number in few.items():
        print("only %d of %d: %s" % (number, PROMISE_MUTANTS_MIN, promise))
    return bool(few)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", nargs="?", const="", metavar="BUILD",
                        help="build nothing: only say which patches do not apply, or name tests that BUILD lacks, and "
                             "which promise of docs/promises.md (promises.txt) has fewer than three mutants")
    parser.add_argument("--promises", action="store_true",
                        help="build nothing: print how many mutants break each promise of docs/promises.md")
    parser.add_argument("--no-control", action="store_true",
                        help="do not run the tests once without a mutant, in which they must pass")
    parser.add_argument("--random", type=int, metavar="N", help="N mutants, chosen by the number S")
    parser.add_argument("--seed", type=int, metavar="S", default=int(time.time()))
    options = parser.parse_args()
    if options.check is not None:
        return check(options.check)
    if options.promises:
        print("\n".join("%3d  %s" % (n, promise) for promise, n in count_promises().items()))
        return 0
    names = [name.removesuffix(".patch") for name in options.names] or all_names()
    if options.random is not None:
        names = random.Random(options.seed).sample(names, min(options.random, len(names)))
        print("%d mutants, seed %d" % (len(names), options.seed), flush=True)
    try:
        mutants = [Mutant(name) for name in names]
    except (Bad, OSError) as why:
        sys.exit("run.py: %s" % why)
    return run(mutants, not options.no_control)


if __name__ == "__main__":
    sys.exit(main())
