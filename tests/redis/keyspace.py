# SPDX-License-Identifier: BSD-2-Clause
"""keyspace.py MODULE TAMIS: names of filters, ours and those of others.  model.py has the commands that change keys.  TAMIS_REDIS_HOME=store."""
from harness import are_made, eventually, filters, has_filters, refused, run, same, served, store_of, tamis


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


def a_filter_is_attached_again_while_its_value_goes():
    """UNLINK and FLUSHALL ASYNC leave the value to a thread."""
    for mode in ("content", "reference"):
        with served("rdb", mode, save="900 1") as (redis, client):
            tamis("create", "--store", store_of(redis), "others", "-n", "1000")
            for i in range(10):
                client.good("TAMIS.ATTACH", "others")
                client.good(*(("FLUSHALL", "ASYNC") if i % 2 else ("UNLINK", "others")))
                client.good("TAMIS.ATTACH", "others")
                client.good("DEBUG", "RELOAD")
                client.good("UNLINK", "others")
            eventually(lambda: client.good("SAVE") and filters(redis) == ["others"], "the store")


run(a_key_is_a_filter_of_its_name, filters_of_others_are_left_alone,
    a_filter_that_was_dropped_is_told, a_filter_is_attached_again_while_its_value_goes)
