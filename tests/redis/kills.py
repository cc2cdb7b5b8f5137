# SPDX-License-Identifier: BSD-2-Clause
"""kills.py MODULE TAMIS [MODE | [--kills N] [--mode MODE] [--seed S]]: the server is killed N times in each mode, under
load.  generated.py has keys that come and go.

A mode says what Redis promises (always, everysec: appendfsync; dumps: RDB alone) and what a dump has (content,
reference).  After each kill the server starts again, and

- keys that stay, in the store, have all items whose add was acknowledged, in every mode: the store is not behind;
- an item of them was told NEW once at most, to clients and local processes together;
- with an AOF, counts of CF.* are those that were acknowledged, or with the commands in flight, or what everysec may lose; never more;
- when the orphans, which are listed, are dropped, the store has one filter for each key, of its name.
TAMIS_REDIS_HOME=store.
"""
import os
import random
import subprocess
import sys
import threading
import time

from harness import TAMIS, are_made, eventually, filters, orphans, same, server, store_of, tamis
from redis_client import Client, Error

MODES = [f"{promise}-{rdb}" for promise in ("always", "everysec", "dumps") for rdb in ("content", "reference")]
SETTINGS = {"always": {"appendonly": "yes", "appendfsync": "always"},
            "everysec": {"appendonly": "yes", "appendfsync": "everysec"},
            "dumps": {"save": "900 1000000"}}
STAY = ("s0", "s1")
LOST_S = 2.5  # everysec may lose 1 s, and 2 s where a sync is slow
RATE = "0.000001"
GONE = (OSError, ConnectionError)


class Kills:
    def __init__(self, mode, seed):
        self.promise, self.rdb = mode.split("-")
        self.random = random.Random(f"{mode} {seed}")
        self.mode = mode
        self.acknowledged = {key: set() for key in STAY}
        self.news = {}
        self.counted = {}  # item: [(when, by how much)] of what was acknowledged
        self.flight = {}  # item: by how much the command in flight counts
        self.lock = threading.Lock()
        self.failed = []

    # ---- The load --------------------------------------------------------------------------------

    def begin(self, redis):
        client = redis.client()
        for key in STAY:
            client.good("BF.RESERVE", key, RATE, 2000)
        client.good("CF.RESERVE", "counted", 5000)
        are_made(client)
        if self.promise == "dumps":
            client.good("SAVE")
        time.sleep(1.1 if self.promise == "everysec" else 0)

    def told(self, key, item, new):
        with self.lock:
            self.acknowledged[key].add(item)
            if new:
                self.news[key, item] = self.news.get((key, item), 0) + 1

    def add(self, redis, turn, which, stop):
        """Two of these add the same items to keys that stay."""
        client = Client(redis.port)
        for i in range(100000):
            if stop.is_set():
                return
            key, item = STAY[(i + which) % 2], f"{turn} {i // 2}"
            if i % 5 == 4:
                items = [f"{item} {n}" for n in range(3)]
                for one, new in zip(items, client.good("BF.MADD", key, *items)):
                    self.told(key, one, new)
            else:
                self.told(key, item, client.good("BF.ADD", key, item))

    def count(self, redis, seeded, stop):
        client = Client(redis.port)
        while not stop.is_set():
            item = f"item {seeded.randrange(30)}"
            held = sum(by for _, by in self.counted.get(item, ()))
            by = -1 if held > 8 or held > 0 and seeded.random() < 0.3 else 1
            self.flight = {item: by}
            answer = client.good("CF.DEL" if by < 0 else "CF.ADD", "counted", item)
            same(answer, 1, f"CF of {item}, {held} times there")
            self.counted.setdefault(item, []).append((time.monotonic(), by))
            self.flight = {}

    def save(self, redis, seeded, stop):
        """Saves and rewrites, so that some kills come in the middle of them."""
        client = Client(redis.port)
        while not stop.is_set():
            time.sleep(seeded.uniform(0, 0.2))
            answer = client("BGSAVE" if self.promise == "dumps" else "BGREWRITEAOF")
            if isinstance(answer, Error):
                raise AssertionError(answer)
            while b"_in_progress:1" in client.good("INFO", "persistence").replace(b"async_loading:1", b""):
                time.sleep(0.005)
            if self.promise == "dumps":
                same(b"rdb_last_bgsave_status:ok" in client.good("INFO", "persistence"), True, "BGSAVE")

    def local(self, redis, turn):
        """A process of the same machine adds the same items."""
        items = [f"{turn} {i}" for i in range(0, 400, 3)]
        done = subprocess.run([TAMIS, "add", "--new", "--store", store_of(redis), STAY[0]], input="\n".join(items),
                              capture_output=True, text=True, check=False)
        same(done.returncode, 0, done.stderr)
        news = set(done.stdout.split("\n"))
        for item in items:
            self.told(STAY[0], item, item in news)

    def guarded(self, function, *arguments):
        try:
            function(*arguments)
        except GONE:
            pass  # it was killed
        except BaseException as failure:  # pylint: disable=broad-except
            self.failed.append(failure)

    def load(self, redis, turn):
        stop = threading.Event()
        seeds = [random.Random(self.random.random()) for _ in range(2)]
        work = [(self.add, redis, turn, 0, stop), (self.add, redis, turn, 1, stop)]
        if self.promise != "dumps":  # there the counts are those of the dump
            work.append((self.count, redis, seeds[0], stop))
        if self.random.random() < 0.7:
            work.append((self.save, redis, seeds[1], stop))
        if self.random.random() < 0.3:
            work.append((self.local, redis, turn))
        threads = [threading.Thread(target=self.guarded, args=words) for words in work]
        for thread in threads:
            thread.start()
        time.sleep(self.random.choice((0.05, 0.2, 0.5)) * self.random.random())
        killed = time.monotonic()  # or later: what was told long before then is not lost
        redis.kill()
        stop.set()
        for thread in threads:
            thread.join()
        if self.failed:
            raise self.failed[0]
        return killed

    # ---- What must be there ----------------------------------------------------------------------

    def check_stay(self, client):
        for key in STAY:
            items = sorted(self.acknowledged[key])
            for at in range(0, len(items), 1000):
                part = items[at:at + 1000]
                lost = [item for item, there in zip(part, client.good("BF.MEXISTS", key, *part)) if not there]
                same((len(lost), lost[:9]), (0, []), f"{key} has lost what was acknowledged")
        twice = [item for item, times in self.news.items() if times > 1]
        same(twice, [], "told NEW twice")

    def check_counts(self, client, killed):
        items = sorted(set(self.counted) | set(self.flight))
        for item in items:
            is_ = client.good("CF.COUNT", "counted", item)
            told = self.counted.get(item, [])
            may = {sum(by for _, by in told)}
            may |= {count + self.flight.get(item, 0) for count in may}
            if self.promise == "everysec":
                old = [entry for entry in told if entry[0] < killed - LOST_S]
                may |= {sum(by for _, by in told[:n]) for n in range(len(old), len(told))}
            same(is_ in may, True, f"the count of {item} is {is_}, and may be {sorted(may)}")
            self.counted[item] = [(0, is_)]
        self.flight = {}

    def check_store(self, redis, client):
        """One filter for each key, and orphans that are listed."""
        keys = {key.decode() for key in client.good("KEYS", "*")}
        keys.discard("counted")  # which is in memory
        are_made(client)
        for name in orphans(client):
            client.good("TAMIS.ORPHANS", "DROP", name)
        try:
            eventually(lambda: set(filters(redis)) == keys and not orphans(client), f"keys {sorted(keys)} are what the store has")
        except AssertionError:
            print(f"the store has {filters(redis)}; orphans {orphans(client)}", flush=True)
            raise

    def run(self, kills):
        began = time.monotonic()
        with server("rdb", self.rdb, **SETTINGS[self.promise]) as redis:
            self.begin(redis)
            for turn in range(kills):
                killed = self.load(redis, turn)
                client = redis.start()
                self.check_stay(client)
                self.check_counts(client, killed)
                self.check_store(redis, client)
                if self.promise == "everysec":
                    # What the AOF lost, and the store had, is in the AOF again: what is lost next is lost since.
                    client.good("BGREWRITEAOF")
                    eventually(lambda: b"aof_rewrite_in_progress:0" in client.good("INFO", "persistence"), "the rewrite")
            tamis("verify", "--store", store_of(redis))
        adds = sum(len(items) for items in self.acknowledged.values())
        print(f"{self.mode}: {kills} kills, {adds} items, {time.monotonic() - began:.1f} s", flush=True)


def main():
    words = sys.argv[3:] if len(sys.argv) != 4 else ["--mode", sys.argv[3]]
    options = dict(zip(words[::2], words[1::2]))
    kills = int(options.get("--kills", 5))
    seed = options.get("--seed") or os.environ.get("TAMIS_TEST_SEED") or str(random.randrange(1 << 32))
    print(f"seed {seed}", flush=True)
    for mode in MODES:
        if options.get("--mode", mode) == mode:
            Kills(mode, seed).run(kills)


main()
