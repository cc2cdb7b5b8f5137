# SPDX-License-Identifier: BSD-2-Clause
"""drafts.py MODULE TAMIS: with tamis.make sync, filters that commands make in one turn of the server's event loop come into the store
together.

Each of these was seen to fail: all_of_a_turn_are_one_change for a server that makes one filter after the other;
the_store_has_them_before_the_answer for drafts that nobody brings into the store before the server sleeps;
a_draft_answers_as_its_filter for an item that is new each time; keys_that_go for a draft that stays on the list when its value
is freed; children_have_them for handlers of fork() that are registered before
those of the library (the child waits for ever); a_store_that_is_held for drafts that nobody tries to enter again;
a_name_that_another_process_takes for a batch that gives up when one of its names is taken; filters_are_opened_once for a
value that is opened again after the drafts, its own among them, have come into the store (the server crashes later).
"""
import fcntl
import os
import shutil
import struct

from harness import eventually, filters, follow, has_filters, refused, run, same, served, store_of, tamis, together

MANY = 1500  # more than come into the store by one call


def sync(*arguments, **settings):
    return served("make", "sync", *arguments, **settings)


def changes(redis):
    """How often the catalog was changed: the number of its last transaction."""
    with open(os.path.join(store_of(redis), "catalog.mdb"), "rb") as file:
        head = file.read(8192)
    return max(struct.unpack_from("<Q", head, page + 144)[0] for page in (0, 4096))


def one_turn(client, *commands):
    """The answers to the commands of a transaction, which nothing comes between."""
    client.good("MULTI")
    for command in commands:
        same(client.good(*command), "QUEUED", command)
    return client.good("EXEC")


def adds(count, prefix="k"):
    return [("BF.ADD", f"{prefix}{i}", f"item {i}") for i in range(count)]


def names(count, prefix="k"):
    return sorted(f"{prefix}{i}" for i in range(count))


def all_of_a_turn_are_one_change():
    with sync() as (redis, client):
        client.good("BF.ADD", "first", "x")  # it makes the store
        before = changes(redis)
        same(one_turn(client, *adds(100)), [1] * 100, "made")
        same(0 < changes(redis) - before <= 4, True, f"{changes(redis) - before} changes of the catalog for 100 filters")
        same(filters(redis), sorted(names(100) + ["first"]), "in the store")
        same(one_turn(client, *(("BF.MEXISTS", f"k{i}", f"item {i}", "y") for i in range(100))), [[1, 0]] * 100, "asked")
        script = f"for i = 1, {MANY} do redis.call('BF.ADD', 's' .. i, i) end return {MANY}"
        same(client.good("EVAL", script, 0), MANY, "a script that makes more than one call takes")
        same(len(filters(redis)), 101 + MANY, "in the store")


def filters_are_opened_once():
    with sync() as (redis, client):
        client.good("BF.ADD", "first", "x")
        one_turn(client, *adds(3), ("BF.INFO", "k1"), ("DEL", "k1"))
        one_turn(client, *adds(3, "other"))
        one_turn(client, *(("BF.INFO", name) for name in names(3, "other")))
        eventually(lambda: b"tamis_open_filters:6" in client.good("INFO", "tamis"), "each is open once")
        same(client.good("BF.EXISTS", "k2", "item 2"), 1, "all goes on")


def the_store_has_them_before_the_answer():
    with sync() as (redis, client):
        for i in range(20):
            client.good("BF.ADD", f"k{i}", "x")
            same(tamis("check", "--store", store_of(redis), f"k{i}", text="x\n"), "x\n", "a local process finds it")
        client.good("BF.RESERVE", "reserved", "0.01", 1000)
        tamis("add", "--store", store_of(redis), "reserved", text="local\n")
        same(client.good("BF.EXISTS", "reserved", "local"), 1, "and adds to it")


def killed_after_the_answer():
    with sync("drop-orphans", "no") as (redis, client):
        client.good("BF.ADD", "first", "x")
        one_turn(client, *adds(50))
        client = redis.restart(kill=True)
        same(filters(redis), sorted(names(50) + ["first"]), "the store has what the server kept nowhere else")
        eventually(lambda: b"tamis_orphans:51" in client.good("INFO", "tamis"), "they are orphans")
        client.good("TAMIS.ATTACH", "k7")
        same(client.good("BF.MEXISTS", "k7", "item 7", "x"), [1, 0], "with their items")
        same("problem" in tamis("verify", "--store", store_of(redis)), False, "sound")
    with sync("drop-orphans", "no", appendonly="yes", appendfsync="always") as (redis, client):
        client.good("BF.ADD", "first", "x")
        one_turn(client, *adds(50))
        client = redis.restart(kill=True)
        eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")
        same([client.good("BF.EXISTS", f"k{i}", f"item {i}") for i in range(50)], [1] * 50, "keys of an AOF")
        redis.stop()
        shutil.rmtree(store_of(redis))  # all is loaded into a new store
        redis.start()
        client = redis.client()
        eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")
        same([client.good("BF.EXISTS", f"k{i}", f"item {i}") for i in range(50)], [1] * 50, "keys of an AOF, without the store")
        same(filters(redis), sorted(names(50) + ["first"]), "in the store")


def a_draft_answers_as_its_filter():
    with sync() as (redis, client):
        client.good("BF.ADD", "first", "x")
        same(one_turn(client, ("BF.MADD", "a", "x", "y", "x", ""), ("BF.ADD", "a", "y"), ("BF.ADD", "a", "z"),
                      ("BF.MEXISTS", "a", "x", "y", "z", "", "w"), ("BF.EXISTS", "a", "z"), ("BF.EXISTS", "a", "w"),
                      ("BF.INSERT", "a", "NOCREATE", "ITEMS", "v", "v"), ("BF.CARD", "a"), ("BF.ADD", "a", "u")),
             [[1, 1, 0, 1], 0, 1, [1, 1, 1, 1, 0], 1, 0, [1, 0], 5, 1], "one after the other")
        same(client.good("BF.CARD", "a"), 6, "afterwards")
        answers = one_turn(client, ("BF.RESERVE", "r", "0.001", 500), ("BF.RESERVE", "r", "0.001", 400), ("BF.ADD", "r", "x"))
        same((answers[0], answers[2]), ("OK", 1), "BF.RESERVE")
        refused(answers[1], "ERR item exists")
        same(client.good("BF.INFO", "r", "CAPACITY"), [500], "of the first one")
        answers = one_turn(client, ("BF.INSERT", "n", "CAPACITY", 3, "NONSCALING", "ITEMS", 1, 2),
                           ("BF.INSERT", "n", "ITEMS", 3, 4))
        same(answers[0], [1, 1], "a filter that does not grow")
        refused(answers[1][-1], "ERR non scaling filter is full")
        one_turn(client, ("BF.MADD", "m", *range(1000)))
        same(client.good("BF.MEXISTS", "m", *range(1000)), [1] * 1000, "more items than a draft has")
        one_turn(client, ("BF.MADD", "l", *range(90)), ("BF.MADD", "l", *range(90, 180)))
        same(client.good("BF.MEXISTS", "l", *range(180)), [1] * 180, "and in two steps")
        same(client.good("BF.ADD", "b", "long " * 9999), 1, "a long item")
        same(client.good("BF.EXISTS", "b", "long " * 9999), 1, "a long item")


def keys_that_go():
    with sync() as (redis, client):
        client.good("BF.ADD", "first", "x")
        same(one_turn(client, ("BF.ADD", "a", "x"), ("DEL", "a"), ("BF.EXISTS", "a", "x"), ("BF.ADD", "a", "y"),
                      ("BF.MEXISTS", "a", "x", "y")), [1, 1, 0, 1, [0, 1]], "DEL")
        same(one_turn(client, ("BF.ADD", "b", "x"), ("RENAME", "b", "c"), ("BF.ADD", "b", "y"), ("BF.EXISTS", "c", "x")),
             [1, "OK", 1, 1], "RENAME")
        same(one_turn(client, ("BF.ADD", "d", "x"), ("COPY", "d", "e"), ("MOVE", "d", 1), ("BF.ADD", "d", "y")), [1, 1, 1, 1],
             "COPY and MOVE")
        same(client.good("BF.MEXISTS", "e", "x", "y"), [1, 0], "the copy")
        same(client.good("BF.MEXISTS", "d", "x", "y"), [0, 1], "a new one")
        has_filters(redis, ["a", "b", "c", "d", "e", "first", "redis:1:d"], "in the store")
        one_turn(client, ("BF.ADD", "s", "0"), ("SWAPDB", 0, 1), ("BF.ADD", "s", "1"))
        same(client.good("BF.MEXISTS", "s", "0", "1"), [0, 1], "SWAPDB")
        client.good("SWAPDB", 0, 1)
        same(client.good("BF.MEXISTS", "s", "0", "1"), [1, 0], "and back")
        dump = client.good("DUMP", "a")
        same(one_turn(client, ("BF.ADD", "t", "x"), ("RESTORE", "t", 0, dump, "REPLACE"), ("BF.MEXISTS", "t", "x", "y")),
             [1, "OK", [0, 1]], "RESTORE REPLACE")
        for flush in (("FLUSHALL",), ("FLUSHALL", "ASYNC"), ("FLUSHDB", "ASYNC")):
            one_turn(client, *adds(50), flush, *adds(3, "f"))
            same(client.good("BF.MEXISTS", "f2", "item 2", "x"), [1, 0], flush)
            client.good("SELECT", 1)
            client.good("FLUSHDB")
            client.good("SELECT", 0)
            has_filters(redis, names(3, "f"), flush)
        one_turn(client, ("BF.ADD", "p", "x"), ("PEXPIRE", "p", 1))
        eventually(lambda: client.good("EXISTS", "p") == 0, "it expires")
        has_filters(redis, names(3, "f"), "a filter that expired")


def children_have_them():
    for words in ("BGSAVE", "BGREWRITEAOF"):
        settings = {"save": "900 1000000"} if words == "BGSAVE" else {"appendonly": "yes", "appendfsync": "always"}
        with sync(**settings) as (redis, client):
            for command in adds(200) + [(words,)] + adds(200, "l"):
                client.send(*command)
            for _ in range(401):
                client.answer()
            eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence") and
                       b"aof_rewrite_in_progress:0" in client.good("INFO", "persistence") and
                       b"aof_rewrite_scheduled:0" in client.good("INFO", "persistence"), "the child is done")
            same("lacks the filter" in redis.log(), False, redis.log()[-2000:])
            client = redis.restart(kill=True)
            eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")
            same([client.good("BF.EXISTS", f"k{i}", f"item {i}") for i in range(200)], [1] * 200, words)


def replicas_have_them():
    with sync() as (redis, client), sync() as (other, follower):
        follow(follower, redis)
        one_turn(client, *adds(MANY))
        eventually(lambda: follower.good("DBSIZE") == MANY, "the replica has got the commands")
        same([follower.good("BF.EXISTS", f"k{i}", f"item {i}") for i in range(MANY)], [1] * MANY, "asked")
        has_filters(other, names(MANY), "in its store")


def a_store_that_is_held():
    """The test has a lock that readers of the store have: a filter can be asked for and not made, as if the process that has
    the lock was stopped."""
    with sync() as (redis, client):
        client.good("BF.ADD", "first", "x")
        with open(os.path.join(store_of(redis), "catalog.lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            same(one_turn(client, ("BF.ADD", "a", "x"), ("BF.ADD", "b", "x")), [1, 1], "they are drafts")
            same("in memory only" in redis.log(), True, redis.log()[-500:])
            same(one_turn(client, ("BF.MEXISTS", "a", "x", "y"), ("BF.ADD", "a", "y"), ("DEL", "b")), [[1, 0], 1, 1], "and work")
            refused(client("BF.CARD", "a"), "ERR the filter cannot be opened: ", "a command for which it must be there")
            refused(client("BF.ADD", "c", "x"), "ERR could not create filter: ", "a new one")
        has_filters(redis, ["a", "first"], "they come into the store when it is free")
        same(client.good("BF.MEXISTS", "a", "x", "y", "z"), [1, 1, 0], "with what was added meanwhile")
        same(one_turn(client, *adds(20)), [1] * 20, "there are drafts again")
        has_filters(redis, sorted(names(20) + ["a", "first"]), "in the store")


def a_name_that_another_process_takes():
    script = """redis.call('BF.ADD', 'a', 'x')
                redis.call('BF.ADD', 'b', 'x')
                redis.call('TAMIS.RESERVE', 'sign', '0.01', 10)
                local answer
                repeat answer = redis.pcall('TAMIS.ATTACH', 'probe') until not answer.err
                return 1"""

    def take():
        eventually(lambda: "sign" in filters(redis), "the script is under way")
        tamis("create", "--store", store_of(redis), "a", "-n", 10)
        tamis("create", "--store", store_of(redis), "probe", "-n", 10)

    with sync() as (redis, client):
        client.good("BF.ADD", "first", "x")
        together(lambda: client.good("EVAL", script, 0), take)
        same([client.good("BF.MEXISTS", name, "x", "y") for name in ("a", "b")], [[1, 0]] * 2, "each key has its own filter")
        same(tamis("check", "--store", store_of(redis), "a", text="x\n"), "", "and the process has its own")
        there = [name for name in filters(redis) if not name.startswith("redis:aside:")]
        same(there, ["a", "b", "first", "probe", "sign"], "names")
        same(len(filters(redis)), 6, "one is under a name apart")


run(all_of_a_turn_are_one_change, filters_are_opened_once, the_store_has_them_before_the_answer, killed_after_the_answer,
    a_draft_answers_as_its_filter, keys_that_go, children_have_them, replicas_have_them, a_store_that_is_held,
    a_name_that_another_process_takes)
