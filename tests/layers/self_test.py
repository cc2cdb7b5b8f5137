# SPDX-License-Identifier: BSD-2-Clause
"""self_test.py COMPILER TOP FOLDER=OBJECTS...: breaks each rule of check.py, and looks whether it tells so.

The arguments are those of check.py, and a C compiler.  A function is planted in the lowest room of store/
and of each program: it is compiled, and stands beside the object files as if its file had it.  Files that
include upwards, are in no room, or import in a circle are planted in a copy of the sources.  The test was seen to
fail for each comparison of check.py turned round, and for each of its generators left out of violations().
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import check
import draw

COMPILER, TOP, *GIVEN = sys.argv[1:]
OBJECTS = {folder: check.lines_in(name) for folder, name in (word.split("=", 1) for word in GIVEN)}
BUILT = [folder for folder, objects in OBJECTS.items() if objects]
ROOMS = check.all_rooms()


check.Object = functools.cache(check.Object)


def definitions(folder):
    """Of each object file that has one: its room's number, its C file, and a function or table that others can use."""
    for path in OBJECTS[folder]:
        source = check.source_of(path)
        defined = sorted(name for name in check.Object(path).defined
                         if name.isidentifier() and not name.startswith("__"))  # sanitizers have such names
        if defined:
            yield ROOMS[folder].of(source), source, defined[0]


def lowest(folder):
    return min(definitions(folder))[1:]


def highest(folder):
    return max(definitions(folder))[1:]


class Rules(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    # Calls.

    def plant(self, folder, source, function, used):
        """The path of an object file of `source` with a function that uses another."""
        path = os.path.join(self.directory, folder, function + ".dir", source + ".o")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        text = f"void {used}(void); void {function}(void); void {function}(void) {{ {used}(); }}"
        subprocess.run([COMPILER, "-w", "-x", "c", "-c", "-o", path, "-"], input=text, text=True, check=True)
        return path

    def call(self, folder, user, function, used):
        """What is told of a function of the file `user` that uses another."""
        return list(check.wrong_calls(folder, ROOMS[folder],
                                      [*OBJECTS[folder], self.plant(folder, user, function, used)]))

    def test_a_call_upwards_is_told(self):
        for folder in BUILT:
            with self.subTest(folder):
                (low, _), (high, used) = lowest(folder), highest(folder)
                self.assertIn(f"planted_up() of {folder}/{low} uses {used}() of {high}, which is in a room above",
                              self.call(folder, low, "planted_up", used))

    def test_a_call_downwards_is_right(self):
        for folder in BUILT:
            with self.subTest(folder):
                (_, used), (high, _) = lowest(folder), highest(folder)
                self.assertEqual(self.call(folder, high, "planted_down", used), [])

    def test_a_circle_of_files_in_one_room_is_told(self):
        for folder in BUILT:
            its = ROOMS[folder]
            pairs = [(user, used) for user, used, _, _ in check.calls(OBJECTS[folder]) if its.of(user) == its.of(used)]
            names = {source: name for _, source, name in definitions(folder)}
            pairs = [(user, used) for user, used in pairs if user in names]
            if not pairs:
                continue  # no file of a room uses another one there
            with self.subTest(folder):
                user, used = pairs[0]
                told = self.call(folder, used, "planted_back", names[user])
                self.assertEqual(len(told), 1, told)
                self.assertIn("these files use each other in a circle", told[0])
                self.assertIn(f"{used} -> {user}: ", told[0])

    # Headers, rooms and imports.

    def copy(self, *folders):
        """A tree with copies of these folders of the sources."""
        for folder in folders:
            shutil.copytree(os.path.join(TOP, folder), os.path.join(self.directory, folder))
        return self.directory

    def append(self, path, text):
        with open(os.path.join(self.directory, path), "a", encoding="utf-8") as file:
            file.write(text)

    def test_an_include_of_a_header_above_is_told(self):
        self.copy("store", "tools")
        for folder, rooms in ROOMS.items():
            with self.subTest(folder):
                headers = [(rooms.of(path), path) for path in check.sources(os.path.join(TOP, folder)) if path.endswith(".h")]
                (_, low), (_, header) = min(headers), max(headers)
                whole = os.path.join(self.directory, folder)
                self.assertEqual(list(check.wrong_headers(folder, rooms, whole)), [])
                self.append(f"{folder}/{low}", f'#include "{header}"\n')
                self.assertEqual(list(check.wrong_headers(folder, rooms, whole)),
                                 [f"{folder}/{low} includes {header}, which is in a room above"])

    def test_a_private_header_of_the_library_is_told(self):
        top = self.copy("store", "tools")
        self.append("tools/tamis/main.c", '#include "base/error.h"\n')
        self.append("tools/redis/value/value.c", '#include "../../../store/base/error.h"\n')
        self.assertEqual(list(check.private_headers(top)),
                         ["tools/redis/value/value.c includes store/base/error.h, which is no public header",
                          "tools/tamis/main.c includes store/base/error.h, which is no public header"])

    def test_a_file_in_no_room_is_told(self):
        top = self.copy("store", "tools")
        for path in ("store/attic/old.c", "tools/redis/attic/old.c", "tools/php/old.c"):
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            self.append(path, "int old;\n")
        self.assertEqual(list(check.violations(top, {})),
                         [f"{path} is in no room of tests/layers/"
                          for path in ("store/attic/old.c", "tools/redis/attic/old.c", "tools/php/old.c")])

    def test_a_circle_of_imports_is_told(self):
        top = self.copy(check.PACKAGE)
        package = os.path.join(top, check.PACKAGE)
        self.assertEqual(list(check.wrong_imports(package)), [])
        for path, text, circle in (
                ("_errors.py", "if True:\n    from . import _filter\n\ndef late():\n    from ._frontier import Frontier\n",
                 "_errors.py -> _frontier.py: "),
                ("_owner.py", "from . import Store\n", "_owner.py -> __init__.py: "),
                ("_queue.py", "from .compat import rbloom\n", "")):
            with self.subTest(path):
                whole = os.path.join(package, path)
                with open(whole, encoding="utf-8") as file:
                    before = file.read()
                self.append(f"{check.PACKAGE}/{path}", text)
                told = list(check.wrong_imports(package))
                with open(whole, "w", encoding="utf-8") as file:
                    file.write(before)
                if circle:
                    self.assertEqual(len(told), 1, told)
                    self.assertIn(circle, told[0])
                else:
                    self.assertEqual(told, [])

    def test_each_rule_is_among_the_violations(self):
        """What the other tests look at one by one, all at once."""
        top = self.copy("store", "tools")
        (low, _), (_, used) = lowest("store"), highest("store")
        self.append("store/base/error.h", '#include "handle/open.h"\n')
        self.append("tools/tamis/main.c", '#include "base/error.h"\n')
        self.append(f"{check.PACKAGE}/_errors.py", "from ._frontier import Frontier\n")
        told = "\n".join(check.violations(top, OBJECTS | {"store": [*OBJECTS["store"], self.plant("objects", low, "planted", used)]}))
        for words in ("planted() of store/", "store/base/error.h includes handle/open.h", "tools/tamis/main.c includes store/",
                      "these files import each other"):
            self.assertIn(words, told)

    def test_a_stale_drawing_is_told(self):
        self.assertFalse(draw.is_stale())
        drawing = os.path.join(self.directory, "layers.svg")
        with mock.patch.object(draw, "DRAWING", drawing):
            self.assertTrue(draw.is_stale(), "there is none")
            with open(drawing, "w", encoding="utf-8") as file:
                file.write(draw.drawing().replace("segments", "parts"))
            self.assertTrue(draw.is_stale(), "a word of it is another")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
