# SPDX-License-Identifier: BSD-2-Clause
"""late.py MODULE TAMIS SLOW_DISK: filters that only the store can have, and that the server makes for somebody who cannot wait: in MULTI, in
scripts, by RESTORE and COPY, for a master, from a dump and an AOF.  A thread makes their files.  The server answers while the disk stands still.
TAMIS_REDIS_HOME=store."""
from harness import eventually, refused, run, same, server, served
from rdb_payload import closed
from slow_disk import Disk

SETTINGS = {"appendonly": "yes", "appendfsync": "always", "repl_diskless_sync_delay": 0}
SPECIAL = {"window": ("0.01", 1000, "WINDOWITEMS", 1000, "SLICES", 3), "secret": ("0.01", 1000, "HASHSET", "sip"),
           "rule": ("0.01", 1000, "KEYRULE", "name"), "durable": ("0.01", 1000, "DURABLE"), "excepted": ("0.01", 1000)}


def make(client):
    for key, words in SPECIAL.items():
        client.good("TAMIS.RESERVE", key, *words)
        client.good("TAMIS.ADD", key, "example.org", "x")
    client.good("TAMIS.EXCEPT", "excepted", "ADD", "x")


def told_of(client, prefix=""):
    return {key: client.good("BF.MEXISTS", prefix + key, "example.org", "x", "other") for key in SPECIAL}


WANTED = {key: [1, int(key != "excepted"), 0] for key in SPECIAL}


def begin(client):
    make(client)
    same(told_of(client), WANTED, "what is there")
    return {key: client.good("DUMP", key) for key in SPECIAL}


def come(client, dumps):
    """Makes them by RESTORE and COPY, and in MULTI and a script."""
    for key, dump in dumps.items():
        client.good("RESTORE", "restored " + key, 0, dump)
        same(client.good("COPY", key, "copy of " + key), 1, "COPY")
    client.good("MULTI")
    client.good("TAMIS.RESERVE", "in multi", *SPECIAL["window"])
    same(client.good("EXEC"), ["OK"], "MULTI")
    client.good("EVAL", "return redis.call('TAMIS.RESERVE', KEYS[1], '0.01', 1000, 'HASHSET', 'sip')", 1, "in script")


def all_are_there(client, what):
    for prefix in ("", "restored ", "copy of "):
        same(told_of(client, prefix), WANTED, f"{what}, {prefix}")
    same(client.good("BF.MEXISTS", "in multi", "example.org", "y"), [0, 0], what)
    same(client.good("BF.MEXISTS", "in script", "example.org", "y"), [0, 0], what)


def nobody_waits_for_them():
    """Seen to fail where make_late() does the work itself: RESTORE has no answer."""
    with Disk(**SETTINGS) as (disk, client), server() as second:
        other = disk.followed_by(second)
        dumps = begin(client)
        disk.stands_still()
        come(client, dumps)
        same(client.good("PING"), "PONG", "it answers")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        all_are_there(other, "the replica")
        disk.takes(0)
        all_are_there(client, "the server")
        for prefix in ("restored ", "copy of "):
            eventually(lambda: client.good("TAMIS.INFO", prefix + "window")[1] == (prefix + "window").encode(), "its label")
        client = disk.redis.restart(kill=True)
        all_are_there(client, "behind a kill")
        same(client.good("TAMIS.ORPHANS", "LIST"), [], "no orphans")


def a_kill_comes_before_the_thread():
    """A copy is then made of what the AOF has of it: the source has more by now.  Seen to fail without bind_tell_stream(): the copy has `y`."""
    for preamble in ("yes", "no"):
        with Disk(**SETTINGS, aof_use_rdb_preamble=preamble) as (disk, client):
            dumps = begin(client)
            disk.stands_still()
            come(client, dumps)
            disk.redis.kill()
            disk.takes(0)
            client = disk.redis.start()
            all_are_there(client, "behind a kill")
            disk.stands_still()
            client.good("COPY", "window", "second copy")
            client.good("BF.ADD", "window", "y")
            disk.redis.kill()
            disk.takes(0)
            client = disk.redis.start()
            same([client.good("BF.MEXISTS", key, "example.org", "y") for key in ("window", "second copy")], [[1, 1], [1, 0]], "the copy")


def a_replica_loads_them():
    """A full sync onto a disk that stands still."""
    with server(**SETTINGS) as first, Disk() as (disk, client):
        make(first.client())
        client.good("BF.ADD", "first", "x")
        disk.stands_still()
        client.good("REPLICAOF", "127.0.0.1", first.port)
        eventually(lambda: b"master_link_status:up" in client.good("INFO", "replication"), "the full sync ends")
        same(client.good("DBSIZE"), len(SPECIAL), "all keys")
        disk.takes(0)
        same(told_of(client), WANTED, "the replica")


def one_that_cannot_be_made_is_told():
    """A payload whose stream is damaged within: the server's checksum is right.  The key says so; saves go on, and DEL works."""
    with served() as (redis, client):
        dumps = begin(client)
        dump = bytearray(dumps["window"])
        dump[len(dump) // 2] ^= 1
        client.good("RESTORE", "k", 0, closed(bytes(dump[:-10])))
        refused(client("BF.EXISTS", "k", "x"), "ERR the filter cannot be opened", "the key")
        same("has lost its filter" in redis.log(), True, "the log")
        refused(client("BF.EXISTS", "k", "x"), "ERR the filter cannot be opened", "the key")
        client.good("SAVE")
        client.good("BGSAVE")
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "BGSAVE ends")
        same(b"rdb_last_bgsave_status:ok" in client.good("INFO", "persistence"), True, "BGSAVE")
        client = redis.restart()
        refused(client("BF.EXISTS", "k", "x"), "ERR the filter cannot be opened", "the key")
        same(client.good("DEL", "k"), 1, "DEL")
        same(told_of(client), WANTED, "the others")


def a_child_is_born_while_a_filter_grows():
    """A thread that is in the library's catalog then goes on, as the server waits for it before fork().  Seen to hang while the library's
    handlers of fork() were registered behind the module's, at the first use."""
    with Disk() as (disk, client):
        client.good("TAMIS.RESERVE", "k", *SPECIAL["durable"])
        client.good("BF.MADD", "k", *range(1000))
        disk.takes(50)
        adding = [disk.redis.client() for _ in range(3)]
        for i, one in enumerate(adding, 1):
            one.send("BF.MADD", "k", *range(10000 * i, 10000 * i + 3000))
        same(client.good("BGSAVE"), "Background saving started", "BGSAVE")
        disk.takes(0)
        same([len(one.answer()) for one in adding], [3000] * 3, "the adds")


run(a_child_is_born_while_a_filter_grows, nobody_waits_for_them, a_kill_comes_before_the_thread, a_replica_loads_them, one_that_cannot_be_made_is_told)
