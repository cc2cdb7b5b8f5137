#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws small mistakes at random, one at a time, and tells how many of them the tests notice.

    tests/mutants/random.py --count 300 --seed 7      draws, builds and judges; goes on where a run of that seed was stopped
    tests/mutants/random.py --count 40 --only store/handle
    tests/mutants/random.py --seed 7 --table          the rates by folder, of what has been judged so far
    tests/mutants/random.py --seed 7 --survivors      the mistakes that no test has noticed
    tests/mutants/random.py --seed 7 --again          judges these by the tests that there are now

A mistake is one change to one line of C: a comparison, a sign, a number, a condition, a return value, or a statement that is left
out.  The seed alone decides which mistakes are drawn from a tree.  A mistake that does not compile, or compiles to the same
object code, is drawn anew.  Each mistake is tested for BUDGET seconds of the processor at most.  The tests that are nearest to the file
come first, and among them those that noticed other mistakes of its folder.  A test that fails, or does not end, notices the mistake if
it passes without it.

Verdicts are kept in .build/mutants/random/SEED, a JSON object a line.  Who finds that a survivor is equivalent, so that no caller
can tell the difference, notes it in equivalent.tsv with the reason: such a mistake is counted apart.
"""
import argparse
import collections
import hashlib
import importlib
import json
import os
import re
import signal
import subprocess
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
# Beyond the core, for mistakes in the store: each call fails, each allocation fails, the power is cut.
SWEEPS = ("syscall_faults", "oom", "power_cut_test")
BUDGET_S = 120
TEST_LIMIT_S = 60
BUILT_TOGETHER = 6  # so many of the tests that come next are built before they run

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
            if number == first or re.search(r"assert|prefetch|TAMIS__POINT\(", line) or line.startswith("#"):
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

# What is built of a mistake, and where: the library, the command, the module.
PRODUCTS = {"store": (("tamis_testable",), "store/libtamis_testable.so"), "tools/tamis": (("tamis_cli", "tamis_at"), "bin/tamis"),
            "tools/redis": (("tamis_redis",), "redis/tamis.so")}


def seeds(first, count):
    """The same sequences each time; the seconds of the clock are none of the test's business."""
    return "--first", str(first), "--count", str(count), "--seconds", "600", "--shorten", "0"


# The models run in pieces: the first notices most, and is early; the others come when their turn comes.
PIECES = {
    "model_api": (lambda c: [*c, *seeds(1, 20)], lambda c: [*c, *seeds(21, 60)], lambda c: [*c, *seeds(81, 220)]),
    "model_cli": (lambda c: [*c, *seeds(1, 4)], lambda c: [*c, *seeds(5, 12)], lambda c: [*c, *seeds(17, 24)]),
    "redis_model": (lambda c: [*c[:-1], "6"], lambda c: [*c[:-1], "12"], lambda c: c),
}
# What a test is thought to cost until it has run: seconds of the processor.
COSTS = {"syscall_faults": 25, "oom": 25, "power_cut_test": 22, "model_api": 3, "model_cli": 4, "redis_model": 5, "unit": 0.5, "cli": 0.4,
         "multiproc": 3, "redis": 8}
EARLY = {"model_api": "store", "model_cli": "tools/tamis", "redis_model": "tools/redis"}  # nearest of all but those of the same name


def area_of(path):
    return next(area for area, _ in AREAS if path.startswith(area + "/"))


def words_of(path):
    return {word for word in re.split(r"\W|_", os.path.splitext(path)[0]) if len(word) > 2}


class Test(collections.namedtuple("Test", "name piece")):
    """piece is the place in PIECES, else 0."""

    def __str__(self):
        return self.name + (" (part %d)" % (self.piece + 1) if self.name in PIECES else "")

    def command(self, command):
        return PIECES[self.name][self.piece](command) if self.name in PIECES else command


def distance(path, test, labels, inside, seconds):
    """The smaller, the earlier a test runs for a mistake in path.  inside has the folder of tests/ that a test comes from."""
    name, area = test.name, area_of(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.basename(os.path.dirname(path))
    near = -30 * len(words_of(stem) & words_of(name.replace(".", "/")))
    if area == "tools/redis":
        near -= 40 if "redis" in labels else 0
    elif area == "tools/tamis":
        near -= 40 if name.startswith("cli.") else 0
        near -= 40 if name.startswith("cli.%s." % stem) else 0
        near -= 60 if "redis" in labels and "command" in name else 0
    else:
        near -= 20 if "unit" in labels or "multiproc" in labels else 0
        near -= 20 if os.path.basename(inside.get(name, "")) == folder else 0
    if name in SWEEPS:
        near -= 60  # what they cost sets them back
    if name in PIECES:
        near -= 25
        near -= 45 if test.piece == 0 and EARLY[name] == area else 0
    return near + 2 * seconds


def may_run(name, labels, path):
    """The tests of the core; for the store the sweeps; for the module, and for what the command does with servers, all tests with a
    server."""
    if name in SWEEPS:
        return path.startswith("store/")
    with_servers = path.startswith("tools/redis/") or path.startswith(("tools/tamis/remote/", "tools/tamis/redis"))
    return not set(NOT_CORE) & set(labels) or with_servers and "redis" in labels


def folders_of_tests():
    """{the name of a test program: the folder of its source}"""
    return {os.path.splitext(name)[0]: folder for folder, _, names in os.walk(os.path.join(TOP, "tests")) for name in names
            if name.endswith(".c")}


class Tests:
    """What is known of the tests: their seconds, kept from run to run; who noticed mistakes where; and which are sound, so that they
    pass without a mistake."""

    def __init__(self, known, results):
        self.path, self.inside, self.sound, self.failing = os.path.join(KEPT, "seconds"), folders_of_tests(), set(), set()
        self.seconds, self.lock = {}, threading.Lock()
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.seconds = json.load(file)
        self.all = [Test(name, piece) for name in known for piece in range(len(PIECES.get(name, "1")))]
        # Of each command one test after the other: what several commands share is noticed by any of them.
        groups = collections.defaultdict(list)
        for test in self.all:
            groups[".".join(test.name.split(".")[:2])].append(test)
        self.turn = {test: turn for group in groups.values() for turn, test in enumerate(group)}
        self.labels = {name: properties.get("LABELS", []) for name, (_, properties) in known.items()}
        self.results = results

    def cost(self, test):
        guess = [COSTS[word] for word in (test.name, *self.labels[test.name]) if word in COSTS]
        return self.seconds.get(str(test), guess[0] if guess else 2)

    def took(self, test, seconds):
        with self.lock:
            self.seconds[str(test)] = round((seconds + self.seconds.get(str(test), seconds)) / 2, 2)
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.seconds, file)
            os.rename(self.path + ".new", self.path)

    def order(self, path):
        """The nearest first; those before the others that have noticed mistakes of this folder already."""
        folder = os.path.dirname(path)
        hits = collections.Counter(entry["by"] for entry in self.results.judged() if os.path.dirname(entry["path"]) == folder)
        return sorted((test for test in self.all if test not in self.failing and may_run(test.name, self.labels[test.name], path)),
                      key=lambda test: (distance(path, test, self.labels[test.name], self.inside, self.cost(test))
                                        + min(20, self.turn[test]) - 10 * min(3, hits[str(test)]), test))


class Judge:
    """One copy of the tree, in which mistakes are built and tested."""

    def __init__(self, copy, tests, budget):
        self.copy, self.tests, self.budget, self.built, self.static = copy, tests, budget, set(), {}
        with open(os.path.join(copy.logs, "products"), "w", encoding="utf-8") as log:
            targets = [target for names, _ in PRODUCTS.values() for target in names]
            if run(["ninja", "-C", copy.build_folder, *targets], log, env=copy.environment()) != 0:
                raise Bad("does not build; see " + log.name)
        self.digests = {area: self.digest(area) for area in PRODUCTS}

    def digest(self, area):
        with open(os.path.join(self.copy.build_folder, PRODUCTS[area][1]), "rb") as file:
            return hashlib.sha256(file.read()).digest()

    def product(self, area, log):
        """Builds the part that a mistake is in.  False if it does not compile."""
        return run(["ninja", "-C", self.copy.build_folder, *PRODUCTS[area][0]], log, env=self.copy.environment()) == 0

    def has_own_library(self, target):
        """Whether the library is linked into it, so that it must be built for each mistake."""
        if target not in self.static:
            shown = subprocess.run(["ninja", "-C", self.copy.build_folder, "-t", "commands", target], check=True,
                                   stdout=subprocess.PIPE, text=True).stdout
            self.static[target] = "libtamis.a" in shown
        return self.static[target]

    def make(self, names, path, log):
        """Builds what these tests need, where it is not there."""
        known = self.copy.tests.known
        lacking = [target for target in self.copy.tests.targets(names) if target not in self.built]
        if not lacking:
            return
        command = ["ninja", "-C", self.copy.build_folder, "-k", "0", "-j", str(self.copy.jobs), *lacking]
        if run(command, log, env=self.copy.environment()) != 0:
            print("not all tests build; see " + log.name, flush=True)
        if not all(known[name][0] for name in names):
            self.copy.tests.read()
        # Programs that have read a header with a mistake in it are built anew.
        self.built |= {target for target in lacking if path.endswith(".c") and not self.has_own_library(target)}

    def passes(self, test, log):
        """True, False, or None if it did not end in time; and the seconds that it took."""
        cost, begin = self.tests.cost(test), time.monotonic()
        try:
            command = test.command(self.copy.tests.known[test.name][0])
            passed, seconds = self.copy.tests.judge(test.name, command, log, 8 * cost + TEST_LIMIT_S, 5 * cost + 20)
        except Bad:
            return True, 0.1  # it was skipped
        if passed:
            self.tests.took(test, seconds)
        # A test that only waits costs little; on a busy machine the clock says nothing of the work.
        return passed, max(seconds, (time.monotonic() - begin) / 8)

    def is_sound(self, test, passed, mistake, texts, log):
        """Whether a test that failed passes without the mistake.  Asked once, but of a test with servers or without an end each time."""
        if test in self.tests.sound and passed is False and "redis" not in self.tests.labels[test.name]:
            return True
        tables.write(self.copy.tree, mistake.path, texts[0])
        self.product(area_of(mistake.path), log)
        self.make([test.name], mistake.path, log)
        sound = self.passes(test, log)[0]
        if sound:
            self.tests.sound.add(test)
        else:
            print("fails without a mistake too: %s" % str(test), flush=True)
            self.tests.failing.add(test)
            tables.write(self.copy.tree, mistake.path, texts[1])
            self.product(area_of(mistake.path), log)
        return sound

    def notices(self, mistake, texts, log):
        """(the test that notices the mistake or None, seconds of tests)"""
        order, spent = self.tests.order(mistake.path), 0
        for n, test in enumerate(order):
            if n % BUILT_TOGETHER == 0:
                self.make([test.name for test in order[n:n + BUILT_TOGETHER]], mistake.path, log)
            if not self.copy.tests.known[test.name][0]:
                continue  # it could not be built
            passed, seconds = self.passes(test, log)
            spent += seconds
            if not passed and self.is_sound(test, passed, mistake, texts, log):
                return str(test), spent
            if spent > self.budget:
                break
        return None, spent

    def judge(self, mistake):
        """{verdict, by, seconds}, or None for a mistake that is drawn anew."""
        whole, area = tables.read(self.copy.tree, mistake.path), area_of(mistake.path)
        lines = whole.split("\n")
        if lines[mistake.number] != mistake.old:
            raise Bad("%s is not as it was" % mistake.path)
        lines[mistake.number] = mistake.new
        texts = whole, "\n".join(lines)
        with open(os.path.join(self.copy.logs, mistake.id()), "w", encoding="utf-8") as log:
            try:
                tables.write(self.copy.tree, mistake.path, texts[1])
                if not self.product(area, log) or self.digest(area) == self.digests[area]:
                    return None
                by, seconds = self.notices(mistake, texts, log)
            finally:
                tables.write(self.copy.tree, mistake.path, whole)
        return {"verdict": "noticed" if by else "LIVED", "by": by, "seconds": round(seconds, 1)}


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
    return "/".join(path.split("/")[:2])


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


def mistakes_to_judge(options, results):
    """Those that are drawn, or with --again the survivors that the tree still has."""
    if not options.again:
        yield from (mistake for mistake in draw(options.seed, options.only) if mistake.id() not in results.known)
    there = {}
    for entry in [entry for entry in results.judged() if entry["verdict"] == "LIVED" and entry["id"] not in equivalents()]:
        path = entry["path"]
        if path not in there:
            there[path] = {mistake.id(): mistake for line in mistakes_of_file(path) for mistake in line}
        if entry["id"] in there[path]:
            yield there[path][entry["id"]]


def judge_all(options, results):
    copies = [Copy(n + 1, max(1, os.cpu_count() // options.copies)) for n in range(options.copies)]
    tests = Tests(copies[0].tests.known, results)
    judges = [Judge(copy, tests, options.budget) for copy in copies]
    mistakes, lock = mistakes_to_judge(options, results), threading.Lock()
    left = [len(results.known) if options.again else options.count - len(results.judged())]

    def work(judge):
        while True:
            with lock:
                mistake = next(mistakes, None) if left[0] > 0 else None
                if mistake is None:
                    return
                left[0] -= 1
            begin = time.monotonic()
            verdict = judge.judge(mistake)
            results.add(mistake, verdict)
            if verdict is None:
                with lock:
                    left[0] += 1
            else:
                print("%-7s %s (%s, %.0f s, %.0f s by the clock)" % (verdict["verdict"], mistake, verdict["by"], verdict["seconds"],
                                                                  time.monotonic() - begin), flush=True)

    threads = [threading.Thread(target=work, args=(judge,), daemon=True) for judge in judges]
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
    parser.add_argument("--budget", type=float, default=BUDGET_S, metavar="SECONDS",
                        help="seconds of the processor for the tests of a mistake (%d)" % BUDGET_S)
    parser.add_argument("--again", action="store_true", help="judge the survivors again, by the tests that there are now")
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
