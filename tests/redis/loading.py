# SPDX-License-Identifier: BSD-2-Clause
"""loading.py MODULE TAMIS SLOW_DISK: an AOF is loaded beside what the store had.

Local processes have added to the filters too, so what the commands of the AOF make is not enough: each key must get the
filter that the store had of it, and that filter must be there under its name all the time.
"""
import json
import os
import subprocess

from harness import are_made, eventually, filters, info, pipelined, run, same, served, store_of, tamis
from slow_disk import Disk

LOGGED = {"appendonly": "yes", "appendfsync": "always"}
COUNT = 2000


def add_here(redis, key, *items):
    """A local process adds."""
    tamis("add", "--store", store_of(redis), key, text="\n".join(items))


def made_at(redis):
    """The times at which the store's filters were made."""
    lines = tamis("list", "--json", "--store", store_of(redis)).splitlines()
    return {told["name"]: told["created_at"] for told in map(json.loads, lines)}


def has(client, key, items, answers=1):
    same(client.good("BF.MEXISTS", key, *items), [answers] * len(items), f"{key}: {items[:3]}")


def is_tidy(redis, client, keys):
    """The store has one filter for each key."""
    eventually(lambda: filters(redis) == sorted(keys), "one filter for each key, under its name")
    same(client.good("TAMIS.ORPHANS", "LIST"), [], "no orphans")


def many_filters_are_taken_as_they_are():
    """None is made anew: their times stay.  Seen to fail without draft_hold() in keys/make.c."""
    with served(**LOGGED) as (redis, client):
        keys = [f"host {i}" for i in range(COUNT)]
        pipelined(client, [("BF.MADD", key, "a", f"b {key}") for key in keys])
        are_made(client)
        before = made_at(redis)
        add_here(redis, keys[7], "from here")
        for _ in range(2):
            client = redis.restart(kill=True)
            same(made_at(redis), before, "the filters of before")
            same(info(client, "filters_to_make"), 0, "none is made")
            is_tidy(redis, client, keys)
            for key in keys[::100] + [keys[7]]:
                has(client, key, ["a", f"b {key}"])
            has(client, keys[7], ["from here"])
            client.good("BF.ADD", keys[8], "later")
        has(client, keys[8], ["later", "a"])
        same(client.good("BF.EXISTS", keys[9], "later"), 0, "no item of another")


def keys_that_change_in_the_log():
    """Each key is at the end what the commands of the AOF have made of it, with what local processes have added."""
    for make in ("auto", "sync"):
        with served("make", make, **LOGGED) as (redis, client):
            for key in ("kept", "renamed", "copied", "deleted", "anew", "grown", "swapped"):
                client.good("BF.MADD", key, f"of {key}", "x")
            are_made(client)
            client.good("RENAME", "renamed", "other name")
            client.good("COPY", "copied", "copy")
            client.good("BF.ADD", "copied", "behind the copy")
            client.good("DEL", "deleted")
            client.good("DEL", "anew")
            client.good("BF.ADD", "anew", "second life")
            many = [f"grows {i}" for i in range(900)]
            client.good("BF.MADD", "grown", *many)
            client.good("MOVE", "swapped", 3)
            client.good("SWAPDB", 3, 4)
            are_made(client)
            names = ["anew", "copied", "copy", "grown", "kept", "other name", "redis:4:swapped"]
            is_tidy(redis, client, names)
            for name in names:
                add_here(redis, name, f"here {name}")
            for turn in range(3):
                client = redis.restart(kill=turn != 1)
                is_tidy(redis, client, names)
                for name in names[:-1]:
                    has(client, name, [f"here {name}"])
                has(client, "kept", ["of kept", "x"])
                has(client, "other name", ["of renamed", "x"])
                has(client, "copied", ["of copied", "x", "behind the copy"])
                has(client, "copy", ["of copied", "x"])
                has(client, "copy", ["behind the copy", "here copied"], 0)
                has(client, "anew", ["second life"])
                has(client, "anew", ["of anew", "x"], 0)
                has(client, "grown", many)
                client.good("SELECT", 4)
                has(client, "swapped", ["of swapped", "x", "here redis:4:swapped"])
                client.good("SELECT", 0)


def a_log_that_begins_anew():
    """FLUSHALL, and filters under the same names: what the store has is of the second time."""
    with served(**LOGGED) as (redis, client):
        for i in range(300):
            client.good("BF.ADD", f"k{i}", "first")
        client.good("FLUSHALL")
        for i in range(0, 300, 3):
            client.good("BF.ADD", f"k{i}", "second")
        are_made(client)
        keys = [f"k{i}" for i in range(0, 300, 3)]
        is_tidy(redis, client, keys)
        client = redis.restart(kill=True)
        is_tidy(redis, client, keys)
        for key in keys:
            has(client, key, ["second"])
            has(client, key, ["first"], 0)


def loads(redis):
    """Have filters names apart, as in the middle of a load?"""
    return any(name.startswith(("redis:loading:", "redis:orphan:")) for name in filters(redis))


class Load:
    """A server whose disk is slow starts, in the middle of whose load the `with` begins."""

    def __init__(self, disk):
        self.redis, self.disk = disk.redis, disk

    def __enter__(self):
        self.redis.kill()
        self.disk.takes(100)
        self.redis.process = subprocess.Popen(
            self.redis.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            env={**os.environ, **self.redis.environment})
        eventually(lambda: loads(self.redis), "it loads")

    def __exit__(self, *_):
        self.disk.takes(0)
        self.redis.kill()


LARGE = [f"large {i}" for i in range(12)]


def begin(client):
    for key in LARGE:
        client.good("BF.RESERVE", key, "0.01", 200000)
        client.good("BF.ADD", key, f"of {key}")
    client.good("BF.ADD", "small", "of small")
    are_made(client)


def a_server_that_is_killed_as_it_loads():
    """Three times, each in the middle.  What local processes had added is there in the end, and nothing is left of the
    filters that were made meanwhile.  Seen to fail where a leftover made way for what was loaded."""
    with Disk(**LOGGED) as (disk, client):
        redis = disk.redis
        begin(client)
        client.good("CF.RESERVE", "counted", 5000)
        client.good("CF.ADD", "counted", "x")
        before = made_at(redis)
        for key in LARGE + ["small"]:
            add_here(redis, key, f"here {key}")
        for _ in range(3):
            with Load(disk):
                pass
            same(set(before) - set(made_at(redis)), set(), "each filter has its name")
        client = redis.start()
        is_tidy(redis, client, LARGE + ["small", "counted"])
        for key in LARGE + ["small"]:
            has(client, key, [f"of {key}", f"here {key}"])
            same(made_at(redis)[key], before[key], "the filter of before")
        same(client.good("CF.COUNT", "counted", "x"), 1, "counted once")


def a_process_that_adds_while_the_server_loads():
    """It opens each filter by its name in the middle of the load, and adds.  Seen to fail where a leftover made way for
    what was loaded, which had the name then and was dropped in the end."""
    with Disk(**LOGGED) as (disk, client):
        redis = disk.redis
        begin(client)
        turns = 0
        with Load(disk):
            while turns < 3 or (turns < 30 and loads(redis)):
                for key in LARGE + ["small"]:
                    add_here(redis, key, f"here {turns} {key}")
                turns += 1
            eventually(redis.is_up, "all is loaded")
            client = redis.client()
            for key in LARGE + ["small"]:
                has(client, key, [f"here {turn} {key}" for turn in range(turns)])
            is_tidy(redis, client, LARGE + ["small"])


run(many_filters_are_taken_as_they_are, keys_that_change_in_the_log, a_log_that_begins_anew,
    a_server_that_is_killed_as_it_loads, a_process_that_adds_while_the_server_loads)
