# SPDX-License-Identifier: BSD-2-Clause
"""check.py TOP FOLDER=OBJECTS...: the files of store/ and of the programs in tools/ call and include downwards only.

TOP has store/ and tools/.  OBJECTS is a file whose lines are the paths of the object files of FOLDER, such as
store or tools/redis; it is empty where a program is not built, whose #include lines are looked at all the same.
check.py fails, naming caller and callee, where

  - a function, or a table of functions, uses one of a room above (layers.txt has the rooms of store/,
    programs.txt those of the programs);
  - a file includes a header of a room above;
  - a file of tools/ includes a header of store/ that is not in store/include;
  - files of the library, or of a program, use each other in a circle, within a folder or across folders;
  - modules of the Python package import each other in a circle;
  - a folder or a file has no room, or docs/layers.svg is not drawn from the table as it is.

A circle of rooms needs no look of its own: the rooms stand in a line, so one arrow of it runs up.  A
static inline function of a header counts by the file that includes it.  Names that two files define do not
count: a sanitizer adds such to each file.

self_test.py breaks each of these rules, and looks whether that is told.
"""

import ast
import collections
import graphlib
import os
import re
import sys

import draw
from elf import Object
from layers import program_rooms, store_rooms

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
PACKAGE = "tools/python/tamis"


def source_of(path):
    """handle/add.c of .../store/CMakeFiles/tamis_objects.dir/handle/add.c.o; Python's extension and
    Java's library are made one folder above their sources."""
    source = os.path.normpath(re.sub(r"\.o$", "", path.rsplit(".dir/", 1)[1]))
    return source.removeprefix("src/").removeprefix("jni/")


def sources(top):
    """The C files below `top`, as paths in it."""
    for folder, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), top)


# ---- Circles --------------------------------------------------------------------------------------


def circle(edges, verb):
    """A text about one, if there are any; an edge is (user's file, used file): how."""
    to = graphlib.TopologicalSorter()
    for user, used in edges:
        to.add(user, used)
    try:
        to.prepare()
    except graphlib.CycleError as error:
        found = error.args[1]
        ways = [f"    {user} -> {used}: {how}" for (user, used), how in sorted(edges.items())
                if user in found and used in found]
        yield f"these files {verb} each other in a circle:\n" + "\n".join(ways)


# ---- Calls ----------------------------------------------------------------------------------------


def calls(paths):
    """Each use of another file's function or table: (user's file, used file, user, used)."""
    objects = [(source_of(path), Object(path)) for path in sorted(paths)]
    often = collections.Counter(name for _, made in objects for name in made.defined)
    owner = {name: source for source, made in objects for name in made.defined if often[name] == 1}
    for source, made in objects:
        for user, name in sorted(made.uses):
            if owner.get(name, source) != source:
                yield source, owner[name], user, name


def wrong_calls(folder, rooms, paths):
    edges = {}
    for user, used, function, name in calls(paths):
        edges.setdefault((user, used), f"{function}() uses {name}()")
        if rooms.of(used) > rooms.of(user):
            yield f"{function}() of {folder}/{user} uses {name}() of {used}, which is in a room above"
    yield from circle(edges, "use")


# ---- Headers --------------------------------------------------------------------------------------


def includes(top, bases):
    """Each #include, by a file below `top`, of a header in one of the folders `bases`, or beside the file
    itself: (file, header), the file as a path in `top`."""
    for path in sources(top):
        with open(os.path.join(top, path), encoding="utf-8") as file:
            text = file.read()
        for header in INCLUDE.findall(text):
            for base in (*bases, os.path.dirname(os.path.join(top, path))):
                if os.path.isfile(os.path.join(base, header)):
                    yield path, os.path.normpath(os.path.join(base, header))
                    break


def wrong_headers(folder, rooms, top):
    """Those of its own that a folder includes upwards."""
    for user, header in includes(top, (top, os.path.join(top, "include"))):
        used = os.path.relpath(header, top)
        if not used.startswith("..") and rooms.of(used) > rooms.of(user):
            yield f"{folder}/{user} includes {used}, which is in a room above"


def private_headers(top):
    """Headers of store/ that tools/ includes and that are not public."""
    store = os.path.normpath(os.path.join(top, "store"))
    for user, header in includes(os.path.join(top, "tools"), (os.path.join(store, "include"), store)):
        used = os.path.relpath(header, store)
        if not used.startswith(("..", "include/")):
            yield f"tools/{user} includes store/{used}, which is no public header"


# ---- Python ---------------------------------------------------------------------------------------


def is_for_checkers(node):
    """if TYPE_CHECKING: a type checker reads what is in it, and no program runs it."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_in(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.level > 0:
            yield child
        elif is_for_checkers(child):
            for other in child.orelse:
                yield from imports_in(other)
        else:
            yield from imports_in(child)


def modules_of(package, path, found):
    """The files that a `from . import` reads: a module, or of a package its modules, or itself."""
    base = os.path.dirname(path)
    for _ in range(found.level - 1):
        base = os.path.dirname(base)
    base = os.path.join(base, *(found.module or "").split("."))
    as_file = lambda name: os.path.normpath(name) + ".py"
    if os.path.isfile(os.path.join(package, as_file(base))):
        yield as_file(base)
        return
    for alias in found.names:
        module = as_file(os.path.join(base, alias.name))
        if os.path.isfile(os.path.join(package, module)):
            yield module
        elif not os.path.exists(os.path.join(package, module + "i")):  # _tamis.pyi is the extension
            yield os.path.normpath(os.path.join(base, "__init__.py"))


def wrong_imports(package):
    """Circles of modules.  That a module's package comes before it is no import of that file's."""
    edges = {}
    for folder, _, names in sorted(os.walk(package)):
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            path = os.path.relpath(os.path.join(folder, name), package)
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                tree = ast.parse(file.read())
            for found in imports_in(tree):
                for used in modules_of(package, path, found):
                    if used != path:
                        edges.setdefault((path, used), f"line {found.lineno}")
    yield from circle(edges, "import")


# ---- All ------------------------------------------------------------------------------------------


def without_room(folder, rooms, top):
    """Files and folders of which the table says nothing."""
    for path in sources(top):
        if rooms.of(path) is None:
            yield f"{folder}/{path} is in no room of tests/layers/"


def all_rooms():
    return {"store": store_rooms(), **program_rooms()}


def violations(top, objects):
    """A sentence for each.  `objects` has the paths of the object files of each folder."""
    rooms = all_rooms()
    roomless = [sentence for folder, its in rooms.items()
                for sentence in without_room(folder, its, os.path.join(top, folder))]
    if roomless:
        yield from roomless
        return
    for folder, its in rooms.items():
        yield from wrong_headers(folder, its, os.path.join(top, folder))
        yield from wrong_calls(folder, its, objects.get(folder, ()))
    yield from private_headers(top)
    yield from wrong_imports(os.path.join(top, PACKAGE))


def lines_in(name):
    with open(name, encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def main():
    top, *given = sys.argv[1:]
    objects = {}
    for word in given:
        folder, name = word.split("=", 1)
        objects[folder] = lines_in(name)
    missing = set(objects) ^ set(all_rooms())
    found = [f"{folder} is in the table, or in the arguments, and not in both" for folder in sorted(missing)]
    found = found or list(violations(top, objects))
    if draw.is_stale():
        found.append("docs/layers.svg is not that of the table: run python3 tests/layers/draw.py")
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
