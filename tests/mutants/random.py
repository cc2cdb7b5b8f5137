#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws small mistakes at random, one at a time, and tells how many of them the tests notice.

    tests/mutants/random.py --count 300 --seed 7      draws, builds and judges; goes on where a run of that seed was stopped
    tests/mutants/random.py --count 40 --only store/handle
    tests/mutants/random.py --seed 7 --table          the rates by folder, of what has been judged so far
    tests/mutants/random.py --seed 7 --survivors      the mistakes that no test has noticed

A mistake is one change to one line of C: a comparison, a sign, a number, a condition, a return value, or a statement that is left
out.  The seed alone decides which mistakes are drawn from a tree.  A mistake that does not compile, or compiles to the same
object code, is drawn anew.  Each mistake is tested for BUDGET seconds at most, and the tests that are nearest to the file come first.
A test that fails, or does not end, notices the mistake.  A test that fails without any mistake does not count.

Verdicts are kept in .build/mutants/random/SEED, a JSON object a line.  Who finds that a survivor is equivalent, so that no caller
can tell the difference, notes it in equivalent.tsv with the reason: such a mistake is counted apart.
"""
import argparse
import collections
import contextlib
import hashlib
import importlib
import json
import os
import re
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True  # the tree stays as it is

# This file has the name of a standard module, which others import: only here the folder of this file comes last.
HERE = sys.path.pop(0)
random = importlib.import_module("random")
sys.path.append(HERE)

import tables
from copies import WORK, Copy, run
from tables import TOP, Bad

KEPT = os.path.join(WORK, "random")
EQUIVALENT = os.path.join(HERE, "equivalent.tsv")
AREAS = (("store", 6), ("tools/tamis", 3), ("tools/redis", 3))  # where mistakes are drawn, and how often
NOT_CORE = ("crash", "large", "model", "fuzz", "no-core")  # TAMIS_NOT_CORE of tests/CMakeLists.txt
BUDGET_S = 120
TEST_LIMIT_S = 60
FIRST_BUILDS = (6, 30)  # how many of the nearest tests are built before they run; then all

# ---- Mistakes -------------------------------------------------------------------------------------

# (what is found in a line, what it becomes)
REPLACED = (
    (r"(?<![<>=!+\-*/&|^-])<(?![<=])", ("<=", ">=")), (r"(?<![<>-])>(?![>=])", (">=", "<=")), (r"<=(?!=)", ("<", ">")),
    (r"(?<!>)>=", (">", "<")), (r"==", ("!=",)), (r"!=", ("==",)), (r"&&", ("||",)), (r"\|\|", ("&&",)), (r" \+ ", (" - ",)),
    (r" - ", (" + ",)), (r"\+\+", ("--",)), (r"\+=", ("-=", "=")), (r"-=", ("+=",)), (r"\|=", ("=",)), (r"\btrue\b", ("false",)),
    (r"\bfalse\b", ("true",)), (r"\bcontinue;", ("break;",)), (r"\bNULL\b(?=\)| &&| \|\||;$)", ("(void *)8",)),
)
NUMBER = re.compile(r"(?<![\w.\"])(\d+)(?![\w.\"])")
RETURN = re.compile(r"^(\s*(?:\}? ?else |if \(.*\) )?)return (?!0;|NULL;)([^;]+);$")
STATEMENT = re.compile(r"^\s+(?:if \(.*\) )?((?:\(void\))?(?:\*?[A-Za-z_][\w.>\[\]-]*)(?:\(.*\)| [+|&-]?= .*|\+\+|--));$")
CONDITION = re.compile(r"\b(if|while) \((.*)\)( \{| [a-z].*;|)$")
WORDS_BEFORE_NAMES = ("return", "goto", "case", "else", "sizeof", "static", "const", "struct", "unsigned", "int", "bool")


def is_balanced(text):
    return text.count("(") == text.count(")") and text.count("[") == text.count("]")


def without_words(text):
    """The text with comments, strings and characters as blanks of the same length."""
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
                  lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)


def mistakes_of_line(line, bare):
    """Each line that one mistake makes of this one.  bare is the line without its words."""
    for pattern, instead in REPLACED:
        for found in re.finditer(pattern, bare):
            for new in instead:
                yield line[:found.start()] + new + line[found.end():]
    for found in NUMBER.finditer(bare):
        number = int(found.group())
        for new in (number + 1, number - 1) if number else (1,):
            yield line[:found.start()] + str(new) + line[found.end():]
    text = bare.rstrip()
    found = RETURN.match(text)
    if found:
        yield line[:found.start(2)] + "0" + line[found.end(2):]
    found = STATEMENT.match(text)
    if found and is_balanced(found.group(1)) and found.group(1).split(" ")[0] not in WORDS_BEFORE_NAMES:
        yield line[:found.start(1)] + line[found.end(1):]
    found = CONDITION.search(text)
    if found and is_balanced(found.group(2)) and found.group(2).split(") ")[0].count(")") == found.group(2).split(") ")[0].count("("):
        yield line[:found.start(2)] + "!(" + line[found.start(2):found.end(2)] + ")" + line[found.end(2):]


class Mistake(collections.namedtuple("Mistake", "path number function old new")):
    """One line of a file, and what it becomes."""

    def id(self):
        return hashlib.sha256("\0".join((self.path, self.function, self.old.strip(), self.new.strip())).encode()).hexdigest()[:10]

    def __str__(self):
        return "%s:%d: %s: '%s' -> '%s'" % (self.path, self.number + 1, self.function, self.old.strip(), self.new.strip())


def mistakes_of_file(path):
    """All of them, by line: a line of many operators is no likelier to be drawn than one of few."""
    text = tables.read(TOP, path)
    bare = without_words(text).split("\n")
    lines = text.split("\n")
    for name, start, end in tables.definitions(text, path):
        first = text.count("\n", 0, start)
        body = bare[first:text.count("\n", 0, end)]
        if not name or not re.search(r"\) ?\{?$", body[0]) and "(" not in body[0]:
            continue  # a table or a struct
        for number, line in enumerate(body, first):
            if number == first or re.search(r"assert|prefetch", line) or line.startswith("#"):
                continue
            made = [Mistake(path, number, name, lines[number], new) for new in mistakes_of_line(lines[number], line)]
            if made:
                yield made


def draw(seed, only):
    """Mistakes without an end, none of them twice."""
    chance, drawn = random.Random(seed), set()
    areas = [(only, 1)] if only else AREAS
    by_area = []
    for area, _ in areas:
        files = sorted(path for path in tables.sources(TOP) if path.startswith(area) and path.endswith((".c", ".h")))
        by_area.append([line for path in files for line in mistakes_of_file(path)])
        if not by_area[-1]:
            raise Bad("nothing to change in " + area)
    while True:
        lines = chance.choices(by_area, [weight for _, weight in areas])[0]
        mistake = chance.choice(chance.choice(lines))
        if mistake.id() not in drawn:
            drawn.add(mistake.id())
            yield mistake


# ---- Tests ----------------------------------------------------------------------------------------


def words_of(path):
    return {word for word in re.split(r"\W|_", os.path.splitext(path)[0]) if len(word) > 2}


def distance(path, name, labels, inside, seconds):
    """The smaller, the earlier a test runs for a mistake in path.  inside has the folder of tests/ that a test comes from."""
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.basename(os.path.dirname(path))
    near = 0
    if path.startswith("tools/redis"):
        near -= 40 if "redis" in labels else 0
    elif path.startswith("tools/tamis"):
        near -= 40 if name.startswith(("cli.", "model_cli")) else 0
        near -= 40 if name.startswith("cli.%s." % stem) else 0
    else:
        near -= 20 if "unit" in labels or "multiproc" in labels else 0
        near -= 20 if os.path.basename(inside.get(name, "")) == folder else 0
    near -= 30 * len(words_of(stem) & words_of(name.replace(".", "/")))
    near -= 25 if name.startswith("model_") else 0
    return near + 2 * seconds


def is_core(test):
    """Whether a test is in the core and can be run as it is built."""
    command, properties = test
    return command and not set(NOT_CORE) & set(properties.get("LABELS", []))


def folders_of_tests():
    """{the name of a test program: the folder of its source}"""
    return {os.path.splitext(name)[0]: folder for folder, _, names in os.walk(os.path.join(TOP, "tests")) for name in names
            if name.endswith(".c")}


class Judge:
    """One copy of the tree.  The tests that fail in it without a mistake are left out."""

    def __init__(self, copy, failing, inside, seconds):
        self.copy, self.failing, self.inside, self.seconds = copy, failing, inside, seconds

    def order(self, path):
        known = self.copy.tests.known
        names = [name for name in known if name not in self.failing and is_core(known[name])]
        return sorted(names, key=lambda name: (distance(path, name, known[name][1].get("LABELS", []), self.inside,
                                                         self.seconds.get(name, 1)), name))

    def objects(self, log):
        """What the library, the command and the module are compiled to; None if something does not compile."""
        targets = [name for name in ("tamis_objects", "tamis_testable", "tamis_cli", "tamis_redis") if name in self.copy.tests.targets_there]
        if run(["ninja", "-C", self.copy.build_folder, "-j", str(self.copy.jobs), *targets], log, env=self.copy.environment()) != 0:
            return None
        whole = {}
        for folder, _, names in os.walk(self.copy.build_folder):
            if "/store/" in folder + "/" or "/tools/" in folder + "/":
                for name in sorted(name for name in names if name.endswith(".o")):
                    with open(os.path.join(folder, name), "rb") as file:
                        whole[os.path.join(folder, name)] = hashlib.sha256(file.read()).digest()
        return whole

    def notices(self, mistake, log):
        """(the test that notices the mistake or None, seconds of tests)"""
        names, spent, start = self.order(mistake.path), 0, 0
        for end in (*FIRST_BUILDS, len(names)):
            self.copy.build(names[start:end], log)
            for name in names[start:end]:
                begin = time.monotonic()
                try:
                    passed = self.copy.tests.passes((name, None), log, min(TEST_LIMIT_S, 5 * self.seconds.get(name, TEST_LIMIT_S) + 10))
                except Bad:
                    passed = True  # it was skipped
                spent += time.monotonic() - begin
                if not passed:
                    return name, spent
                if spent > BUDGET_S:
                    return None, spent
            start = end
        return None, spent

    def judge(self, mistake):
        """{verdict, by, seconds}, or None for a mistake that is drawn anew."""
        whole = tables.read(self.copy.tree, mistake.path)
        lines = whole.split("\n")
        if lines[mistake.number] != mistake.old:
            raise Bad("%s is not as it was" % mistake.path)
        lines[mistake.number] = mistake.new
        with open(os.path.join(self.copy.logs, mistake.id()), "w", encoding="utf-8") as log:
            before = self.objects(log)
            try:
                tables.write(self.copy.tree, mistake.path, "\n".join(lines))
                after = self.objects(log)
                if after is None or after == before:
                    return None
                by, seconds = self.notices(mistake, log)
            finally:
                tables.write(self.copy.tree, mistake.path, whole)
        return {"verdict": "noticed" if by else "LIVED", "by": by, "seconds": round(seconds, 1)}


def control(copy):
    """The tests of the core that fail without a mistake, and the seconds that each takes."""
    with open(os.path.join(copy.logs, "control"), "w", encoding="utf-8") as log:
        if run(["ninja", "-C", copy.build_folder, "core_tests"], log, env=copy.environment(keep=True)) != 0:
            raise Bad("does not build; see " + log.name)
        copy.tests.read()
        known = copy.tests.known
        failing, seconds = set(), {}
        for name in sorted(name for name in known if is_core(known[name])):
            begin = time.monotonic()
            with contextlib.suppress(Bad):
                if not copy.tests.passes((name, None), log, TEST_LIMIT_S):
                    failing.add(name)
            seconds[name] = time.monotonic() - begin
    return failing, seconds


# ---- Results --------------------------------------------------------------------------------------


class Results:
    """What has been judged with one seed."""

    def __init__(self, seed):
        os.makedirs(KEPT, exist_ok=True)
        self.path, self.lock = os.path.join(KEPT, str(seed)), threading.Lock()
        self.known = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.known = {entry["id"]: entry for entry in map(json.loads, file)}

    def add(self, mistake, verdict):
        entry = {"id": mistake.id(), **mistake._asdict(), **(verdict or {"verdict": "same code"})}
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            self.known[entry["id"]] = entry
            file.write(json.dumps(entry) + "\n")

    def judged(self):
        return [entry for entry in self.known.values() if entry["verdict"] != "same code"]


def equivalents():
    """{id: why} of the survivors that were looked at and are no mistakes."""
    if not os.path.exists(EQUIVALENT):
        return {}
    with open(EQUIVALENT, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t", 1) for line in file if "\t" in line and not line.startswith("#"))


def folder_of(path):
    return "/".join(path.split("/")[:3 if path.startswith("tools/") and path.count("/") > 2 else 2])


def print_table(entries):
    same, rows = equivalents(), collections.defaultdict(collections.Counter)
    for entry in entries:
        verdict = "equivalent" if entry["verdict"] == "LIVED" and entry["id"] in same else entry["verdict"]
        for folder in (folder_of(entry["path"]), "all"):
            rows[folder][verdict] += 1
    print("| folder | drawn | equivalent | noticed | lived | rate |\n|---|---|---|---|---|---|")
    for folder in sorted(rows, key=lambda name: (name == "all", name)):
        row = rows[folder]
        counted = row["noticed"] + row["LIVED"]
        print("| %s | %d | %d | %d | %d | %s |" % (folder, sum(row.values()), row["equivalent"], row["noticed"], row["LIVED"],
                                                   "%.0f %%" % (100 * row["noticed"] / counted) if counted else "-"))


def print_survivors(entries):
    same = equivalents()
    for entry in entries:
        if entry["verdict"] == "LIVED":
            print(entry["id"], Mistake(**{key: entry[key] for key in Mistake._fields}),
                  "(equivalent: %s)" % same[entry["id"]] if entry["id"] in same else "")


def judge_all(options, results):
    copies = [Copy(n + 1, max(1, os.cpu_count() // options.copies)) for n in range(options.copies)]
    failing, seconds = control(copies[0])
    for name in sorted(failing):
        print("left out, as it fails without a mistake: " + name, flush=True)
    for copy in copies[1:]:
        with open(os.path.join(copy.logs, "control"), "w", encoding="utf-8") as log:
            run(["ninja", "-C", copy.build_folder, "core_tests"], log, env=copy.environment(keep=True))
            copy.tests.read()
    inside, mistakes, lock = folders_of_tests(), draw(options.seed, options.only), threading.Lock()
    left = [options.count - len(results.judged())]

    def work(judge):
        while True:
            with lock:
                if left[0] <= 0:
                    return
                mistake = next(one for one in mistakes if one.id() not in results.known)
                left[0] -= 1
            verdict = judge.judge(mistake)
            results.add(mistake, verdict)
            if verdict is None:
                with lock:
                    left[0] += 1
            else:
                print("%-7s %s %s" % (verdict["verdict"], mistake, "(%s, %.0f s)" % (verdict["by"], verdict["seconds"])), flush=True)

    threads = [threading.Thread(target=work, args=(Judge(copy, failing, inside, seconds),), daemon=True) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, metavar="N", help="how many mistakes are judged in all (300)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which mistakes are drawn (1)")
    parser.add_argument("--only", metavar="FOLDER", help="draw from this folder or file alone")
    parser.add_argument("--copies", type=int, metavar="N", default=min(2, os.cpu_count()), help="how many at a time (2)")
    parser.add_argument("--table", action="store_true", help="print the rates by folder, and judge nothing")
    parser.add_argument("--survivors", action="store_true", help="print what no test has noticed, and judge nothing")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        results = Results("%d%s" % (options.seed, "-" + options.only.replace("/", "-") if options.only else ""))
        if not options.table and not options.survivors:
            judge_all(options, results)
        if options.survivors:
            print_survivors(results.judged())
        else:
            print_table(results.judged())
    except Bad as why:
        sys.exit("random.py: %s" % why)


if __name__ == "__main__":
    main()
