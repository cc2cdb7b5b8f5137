# SPDX-License-Identifier: BSD-2-Clause
"""pauses.py MODULE TAMIS SLOW_DISK: filters are made, grow and go while the disk works, and the server answers meanwhile.

A disk that stands still shows it at any speed of the machine: a command that waited for it would never be answered.
"""
import os
import time

from harness import are_made, eventually, filters, has_filters, orphans, refused, run, same, server, store_of, tamis
from slow_disk import Disk

KEYS = [f"k{i}" for i in range(70)]  # more than a batch of the thread
LARGE = 100_000  # of more bytes than a filter in memory may have
AOF = {"appendonly": "yes", "appendfsync": "always"}


def fill(client, *keys):
    for key in keys:
        client.send("BF.ADD", key, "x")
    same([client.answer() for _ in keys], [1] * len(keys), "new filters")


def stream(redis, name):
    """A filter with one key, as `tamis export` writes it; the store it comes from is another one."""
    other = os.path.join(redis.directory, "other")
    tamis("create", "--store", other, "-n", LARGE, name)
    tamis("add", "--store", other, name, text="x\n")
    path = os.path.join(redis.directory, "stream")
    tamis("export", "--store", other, "--to", "tamis", name, path)
    with open(path, "rb") as file:
        return file.read()


def commands(redis):
    """Commands that wait until a filter is in the store, and what they answer."""
    return {
        "reserved": (("BF.RESERVE", "reserved", "0.01", LARGE), "OK"),
        "small": (("TAMIS.RESERVE", "small", "0.01", 100), "OK"),
        "drawn": (("TAMIS.RESERVE", "drawn", "0.01", LARGE, "SEED", "random"), "OK"),
        "secret": (("TAMIS.RESERVE", "secret", "0.01", LARGE, "HASHSET", "sip"), "OK"),
        "loaded": (("TAMIS.LOAD", "loaded", stream(redis, "loaded")), "OK"),
    }


def the_server_goes_on_while_filters_are_made():
    """Replicas and the AOF have each filter as the server has it, with the seeds that were drawn."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        wanted = commands(disk.redis)
        client.good("BF.ADD", "other", "x")
        follower = disk.followed_by(second)
        disk.stands_still()
        asking = disk.ask(client, *[command for command, _ in wanted.values()])
        same(client.good("EXISTS", *wanted), 0, "no key has a filter yet")
        same((client.good("PING"), client.good("BF.EXISTS", "other", "x")), ("PONG", 1), "others are answered")
        same(client.good("SET", "string", "x"), "OK", "and change the AOF")
        disk.takes(0)
        same([one.answer() for one in asking], [answer for _, answer in wanted.values()], "the answers")
        has_filters(disk.redis, sorted([*wanted, "other"]), "each has the name of its key")
        client.good("BF.ADD", "drawn", "x")
        client.good("BF.ADD", "secret", "x")
        before = client.good("DEBUG", "DIGEST")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        same(follower.good("DEBUG", "DIGEST"), before, "the replica")
        disk.redis.kill()
        client = disk.redis.start()
        same(client.good("DEBUG", "DIGEST"), before, "the AOF")
        same(client.good("TAMIS.ORPHANS", "LIST"), [], "orphans")


def a_child_saves_meanwhile():
    """What is being made is not in the dump."""
    with Disk(dbfilename="dump.rdb") as (disk, client):
        client.good("BF.ADD", "k", "x")
        disk.stands_still()
        asking = disk.ask(client, ("BF.RESERVE", "l", "0.01", LARGE))
        client.good("BGSAVE")
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "the dump")
        disk.takes(0)
        same(asking[0].answer(), "OK", "the answer")
        has_filters(disk.redis, ["k", "l"], "names")
        same(b"rdb_last_bgsave_status:ok" in client.good("INFO", "persistence"), True, "the dump")


def the_end_of_a_server_leaves_nothing_half():
    """Both ends leave no more than orphans, of commands that nobody has answered."""
    for kill in (True, False):
        with Disk(appendonly="yes", appendfsync="always") as (disk, client):
            client.good("BF.ADD", "k", "x")
            disk.stands_still() if kill else disk.takes(30)
            wanted = [("BF.RESERVE", f"r{i}", "0.01", LARGE) for i in range(9)]
            asking = [disk.redis.client() for _ in wanted]
            for one, command in zip(asking, wanted):
                one.send(*command)
            if kill:
                eventually(lambda: b"blocked_clients:9" in client.good("INFO", "clients"), "all wait for the disk")
                disk.redis.kill()
            else:
                disk.redis.stop()
            disk.takes(0)
            client = disk.redis.start()
            keys = sorted(key.decode() for key in client.good("KEYS", "*"))
            left = orphans(client)
            has_filters(disk.redis, sorted(keys + left), "keys and orphans")
            same((len(left) <= len(wanted), "k" in keys), (True, True), f"orphans: {left}, keys: {keys}")
            same("unclean" in tamis("verify", "--store", store_of(disk.redis)), False, "the store is well")
            for orphan in left:
                client("TAMIS.ORPHANS", "DROP", orphan)  # the server may have done it, as soon as it was ready
            eventually(lambda: orphans(client) == [], "no orphan stays")


def what_cannot_be_made_is_told():
    """By the thread, in the words of the server's own thread."""
    with Disk() as (disk, client):
        tamis("create", "--store", store_of(disk.redis), "-n", "10", "taken")
        same(client.good("BF.RESERVE", "taken", "0.01", LARGE), "OK", "a name that a filter of others has")
        refused(client("TAMIS.RESERVE", "k", "0.01", LARGE, "HASHSET", "nonsense"), "ERR could not create filter: ")
        refused(client("TAMIS.LOAD", "k", stream(disk.redis, "k")[:-8]), "ERR could not create filter: ")
        disk.takes(-1)
        refused(client("BF.RESERVE", "k", "0.01", LARGE), "ERR could not create filter: ")
        disk.takes(0)
        same(client.good("BF.RESERVE", "k", "0.01", LARGE), "OK", "afterwards")
        are_made(client)
        same((len(filters(disk.redis)), set(filters(disk.redis)) > {"k", "taken"}), (3, True), "ours has the name of its id")


def the_server_goes_on_while_filters_go():
    """Each way by which keys go.  The filter for 10 million keys was dropped in the main thread, later."""
    few = KEYS[:5]
    for keys, way in ((KEYS, [("DEL", *KEYS)]), (KEYS, [("FLUSHALL",)]), (few, [("FLUSHALL", "ASYNC")]),
                      (few, [("UNLINK", *few)]), (few, [("FLUSHDB",)]), (few, [("PEXPIRE", key, 1) for key in few]),
                      (few, [("SET", key, "string") for key in few])):
        with Disk() as (disk, client):
            fill(client, *keys)
            client.good("BF.RESERVE", "large", "0.01", 10_000_000)
            client.good("TAMIS.RESERVE", "counted", "0.01", 100, "KIND", "counting")
            client.good("TAMIS.RESERVE", "durable", "0.01", 100, "DURABLE")
            client.good("BF.ADD", "durable", "x")
            client.good("BF.ADD", "other", "x")
            client.good("MOVE", "other", 1)
            disk.stands_still()
            for command in way + [("DEL", "large", "counted", "durable")]:
                client.good(*command)
            left = len(keys) if way[0][0] == "SET" else 0
            eventually(lambda: client.good("EXISTS", *keys) == left, "all keys are gone")
            client.good("SELECT", 1)
            if way[0][0] != "FLUSHALL":
                same([client.good("BF.ADD", "other", i) for i in range(20)], [1] * 20, "others add")
            same([client.good("PING") for _ in range(20)], ["PONG"] * 20, "others are answered")
            disk.takes(0)
            has_filters(disk.redis, [] if way[0][0] == "FLUSHALL" else ["redis:1:other"], way[0])


def a_durable_filter_goes_with_its_jobs():
    """Keys that wait for the disk come to the filter, whose key is gone."""
    with Disk() as (disk, client):
        client.good("TAMIS.RESERVE", "k", "0.01", 100, "DURABLE")
        client.good("BF.ADD", "k", "x")
        disk.stands_still()
        adder, = disk.ask(client, ("BF.ADD", "k", "y"))
        same(client.good("DEL", "k"), 1, "DEL waits for nobody")
        same((client.good("PING"), client.good("EXISTS", "k")), ("PONG", 0), "the server goes on")
        disk.takes(0)
        same(adder.answer(), 1, "the add")
        has_filters(disk.redis, [], "the store")


def a_name_is_made_again_while_its_filter_goes():
    """The thread is at work for one filter, and others wait.  One of these is a key's again if it is attached before it
    is dropped."""
    with Disk() as (disk, client):
        for turn in range(6):
            fill(client, *KEYS[:5])
            disk.stands_still()
            client.good("UNLINK", "k0")
            client.good("UNLINK", *KEYS[1:5])
            makes, attaches = ("BF.RESERVE", "k1", "0.01", 1000), ("TAMIS.ATTACH", "other", "k2")
            for command in (makes, attaches) if turn % 2 == 0 else (attaches, makes):
                client.send(*command)
            disk.takes(0)
            answers = [client.answer(), client.answer()]
            same(answers[turn % 2], "OK", "the name is free")
            attached = answers[1 - turn % 2] == "OK"
            if not attached:
                refused(answers[1 - turn % 2], "ERR the filter cannot be attached: no such filter")
            same((client.good("BF.EXISTS", "k1", "x"), client.good("BF.EXISTS", "other", "x")), (0, attached), "a new filter, and that of before")
            fill(client, "k0")
            has_filters(disk.redis, ["k0", "k1"] + ["other"] * attached, "each key has a filter")
            client.good("FLUSHALL")
            client.good("BF.ADD", "k1", "y")
            client.good("RENAME", "k1", "k0")
            has_filters(disk.redis, ["k0"], "RENAME to a name that was made free")
            client.good("DEL", "k0")
            has_filters(disk.redis, [], "the end of the round")


def a_command_waits_for_its_own_server():
    """Longer than for other processes, which may be stopped.  Seen to fail with a give_up() of the library that does not know its own
    process."""
    with Disk() as (disk, client):
        fill(client, "k0")
        disk.takes(2500)
        client.good("UNLINK", "k0")
        time.sleep(0.1)  # by now the thread has the lock, nearly always
        client.good("BF.RESERVE", "k1", "0.01", 1000)
        disk.takes(0)
        has_filters(disk.redis, ["k1"], "the store")


def an_orderly_end_waits_for_filters_that_go():
    """Or for its next start, which has none as orphans."""
    with Disk() as (disk, client):
        fill(client, *KEYS)
        disk.takes(50)
        client.good("FLUSHALL")
        client = disk.redis.restart()
        disk.takes(0)
        has_filters(disk.redis, [], "after SHUTDOWN")
        same(client.good("TAMIS.ORPHANS", "LIST"), [], "orphans")


def what_a_kill_leaves_is_found():
    """Filters whose keys were gone when the server was killed go when it has loaded its AOF."""
    with Disk(**AOF) as (disk, client):
        fill(client, *KEYS)
        disk.stands_still()
        client.good("FLUSHALL")
        disk.redis.kill()
        disk.takes(0)
        client = disk.redis.start()
        same(client.good("DBSIZE"), 0, "keys")
        has_filters(disk.redis, [], "filters")
        fill(client, *KEYS)
        same(client.good("BF.MEXISTS", "k7", "x", "y"), [1, 0], "a new filter")
        has_filters(disk.redis, sorted(KEYS), "one filter for each key")
        same(client.good("TAMIS.ORPHANS", "LIST"), [], "orphans")
        same("unclean" in tamis("verify", "--store", store_of(disk.redis)), False, "the store is well")


def filters_that_a_child_may_save_are_kept():
    """What goes while a child saves is in its dump."""
    with Disk(rdb_key_save_delay=20000, dbfilename="dump.rdb") as (disk, client):
        for i in range(20):
            client.good("BF.ADD", f"b{i}", "x")
        disk.stands_still()
        client.good("BF.ADD", "b0", "y")
        client.good("DEL", "b19")
        client.good("BGSAVE")
        same(client.good("UNLINK", *[f"b{i}" for i in range(19)]), 19, "UNLINK")
        disk.takes(0)
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "the dump")
        has_filters(disk.redis, [], "all are dropped once the child is dead")
        disk.redis.kill()
        client = disk.redis.start()
        same(client.good("BF.MEXISTS", "b0", "x", "y"), [1, 1], "the dump has what was there")
        same(client.good("EXISTS", *[f"b{i}" for i in range(19)]), 19, "all of it")


def a_filter_grows_and_the_server_goes_on():
    """What an add waits for, the mark of a filter that is on the disk and further segments, is done in threads.  Seen to hang
    without what tamis_filter_may_wait() notes of a handle."""
    for exact in ("no", "yes"):
        with Disk("exact", exact, appendonly="yes", appendfsync="always") as (disk, client):
            client.good("BF.RESERVE", "k", "0.01", 1000)
            client.good("BF.RESERVE", "other", "0.01", 1000)
            disk.stands_still()
            first, many = disk.ask(client, ("BF.ADD", "k", "first"), ("BF.MADD", "k", *"ab"))
            same(client.good("BF.EXISTS", "other", "x"), 0, "the server goes on while a filter is marked")
            disk.takes(0)
            same((first.answer(), many.answer()), (1, [1, 1]), "the first keys")
            disk.stands_still()
            same(sum(client.good("BF.ADD", "k", i) for i in range(900)) > 880, True, "there is room")
            more = [("BF.MADD", "k", *range(begin, begin + 200)) for begin in range(1000, 3000, 200)]
            asking = disk.ask(client, *more, ("BF.INSERT", "k", "ITEMS", *range(1200)), ("TAMIS.ADD", "k", *range(3000, 3200)))
            same((client.good("PING"), client.good("BF.EXISTS", "k", 899)), ("PONG", 1), "others are answered")
            disk.takes(0)
            same([len(one.answer()) for one in asking], [200] * 10 + [1200, 200], "all are answered")
            same(client.good("BF.MEXISTS", "k", *range(3200)), [1] * 3200, "all are in")
            segments = client.good("TAMIS.INFO", "k")
            same(segments[segments.index("segments") + 1] > 1, True, "the filter has grown")
            disk.stands_still()
            disk.ask(client, ("BF.MADD", "k", *range(4000, 104000)))
            disk.redis.kill()
            disk.takes(0)
            client = disk.redis.start()
            same(client.good("BF.MEXISTS", "k", *range(3200)), [1] * 3200, "what came before the kill")
            same(client.good("BF.MEXISTS", "k", *range(4000, 104000)), [1] * 100000, "what the AOF has")


def closed_filters_are_opened_while_others_are_made():
    """A thread has the catalog's lock while it waits for the disk.  Seen to hang with tamis__catalog_begin() alone in look_up() of
    labels.c."""
    with Disk("max-open", 8) as (disk, client):
        keys = [f"k{i}" for i in range(40)]
        for key in keys:
            client.good("BF.RESERVE", key, "0.01", 10_000)
            client.good("BF.ADD", key, "x")
        are_made(client)
        for turn in range(3):
            disk.stands_still()
            asking = disk.ask(client, ("BF.RESERVE", f"large{turn}", "0.01", LARGE), ("TAMIS.RESERVE", f"special{turn}", "0.01", LARGE))
            time.sleep(0.2)  # by now one of the threads has the lock, nearly always
            same([client.good("BF.EXISTS", key, "x") for key in keys], [1] * len(keys), "each is opened")
            same([client.good("BF.ADD", key, f"y{turn}") for key in keys], [1] * len(keys), "and added to")
            same(client.good("BF.INFO", "k0", "ITEMS"), [2 + turn], "and tells what it has")
            disk.takes(0)
            same([one.answer() for one in asking], ["OK", "OK"], "what was made")


def filters_get_other_names_and_the_server_goes_on():
    """Labels are the work of a thread."""
    with Disk() as (disk, client):
        fill(client, "a", "b", "c")
        client.good("BF.ADD", "b", "of b")
        disk.stands_still()
        client.good("RENAME", "a", "renamed")
        client.good("RENAME", "c", "b")
        client.good("MOVE", "renamed", 1)
        client.good("SWAPDB", 0, 1)
        same(client.good("BF.MEXISTS", "renamed", "x", "y"), [1, 0], "the key is there at once")
        client.good("RENAME", "renamed", "renamed again")
        client.good("RENAME", "renamed again", "a")
        client.good("SELECT", 1)
        same(client.good("BF.MEXISTS", "b", "x", "of b"), [1, 0], "RENAME onto another")
        same([client.good("BF.ADD", "b", i) for i in range(20)], [1] * 20, "it is added to")
        disk.takes(0)
        has_filters(disk.redis, ["a", "redis:1:b"], "names")
        for _ in range(2):
            fill(client, *KEYS)
            client.good("SWAPDB", 0, 1)
            client.good("SELECT", 1)
        client.good("FLUSHDB")
        client.good("SELECT", 0)
        client.good("RENAME", "k0", "another")
        same(client.good("TAMIS.DETACH", "another"), b"another", "the name is that of the key")
        client = disk.redis.restart()
        same("another" in filters(disk.redis), True, "it stays")
        same("unclean" in tamis("verify", "--store", store_of(disk.redis)), False, "the store is well")


def what_cannot_be_dropped_is_tried_again():
    """The disk has an error for some seconds."""
    told = "filters whose keys are gone stay for now"
    with Disk() as (disk, client):
        fill(client, *KEYS)
        client.good("BF.RESERVE", "large", "0.01", 1_000_000)
        are_made(client)
        disk.takes(-1)
        client.good("DEL", "large", *KEYS[:3])
        eventually(lambda: disk.redis.log().count(told) >= 2, "the log tells of it")
        same(set(filters(disk.redis)) >= {"large", *KEYS}, True, "they are there")
        disk.takes(0)
        has_filters(disk.redis, sorted(KEYS[3:]), "they go")
        before = disk.redis.log().count(told)
        disk.takes(-1)
        client.good("DEL", "k3")
        eventually(lambda: disk.redis.log().count(told) > before, "once more")
        disk.redis.stop()
        disk.takes(0)
        disk.redis.start()
        eventually(lambda: "k3" not in filters(disk.redis), "a server that keeps nothing drops it")


run(the_server_goes_on_while_filters_are_made, a_child_saves_meanwhile,
    the_end_of_a_server_leaves_nothing_half, what_cannot_be_made_is_told, the_server_goes_on_while_filters_go,
    a_durable_filter_goes_with_its_jobs, a_name_is_made_again_while_its_filter_goes, a_command_waits_for_its_own_server,
    an_orderly_end_waits_for_filters_that_go, what_a_kill_leaves_is_found, filters_that_a_child_may_save_are_kept,
    a_filter_grows_and_the_server_goes_on, closed_filters_are_opened_while_others_are_made,
    filters_get_other_names_and_the_server_goes_on, what_cannot_be_dropped_is_tried_again)
