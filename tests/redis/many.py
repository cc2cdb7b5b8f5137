# SPDX-License-Identifier: BSD-2-Clause
"""many.py MODULE TAMIS NOSYNC: more filters than the server may have open (tamis.max-open); model.py has them, too.

NOSYNC is a library without syncs, as filters are made one after the other.  Each of these was seen to fail:
few_descriptors_are_enough for a server that closes no handle, closed_filters_are_merged for a COMBINE that did
not hold its sources, saved_filters_are_whole for a child that opened none of them, what_others_do_to_closed_filters for
a handle that was opened by its name alone.
"""
import contextlib
import os
import sys

from harness import are_made, eventually, filters, info, pipelined, refused, run, same, served, store_of, tamis

NOSYNC = os.path.abspath(sys.argv.pop(3))
MANY = 60


@contextlib.contextmanager
def few_open(*arguments, most=4, **settings):
    environment = {"LD_PRELOAD": NOSYNC}
    with served("max-open", most, *arguments, environment=environment, **settings) as (redis, client):
        yield redis, client


def make(client, count=MANY):
    same(pipelined(client, [("BF.ADD", f"k{i}", f"item {i}") for i in range(count)]), [1] * count, "made")
    are_made(client)


def ask(client, count=MANY, what="asked"):
    for _ in range(2):  # TAMIS.INFO opens a filter; BF.CARD and BF.MEXISTS ask one that is closed too
        pipelined(client, [("TAMIS.INFO", f"k{i}") for i in range(count)])
        same([card for card in pipelined(client, [("BF.CARD", f"k{i}") for i in range(count)]) if card not in (1, 2)], [], what)
        same(pipelined(client, [("BF.MEXISTS", f"k{i}", f"item {i}", "stranger") for i in range(count)]), [[1, 0]] * count, what)


def few_descriptors_are_enough():
    """With 256 descriptors the server has 2,000 filters, and its clients."""
    environment = {"LD_PRELOAD": NOSYNC}
    shell = ("bash", "-c", 'ulimit -n 256; exec "$@"', "bash")
    with served(environment=environment, prefix=shell) as (redis, client):
        make(client, 2000)
        ask(client, 2000)
        same(info(client, "filters"), 2000, "filters")
        most = int(client.good("CONFIG", "GET", "tamis.max-open")[1])
        same(info(client, "open_filters") <= most < 100, True, f"at most {most} are open")
        allowed = int(client.good("CONFIG", "GET", "maxclients")[1])
        same(allowed > 150, True, f"{allowed} clients")
        clients = [client] + [redis.client() for _ in range(allowed - 1)]
        same([one("BF.EXISTS", f"k{i}", f"item {i}") for i, one in enumerate(clients)], [1] * allowed, "all are served")
        for one in clients[1:]:
            one.close()


def the_setting_changes_what_is_open():
    with few_open(most=40) as (redis, client):
        make(client)
        ask(client)
        eventually(lambda: info(client, "open_filters") == 40, "by loadmodule")
        client.good("CONFIG", "SET", "tamis.max-open", 5)
        eventually(lambda: info(client, "open_filters") == 5, "the others are closed")
        with open(f"/proc/{redis.process.pid}/maps", encoding="utf-8") as file:
            same(sum("/segments/" in line for line in file), 5, "filters that are mapped")
        same(info(client, "items"), MANY, "items of all, open or closed")
        client.good("CONFIG", "SET", "tamis.max-open", 100)
        ask(client)
        same(info(client, "open_filters"), MANY, "all are opened again")
        refused(client("CONFIG", "SET", "tamis.max-open", 0), "ERR CONFIG SET failed")
    with few_open(most=3) as (redis, client):
        for _ in range(3):  # a growing filter, and its neighbours
            client.good("BF.MADD", "grows", *range(2000))
            make(client, 10)
            client.good("DEL", *(f"k{i}" for i in range(10)))
        same(client.good("BF.MEXISTS", "grows", *range(2000)), [1] * 2000, "it grew, and was closed")


def closed_filters_are_merged():
    with few_open() as (_, client):
        make(client)
        client.good("TAMIS.COMBINE", "all", "UNION", *(f"k{i}" for i in range(MANY)))
        same(client.good("BF.MEXISTS", "all", *(f"item {i}" for i in range(MANY))), [1] * MANY, "TAMIS.COMBINE")
        client.good("BF.ADD", "k0", "of k0")
        client.good("TAMIS.MERGE", "k1", *(f"k{i}" for i in range(2, MANY)), "k0")
        same(client.good("BF.MEXISTS", "k1", "of k0", *(f"item {i}" for i in range(MANY))), [1] * (MANY + 1), "TAMIS.MERGE")
        eventually(lambda: info(client, "open_filters") == 4, "the others are closed afterwards")


def durable_filters_stay_open():
    with few_open("drop-orphans", "no") as (redis, client):
        for i in range(10):
            client.good("TAMIS.RESERVE", f"d{i}", "0.01", 100, "DURABLE")
            client.good("BF.ADD", f"d{i}", f"item {i}")
        make(client)
        ask(client)
        same(info(client, "open_filters") in (10, 11), True, "ten that are durable, and one until the server's cron comes by")
        client = redis.restart(kill=True)
        eventually(lambda: info(client, "orphans") == MANY + 10, "the dump has nothing")
        for i in range(10):
            client.good("TAMIS.ATTACH", f"d{i}")
            same(client.good("BF.EXISTS", f"d{i}", f"item {i}"), 1, "a durable filter")


def saved_filters_are_whole():
    for mode in ("content", "reference"):
        with few_open("rdb", mode, save="900 1000000") as (redis, client):
            make(client)
            for i in range(10):
                client.good("TAMIS.RESERVE", f"c{i}", "0.01", 100, "KIND", "counting")
                client.good("TAMIS.ADD", f"c{i}", "x", "x")
            client.good("BGSAVE")
            client.good("BF.ADD", "k0", "later")
            eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "it is saved")
            same(b"rdb_last_bgsave_status:ok" in client.good("INFO", "persistence"), True, "well")
            same("lacks the filter" in redis.log(), False, redis.log()[-2000:])
            same(info(client, "open_filters"), 4, "the child has its own")
            client = redis.restart(kill=True)
            eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")
            ask(client, what=f"of a dump with {mode}")
            same([client.good("TAMIS.COUNT", f"c{i}", "x") for i in range(10)], [[2]] * 10, "counts")
            client = redis.restart()  # an orderly end brings all to the disk
            ask(client, what="after an orderly end")
            same([client.good("TAMIS.COUNT", f"c{i}", "x") for i in range(10)], [[2]] * 10, "counts")
            listed = tamis("list", "--store", store_of(redis))
            same("unclean" in listed, False, listed)


def what_others_do_to_closed_filters():
    with few_open() as (redis, client):
        make(client, 20)
        store = store_of(redis)
        tamis("rename", "--store", store, "k0", "elsewhere")
        same(client.good("BF.EXISTS", "k0", "item 0"), 1, "a filter that was renamed while it was closed")
        ask(client, 20)
        eventually(lambda: info(client, "open_filters") == 4, "the others are closed")
        tamis("drop", "--store", store, "k1")
        tamis("create", "--store", store, "k1", "-n", "100")
        for command in (("BF.EXISTS", "k1", "item 1"), ("BF.MEXISTS", "k1", "x"), ("BF.ADD", "k1", "x"), ("BF.CARD", "k1"),
                        ("TAMIS.INFO", "k1")):
            refused(client(*command), "ERR the filter cannot be opened: ", command)
        same(client.good("DEL", "k1"), 1, "its key can go")
        same("k1" in filters(redis), True, "and the other filter of that name stays")
        tamis("add", "--store", store, "k2", text="local\n")
        same(client.good("BF.EXISTS", "k2", "local"), 1, "what a local process has added")


run(few_descriptors_are_enough, the_setting_changes_what_is_open, closed_filters_are_merged,
    durable_filters_stay_open, saved_filters_are_whole, what_others_do_to_closed_filters)
