# SPDX-License-Identifier: BSD-2-Clause
"""Stores, filters and builds as a user of `import tamis` meets them."""

import ast
import copy
import datetime
import inspect
import itertools
import os
import pickle
import re
import signal
import subprocess
import sys
import unittest
from unittest import mock

import tamis
from support import StoreTest

WITHOUT_SQLITE3 = """
import sys
sys.modules["sqlite3"] = None  # as in a Python that was built without it
import tamis
with tamis.Store(sys.argv[1]) as store:
    assert store.create("seen", 1000).add("a")
assert {"Frontier", "Item"} <= set(dir(tamis)), dir(tamis)
for statement in ("from tamis import Frontier", "tamis.Frontier", "tamis.Item"):
    try:
        exec(statement)
    except ImportError as error:
        said = str(error)
        assert "needs Python's module sqlite3" in said and "All else of tamis works" in said and error.name == "sqlite3", said
    else:
        sys.exit(f"{statement} works without sqlite3")
try:
    tamis.nothing
except AttributeError as error:
    assert str(error) == "module 'tamis' has no attribute 'nothing'", error
del sys.modules["sqlite3"]
from tamis import Frontier, Item
assert tamis.Frontier is Frontier and tamis.Item is Item and "Frontier" in vars(tamis)
"""


class Import(StoreTest):
    def test_frontier_alone_needs_sqlite3(self):
        """Seen to fail while tamis/__init__.py imported the Frontier: `import tamis` raised ModuleNotFoundError."""
        done = subprocess.run([sys.executable, "-B", "-c", WITHOUT_SQLITE3, self.path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Help(StoreTest):
    def test_calls_have_the_signatures_of_the_stubs(self):
        """Functions of C had none, so help() showed add(...).  tests/python/types_test.py holds the stubs to them too."""
        with open(os.path.join(os.path.dirname(tamis.__file__), "_tamis.pyi"), encoding="utf-8") as file:
            stubs = ast.parse(file.read())
        owners = [(tamis._tamis, stubs)] + [(getattr(tamis._tamis, node.name), node) for node in stubs.body
                                            if isinstance(node, ast.ClassDef)]
        seen = 0
        for owner, node in owners:
            for stub in node.body:
                if isinstance(stub, ast.FunctionDef) and not stub.decorator_list and not stub.name.startswith("_") \
                        and not stub.name.endswith("_open"):
                    parameters = inspect.signature(getattr(owner, stub.name)).parameters.values()
                    self.assertEqual([parameter.name for parameter in parameters],
                                     [argument.arg for argument in stub.args.posonlyargs + stub.args.args], stub.name)
                    self.assertEqual({parameter.kind for parameter in parameters}, {inspect.Parameter.POSITIONAL_ONLY}
                                     if parameters else set(), stub.name)
                    self.assertGreater(len(inspect.getdoc(getattr(owner, stub.name))), 20)
                    seen += 1
        self.assertGreater(seen, 20)

    def test_every_example_of_a_build_strips_its_lines(self):
        """help(tamis.Build) showed add_many(open("list")), whose keys end in a newline."""
        self.assertNotIn('add_many(open(', inspect.getdoc(tamis.Build))
        path = os.path.join(self.directory, "list")
        with open(path, "wb") as file:
            file.write(b"a\r\nb\n")
        example = re.search(r"    (with .*:\n +build.add_many.*)", inspect.getdoc(tamis.Build))[1]
        exec(example.replace('"list"', repr(path)), {"store": self.store})
        self.assertEqual(self.store["blacklist"].contains_many(["a", "b", "a\r\n", "b\n", "b\r"]), b"\1\1\0\0\0")

    def test_filter_without_keys_is_true(self):
        """`if filter:` took an empty one for None."""
        seen = self.store.create("seen", 100)
        self.assertTrue(seen)
        seen.close()
        self.assertTrue(seen)


class Stores(StoreTest):
    def test_is_a_mapping_of_names(self):
        self.assertEqual((len(self.store), list(self.store)), (0, []))
        self.assertTrue(self.store)
        for name in ("b", "a", "ab", "ä"):
            self.store.create(name, 100).close()
        self.assertEqual(list(self.store), ["a", "ab", "b", "ä"])
        self.assertEqual(len(self.store), 4)
        self.assertIn("a", self.store)
        self.assertNotIn("", self.store)
        self.assertNotIn("aa", self.store)
        self.assertNotIn(5, self.store)
        self.assertEqual(self.store["ab"].name, "ab")
        self.assertEqual([stat.name for stat in self.store.list("a")], ["a", "ab"])

    def test_list_has_the_items_of_now(self):
        seen = self.store.create("seen", 100)
        seen.update(["a", "b", "c"])
        self.assertEqual([stat.items for stat in self.store.list()], [3])

    def test_rename_and_drop(self):
        seen = self.store.create("seen", 100)
        seen.add("a")
        self.store.rename("seen", "old")
        self.assertEqual(list(self.store), ["old"])
        self.assertTrue(seen.add("b"))
        self.assertIn("b", self.store["old"])
        self.store.drop("old")
        self.assertEqual(list(self.store), [])

    def test_pages_are_said_and_changed(self):
        seen = self.store.create("seen", 100, pages="huge")
        self.assertEqual(seen.stat.pages, "huge")
        self.store.set_pages("seen", "small")
        self.assertEqual([stat.pages for stat in self.store.list()], ["small"])
        self.assertEqual(self.store.create("other", 100).stat.pages, "auto")
        for call in (lambda: self.store.create("x", 100, pages="large"), lambda: self.store.set_pages("seen", "large")):
            with self.assertRaisesRegex(ValueError, "pages is 'auto', 'small' or 'huge', not 'large'"):
                call()
        with self.assertRaises(tamis.NotFoundError):
            self.store.set_pages("none", "huge")

    def test_path_is_kept_when_the_directory_changes(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.directory)
        with tamis.Store("store") as store:
            os.chdir("/")
            self.assertEqual(store.path, self.path)
            store.create("seen", 100)
            self.assertEqual(pickle.loads(pickle.dumps(store)).path, self.path)
        self.assertIn("seen", self.store)

    def test_opening_needs_a_store_unless_it_may_be_made(self):
        with self.assertRaises(tamis.NoStoreError):
            tamis.Store(self.path + "2", create=False)
        self.assertFalse(os.path.exists(self.path + "2"))
        tamis.Store(self.path + "2", mode=0o600).close()
        self.assertEqual(os.stat(self.path + "2/catalog.mdb").st_mode & 0o777, 0o600)

    def test_read_only_store_changes_nothing(self):
        self.store.create("seen", 100).add("a")
        with tamis.Store(self.path, read_only=True) as store:
            self.assertIn("a", store["seen"])
            with self.assertRaises(tamis.ReadOnlyError):
                store["seen"].add("b")
            with self.assertRaises(tamis.ReadOnlyError):
                store.create("other", 100)

    def test_open_or_create_agrees_or_says_what_differs(self):
        first = self.store.open_or_create("seen", 1000, 0.001)
        first.add("a")
        self.assertIn("a", self.store.open_or_create("seen", 1000, 0.001))
        with self.assertRaisesRegex(tamis.MismatchError, "capacity"):
            self.store.open_or_create("seen", 2000, 0.001)
        with self.assertRaises(tamis.ExistsError):
            self.store.create("seen", 1000)

    def test_create_many_makes_all_or_says_which_not(self):
        """Seen to fail for a name that was cut at its null character."""
        names = [f"host {i}" for i in range(300)]
        self.assertEqual(self.store.create_many(iter(names), 100, 0.001), 300)
        self.assertEqual(sorted(self.store), sorted(names))
        self.assertEqual(self.store["host 7"].stat.fp_rate, 0.001)
        self.store["host 7"].add("a")
        self.assertNotIn("a", self.store["host 8"])
        with self.assertRaisesRegex(tamis.ExistsError, "host 7"):
            self.store.create_many(["new", "host 7"], 100, 0.001)
        self.assertNotIn("new", self.store)
        self.assertEqual(self.store.create_many(["new", "host 7"], 100, 0.001, if_missing=True), 1)
        with self.assertRaisesRegex(tamis.MismatchError, "capacity"):
            self.store.create_many(["new"], 200, 0.001, if_missing=True)
        self.assertEqual(self.store.create_many([], 100), 0)
        for names, error in (("abc", TypeError), ([b"a"], TypeError), ([1], TypeError), (["a\0b"], ValueError),
                             (["\ud800"], UnicodeEncodeError), (["twice", "twice"], tamis.InvalidError), ([""], tamis.InvalidError)):
            with self.subTest(names=names), self.assertRaises(error):
                self.store.create_many(names, 100)
        with self.assertRaises(tamis.InvalidError):
            self.store.create_many(["a"])
        with tamis.Store(self.path, read_only=True) as store, self.assertRaises(tamis.ReadOnlyError):
            store.create_many(["a"], 100)
        self.assertEqual(len(self.store), 301)

    def test_open_or_create_takes_whatever_is_there(self):
        def take(capacity, **more):
            return self.store.open_or_create("seen", capacity, whatever_is_there=True, **more)

        take(1000).add("a")
        for filter in take(2000), take(1000, kind="counting"), take(0, m_bits=64, k=2):
            self.assertEqual((filter.stat.capacity, "a" in filter), (1000, True))
        self.store.drop("seen")
        self.assertEqual((take(3000).stat.capacity, "a" in take(1)), (3000, False))
        with tamis.Store(self.path, read_only=True) as store:
            self.assertEqual(store.open_or_create("seen", 7, whatever_is_there=True).stat.capacity, 3000)
            with self.assertRaises(tamis.ReadOnlyError):
                store.open_or_create("none", 7, whatever_is_there=True)

    def test_all_that_create_takes_arrives(self):
        stat = self.store.create("w", 5000, 0.001, kind="bloom", seed=2**64 - 1, slices=5, durable=True,
                                 window=datetime.timedelta(days=30)).stat
        self.assertEqual((stat.kind, stat.seed, stat.slices, stat.durable, stat.fp_rate),
                         ("bloom", 2**64 - 1, 5, True, 0.001))
        self.assertEqual(stat.window_ns, 30 * 86400 * 10**9)
        self.assertEqual(self.store.create("s", 100, window=1.5).stat.window_ns, 1_500_000_000)
        self.assertEqual(self.store.create("i", 100, window_items=1000).stat.window_items, 1000)
        self.assertEqual(self.store.create("r", 100, on_full="refuse").stat.on_full, "refuse")
        self.assertEqual(self.store.create("c", 100, kind="counting", counter_bits=16).stat.counter_bits, 16)
        explicit = self.store.create("m", m_bits=4096, k=3).stat
        self.assertEqual((explicit.m_bits, explicit.k, explicit.on_full), (4096, 3, "warn"))
        self.assertEqual(self.store.create("g", hash_set="redisbloom", m_bits=128, k=2).stat.hash_set, "redisbloom")

    def test_verify_counts_problems(self):
        self.store.create("seen", 100).close()
        self.assertEqual(self.store.verify(), 0)
        self.assertEqual(self.store.verify("seen"), 0)


class Filters(StoreTest):
    def setUp(self):
        super().setUp()
        self.seen = self.store.create("seen", 10_000, 0.0001)

    def test_add_says_whether_the_key_is_new(self):
        self.assertIs(self.seen.add("a"), True)
        self.assertIs(self.seen.add("a"), False)
        self.assertIs("a" in self.seen, True)
        self.assertIs("b" in self.seen, False)
        self.assertEqual((len(self.seen), self.seen.items, self.seen.stat.items), (1, 1, 1))

    def test_contains_name_returns_what_is_in_the_filter(self):
        hosts = self.store.create("hosts", 1000, 1e-9, key_rule="name")
        self.assertEqual(hosts.add_many(["Bad.Example.", "b\u00fccher.example"]), b"\1\1")
        self.assertEqual(hosts.contains_name("x.bad.EXAMPLE"), "bad.EXAMPLE")
        self.assertEqual(hosts.contains_name("b\u00fccher.example"), "b\u00fccher.example")
        for name in (b"x.bad.example", bytearray(b"x.bad.example"), memoryview(b"x.bad.example")):
            found = hosts.contains_name(name)
            self.assertEqual((type(found), found), (bytes, b"bad.example"))
        self.assertIsNone(hosts.contains_name("example"))
        self.assertRaises(TypeError, hosts.contains_name, None)
        self.assertRaises(ValueError, self.store.create, "x", 10, key_rule="na\0me")
        self.assertEqual(hosts.stat.key_rule, "name")

    def test_many_filters_get_the_key_rule(self):
        self.store.create_many(["h1", "h2"], 100, 1e-9, key_rule="name")
        self.assertEqual([self.store[name].add_many(["A.b", "a.b."]) for name in ("h1", "h2")], [b"\1\0"] * 2)
        made = self.store.open_or_create("h3", 100, 1e-9, key_rule="name", whatever_is_there=True)
        self.assertEqual(made.add_many(["A.b", "a.b."]), b"\1\0")

    def test_answers_are_a_byte_for_each_key(self):
        urls = ["a", "b", "a", "c"]
        answers = self.seen.add_many(urls)
        self.assertEqual(answers, b"\1\1\0\1")
        self.assertEqual(list(itertools.compress(urls, answers)), ["a", "b", "c"])
        self.assertEqual(self.seen.contains_many(["a", "d", "c"]), b"\1\0\1")
        self.assertEqual(self.seen.update(["c", "d", "e"]), 2)
        self.assertEqual(self.seen.add_many([]), b"")

    def test_many_keys_in_several_chunks_keep_their_order(self):
        keys = [b"%d" % i for i in range(9000)]
        self.assertEqual(self.seen.add_many(iter(keys[::2])), b"\1" * 4500)
        self.assertEqual(self.seen.contains_many(keys), b"\1\0" * 4500)

    def test_in_place_or_takes_filters_and_iterables(self):
        other = self.store.create("other", 10_000, 0.0001)
        other.update(["x", "y"])
        self.seen |= other
        self.seen |= ["z"]
        self.seen |= self.seen
        self.assertEqual(self.seen.contains_many(["x", "y", "z", "w"]), b"\1\1\1\0")
        with self.assertRaises(tamis.MismatchError):
            self.seen |= self.store.create("third", 99, 0.1)

    def test_merge_makes_unions_and_intersections(self):
        other = self.store.create("other", 10_000, 0.0001)
        other.update(["x", "y"])
        self.seen.update(["y", "z"])
        self.assertEqual(self.store.merge("u", self.seen, other).contains_many("xyz".split() + list("xyz")),
                         b"\0\1\1\1")
        self.assertEqual(self.store.merge("i", self.seen, other, intersect=True).contains_many(list("xyz")), b"\0\1\0")

    def test_counting_removes_and_counts(self):
        counting = self.store.create("counting", 1000, 0.0001, kind="counting")
        counting.update(["a", "a", "b"])
        self.assertEqual((counting.count("a"), counting.count_many(["a", "b", "c"])), (2, [2, 1, 0]))
        self.assertIs(counting.remove("b"), True)
        self.assertIs(counting.remove("b"), False)
        self.assertEqual(counting.remove_many(["a", "a", "a"]), b"\1\1\0")
        with self.assertRaises(tamis.UnsupportedError):
            self.seen.remove("a")

    def test_pickle_opens_the_same_filter(self):
        self.seen.add("a")
        for again in (pickle.loads(pickle.dumps(self.seen)), copy.copy(self.seen)):
            self.assertIn("a", again)
            again.add("b")
        self.assertIn("b", self.seen)
        reader = self.store.open("seen", read_only=True)
        with self.assertRaises(tamis.ReadOnlyError):
            pickle.loads(pickle.dumps(reader)).add("c")

    def test_closes_at_the_end_of_with(self):
        with self.store["seen"] as seen:
            seen.add("a")
        self.assertTrue(seen.closed)
        seen.close()
        self.assertIn("closed", repr(seen))

    def test_goes_on_when_its_store_is_closed(self):
        self.store.close()
        self.assertTrue(self.seen.add("a"))
        self.assertIn("a", self.seen)

    def test_sync_rotate_and_accept(self):
        self.seen.add("a")
        self.seen.sync()
        self.assertGreater(self.seen.stat.checkpointed_at, 0)
        self.seen.accept()
        window = self.store.create("w", 1000, window=100, slices=1)
        window.add("a")
        window.rotate()
        window.rotate()
        window.rotate()
        self.assertNotIn("a", window)

    def test_cannot_be_listed(self):
        with self.assertRaises(TypeError):
            list(self.seen)

    def test_answers_as_the_command_and_the_library_do(self):
        self.assertEqual(self.seen.stat.hash_set, "xxh3")
        self.seen.add("ä")
        self.assertIn("ä".encode(), self.seen)  # str is its UTF-8


class Builds(StoreTest):
    def test_build_replaces_the_filter_at_the_end_of_with(self):
        with self.store.build("list", fp_rate=0.001, keep=2) as build:
            build.add_many(["a", "b", "a"])
        self.assertEqual((build.result.keys, build.result.distinct, build.result.published), (3, 2, True))
        reader = self.store["list"]
        self.assertEqual(reader.stat.kind, "fuse")
        with self.store.build("list", fp_rate=0.001) as build:
            build.add_many(["b", "c"])
            build.except_many(["c"])
        self.assertEqual(reader.contains_many(["b", "c"]), b"\1\0")
        self.assertEqual([g.in_force for g in self.store.generations("list")], [False, True])
        self.store.rollback("list")
        self.assertEqual(reader.contains_many(["a", "b"]), b"\1\1")

    def test_exception_in_with_publishes_nothing(self):
        with self.assertRaises(ZeroDivisionError):
            with self.store.build("list", fp_rate=0.001) as build:
                build.add_many(["a"])
                1 / 0
        self.assertNotIn("list", self.store)
        self.assertTrue(build.closed)

    def test_if_changed_publishes_nothing_for_the_same_keys(self):
        for published in (True, False):
            with self.store.build("list", fp_rate=0.001, if_changed=True) as build:
                build.add_many(["a", "b"])
            self.assertIs(build.result.published, published)

    def test_against_makes_exceptions(self):
        good = [f"good{i}" for i in range(20_000)]
        with self.store.build("list", fp_rate=0.01) as build:
            build.add_many([f"bad{i}" for i in range(2000)])
            build.against(good)
        self.assertGreater(build.result.found, 0)
        self.assertEqual(sum(self.store["list"].contains_many(good)), 0)

    def test_ctrl_c_ends_a_build(self):
        """Seen to fail without check_signals() of build.c: the build was published, then the handler ran."""
        previous = signal.signal(signal.SIGALRM, mock.Mock(side_effect=KeyboardInterrupt))
        self.addCleanup(signal.signal, signal.SIGALRM, previous)
        build = self.store.build("list", fp_rate=0.001)
        build.add_many([b"%d" % i for i in range(300_000)])
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        with self.assertRaises(KeyboardInterrupt):
            build.publish()
        for call, *arguments in ((build.publish,), (build.add_many, ["a"]), (build.against, ["a"])):
            # It told that another process has held a lock.
            with self.assertRaisesRegex(tamis.ClosedError, "was ended by a signal, such as Ctrl-C, and published nothing"):
                call(*arguments)
        self.assertTrue(build.closed)
        build.close()
        self.assertNotIn("list", self.store)

    def test_store_may_be_closed_before_the_build(self):
        build = self.store.build("list", fp_rate=0.001)
        self.store.close()
        build.add_many(["a"])
        self.assertTrue(build.publish().published)
        with tamis.Store(self.path) as store:
            self.assertIn("a", store["list"])


class Surface(unittest.TestCase):
    def test_all_names_are_there_and_have_words(self):
        for name in tamis.__all__:
            self.assertTrue(inspect.getdoc(getattr(tamis, name)), name)
        for kind in (tamis.Filter, tamis.Store, tamis.Build):
            for name, member in inspect.getmembers(kind):
                if not name.startswith("_") and callable(member):
                    self.assertTrue(inspect.getdoc(member), f"{kind.__name__}.{name}")

    def test_each_code_of_the_library_has_an_exception(self):
        header = os.path.join(os.path.dirname(__file__), "../../store/include/tamis_errors.h")
        with open(header, encoding="ascii") as file:
            rows = [line.split("(")[1].split(",")[:2] for line in file if line.startswith("    X(TAMIS_")]
        from tamis._errors import BY_CODE
        self.assertEqual({int(number): name for name, number in rows},
                         {code: error.name for code, error in BY_CODE.items()})
        for error in BY_CODE.values():
            self.assertIs(getattr(tamis, error.__name__), error)
