# SPDX-License-Identifier: BSD-2-Clause
"""killed_loads.py MODULE TAMIS SLOW_DISK: the server is killed in the middle of a load of its AOF, and started again.

Local processes have added to the filters that the store had before, and add to what they find meanwhile.
"""
import os
import shutil
import subprocess

from beside import LOGGED, add_here, has, is_tidy, made_at
from harness import are_made, eventually, filters, run, same, store_of
from slow_disk import Disk


def loads(redis):
    """Have filters names apart, as in the middle of a load?"""
    return any(name.startswith(("redis:loading:", "redis:orphan:")) for name in filters(redis))


class Load:
    """A server whose disk is slow starts, in the middle of whose load the `with` begins: when the store has something of it,
    or the filter of that name."""

    def __init__(self, disk, name=None):
        self.redis, self.disk = disk.redis, disk
        self.name = name

    def begins(self):
        try:
            return self.name in filters(self.redis) if self.name else loads(self.redis)
        except AssertionError:
            return False  # there is no store yet

    def __enter__(self):
        self.redis.kill()
        self.disk.takes(100)
        self.redis.process = subprocess.Popen(
            self.redis.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            env={**os.environ, **self.redis.environment})
        eventually(self.begins, "it loads")

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


def a_load_whose_filters_have_the_names_of_keys():
    """The server is killed before a filter has got the name of its key, and again in the middle of a load, which has made one of
    that name.  Seen to fail without MOVES_LOAD: the key got that one, and lacked what the local process had added."""
    for old, new in (("z", "b"), ("a", "b")):
        with Disk(**LOGGED) as (disk, client):
            redis = disk.redis
            begin(client)
            client.good("BF.RESERVE", old, "0.01", 200000)
            client.good("BF.ADD", old, "x")
            add_here(redis, old, "here")
            disk.thread_stands_still(client)
            client.good("RENAME", old, new)
            for i in range(3):
                client.good("BF.RESERVE", f"later {i}", "0.01", 200000)
            redis.kill()
            for _ in range(2):
                with Load(disk, new):
                    pass
            client = redis.start()
            is_tidy(redis, client, LARGE + ["small", new] + [f"later {i}" for i in range(3)])
            has(client, new, ["x", "here"])


def a_load_that_makes_filters_and_drops_them():
    """It is killed when the store has them.  Those that a later start drops, too, are no orphans; nor has a key items of an earlier
    life.  Seen to fail without MOVES_LOAD, and without a look at heirs in is_of_earlier_start()."""
    later = [f"later {i}" for i in range(3)]
    names = ["anew", "other name", "small"] + later
    for name in ("dropped", "renamed", "restored", "anew"):
        with Disk(**LOGGED) as (disk, client):
            redis = disk.redis

            def middle(key):
                for one in later if key == name else []:
                    client.good("BF.RESERVE", one, "0.01", 200000)

            client.good("BF.ADD", "small", "of small")
            for key in ("dropped", "renamed", "anew"):
                client.good("BF.RESERVE", key, "0.01", 200000)
                client.good("BF.MADD", key, "x", "y")
                middle(key)
                client.good(*(["RENAME", key, "other name"] if key == "renamed" else ["DEL", key]))
            client.good("RESTORE", "restored", 0, client.good("DUMP", "other name"))
            middle("restored")
            client.good("RENAME", "restored", "other name")
            client.good("BF.RESERVE", "anew", "0.01", 200000)
            client.good("BF.ADD", "anew", "y")
            are_made(client)
            is_tidy(redis, client, names)
            for key in ("anew", "other name"):
                add_here(redis, key, f"here {key}")
            if name == "anew":  # what the store has of it is of the load only
                redis.kill()
                shutil.rmtree(store_of(redis))
            with Load(disk, "later 0" if name == "anew" else name):
                pass
            client = redis.start()
            is_tidy(redis, client, names)
            has(client, "other name", ["x", "y"])
            has(client, "anew", ["y"])
            has(client, "anew", ["x"], 0)
            for key in ("anew", "other name") if name != "anew" else ():
                has(client, key, [f"here {key}"])


def a_process_that_adds_between_two_loads():
    """The first one was not finished, and the store had nothing.  Seen to fail where what is left of that one is dropped."""
    with Disk(**LOGGED) as (disk, client):
        redis = disk.redis
        begin(client)
        redis.kill()
        shutil.rmtree(store_of(redis))
        with Load(disk, LARGE[3]):
            pass
        for key in LARGE[:3]:
            add_here(redis, key, f"here {key}")
        client = redis.start()
        is_tidy(redis, client, LARGE + ["small"])
        for key in LARGE[:3]:
            has(client, key, [f"of {key}", f"here {key}"])


def a_process_that_adds_while_the_server_loads():
    """It opens each filter by its name in the middle of the load, and adds.  Seen to fail where a leftover made way for
    what was loaded, which had the name then and was dropped in the end."""
    with Disk(**LOGGED) as (disk, client):
        redis = disk.redis
        begin(client)
        turns = 0
        with Load(disk):
            while turns < 3 or (turns < 12 and loads(redis)):
                for key in LARGE + ["small"]:
                    add_here(redis, key, f"here {turns} {key}")
                turns += 1
            eventually(redis.is_up, "all is loaded")
            client = redis.client()
            for key in LARGE + ["small"]:
                has(client, key, [f"here {turn} {key}" for turn in range(turns)])
            is_tidy(redis, client, LARGE + ["small"])


run(a_server_that_is_killed_as_it_loads, a_load_whose_filters_have_the_names_of_keys,
    a_load_that_makes_filters_and_drops_them, a_process_that_adds_between_two_loads,
    a_process_that_adds_while_the_server_loads)
