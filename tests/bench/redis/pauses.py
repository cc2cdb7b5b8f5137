#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""pauses.py MODULE [--slow LIBRARY] [--tamis COMMAND] [--rounds N] [--sizes N,N] [--many N] [CASE ...]: how long a server answers nobody.

A client sends PING all the time, one after the other, while another one does what the case says.  What is told is the longest
answer that PING had from the beginning of the command until the server and its disk are quiet again, in milliseconds: the
median of N rounds, and the greatest.  A first row has it with nothing else going on: what the machine itself does.

MODULE      tamis.so, or redisbloom.so, whose cases are those of BF.* and CF.*
--slow      a library that makes each sync of the store take 700 ms: tests/redis/slow_disk.c, built
--tamis     the command, which makes the stream for the cases of TAMIS.LOAD, and builds for TAMIS.ROLLBACK
--many      filters of 100 keys that FLUSHALL and SWAPDB are to meet
The server is in a directory of the working directory: run this on the disk that is meant.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "redis"))
from redis_server import Server  # noqa: E402

SLOW_MS = 700
QUIET_S = 0.3


class Pings:
    """A process of its own would be better heard; a thread does, as what it waits for is the server."""

    def __init__(self, redis):
        self.client = redis.client()
        self.longest = 0.0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stop.is_set():
            began = time.perf_counter()
            self.client("PING")
            self.longest = max(self.longest, time.perf_counter() - began)

    def __enter__(self):
        self.thread.start()
        time.sleep(0.05)
        self.longest = 0.0
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


class Bench:
    def __init__(self, options):
        self.options = options
        self.tamis = "bloom" not in os.path.basename(options.module)

    def server(self, directory):
        environment = {}
        self.speed = os.path.join(directory, "speed")
        if self.options.slow:
            environment = {"LD_PRELOAD": os.path.abspath(self.options.slow), "TAMIS_SLOW_DISK": self.speed}
        arguments = ("max-bytes", 1 << 36, "drop-orphans", "no") if self.tamis else ()
        return Server(os.path.abspath(self.options.module), *arguments, directory=directory, environment=environment)

    def disk_takes(self, milliseconds):
        with open(self.speed, "w", encoding="ascii") as file:
            file.write(f"{milliseconds}\n")

    def quiet(self, redis, client):
        """Waits until there is no child, and no filter in the store that is about to go."""
        store = os.path.join(redis.directory, "tamis", "segments")
        while b"rdb_bgsave_in_progress:0" not in client("INFO", "persistence"):
            time.sleep(0.05)
        seen = None
        while self.tamis and seen != (seen := len(os.listdir(store))):
            time.sleep(1.5 if self.options.slow else QUIET_S)
        time.sleep(QUIET_S)

    def round(self, prepare, act):
        with tempfile.TemporaryDirectory(prefix="tamis-pauses-", dir=".") as directory:
            self.directory = directory = os.path.abspath(directory)
            with self.server(directory) as redis:
                self.redis = redis
                client = redis.client()
                client.socket.settimeout(600)
                client = prepare(client) or client
                client.socket.settimeout(600)
                time.sleep(QUIET_S)
                with Pings(redis) as pings:
                    if self.options.slow:
                        self.disk_takes(SLOW_MS)
                    act(client)
                    self.quiet(redis, client)
                if self.options.slow:
                    self.disk_takes(0)
                return pings.longest * 1000

    def case(self, name, prepare, act):
        if self.options.cases and not any(word in name for word in self.options.cases):
            return
        longest = [self.round(prepare, act) for _ in range(self.options.rounds)]
        print(f"{name:44} {statistics.median(longest):9.1f} {max(longest):9.1f}", flush=True)


def fill(client, key, command, count):
    """Adds keys, so that pages of the filter are in memory."""
    for i in range(0, count, 1000):
        client.send(command, key, *range(i, i + 1000))
    for _ in range(0, count, 1000):
        client.answer()


def many(client, count, database=0):
    client.good("SELECT", database)
    for begin in range(0, count, 1000):
        for i in range(begin, min(begin + 1000, count)):
            client.send("BF.RESERVE", f"k{i}", "0.01", 100)
        for i in range(begin, min(begin + 1000, count)):
            client.answer()
    client.good("SELECT", 0)


def of_one(bench, size):
    def made(client):
        client.good("BF.RESERVE", "k", "0.01", size)
        fill(client, "k", "BF.MADD", min(size, 500_000))

    def two(client):
        made(client)
        client.good("BF.RESERVE", "l", "0.01", 1000)

    def counted(client):
        client.good("CF.RESERVE", "k", size)
        for i in range(0, min(size, 100_000), 1000):
            client.good("CF.INSERT", "k", "ITEMS", *range(i, i + 1000))

    def grow(client):
        for i in range(0, 3 * size, 200):
            client.good("BF.MADD", "k", *range(i, i + 200))

    def swap(client):
        client.good("SWAPDB", 0, 1)

    def dumped(command):
        """Fills k, and keeps what a client brings of it to another key."""
        def prepare(client):
            (counted if command == "CF" else made)(client)
            chunks[:] = client.chunks(f"{command}.SCANDUMP", "k")
        return prepare

    def load(command):
        def act(client):
            for chunk in chunks:
                client.good(f"{command}.LOADCHUNK", "copy", *chunk)
        return act

    def exported(client):
        made(client)
        path = os.path.join(bench.directory, "stream")
        subprocess.run([bench.options.tamis, "export", "--store", os.path.join(bench.directory, "tamis"), "k", "--to", "tamis", path],
                       check=True)
        with open(path, "rb") as file:
            stream[:] = [file.read()]

    def payload(client):
        made(client)
        stream[:] = [client.good("DUMP", "k")]

    def equals(client):
        made(client)
        client.good("BF.RESERVE", "l", "0.01", size)
        client.good("BF.ADD", "l", "x")

    def brought(client):
        exported(client)
        for i, at in enumerate(range(0, len(stream[0]), 1 << 20)):
            client.good("SET", f"piece{i}", stream[0][at:at + (1 << 20)])
        stream[:] = [f"piece{j}" for j in range(i + 1)]

    def windowed(client):
        client.good("TAMIS.RESERVE", "k", "0.01", size, "WINDOWITEMS", size, "SLICES", 4)
        client.good("TAMIS.ADD", "k", "x")

    def built(client):
        for night in range(2):
            keys = "".join(f"{night} {i}\n" for i in range(min(size, 1_000_000)))
            subprocess.run([bench.options.tamis, "build", "--store", os.path.join(bench.directory, "tamis"), "k", "--keep", "3"],
                           input=keys, text=True, check=True)
        client.good("TAMIS.ATTACH", "k")

    def orphaned(client):
        """k is a filter that the server has made before it was killed, and has no key."""
        made(client)
        return bench.redis.restart(kill=True)

    def closed(client):
        for i in range(200):
            client.good("BF.RESERVE", f"c{i}", "0.01", 10_000)
            client.good("BF.ADD", f"c{i}", "x")
        client.good("CONFIG", "SET", "tamis.max-open", 8)

    def open_closed(client):
        """While another client has a filter made."""
        other = bench.redis.client()
        other.socket.settimeout(600)
        other.send("BF.RESERVE", "k", "0.01", size)
        for i in range(200):
            client.good("BF.EXISTS", f"c{i}", "x")
            client.good("BF.ADD", f"c{i}", "y")
        other.answer()
        other.close()

    chunks, stream = [], []

    name = f"{size:,} keys"
    bench.case(f"BF.RESERVE, {name}", lambda client: None, lambda client: client.good("BF.RESERVE", "k", "0.01", size))
    bench.case(f"BF.INSERT CAPACITY, {name}", lambda client: None,
               lambda client: client.good("BF.INSERT", "k", "CAPACITY", size, "ITEMS", "x"))
    bench.case(f"CF.RESERVE and CF.ADD, {name}", lambda client: None,
               lambda client: (client.good("CF.RESERVE", "k", size), client.good("CF.ADD", "k", "x")))
    if size <= 100_000_000:
        bench.case(f"BF.LOADCHUNK, {name}", dumped("BF"), load("BF"))
        bench.case(f"CF.LOADCHUNK, {name}", dumped("CF"), load("CF"))
        bench.case(f"RESTORE, {name}", payload, lambda client: client.good("RESTORE", "copy", 0, stream[0]))
        bench.case(f"RESTORE IDLETIME, {name}", payload, lambda client: client.good("RESTORE", "copy", 0, stream[0], "IDLETIME", 9))
    if bench.options.tamis and size <= 100_000_000:
        bench.case(f"TAMIS.LOAD, {name}", exported, lambda client: client.good("TAMIS.LOAD", "copy", stream[0]))
    if bench.options.tamis and size <= 100_000_000:
        bench.case(f"TAMIS.LOAD KEYS, {name}", brought, lambda client: client.good("TAMIS.LOAD", "copy", "KEYS", *stream))
    if bench.tamis:
        bench.case(f"TAMIS.EXCEPT, {name}", made, lambda client: client.good("TAMIS.EXCEPT", "k", "ADD", *range(100)))
        bench.case(f"TAMIS.ROTATE, {name}", windowed, lambda client: client.good("TAMIS.ROTATE", "k"))
        bench.case(f"closed filters while one is made, {name}", closed, open_closed)
        bench.case(f"TAMIS.COMBINE, {name}", equals, lambda client: client.good("TAMIS.COMBINE", "c", "UNION", "k", "l"))
        bench.case(f"TAMIS.ATTACH, {name}", orphaned, lambda client: client.good("TAMIS.ATTACH", "a", "k"))
        bench.case(f"TAMIS.ORPHANS DROP, {name}", orphaned, lambda client: client.good("TAMIS.ORPHANS", "DROP", "k"))
        bench.case(f"TAMIS.DETACH, {name}", made, lambda client: client.good("TAMIS.DETACH", "k"))
        bench.case(f"TAMIS.MERGE, {name}", equals, lambda client: client.good("TAMIS.MERGE", "k", "l"))
    if size <= 10_000_000:
        bench.case(f"BF.MADD until it has grown, {name}", made, grow)
    bench.case(f"DEL, {name}", made, lambda client: client.good("DEL", "k"))
    bench.case(f"UNLINK, {name}", made, lambda client: client.good("UNLINK", "k"))
    bench.case(f"expiry, {name}", made, lambda client: (client.good("PEXPIRE", "k", 1), time.sleep(1)))
    bench.case(f"RENAME, {name}", made, lambda client: client.good("RENAME", "k", "r"))
    bench.case(f"RENAME onto a key, {name}", two, lambda client: client.good("RENAME", "l", "k"))
    bench.case(f"SWAPDB, {name}", made, swap)
    if bench.tamis:
        bench.case(f"COPY, {name}", made, lambda client: client.good("COPY", "k", "c"))
        bench.case(f"COPY of a CF, {name}", counted, lambda client: client.good("COPY", "k", "c"))
    if bench.options.tamis and size <= 100_000_000:
        bench.case(f"TAMIS.ROLLBACK, {name}", built, lambda client: client.good("TAMIS.ROLLBACK", "k"))
    bench.case(f"BGSAVE, {name}", made, lambda client: client.good("BGSAVE"))
    bench.case(f"BF.SCANDUMP, {name}", made, lambda client: client.chunks("BF.SCANDUMP", "k"))
    if bench.tamis:
        bench.case(f"TAMIS.SYNC, {name}", made, lambda client: client.good("TAMIS.SYNC", "k"))
    bench.case(f"CF.SCANDUMP, {name}", counted, lambda client: client.chunks("CF.SCANDUMP", "k"))
    bench.case(f"BGSAVE of a CF, {name}", counted, lambda client: (client.good("BGSAVE"), client.good("CF.ADD", "k", "x")))


def of_many(bench, count):
    name = f"{count:,} filters"
    bench.case(f"BF.ADD that makes each of {name}", lambda client: None,
               lambda client: [client.good("BF.ADD", f"k{i}", "x") for i in range(min(count, 1000))])
    for words in ((("FLUSHALL",),), (("FLUSHALL", "ASYNC"),), (("FLUSHDB",),), (("SWAPDB", 0, 1),), (("BGSAVE",),),
                  (("BGSAVE",), ("FLUSHALL",))):
        bench.case(f"{' and '.join(' '.join(map(str, one)) for one in words)}, {name}", lambda client: many(client, count),
                   lambda client, words=words: [client.good(*one) for one in words])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--slow")
    parser.add_argument("--tamis")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", default="1000,1000000")
    parser.add_argument("--many", type=int, default=5000)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_intermixed_args()
    bench = Bench(options)
    print(f"{'milliseconds':44} {'median':>9} {'longest':>9}")
    bench.case("nothing else", lambda client: None, lambda client: time.sleep(2))
    for size in options.sizes.split(","):
        if int(size):
            of_one(bench, int(size))
    if options.many:
        of_many(bench, options.many)


main()
