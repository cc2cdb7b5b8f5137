# SPDX-License-Identifier: BSD-2-Clause
"""check.py STORE TOOLS OBJECTS COMMAND: the files of store/ call and include downwards only, those of the
command do not call each other in a circle, and those of tools/ include the public headers of store/ alone.

It reads the object files of the library and of the command, whose paths are the lines of the files OBJECTS
and COMMAND, and the #include lines of the directories STORE and TOOLS, and fails, naming caller and callee, where

  - a function, or a table of functions, uses one of a room above (layers.txt has the rooms);
  - a file includes a header of a room above;
  - a file of TOOLS includes a header of STORE that is not in STORE/include;
  - files of the library, or of the command, use each other in a circle, within a folder or across folders;
  - a folder of store/ is no room, or docs/layers.svg is not drawn from the table as it is.

A circle of folders needs no look of its own: the rooms stand in a line, so one arrow of it runs up.  A
static inline function of a header counts by the file that includes it.  Names that two files define do not
count: a sanitizer adds such to each file.

It was seen to fail for a function of log/log.c that called tamis_filter_close() (also for the circle
that this makes), for #include "handle/journal.h" in the same file, for #include "../../store/base/error.h" and "base/error.h" in
tools/tamis/main.c, for a call of filter_find() in tools/tamis/remote/list.c (with the circle of two files that this
makes), and for a purpose that was changed in layers.txt alone.
"""

import collections
import graphlib
import os
import re
import sys

import draw
from elf import Object
from layers import ranks

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def source_of(path):
    """handle/add.c of .../store/CMakeFiles/tamis_objects.dir/handle/add.c.o"""
    return os.path.normpath(re.sub(r"\.o$", "", path.rsplit(".dir/", 1)[1]))


def calls(paths):
    """Each use of another file's function or table: (user's file, used file, user, used)."""
    objects = {source_of(path): Object(path) for path in paths}
    often = collections.Counter(name for made in objects.values() for name in made.defined)
    owner = {name: source for source, made in objects.items() for name in made.defined
             if often[name] == 1}
    for source, made in sorted(objects.items()):
        for user, name in sorted(made.uses):
            if owner.get(name, source) != source:
                yield source, owner[name], user, name


def includes(top, store):
    """Each #include of a header of store/, by a file below `top`: (file, header), as paths in these two."""
    for folder, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for header in INCLUDE.findall(text):
                for base in (store, os.path.join(store, "include"), folder):
                    found = os.path.relpath(os.path.join(base, header), store)
                    if not found.startswith("..") and os.path.isfile(os.path.join(store, found)):
                        yield os.path.relpath(path, top), found
                        break


def circle_of_files(edges):
    """A text about one, if there are any; an edge is (user's file, used file): how."""
    to = graphlib.TopologicalSorter()
    for user, used in edges:
        to.add(user, used)
    try:
        to.prepare()
    except graphlib.CycleError as error:
        circle = error.args[1]
        ways = [f"    {user} -> {used}: {how}" for (user, used), how in sorted(edges.items())
                if user in circle and used in circle]
        yield "these files use each other in a circle:\n" + "\n".join(ways)


def violations(store, tools, paths):
    """A sentence for each."""
    rank = ranks()
    room = lambda path: path.split("/", 1)[0]
    for folder in sorted(os.listdir(store)):
        if os.path.isdir(os.path.join(store, folder)) and folder not in rank:
            yield f"store/{folder}/ is no room of tests/layers/layers.txt"
            return
    edges = {}
    for user, used, function, name in calls(paths):
        edges.setdefault((user, used), f"{function}() uses {name}()")
        if rank[room(used)] > rank[room(user)]:
            yield f"{function}() of {user} uses {name}() of {used}, which is in a room above"
    for user, used in includes(tools, store):
        if room(used) != "include":
            yield f"tools/{user} includes store/{used}, which is no public header"
    for user, used in includes(store, store):
        if rank[room(used)] > rank[room(user)]:
            yield f"{user} includes {used}, which is in a room above"
    yield from circle_of_files(edges)


def paths_in(name):
    with open(name, encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def main():
    store, tools, objects, command = sys.argv[1:]
    found = list(violations(store, tools, paths_in(objects)))
    found += circle_of_files({(user, used): f"{function}() uses {name}"
                              for user, used, function, name in calls(paths_in(command))})
    if draw.is_stale():
        found.append("docs/layers.svg is not that of the table: run python3 tests/layers/draw.py")
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
