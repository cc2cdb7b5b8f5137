# SPDX-License-Identifier: BSD-2-Clause
"""million.py MODULE TAMIS: what a server pays for each of very many small filters."""
import contextlib
import os

from harness import eventually, info, pipelined, run, same, served

MANY = 2000


@contextlib.contextmanager
def server_with(count, **settings):
    with served(save="900 1000000000", **settings) as (redis, client):
        make(client, range(count))
        yield redis, client


def make(client, numbers):
    same(pipelined(client, [("BF.MADD", f"user:{i}", *"xyz") for i in numbers]), [[1, 1, 1]] * len(numbers), "made")


def used_memory(client):
    for line in client.good("INFO", "memory").decode().split("\r\n"):
        if line.startswith("used_memory:"):
            return int(line.split(":")[1])
    raise AssertionError("INFO has no used_memory")


def a_filter_has_few_bytes():
    """450 at most, with the server's own key, which has some 100.  What a server and its clients have besides is there before the first
    look, and does not count."""
    with server_with(MANY) as (redis, client):
        fewer = used_memory(client)
        make(client, range(MANY, 4 * MANY))
        each = (used_memory(client) - fewer) / (3 * MANY)
        print(f"a new filter: {each:.0f} bytes")
        same(each <= 450, True, f"{each} bytes for a filter that was made")
        client.good("SAVE")
        client = redis.restart(kill=True)
        same((info(client, "filters"), info(client, "open_filters")), (4 * MANY, 0), "all are loaded")
        loaded = used_memory(client)
        client.good("DEL", *(f"user:{i}" for i in range(4 * MANY)))
        eventually(lambda: loaded - used_memory(client) > 200 * 4 * MANY, "most of the memory comes back")
        each = (loaded - used_memory(client)) / (4 * MANY)
        print(f"a filter that was loaded: {each:.0f} bytes")
        same(each <= 450, True, f"{each} bytes for a filter that was loaded")


def cpu_s(process):
    """The seconds of a processor that a process has had: what else the machine does is no part of it."""
    total = 0
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def a_restart_is_cheap_for_each():
    """Some 2 microseconds of a processor, and at most 20; four times the filters take about four times as long."""
    with server_with(MANY) as (redis, client):
        times = {}
        for count in (MANY, 4 * MANY):
            make(client, range(int(client.good("DBSIZE")), count))
            client.good("SAVE")
            client = redis.restart(kill=True)
            same(info(client, "filters"), count, "all are there")
            times[count] = cpu_s(redis.process)
            print(f"{count} filters: {times[count]:.3f} s")
        same(times[4 * MANY] < 20e-6 * 4 * MANY + 0.1, True, times)
        same(times[4 * MANY] < 8 * times[MANY], True, times)


run(a_filter_has_few_bytes, a_restart_is_cheap_for_each)
