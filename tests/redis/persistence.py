# SPDX-License-Identifier: BSD-2-Clause
"""persistence.py MODULE TAMIS: what survives a restart, a kill, a rewrite; both ways of tamis.rdb.

It was seen to fail without take_stored() of rdb.c, without the kept filters of kept_hold(), and without join() of
rejoin.c.
"""
import glob
import os
import time

from harness import (are_made, beside, eventually, filters, follow, has_filters, is_rewritten, refused, run, same, served, server,
                     store_of, tamis)

ITEMS = [f"item {i}" for i in range(300)]


def all_in(client, key, items=ITEMS):
    same(client.good("BF.MEXISTS", key, *items), [1] * len(items), key)


def what_a_dump_refers_to_travels():
    """Seen to fail where a value that was loaded by its id does not know that its filter is RedisBloom's: RESTORE of its DUMP had no bit."""
    for exact in ("yes", "no"):
        with served("exact", exact, "rdb", "reference", save="900 1000000") as (redis, client):
            client.good("BF.MADD", "k", *ITEMS)
            are_made(client)
            client.good("SAVE")
            client = redis.restart(kill=True)
            client.good("RESTORE", "restored", 0, client.good("DUMP", "k"))
            client.good("COPY", "k", "copied")
            for key in ("restored", "copied"):
                all_in(client, key)


def a_killed_server_loses_nothing_that_the_store_had():
    """RDB alone: the dump is older than the store, which is taken; what no dump names is an orphan."""
    for mode in ("content", "reference"):
        with served("rdb", mode, save="900 1000000") as (redis, client):
            client.good("BF.MADD", "k", *ITEMS[:100])
            are_made(client)
            client.good("SAVE")
            client.good("BF.MADD", "k", *ITEMS[100:])
            client.good("BF.ADD", "later", "x")
            are_made(client)
            client = redis.restart(kill=True)
            all_in(client, "k")
            same(client.good("EXISTS", "later"), 0, "it was in no dump")
            eventually(lambda: "1 filters of the store have no key" in redis.log(), "the log tells the orphan")
            has_filters(redis, ["k", "later"], "it stays")
            client.good("BF.ADD", "later", "y")
            same(client.good("BF.MEXISTS", "later", "x", "y"), [0, 1], "a new key of that name")
            same(client.good("TAMIS.ORPHANS", "LIST"), [[b"later", b"later"]], "the orphan keeps its name")


def an_orphan_is_attached_under_another_name():
    """Its filter gets the name of the key.  Seen to fail where the AOF has the name from before: after a restart there was
    no key."""
    with served() as (redis, client):
        client.good("BF.MADD", "k", *ITEMS)
        are_made(client)
        redis.settings.update({"appendonly": "yes", "appendfsync": "always"})
        client = redis.restart(kill=True)
        eventually(lambda: client.good("TAMIS.ORPHANS", "LIST") == [[b"k", b"k"]], "the filter is an orphan")
        client.good("TAMIS.ATTACH", "l", "k")
        has_filters(redis, ["l"], "its name")
        client = redis.restart(kill=True)
        all_in(client, "l")
        same(client.good("TAMIS.ORPHANS", "LIST"), [], "it is a key's")


def a_dump_with_references_is_good_until_the_next_one():
    """A key goes after the dump; the server dies; the dump, which has the key, is loaded.  So too if the server makes dumps only when it is
    told to: seen to fail there with a has_dump() that says no, and with a had_dump that SAVE leaves false."""
    for save in ("900 1000000", ""):
        dump_is_good_until_the_next_one(save)
    a_dump_of_an_earlier_run_is_good()


def dump_is_good_until_the_next_one(save):
    with served("rdb", "reference", save=save, dbfilename="dump.rdb") as (redis, client):
        client.good("BF.MADD", "k", *ITEMS)
        client.good("BF.MADD", "l", *ITEMS)
        are_made(client)
        client.good("SAVE")
        client.good("DEL", "k")
        client.good("BF.ADD", "k", "another life")
        client.good("UNLINK", "l")
        time.sleep(0.3)
        client = redis.restart(kill=True)
        all_in(client, "k")
        all_in(client, "l")
        client.good("DEL", "k", "l")
        time.sleep(1.1)
        client.good("BGSAVE")
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "BGSAVE")
        eventually(lambda: len(filters(redis)) == 1 == len(client.good("TAMIS.ORPHANS", "LIST")), "what went is dropped; the other life is an orphan")


def a_dump_of_an_earlier_run_is_good():
    """It was made by BGSAVE, and is loaded twice."""
    with served("rdb", "reference", save="", dbfilename="dump.rdb") as (redis, client):
        client.good("BF.MADD", "k", *ITEMS)
        are_made(client)
        client.good("BGSAVE")
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "BGSAVE")
        for _ in range(2):
            client = redis.restart(kill=True)
            all_in(client, "k")
            if "1 filters are those of the store" not in redis.log():
                raise AssertionError("the log does not tell of the store's filter")
            client.good("DEL", "k")
            time.sleep(0.3)


def a_save_beside_a_replica_that_waits_knows_the_filters():
    """Seen to fail where a dump that is made while a replica waits for one has no ids."""
    for command in ("SAVE", "BGSAVE"):
        with served(save="900 1000000", repl_diskless_sync_delay=60) as (redis, client), server() as second:
            client.good("BF.MADD", "k", *ITEMS[:10])
            are_made(client)
            second.client().good("REPLICAOF", "127.0.0.1", redis.port)
            eventually(lambda: b"state=wait_bgsave" in client.good("INFO", "replication"), "the replica waits")
            client.good(command)
            eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), command)
            client.good("BF.ADD", "k", "later")
            client = redis.restart(kill=True)
            same(client.good("BF.EXISTS", "k", "later"), 1, "the filter of the store, " + command)


def a_reference_to_another_store_is_told():
    with served("rdb", "reference", save="900 1") as (redis, client):
        client.good("BF.ADD", "k", "x")
        client.good("BF.ADD", "l", "x")
        are_made(client)
        client.good("SAVE")
        redis.kill()
        os.rename(store_of(redis), store_of(redis) + ".away")
        client = redis.start()
        refused(client("BF.EXISTS", "k", "x"), "ERR the filter cannot be opened: the dump refers to", "the key says what is missing")
        client.good("DEL", "l")
        client.good("SAVE")
        redis.kill()
        os.rename(store_of(redis), store_of(redis) + ".empty")
        os.rename(store_of(redis) + ".away", store_of(redis))
        client = redis.start()
        same((client.good("BF.EXISTS", "k", "x"), client.good("EXISTS", "l")), (1, 0), "with its store")


def a_restored_store_is_of_another_time():
    """The backup is older than the dump.  A reference finds the filter by its id; content has the later items, too, and is taken.
    Seen to fail where backups had no ids, and where a restored store had the number of the lost one."""
    for mode, later in (("reference", 0), ("content", 1)):
        with served("rdb", mode, save="900 1000000") as (redis, client):
            client.good("BF.MADD", "k", *ITEMS)
            are_made(client)
            client.good("TAMIS.SYNC", "k")
            tamis("backup", "--store", store_of(redis), redis.directory + "/backup")
            client.good("BF.ADD", "k", "later")
            client.good("SAVE")
            redis.kill()
            os.rename(store_of(redis), store_of(redis) + ".away")
            tamis("restore", "--store", store_of(redis), redis.directory + "/backup")
            client = redis.start()
            all_in(client, "k")
            same(client.good("BF.EXISTS", "k", "later"), later, mode)


def a_filter_that_was_detached_stays_whatever_an_old_dump_says():
    """The dump has the key from before TAMIS.DETACH; when the key goes, the filter is not the module's to drop."""
    for mode in ("content", "reference"):
        with served("rdb", mode, save="900 1000000") as (redis, client):
            client.good("BF.MADD", "k", *ITEMS)
            are_made(client)
            client.good("SAVE")
            client.good("TAMIS.DETACH", "k")
            client = redis.restart(kill=True)
            all_in(client, "k")
            client.good("DEL", "k")
            client.good("SAVE")
            time.sleep(0.3)
            same("k" in filters(redis), True, f"{mode}: {filters(redis)}")


def an_aof_whose_end_is_lost_gets_no_other_filter():
    """That a filter was renamed over another one is not in the AOF any more."""
    with served(appendonly="yes", appendfsync="always") as (redis, client):
        client.good("BF.MADD", "k", *ITEMS[:100])
        client.good("BF.MADD", "l", *ITEMS[100:])
        (path,) = glob.glob(redis.directory + "/appendonlydir/*.incr.aof")
        size = os.path.getsize(path)
        client.good("RENAME", "k", "l")
        eventually(lambda: filters(redis) == ["l"], "what l had is gone; Valkey frees it in another thread")
        redis.kill()
        os.truncate(path, size)
        client = redis.start()
        all_in(client, "k", ITEMS[:100])
        all_in(client, "l", ITEMS[100:])
        same(sum(client.good("BF.MEXISTS", "l", *ITEMS[:100])) < 20, True, "l has not the items of k")
        eventually(lambda: len(filters(redis)) == 3 and len(client.good("TAMIS.ORPHANS", "LIST")) == 1, "an orphan")


def a_grown_filter_gets_what_local_processes_added():
    """They have filled its first segment, so that the AOF's items lie in another one than by the AOF alone."""
    with served(appendonly="yes", appendfsync="always") as (redis, client):
        client.good("BF.RESERVE", "k", "0.000001", 300)
        client.good("BF.MADD", "k", *ITEMS[:100])
        local = "".join(f"local {i}\n" for i in range(5000))
        tamis("add", "--store", store_of(redis), "k", text=local)
        client.good("BF.MADD", "k", *ITEMS[100:])
        client = redis.restart(kill=True)
        all_in(client, "k")
        all_in(client, "k", local.split("\n")[:-1])
        eventually(lambda: filters(redis) == ["k"], "one filter is left")


def aof_rewrites():
    for preamble in ("yes", "no"):
        for exact in ("yes", "no"):
            with served("exact", exact, appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble) as (redis, client):
                client.good("BF.RESERVE", "k", "0.01", 20, "EXPANSION", 4)
                client.good("BF.MADD", "k", *ITEMS[:200])
                info = client.good("BF.INFO", "k")
                client.good("BGREWRITEAOF")
                client.good("BF.MADD", "k", *ITEMS[200:])
                client.good("RENAME", "k", "l")
                is_rewritten(client)
                before = client.good("BF.INFO", "l")
                client = redis.restart(kill=True)
                all_in(client, "l")
                same(client.good("BF.INFO", "l"), before, f"preamble {preamble}, exact {exact}, {info}")
                eventually(lambda: filters(redis) == ["l"], "the store has this one")


def what_an_aof_lacks_is_in_the_store():
    """The end of the AOF is lost, as appendfsync everysec allows; the store has all that was acknowledged."""
    for exact in ("yes", "no"):
        with served("exact", exact, appendonly="yes") as (redis, client):
            client.good("BF.ADD", "k", ITEMS[0])
            are_made(client)
            for item in ITEMS:
                client.good("BF.ADD", "k", item)
            card = client.good("BF.CARD", "k")
            redis.kill()
            (path,) = glob.glob(redis.directory + "/appendonlydir/*.incr.aof")
            os.truncate(path, os.path.getsize(path) - 3000)
            client = redis.start()
            all_in(client, "k")
            same(client.good("BF.CARD", "k"), card, "and counts them")
            eventually(lambda: filters(redis) == ["k"], "one filter is left")


LARGE = 100_000  # items: 120 KiB at 1 %
SMALL = ("max-bytes", 1 << 16)


def make_large(client, store, exact):
    """Filters that are larger than SMALL allows, by each command that can ask for one; returns their keys."""
    client.good("CONFIG", "SET", "tamis.max-bytes", 1 << 30)
    client.good("BF.RESERVE", "bf", "0.01", LARGE)
    client.good("CF.RESERVE", "cf", LARGE, "BUCKETSIZE", 4)
    client.good("CF.RESERVE", "cf1", 4000, "BUCKETSIZE", 4, "EXPANSION", 4)
    client.good("TAMIS.RESERVE", "t", "0.01", LARGE)
    client.good("BF.MADD", "bf", *ITEMS)
    client.good("BF.MADD", "t", *ITEMS)
    client.good("CF.INSERT", "cf", "ITEMS", *ITEMS)
    client.good("RESTORE", "bf2", 0, client.good("DUMP", "bf"))
    client.good("RESTORE", "cf2", 0, client.good("DUMP", "cf"))
    for iterator, data in client.chunks("BF.SCANDUMP", "bf"):
        client.good("BF.LOADCHUNK", "bf3", iterator, data)
    for iterator, data in client.chunks("CF.SCANDUMP", "cf"):
        client.good("CF.LOADCHUNK", "cf3", iterator, data)
    keys = ["bf", "t", "cf", "cf1", "bf2", "cf2", "bf3", "cf3"]
    if not exact:
        tamis("export", "--to", "tamis", "--store", store, "t", store + ".stream")
        with open(store + ".stream", "rb") as stream:
            client.good("TAMIS.LOAD", "t2", stream.read())
        keys.append("t2")
    else:  # this cuckoo filter gets sub-filters until it is larger than SMALL
        for n in range(4):
            client.good("CF.INSERT", "cf1", "ITEMS", *(f"{n} {i}" for i in range(20000)))
    return keys


def has_large(client, keys, what):
    for key in keys:
        if key != "cf1":
            command = "CF.MEXISTS" if key.startswith("cf") else "BF.MEXISTS"
            same(client.good(command, key, *ITEMS), [1] * len(ITEMS), f"{what}: {key}")
    same(client.good("CONFIG", "GET", "tamis.max-bytes")[1], str(SMALL[1]).encode(), f"{what}: the setting")
    for words in (("BF.RESERVE", "new", "0.01", LARGE), ("CF.RESERVE", "new", LARGE),
                  ("TAMIS.RESERVE", "new", "0.01", LARGE)):
        refused(client(*words), "ERR ", f"{what}: {words}")


def a_server_takes_again_what_it_had_taken():
    """Its tamis.max-bytes is smaller now than filters of its dump or its AOF, as CONFIG SET of a greater one went with
    the last server.  Seen to fail where config_max_bytes() is tamis.max-bytes while the server loads: the AOF's commands
    are refused, and the server ends (or goes on without the keys)."""
    aof = {"appendonly": "yes", "appendfsync": "always"}
    for exact in ("yes", "no"):
        for way, settings in (("dump", {"save": "900 1000000"}), ("AOF", aof), ("AOF with a preamble", aof),
                              ("AOF of chunks", {**aof, "aof_use_rdb_preamble": "no"})):
            with served("exact", exact, *SMALL, **settings) as (redis, client):
                keys = make_large(client, store_of(redis), exact == "yes")
                if way == "dump":
                    client.good("SAVE")
                elif way != "AOF":
                    client.good("BGREWRITEAOF")
                    is_rewritten(client)
                client = redis.restart(kill=True)
                has_large(client, keys, f"{way}, exact {exact}")


def a_replica_takes_what_its_master_took():
    """The replica has a smaller tamis.max-bytes.  Seen to fail without the flags of a replica in config_max_bytes()."""
    with served("exact", "yes") as (master, client), served("exact", "yes", *SMALL) as (_, follower):
        client.good("BF.RESERVE", "before", "0.01", LARGE)
        follow(follower, master)
        keys = make_large(client, store_of(master), True)
        same(client.good("WAIT", 1, 60000), 1, "the replica has all of it")
        same(sorted(key.decode() for key in follower.good("KEYS", "*")), sorted(keys + ["before"]), "the replica's keys")
        follower.good("REPLICAOF", "NO", "ONE")
        has_large(follower, keys, "the replica")


def replicas_follow():
    with served() as (master, client), served(repl_diskless_load="swapdb") as (replica, follower):
        follower.good("BF.ADD", "k", "old data of the replica")
        client.good("BF.MADD", "k", *ITEMS[:100])
        added = []

        def add():
            own = master.client()
            while True:
                own.good("BF.ADD", "k", f"more {len(added)}")
                yield added.append(f"more {len(added)}")

        with beside(add()):
            follow(follower, master)
        client.good("BF.RESERVE", "late", "0.01", 10)
        eventually(lambda: follower.good("EXISTS", "late") == 1, "the replica has all commands")
        all_in(follower, "k", ITEMS[:100] + added)
        same(follower.good("BF.EXISTS", "k", "old data of the replica"), 0, "the old value is gone")
        eventually(lambda: filters(replica) == ["k", "late"], f"the replica's store")
        client.good("FLUSHALL")
        eventually(lambda: filters(replica) == [], "FLUSHALL reaches the replica")


def servers_of_one_directory_have_stores_of_their_own():
    """A master and a replica that differ in port and dbfilename alone; seen to fail when both stores were `tamis`."""
    with served(dbfilename="one.rdb") as (master, client):
        with served(directory=master.directory, dbfilename="two.rdb") as (_, follower):
            client.good("BF.ADD", "before", "x")
            follow(follower, master)
            client.good("BF.ADD", "after", "x")
            same(client.good("WAIT", 1, 10000), 1, "WAIT")
            same([follower.good("BF.EXISTS", key, "x") for key in ("before", "after")], [1, 1], "the replica has both")
            same(sorted(name for name in os.listdir(master.directory) if name.endswith(".tamis")),
                 ["one.tamis", "two.tamis"], "the stores")
            same(client.good("CONFIG", "GET", "tamis.store")[1], b"one.tamis", "CONFIG GET")


run(what_a_dump_refers_to_travels, a_killed_server_loses_nothing_that_the_store_had, an_orphan_is_attached_under_another_name,
    a_dump_with_references_is_good_until_the_next_one, a_save_beside_a_replica_that_waits_knows_the_filters,
    a_reference_to_another_store_is_told, a_restored_store_is_of_another_time,
    a_filter_that_was_detached_stays_whatever_an_old_dump_says, an_aof_whose_end_is_lost_gets_no_other_filter,
    a_grown_filter_gets_what_local_processes_added, aof_rewrites, what_an_aof_lacks_is_in_the_store,
    a_server_takes_again_what_it_had_taken, a_replica_takes_what_its_master_took,
    replicas_follow, servers_of_one_directory_have_stores_of_their_own)
