# SPDX-License-Identifier: BSD-2-Clause
"""attaches.py MODULE TAMIS SLOW_DISK: TAMIS.ATTACH, TAMIS.DETACH and TAMIS.ORPHANS DROP work in a thread, whatever comes meanwhile.

On a disk that stands still a server that waited for it would answer nobody: so hung the module before these tests, in all of the
cases that begin so.  Each case says with what it was seen to fail besides.
"""
import time

from harness import are_made, eventually, filters, has_filters, is_rewritten, orphans, refused, run, same, served, server, store_of, tamis
from slow_disk import DiskWithStore

LARGE = 100_000  # of more bytes than a draft may have
AOF = {"appendonly": "yes", "appendfsync": "always", "repl_diskless_sync_delay": 0}


class Orphans(DiskWithStore):
    """A server whose filters o0, o1, o2 and c, which counts, are orphans; "first" and "k" are keys.  The settings come with the
    second start: an AOF has nothing of the orphans."""

    def __init__(self, **settings):
        super().__init__()
        self.later = {name.replace("_", "-"): value for name, value in settings.items()}

    def __enter__(self):
        _, client = super().__enter__()
        for i in range(3):
            client.good("BF.RESERVE", f"o{i}", "0.01", LARGE)
            client.good("BF.MADD", f"o{i}", "x", f"of o{i}")
        client.good("TAMIS.RESERVE", "c", "0.01", LARGE, "KIND", "counting")
        client.good("TAMIS.ADD", "c", "x", "x", "y")
        client.good("TAMIS.DETACH", "first")
        are_made(client)
        self.redis.settings.update(self.later)
        client = self.redis.restart(kill=True)
        client.socket.settimeout(self.PATIENCE_S)
        eventually(lambda: orphans(client) == ["c", "o0", "o1", "o2"], "orphans")
        client.good("BF.RESERVE", "k", "0.01", LARGE)
        client.good("BF.ADD", "k", "x")
        return self, client

    def restarted(self):
        self.redis.kill()
        self.takes(0)
        client = self.redis.start()
        client.socket.settimeout(self.PATIENCE_S)
        return client


def the_server_goes_on():
    """Replicas and the AOF have what the server has.  The replica has a store of its own, without the orphan o0."""
    with Orphans(**AOF) as (disk, client), server() as second:
        follower = disk.followed_by(second)
        tamis("create", "--store", store_of(disk.redis), "theirs", "-n", 100)
        same(client.good("TAMIS.ORPHANS", "DROP", "o1"), "OK", "a thread drops it")
        has_filters(disk.redis, ["c", "first", "k", "o0", "o2", "theirs"], "it is dropped")
        disk.stands_still()
        client.good("RENAME", "k", "l")
        same(client.good("BF.ADD", "l", "y"), 1, "a key under its new name")
        asking = disk.ask(client, ("TAMIS.ATTACH", "theirs"), ("TAMIS.DETACH", "l"))
        same((client.good("PING"), client.good("EXISTS", "theirs", "l")), ("PONG", 1), "nothing is done yet")
        same((client.good("BF.EXISTS", "l", "x"), client.good("SET", "s", "x")), (1, "OK"), "others go on")
        disk.takes(0)
        same([one.answer() for one in asking], ["OK", b"l"], "the answers")
        same([client.good("TAMIS.ATTACH", key, name) for key, name in (("a", "o0"), ("counted", "c"))], ["OK", "OK"], "orphans")
        has_filters(disk.redis, ["a", "counted", "first", "l", "o2", "theirs"], "names")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        same(follower.good("KEYS", "*"), [b"s"], "the replica, which has none of the filters")
        same(client.good("TAMIS.COUNT", "counted", "x"), [2], "counts")
        client = disk.restarted()
        same(sorted(client.good("KEYS", "*")), [b"a", b"counted", b"s", b"theirs"], "the AOF")
        same((client.good("BF.MEXISTS", "a", "of o0", "of o1"), client.good("TAMIS.COUNT", "counted", "x")[0]), ([1, 0], 2), "filters")
        same(orphans(client), ["o2"], "the orphan that is left")
        has_filters(disk.redis, ["a", "counted", "first", "l", "o2", "theirs"], "what was detached is there once")
        client.good("DEL", "a", "theirs")
        has_filters(disk.redis, ["counted", "first", "l", "o2", "theirs"], "an orphan is the server's again")
        same(tamis("check", "--store", store_of(disk.redis), "l", text="x\ny\nz\n"), "x\ny\n", "what was detached has all")


def two_attach_one_filter():
    """The second finds that a key has it.  Threads have opened it for both before the server hears of it.  Seen to fail without
    is_held_by_now(): both had it."""
    with DiskWithStore() as (disk, client):
        tamis("create", "--store", store_of(disk.redis), "theirs", "-n", 100)
        client.good("BF.RESERVE", "k", "0.01", LARGE)
        disk.stands_still()
        client.good("RENAME", "k", "l")
        asking = disk.ask(client, ("TAMIS.ATTACH", "a", "theirs"), ("TAMIS.ATTACH", "b", "theirs"))
        client.send("DEBUG", "SLEEP", "1")
        time.sleep(0.3)
        disk.takes(0)
        same(client.answer(), "OK", "DEBUG SLEEP")
        answers = [one.answer() for one in asking]
        same(sorted(map(str, answers)), ["ERR a key of this server has that filter", "OK"], "one of them")
        same(client.good("EXISTS", "a", "b"), 1, "keys")


def a_filter_that_goes_is_attached():
    """Its key is gone, and a thread is dropping it, so there is none.  Seen to hang where it is renamed in the
    place of that, with the registry's mutex."""
    with DiskWithStore() as (disk, client):
        for key in "klm":
            client.good("BF.RESERVE", key, "0.01", LARGE)
            client.good("BF.ADD", key, "first")
        disk.stands_still()
        client.good("DEL", "k")
        time.sleep(0.1)  # by now the thread is at work for it, nearly always
        client.good("DEL", "l")
        asking = disk.ask(client, ("TAMIS.ATTACH", "other", "k"))
        time.sleep(0.1)
        same((client.good("RENAME", "m", "n"), client.good("BF.ADD", "n", "x"), client.good("PING")), ("OK", 1, "PONG"), "others go on")
        disk.takes(0)
        refused(asking[0].answer(), "ERR the filter cannot be attached: no such filter")
        has_filters(disk.redis, ["first", "n"], "both went")


def a_node_of_a_cluster_drops_orphans():
    """The command has no key, so no slot.  Seen to fail with a has_key() that says yes."""
    with served(cluster_enabled="yes") as (redis, client):
        client.good("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        eventually(lambda: b"cluster_state:ok" in client.good("CLUSTER", "INFO"), "the node is up")
        client.good("BF.RESERVE", "k", "0.01", LARGE)
        are_made(client)
        redis.arguments = ["drop-orphans", "no"]
        client = redis.restart(kill=True)
        eventually(lambda: b"cluster_state:ok" in client.good("CLUSTER", "INFO") and orphans(client) == ["k"], "an orphan")
        slot = client.good("CLUSTER", "KEYSLOT", "DROP")  # were it a key, it would be of this slot
        client.good("CLUSTER", "DELSLOTS", slot)
        eventually(lambda: b"cluster_state:fail" in client.good("CLUSTER", "INFO"), "a slot is nobody's")
        same(client.good("TAMIS.ORPHANS", "DROP", "k"), "OK", "the node does it")
        has_filters(redis, [], "it is dropped")


def data_are_loaded_and_saved_meanwhile():
    """DEBUG RELOAD, and the AOF that a child writes."""
    with Orphans(**AOF) as (disk, client):
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"))
        client.send("DEBUG", "RELOAD")
        time.sleep(0.3)
        disk.takes(0)
        same(client.answer(), "OK", "DEBUG RELOAD")
        same([one.answer() for one in asking], ["OK", b"k"], "the answers")
        same((client.good("KEYS", "*"), orphans(client)), ([], ["c", "o0", "o2"]), "keys")
        has_filters(disk.redis, ["c", "first", "k", "o0", "o2"], "filters")
        client.good("BF.RESERVE", "l", "0.01", LARGE)
        same(client.good("TAMIS.ATTACH", "counted", "c"), "OK", "an orphan")
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.DETACH", "l"))
        client.good("BGREWRITEAOF")
        is_rewritten(client)
        disk.takes(0)
        same([one.answer() for one in asking], [b"l"], "the answer")
        for _ in range(2):
            client = disk.restarted()
            same((client.good("KEYS", "*"), orphans(client)), ([b"counted"], ["o0", "o2"]), "the AOF")
            same(client.good("TAMIS.COUNT", "counted", "x"), [2], "the filter")
            has_filters(disk.redis, ["counted", "first", "k", "l", "o0", "o2"], "filters")


def a_kill_leaves_all_or_nothing():
    """Whenever the server is killed, an orphan is one, or a key's; what was dropped is gone; and of a filter that was to be detached
    the key has all, or the store.  The AOF has what was answered."""
    rounds = 12
    with DiskWithStore() as (disk, client):
        for i in range(rounds):
            for name in (f"attached{i}", f"dropped{i}"):
                client.good("BF.RESERVE", name, "0.01", 1000)
                client.good("BF.ADD", name, f"of {i}")
        has_filters(disk.redis, sorted(["first"] + [f"{what}{i}" for what in ("attached", "dropped") for i in range(rounds)]), "orphans to be")
        disk.redis.settings.update({"appendonly": "yes", "appendfsync": "always"})
        client = disk.redis.restart(kill=True)
        for i in range(rounds):
            client.good("BF.RESERVE", f"k{i}", "0.01", 1000)
            client.good("BF.ADD", f"k{i}", f"of {i}")
            eventually(lambda: f"k{i}" in filters(disk.redis), "it is made")
            disk.takes(10)
            asking = [disk.redis.client() for _ in range(3)]
            for one, command in zip(asking, (("TAMIS.ATTACH", f"a{i}", f"attached{i}"), ("TAMIS.ORPHANS", "DROP", f"dropped{i}"),
                                             ("TAMIS.DETACH", f"k{i}"))):
                one.send(*command)
            time.sleep(i * 0.012)
            disk.redis.kill()
            answered = [has_answer(one) for one in asking]
            disk.takes(0)
            client = disk.redis.start()
            there, left = filters(disk.redis), orphans(client)
            has = client.good("EXISTS", f"a{i}", f"k{i}")
            print(f"round {i}: answered {answered}, keys {has}", flush=True)
            if answered[0] or client.good("EXISTS", f"a{i}"):
                same(client.good("BF.MEXISTS", f"a{i}", f"of {i}", "z"), [1, 0], "it is a key's")
            else:
                same((f"attached{i}" in left) + (f"a{i}" in left), 1, f"it is an orphan: {left}")
            same((f"dropped{i}" in left, answered[1] and f"dropped{i}" in there), (f"dropped{i}" in there, False), "dropped, or an orphan")
            if client.good("EXISTS", f"k{i}"):
                same((answered[2], client.good("BF.MEXISTS", f"k{i}", f"of {i}", "z")), (False, [1, 0]), "it is detached, or a key's")
            same(tamis("check", "--store", store_of(disk.redis), f"k{i}", text=f"of {i}\n"), f"of {i}\n", "the store has it")


def has_answer(client):
    """Was the client answered before the server was killed?"""
    client.socket.settimeout(5)
    try:
        client.answer()
        return True
    except (OSError, ConnectionError, EOFError):
        return False


def a_disk_with_errors():
    """All is as it was, and the texts tell why."""
    with Orphans() as (disk, client):
        disk.takes(-1)
        refused(client("TAMIS.ORPHANS", "DROP", "o0"), "ERR the orphan cannot be dropped: ")
        refused(client("TAMIS.DETACH", "k"), "ERR the filter cannot be detached: ")
        disk.takes(0)
        same(orphans(client), ["c", "o0", "o1", "o2"], "orphans")
        same(client.good("BF.EXISTS", "k", "x"), 1, "the key")
        refused(client("TAMIS.ATTACH", "b", "none"), "ERR the filter cannot be attached: no such filter")
        refused(client("TAMIS.DETACH", "none"), "ERR not found")
        same(client.good("TAMIS.ORPHANS", "DROP", "o0"), "OK", "it can be dropped")
        client.good("DEL", "k")
        has_filters(disk.redis, ["c", "first", "o1", "o2"], "the filter was still the server's")


def transactions_do_it_at_once():
    """MULTI and scripts."""
    with Orphans(**AOF) as (disk, client), server() as second:
        follower = disk.followed_by(second)
        for command in (("MULTI",), ("TAMIS.ATTACH", "a", "o0"), ("BF.ADD", "a", "y"), ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"),
                        ("EXISTS", "k")):
            client.good(*command)
        same(client.good("EXEC"), ["OK", 1, "OK", b"k", 0], "MULTI")
        same(client.good("EVAL", "return {redis.call('TAMIS.ATTACH', KEYS[1], 'c'), redis.call('TAMIS.DETACH', KEYS[2])}", 2, "counted", "a"),
             ["OK", b"a"], "a script")
        has_filters(disk.redis, ["a", "counted", "first", "k", "o2"], "filters")
        same((client.good("WAIT", 1, 0), follower.good("KEYS", "*")), (1, []), "the replica")


def an_orderly_end_comes_meanwhile():
    """SHUTDOWN: the AOF has TAMIS.DETACH if it was answered."""
    with Orphans(**AOF) as (disk, client):
        disk.stands_still()
        disk.ask(client, ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"))
        client.send("SHUTDOWN")
        time.sleep(0.3)
        disk.takes(0)
        disk.redis.process.wait()
        client = disk.redis.start()
        keys = client.good("KEYS", "*")
        same((keys in ([], [b"k"]), set(orphans(client)) >= {"c", "o0", "o2"}), (True, True), f"afterwards: {keys}")
        has_filters(disk.redis, sorted({"first", "k", *orphans(client)}), "filters")


def an_aof_detaches_once():
    """A filter that was detached is not made once more at each start, and one of others is not dropped.  Seen to fail where
    detach_loading() asks only whether the store had the filter."""
    for preamble in ("no", "yes"):
        with served(aof_use_rdb_preamble=preamble, **AOF) as (redis, client):
            client.good("BF.ADD", "small", "x")
            client.good("BF.RESERVE", "large", "0.01", LARGE)
            tamis("create", "--store", store_of(redis), "theirs", "-n", 100)
            client.good("TAMIS.ATTACH", "theirs")
            for key in ("small", "large", "theirs"):
                client.good("TAMIS.DETACH", key)
            tamis("drop", "--store", store_of(redis), "small")
            client.good("BF.ADD", "small", "of another")
            for _ in range(2):
                client = redis.restart(kill=True)
                eventually(lambda now=client: now.good("BF.MEXISTS", "small", "x", "of another") == [0, 1], "the second of that name")
                has_filters(redis, ["large", "small", "theirs"], f"{preamble}: the store has no further one")
            client.good("DEL", "small")
            has_filters(redis, ["large", "theirs"], "those that were detached")


def a_filter_that_is_shared_has_its_name():
    """The thread that writes its name has to wait for others.  Seen to fail where TAMIS.SHARE answers when the file is made: the
    command finds no filter of that name."""
    with DiskWithStore() as (disk, client):
        client.good("CONFIG", "SET", "tamis.share-from", 65536)
        client.good("BF.MADD", "small", "a", "b")
        disk.stands_still()
        (sharing,) = disk.ask(client, ["TAMIS.SHARE", "small"])
        others = disk.ask(client, *[["BF.RESERVE", f"large {i}", "0.01", LARGE] for i in range(40)])
        disk.takes(20)
        same(sharing.answer(), "OK", "TAMIS.SHARE")
        same(tamis("check", "--store", store_of(disk.redis), "small", text="a\nb\nc\n"), "a\nb\n", "the filter that is shared")
        disk.takes(0)
        same([one.answer() for one in others], ["OK"] * 40, "the others")


run(the_server_goes_on, two_attach_one_filter, a_filter_that_goes_is_attached,
    a_node_of_a_cluster_drops_orphans, data_are_loaded_and_saved_meanwhile, a_kill_leaves_all_or_nothing,
    a_disk_with_errors, transactions_do_it_at_once, an_orderly_end_comes_meanwhile,
    an_aof_detaches_once, a_filter_that_is_shared_has_its_name)
