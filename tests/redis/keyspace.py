# SPDX-License-Identifier: BSD-2-Clause
"""keyspace.py MODULE TAMIS: labels and drops follow the keys, whatever is done to a key.  TAMIS_REDIS_HOME=store."""
from harness import are_made, eventually, filters, has_filters, refused, run, same, served, server, store_of, tamis


def has(client, key, *items):
    return client.good("BF.MEXISTS", key, *items)


def a_key_is_a_filter_of_its_name():
    with served() as (redis, client):
        client.good("BF.ADD", "seen", "a")
        has_filters(redis, ["seen"], "a plain name")
        same(tamis("check", "--store", store_of(redis), "seen", text="a\nb\n").split("\n")[0].split("\t")[0] != "",
             True, "a local process asks")
        client.good("BF.ADD", "redis:x", "a")
        client.good("BF.ADD", b"\xff\x00%", "a")
        client.good("BF.ADD", b"n" * 300, "a")
        client.good("SELECT", 3)
        client.good("BF.ADD", "seen", "b")
        are_made(client)
        names = filters(redis)
        same("redis:0:%FF%00%25" in names and "redis:0:redis:x" in names and "redis:3:seen" in names, True, names)
        same(len([name for name in names if "%#" in name and len(name) == 255]), 1, names)
        client.good("SELECT", 0)
        same(has(client, b"n" * 300, "a", "b"), [1, 0], "a long name")
        same(has(client, "seen", "a", "b"), [1, 0], "database 0")


def filters_go_with_their_keys():
    with served() as (redis, client):
        for key in ("del", "unlink", "px", "set", "getdel"):
            client.good("BF.ADD", key, "x")
        client.good("DEL", "del")
        client.good("UNLINK", "unlink")
        client.good("PEXPIRE", "px", 1)
        client.good("SET", "set", "string")
        eventually(lambda: client("EXISTS", "px") == 0 and filters(redis) == ["getdel"], "all are gone")
        client.good("FLUSHDB")
        eventually(lambda: filters(redis) == [], "FLUSHDB, which Valkey finishes in another thread")
        for i in range(20):
            client.good("BF.ADD", f"k{i}", "x")
        client.good("FLUSHALL", "ASYNC")
        client.good("BF.ADD", "k1", "y")
        same(has(client, "k1", "x", "y"), [0, 1], "a new life after FLUSHALL ASYNC")
        eventually(lambda: filters(redis) == ["k1"], "FLUSHALL ASYNC")


def names_follow_the_keys():
    with served() as (redis, client):
        client.good("BF.MADD", "a", "1")
        client.good("BF.MADD", "b", "2")
        client.good("RENAME", "a", "b")
        eventually(lambda: filters(redis) == ["b"], "RENAME onto another")
        same(has(client, "b", "1", "2"), [1, 0], "RENAME")
        client.good("COPY", "b", "c")
        client.good("BF.ADD", "c", "3")
        same((has(client, "b", "1", "3"), has(client, "c", "1", "3")), ([1, 0], [1, 1]), "COPY")
        same((client.good("BF.CARD", "b"), client.good("BF.CARD", "c")), (1, 2), "items of a copy")
        client.good("MOVE", "b", 2)
        has_filters(redis, ["c", "redis:2:b"], "MOVE")
        client.good("SWAPDB", 0, 2)
        has_filters(redis, ["b", "redis:2:c"], "SWAPDB")
        client.good("SELECT", 2)
        client.good("RENAME", "c", "b")
        client.good("SWAPDB", 2, 0)
        has_filters(redis, ["b", "redis:2:b"], "SWAPDB of one name")
        client.good("SELECT", 0)
        same((has(client, "b", "3"), client.good("COPY", "b", "d", "DB", 5)), ([1], 1), "after SWAPDB")
        eventually(lambda: "redis:5:d" in filters(redis), "COPY to another database")


def restore_replaces():
    with served() as (redis, client):
        client.good("BF.MADD", "k", "1", "2")
        payload = client.good("DUMP", "k")
        client.good("BF.ADD", "k", "3")
        refused(client("RESTORE", "k", 0, payload), "BUSYKEY")
        client.good("RESTORE", "k", 0, payload, "REPLACE")
        same((has(client, "k", "1", "2", "3"), client.good("BF.CARD", "k")), ([1, 1, 0], 2), "RESTORE REPLACE")
        client.good("RESTORE", "l", 100000, payload)
        eventually(lambda: filters(redis) == ["k", "l"], "the store after RESTORE")
        refused(client("RESTORE", "m", 0, payload[:-20] + payload[-19:]), "ERR")


def transactions_and_scripts():
    with served() as (_, client):
        client.good("MULTI")
        client.good("BF.RESERVE", "t", "0.01", 100)
        client.good("BF.MADD", "t", "a", "b")
        client.good("HSET", "h", "f", "v")
        same(client.good("EXEC"), ["OK", [1, 1], 1], "MULTI")
        script = "return {redis.call('BF.MADD', KEYS[1], unpack(ARGV)), redis.call('HSET', KEYS[2], 'n', '1')}"
        same(client.good("EVAL", script, 2, "t", "h", "b", "c"), [[0, 1], 1], "Lua")


def filters_of_others_are_left_alone():
    """One has the name of a key: it keeps it, and ours stays under its id."""
    with served() as (redis, client):
        tamis("create", "--store", store_of(redis), "theirs", "-n", "1000")
        client.good("BF.ADD", "theirs", "x")
        are_made(client)
        told = client.good("TAMIS.INFO", "theirs")
        name = told[told.index("filter") + 1].decode()
        same((name.startswith("redis:"), name in filters(redis)), (True, True), f"ours is under its id: {name}")
        same(tamis("check", "--store", store_of(redis), "theirs", text="x\n"), "", "theirs has nothing of it")
        client.good("FLUSHALL")
        has_filters(redis, ["theirs"], "FLUSHALL")
        same(client.good("MEMORY", "USAGE", "none"), None, "no key")


def a_filter_that_was_dropped_is_told():
    """A local process drops the filter of a key, and makes its own of that name: that one stays."""
    with served() as (redis, client):
        client.good("BF.ADD", "k", "x")
        has_filters(redis, ["k"], "it has its name")
        tamis("drop", "--store", store_of(redis), "k")
        refused(client("BF.ADD", "k", "y"), "ERR problem inserting into filter: ")
        tamis("create", "--store", store_of(redis), "k", "-n", "1000")
        client.good("DEL", "k")
        has_filters(redis, ["k"], "the filter of the local process")


def two_servers_with_the_same_keys_have_one_digest():
    with server("exact", "yes") as one, server("exact", "yes") as other:
        digests = []
        for redis in (one, other):
            client = redis.client()
            client.good("BF.MADD", "k", *range(500))
            digests.append(client.good("DEBUG", "DIGEST-VALUE", "k"))
        same(digests[0], digests[1], "DEBUG DIGEST")
        client.good("BF.ADD", "k", "one more")
        same(client.good("DEBUG", "DIGEST-VALUE", "k") != digests[0], True, "another digest")


def keys_go_in_another_thread():
    """As Valkey has it unless told otherwise: DEL and FLUSHALL leave values to a thread, and their names are used at once."""
    lazily = {f"lazyfree_lazy_{what}": "yes" for what in ("user_del", "user_flush", "server_del")}
    keys = [f"k{i}" for i in range(12)]
    for mode in ("content", "reference"):
        with served("rdb", mode, save="900 1", **lazily) as (redis, client):
            tamis("create", "--store", store_of(redis), "others", "-n", "1000")
            for i in range(10):
                for key in keys:
                    client.good("BF.ADD", key, "x")
                client.good("TAMIS.ATTACH", "others")
                if i % 2:
                    client.good("FLUSHALL", "ASYNC")
                else:
                    client.good("UNLINK", *keys, "others")
                client.good("TAMIS.ATTACH", "others")
                for key in keys:
                    same(client.good("BF.ADD", key, "y"), 1, "the name is free")
                client.good("DEBUG", "RELOAD")
                for key in keys:
                    same(has(client, key, "x", "y"), [0, 1], f"loaded, {mode}")
                client.good("UNLINK", "others")
            client.good("FLUSHALL")
            eventually(lambda: client.good("SAVE") and filters(redis) == ["others"], "the store")


run(a_key_is_a_filter_of_its_name, filters_go_with_their_keys, names_follow_the_keys, restore_replaces,
    transactions_and_scripts, filters_of_others_are_left_alone,
    a_filter_that_was_dropped_is_told, two_servers_with_the_same_keys_have_one_digest, keys_go_in_another_thread)
