# SPDX-License-Identifier: BSD-2-Clause
"""alone_test.py BUILD: alone.py notices what does not compile alone, among it what only another library's header would bring.

Seen to fail with xxhash.h as it is installed in the place of its bare form, and without -Werror=implicit-function-declaration.
"""

import os
import sys
import tempfile
import unittest

import alone

FILE = "store/exchange/portable.c"
ASSERTS = "store/exchange/portable_head.h"


class Alone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.place, cls.known = scratch.name, alone.commands(BUILD)
        alone.write_bare("xxhash.h", cls.place)
        with open(os.path.join(alone.TOP, ASSERTS), encoding="utf-8") as file:
            cls.text = file.read()

    def said_of(self, text, name="planted.h"):
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return alone.complaint(path, self.known[FILE], self.place)

    def test_file_that_has_assert_from_xxhash_alone(self):
        self.assertEqual(self.said_of(self.text), "")
        self.assertIn("#include <assert.h>\n", self.text)
        self.assertIn("static_assert", self.said_of(self.text.replace("#include <assert.h>\n", "")))

    def test_header_that_lacks_a_type(self):
        self.assertEqual(self.said_of("#pragma once\n#include <stdint.h>\nuint32_t planted(void);\n"), "")
        self.assertIn("uint32_t", self.said_of("#pragma once\nuint32_t planted(void);\n"))

    def test_function_that_nothing_declares(self):
        self.assertIn("pause", self.said_of('#include "hash/digest.h"\nint planted(void) { return pause(); }\n'))

    def test_each_file_of_store_is_looked_at(self):
        files = alone.with_headers(self.known)
        for folder, _, names in os.walk(os.path.join(alone.TOP, "store")):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(".c") or name.endswith(".h") and alone.is_whole(path):
                    self.assertIn(os.path.relpath(path, alone.TOP), files)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
