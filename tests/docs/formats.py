# SPDX-License-Identifier: BSD-2-Clause
"""formats.py PRINTER FOLDER [--write]: the tables of format.md and exchange.md in FOLDER (docs) are those of the structs.

PRINTER is print_formats, which has the fields from the lists that the library itself is made of.  Each table of its output
stands in one of the two documents, between two marks; --write puts it there.  The fields of each follow one another without
a gap.

Seen to fail: a meaning that was changed in store/segment/header.h; a row that was taken out of format.md; an offset of a
record's field that was raised by 4 (a gap; the struct's own are found by the compiler).
"""
import collections
import os
import re
import subprocess
import sys

from tables import hold

BEGIN = '<!-- The table "{}" begins: tests/docs/formats.py -->\n'
END = "<!-- The table ends. -->\n"


def tables(printer):
    """The rows of each table: offset, bytes, name, meaning."""
    rows = collections.defaultdict(list)
    for line in subprocess.run([printer], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        table, offset, size, name, meaning = line.split("\t")
        rows[table].append((int(offset), int(size), name, meaning))
    return rows


def as_markdown(table, rows):
    lines = ["| offset | size | | |", "|---|---|---|---|"]
    end = rows[0][0]
    for offset, size, name, meaning in rows:
        if offset != end:
            sys.exit(f'the table "{table}" has a gap before {name}: {end} to {offset}')
        end = offset + size
        lines.append(f"| {offset} | {size} | {name} | {meaning} |".replace("  ", " "))
    return "\n".join(lines) + "\n"


def main(printer, folder, write=""):
    paths = [os.path.join(folder, name) for name in ("format.md", "exchange.md")]
    marked = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for name in re.findall(re.escape(BEGIN).replace(re.escape("{}"), '([^"]+)'), file.read()):
                if name in marked:
                    sys.exit(f'the table "{name}" has two places: {marked[name]} and {path}')
                marked[name] = path
    found = tables(printer)
    if set(found) != set(marked):
        sys.exit(f"without a place: {sorted(set(found) - set(marked))}; without fields: {sorted(set(marked) - set(found))}")
    for name, rows in found.items():
        hold(marked[name], BEGIN.format(name), END, as_markdown(name, rows), write)


main(*sys.argv[1:])
