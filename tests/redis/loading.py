# SPDX-License-Identifier: BSD-2-Clause
"""loading.py MODULE TAMIS SLOW_DISK: an AOF is loaded beside what the store had.

Local processes have added to the filters too, so what the commands of the AOF make is not enough: each key must get the
filter that the store had of it, and that filter must be there under its name all the time.
"""
import os
import shutil
import struct
import time

import rdb_payload
from beside import LOGGED, add_here, has, is_tidy, made_at
from harness import are_made, eventually, filters, follow, info, is_rewritten, pipelined, run, same, served, server, store_of
from slow_disk import Disk

COUNT = 2000


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


def keys_that_go_after_a_load():
    """Their filters go, too, and those that are made anew have nothing of them after another kill.  Seen to fail where
    draft_forget() noted that nothing is in the store, and the value then got the filter that the store had."""
    for make in ("auto", "sync"):
        for rewritten in (False, True):
            with served("make", make, **LOGGED) as (redis, client):
                keys = [f"k{i}" for i in range(20)]
                pipelined(client, [("BF.MADD", key, "a", f"b {key}") for key in keys])
                are_made(client)
                if rewritten:
                    rewrite(client)
                add_here(redis, keys[2], "from here")
                client = redis.restart(kill=True)
                client.good("DEL", *keys[:5])
                is_tidy(redis, client, keys[5:])
                client.good("BF.ADD", keys[2], "a")
                are_made(client)
                client = redis.restart(kill=True)
                is_tidy(redis, client, [keys[2]] + keys[5:])
                has(client, keys[2], ["a"])
                has(client, keys[2], [f"b {keys[2]}", "from here"], 0)
                client.good("FLUSHDB")
                is_tidy(redis, client, [])


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


def keys_that_were_restored():
    """What local processes have added stays, after each start.  Seen to fail where RESTORE of an AOF counted as loaded content
    whose origin the store does not have: with tamis.exact the payload tells none."""
    for exact in ("no", "yes"):
        with served("exact", exact, **LOGGED) as (redis, client):
            client.good("BF.MADD", "first", "x", "y")
            client.good("RESTORE", "copy", 0, client.good("DUMP", "first"))
            are_made(client)
            told = client.good("BF.INFO", "copy")
            add_here(redis, "copy", "here")
            for _ in range(2):
                client = redis.restart(kill=True)
                same(client.good("BF.INFO", "copy")[-2:], told[-2:], "how it grows")
                is_tidy(redis, client, ["copy", "first"])
                has(client, "copy", ["x", "y", "here"])


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


def a_database_that_was_emptied_and_changed_places():
    """Another thread releases the values, and takes its time for large ones; then the same keys come again.  Seen to fail
    where SWAPDB gave filters of values whose drafts were forgotten other names: those were of the keys that came later."""
    with served(**LOGGED) as (redis, client):
        keys = [f"k{i}" for i in range(200)]
        pipelined(client, [("BF.ADD", key, "first") for key in keys])
        for i in range(20):
            client.good("HSET", f"large {i}", *[part for n in range(20000) for part in (f"field {n}", "x")])
        client.good("FLUSHDB", "ASYNC")
        client.good("SWAPDB", 0, 1)
        pipelined(client, [("BF.ADD", key, "second") for key in keys])
        are_made(client)
        is_tidy(redis, client, keys)
        for key in keys:
            add_here(redis, key, f"here {key}")
        client = redis.restart(kill=True)
        is_tidy(redis, client, keys)
        for key in keys:
            has(client, key, ["second", f"here {key}"])
            has(client, key, ["first"], 0)


def rewrite(client):
    client.good("BGREWRITEAOF")
    is_rewritten(client)


def a_log_with_a_preamble():
    """It has the content of filters, and commands come behind it: further items for some, more than the capacity of others.
    All get what the store had.  Seen to fail without stream_is_within() and without draft_held_has_room()."""
    for exact in ("no", "yes"):
        with served("exact", exact, **LOGGED) as (redis, client):
            keys = [f"host {i}" for i in range(400)]
            pipelined(client, [("BF.MADD", key, "a", f"b {key}") for key in keys])
            are_made(client)
            rewrite(client)
            pipelined(client, [("BF.ADD", key, "behind") for key in keys[::2]])
            many = [f"grows {i}" for i in range(700)]
            for key in keys[:20]:
                client.good("BF.MADD", key, *many)
            client.good("RENAME", keys[30], "other name")
            client.good("DEL", keys[31])
            client.good("BF.ADD", keys[31], "second life")
            client.good("COPY", keys[32], "copy")
            client.good("DEL", keys[33])
            names = sorted(set(keys + ["other name", "copy"]) - {keys[30], keys[33]})
            is_tidy(redis, client, names)
            for name in names[::7]:
                add_here(redis, name, f"here {name}")
            before, told = made_at(redis), client.good("BF.INFO", keys[0])
            for _ in range(2):
                client = redis.restart(kill=True)
                is_tidy(redis, client, names)
                same(made_at(redis), before, f"exact {exact}: the filters of before")
                for name in names[::7]:
                    has(client, name, [f"here {name}"])
                for key in keys[:20] + keys[40::33]:
                    has(client, key, ["a", f"b {key}"])
                for key in keys[40:80:6]:
                    has(client, key, ["behind"])
                for key in keys[:20]:
                    has(client, key, many)
                same(client.good("BF.INFO", keys[0]), told, "what is told of a grown one")
                has(client, "other name", ["a", f"b {keys[30]}"])
                has(client, keys[31], ["second life"])
                same(client.good("BF.MEXISTS", keys[31], "a", f"b {keys[31]}"), [0, 0], "of its first life")
                has(client, "copy", ["a", f"b {keys[32]}"])


def files(redis):
    return os.listdir(os.path.join(store_of(redis), "segments"))


def a_dump_without_its_store():
    """On another machine, say.  Small filters come into drawers, many at a time.  Seen to fail where each was imported: 300
    files."""
    for exact in ("no", "yes"):
        with served("exact", exact, save="900 1000000") as (redis, client):
            keys = [f"host {i}" for i in range(300)]
            pipelined(client, [("BF.MADD", key, "a", f"b {key}") for key in keys])
            are_made(client)
            told = [client.good("BF.INFO", key) for key in keys[:3]]
            client.good("SAVE")
            redis.kill()
            shutil.rmtree(store_of(redis))
            client = redis.start()
            are_made(client)
            same(len(files(redis)) < 20, True, f"few files: {len(files(redis))}")
            is_tidy(redis, client, keys)
            for key in keys[::17]:
                has(client, key, ["a", f"b {key}"])
            same(client.good("BF.EXISTS", keys[5], "strange"), 0, "strange")
            same([client.good("BF.INFO", key) for key in keys[:3]], told, "what is told")
            client.good("DEBUG", "RELOAD")
            are_made(client)
            client.good("BF.ADD", keys[5], "later")
            client = redis.restart(kill=True)
            has(client, keys[5], ["a", "later"])
            is_tidy(redis, client, keys)


def a_disk_that_refuses_what_is_loaded():
    """A replica has it in memory then, answers, and saves it.  Seen to fail where save_content() of rdb.c asks no draft."""
    with served(repl_diskless_sync_delay=0) as (redis, client), Disk(save="900 1000000") as (disk, replica):
        keys = [f"host {i}" for i in range(300)]
        pipelined(client, [("BF.MADD", key, "a", f"b {key}") for key in keys])
        replica.good("BF.ADD", "first", "x")
        are_made(replica)
        disk.takes(-1)
        follow(replica, redis)
        same(info(replica, "filters_to_make") > 0, True, "they are in memory")
        replica.good("SAVE")
        replica.good("BGREWRITEAOF")
        is_rewritten(replica)
        disk.redis.kill()
        disk.takes(0)
        replica = disk.redis.start()
        are_made(replica)
        replica.good("TAMIS.ORPHANS", "DROP", "first")  # which the disk has kept
        is_tidy(disk.redis, replica, keys)
        for key in keys[::17]:
            has(replica, key, ["a", f"b {key}"])


def a_replica_that_takes_many():
    """A full sync, twice: the second time over what the replica has."""
    with served(repl_diskless_sync_delay=0) as (redis, client), served(save="") as (other, replica):
        keys = [f"host {i}" for i in range(500)]
        pipelined(client, [("BF.MADD", key, "a", f"b {key}") for key in keys])
        are_made(client)
        for turn in range(2):
            replica.good("REPLICAOF", "127.0.0.1", redis.port)
            eventually(lambda: replica.good("DBSIZE") == len(keys), "it has all")
            are_made(replica)
            is_tidy(other, replica, keys)
            same(len(files(other)) < 30, True, f"few files: {len(files(other))}")
            for key in keys[::25]:
                has(replica, key, ["a", f"b {key}"])
                has(replica, key, ["strange"], 0)
            replica.good("REPLICAOF", "NO", "ONE")
            replica.good("BF.ADD", keys[0], "of the replica alone")
        has(replica, keys[0], ["a", "of the replica alone"])


def dump_of_redisbloom(client, keys, path):
    """A dump.rdb as RedisBloom writes it, of the filters of these keys."""
    with open(path, "wb") as file:
        file.write(b"REDIS0010" + b"\xfe\x00")
        for key in keys:
            at, head = client.good("BF.SCANDUMP", key, 0)
            data = client.good("BF.SCANDUMP", key, at)[1]
            options, growth = struct.unpack_from("<II", head, 12)
            value = rdb_payload.bloom(4, rdb_payload.bloom_layers(head, data), options, growth)
            file.write(value[:1] + rdb_payload.length(len(key)) + key.encode() + value[1:-10])
        file.write(b"\xff" + bytes(8))  # no checksum


def a_dump_of_redisbloom():
    """Its small filters come into drawers, many at a time.  Where the disk refuses them, a dump and an AOF have them all the
    same.  Seen to fail where each was imported, and without save_loaded_payload() in rdb.c."""
    with Disk("exact", "yes", save="900 1000000") as (disk, client):
        redis = disk.redis
        keys = [f"host {i}" for i in range(300)]
        pipelined(client, [("BF.MADD", key, "a", f"b {key}") for key in keys])
        for key in keys[:150]:
            client.good("DEL", key)
            client.good("BF.INSERT", key, "NONSCALING", "ITEMS", "a", f"b {key}")
        are_made(client)
        told = [client.good("BF.INFO", key) for key in (keys[0], keys[200])]
        dumped = [client.good("BF.SCANDUMP", key, 0) for key in (keys[0], keys[200])]
        dump = os.path.join(redis.directory, "other.rdb")
        dump_of_redisbloom(client, keys, dump)

        def is_whole():
            are_made(client)
            is_tidy(redis, client, keys)
            for key in keys[::7]:
                has(client, key, ["a", f"b {key}"])
            same(client.good("BF.EXISTS", keys[9], "strange"), 0, "strange")
            same([client.good("BF.INFO", key) for key in (keys[0], keys[200])], told, "what is told")
            same([client.good("BF.SCANDUMP", key, 0) for key in (keys[0], keys[200])], dumped, "what is dumped")

        redis.kill()
        shutil.rmtree(store_of(redis))
        shutil.copy(dump, os.path.join(redis.directory, "dump.rdb"))
        client = redis.start()
        is_whole()
        same(len(files(redis)) < 20, True, f"few files: {len(files(redis))}")
        # Once more, with a disk that refuses them.
        client.good("FLUSHALL")
        eventually(lambda: not filters(redis), "the store is empty")
        disk.takes(-1)
        with server_with(dump) as master:
            follow(client, master)
            same(info(client, "filters_to_make") > 0, True, "they are in memory")
            client.good("SAVE")
            client.good("REPLICAOF", "NO", "ONE")
        redis.kill()
        shutil.rmtree(store_of(redis))
        disk.takes(0)
        client = redis.start()
        is_whole()


def server_with(dump):
    master = server("exact", "yes", repl_diskless_sync_delay=0)
    shutil.copy(dump, os.path.join(master.directory, "dump.rdb"))
    return master


def a_preamble_with_drafts():
    """The AOF is rewritten while filters are in memory only.  Local processes add to them later.  Seen to fail where such a
    draft counted as loaded content, whose origin the store did not have: the additions were an orphan's."""
    for exact in ("no", "yes"):
        with Disk("exact", exact, **LOGGED) as (disk, client):
            redis = disk.redis
            client.good("BF.ADD", "first", "x")
            disk.stands_still()
            keys = [f"host {i}" for i in range(50)]
            pipelined(redis.client(), [("MULTI",)] + [("BF.MADD", key, "a", f"b {key}") for key in keys] + [("EXEC",)])
            same(info(client, "filters_to_make") > 0, True, "they are in memory")
            rewrite(client)
            disk.takes(0)
            are_made(client)
            for key in keys:
                add_here(redis, key, f"here {key}")
            before = made_at(redis)
            client = redis.restart(kill=True)
            is_tidy(redis, client, keys + ["first"])
            same(made_at(redis), before, f"exact {exact}: the filters of before")
            for key in keys:
                has(client, key, ["a", f"b {key}", f"here {key}"])


def most_memory(redis):
    """In MiB, since the server began."""
    with open(f"/proc/{redis.process.pid}/status", encoding="ascii") as status:
        return [int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM:")][0]


def a_log_with_many_bytes():
    """So many that the drafts which are held would take too much memory: they come into the store meanwhile, under names
    apart.  Seen to fail where their bytes were not counted: 382 MiB, and not 202."""
    with served(appendonly="yes", appendfsync="everysec", auto_aof_rewrite_percentage=0) as (redis, client):
        keys = [f"k{i}" for i in range(600)]
        for key in keys:
            client.good("BF.MADD", key, *[f"{key} {n} " + "x" * 60000 for n in range(10)])
        are_made(client)
        add_here(redis, keys[0], "here")
        time.sleep(1.1)  # the AOF is on the disk
        client = redis.restart(kill=True)
        most = most_memory(redis)
        same(most < 290, True, f"the server had {most} MiB")
        is_tidy(redis, client, keys)
        has(client, keys[0], ["here"])
        for key in keys[::60]:
            has(client, key, [f"{key} {n} " + "x" * 60000 for n in range(10)])


def logged(*words):
    """A command as an AOF has it."""
    return b"".join([b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words])


def a_log_that_ends_with_a_flush():
    """Another thread releases the values.  Seen to fail where they could get filters meanwhile that the store had: some stayed in the
    store, and were no orphans."""
    keys = [f"k{i}" for i in range(10)]
    for _ in range(5):
        with served("make", "sync", **LOGGED) as (redis, client):
            for key in keys:
                client.good("BF.RESERVE", key, "0.01", 100000)
            redis.kill()
            with open(os.path.join(redis.directory, "appendonlydir", "appendonly.aof.1.incr.aof"), "ab") as log:
                log.write(logged("FLUSHDB", "ASYNC"))
            client = redis.start()
            same(client.good("DBSIZE"), 0, "keys")
            same(sorted(name.decode() for name, _ in client.good("TAMIS.ORPHANS", "LIST")), keys, "orphans")
            time.sleep(0.2)  # whoever would drop one
            same(filters(redis), keys, "filters")


def a_log_that_is_rewritten_at_once():
    """The server was killed before the store had anything of the last commands, and the AOF is rewritten before it has: a
    draft that was held has more keys than a dump takes.  Seen to fail without draft_can_be_saved(): no server loads the AOF
    that was made."""
    with Disk(**LOGGED) as (disk, client):
        redis = disk.redis
        for key in ("another", "k"):
            client.good("BF.MADD", key, "x", "y")
        are_made(client)
        redis.kill()
        items = [f"i{i}" for i in range(110)]
        with open(os.path.join(redis.directory, "appendonlydir", "appendonly.aof.1.incr.aof"), "ab") as log:
            log.write(logged("DEL", "k") + logged("BF.MADD", "k", *items))
        disk.takes(300)
        client = redis.start()
        rewrite(client)
        redis.kill()
        disk.takes(0)
        client = redis.start()
        has(client, "k", items)
        has(client, "k", ["x", "y"], 0)


run(many_filters_are_taken_as_they_are, keys_that_go_after_a_load, keys_that_change_in_the_log,
    keys_that_were_restored, a_log_that_begins_anew, a_database_that_was_emptied_and_changed_places, a_log_with_a_preamble,
    a_dump_without_its_store, a_disk_that_refuses_what_is_loaded, a_replica_that_takes_many, a_dump_of_redisbloom,
    a_preamble_with_drafts, a_log_with_many_bytes, a_log_that_ends_with_a_flush, a_log_that_is_rewritten_at_once)
