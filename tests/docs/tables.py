# SPDX-License-Identifier: BSD-2-Clause
"""tables.py: parts of documents that a program writes, each between two marks, for fields.py and formats.py."""
import difflib
import shlex
import sys


def hold(path, begin, end, wanted, write):
    """The file has `wanted` between the lines `begin` and `end`.  If it has not: writes it, or exits and says how to."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, mark, rest = text.partition(begin)
    has, mark_of_end, after = rest.partition(end)
    if not mark or not mark_of_end:
        sys.exit(f"{path} has no place for a table: the lines\n{begin}{end}")
    if has == wanted:
        return
    if not write:
        print("".join(difflib.unified_diff(has.splitlines(True), wanted.splitlines(True), path, "the table")))
        sys.exit(f"{path} has a table that is out of date; this writes it: python3 {shlex.join([*sys.argv, '--write'])}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + wanted + end + after)
