# SPDX-License-Identifier: BSD-2-Clause
"""million.py MODULE TAMIS NOSYNC: what a server pays for each of very many filters.

NOSYNC is a library without syncs, as filters are made one after the other.  Each of these was seen to fail:
a_filter_has_few_bytes for a value with a buffer for its name (761 bytes), a_restart_opens_nothing and
a_restart_is_cheap_for_each for a load that opened each filter (183 microseconds of a processor).
"""
import contextlib
import os
import sys

from harness import are_made, eventually, filters, info, pipelined, run, same, served

NOSYNC = os.path.abspath(sys.argv.pop(3))
MANY = 2000


@contextlib.contextmanager
def server_with(count, *arguments, **settings):
    environment = {"LD_PRELOAD": NOSYNC}
    with served(*arguments, environment=environment, save="900 1000000000", **settings) as (redis, client):
        make(client, range(count))
        yield redis, client


def make(client, numbers):
    same(pipelined(client, [("BF.ADD", f"user:{i}", "x") for i in numbers]), [1] * len(numbers), "made")
    are_made(client)


def used_memory(client):
    for line in client.good("INFO", "memory").decode().split("\r\n"):
        if line.startswith("used_memory:"):
            return int(line.split(":")[1])
    raise AssertionError("INFO has no used_memory")


def a_filter_has_few_bytes():
    """512 at most, with the server's own key, which has some 100, as long as it is closed.  What a server and its clients
    have besides is there before the first look, and does not count."""
    with server_with(MANY, "max-open", 64) as (redis, client):
        fewer = used_memory(client)
        make(client, range(MANY, 4 * MANY))
        each = (used_memory(client) - fewer) / (3 * MANY)
        print(f"a new filter: {each:.0f} bytes")
        same(each <= 512, True, f"{each} bytes for a filter that was made")
        client.good("SAVE")
        client = redis.restart(kill=True)
        loaded = used_memory(client)
        client.good("DEL", *(f"user:{i}" for i in range(4 * MANY)))
        eventually(lambda: filters(redis) == [], "all are dropped")
        eventually(lambda: loaded - used_memory(client) > 200 * 4 * MANY, "most of the memory comes back")
        each = (loaded - used_memory(client)) / (4 * MANY)
        print(f"a filter that was loaded: {each:.0f} bytes")
        same(each <= 512, True, f"{each} bytes for a filter that was loaded")


def a_restart_opens_nothing():
    for arguments in ((), ("rdb", "reference")):
        with server_with(200, *arguments) as (redis, client):
            client.good("CF.ADD", "counts", "x")
            client.good("SAVE")
            for kill in (False, True):
                client = redis.restart(kill=kill)
                same(info(client, "filters"), 201, "filters")
                same(info(client, "open_filters"), 0, "open ones")
                same(client.good("BF.EXISTS", "user:8", "x"), 1, "a question opens none")
                client.good("TAMIS.INFO", "user:7")  # another first use opens one
                same(client.good("CF.COUNT", "counts", "x"), 1, "and another")
                same(info(client, "open_filters"), 2, "these two")
                same(info(client, "items"), 201, "after an orderly end the catalog knows the items of all")


def cpu_s(process):
    """The seconds of a processor that a process has had: what else the machine does is no part of it."""
    total = 0
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def a_restart_is_cheap_for_each():
    """Some 6 microseconds of a processor, and at most 50; four times the filters take about four times as long."""
    with server_with(MANY) as (redis, client):
        times = {}
        for count in (MANY, 4 * MANY):
            make(client, range(int(client.good("DBSIZE")), count))
            client.good("SAVE")
            client = redis.restart(kill=True)
            same(info(client, "filters"), count, "all are there")
            times[count] = cpu_s(redis.process)
            print(f"{count} filters: {times[count]:.3f} s")
        same(times[4 * MANY] < 50e-6 * 4 * MANY, True, times)
        same(times[4 * MANY] < 8 * times[MANY], True, times)


run(a_filter_has_few_bytes, a_restart_opens_nothing, a_restart_is_cheap_for_each)
