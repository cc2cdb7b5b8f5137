# SPDX-License-Identifier: BSD-2-Clause
"""flush.py MODULE TAMIS NOSYNC: FLUSHALL, FLUSHDB, DEL and UNLINK of many filters.

NOSYNC is a library without syncs, so that filters are made and dropped fast.  These were seen to fail: all_go_in_few_changes
for a thread that drops one filter after the other, and for values that count until the thread takes them in;
in_a_transaction for drafts that FLUSHALL ASYNC leaves to the thread that frees them (a filter keeps a name apart for ever);
what_a_flush_without_a_word_is for a server whose setting nobody changes.
"""
import os
import struct
import sys
import time

from harness import are_made, eventually, filters, follow, has_filters, info, pipelined, run, same, served, store_of, tamis

NOSYNC = os.path.abspath(sys.argv.pop(3))
MANY = 3000


def quick(*arguments, **settings):
    return served(*arguments, environment={"LD_PRELOAD": NOSYNC}, **settings)


def make(client, count, prefix="k", item="x"):
    same(pipelined(client, [("BF.ADD", f"{prefix}{i}", item) for i in range(count)]), [1] * count, "made")
    are_made(client)


def changes(redis):
    """How often the catalog was changed: the number of its last transaction."""
    with open(os.path.join(store_of(redis), "catalog.mdb"), "rb") as file:
        head = file.read(8192)
    return max(struct.unpack_from("<Q", head, page + 144)[0] for page in (0, 4096))


def setting(client):
    return client.good("CONFIG", "GET", "lazyfree-lazy-user-flush")[1]


def lazily_freed(client):
    """How many objects a thread of the server has freed."""
    for line in client.good("INFO", "memory").decode().split("\r\n"):
        if line.startswith("lazyfreed_objects:"):
            return int(line.split(":")[1])
    raise AssertionError("INFO has no lazyfreed_objects")


def all_go_in_few_changes():
    for words in (("FLUSHALL", "SYNC"), ("FLUSHALL", "ASYNC"), ("DEL", *(f"k{i}" for i in range(MANY))),
                  ("UNLINK", *(f"k{i}" for i in range(MANY)))):
        with quick() as (redis, client):
            make(client, MANY)
            same(info(client, "filters"), MANY, "made")
            before = changes(redis)
            client.good(*words)
            if "ASYNC" in words:  # a thread of the server frees them
                eventually(lambda: info(client, "filters") == 0, words)
            same(info(client, "filters"), 0, f"{words[0]} has been answered")
            has_filters(redis, [], words[0])
            took = changes(redis) - before
            same(0 < took <= 3 * MANY // 100, True, f"{took} changes of the catalog for {words[0]} of {MANY} filters")
            make(client, 10)
            has_filters(redis, sorted(f"k{i}" for i in range(10)), "new ones")
            same("problem" in tamis("verify", "--store", store_of(redis)), False, "sound")


def many_that_expire_at_once():
    with quick() as (redis, client):
        make(client, MANY)
        soon = int(time.time() * 1000) + 300
        pipelined(client, [("PEXPIREAT", f"k{i}", soon) for i in range(MANY)])
        has_filters(redis, [], "all have expired")
        same(info(client, "filters"), 0, "none is counted")


def the_same_names_at_once():
    for words in (("FLUSHALL", "SYNC"), ("FLUSHALL", "ASYNC"), ("FLUSHDB",)):
        with quick() as (redis, client):
            make(client, MANY, item="old")
            answers = pipelined(client, [words] + [("BF.ADD", f"k{i}", "new") for i in range(100)])
            same(answers, ["OK"] + [1] * 100, f"{words}, and the names anew")
            same(pipelined(client, [("BF.MEXISTS", f"k{i}", "old", "new") for i in range(100)]), [[0, 1]] * 100, "other filters")
            eventually(lambda: info(client, "filters") == 100, "only these are counted")
            has_filters(redis, sorted(f"k{i}" for i in range(100)), "each has its name")


def in_a_transaction():
    with quick() as (redis, client):
        make(client, MANY, item="old")
        client.good("MULTI")
        for command in (("BF.ADD", "a", "x"), ("FLUSHALL",), ("BF.ADD", "a", "y"), ("BF.ADD", "k1", "new"), ("BF.MEXISTS", "a", "x", "y"),
                        ("BF.MEXISTS", "k1", "old", "new"), ("FLUSHALL", "ASYNC"), ("BF.ADD", "a", "z"), ("BF.MEXISTS", "a", "y", "z")):
            same(client.good(*command), "QUEUED", command)
        same(client.good("EXEC"), [1, "OK", 1, 1, [0, 1], [0, 1], "OK", 1, [0, 1]], "one after the other")
        has_filters(redis, ["a"], "what is left")


def databases_that_change_places():
    with quick() as (redis, client):
        make(client, MANY)
        client.good("SELECT", 1)
        make(client, 50, "other")
        answers = pipelined(client, [("FLUSHDB",), ("SWAPDB", 0, 1), ("SELECT", 0), ("FLUSHDB", "SYNC"), ("BF.ADD", "k1", "y")])
        same(answers[-1], 1, "a filter of the same name")
        client.good("SELECT", 1)
        same(client.good("DBSIZE"), MANY, "those of the other database")
        same(client.good("BF.EXISTS", "k2999", "x"), 1, "they work")
        client.good("FLUSHDB")
        eventually(lambda: info(client, "filters") == 1, "counted")
        has_filters(redis, ["k1"], "what is left")


def a_replica_flushes_too():
    with quick() as (redis, client), quick() as (replica, follower):
        make(client, MANY)
        follow(follower, redis)
        eventually(lambda: info(follower, "filters") == MANY, "the replica has them")
        client.good("FLUSHALL")
        make(client, 20, "new")
        client.good("WAIT", 1, 10000)
        wanted = sorted(f"new{i}" for i in range(20))
        has_filters(redis, wanted, "the master")
        has_filters(replica, wanted, "the replica")


def killed_while_they_go():
    """A server that keeps nothing drops what is left.  One with an AOF or a dump has orphans, as after any kill."""
    with quick() as (redis, client):
        make(client, 4000)
        client.good("FLUSHALL")
        client = redis.restart(kill=True)
        eventually(lambda: filters(redis) == [], "none stays", seconds=300)
        same("problem" in tamis("verify", "--store", store_of(redis)), False, "sound")
        make(client, 10)
        has_filters(redis, sorted(f"k{i}" for i in range(10)), "new ones")


def what_a_flush_without_a_word_is():
    with quick() as (_, client):
        make(client, 100)
        client.good("FLUSHALL")
        time.sleep(0.3)
        same(setting(client), b"no", "few filters")
        make(client, MANY)
        eventually(lambda: setting(client) == b"yes", "many filters")
        before = lazily_freed(client)
        client.good("FLUSHALL", "SYNC")
        same(lazily_freed(client), before, "SYNC is what it says")
        make(client, MANY)
        client.good("FLUSHALL")
        eventually(lambda: lazily_freed(client) >= before + MANY, "a thread of the server frees them")
        client.good("CONFIG", "SET", "lazyfree-lazy-user-flush", "no")
        make(client, MANY)
        time.sleep(0.3)
        same(setting(client), b"no", "what the operator has set stays")
    for words in (("flush", "server"), ("rdb", "reference")):
        with quick(*words) as (_, client):
            make(client, MANY)
            time.sleep(0.3)
            same(setting(client), b"no", words)


def dump_is_held(redis):
    """Has the server a dump open that is deleted?"""
    open_files = f"/proc/{redis.process.pid}/fd"
    for descriptor in os.listdir(open_files):
        try:
            if os.readlink(os.path.join(open_files, descriptor)).endswith("dump.rdb (deleted)"):
                return True
        except FileNotFoundError:
            pass  # it was closed in between
    return False


def the_old_dump_is_freed_by_a_thread():
    """FLUSHALL of a server that saves renames an empty dump over the old one.  To free a large one takes as long as it is large."""
    for size, held in ((1 << 21, True), (1000, False)):
        with quick(save="900 1000000000") as (redis, client):
            client.good("SET", "large", os.urandom(size))
            client.good("SAVE")
            client.good("MULTI")
            for command in (("FLUSHALL", "ASYNC"), ("DEBUG", "SLEEP", 1), ("SET", "k", "v")):
                same(client.good(*command), "QUEUED", command)
            client.send("EXEC")
            if held:  # nothing else runs up to the end of the transaction
                eventually(lambda: dump_is_held(redis), "the old dump is open when the new one has its name")
            same(client.answer(), ["OK", "OK", "OK"], "the transaction")
            if not held:
                same(dump_is_held(redis), False, "a small dump is not held")
            eventually(lambda: not dump_is_held(redis), "a thread closes it")
            same(os.path.getsize(os.path.join(redis.directory, "dump.rdb")) < 1000, True, "the dump is the empty one")


run(all_go_in_few_changes, many_that_expire_at_once, the_same_names_at_once, in_a_transaction, databases_that_change_places,
    a_replica_flushes_too, killed_while_they_go, what_a_flush_without_a_word_is, the_old_dump_is_freed_by_a_thread)
