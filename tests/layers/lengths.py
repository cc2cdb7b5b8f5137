# SPDX-License-Identifier: BSD-2-Clause
"""lengths.py TOP: no source file of store/, tools/ and tests/ has more than 600 lines, in whatever language, and no
function in C or C++ more than 60.

A function counts from the first line of its signature to its closing brace.  It may be longer if the line
before it has NOLINTNEXTLINE(readability-function-size), which also tells clang-tidy, and says why.  clang-format puts both braces
of a function, and of nothing else, on lines of their own at the left margin.  Functions in other
languages are held to the length of the file alone.  What bindgen has made is nobody's to read.

It was seen to fail for a file of 601 lines and for a function of 61; and when it looked at all languages, for the three files that had
more: store.cc and filter.cc of the addon for Node, and calls.rs of the runner in Rust.
"""

import os
import re
import sys

FILE_LINES, FUNCTION_LINES = 600, 60
FOLDERS = ("store", "tools", "tests")
NAME = re.compile(r"(\w+)\(")
WITH_FUNCTIONS = (".c", ".h", ".cc")
ENDINGS = (*WITH_FUNCTIONS, ".sh", ".py", ".rs", ".go", ".java", ".js", ".mjs", ".php")
MADE = ("tools/rust/sys/src/bindings.rs",)
EXCUSE = "NOLINTNEXTLINE(readability-function-size): "


def sources(top):
    """The paths, from `top` on, of the files that are held to a length."""
    for folder in FOLDERS:
        for path, _, names in sorted(os.walk(os.path.join(top, folder))):
            for name in sorted(names):
                found = os.path.relpath(os.path.join(path, name), top)
                if name.endswith(ENDINGS) and found not in MADE:
                    yield found


def functions(lines):
    """Each C function without an excuse: (name, first line, number of lines).  Lines count from 1."""
    start = None
    for at, line in enumerate(lines):
        if line == "{":
            start = at
            while start > 0 and re.match(r"[\w ]", lines[start - 1]):
                start -= 1
        elif line == "}" and start is not None:
            name = NAME.search(" ".join(lines[start:at]))
            if EXCUSE not in lines[start - 1]:
                yield name.group(1) if name else lines[start], start + 1, at - start + 1
            start = None


def violations(top):
    """A sentence for each."""
    for path in sources(top):
        with open(os.path.join(top, path), encoding="utf-8") as file:
            lines = file.read().splitlines()
        if len(lines) > FILE_LINES:
            yield f"{path} has {len(lines)} lines, more than {FILE_LINES}"
        if path.endswith(WITH_FUNCTIONS):
            for name, line, length in functions(lines):
                if length > FUNCTION_LINES:
                    yield f"{path}:{line}: {name}() has {length} lines, more than {FUNCTION_LINES}"


def main():
    found = list(violations(sys.argv[1]))
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
