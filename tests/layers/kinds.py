# SPDX-License-Identifier: BSD-2-Clause
"""kinds.py TOP: nothing outside of store/kind/ and store/sizing/ asks which kind a filter is.

A kind is a file of store/kind/, a line of kinds.c and a line of sizing/traits.c.  What others want to know of it they
ask by tamis_kind_has(), so that a new kind is no new case for them.  To name a kind, as the default of a call or as the
kind that a foreign format has, is no question: only ==, != and case are refused.

It was seen to fail for "if (stat->kind == TAMIS_KIND_FUSE)" in tools/tamis/fields.c, and for "case TAMIS_KIND_BLOOM:"
in store/filter/merge.c.
"""

import os
import re
import sys

ASKS = re.compile(r"(?:[=!]=\s*|\bcase\s+)(?:\([^)]*\)\s*)?TAMIS_KIND_(?:BLOCKED|BLOOM|COUNTING|FUSE)\b"
                  r"|\bTAMIS_KIND_(?:BLOCKED|BLOOM|COUNTING|FUSE)\s*[=!]=")
MAY_ASK = ("store/kind/", "store/sizing/")


def sources(top):
    for folder in ("store", "tools"):
        for path, _, names in sorted(os.walk(os.path.join(top, folder))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(path, name), top)


def main():
    top = sys.argv[1]
    found = 0
    for path in sources(top):
        if path.startswith(MAY_ASK):
            continue
        with open(os.path.join(top, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if ASKS.search(line):
                    print(f"{path}:{number}: ask tamis_kind_has() what the kind can do: {line.strip()}")
                    found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
