# SPDX-License-Identifier: BSD-2-Clause
"""Threads use, and close, the same store, filters and builds at the same moment, with keys from one list that they change.

With a free-threaded interpreter this is the test of what tools/python/src/module.h says of it:
`PYTHON_GIL=0 PYTHONPATH=... python3.14t tests/python/threads_test.py`.  TAMIS_TEST_LONG=1 takes a minute for each test.
It has not been seen to fail by a defect.
"""

import contextlib
import os
import random
import sys
import threading
import time
import unittest

import tamis
from support import StoreTest

SECONDS = 60 if os.environ.get("TAMIS_TEST_LONG") == "1" else 1
EXPECTED = (tamis.ClosedError, tamis.BatchError)


class Threads(StoreTest):
    def race(self, *calls):
        """Runs each call in two threads until one of them says that the object is closed; then all end."""
        failures, barrier = [], threading.Barrier(2 * len(calls))

        def run(call, seed):
            chance = random.Random(seed)
            barrier.wait()
            try:
                with contextlib.suppress(*EXPECTED):
                    while not failures:
                        call(chance)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run, args=(call, number)) for number, call in enumerate(calls * 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def rounds(self):
        end, number = time.monotonic() + SECONDS, 0
        while number < 3 or time.monotonic() < end:
            yield number
            number += 1

    @staticmethod
    def change(keys):
        def call(chance):
            what = chance.randrange(4)
            if what == 0:
                keys[:] = [f"key é {chance.random()}" for _ in range(chance.randrange(10_000))]
            elif what == 1:
                keys.extend(bytearray(b"%d" % chance.randrange(1000)) for _ in range(1000))
            elif keys and what == 2:
                del keys[chance.randrange(len(keys) or 1):]
            else:
                keys.append(b"%d" % chance.randrange(1000))
            if keys_closed.is_set():
                raise tamis.ClosedError("the round is over")

        keys_closed = threading.Event()
        return call, keys_closed

    def test_filter_is_used_and_closed_and_its_list_changes(self):
        for number in self.rounds():
            seen = self.store.open_or_create("counting", 100_000, kind="counting") if number % 2 else \
                self.store.open_or_create("bloom", 100_000)
            other = self.store.open_or_create("other", 100_000)
            keys = []
            change, over = self.change(keys)
            uses = [lambda chance: seen.add(f"{chance.random()} é"), lambda _: seen.add_many(keys), lambda _: "a" in seen,
                    lambda _: seen.contains_many(keys), lambda _: seen.update(keys), lambda _: len(seen), lambda _: seen.stat]
            if number % 2:
                uses += [lambda _: seen.count("a"), lambda _: seen.remove_many(keys), lambda _: seen.count_many(keys)]
            else:
                uses += [lambda _: seen.merge(other)]

            def close(chance):
                time.sleep(chance.random() / 20)
                seen.close()
                self.assertTrue(seen.closed)
                over.set()
                raise tamis.ClosedError("by this thread")

            self.race(change, *uses, close)
            other.close()

    def test_build_and_store_are_used_and_closed(self):
        for number in self.rounds():
            store = tamis.Store(self.path)
            build = store.build(f"list{number % 5}", fp_rate=0.01)
            keys = [str(key) for key in range(5000)]

            def use(call):
                def called(_):
                    try:
                        call()
                    except RuntimeError as error:
                        if isinstance(error, tamis.Error) or "another thread uses the build" not in str(error):
                            raise
                return called

            def close(chance):
                time.sleep(chance.random() / 20)
                (store if chance.randrange(2) else build).close()
                store.close()
                build.close()
                raise tamis.ClosedError("by this thread")

            self.race(use(lambda: build.add_many(keys)), use(lambda: list(store)), use(lambda: store.verify()),
                      use(lambda: (build.closed, build.except_many(keys[:10]))), close)


if __name__ == "__main__":
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print("with the GIL" if gil else "without the GIL", file=sys.stderr)
    unittest.main()
