# SPDX-License-Identifier: BSD-2-Clause
"""layers.py: the tables of layers.txt and programs.txt, which check.py and draw.py read."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DRAWING = os.path.join(TOP, "docs", "layers.svg")


def lines_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.strip() for line in file if not line.startswith("#")]


def read_rows():
    """The rows of layers.txt from above to below; each is a list of (folder, purpose)."""
    rows, row = [], []
    for line in [*lines_of("layers.txt"), ""]:
        if line:
            folder, purpose = line.split(":", 1)
            row.append((folder, purpose.strip()))
        elif row:
            rows.append(row)
            row = []
    return rows


class Rooms:
    """Numbers for the rooms of a folder: a file may use those of its own number and of smaller ones."""

    def __init__(self, rooms):
        """`rooms` from below to above; each is a list of files and folders."""
        self.rank = {name: number for number, names in enumerate(rooms) for name in names}

    def of(self, path):
        """The number of a file's room; None: it has none."""
        for name in (path, os.path.splitext(path)[0] + ".c", path.split("/", 1)[0], "."):
            if name in self.rank:
                return self.rank[name]
        return None


def store_rooms():
    return Rooms([[folder] for row in reversed(read_rows()) for folder, _ in row])


def program_rooms():
    """{folder of the program: its Rooms}"""
    found = {}
    for line in lines_of("programs.txt"):
        if line.startswith("["):
            rooms = found[line.strip("[]")] = []
        elif line:
            rooms.insert(0, line.split(":", 1)[0].split())
    return {program: Rooms(rooms) for program, rooms in found.items()}
