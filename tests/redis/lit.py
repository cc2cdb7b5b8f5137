# SPDX-License-Identifier: BSD-2-Clause
"""lit.py MODULE TAMIS NOSYNC: small filters that are saved, or told of, without being opened (value/light.h).

NOSYNC is a library without syncs, as filters are made one after the other.  These were seen to fail: saving_opens_nothing
for a module that opens them, dumps_have_what_the_command_exports for a copy of a sheet that was left, and saving_opens_nothing for one
whose bits are all 0, a_rewritten_aof_has_all for a piece at another place, figures_open_nothing for a BF.INFO that opens the filter.
No such break is known for a_drawer_that_is_cut_ends_no_child: the checks behind each other hide that one of them lacks.
tests/unit/handle/light_export_test.c has the steps of the library.
"""
import contextlib
import glob
import os
import shutil
import sys
import time

from harness import are_made, eventually, info, pipelined, run, same, served, store_of, tamis

NOSYNC = os.path.abspath(sys.argv.pop(3))
MANY = 1200
HEAD_BYTES = 96 + 224 + 8  # of a stream of one segment


@contextlib.contextmanager
def few_open(*arguments, **settings):
    environment = {"LD_PRELOAD": NOSYNC}
    with served("max-open", 4, *arguments, environment=environment, rdbcompression="no", save="900 1000000", **settings) as (redis, client):
        yield redis, client


def make(client, count=MANY):
    same(pipelined(client, [("BF.MADD", f"k{i}", f"item {i}", f"second {i}") for i in range(count)]), [[1, 1]] * count, "made")
    are_made(client)


def loaded(client):
    eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")


def ask(client, numbers, what):
    numbers = list(numbers)
    asked = [("BF.MEXISTS", f"k{i}", f"item {i}", f"second {i}", "stranger") for i in numbers]
    same(pipelined(client, asked), [[1, 1, 0]] * len(numbers), what)


def background(client, *words):
    client.good(*words)
    eventually(lambda: b"bgsave_in_progress:0" in client.good("INFO", "persistence")
               and b"aof_rewrite_in_progress:0" in client.good("INFO", "persistence")
               and b"aof_rewrite_scheduled:0" in client.good("INFO", "persistence"), words)


def restart_without_store(redis):
    """What the dump or the AOF alone has."""
    redis.kill()
    shutil.rmtree(store_of(redis))
    client = redis.start()
    loaded(client)
    return client


def saving_opens_nothing():
    with few_open() as (redis, client):
        make(client)
        client.good("SAVE")
        client = redis.restart(kill=True)
        loaded(client)
        same(info(client, "open_filters"), 0, "none is open after a restart")
        for words in ("SAVE",), ("BGSAVE",):
            os.remove(os.path.join(redis.directory, "dump.rdb"))
            background(client, *words)
            same(info(client, "open_filters"), 0, words)
            same(info(client, "mapped_drawers"), 3, words) if words == ("SAVE",) else None
        client.good("DUMP", "k7")
        same(info(client, "open_filters"), 0, "DUMP")
        ask(restart_without_store(redis), range(MANY), "from the dump alone")


def dumps_have_what_the_command_exports():
    """Small, closed and open; with a name of before a RENAME; grown out of the drawer; with exceptions."""
    with few_open() as (redis, client):
        at = ("--store", store_of(redis))
        make(client, 20)
        client.good("RENAME", "k3", "another")
        client.good("BF.MADD", "k4", *range(500))
        client.good("TAMIS.EXCEPT", "k5", "ADD", "x")
        names = [f"k{i}" for i in range(20) if i != 3] + ["another"]
        eventually(lambda: sorted(tamis("list", "-q", *at).split()) == sorted(names), "renamed")
        for name in names:
            file = os.path.join(redis.directory, "exported")
            tamis("export", *at, "--to", "tamis", "--with-key", "--force", name, file)
            with open(file, "rb") as exported:
                same(exported.read() in client.good("DUMP", name), True, name)


def what_others_do_is_saved():
    with few_open() as (redis, client):
        at = ("--store", store_of(redis))
        make(client, 100)
        client.good("SAVE")
        client = redis.restart(kill=True)
        loaded(client)
        ask(client, range(50), "some have light handles")
        for i in 10, 60:
            tamis("add", *at, f"k{i}", text="local\n")
            tamis("add", *at, f"k{i + 1}", text="".join(f"{n}\n" for n in range(300)) + "local\n")
            tamis("except", *at, f"k{i + 2}", "add", f"item {i + 2}")
            tamis("build", *at, "--kind", "blocked", f"k{i + 3}", text="local\n")
            tamis("rename", *at, f"k{i + 4}", f"was {i + 4}")
        background(client, "BGSAVE")
        client = restart_without_store(redis)
        for i in 10, 60:
            for k, wanted in (i, [1, 1]), (i + 1, [1, 1]), (i + 2, [0, 0]), (i + 3, [0, 1]), (i + 4, [1, 0]):
                same(client.good("BF.MEXISTS", f"k{k}", f"item {k}", "local"), wanted, f"k{k}")
        ask(client, set(range(100)) - set(range(10, 15)) - set(range(60, 65)), "the others")


def a_rewritten_aof_has_all():
    with few_open(appendonly="yes", aof_use_rdb_preamble="no") as (redis, client):
        make(client, 100)
        client.good("BF.MADD", "k4", *range(500))
        client.good("BF.RESERVE", "r", "0.01", 50, "NONSCALING")
        client.good("BF.ADD", "r", "x")
        are_made(client)
        background(client, "BGREWRITEAOF")
        text = b"".join(open(name, "rb").read() for name in glob.glob(os.path.join(redis.directory, "appendonlydir", "*.base.aof")))
        same(text.count(b"BF.LOADCHUNK"), 2 * 101 + 1, "a head and a piece for each segment")
        client = restart_without_store(redis)
        ask(client, range(100), "from the AOF alone")
        same(client.good("BF.MEXISTS", "r", "x", "y"), [1, 0], "r")
        same([client.good("BF.INFO", name, "EXPANSION") for name in ("r", "k7")], [[None], [2]], "the expansion")


def a_drawer_that_is_cut_ends_no_child():
    """While it saves, which takes it some seconds.  What it could not read is told, and no filter comes back without its keys."""
    with few_open(rdb_key_save_delay=10000) as (redis, client):
        make(client, 400)
        [drawer] = glob.glob(os.path.join(store_of(redis), "segments", "*.drw"))
        client.good("BGSAVE")
        time.sleep(0.6)
        os.truncate(drawer, 4096 + 100 * 512 + 200)
        eventually(lambda: b"bgsave_in_progress:0" in client.good("INFO", "persistence"), "the child has ended")
        same(b"rdb_last_bgsave_status:ok" in client.good("INFO", "persistence"), True, "it was not killed")
        with open(os.path.join(redis.directory, "dump.rdb"), "rb") as file:
            dump = file.read()
        streams = dump.split(b"TAMISX\r\n")[1:]
        same(0 < len(streams) < 400, True, f"{len(streams)} filters are in the dump")
        data = [stream[HEAD_BYTES - 8:HEAD_BYTES - 8 + 192] for stream in streams]
        same([i for i, bits in enumerate(data) if not any(bits)], [], "filters without their bits")
        same(client.good("PING"), "PONG", "the server lives")


def figures_open_nothing():
    with few_open() as (redis, client):
        make(client, 300)
        client.good("BF.RESERVE", "r", "0.001", 60, "NONSCALING")
        client.good("BF.ADD", "r", "x")
        names = [f"k{i}" for i in range(20)] + ["r"]
        questions = [("BF.CARD",), ("BF.INFO",), ("BF.DEBUG",), ("BF.INFO", "ITEMS"), ("BF.INFO", "SIZE")]

        def told(name):
            return [client.good(question[0], name, *question[1:]) for question in questions]

        opened = {}
        for name in names:
            client.good("TAMIS.INFO", name)  # which opens it
            opened[name] = told(name)
        client.good("SAVE")
        client = redis.restart(kill=True)
        loaded(client)
        for name in names:
            same(told(name), opened[name], name)
        same(info(client, "open_filters"), 0, "none is open")
        tamis("add", "--store", store_of(redis), "k1", text="local\n")
        same([client.good("BF.CARD", "k1"), client.good("BF.INFO", "k1", "ITEMS")], [3, [3]], "what others add")
        tamis("add", "--store", store_of(redis), "k1", text="".join(f"{n}\n" for n in range(300)))
        same(client.good("BF.INFO", "k1", "FILTERS"), [2], "a filter that has grown")
        tamis("drop", "--store", store_of(redis), "k2")
        same(str(client("BF.CARD", "k2")), "ERR the filter cannot be opened: the store does not have it any more", "one that was dropped")
        same(client.good("BF.CARD", "none"), 0, "no key")
        client.good("SET", "s", "x")
        same(str(client("BF.INFO", "s")).startswith("WRONGTYPE"), True, "another type")


run(saving_opens_nothing, dumps_have_what_the_command_exports, what_others_do_is_saved, a_rewritten_aof_has_all,
    a_drawer_that_is_cut_ends_no_child, figures_open_nothing)
