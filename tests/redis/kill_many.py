# SPDX-License-Identifier: BSD-2-Clause
"""kill_many.py MODULE TAMIS [MODE [SEED]]: the server is killed again and again while clients make and drop many small
filters: 3 times in each mode, 200 times with TAMIS_TEST_LONG=1.

Each client has a database of its own, and makes, fills, renames, copies and deletes keys there, one command at a time, or
flushes it.  After each kill the server starts again.  Then

- mode `log` (appendfsync always): each database is as after the last answer, or with the command in flight; each filter has
  what was added; the store has one filter for each key, and beside them orphans, which are listed;
- mode `cache` (neither dump nor AOF): there is no key, and soon no filter;
- `tamis verify` finds no problem, in mode `log` when the server is stopped in the end.

In mode `cache` it was seen to fail where verify counts a file as a problem that the killed server was making.
"""
import os
import random
import subprocess
import sys
import threading
import time

from harness import TAMIS, are_made, eventually, filters, same, server, store_of
from redis_client import Client

KILLS = 200 if os.environ.get("TAMIS_TEST_LONG") == "1" else 3
SETTINGS = {"log": {"appendonly": "yes", "appendfsync": "always"}, "cache": {}}
CLIENTS = 4
GONE = (OSError, ConnectionError)


class Worker:
    """A client, and what its database may have: `state` maps keys to (sort, items), and so does `pending`, with the command in
    flight."""

    def __init__(self, database, seed):
        self.database, self.random = database, random.Random(seed)
        self.state, self.pending, self.number, self.failed = {}, None, 0, None

    def new_key(self):
        self.number += 1
        return f"k{self.number}"

    def next_command(self):
        """A command, and the state behind it."""
        state = dict(self.state)
        way = self.random.choices(("make", "count", "add", "delete", "rename", "copy", "flush"), (40, 10, 15, 25, 6, 3, 1))[0]
        if way == "flush":
            return ("FLUSHDB", self.random.choice(("SYNC", "ASYNC"))), {}
        if way in ("make", "count") or not state:
            key, item = self.new_key(), f"item {self.number}"
            sort = "CF" if way == "count" else "BF"
            state[key] = (sort, (item,))
            return (f"{sort}.ADD", key, item), state
        key = self.random.choice(list(state))
        sort, items = state[key]
        if way == "add":
            self.number += 1
            state[key] = (sort, items + (f"item {self.number}",))
            return (f"{sort}.ADD", key, f"item {self.number}"), state
        if way == "copy":
            other = self.new_key()
            state[other] = state[key]
            return ("COPY", key, other), state
        if way == "rename":
            other = self.random.choice(list(state) + [self.new_key()])
            state[other] = state.pop(key)
            return ("RENAME", key, other), state
        keys = {key} | set(self.random.sample(list(state), min(len(state), self.random.randrange(5))))
        for one in keys:
            del state[one]
        return (self.random.choice(("DEL", "UNLINK")), *keys), state

    def run(self, port):
        try:
            client = Client(port)
            client.good("SELECT", self.database)
            while True:
                words, self.pending = self.next_command()
                client.good(*words)
                self.state, self.pending = self.pending, None
        except GONE:
            pass  # the server was killed
        except BaseException as failure:  # pylint: disable=broad-except
            self.failed = failure

    def filter_of(self, key):
        return key if self.database == 0 else f"redis:{self.database}:{key}"

    def settle(self, client):
        """Finds which of the two states is there, and looks at all of it."""
        client.good("SELECT", self.database)
        keys = {key.decode() for key in client.good("KEYS", "*")}
        found = [state for state in (self.state, self.pending) if state is not None and set(state) == keys]
        missing = sorted(set(self.state) - keys), sorted(keys - set(self.state))
        same(bool(found), True, f"database {self.database}: lost or come back beside one command: {missing}")
        lacks = [self.lacking(client, state) for state in found]
        same([] in lacks, True, f"database {self.database}: keys lack items: {lacks}")
        self.state, self.pending = found[lacks.index([])], None

    @staticmethod
    def lacking(client, state):
        return [key for key, (sort, items) in state.items() if 0 in client.good(f"{sort}.MEXISTS", key, *items)]


def load(redis, workers, chance):
    """Lets them work for some time, and kills the server."""
    threads = [threading.Thread(target=worker.run, args=(redis.port,)) for worker in workers]
    for thread in threads:
        thread.start()
    time.sleep(chance.choice((0.1, 0.3, 0.9)) * chance.random())
    if redis.settings["appendonly"] == "yes" and chance.random() < 0.3:
        redis.client()("BGREWRITEAOF")
        time.sleep(0.1 * chance.random())
    redis.kill()
    for thread in threads:
        thread.join()
    for worker in workers:
        if worker.failed:
            raise worker.failed


def orphans(client):
    return {name.decode() for name, _ in client.good("TAMIS.ORPHANS", "LIST")}


def check_log(redis, client, workers):
    for worker in workers:
        worker.settle(client)
    owned = {worker.filter_of(key) for worker in workers for key, (sort, _) in worker.state.items() if sort == "BF"}
    are_made(client)
    for name in orphans(client):
        client.good("TAMIS.ORPHANS", "DROP", name)
    eventually(lambda: set(filters(redis)) == owned and not orphans(client), "each key has a filter of its name")


def check_cache(redis, client, workers):
    same(client.good("INFO", "keyspace"), b"# Keyspace\r\n", "no database has a key")
    for worker in workers:
        worker.state, worker.pending = {}, None
    eventually(lambda: filters(redis) == [], "the last run's filters are dropped")


def verify(redis):
    """A file that the killed server was making is told, and is no problem."""
    done = subprocess.run([TAMIS, "verify", "--store", store_of(redis)], capture_output=True, text=True, check=False)
    same(done.returncode, 0, done.stdout + done.stderr)


def storm(mode, seed):
    began, chance = time.monotonic(), random.Random(f"{mode} {seed}")
    workers = [Worker(database, chance.random()) for database in range(CLIENTS)]
    with server(hz=500, **SETTINGS[mode]) as redis:
        for _ in range(KILLS):
            load(redis, workers, chance)
            client = redis.start()
            (check_log if mode == "log" else check_cache)(redis, client, workers)
            if mode == "cache":
                verify(redis)
        redis.stop()
        verify(redis)
    made = sum(worker.number for worker in workers)
    print(f"{mode}: {KILLS} kills, {made} keys and items, {time.monotonic() - began:.1f} s", flush=True)


def main():
    seed = sys.argv[4] if len(sys.argv) > 4 else os.environ.get("TAMIS_TEST_SEED") or str(random.randrange(1 << 32))
    print(f"seed {seed}", flush=True)
    for mode in SETTINGS:
        if len(sys.argv) < 4 or sys.argv[3] == mode:
            storm(mode, seed)


main()
