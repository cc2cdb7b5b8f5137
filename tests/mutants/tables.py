# SPDX-License-Identifier: BSD-2-Clause
"""Mutants as they stand in the tables *.toml of this folder, one table for an area of the code:

    [PROMISE.NAME]
    what = 'what is broken, in a sentence'
    tests = ['the tests that must fail with it, as ctest names them', 'NAME:CASE is one case', 'a name may have * and ?']
    file = 'the file that is changed, from the top of the tree'
    function = 'the function, table or struct of that file; left out where the text stands outside of them'
    old = 'text that stands there once'
    new = 'the text instead'

    [[PROMISE.NAME.also]]       a further change of the same mutant: file, function, old, new

PROMISE is a word of promises.txt.  Texts match exactly, with their indentation; line numbers play no part.  Texts of several
lines, and those that end a line, stand between three quotes.
"""
import difflib
import fnmatch
import functools
import os
import re
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PROMISES = os.path.join(HERE, "promises.txt")
PROMISE = re.compile(r"^([a-z-]+): +(.*)", re.M)  # the word that the tables have, and the sentence
CODE = (".c", ".h", ".py", ".php")


class Bad(Exception):
    """A mutant that cannot be judged, and why."""


# ---- Definitions ----------------------------------------------------------------------------------


def name_of_head(head):
    """The name that the head of a C definition defines: of a function what stands before its parameters, else its last word."""
    head = re.sub(r"__attribute__\(\(.*?\)\)\)?", "", head)
    found = re.search(r"\b[A-Z]+\((\w+)\)\(", head) or re.search(r"(\w+)\(", head) or re.search(r"(\w+)(\[\w*\])*\s*=?\s*$", head)
    return found and found.group(1)


@functools.lru_cache(None)
def definitions(text, path):
    """(name, start, end) of each function of a file, and in C of each table and struct as well."""
    if path.endswith((".c", ".h")):
        return [(name_of_head(found.group(1)), *found.span())
                for found in re.finditer(r"^(?!extern \"C\")([A-Za-z_][^;{}]*)\{(?s:.*?)^\}.*\n", text, re.M)]
    if path.endswith(".py"):
        pattern = r"^( *)def (\w+).*\n(?:(?:\1 .*|\1\) *->.*|\1\):)?\n)*"
    elif path.endswith(".php"):
        pattern = r"^( *).*\bfunction (\w+)\((?s:.*?)^\1\}.*\n"
    else:
        return []
    return [(found.group(2), *found.span()) for found in re.finditer(pattern, text, re.M)]


def places(text, path, function, old):
    """Where a text begins in a function, or in a file."""
    spans = [span[1:] for span in definitions(text, path) if span[0] == function] if function else [(0, len(text))]
    return [start + found.start() for start, end in spans for found in re.finditer(re.escape(old), text[start:end])]


def read(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        return file.read()


def write(tree, path, text):
    with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
        file.write(text)


# ---- Mutants --------------------------------------------------------------------------------------


class Mutant:
    """table (the file that it stands in), promise, name, what, tests, and changes: dictionaries of file, function, old, new."""

    def __init__(self, table, promise, name, fields):
        self.table, self.promise, self.name = table, promise, name
        self.changes = [{key: fields.pop(key, None) for key in ("file", "function", "old", "new")}] + fields.pop("also", [])
        self.what, self.items = fields.pop("what", None), fields.pop("tests", None)
        if fields or not self.what or not self.items or None in [change.get(key) for change in self.changes
                                                                 for key in ("file", "old", "new")]:
            raise Bad("%s: %s lacks a key, or has one too many: %s" % (table, name, " ".join(fields)))

    def edit(self, tree):
        """The files as they are with it: {path: text}."""
        texts = {}
        for change in self.changes:
            path, function, old = change["file"], change.get("function"), change["old"]
            try:
                text = texts[path] if path in texts else read(tree, path)
            except OSError as error:
                raise Bad("changes %s, which is not there; %s" % (path, guess(tree, change, function))) from error
            found = places(text, path, function, old)
            if len(found) != 1:
                raise Bad(complaint(tree, text, change, len(found)))
            texts[path] = text[:found[0]] + change["new"] + text[found[0] + len(old):]
        return texts

    def tests(self, known=()):
        """(name, case or None) for each test; patterns stand for those of the known tests."""
        for item in self.items:
            name, _, case = item.partition(":")
            for match in [name] if name in known else fnmatch.filter(known, name) or [name]:
                yield match, case or None


def load():
    """All mutants: {name: Mutant}."""
    mutants = {}
    for table in sorted(os.listdir(HERE)):
        if table.endswith(".patch"):
            raise Bad("%s is a patch; mutants stand in the tables *.toml" % table)
        if table.endswith(".toml"):
            for promise, rows in tomllib.loads(read(HERE, table)).items():
                for name, fields in rows.items():
                    if name in mutants:
                        raise Bad("%s: %s stands in %s too" % (table, name, mutants[name].table))
                    mutants[name] = Mutant(table, promise, name, fields)
    return mutants


def promises(mutants):
    """[(word, sentence, number of mutants that break it)], as promises.txt has them."""
    sentences = dict(PROMISE.findall(read(HERE, PROMISES)))
    for mutant in mutants.values():
        if mutant.promise not in sentences:
            raise Bad("%s: %s breaks a promise that %s has not: %s"
                      % (mutant.table, mutant.name, os.path.basename(PROMISES), mutant.promise))
    broken = [mutant.promise for mutant in mutants.values()]
    return [(word, sentence, broken.count(word)) for word, sentence in sentences.items()]


# ---- Code that has moved --------------------------------------------------------------------------


@functools.lru_cache(None)
def sources(tree):
    """{path: text} of all code."""
    found = {}
    for folder in ("store", "tools"):
        for inside, _, names in os.walk(os.path.join(tree, folder)):
            for name in names:
                if name.endswith(CODE):
                    path = os.path.relpath(os.path.join(inside, name), tree)
                    found[path] = read(tree, path)
    return found


def elsewhere(tree, old):
    """(path, function or None) of each place where a text stands."""
    for path, text in sources(tree).items():
        at = text.find(old)
        while at >= 0:
            yield path, next((name for name, start, end in definitions(text, path) if start <= at < end), None)
            at = text.find(old, at + 1)


def guess(tree, change, function):
    """Says where the text, or else the function, stands now."""
    found = [path + (": " + name if name else "") for path, name in elsewhere(tree, change["old"])]
    if found:
        return "the old text stands in " + ", ".join(found[:5])
    found = [path for path, text in sources(tree).items()
             if function and function in [name for name, _, _ in definitions(text, path)]]
    return "the old text stands nowhere" + ("; the function is in " + ", ".join(found[:5]) if found else "")


def complaint(tree, text, change, count):
    path, function, old = change["file"], change.get("function"), change["old"]
    spans = [span for span in definitions(text, path) if span[0] == function]
    if function and not spans:
        return "changes %s, which has no %s; %s" % (path, function, guess(tree, change, function))
    where = "%s:%d: %s" % (path, text.count("\n", 0, spans[0][1]) + 1, function) if spans else path
    if count > 1:
        return "its old text stands %d times in %s:\n%s" % (count, where, old)
    lines = (text[spans[0][1]:spans[0][2]] if spans else text).split("\n")
    close = [line for part in old.rstrip().split("\n") for line in difflib.get_close_matches(part, lines, 1)]
    return ("its old text is not in %s; %s:\n%s" % (where, guess(tree, change, None), old.rstrip())
            + "\n   there is:\n" * bool(close) + "\n".join(close))


def follow(mutant, tree):
    """Writes where the texts of a mutant stand now into its table.  True if each of them stands in one place."""
    table = read(HERE, mutant.table)
    start = table.index("[%s.%s]\n" % (mutant.promise, mutant.name))
    for change in mutant.changes:
        old_lines = "file = '%s'\n" % change["file"] + ("function = '%s'\n" % change["function"] if change.get("function") else "")
        at = table.index(old_lines, start)
        start = at + len(old_lines)
        path, function = change["file"], change.get("function")
        if path in sources(tree) and len(places(sources(tree)[path], path, function, change["old"])) == 1:
            continue
        found = list(elsewhere(tree, change["old"]))
        found = [place for place in found if place[1] == function] or found
        if len(found) != 1 or len(places(sources(tree)[found[0][0]], *found[0], change["old"])) != 1:
            return False
        new_lines = "file = '%s'\n" % found[0][0] + ("function = '%s'\n" % found[0][1] if found[0][1] else "")
        table = table[:at] + new_lines + table[start:]
        start = at + len(new_lines)
    write(HERE, mutant.table, table)
    return True
