# SPDX-License-Identifier: BSD-2-Clause
"""keys_of() takes the keys of lists that the command takes (tests/lists/vectors.json)."""

import gzip
import io
import json
import pathlib
import unittest

import tamis
from support import StoreTest

VECTORS = json.loads((pathlib.Path(__file__).parent.parent / "lists" / "vectors.json").read_text(encoding="utf-8"))
COUNTS = ("others", "locals", "lacking", "foreign")


class ListsTest(StoreTest):
    def test_keys_are_those_of_the_command(self):
        for vector in VECTORS:
            options = {name: vector[name] for name in ("field", "separator") if name in vector}
            with self.subTest(format=vector["format"], input=vector["input"]):
                keys = tamis.keys_of(io.BytesIO(vector["input"].encode()), vector["format"], **options) \
                    if not vector.get("refused") else None
                if keys is None:
                    with self.assertRaisesRegex(ValueError, "the list looks like"):
                        tamis.keys_of(io.BytesIO(vector["input"].encode()))
                    continue
                self.assertEqual([key.encode() for key in vector["keys"]], list(keys))
                self.assertEqual({name: vector.get(name, 0) for name in COUNTS}, {name: getattr(keys, name) for name in COUNTS})
                self.assertEqual([key.encode() for key in vector.get("exceptions", [])], keys.exceptions)
                self.assertEqual(vector.get("is", vector["format"]), keys.format)

    def test_a_path_is_opened_and_unpacked(self):
        path = pathlib.Path(self.directory) / "hosts.gz"
        path.write_bytes(gzip.compress(b"0.0.0.0 ads.example\n0.0.0.0 more.example\n"))
        with self.store.build("ads") as build:
            keys = tamis.keys_of(path)
            build.add_many(keys)
            build.except_many(keys.exceptions)
        self.assertEqual("hosts", keys.format)
        self.assertIn("ads.example", self.store["ads"])

    def test_wrong_use_is_told(self):
        for options in ({"format": "bla"}, {"field": 1}, {"format": "csv", "separator": "ab"}, {"format": "hosts", "separator": ","}):
            with self.assertRaises(ValueError):
                tamis.keys_of(io.BytesIO(b"a"), **options)
        with self.assertRaisesRegex(ValueError, "does not name"):
            list(tamis.keys_of(io.BytesIO(b"a,b\n1,2\n"), "csv", field="c"))
        with self.assertRaises(ValueError):
            list(tamis.keys_of(io.BytesIO(b'"open\n'), "csv"))


if __name__ == "__main__":
    unittest.main()
