# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong becomes an exception with a sentence, and never a crash."""

import datetime
import gc
import os
import threading
import time

import tamis
from tamis import _tamis
from support import StoreTest

WRONG_KEYS = (None, 5, 1.5, [], {}, object(), type, True, 10**100)
SURROGATE = "\ud800"


class Arguments(StoreTest):
    def setUp(self):
        super().setUp()
        self.seen = self.store.create("seen", 1000, 1e-6)

    def test_wrong_keys(self):
        counting = self.store.create("counting", 1000, kind="counting")
        for key in WRONG_KEYS:
            for call in (self.seen.add, self.seen.__contains__, counting.remove, counting.count):
                with self.assertRaisesRegex(TypeError, "a key is str, bytes"):
                    call(key)
            self.each_raises(TypeError, (self.seen.add_many, self.seen.contains_many, self.seen.update, counting.remove_many,
                                         counting.count_many), [key])
        self.each_raises(UnicodeEncodeError, (self.seen.add, lambda key: self.seen.add_many([key]),
                                              lambda key: key in self.seen), SURROGATE)
        self.assertEqual(len(self.seen), 0)

    def test_what_is_no_collection(self):
        for keys in (None, 5, "abc", b"abc", bytearray(b"abc"), object()):
            self.each_raises(TypeError, (self.seen.add_many, self.seen.contains_many, self.seen.update), keys)

    def test_exception_of_an_iterator_comes_through(self):
        def broken():
            yield "a"
            raise LookupError("mine")

        with self.assertRaisesRegex(LookupError, "mine"):
            self.seen.add_many(broken())
        self.assertTrue(self.seen.add("a"))  # the chunk had not begun

    def test_wrong_names(self):
        for name in ("", "a\0b", "x" * 256, "a\nb", SURROGATE):
            with self.assertRaises(ValueError, msg=repr(name)):
                self.store.create(name, 1000)
        for name in (None, 5, b"seen"):
            with self.assertRaises(TypeError):
                self.store[name]

    def test_empty_path_of_a_store(self):
        """It made a store in the working directory."""
        for path in ("", b""):
            with self.assertRaisesRegex(tamis.InvalidError, "is empty; name a directory"):
                tamis.Store(path)
        self.assertFalse(os.path.exists("catalog.mdb"))

    def test_urls_are_no_stores(self):
        """Each made a directory that is named like the scheme, and a store in it."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.directory)
        before = os.listdir()
        for url in ("redis://127.0.0.1:1", "file:///tmp/seen", "phar://a.phar/seen", "rediss://user:word@host/0"):
            with self.assertRaisesRegex(tamis.InvalidError, "is a URL, and a store is a directory; give its path") as raised:
                tamis.Store(url)
            self.assertNotIn("word", str(raised.exception))
        self.assertEqual(os.listdir(), before)
        tamis.Store("./file://x").close()

    def test_windows_as_text(self):
        """"30d" failed in __round__."""
        for number, (window, seconds) in enumerate((("30d", 30 * 86400), ("1.5h", 5400), ("90", 90), ("2w", 14 * 86400),
                                                    (90, 90), (1.5, 1.5), (datetime.timedelta(days=1), 86400))):
            stat = self.store.create(f"window {number}", 1000, window=window).stat
            self.assertEqual(stat.window_ns, seconds * 10**9, window)
        for window in ("", "d", "thirty days", "30 y", [], b"30d", object(), "nan", float("nan"), "-1d", -5):
            with self.assertRaisesRegex(tamis.InvalidError, "window", msg=window):
                self.store.create("x", 1000, window=window)

    def test_wrong_numbers(self):
        for error, *all_arguments in (
                (ValueError, {"capacity": 0}, {"fp_rate": 2}, {"fp_rate": float("nan")}, {"fp_rate": -1}, {"kind": "cuckoo"},
                 {"on_full": "burst"}, {"secret": b"short"}, {"window": -1}, {"hash_set": "sha9"}),
                (OverflowError, {"capacity": 2**64}, {"capacity": -1}, {"capacity": 10**100}, {"seed": 2**64},
                 {"slices": 2**32}, {"window": 1e300}),
                (TypeError, {"capacity": "10"}, {"capacity": 10.5}, {"kind": 5}, {"fp_rate": "small"}, {"secret": 16})):
            for arguments in all_arguments:
                with self.assertRaises(error, msg=arguments):
                    self.store.create("x", **{"capacity": 10, **arguments})
        with self.assertRaises(tamis.Error):
            self.store.create("x", 2**63)
        self.assertEqual(list(self.store), ["seen"])

    def test_functions_below_check_what_they_get(self):
        store, seen = tamis.Store.__new__(tamis.Store), tamis.Filter.__new__(tamis.Filter)
        for call, *arguments in ((_tamis.filter_open, seen, self.seen, "seen", 0, 0, None),
                                 (_tamis.filter_open, self.store, self.store, "seen", 0, 0, None),
                                 (_tamis.filter_open, seen, self.store, "seen", 0, 0, "spec"),
                                 (_tamis.filter_open, seen, self.store, "seen", 0, 0, ()),
                                 (_tamis.store_open, seen, "x", 0, 0, 0), (_tamis.store_open, store, 5, 0, 0, 0),
                                 (_tamis.build_open, seen, self.store, "seen", None, 0, 0, 0, 0),
                                 (self.store._merge, "m", (1,), 0), (self.store._merge, "m", [self.seen], 0),
                                 (self.seen.merge, self.store), (self.seen.merge, None)):
            with self.assertRaises(TypeError, msg=(call, arguments)):
                call(*arguments)
        with self.assertRaisesRegex(ValueError, "already"):
            _tamis.filter_open(self.seen, self.store, "seen", 0, 0, None)
        with self.assertRaisesRegex(ValueError, "already"):
            _tamis.store_open(self.store, self.path, 0, 0, 0)


class Closed(StoreTest):
    def calls_of(self, seen):
        other = self.store.create("other", 1000)
        return [lambda: seen.add("a"), lambda: "a" in seen, lambda: len(seen), lambda: seen.add_many(["a"]),
                lambda: seen.contains_many(["a"]), lambda: seen.contains_name("a"), lambda: seen.update([]), lambda: seen.remove("a"),
                lambda: seen.count("a"), lambda: seen.count_many(["a"]), lambda: seen.stat, lambda: seen.items,
                lambda: seen.remove_many(["a"]), seen.sync, seen.rotate, seen.accept, lambda: seen.merge(other),
                lambda: other.merge(seen), lambda: self.store.merge("m", other, seen)]

    def test_calls_of_a_closed_filter(self):
        seen = self.store.create("seen", 1000)
        seen.close()
        self.each_raises(tamis.ClosedError, self.calls_of(seen))

    def test_calls_of_a_filter_that_was_never_opened(self):
        seen = tamis.Filter.__new__(tamis.Filter)
        self.each_raises(ValueError, self.calls_of(seen))
        seen.close()
        del seen
        for kind in (_tamis.Store, _tamis.Filter, _tamis.Build):
            kind().close()
        gc.collect()

    def test_calls_of_a_closed_store(self):
        seen = self.store.create("seen", 1000)
        self.store.close()
        self.each_raises(tamis.ClosedError, (
            lambda: self.store["seen"], lambda: list(self.store), lambda: len(self.store), lambda: "seen" in self.store,
            lambda: self.store.create("x", 10), lambda: self.store.drop("seen"), lambda: self.store.rename("seen", "x"),
            lambda: self.store.set_pages("seen", "huge"), self.store.verify, lambda: self.store.build("x"), lambda: self.store.generations("seen"),
            lambda: self.store.rollback("seen"), lambda: self.store.merge("x", seen)))
        self.store.close()

    def test_calls_of_a_build_that_is_over(self):
        build = self.store.build("list")
        build.close()
        self.each_raises(tamis.ClosedError, (lambda: build.add_many(["a"]), lambda: build.against(["a"]),
                                             lambda: build.except_many(["a"]), build.publish))

    def test_close_beside_calls_of_other_threads(self):
        """Seen to fail without `running`: with a close() that closes at once the threads crash."""
        keys = [b"%d" % i for i in range(100_000)]
        for _ in range(10):
            seen = self.store.open_or_create("seen", 1_000_000)
            begun, ends = threading.Barrier(4), []

            def use(seen=seen, begun=begun, ends=ends):
                begun.wait()
                try:
                    while True:
                        seen.contains_many(keys)
                except tamis.ClosedError:
                    ends.append(1)

            threads = [threading.Thread(target=use) for _ in range(3)]
            for thread in threads:
                thread.start()
            begun.wait()
            time.sleep(0.005)
            seen.close()
            for thread in threads:
                thread.join()
            self.assertEqual(len(ends), 3)

    def test_build_is_for_one_thread_at_a_time(self):
        build = self.store.build("list")
        seen = []

        def keys():
            for i in range(5000):
                if i == 10:
                    with self.assertRaisesRegex(RuntimeError, "thread"):
                        build.add_many(["x"])
                    seen.append(i)
                yield b"%d" % i

        build.add_many(keys())
        self.assertEqual(seen, [10])


class Library(StoreTest):
    def test_the_sentence_is_the_librarys(self):
        with self.assertRaises(tamis.NotFoundError) as caught:
            self.store["nothing"]
        error = caught.exception
        self.assertIn("no such filter: 'nothing'", str(error))
        self.assertEqual((error.code, error.name), (-2, "TAMIS_ENOTFOUND"))
        self.assertIsInstance(error, KeyError)
        self.assertIsInstance(error, tamis.Error)

    def test_dropped_filter(self):
        seen = self.store.create("seen", 1000)
        seen.add("a")
        self.store.drop("seen")
        self.each_raises(tamis.DroppedError, (lambda: seen.add("b"), lambda: "a" in seen, lambda: seen.add_many(["b"]),
                                              lambda: seen.stat))
        seen.close()

    def test_full_filter_gives_the_answers(self):
        seen = self.store.create("seen", 1000, 1e-6, on_full="refuse")
        keys = [b"%d" % i for i in range(2000)]
        with self.assertRaises(tamis.FullError) as caught:
            seen.add_many(keys)
        answers = caught.exception.answers
        self.assertEqual(len(answers), 2000)
        self.assertEqual(answers.count(1), len(seen))
        self.assertEqual(answers.count(2), 2000 - len(seen))
        self.assertEqual(seen.contains_many(keys).count(1), answers.count(1))
        with self.assertRaises(tamis.FullError):
            seen.add("one more")
        with self.assertRaises(tamis.FullError):
            seen.update(keys)
        self.assertEqual(tamis.Error("x").answers, None)

    def test_fuse_takes_no_keys(self):
        with self.store.build("list") as build:
            build.add_many(["a"])
        with self.assertRaises(tamis.UnsupportedError):
            self.store["list"].add("b")

    def test_damaged_segment(self):
        self.store.create("seen", 1000).close()
        segments = os.path.join(self.path, "segments")
        for name in os.listdir(segments):
            if name.endswith(".seg"):
                with open(os.path.join(segments, name), "r+b") as file:
                    file.write(b"x" * 4096)
        with self.assertRaises((tamis.CorruptError, tamis.ForeignError)):
            self.store["seen"]
