# SPDX-License-Identifier: BSD-2-Clause
"""sums.py MODULE TAMIS SLOW_DISK: TAMIS.COMBINE adds counters to a filter that is there by a thread, and everybody has the sum once.

Replicas and the AOF get the command when the thread has read all that it adds, and before it adds anything.  So there are two times to
meet: while it is not that far (all threads make other filters, and the disk stands still, or a child has still to copy), and while it adds
(what is replicated tells it).
Each case says with what it was seen to fail.
"""
import shutil
import time

from harness import eventually, follow, is_rewritten, refused, run, same, server, store_of
from slow_disk import Disk, waiting_clients

SMALL, LARGE = 10_000, 8_000_000


def counted(client, key, size, *items):
    client.good("CF.RESERVE", key, size, "BUCKETSIZE", 200)
    client.good("CF.INSERT", key, "ITEMS", *items)


def threads_are_busy(disk, client):
    """With filters that they make."""
    client.good("DEL", *(f"busy {i}" for i in range(4)))
    disk.stands_still()
    disk.busy = disk.ask(client, *[("BF.RESERVE", f"busy {i}", "0.01", 100_000) for i in range(4)])


def restarted_without_store(disk):
    """The AOF is all that there is."""
    disk.redis.kill()
    shutil.rmtree(store_of(disk.redis))
    return disk.redis.start()


def counts(client, key, items="abx"):
    return [client.good("CF.COUNT", key, item) for item in items]


def the_server_goes_on_while_counters_are_added():
    """Whoever counts in one of the filters waits; others do not, and the keys may have other names by then.  Seen to fail with a maker
    without `keep`, and without still_begin() in keep_still(): not all of them wait."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        for key, items in (("to", "aab"), ("from", "abb"), ("more", "ax"), ("other", "a"), ("gone", "a"), ("lost", "a")):
            counted(client, key, SMALL, *items)
        client.socket.settimeout(60)
        threads_are_busy(disk, client)
        asking = disk.ask(client, ("TAMIS.COMBINE", "to", "UNION", "from", "more"), ("TAMIS.COMBINE", "gone", "UNION", "from"),
                          ("TAMIS.COMBINE", "other", "UNION", "lost"))
        same((client.good("PING"), counts(client, "to")), ("PONG", [2, 1, 0]), "others go on")
        late = disk.ask(client, ("CF.ADD", "to", "x"), ("CF.ADD", "from", "x"), ("CF.DEL", "to", "a"), ("CF.DEL", "more", "x"))
        after, = disk.ask(client, ("TAMIS.COMBINE", "from", "UNION", "more"))
        client.good("RENAME", "to", "sum")
        client.good("DEL", "gone", "lost")
        disk.takes(0)
        same(asking[0].answer(), "OK", "the answer")
        refused(asking[1].answer(), "ERR", "the key is gone")
        refused(asking[2].answer(), "ERR not found", "a source is gone")
        same([one.answer() for one in (*late, after)], [1, 1, 0, 1, "OK"], "who waited, two for what is another key now")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        wanted = {"sum": [4, 3, 1], "other": [1, 0, 0]}
        same({key: counts(client, key) for key in wanted}, wanted, "the server")
        wanted["from"] = counts(client, "from")
        same(wanted["from"] in ([2, 2, 1], [2, 2, 2]), True, wanted["from"])
        for one, what in ((follower, "the replica"), (restarted_without_store(disk), "the AOF")):
            same({key: counts(one, key) for key in wanted}, wanted, what)


def transactions_find_the_sum():
    """MULTI waits for the thread, and has it done.  Seen to fail without making_settle() in still_waits()."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        counted(client, "to", SMALL, *"aab")
        counted(client, "from", SMALL, *"abb")
        client.socket.settimeout(60)
        threads_are_busy(disk, client)
        asking, = disk.ask(client, ("TAMIS.COMBINE", "to", "UNION", "from"))
        disk.takes(300)
        for words in (("MULTI",), ("CF.ADD", "from", "a"), ("CF.ADD", "to", "x"), ("TAMIS.COMBINE", "to", "UNION", "from")):
            client.good(*words)
        same((client.good("EXEC"), asking.answer()), ([1, 1, "OK"], "OK"), "a transaction")
        disk.takes(0)
        same(client.good("WAIT", 1, 0), 1, "a replica")
        same(counts(client, "to"), [5, 5, 1], "the server")
        for one, what in ((follower, "the replica"), (restarted_without_store(disk), "the AOF")):
            same((counts(one, "to"), counts(one, "from")), ([5, 5, 1], [2, 2, 0]), what)


def a_child_has_all_or_nothing():
    """One that is born before the thread adds has nothing of it, and its AOF gets the command.  Seen to fail with a
    making_tells_first() that returns true at once: the counters are raised before the child has copied them."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client):
        counted(client, "to", SMALL, *"aab")
        counted(client, "from", SMALL, *"abb")
        client.socket.settimeout(60)
        threads_are_busy(disk, client)
        asking, = disk.ask(client, ("TAMIS.COMBINE", "to", "UNION", "from"))
        client.good("BGREWRITEAOF")
        is_rewritten(client)
        disk.children_stand_still()  # and the thread goes on
        client.good("BGSAVE")
        time.sleep(0.3)
        same((counts(client, "to"), waiting_clients(client) > 0), ([2, 1, 0], True), "a child has not copied yet")
        disk.takes(0)
        same(asking.answer(), "OK", "the answer")
        same(counts(restarted_without_store(disk), "to"), [3, 3, 0], "the AOF")


def meet(disk, client, act, *sources):
    """Does something directly after replicas have the command, while the thread adds.  Returns what it returns."""
    def offset():
        return int(client.good("INFO", "replication").decode().split("master_repl_offset:")[1].split()[0])

    before = offset()
    asking, = disk.ask(client, ("TAMIS.COMBINE", "to", "UNION", *(sources or ["from"])))
    while offset() == before:
        pass
    told = act()
    same(asking.answer(), "OK", "the answer")
    return told


def a_dump_while_counters_are_added():
    """Seen to fail without making_wait_for_told(): DUMP has a part of the sum."""
    items = [f"item {i}" for i in range(5000)]
    with Disk(appendonly="yes", appendfsync="always", repl_ping_replica_period=3600) as (disk, client), server() as second:
        for key in ("from", "to"):
            counted(client, key, LARGE, *items)
        follower = second.client()
        follow(follower, disk.redis)
        client.socket.settimeout(60)
        payload = meet(disk, client, lambda: client.good("DUMP", "to"))
        client.good("RESTORE", "dumped", 0, payload)
        for key in ("dumped", "to"):
            same({client.good("CF.COUNT", key, item) for item in items}, {2}, key)
        client.good("DEL", "dumped")
        meet(disk, client, lambda: client.good("BGREWRITEAOF"))
        is_rewritten(client)
        same(client.good("WAIT", 1, 0), 1, "a replica")
        for one, what in ((follower, "the replica"), (restarted_without_store(disk), "the AOF")):
            same({one.good("CF.COUNT", "to", item) for item in items}, {3}, what)


def a_child_while_counters_are_added():
    """Seen to fail without wait_before_fork(): the dump has a part of the sum, of which replicas have been told before."""
    items = [f"item {i}" for i in range(5000)]
    with Disk(dbfilename="dump.rdb", repl_ping_replica_period=3600) as (disk, client), server() as second:
        sources = [f"from {i}" for i in range(8)]  # so a child that does not wait is faster than the thread
        for key in (*sources, "to"):  # and copies the later one first
            counted(client, key, LARGE // 4, *items)
        follow(second.client(), disk.redis)
        client.socket.settimeout(60)
        meet(disk, client, lambda: client.good("BGSAVE"), *sources)
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "the dump")
        again = restarted_without_store(disk)
        same({again.good("CF.COUNT", "to", item) for item in items}, {9}, "the dump")


def asks(disk, client):
    """The client of a command whose thread has read all, and waits for a child to copy."""
    disk.children_stand_still()
    client.good("BGSAVE")
    asking, = disk.ask(client, ("TAMIS.COMBINE", "to", "UNION", "from"))
    time.sleep(0.3)
    return asking


def what_has_not_begun_comes_to_nothing():
    """While writes are paused nothing is added, and a server that became a replica adds nothing.  Seen to fail with a making_go_on() that tells
    replicas while writes are paused (the sum is there), and with neither tell_first() asking server_is_replica() nor making_give_up_changes() meeting who asks (the log)."""
    with Disk(appendonly="yes", repl_diskless_sync_delay=0) as (disk, client), server(repl_diskless_sync_delay=0) as second:
        counted(client, "to", SMALL, *"aab")
        counted(client, "from", SMALL, *"abb")
        client.socket.settimeout(60)
        asking = asks(disk, client)
        client.good("CLIENT", "PAUSE", 60_000, "WRITE")
        disk.takes(0)
        eventually(lambda: b"rdb_bgsave_in_progress:0" in client.good("INFO", "persistence"), "the child has copied")
        time.sleep(0.5)
        same((counts(client, "to"), waiting_clients(client)), ([2, 1, 0], 1), "paused")
        client.good("CLIENT", "UNPAUSE")
        same((asking.answer(), counts(client, "to")), ("OK", [3, 3, 0]), "it goes on")
        asking = asks(disk, client)
        client.good("REPLICAOF", "127.0.0.1", second.port)
        refused(asking.answer(), "UNBLOCKED")
        disk.takes(0)
        eventually(lambda: client("CF.COUNT", "to", "a") == 0, "it has what the master has")
        client.good("REPLICAOF", "NO", "ONE")
        same(client.good("CF.ADD", "to", "a"), 1, "a master again")
        same("was a replica already" in disk.redis.log(), False, "nothing was added")


run(the_server_goes_on_while_counters_are_added, transactions_find_the_sum, a_child_has_all_or_nothing,
    a_dump_while_counters_are_added, a_child_while_counters_are_added, what_has_not_begun_comes_to_nothing)
