# SPDX-License-Identifier: BSD-2-Clause
"""clones.py TOP: no two places in store/ and tools/ share more than eight lines, names aside.

Lines are compared without comments, with one name for all names and one number for all literals; words of
C stay.  Passed over are empty lines, lone braces, lines of the preprocessor, declarations without a value,
and the entries of tables ({...}, .name = value, and X(name, "text")), which look alike because they are tables.  So is a run
in which fewer than five lines differ.  A run ends where its function does.

Two places that are alike on purpose say so: a comment in one of them, or up to twenty lines above it, has
the words "Twin of FILE:", with the other file, and gives the reason.

It was seen to fail for exists() of tools/redis/commands/exists.c, copied into bf_read.c under other names, and
for a comment "Twin of" that names another file.
"""

import collections
import os
import re
import sys

LINES, DISTINCT, ABOVE = 8, 5, 20
FOLDERS = ("store", "tools")
WORDS = set("""if else for while do switch case default return break continue goto struct union enum static
    const void int char bool size_t double float long unsigned signed sizeof typedef inline extern uint8_t
    uint16_t uint32_t uint64_t int64_t int32_t true false NULL""".split())
COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
TOKEN = re.compile(r"""("(?:\\.|[^"\\])*")|('(?:\\.|[^'\\])*'|\d[\w.]*)|([A-Za-z_]\w*)|\S""")
PASSED_OVER = re.compile(r"#|\.|[{}]$|\{ .*[,}]|i \( i , \" \)( \\)?$"
                         r"|(?!return|goto)(const )?(struct |enum )?\w+ (\* )*i( , (\* )*i)* ;$")


def without_comments(text):
    """Strings stay; a comment leaves its line ends."""
    return COMMENT.sub(lambda found: re.sub(r"[^\n]", "", found[0]) if found[0][0] == "/" else found[0], text)


def token(found):
    string, literal, name = found.groups()
    if string or literal:
        return '"' if string else "0"
    if name:
        return name if name in WORDS else "i"
    return found[0]


def read(path):
    """The lines that count: (number, as it is compared).  The brace that ends a function is like no other."""
    with open(path, encoding="utf-8") as file:
        lines = without_comments(file.read()).split("\n")
    found = [(number, f"end {path}:{number}" if line == "}" else " ".join(map(token, TOKEN.finditer(line))))
             for number, line in enumerate(lines, 1)]
    return [(number, line) for number, line in found if line and not PASSED_OVER.match(line)]


def sources(top):
    for folder in FOLDERS:
        for path, _, names in sorted(os.walk(os.path.join(top, folder))):
            for name in sorted(names):
                if name.endswith((".c", ".h")) and not name.endswith("_arginfo.h"):
                    yield os.path.relpath(os.path.join(path, name), top)


def runs(files):
    """Pairs of places that share more than LINES lines: (path, first, last) twice.  Lines count from 1."""
    places = collections.defaultdict(list)
    for path, lines in files.items():
        for at in range(len(lines) - LINES):
            places[tuple(line for _, line in lines[at:at + LINES + 1])].append((path, at))
    pairs = {(a, b) for found in places.values() for i, a in enumerate(found) for b in found[i + 1:]
             if a[0] != b[0] or b[1] - a[1] > LINES}
    for (one, i), (other, j) in sorted(pairs):
        if ((one, i - 1), (other, j - 1)) in pairs:
            continue  # it begins above
        length = LINES + 1
        while ((one, i + length - LINES), (other, j + length - LINES)) in pairs:
            length += 1
        if len({line for _, line in files[one][i:i + length]}) >= DISTINCT:
            yield ((one, files[one][i][0], files[one][i + length - 1][0]),
                   (other, files[other][j][0], files[other][j + length - 1][0]))


def is_argued(top, place, other):
    path, first, last = place
    with open(os.path.join(top, path), encoding="utf-8") as file:
        lines = file.read().split("\n")[max(first - 1 - ABOVE, 0):last]
    return f"Twin of {os.path.basename(other[0])}:" in "\n".join(lines)


def main():
    top = sys.argv[1]
    files = {path: read(os.path.join(top, path)) for path in sources(top)}
    found = [f"{a[0]}:{a[1]}-{a[2]} and {b[0]}:{b[1]}-{b[2]} are alike: have it once, or argue (clones.py)"
             for a, b in runs(files) if not is_argued(top, a, b) and not is_argued(top, b, a)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
