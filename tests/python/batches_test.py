# SPDX-License-Identifier: BSD-2-Clause
"""What ends a call for many keys: nobody is told again that a key was new, so the exception has the answers.

Before, only exceptions of the library had them: a None in the middle of a list marked up to 12,288 keys as seen and told nobody.
Each test here was seen to fail with the extension of that time.
"""

import dataclasses
import signal
import threading
import unittest

import tamis
from support import StoreTest

MANY = 10_000  # three chunks
CHUNK = 4096


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    """Takes no attributes."""

    why: str


class Property(Exception):
    """Has answers of its own, for good."""

    answers = property(lambda self: "mine")


class Exit(BaseException):
    answers = property(lambda self: "mine")


def broken(error, at=MANY):
    for i in range(at):
        yield f"key {i}"
    raise error


class Ends(StoreTest):
    def setUp(self):
        super().setUp()
        self.seen = self.store.create("seen", 100_000, 1e-6)
        self.counting = self.store.create("counting", 100_000, 1e-6, kind="counting")

    def raises(self, error, call, keys):
        with self.assertRaises(error) as caught:
            call(keys)
        return caught.exception

    def test_list_with_a_wrong_key_changes_nothing(self):
        """Whatever holds its keys is looked through before the first one is added."""
        good = [f"key {i}" for i in range(MANY)]
        for error, bad in ((TypeError, None), (TypeError, 5), (UnicodeEncodeError, "\ud800"), (TypeError, object())):
            for at in (0, 5000, MANY):
                keys = good[:at] + [bad] + good[at:]
                for shape in (list, tuple, type("List", (list,), {}), dict.fromkeys, lambda keys: dict.fromkeys(keys).keys(),
                              lambda keys: dict(enumerate(keys)).values()):
                    for call in (self.seen.add_many, self.seen.update, self.counting.add_many, self.seen.contains_many):
                        caught = self.raises(error, call, shape(keys))
                        self.assertEqual(caught.answers, b"")
                        self.assertIn(f"key {at} of the call, counted from 0", caught.__notes__)
        self.assertEqual(self.raises(TypeError, self.seen.add_many, set(good) | {None}).answers, b"")
        self.assertEqual((len(self.seen), len(self.counting)), (0, 0))

    def test_iterable_that_raises_leaves_the_answers(self):
        for error in (LookupError("mine"), KeyboardInterrupt(), SystemExit(3), StopAsyncIteration(), Frozen("mine"),
                      tamis.ClosedError("of another filter")):
            seen = self.store.create("x", 100_000, 1e-6)
            seen.update(f"key {i}" for i in range(0, MANY, 2))
            for call in (seen.add_many, seen.contains_many):
                caught = self.raises(type(error), call, broken(error))
                answers, error.__dict__["answers"] = caught.answers, None
                self.assertIs(caught, error)
                self.assertEqual(len(answers), 2 * CHUNK)
                self.assertEqual(answers, bytes([0, 1] if call == seen.add_many else [1, 1]) * CHUNK)
            self.assertEqual(len(seen), MANY // 2 + CHUNK, "each key that was added has an answer")
            self.store.drop("x")

    def test_wrong_key_of_a_generator_leaves_the_answers(self):
        for number, (error, bad) in enumerate(((TypeError, None), (UnicodeEncodeError, "a\udfff"))):
            keys = (bad if i == MANY - 5 else f"{number} {i}" for i in range(MANY))
            caught = self.raises(error, self.seen.add_many, keys)
            self.assertEqual(caught.answers, b"\1" * 2 * CHUNK)
            self.assertIn(f"key {MANY - 5} of the call, counted from 0", caught.__notes__)
            self.assertEqual(len(self.seen), 2 * CHUNK * (number + 1))

    def test_every_call_for_many_keys(self):
        self.counting.update(f"key {i}" for i in range(MANY))
        for call in (self.counting.remove_many, self.counting.update, self.counting.add_many, self.counting.contains_many):
            self.assertEqual(self.raises(LookupError, call, broken(LookupError())).answers, b"\1" * 2 * CHUNK
                             if call != self.counting.add_many else bytes(2 * CHUNK))
        self.assertEqual(self.raises(LookupError, self.counting.count_many, broken(LookupError())).answers, [2] * 2 * CHUNK)
        shards = self.raises(LookupError, lambda keys: tamis.shard_many(keys, 7), broken(LookupError())).answers
        self.assertEqual(memoryview(shards).cast("I").tolist(), [tamis.shard(f"key {i}", 7) for i in range(2 * CHUNK)])
        with self.store.build("list") as build:
            for call in (build.add_many, build.against, build.except_many):
                self.assertEqual(self.raises(TypeError, call, ["a", None]).answers, b"")
                self.assertEqual(self.raises(LookupError, call, broken(LookupError())).answers, b"\1" * 2 * CHUNK)
        self.assertEqual(build.result.keys, 2 * CHUNK)
        for call in (self.seen.add_many, self.counting.count_many, lambda keys: tamis.shard_many(keys, 7)):
            self.assertEqual(len(self.raises(TypeError, call, None).answers), 0)

    def test_answers_of_a_call_within_a_call_stay(self):
        """The inner call's are of other keys; the outer call raises another exception of that class."""
        def inner():
            yield from (f"outer {i}" for i in range(CHUNK))
            self.seen.add_many(broken(error, at=2 * CHUNK + 5))

        for error in (LookupError("mine"), KeyboardInterrupt()):
            caught = self.raises(type(error), self.seen.add_many, inner())
            self.assertEqual(len(caught.answers), CHUNK)
            self.assertEqual(len(caught.__cause__.answers), 2 * CHUNK)
            self.assertIs(caught.__cause__, error)

    def test_exception_that_cannot_carry_answers(self):
        caught = self.raises(tamis.BatchError, self.seen.add_many, broken(Property("its sentence")))
        self.assertEqual(caught.answers, b"\1" * 2 * CHUNK)
        self.assertIsInstance(caught.__cause__, Property)
        self.assertIn("Property: its sentence", str(caught))
        self.assertEqual(self.raises(Exit, self.seen.add_many, broken(Exit())).answers, "mine")  # it ends the program

    def test_signal_leaves_the_answers(self):
        def interrupt(*_):
            raise InterruptedError("the handler's")

        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, interrupt))
        keys = [f"key {i}" for i in range(3 * MANY)]

        def stream():
            for i, key in enumerate(keys):
                if i == CHUNK + 1:
                    signal.raise_signal(signal.SIGUSR1)
                yield key

        caught = self.raises(InterruptedError, self.seen.add_many, stream())
        self.assertEqual(caught.answers, b"\1" * len(self.seen))
        self.assertEqual(len(self.seen), CHUNK)

    def test_signal_beside_a_list_is_heard_between_two_chunks(self):
        """No Python runs in these calls, which may take minutes.  shard_many() heard a signal when it was through."""
        def interrupt(*_):
            raise InterruptedError

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        keys = [f"key {i}" for i in range(20 * MANY)]
        build = self.store.build("list")
        for call in (self.seen.add_many, self.seen.update, self.seen.contains_many, self.counting.count_many, build.add_many,
                     lambda keys: tamis.shard_many(keys, 7)):
            for attempt in range(100):  # it may come before the first chunk or after the call
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.002 * (1 + attempt))
                    while True:
                        call(keys)
                except InterruptedError as error:
                    answers = getattr(error, "answers", None)
                    if answers is not None and 0 < len(answers) < 4 * len(keys):
                        break
                except tamis.ClosedError:  # the build heard of it elsewhere
                    build = self.store.build("list")
                    break
            else:
                self.fail(call)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def test_close_beside_a_call_leaves_the_answers(self):
        def closing():
            for i in range(MANY):
                if i == 2 * CHUNK + 1:
                    self.seen.close()
                yield f"key {i}"

        caught = self.raises(tamis.ClosedError, self.seen.add_many, closing())
        self.assertEqual(caught.answers, b"\1" * 2 * CHUNK)
        self.assertEqual(len(self.store["seen"]), 2 * CHUNK)

    def test_update_of_a_long_stream_keeps_its_memory(self):
        """Its answers are for an exception alone, so they end at 2^24 keys."""
        def keys():
            for _ in range(4100):
                yield from block
            raise LookupError

        block = [b"x"] * CHUNK
        self.assertIsNone(self.raises(LookupError, self.seen.update, keys()).answers)

    def test_filter_used_from_within_its_own_iterable(self):
        def keys():
            for i in range(MANY):
                if self.seen.add(f"key {i}"):
                    self.seen.update([f"other {i}"])
                yield f"key {i}"

        self.assertEqual(self.seen.add_many(keys()), bytes(MANY))
        self.assertEqual(len(self.seen), 2 * MANY)
        self.assertIsNone(self.seen.close())
        self.assertEqual(self.raises(tamis.ClosedError, self.seen.add_many, ["a"]).answers, None)


if __name__ == "__main__":
    unittest.main()
