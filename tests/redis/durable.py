# SPDX-License-Identifier: BSD-2-Clause
"""durable.py MODULE TAMIS SLOW_DISK: adds to durable filters answer when the disk has them, and the server goes on.

tests/mutants has what it was seen to fail for, as its mutants redis_durable_*.  keys_change_under_the_threads was seen to hang
while the registry's handler of fork() was registered before the library's.
"""
import itertools
import os
import select
import time

from harness import beside, eventually, is_linked, is_rewritten, refused, run, same, served, store_of, tamis
from redis_client import Error
from slow_disk import Disk, waiting_clients


def info(client, field):
    flat = client.good("TAMIS.INFO", "k") if field in ("durable", "state", "items") else client.good("TAMIS.STATS")
    return dict(zip(flat[::2], flat[1::2]))[field]


def reserve(client, key="k", *options):
    client.good("TAMIS.RESERVE", key, "0.0001", 10000, "DURABLE", *options)
    client.good("BF.ADD", key, "first")  # makes the log


def the_server_goes_on_while_the_disk_works():
    for command, answer in ((("BF.ADD", "k", "x"), 1), (("BF.MADD", "k", "first", "y"), [0, 1]),
                            (("BF.INSERT", "k", "ITEMS", "z"), [1])):
        with Disk() as (disk, client):
            reserve(client)
            disk.stands_still()
            adder, = disk.ask(client, command)
            same([client.good("BF.EXISTS", "k", "first") for _ in range(100)], [1] * 100, "others are answered")
            same(select.select([adder.socket], [], [], 0)[0], [], "the answer waits for the disk")
            disk.takes(0)
            same(adder.answer(), answer, command)


def clients_share_a_sync():
    with Disk() as (disk, client):
        reserve(client)
        before = info(client, "durable_batches")
        same(sum(disk.at_once(client, *[("BF.ADD", "k", f"key {i}") for i in range(64)])), 64, "64 new keys")
        same(info(client, "durable_batches") - before < 8, True, "few syncs for 64 clients")
        same(sum(disk.at_once(client, *[("BF.ADD", "k", "the same")] * 64)), 1, "one of 64 is told NEW")
        answers = disk.at_once(client, *[("BF.MADD", "k", "a", "b", f"only {i}") for i in range(16)])
        same([sum(column) for column in zip(*answers)], [1, 1, 16], "each key is new once")


def clients_that_cannot_wait_are_answered():
    with Disk() as (disk, client):
        reserve(client)
        disk.takes(20)
        client.good("MULTI")
        client.good("BF.ADD", "k", "x")
        client.good("BF.MADD", "k", "x", "y")
        same(client.good("EXEC"), [1, [0, 1]], "in MULTI")
        same(client.good("EVAL", "return {redis.call('BF.ADD', KEYS[1], 'x'), redis.call('BF.ADD', KEYS[1], 'z')}",
                         "1", "k"), [0, 1], "in a script")
        disk.stands_still()
        gone, = disk.ask(client, ("BF.ADD", "k", "of a client that goes"))
        gone.close()
        eventually(lambda: waiting_clients(client) == 0, "the server knows that it has gone")
        disk.takes(0)
        eventually(lambda: client.good("BF.EXISTS", "k", "of a client that goes"), "its key is added")
        same(client.good("BF.ADD", "k", "of a client that goes"), 0, "and the server lives")
        three = disk.redis.client(3)
        same((three.good("BF.ADD", "k", "r"), three.good("BF.MADD", "k", "r", "s")), (True, [False, True]), "RESP3")


def a_sick_disk_is_told():
    with Disk() as (disk, client):
        reserve(client)
        disk.takes(-1)
        refused(client("BF.ADD", "k", "x"), "ERR problem inserting into filter: ")
        many = client.good("BF.MADD", "k", "x", "y")
        same([isinstance(answer, Error) for answer in many], [True, True], "each key has the error")
        same(info(client, "durable_failures") > 0, True, "TAMIS.STATS tells it")
        same(client.good("PING"), "PONG", "the server goes on")
        disk.takes(0)
        client.good("BF.ADD", "k", "x")
        same((client.good("BF.ADD", "k", "x"), info(client, "state")), (0, b"ok"), "once the disk is well")


def one_bad_key_harms_nobody_else():
    """The log takes no key of 20 MiB, unless the hash set has digests."""
    with Disk(proto_max_bulk_len="64mb") as (disk, client):
        reserve(client, "k", "HASHSET", "php:bkdr,sdbm,js", "KIND", "bloom")
        disk.stands_still()
        before, = disk.ask(client, ("BF.ADD", "k", "while the disk works for this one, others come together"))
        bad, *others = disk.ask(client, ("BF.ADD", "k", b"x" * (20 << 20)), *[("BF.ADD", "k", f"key {i}") for i in range(12)])
        disk.takes(0)
        refused(bad.answer(), "ERR problem inserting into filter: a key of 20971520 bytes is too long")
        same([one.answer() for one in (before, *others)], [1] * 13, "the keys of the others")


def full_filters_refuse():
    with Disk() as (disk, client):
        client.good("TAMIS.RESERVE", "k", "0.01", 10, "ONFULL", "refuse", "DURABLE")
        answer = client.good("BF.MADD", "k", *range(12))
        same((len(answer), answer[:10]), (11, [1] * 10), "up to the first that is refused")
        refused(answer[10], "ERR non scaling filter is full")
        refused(client("BF.ADD", "k", "another"), "ERR non scaling filter is full")
        same(client.good("BF.ADD", "k", "3"), 0, "what is in needs no room")


def keys_change_under_the_threads():
    with Disk() as (disk, client):
        end = time.monotonic() + 4

        def add(number):
            own = disk.redis.client()
            for i in itertools.count(0, 2):
                yield own("BF.MADD", f"k{number % 2}", f"{number} {i}", f"{number} {i + 1}")

        with beside(*map(add, range(8))):
            disk.takes(2)
            while time.monotonic() < end:
                for key in ("k0", "k1"):
                    client("TAMIS.RESERVE", key, "0.01", 1000, "DURABLE", "SEED", 1)
                for words in (("COPY", "k0", "c"), ("RENAME", "k1", "r"), ("TAMIS.RESERVE", "k1", "0.01", 1000, "DURABLE"),
                              ("TAMIS.MERGE", "c", "k0"), ("DEBUG", "DIGEST-VALUE", "k0"), ("DUMP", "k1"), ("UNLINK", "k0"),
                              ("BGSAVE",), ("DEL", "r", "c"), ("SWAPDB", 0, 1), ("SWAPDB", 0, 1), ("DEL", "k1")):
                    client(*words)
                client.good("FLUSHALL", "ASYNC")
        same(client.good("PING"), "PONG", "the server lives")
        disk.redis.restart()
        same("unclean" in tamis("verify", "--store", store_of(disk.redis)), False, "the store is well")


def dumps_have_what_was_told_to_replicas():
    """A key whose command came before the dump is in it, or in the commands behind it: a replica gets all keys,
    whenever its full sync begins.  The same holds for an AOF and its rewrites."""
    for diskless in ("yes", "no"):
        with Disk(repl_diskless_sync=diskless, repl_diskless_sync_delay=0, appendonly="yes") as (disk, client):
            reserve(client)
            disk.takes(30)
            told = []

            def add(number):
                own = disk.redis.client()
                for i in itertools.count():
                    own.good("BF.ADD", "k", f"{number} {i}")
                    yield told.append(f"{number} {i}")

            with served() as (_, follower):
                with beside(*map(add, range(8))):
                    follower.good("REPLICAOF", "127.0.0.1", disk.redis.port)
                    client.good("BGREWRITEAOF")
                    is_linked(follower)
                    dumped = len(told)
                    eventually(lambda: len(told) > dumped + 100, "adds come behind the dump")
                client.good("WAIT", 1, 10000)
                eventually(lambda: follower.good("BF.MEXISTS", "k", *told) == [1] * len(told), "the replica has all")
                same(info(follower, "durable"), 1, "its filter is durable")
                # Not the items, which the head has: a key that came while the dump was made may be in it, and is not new then.
                same(follower.chunks("BF.SCANDUMP", "k")[1:], client.chunks("BF.SCANDUMP", "k")[1:], "the bits")
            os.rename(store_of(disk.redis), store_of(disk.redis) + ".away")  # the AOF alone
            client = disk.redis.restart(kill=True)
            same(client.good("BF.MEXISTS", "k", *told), [1] * len(told), "the AOF has all")


def filters_stay_durable():
    for preamble in ("yes", "no"):
        with Disk(appendonly="yes", aof_use_rdb_preamble=preamble) as (disk, client):
            reserve(client)
            client.good("COPY", "k", "c")
            client.good("RESTORE", "r", 0, client.good("DUMP", "k"))
            client.good("BGREWRITEAOF")
            is_rewritten(client)
            disk.redis.kill()
            os.rename(store_of(disk.redis), store_of(disk.redis) + ".away")
            client = disk.redis.start()
            for key in ("k", "c", "r"):
                flat = client.good("TAMIS.INFO", key)
                same(flat[flat.index("durable") + 1], 1, key)
                same(client.good("BF.MADD", key, "first", "second"), [0, 1], key)


run(the_server_goes_on_while_the_disk_works, clients_share_a_sync, clients_that_cannot_wait_are_answered,
    a_sick_disk_is_told, one_bad_key_harms_nobody_else, full_filters_refuse, keys_change_under_the_threads,
    dumps_have_what_was_told_to_replicas, filters_stay_durable)
