# SPDX-License-Identifier: BSD-2-Clause
"""frontier_kill_test.py [STEP [SEED]]: a worker of tamis.Frontier dies at each STEPth line of the frontier's code, by os._exit(), as by a kill -9.

The work is a tree of keys; each key, when it is done, pushes its children.  After each death another worker goes on.  Every
key must be done, and only what was in the dead one's hands twice.  The line at which the first one dies begins at random,
printed; 1 as STEP tries them all.  It was seen to fail with add_many() before the commit of the push, with fresh entries
that nobody adopts, with done() in a transaction of its own before the push, and with done entries deleted before the
filter is synced (the power cuts).
"""

import collections
import os
import random
import shutil
import sys
import tempfile
import unittest

import tamis
from tamis import _frontier, _queue

KEYS, BATCH = 40, 3
STEP, SEED = 37, random.randrange(1 << 32)
CODE = (_frontier.__file__, _queue.__file__)


def children(key):
    return [str(child) for child in (3 * int(key) + 1, 3 * int(key) + 2, 3 * int(key) + 3) if child < KEYS]


def work(path, log, limit=1 << 30):
    """Does all that is there.  Appends each key to the log when it is done, before it is told to be."""
    with tamis.Frontier(path, "crawl", capacity=1000, fp_rate=1e-9) as frontier:
        frontier._done_limit = 10  # so that done entries are deleted meanwhile
        frontier.push_many(["0"])
        while limit and (items := frontier.take(BATCH)):
            for item in items:
                os.write(log, item.key + b"\n")
            frontier.done(items[:1], push=children(items[0].text))
            for item in items[1:]:
                frontier.done(item, push=children(item.text))
            limit -= 1


def keys_of(path):
    with open(path, encoding="ascii") as file:
        return file.read().split()


class Lines:
    """Calls `reach` before each line of the frontier's code that is run."""

    def __init__(self, reach):
        self.reach = reach

    def __call__(self, frame, event, _):
        if frame.f_code.co_filename not in CODE:
            return None
        if event == "line":
            self.reach(frame)
        return self


class Bomb:
    def __init__(self, after):
        self.left = after

    def __call__(self, frame):
        self.left -= 1
        if self.left == 0:
            os._exit(9)


class Kills(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm"
        self.directory = tempfile.mkdtemp(prefix="tamis-python-", dir=memory if os.access(memory, os.W_OK) else None)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def worker(self, path, log_path, reach=None):
        """The exit code of a process that works."""
        pid = os.fork()
        if not pid:
            log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            if reach:
                sys.settrace(Lines(reach))
            try:
                work(path, log)
                os._exit(0)
            finally:
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def is_whole(self, path, log_path, in_hand, what):
        keys = collections.Counter(keys_of(log_path))
        self.assertEqual(set(keys), set(map(str, range(KEYS))), f"lost by a {what}")
        twice = [key for key, count in keys.items() if count > 1]
        self.assertLessEqual(len(twice), in_hand, f"done twice after a {what}")
        self.assertLessEqual(max(keys.values()), 2)
        with tamis.Frontier(path, "crawl") as frontier:
            self.assertEqual((frontier.pending(), frontier.push("0"), len(frontier.filter)), (False, False, KEYS))

    def test_death_at_a_line_loses_nothing_and_repeats_what_was_in_hand(self):
        after, deaths = 1 + random.Random(SEED).randrange(STEP), 0
        while True:
            path, log = os.path.join(self.directory, str(after)), os.path.join(self.directory, f"{after}.log")
            code = self.worker(path, log, Bomb(after))
            self.assertIn(code, (0, 9), f"line {after}")
            self.assertEqual(self.worker(path, log), 0)
            self.is_whole(path, log, BATCH, f"death at line {after} (seed {SEED})")
            shutil.rmtree(path)
            if code == 0:
                break
            deaths, after = deaths + 1, after + STEP
        print(f"seed {SEED}: {deaths} deaths at each {STEP}. line")
        self.assertGreater(deaths * STEP, 500, "the bomb does go off")

    def power_cuts(self, path, log):
        """Works.  Returns copies of the store as a power cut may leave it: the queue as of its last synced commit, and the
        filter as it was then, as it was when the next one began, or without any key but those that were synced."""
        cuts, synced = [], os.path.join(self.directory, "synced")
        change, sync = _queue.Queue.change, tamis.Filter.sync

        def copy(source, name):
            target = os.path.join(self.directory, f"{name}-{len(cuts)}")
            shutil.copytree(source, target)
            return target

        def cut():
            """The queue of the last copy beside the filter of now, and beside the one that was synced."""
            if cuts:
                for source in (path, synced):
                    later = copy(source, "later")
                    shutil.rmtree(later + "/queues", ignore_errors=True)
                    shutil.copytree(cuts[-1][0] + "/queues", later + "/queues")
                    cuts.append((later, cuts[-1][1]))

        class Changing:
            def __init__(self, queue, durable):
                self.inner, self.durable = change(queue, durable), durable

            def __enter__(self):
                if self.durable:
                    cut()
                return self.inner.__enter__()

            def __exit__(self, *exception):
                answer = self.inner.__exit__(*exception)
                if self.durable and os.path.isdir(path + "/queues"):
                    cuts.append((copy(path, "cut"), keys_of(log)))
                return answer

        def syncing(seen):
            sync(seen)
            shutil.rmtree(synced, ignore_errors=True)
            shutil.copytree(path, synced)

        _queue.Queue.change, tamis.Filter.sync = lambda queue, durable: Changing(queue, durable), syncing
        try:
            tamis.Store(path).create("crawl", 1000, 1e-9).close()
            shutil.copytree(path, synced)
            fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            work(path, fd)
            os.close(fd)
        finally:
            _queue.Queue.change, tamis.Filter.sync = change, sync
        return cuts

    def test_power_cut_after_a_synced_commit_loses_nothing_and_repeats_what_was_in_hand(self):
        cuts = self.power_cuts(os.path.join(self.directory, "store"), os.path.join(self.directory, "log"))
        self.assertGreater(len(cuts), KEYS)
        for number, (path, keys) in enumerate(cuts):
            log = os.path.join(self.directory, f"cut-{number}.log")
            with open(log, "w", encoding="ascii") as file:
                file.writelines(key + "\n" for key in keys)
            queue = _queue.Queue(os.path.join(path, "queues", "crawl.sqlite"), "crawl", 10)
            with queue.change(durable=True) as db:
                db.execute("UPDATE owner SET boot = 'before'")
            queue.close()
            self.assertEqual(self.worker(path, log), 0)
            self.is_whole(path, log, BATCH, f"power cut {number}, {path}")


if __name__ == "__main__":
    if sys.argv[1:]:
        STEP = int(sys.argv.pop(1))
    if sys.argv[1:]:
        SEED = int(sys.argv.pop(1))
    unittest.main()
