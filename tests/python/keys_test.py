# SPDX-License-Identifier: BSD-2-Clause
"""Keys of all sorts are the same keys: str, bytes, buffers, arrays of numpy, Arrow."""

import array
import ctypes
import itertools
import os
import sys
import struct
import threading
import tracemalloc
import unittest

from support import StoreTest, pypi

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pyarrow
except ImportError:
    pyarrow = None


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class Array(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
WHY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Arrow:
    """An Arrow array, made by hand from its buffers, as the format's document lays them out."""

    def __init__(self, form, length, *buffers, offset=0, nulls=0, dictionary=0):
        self.held = [None if buffer is None else ctypes.create_string_buffer(bytes(buffer), len(bytes(buffer)) or 1)
                     for buffer in buffers]
        self.places = (ctypes.c_void_p * len(buffers))(
            *(None if buffer is None else ctypes.addressof(buffer) for buffer in self.held))
        self.schema = Schema(format=form.encode(), dictionary=dictionary)
        self.array = Array(length=length, null_count=nulls, offset=offset, n_buffers=len(buffers), buffers=self.places)

    def __arrow_c_array__(self, requested_schema=None):
        return (new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
                new_capsule(ctypes.addressof(self.array), b"arrow_array", None))


class ArrowStream:
    """Several such arrays; it counts those that were given back."""

    def __init__(self, arrays, fails=False):
        self.released = 0
        self.release = RELEASE(self.give_back)
        self.arrays = list(arrays)
        self.schema = self.arrays[0].schema
        self.fails = fails
        why = self.why = ctypes.create_string_buffer(b"the disk is gone")
        self.functions = (GET(self.get_schema), GET(self.get_next), WHY(lambda stream: ctypes.addressof(why)))
        self.stream = (ctypes.c_void_p * 5)(*(ctypes.cast(f, ctypes.c_void_p) for f in self.functions), None, None)

    def give_back(self, place):
        self.released += 1
        Array.from_address(place).release = None

    def get_schema(self, stream, into):
        ctypes.memmove(into, ctypes.addressof(self.schema), ctypes.sizeof(Schema))
        return 0

    def get_next(self, stream, into):
        if not self.arrays:
            Array.from_address(into).release = None
            return 5 if self.fails else 0
        made = self.arrays.pop(0)
        self.schema = made.schema
        made.array.release = ctypes.cast(self.release, ctypes.c_void_p)
        ctypes.memmove(into, ctypes.addressof(made.array), ctypes.sizeof(Array))
        self.functions += (made,)
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        return new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def offsets(code, *places):
    return array.array(code, places).tobytes()


class Column:
    """What a Series of pandas 2 is to others."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


class Keys(StoreTest):
    def setUp(self):
        super().setUp()
        self.seen = self.store.create("seen", 100_000, 1e-6)

    def takes(self, keys, *expected):
        """These keys, and no others in number."""
        fresh = self.store.create("fresh", 100_000, 1e-6)
        self.assertEqual(fresh.add_many(keys), b"\1" * len(expected))
        self.assertEqual(fresh.contains_many(list(expected)), b"\1" * len(expected))
        self.assertEqual(fresh.contains_many(keys), b"\1" * len(expected))
        fresh.close()
        self.store.drop("fresh")

    def test_one_key_is_the_same_in_every_dress(self):
        self.assertTrue(self.seen.add("key ä"))
        raw = "key ä".encode()
        spaced = memoryview(bytes(itertools.chain.from_iterable(zip(raw, b"-" * len(raw)))))  # the mutant python_gaps_are_keys
        for key in (raw, bytearray(raw), memoryview(raw), array.array("b", raw), memoryview(b"-" + raw)[1:], spaced[::2]):
            self.assertIn(key, self.seen)
            self.assertEqual(self.seen.contains_many([key]), b"\1")
        self.assertTrue(self.seen.add(""))
        self.assertIn(b"", self.seen)
        self.assertTrue(self.seen.add(b"a\0b"))
        self.assertNotIn(b"a", self.seen)

    def test_subclasses_of_str_and_bytes_are_keys(self):
        kinds = type("Text", (str,), {})("a"), type("Raw", (bytes,), {})(b"b")
        self.takes(list(kinds), "a", "b")

    def test_iterables_of_all_sorts(self):
        for keys in (["a", b"b"], ("a", "b"), iter(["a", "b"]), {"a": 1, "b": 2}, {"a", "b"}, (k for k in "ab"),
                     map(str.lower, "AB")):
            fresh = self.store.create("x", 100, 1e-6)
            self.assertEqual(fresh.update(keys), 2)
            self.assertEqual(fresh.contains_many(["a", "b"]), b"\1\1")
            self.store.drop("x")

    def test_lists_that_change_meanwhile_do_no_harm(self):
        keys = [b"%d" % i for i in range(50_000)]
        stop = threading.Event()

        def change():
            while not stop.is_set() and len(keys) > 100:
                keys.pop()
                keys.append(b"new")
                del keys[-3:]

        thread = threading.Thread(target=change)
        thread.start()
        while len(keys) > 20_000 and thread.is_alive():
            self.seen.add_many(keys)
        stop.set()
        thread.join()

    def test_iterator_may_look_at_its_own_list(self):
        keys = ["a", "b"]

        def grow():
            for key in keys:
                if len(keys) < 10_000:
                    keys.append(key + "x")
                yield key

        self.assertEqual(len(self.seen.add_many(grow())), 10_000)

    def test_buffers_of_items(self):
        self.takes(array.array("q", [1, 2]), b"\1" + bytes(7), b"\2" + bytes(7))
        rows = memoryview(b"abcdef").cast("B", (3, 2))
        self.takes(rows, "ab", "cd", "ef")
        self.takes((ctypes.c_uint16 * 2)(1, 256), b"\1\0", b"\0\1")
        self.assertEqual(self.seen.add_many(array.array("i")), b"")

    def test_buffers_that_are_no_keys_are_refused(self):
        for keys in (bytearray(b"abc"), memoryview(b"abc"), array.array("B", b"abc"), memoryview(b"a").cast("B", ())):
            with self.assertRaises(TypeError):
                self.seen.add_many(keys)

    def test_buffer_is_given_back(self):
        keys = array.array("q", [1, 2])
        self.seen.add_many(keys)
        keys.append(3)  # BufferError while somebody holds it
        one = bytearray(b"key")
        self.seen.add(one)
        self.seen.add_many([one])
        one.extend(b"s")

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy(self):
        self.takes(numpy.array([b"a", b"long"], dtype="S8"), "a", "long")
        self.takes(numpy.array(["a", "ä"]), "a", "ä")
        self.takes(numpy.array(["a", b"b"], dtype=object), "a", "b")
        self.takes(numpy.array([1, 2], dtype="<u4"), b"\1\0\0\0", b"\2\0\0\0")
        self.takes(numpy.array([[1, 2], [3, 4]], dtype="u1"), b"\1\2", b"\3\4")
        many = numpy.arange(20_000)
        self.assertEqual(numpy.frombuffer(self.seen.add_many(many), dtype=bool).sum(), 20_000)
        self.assertEqual(self.seen.add_many(many[::2]), bytes(10_000), "with gaps between its items, which was refused")
        self.takes(numpy.array([[1, 2], [3, 4]], dtype="u2")[:, 1], b"\2\0", b"\4\0")
        self.takes(numpy.array([[1, 2], [3, 4]], dtype="u1", order="F"), b"\1\2", b"\3\4")
        self.takes(numpy.array([5, 6, 7], dtype="i8")[::-1], *(struct.pack("<q", n) for n in (7, 6, 5)))
        rows = numpy.array([[1, 2], [3, 4], [5, 6]], dtype="u1")
        self.takes(rows[::2], b"\1\2", b"\5\6")
        self.takes(rows[::-1], b"\5\6", b"\3\4", b"\1\2")
        self.takes(rows.T, b"\1\3\5", b"\2\4\6")
        self.takes(rows[:, ::-1], b"\2\1", b"\4\3", b"\6\5")
        self.takes(rows[:0:2])
        self.takes(numpy.array([b"a", b"x", b"long"], dtype="S8")[::2], "a", "long")
        self.assertEqual(self.seen.add_many(numpy.broadcast_to(numpy.array([b"one"]), 3)), b"\1\0\0")
        for times in (numpy.array(["2026-01-01"], dtype="M8[s]"), numpy.array([5], dtype="m8[s]")):
            with self.assertRaisesRegex(TypeError, r'view\("int64"\)'):
                self.seen.add_many(times)
            self.takes(times.view("int64"), times.view("int64").tobytes())
        for one in (numpy.array(["a"], dtype=object), numpy.array(["a"])):  # a key of addresses, and one of UCS-4
            with self.assertRaisesRegex(TypeError, "add_many"):
                self.seen.add(one)
        with self.assertRaisesRegex(TypeError, "NoneType"):
            self.seen.add_many(numpy.array(["new"] * 9000 + [None], dtype=object))
        self.assertNotIn("new", self.seen)
        self.takes(Column(numpy.array([1, 2], dtype="<i8")), b"\1" + bytes(7), b"\2" + bytes(7))
        self.takes(Column(numpy.array(["a", "b"], dtype=object)), "a", "b")

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_gaps_of_an_array_are_stepped_over(self):
        """Such an array was copied item by item, 140 ns each, in which no Ctrl-C was heard."""
        wide = numpy.zeros((200_000, 8), dtype="u8")
        self.seen.contains_many(wide[:10, 0])
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        for part in (wide[:, 3], wide[::2, 0], wide[::-1], wide[:, 2:5]):
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            self.seen.update(part)
            self.assertLess(tracemalloc.get_traced_memory()[1] - before, 400_000)  # the answers are 200,000

    def test_arrow_strings_and_binaries(self):
        self.takes(Arrow("u", 2, None, offsets("i", 0, 1, 3), b"abc"), "a", "bc")
        self.takes(Arrow("z", 2, None, offsets("i", 0, 1, 3, 4), b"abcd", offset=1), "bc", "d")
        self.takes(Arrow("U", 2, None, offsets("q", 0, 2, 2), "ä".encode()), "ä", "")
        self.takes(Arrow("w:2", 2, None, b"abcdef", offset=1), "cd", "ef")
        view = (offsets("i", 3) + b"abc" + bytes(9)) + (offsets("i", 14) + b"long" + offsets("i", 1, 2))
        self.takes(Arrow("vu", 2, None, view, b"-", b"--long key of 14"[:16]), "abc", "long key of 14")
        self.assertEqual(self.seen.add_many(Arrow("u", 0, None, None, None)), b"")

    def test_arrow_nulls_are_refused(self):
        array_ = Arrow("u", 2, b"\2", offsets("i", 0, 1, 2), b"ab", nulls=1)
        with self.assertRaisesRegex(ValueError, "null"):
            self.seen.add_many(array_)
        # offset: bit 1 of the bitmap is the first value
        self.takes(Arrow("u", 1, b"\2", offsets("i", 0, 1, 2), b"ab", nulls=-1, offset=1), "b")

    def test_arrow_of_other_types_is_refused(self):
        for form in ("b", "n", "d:5,2", "+s", "w:0", "w:x", "tss:", "", "+l"):
            with self.assertRaises(TypeError, msg=form):
                self.seen.add_many(Arrow(form, 1, None, bytes(16)))
        for form, remedy in (("tss:", "int64"), ("tdD", "int64"), ("+s", "one column"), ("+l", "flatten"), ("b", "strings")):
            with self.assertRaisesRegex(TypeError, remedy):
                self.seen.add_many(Arrow(form, 1, None, bytes(16)))

    def test_arrow_methods_that_lie_are_errors(self):
        for answer in (None, (1, 2), (), [1, 2]):
            liar = type("Liar", (), {"__arrow_c_array__": lambda self, answer=answer: answer})()
            with self.assertRaises((TypeError, ValueError), msg=answer):
                self.seen.add_many(liar)

    def test_arrow_streams(self):
        def parts():
            yield Arrow("u", 2, None, offsets("i", 0, 1, 2), b"ab")
            yield Arrow("u", 0, None, offsets("i", 0), b"")
            yield Arrow("u", 1, None, offsets("i", 0, 1), b"c")

        stream = ArrowStream(parts())
        self.assertEqual(self.seen.add_many(stream), b"\1\1\1")
        self.assertEqual(stream.released, 3)
        self.assertEqual(self.seen.contains_many(["a", "b", "c"]), b"\1\1\1")
        with self.assertRaisesRegex(ValueError, "the disk is gone"):
            self.seen.add_many(ArrowStream(parts(), fails=True))

    def test_arrow_numbers_are_their_bytes(self):
        """As those of an array of numpy.  A Series of integers was refused."""
        self.takes(Arrow("l", 2, None, struct.pack("<3q", 7, 1, -1), offset=1), struct.pack("<q", 1), struct.pack("<q", -1))
        self.takes(Arrow("C", 2, None, b"\1\2"), b"\1", b"\2")
        self.takes(Arrow("g", 1, None, struct.pack("<d", 0.5)), struct.pack("<d", 0.5))

    @unittest.skipUnless(pyarrow, "pyarrow is not installed")
    def test_pyarrow_dictionaries_are_their_values(self):
        """Categoricals of pandas are these too.  They were refused."""
        for index in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            places = pyarrow.array([1, 0], type=index)
            with self.subTest(index):
                texts = pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(["x", "a", "long enough for a view"])[:2])
                self.takes(texts, "a", "x")
                self.takes(texts[1:], "x")
        self.takes(pyarrow.chunked_array([texts[:1], texts[1:]]), "a", "x")
        self.takes(pyarrow.DictionaryArray.from_arrays(places, pyarrow.array([5, 6])), *(struct.pack("<q", n) for n in (6, 5)))
        for keys in (pyarrow.array(["a", None]).dictionary_encode(),
                     pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(["new", None]))):
            with self.assertRaisesRegex(ValueError, "value [01] .* null"):
                self.seen.add_many(keys)
        self.assertNotIn("new", self.seen)

    @unittest.skipUnless(pyarrow, "pyarrow is not installed")
    def test_pyarrow(self):
        texts = pyarrow.array(["a", "ä", ""])
        self.takes(texts, "a", "ä", "")
        self.takes(texts[1:], "ä", "")
        self.takes(texts.cast(pyarrow.large_string()), "a", "ä", "")
        self.takes(pyarrow.chunked_array([["a"], [], ["b", "c"]]), "a", "b", "c")
        self.takes(pyarrow.array([b"ab", b"cd"], type=pyarrow.binary(2)), "ab", "cd")
        with self.assertRaises(ValueError):
            self.seen.add_many(pyarrow.array(["a", None]))


if __name__ == "__main__":
    if pyarrow is None and "TAMIS_PYPI" in os.environ:  # again, in an environment that has it, and numpy
        python = pypi("numpy", "pyarrow")
        if python is not None:
            os.execv(python, [python, "-B", "-X", "dev", *sys.argv])
    if "CI" in os.environ and numpy is None:
        sys.exit("numpy is missing; tests/run.sh installs python3-numpy")
    unittest.main()
