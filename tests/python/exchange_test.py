# SPDX-License-Identifier: BSD-2-Clause
"""Filters as streams, and the shards of keys.

It was seen to fail with seed 1 in tamis_shard(), with none_or_exception() of exchange.c that tells the library's error first,
and with an export() that writes to the path itself.
"""

import array
import io
import os
import unittest

import tamis
from support import StoreTest

KEYS = [b"key%d" % i for i in range(10_000)]


class Streams(StoreTest):
    def setUp(self):
        super().setUp()
        self.seen = self.store.create("seen", 10_000, 0.01, seed=7)
        self.seen.update(KEYS)
        self.file = os.path.join(self.directory, "seen.tamis")

    def test_a_filter_goes_to_a_file_and_back(self):
        self.seen.export(self.file, with_key=True)
        with tamis.Store(self.directory + "/other") as other, other.import_("again", self.file) as again:
            self.assertEqual(again.contains_many(KEYS), bytes([1]) * len(KEYS))
            self.assertEqual((len(again), again.stat.seed), (len(self.seen), 7))
            into = io.BytesIO()
            again.export(into, with_key=True)
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(), into.getvalue())

    def test_a_list_is_published_in_the_place_of_another(self):
        with self.store.build("list", fp_rate=1e-6) as build:
            build.add_many(KEYS)
        with self.store["list"] as built:
            built.export(self.file, digest=True)
        with tamis.Store(self.directory + "/other") as other:
            before = other.create("list", 100, kind="counting")
            before.add("old")
            with other.import_("list", self.file, publish=True, keep=2) as after:
                self.assertEqual((after.stat.generation, after.stat.keep), (2, 2))
                self.assertTrue(self.file.endswith(after.stat.imported_from.removeprefix("...")))
                self.assertGreater(after.stat.imported_at, 0)
                self.assertEqual(len(after.stat.imported_digest), 32)
            self.assertEqual((b"key1" in before, "old" in before), (True, False))  # a handle from before
            with other.import_("list", self.file, publish=True, if_changed=True) as same:
                self.assertEqual(same.stat.generation, 2)
            with self.assertRaises(tamis.Error):
                other.import_("list", io.BytesIO(b"TAMISX"), publish=True)
            self.assertIn(b"key1", before)
            with self.assertRaises(ValueError):
                other.import_("new", self.file, keep=1)

    def test_other_formats_take_what_they_do_not_tell(self):
        there = self.store.create("there", kind="bloom", hash_set="redisbloom", capacity=100, fp_rate=0.01)
        there.add("a")
        into = io.BytesIO()
        there.export(into, "redisbloom")
        into.seek(0)
        self.assertIn("a", self.store.import_("back", into, "redisbloom"))
        # What SETBIT made of bits 0 and 9.
        bits = self.store.import_("bits", io.BytesIO(b"\x80\x40"), "redis-bitmap", hash_set="redisbloom", m_bits=1000, k=3,
                                  capacity=50, fp_rate=0.02)
        self.assertEqual((bits.stat.capacity, bits.stat.fp_rate), (50, 0.02))

    def test_a_secret_stays_in_the_store_unless_it_is_asked_for(self):
        with self.assertRaisesRegex(tamis.InvalidError, "seed"):
            self.seen.export(self.file)
        self.assertEqual(os.listdir(self.directory), ["store"])

    def test_what_the_file_raises_comes_through(self):
        class Broken:
            def write(self, data):
                raise KeyError("write")

            def read(self, n):
                raise KeyError("read")

        with self.assertRaisesRegex(KeyError, "write"):
            self.seen.export(Broken(), with_key=True)
        with self.assertRaisesRegex(KeyError, "read"):
            self.store.import_("again", Broken())
        for answer, error in (("text", TypeError), (b"x" * 2_000_000, ValueError), (None, TypeError)):
            broken = Broken()
            broken.read = lambda n, answer=answer: answer
            with self.assertRaises(error):
                self.store.import_("again", broken)
        self.assertNotIn("again", self.store)

    def test_wrong_streams_and_arguments_are_refused(self):
        self.seen.export(self.file, with_key=True)
        with open(self.file, "rb") as file:
            data = file.read()
        for bad in (b"", data[:-1], data[:100], b"x" * 500, data[:200] + b"\xff" + data[201:]):
            with self.assertRaises(tamis.Error):
                self.store.import_("again", io.BytesIO(bad))
        with self.assertRaises(tamis.ExistsError):
            self.store.import_("seen", self.file)
        with self.assertRaises(tamis.InvalidError):
            self.seen.export(self.file, "nothing")
        with self.assertRaises(FileNotFoundError):
            self.store.import_("again", self.file + "x")
        with self.assertRaises(AttributeError):
            self.store.import_("again", 5)
        self.seen.close()
        with self.assertRaises(tamis.ClosedError):
            self.seen.export(self.file)
        self.store.close()
        with self.assertRaises(tamis.ClosedError):
            self.store.import_("again", self.file)

    def test_close_beside_an_export_waits_for_its_end(self):
        into = io.BytesIO()

        class Closing:
            def write(inner, data):
                self.seen.close()
                into.write(data)

        self.seen.export(Closing(), with_key=True)
        self.assertTrue(self.seen.closed)
        into.seek(0)
        self.assertIn(KEYS[0], self.store.import_("again", into))


class Shards(unittest.TestCase):
    def test_shards_are_those_of_the_vectors(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../redis/shards.tsv")
        with open(path, encoding="ascii") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
        self.assertGreater(len(rows), 200)
        for count in {row[1] for row in rows}:
            keys = [bytes.fromhex(row[0]) for row in rows if row[1] == count]
            wanted = [int(row[2]) for row in rows if row[1] == count]
            self.assertEqual([tamis.shard(key, int(count)) for key in keys], wanted)
            self.assertEqual(list(memoryview(tamis.shard_many(keys, int(count))).cast("I")), wanted)

    def test_all_sorts_of_keys_and_many(self):
        text = [str(i) for i in range(20_000)]
        wanted = [tamis.shard(key.encode(), 64) for key in text]
        self.assertEqual([tamis.shard(key, 64) for key in text], wanted)
        self.assertEqual(array.array("I", tamis.shard_many(text, 64)).tolist(), wanted)
        self.assertEqual(array.array("I", tamis.shard_many(iter(text), 64)).tolist(), wanted)
        numbers = array.array("q", range(5000))
        self.assertEqual(array.array("I", tamis.shard_many(numbers, 7)).tolist(),
                         [tamis.shard(i.to_bytes(8, "little"), 7) for i in numbers])
        self.assertEqual(tamis.shard_many([], 7), b"")

    def test_form_of_a_key_decides(self):
        self.assertEqual(tamis.shard("HTTP://Example.com:80?b&a", 64, "url:sort"), tamis.shard("http://example.com/?a&b", 64))
        long = "http://example.com/" + "a" * 5000
        self.assertEqual(list(memoryview(tamis.shard_many([long + "#f", "A.Example."], 64, "url")).cast("I")),
                         [tamis.shard(long, 64), tamis.shard("A.Example.", 64)])
        with self.assertRaises(tamis.InvalidError):
            tamis.shard("a", 64, "colour")

    def test_wrong_arguments_are_refused(self):
        for call in (tamis.shard, tamis.shard_many):
            for arguments, error in ((("a",), TypeError), (("a", 0), ValueError), (("a", -1), OverflowError),
                                     (("a", 2**32), OverflowError), (("a", "b"), TypeError), ((5, 5), TypeError)):
                with self.assertRaises(error):
                    call(*arguments)
        with self.assertRaises(TypeError):
            tamis.shard_many(["a", 5], 7)
