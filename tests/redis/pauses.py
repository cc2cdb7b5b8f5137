# SPDX-License-Identifier: BSD-2-Clause
"""pauses.py MODULE TAMIS SLOW_DISK: filters go while the disk works, and the server answers meanwhile.

A disk that stands still shows it at any speed of the machine: a command that waited for it would never be answered.  The
cases were seen to fail while kept_release() dropped filters itself, and each for what its comment says.
"""
import shutil
import time

from harness import are_made, eventually, filters, has_filters, refused, run, same, store_of, tamis
from slow_disk import Disk

KEYS = [f"k{i}" for i in range(70)]  # more than a batch of the thread


def fill(client, *keys):
    for key in keys:
        client.send("BF.ADD", key, "x")
    same([client.answer() for _ in keys], [1] * len(keys), "new filters")


def the_server_goes_on_while_filters_go():
    """Each way by which keys go.  The filter for 10 million keys was dropped in the main thread, later."""
    few = KEYS[:5]
    for keys, way in ((KEYS, [("DEL", *KEYS)]), (KEYS, [("FLUSHALL",)]), (few, [("FLUSHALL", "ASYNC")]),
                      (few, [("UNLINK", *few)]), (few, [("FLUSHDB",)]), (few, [("PEXPIRE", key, 1) for key in few]),
                      (few, [("SET", key, "string") for key in few])):
        with Disk() as (disk, client):
            fill(client, *keys)
            client.good("BF.RESERVE", "large", "0.01", 10_000_000)
            client.good("CF.ADD", "counted", "x")
            client.good("TAMIS.RESERVE", "durable", "0.01", 100, "DURABLE")
            client.good("BF.ADD", "durable", "x")
            client.good("BF.ADD", "other", "x")
            client.good("MOVE", "other", 1)
            client.socket.settimeout(60)  # of a server that waits for the disk
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
    """Keys that wait for the disk come to the filter, whose key is gone.  Seen to hang with durable_wait() in
    kept_release()."""
    with Disk() as (disk, client):
        client.good("TAMIS.RESERVE", "k", "0.01", 100, "DURABLE")
        client.good("BF.ADD", "k", "x")
        disk.stands_still()
        adder, = disk.ask(client, ("BF.ADD", "k", "y"))
        client.socket.settimeout(60)
        same(client.good("DEL", "k"), 1, "DEL waits for nobody")
        same((client.good("PING"), client.good("EXISTS", "k")), ("PONG", 0), "the server goes on")
        disk.takes(0)
        same(adder.answer(), 1, "the add")
        has_filters(disk.redis, [], "the store")


def a_name_is_made_again_while_its_filter_goes():
    """The thread is at work for one filter, and others wait.  Seen to fail without kept_give_up_name() in
    open_stored()."""
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
            same(client.good("BF.MEXISTS", "k1", "x"), [0], "a new filter")
            refused(answers[1 - turn % 2], "ERR the filter cannot be attached: no such filter")
            fill(client, "k0")
            has_filters(disk.redis, ["k0", "k1"], "each key has a filter")
            client.good("FLUSHALL")
            client.good("BF.ADD", "k1", "y")
            client.good("RENAME", "k1", "k0")
            has_filters(disk.redis, ["k0"], "RENAME to a name that was made free")
            client.good("DEL", "k0")
            has_filters(disk.redis, [], "the end of the round")


def a_command_waits_for_its_own_server():
    """Longer than for other processes, which may be stopped.  Seen to fail with a give_up() that does not know its own
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
    """Seen to fail without kept_finish(): the filters were orphans."""
    with Disk() as (disk, client):
        fill(client, *KEYS)
        disk.takes(50)
        client.good("FLUSHALL")
        client = disk.redis.restart()
        same((filters(disk.redis), client.good("TAMIS.ORPHANS", "LIST")), ([], []), "after SHUTDOWN")


def what_a_kill_leaves_is_found():
    """Filters that waited when the server was killed are orphans; a key that wants the name of one gets it."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client):
        fill(client, *KEYS)
        disk.stands_still()
        client.good("FLUSHALL")
        disk.redis.kill()
        disk.takes(0)
        client = disk.redis.start()
        left = sorted(filter_.decode() for filter_, _ in client.good("TAMIS.ORPHANS", "LIST"))
        same((left, set(left) <= set(KEYS), client.good("DBSIZE")), (filters(disk.redis), True, 0), "orphans")
        fill(client, *KEYS)
        same(client.good("BF.MEXISTS", "k7", "x", "y"), [1, 0], "a new filter")
        for orphan, _ in client.good("TAMIS.ORPHANS", "LIST"):
            client.good("TAMIS.ORPHANS", "DROP", orphan)
        has_filters(disk.redis, sorted(KEYS), "one filter for each key")
        same("unclean" in tamis("verify", "--store", store_of(disk.redis)), False, "the store is well")


def filters_that_a_child_may_save_are_kept():
    """What goes while a child saves is in its dump, and what went before is dropped meanwhile.  Seen to fail with a
    must_stay() that forgets the child."""
    with Disk(rdb_key_save_delay=20000, dbfilename="dump.rdb") as (disk, client):
        for i in range(20):
            client.good("CF.ADD", f"c{i}", "x")
            client.good("BF.ADD", f"b{i}", "x")
        disk.stands_still()
        client.good("BF.ADD", "b0", "y")
        client.good("DEL", "b19")
        client.good("BGSAVE")
        same(client.good("UNLINK", *[f"b{i}" for i in range(19)]), 19, "UNLINK")
        disk.takes(0)
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "the dump")
        has_filters(disk.redis, sorted(f"c{i}" for i in range(20)), "all are dropped once the child is dead")
        disk.redis.kill()
        client = disk.redis.start()
        same(client.good("BF.MEXISTS", "b0", "x", "y"), [1, 1], "the dump has what was there")
        same(client.good("EXISTS", *[f"b{i}" for i in range(19)]), 19, "all of it")


def commands_that_count_wait_for_a_child_and_the_server_does_not():
    """A child that saves copies filters that count when it begins; what is counted meanwhile is not in its dump.  Seen to
    hang with a freeze_puts_off() that only waits, and to fail without it."""
    with Disk(dbfilename="dump.rdb") as (disk, client):
        client.good("CF.INSERT", "c", "ITEMS", *"abcdef")
        client.good("CF.ADD", "d", "a")
        client.good("BF.ADD", "b", "x")
        client.socket.settimeout(60)
        disk.children_stand_still()
        client.good("BGSAVE")
        commands = (("CF.ADD", "c", "g"), ("CF.ADDNX", "c", "h"), ("CF.INSERT", "c", "ITEMS", "i", "i"),
                    ("CF.INSERTNX", "c", "ITEMS", "j", "a"), ("CF.DEL", "c", "a"), ("TAMIS.ADD", "c", "k"),
                    ("TAMIS.REMOVE", "c", "b"), ("TAMIS.COMBINE", "c", "UNION", "d"), ("CF.ADD", "new", "x"))
        asking = disk.ask(client, *commands)
        leaver, = disk.ask(client, ("CF.ADD", "c", "l"))
        leaver.close()
        same(client.good("CF.MEXISTS", "c", "a", "b", "g", "i", "k", "l"), [1, 1, 0, 0, 0, 0], "nothing is counted yet")
        same((client.good("BF.ADD", "b", "y"), client.good("PING")), (1, "PONG"), "others go on")
        disk.takes(0)
        same([one.answer() for one in asking], [1, 1, [1, 1], [1, 0], 1, [1], [1], "OK", 1], "the answers")
        same(client.good("CF.COUNT", "c", "i"), 2, "each is counted once")
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "the dump")
        disk.redis.kill()
        shutil.rmtree(store_of(disk.redis))
        client = disk.redis.start()
        same(client.good("CF.MEXISTS", "c", *"abcdefghijkl"), [1] * 6 + [0] * 6, "the dump has what was there before")
        same(client.good("EXISTS", "new"), 0, "and no more")


def a_filter_grows_and_the_server_goes_on():
    """What an add waits for, the mark of a filter that is on the disk and further segments, is done in threads.  Seen to hang
    with a durable_is_wanted() that says no."""
    for exact in ("no", "yes"):
        with Disk("exact", exact, appendonly="yes", appendfsync="always") as (disk, client):
            client.good("BF.RESERVE", "k", "0.01", 1000)
            client.good("BF.RESERVE", "other", "0.01", 1000)
            client.socket.settimeout(60)
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
    """A thread has the catalog's lock while it waits for the disk.  Seen to hang with tamis__catalog_begin() in place of
    open_peeked(), and in look_up() of stat.c, as a filter that is closed for another one tells what it has."""
    with Disk("max-open", 8) as (disk, client):
        keys = [f"k{i}" for i in range(40)]
        for key in keys:
            client.good("BF.RESERVE", key, "0.01", 10_000)
            client.good("BF.ADD", key, "x")
        are_made(client)
        # Of filters that were made together none is marked as written to: that waits for the disk once.
        same([client.good("BF.ADD", key, "marks it") for key in keys], [1] * len(keys), "the first add")
        client.good("CF.ADD", "c", "x")
        client.socket.settimeout(60)
        for turn in range(3):
            disk.stands_still()
            asking = disk.ask(client, ("BF.RESERVE", f"large{turn}", "0.01", 100_000), ("CF.RESERVE", f"counts{turn}", 100_000))
            time.sleep(0.2)  # by now one of the threads has the lock, nearly always
            same([client.good("BF.EXISTS", key, "x") for key in keys], [1] * len(keys), "each is opened")
            same([client.good("BF.ADD", key, f"y{turn}") for key in keys], [1] * len(keys), "and added to")
            same(client.good("CF.EXISTS", "c", "x"), 1, "one that counts")
            same(client.good("BF.INFO", "k0", "ITEMS"), [3 + turn], "and tells what it has")
            disk.takes(0)
            same([one.answer() for one in asking], ["OK", "OK"], "what was made")


def filters_get_other_names_and_the_server_goes_on():
    """Seen to hang with a settle() that renames at once."""
    with Disk() as (disk, client):
        fill(client, "a", "b", "c")
        client.good("BF.ADD", "b", "of b")
        client.socket.settimeout(60)
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


def what_a_kill_leaves_of_other_names_is_found():
    """The AOF has names that the store has not.  The filter of b waits to be dropped when the server is killed, and is an orphan.
    Seen to fail without is_done_by_heir(): all four were, and the keys had filters that were made from the AOF."""
    for swap in (0, 1):
        with Disk(appendonly="yes", appendfsync="always") as (disk, client):
            for key in "abc":
                client.good("BF.ADD", key, f"of {key}")
            client.good("CF.ADD", "d", "of d")
            tamis("add", "--store", store_of(disk.redis), "c", text="local\n")
            disk.stands_still()
            client.good("RENAME", "a", "e")
            client.good("RENAME", "e", "f")
            client.good("RENAME", "c", "b")
            client.good("RENAME", "d", "g")
            if swap:
                client.good("SWAPDB", 0, 1)
            disk.redis.kill()
            disk.takes(0)
            client = disk.redis.start()
            left = client.good("TAMIS.ORPHANS", "LIST")
            same([was for _, was in left] in ([], [b"b"]), True, f"orphans: {left}")
            client.good("SELECT", swap)
            same([client.good("BF.MEXISTS", key, "of a", "of b", "of c", "local") for key in "fb"],
                 [[1, 0, 0, 0], [0, 0, 1, 1]], "each key has its filter, with what a local process has added")
            same(client.good("CF.COUNT", "g", "of d"), 1, "each is counted once")
            for orphan, _ in left:
                client.good("TAMIS.ORPHANS", "DROP", orphan)
            has_filters(disk.redis, sorted(("redis:1:" if swap else "") + key for key in "bfg"), "names")


def what_cannot_be_dropped_is_tried_again():
    """The disk has an error for some seconds.  Seen to fail with an is_tried_again() that says no."""
    with Disk() as (disk, client):
        fill(client, *KEYS)
        client.good("BF.RESERVE", "large", "0.01", 1_000_000)
        for key in ("large", "counted"):
            client.good("CF.ADD" if key == "counted" else "BF.ADD", key, "x")
        disk.takes(-1)
        client.good("DEL", "large", "counted", *KEYS[:3])
        eventually(lambda: disk.redis.log().count("cannot be dropped, which is tried again") >= 5, "the log tells of each")
        same(set(filters(disk.redis)) >= {"large", "counted", *KEYS}, True, "they are there")
        disk.takes(0)
        has_filters(disk.redis, sorted(KEYS[3:]), "they go")
        disk.takes(-1)
        client.good("DEL", "k3")
        eventually(lambda: "'k3' cannot be dropped" in disk.redis.log(), "once more")
        disk.redis.stop()
        same("1 filters whose keys are gone stay in the store" in disk.redis.log(), True, "an orderly end tries once more")
        disk.takes(0)
        client = disk.redis.start()
        eventually(lambda: "k3" not in filters(disk.redis), "a server that keeps nothing drops it")


run(filters_get_other_names_and_the_server_goes_on, what_a_kill_leaves_of_other_names_is_found, a_filter_grows_and_the_server_goes_on, closed_filters_are_opened_while_others_are_made,
    commands_that_count_wait_for_a_child_and_the_server_does_not, the_server_goes_on_while_filters_go, a_durable_filter_goes_with_its_jobs,
    a_name_is_made_again_while_its_filter_goes, a_command_waits_for_its_own_server,
    an_orderly_end_waits_for_filters_that_go, what_a_kill_leaves_is_found,
    filters_that_a_child_may_save_are_kept, what_cannot_be_dropped_is_tried_again)
