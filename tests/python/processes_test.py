# SPDX-License-Identifier: BSD-2-Clause
"""Processes and threads on one filter: NEW at most once, fork(), pickles, and threads that go on meanwhile."""

import array
import concurrent.futures
import fcntl
import multiprocessing
import os
import random
import sys
import threading
import time

import tamis
from support import StoreTest

PROCESSES, KEYS = 16, 20_000
fork = multiprocessing.get_context("fork")
spawn = multiprocessing.get_context("spawn")


def keys_in_some_order(seed):
    keys = [b"https://example.com/%d" % i for i in range(KEYS)]
    random.Random(seed).shuffle(keys)
    return keys


def add_all(path, number, barrier, told, in_batches):
    """Adds all keys; tells which of them were new."""
    seen = tamis.Store(path)["seen"]
    keys = keys_in_some_order(number)
    barrier.wait()
    answers = seen.add_many(keys) if in_batches else bytes(seen.add(key) for key in keys)
    told.put([key for key, answer in zip(keys, answers) if answer])


def add_one(seen, key, told):
    told.put(seen.add(key))


class Processes(StoreTest):
    def race(self, in_batches):
        # Room for all: where a filter grows under adders, a key that was won in vain may be counted in both segments.
        self.store.create("seen", 4 * KEYS, 1e-9).close()
        barrier, told = fork.Barrier(PROCESSES), fork.Queue()
        processes = [fork.Process(target=add_all, args=(self.path, number, barrier, told, in_batches))
                     for number in range(PROCESSES)]
        for process in processes:
            process.start()
        new = [key for _ in processes for key in told.get(timeout=120)]
        for process in processes:
            process.join()
            self.assertEqual(process.exitcode, 0)
        self.assertEqual((len(new), len(set(new))), (KEYS, KEYS))
        self.assertEqual(len(self.store["seen"]), KEYS)

    # Seen to fail (BusyError after ten seconds) without the callback of the store.
    def test_thread_that_waits_to_grow_lets_others_run(self):
        seen = self.store.create("seen", 1000, 0.01)
        failed = []

        def fill():
            try:
                for i in range(5000):
                    seen.add("key %d" % i)
            except tamis.Error as error:
                failed.append(error)

        lock = os.open(os.path.join(self.path, "catalog.lock"), os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=fill)
        thread.start()
        # This thread goes on while the other one waits for what only this one can give back.
        time.sleep(0.1)
        os.close(lock)
        thread.join()
        self.assertEqual(failed, [])
        self.assertGreater(len(seen), 4900)

    def test_race_of_single_adds_tells_new_once(self):
        self.race(in_batches=False)

    def test_race_of_batches_tells_new_once(self):
        self.race(in_batches=True)

    def test_filter_goes_to_a_process_that_starts_afresh(self):
        seen, told = self.store.create("seen", 1000), spawn.Queue()
        process = spawn.Process(target=add_one, args=(seen, "a", told))
        process.start()
        self.assertIs(told.get(timeout=60), True)
        process.join()
        self.assertIn("a", seen)

    def test_handle_survives_fork(self):
        seen = self.store.create("seen", 100_000, 1e-9)
        seen.add("before")
        keys = [b"%d" % i for i in range(10_000)]
        child = os.fork()
        if child == 0:
            good = "before" in seen and sum(seen.add_many(keys)) >= 0
            seen.close()
            self.store.close()
            os._exit(0 if good else 1)
        seen.add_many(keys)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual((len(seen), sum(seen.contains_many(keys))), (10_001, 10_000))

    def test_fork_while_another_thread_adds(self):
        seen = self.store.create("seen", 1_000_000)
        keys, stop = array.array("q", range(50_000)), threading.Event()

        def add():
            while not stop.is_set():
                seen.add_many(keys)

        thread = threading.Thread(target=add)
        thread.start()
        for number in range(20):
            child = os.fork()
            if child == 0:
                seen.add(b"child %d" % number)
                os._exit(0 if b"child %d" % number in seen else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertIn(b"child %d" % number, seen)
        stop.set()
        thread.join()


class Threads(StoreTest):
    def test_threads_tell_new_once(self):
        seen = self.store.create("seen", 100_000, 1e-9)
        keys = [b"%d" % i for i in range(50_000)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            told = list(pool.map(seen.add_many, [keys] * 4))
        self.assertEqual({sum(answers) for answers in zip(*told)}, {1})

    def longest_pause(self, call):
        """Of this thread while another one makes the call, as a share of the call's time.  No thread is asked to give the
        GIL up: each gets it only when another one lets go of it."""
        begun, over, times, ticks = threading.Event(), threading.Event(), [], []

        def run():
            begun.set()
            times.append(time.perf_counter())
            call()
            times.append(time.perf_counter())
            over.set()

        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(60)
        thread = threading.Thread(target=run)
        thread.start()
        begun.wait()
        while not over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0)
        thread.join()
        begin, end = times
        ticks = [begin] + [tick for tick in ticks if begin < tick < end] + [end]
        return max(after - before for before, after in zip(ticks, ticks[1:])) / (end - begin)

    def test_other_threads_run_during_a_batch(self):
        """Seen to fail when call_chunk() keeps the GIL: the pause is the whole call."""
        seen = self.store.create("seen", 10_000_000)
        keys = array.array("q", range(2_000_000))
        self.assertLess(min(self.longest_pause(lambda: seen.add_many(keys)) for _ in range(5)), 0.9)

    def test_other_threads_run_while_an_add_waits_for_the_disk(self):
        """Seen to fail when filter_add() keeps the GIL for durable filters."""
        seen = self.store.create("seen", 100_000, durable=True)

        def add():
            for i in range(3000):
                seen.add(b"%d" % i)

        self.assertLess(min(self.longest_pause(add) for _ in range(5)), 0.9)
