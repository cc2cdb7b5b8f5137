# SPDX-License-Identifier: BSD-2-Clause
"""drafts_async.py MODULE TAMIS SLOW_DISK: with tamis.make async a thread makes the filters, and the answers do not wait for it.

The disk of the store stands still while the thread has a batch, so each case meets the thread in its work at any speed of
the machine.  Each was seen to fail: nobody_waits for drafts that the main thread makes; keys_that_are_added for keys that a draft
gets while the thread has it and that nobody adds afterwards; keys_that_go for a draft that is freed while the thread has it;
commands_that_wait for a draft that is made a second time, as nobody waits for the thread; a_disk_that_fails for one that is
taken for made after an error; many_are_put_off without the limit.
"""
import os
import signal
import threading

from harness import eventually, filters, follow, has_filters, has_items, info, pipelined, run, same, store_of, tamis, together
from slow_disk import DiskWithStore, waiting_clients

MANY = 1500


class Making(DiskWithStore):
    """Its disk stands still soon."""

    PATIENCE_S = 120

    def __init__(self, *arguments, **settings):
        super().__init__("make", "async", *arguments, **settings)

    def holds_a_batch(self, client, *keys):
        """From now on the thread has a batch with these keys, each of which has the item x."""
        self.stands_still()
        same(pipelined(client, [("BF.ADD", key, "x") for key in keys]), [1] * len(keys), "new filters")
        same(client.good("PING"), "PONG", "another turn")


def named(count, prefix="k"):
    return [f"{prefix}{i}" for i in range(count)]


def sound(redis):
    same("problem" in tamis("verify", "--store", store_of(redis)), False, "sound")


def is_loaded(client):
    eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")


def nobody_waits():
    with Making() as (disk, client):
        disk.holds_a_batch(client, "a")
        names = named(MANY)
        same(pipelined(client, [("BF.ADD", name, "x") for name in names]), [1] * MANY, "more than a batch")
        same(client.good("BF.MADD", "m", "x", "y", "x"), [1, 1, 0], "BF.MADD")
        same(client.good("BF.INSERT", "i", "CAPACITY", 50, "ITEMS", "x"), [1], "BF.INSERT")
        other = disk.redis.client()
        same(other.good("BF.MEXISTS", "m", "x", "z"), [1, 0], "they work")
        same(pipelined(other, [("BF.EXISTS", name, "x") for name in names]), [1] * MANY, "they work")
        same(info(other, "filters_to_make"), MANY + 3, "all are drafts")
        disk.takes(0)
        has_filters(disk.redis, sorted(names + ["a", "first", "i", "m"]), "all come into the store")
        eventually(lambda: info(other, "filters_to_make") == 0, "no draft is left")
        same(pipelined(client, [("BF.MEXISTS", name, "x", "y") for name in names]), [[1, 0]] * MANY, "with their items")
        same(client.good("BF.INFO", "i", "CAPACITY"), [50], "of BF.INSERT")


def keys_that_are_added():
    with Making() as (disk, client):
        disk.holds_a_batch(client, "a", "b")
        same(client.good("BF.ADD", "a", "y"), 1, "the thread has it")
        same(client.good("BF.MADD", "a", "x", "z", "y"), [0, 1, 0], "and more")
        same(client.good("BF.MEXISTS", "a", "x", "y", "z", "w"), [1, 1, 1, 0], "asked")
        disk.takes(0)
        eventually(lambda: info(client, "filters_to_make") == 0, "no draft is left")
        same(has_items(disk.redis, "a", "x", "y", "z"), True, "in the store")
        same(client.good("BF.CARD", "a"), 3, "counted")
        same((client.good("BF.CARD", "b"), client.good("BF.ADD", "b", "y")), (1, 1), "the other one")


def keys_that_go():
    ways = {"DEL": ("DEL", "a", "b"), "UNLINK": ("UNLINK", "a", "b"), "FLUSHALL": ("FLUSHALL",),
            "ASYNC": ("FLUSHALL", "ASYNC"), "FLUSHDB": ("FLUSHDB",)}
    for way in ways.values():
        with Making() as (disk, client):
            disk.holds_a_batch(client, "a", "b")
            pipelined(client, [("BF.ADD", name, "x") for name in ("c", "d")])  # these wait for the thread
            client.good(*way)
            if len(way) > 2:
                client.good("DEL", "c", "d", "first")
            eventually(lambda: client.good("DBSIZE") == 0, "all keys are gone")
            same(client.good("BF.EXISTS", "a", "x"), 0, way)
            disk.takes(0)
            has_filters(disk.redis, [], way)
    with Making() as (disk, client):
        disk.holds_a_batch(client, "a", "b", "c")
        client.good("SET", "a", "string")
        client.good("PEXPIRE", "b", 1)
        eventually(lambda: client.good("EXISTS", "b") == 0, "it expires")
        client.good("DEL", "c")
        same([client.good("BF.ADD", name, "y") for name in ("b", "c")], [1, 1], "made again")
        disk.takes(0)
        eventually(lambda: len(filters(disk.redis)) == 3, "the store has no other")
        same([client.good("BF.MEXISTS", name, "x", "y") for name in ("b", "c")], [[0, 1]] * 2, "each has its own filter")
        same(client.good("GET", "a"), b"string", "SET")
        sound(disk.redis)


def commands_that_wait():
    commands = (("BF.INFO", "a", "ITEMS"), ("BF.CARD", "a"), ("RENAME", "a", "z"), ("COPY", "a", "z"), ("MOVE", "a", 1),
                ("SWAPDB", 0, 1), ("BF.MADD", "a", *range(200)), ("BF.SCANDUMP", "a", 0), ("DUMP", "a"), ("BF.RESERVE", "a", 0.1, 9),
                ("TAMIS.DETACH", "a"), ("DEBUG", "RELOAD"), ("SAVE",))
    for command in commands:
        with Making() as (disk, client):
            disk.holds_a_batch(client, "a", "b")
            client.send(*command)
            disk.takes(0)
            client.answer()
            if command[0] == "SWAPDB":
                client.good("SELECT", 1)
            at = "z" if command[0] in ("RENAME", "COPY") else "a"
            if command[0] == "MOVE":
                client.good("SELECT", 1)
            if command[0] != "TAMIS.DETACH":
                same(client.good("BF.MEXISTS", at, "x", "y"), [1, 0], command)
            has_filters(disk.redis, sorted({"RENAME": ["b", "first", "z"], "COPY": ["a", "b", "first", "z"],
                                            "MOVE": ["b", "first", "redis:1:a"],
                                            "SWAPDB": ["redis:1:a", "redis:1:b", "redis:1:first"]}.get(
                                                command[0], ["a", "b", "first"])), command)


def children_have_them():
    for words in ("BGSAVE", "BGREWRITEAOF"):
        settings = {"save": "900 1000000"} if words == "BGSAVE" else {"appendonly": "yes", "appendfsync": "always"}
        with Making(**settings) as (disk, client):
            disk.holds_a_batch(client, *named(MANY))
            client.send(words)
            disk.takes(0)
            client.answer()
            eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence") and
                       b"aof_rewrite_in_progress:0" in client.good("INFO", "persistence") and
                       b"aof_rewrite_scheduled:0" in client.good("INFO", "persistence"), "the child is done")
            same("lacks the filter" in disk.redis.log(), False, disk.redis.log()[-2000:])
            client = disk.redis.restart(kill=True)
            is_loaded(client)
            same(pipelined(client, [("BF.EXISTS", name, "x") for name in named(MANY)]), [1] * MANY, words)


def killed():
    """While the thread has a batch, and others wait."""
    with Making(appendonly="yes", appendfsync="always") as (disk, client):
        disk.holds_a_batch(client, *named(MANY))
        client.good("BF.ADD", "k0", "y")
        disk.redis.kill()
        disk.takes(0)
        disk.redis.start()
        client = disk.redis.client()
        is_loaded(client)
        same(pipelined(client, [("BF.EXISTS", name, "x") for name in named(MANY)]), [1] * MANY, "all that was answered")
        same(client.good("BF.MEXISTS", "k0", "y", "z"), [1, 0], "and what was added to a draft")
        has_filters(disk.redis, sorted(named(MANY) + ["first"]), "each has a filter")
        sound(disk.redis)
    with Making() as (disk, client):
        disk.holds_a_batch(client, *named(MANY))
        disk.redis.kill()
        disk.takes(0)
        disk.redis.start()
        client = disk.redis.client()
        same(client.good("DBSIZE"), 0, "nothing was saved")
        same(client.good("BF.ADD", "k0", "y"), 1, "the names are free")
        eventually(lambda: info(client, "filters_to_make") == 0, "the store goes on")
        same(filters(disk.redis), ["first", "k0"], "nothing of what was under way")
        sound(disk.redis)


def killed_at_any_time():
    """Whatever was answered is there after a kill, with an AOF.  The thread makes batch after batch meanwhile."""
    with Making(appendonly="yes", appendfsync="always") as (disk, client):
        answered = 0
        for turn in range(3):
            client = disk.redis.client()
            is_loaded(client)
            killer = threading.Timer(0.05 + 0.05 * turn, disk.redis.process.send_signal, (signal.SIGKILL,))
            killer.start()
            try:
                while True:
                    for i in range(answered, answered + 20):
                        client.send("BF.ADD", f"k{i}", "x")
                    for _ in range(20):
                        client.answer()
                        answered += 1
            except (OSError, ConnectionError):
                pass
            killer.join()
            disk.redis.kill()
            disk.redis.start()
        client = disk.redis.client()
        is_loaded(client)
        same(pipelined(client, [("BF.EXISTS", name, "x") for name in named(answered)]), [1] * answered, "what was answered")
        eventually(lambda: info(client, "filters_to_make") == 0, "no draft is left")
        sound(disk.redis)
        same(client.good("BF.ADD", f"k{answered + 40}", "x"), 1, "and it goes on")


def an_orderly_end():
    with Making(appendonly="yes", appendfsync="always") as (disk, client):
        disk.holds_a_batch(client, *named(MANY))
        client.good("DEL", "k0", "k1")
        client.send("SHUTDOWN", "NOSAVE")
        disk.takes(0)
        disk.redis.process.wait()
        same(filters(disk.redis), sorted(named(MANY)[2:] + ["first"]), "all are in the store, and those that went are not")


def replicas_have_them():
    with Making() as (disk, client), Making() as (other, follower):
        follow(follower, disk.redis)
        disk.stands_still()
        other.stands_still()
        same(pipelined(client, [("BF.ADD", name, "x") for name in named(MANY)]), [1] * MANY, "new filters")
        eventually(lambda: follower.good("DBSIZE") == MANY + 1, "the replica has got the commands")
        same(pipelined(follower, [("BF.EXISTS", name, "x") for name in named(MANY)]), [1] * MANY, "asked")
        disk.takes(0)
        other.takes(0)
        for one in (disk, other):
            has_filters(one.redis, sorted(named(MANY) + ["first"]), "in both stores")


def a_disk_that_fails():
    with Making() as (disk, client):
        disk.takes(-1)
        same(client.good("BF.MADD", "a", "x"), [1], "it is answered")
        eventually(lambda: "in memory only" in disk.redis.log(), "the log says so")
        same((client.good("BF.ADD", "a", "y"), client.good("BF.MEXISTS", "a", "x", "y", "z")), (1, [1, 1, 0]), "it works")
        disk.takes(0)
        has_filters(disk.redis, ["a", "first"], "it comes into the store when the disk goes on")
        eventually(lambda: info(client, "filters_to_make") == 0, "no draft is left")
        same(has_items(disk.redis, "a", "x", "y"), True, "with what was added meanwhile")
        eventually(lambda: client("BF.ADD", "b", "x") in (0, 1), "there are new filters again")


def a_name_that_another_process_takes():
    """Whoever comes first has the name; the key has a filter of its own in any case."""
    def create():
        try:
            tamis("create", "--store", store_of(disk.redis), "a", "-n", 10)
            return True
        except AssertionError:
            return False

    with Making() as (disk, client):
        disk.holds_a_batch(client, "b")
        same(client.good("BF.ADD", "a", "x"), 1, "a draft that waits")
        took, _ = together(create, lambda: disk.takes(0))
        eventually(lambda: info(client, "filters_to_make") == 0, "no draft is left")
        same(client.good("BF.MEXISTS", "a", "x", "y"), [1, 0], "the key")
        same(len(filters(disk.redis)), 4 if took else 3, "filters")
        same(has_items(disk.redis, "a", "x"), not took, "whose name it is")


def many_are_put_off():
    """A client that makes more filters than the server has memory for waits, and others are answered."""
    most, more, item = 64, 2, "x" * (1 << 20)
    with Making() as (disk, client):
        disk.stands_still()
        for i in range(most + more):
            client.send("BF.ADD", f"k{i}", item)
        other = disk.redis.client()
        eventually(lambda: waiting_clients(other) == 1, "the client waits")
        same(other.good("BF.EXISTS", "k0", item), 1, "another one is answered")
        same(info(other, "filters_to_make"), most, "as many as may be")
        disk.takes(0)
        same([client.answer() for _ in range(most + more)], [1] * (most + more), "all are made")
        has_filters(disk.redis, sorted(named(most + more) + ["first"]), "in the store")
        same(client.good("BF.EXISTS", f"k{most}", item), 1, "of the command that was put off")


def settings_are_changed():
    """While the thread has a batch, too."""
    with Making() as (disk, client):
        disk.holds_a_batch(client, "a")
        client.send("CONFIG", "SET", "tamis.make", "sync")
        disk.takes(0)
        same(client.answer(), "OK", "CONFIG SET")
        same(client.good("BF.ADD", "b", "x"), 1, "made at once")
        same(filters(disk.redis), ["a", "b", "first"], "in the store before the answer")
        client.good("CONFIG", "SET", "tamis.make", "async")
        same(client.good("CONFIG", "GET", "tamis.make"), [b"tamis.make", b"async"], "CONFIG GET")


run(nobody_waits, keys_that_are_added, keys_that_go, commands_that_wait, children_have_them, killed, killed_at_any_time,
    an_orderly_end, replicas_have_them, a_disk_that_fails, a_name_that_another_process_takes, many_are_put_off,
    settings_are_changed)
