# SPDX-License-Identifier: BSD-2-Clause
"""layers.py: the table of layers.txt, which check.py and draw.py read."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DRAWING = os.path.join(TOP, "docs", "layers.svg")


def read_rows(path=os.path.join(HERE, "layers.txt")):
    """The rows from above to below; each is a list of (folder, purpose)."""
    rows, row = [], []
    with open(path, encoding="utf-8") as file:
        for line in [*file, ""]:
            line = line.strip()
            if line.startswith("#"):
                continue
            if line:
                folder, purpose = line.split(":", 1)
                row.append((folder, purpose.strip()))
            elif row:
                rows.append(row)
                row = []
    return rows


def ranks():
    """A number for each folder: a folder may use those of smaller numbers."""
    rank = {}
    for row in reversed(read_rows()):
        for folder, _ in row:
            rank[folder] = len(rank)
    return rank
