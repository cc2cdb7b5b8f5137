# SPDX-License-Identifier: BSD-2-Clause
"""attaches.py MODULE TAMIS SLOW_DISK: TAMIS.ATTACH, TAMIS.DETACH and TAMIS.ORPHANS DROP work in a thread, whatever comes meanwhile.

On a disk that stands still a server that waited for it would answer nobody: so hung the module before these tests, in all of the
cases that begin so.  Each case says with what it was seen to fail besides.
"""
import time

from harness import eventually, filters, follow, has_filters, info, is_rewritten, refused, run, same, served, server, store_of, tamis
from slow_disk import DiskWithStore, waiting_clients

LARGE = 100_000  # of more bytes than a draft may have
AOF = {"appendonly": "yes", "appendfsync": "always", "repl_diskless_sync_delay": 0}


def orphans(client):
    return sorted(name.decode() for name, _ in client.good("TAMIS.ORPHANS", "LIST"))


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
        client.good("CF.RESERVE", "c", LARGE)
        client.good("CF.INSERT", "c", "ITEMS", "x", "x", "y")
        client.good("TAMIS.DETACH", "first")
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


def leave(client, clients):
    """The clients go, and the server has noticed it."""
    waiting = waiting_clients(client)
    for one in clients:
        one.close()
    eventually(lambda: waiting_clients(client) == waiting - len(clients), "they are gone")


def the_server_goes_on():
    """Replicas and the AOF have what the server has.  The replica has a store of its own, without the orphan o0."""
    with Orphans(**AOF) as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        tamis("create", "--store", store_of(disk.redis), "theirs", "-n", 100)
        disk.stands_still()
        client.good("RENAME", "k", "l")  # for which TAMIS.ATTACH waits
        asking = disk.ask(client, ("TAMIS.ATTACH", "a", "o0"), ("TAMIS.ATTACH", "counted", "c"), ("TAMIS.ATTACH", "theirs"),
                          ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "l"))
        same((client.good("PING"), client.good("EXISTS", "a", "counted", "theirs", "l")), ("PONG", 1), "nothing is done yet")
        same((client.good("BF.ADD", "l", "y"), client.good("BF.EXISTS", "l", "x"), client.good("SET", "s", "x")), (1, 1, "OK"), "others go on")
        same((orphans(client), info(client, "orphans")), (["o2"], 1), "what is under way is none")
        disk.takes(0)
        same([one.answer() for one in asking], ["OK", "OK", "OK", "OK", b"l"], "the answers")
        has_filters(disk.redis, ["a", "counted", "first", "l", "o2", "theirs"], "names")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        same(sorted(follower.good("KEYS", "*")), [b"counted", b"s"], "the replica, which has none of the filters")
        same([one.good("CF.COUNT", "counted", "x") for one in (client, follower)], [2, 2], "counts")
        client = disk.restarted()
        same(sorted(client.good("KEYS", "*")), [b"a", b"counted", b"s", b"theirs"], "the AOF")
        same((client.good("BF.MEXISTS", "a", "of o0", "of o1"), client.good("CF.COUNT", "counted", "x")), ([1, 0], 2), "filters")
        same(orphans(client), ["o2"], "the orphan that is left")
        has_filters(disk.redis, ["a", "counted", "first", "l", "o2", "theirs"], "what was detached is there once")
        client.good("DEL", "a", "theirs")
        has_filters(disk.redis, ["counted", "first", "l", "o2", "theirs"], "an orphan is the server's again")
        same(tamis("check", "--store", store_of(disk.redis), "l", text="x\ny\nz\n"), "x\ny\n", "what was detached has all")


def clients_go():
    """What was begun ends, or nothing of it is seen.  Seen to fail where follow_detached() does nothing without a client (the key stays), and without
    orphan_put_back() (the orphan is none for good)."""
    with Orphans(**AOF) as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ATTACH", "a", "o0"), ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"))
        leave(client, asking)
        same((client.good("EXISTS", "a", "k"), orphans(client)), (1, ["c", "o2"]), "the thread is at work")
        disk.takes(0)
        eventually(lambda: client.good("EXISTS", "a", "k") == 0, "TAMIS.DETACH is done")
        eventually(lambda: orphans(client) == ["a", "c", "o2"], "an orphan is one again, by the name of the key")
        has_filters(disk.redis, ["a", "c", "first", "k", "o2"], "filters")
        same((client.good("WAIT", 1, 0), follower.good("EXISTS", "k")), (1, 0), "the replica")
        same(client.good("TAMIS.ATTACH", "again", "a"), "OK", "it can be attached")
        same(client.good("BF.MEXISTS", "again", "of o0", "z"), [1, 0], "with what it had")
        client = disk.restarted()
        same((client.good("KEYS", "*"), orphans(client)), ([b"again"], ["c", "o2"]), "the AOF")
        has_filters(disk.redis, ["again", "c", "first", "k", "o2"], "filters")


def detaches(disk, client, second):
    """The disk stands still, and a client detaches k, which has x.  Returns a client of the replica, and that one."""
    follower = second.client()
    follow(follower, disk.redis)
    client.good("BF.RESERVE", "k", "0.01", LARGE)
    client.good("BF.ADD", "k", "x")
    disk.stands_still()
    asking, = disk.ask(client, ("TAMIS.DETACH", "k"))
    return follower, asking


def keys_come_and_go_while_one_is_detached():
    """DEL is as if it had come before, and a key that is renamed is detached under its new name.  Its filter has the name before or
    the new one, by which of both came first."""
    ways = ((("DEL", "k"), "ERR not found", None), (("SET", "k", "string"), "WRONGTYPE", None), (("FLUSHALL",), "ERR not found", None),
            (("FLUSHDB", "ASYNC"), "ERR not found", None), (("RENAME", "k", "r"), b"k", b"r"), (("MOVE", "k", 1), b"k", b"redis:1:k"),
            (("SWAPDB", 0, 1), b"k", b"redis:1:k"), (("BF.ADD", "k", "late"), b"k", None), (("EXPIRE", "k", -1), "ERR not found", None))
    for way, wanted, later in ways:
        with DiskWithStore(**AOF) as (disk, client), server() as second:
            follower, asking = detaches(disk, client, second)
            client.good(*way)
            disk.takes(0)
            answer = asking.answer()
            if isinstance(wanted, bytes):
                same(answer in (wanted, later), True, (way, answer))
            else:
                refused(answer, wanted, way)
            has_filters(disk.redis, sorted(([answer.decode()] if isinstance(wanted, bytes) else []) + ([] if way[0] == "FLUSHALL" or way[0] == "FLUSHDB" else
                                           ["redis:1:first" if way[0] == "SWAPDB" else "first"])), way)
            for database in (0, 1):
                client.good("SELECT", database)
                same([client.good("EXISTS", *"kr")], [1 if way[0] == "SET" and database == 0 else 0], f"{way} {database}")
            same(client.good("WAIT", 1, 0), 1, "a replica")
            same(client.good("DEBUG", "DIGEST"), follower.good("DEBUG", "DIGEST"), f"{way}: the replica")
            digest = client.good("DEBUG", "DIGEST")
            disk.redis.kill()
            client = disk.redis.start()
            same(client.good("DEBUG", "DIGEST"), digest, f"{way}: the AOF")


def a_key_gets_another_filter_while_one_is_detached():
    """The other one stays."""
    with DiskWithStore() as (disk, client):
        for key in "kr":
            client.good("BF.RESERVE", key, "0.01", LARGE)
            client.good("BF.ADD", key, f"of {key}")
        disk.stands_still()
        asking, = disk.ask(client, ("TAMIS.DETACH", "k"))
        client.good("RENAME", "r", "k")
        disk.takes(0)
        refused(asking.answer(), "ERR a key got another filter while the command was under way", "RENAME onto it")
        same(client.good("BF.MEXISTS", "k", "of k", "of r"), [0, 1], "the other one")
        has_filters(disk.redis, ["first", "k"], "the first one went with its key")
        client.good("DEL", "k")
        has_filters(disk.redis, ["first"], "this one, too")


def keys_come_while_an_orphan_is_attached():
    """Nobody else gets the orphan, and none goes.  Seen to fail with an orphan_take() that leaves it on the list."""
    with Orphans() as (disk, client):
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ATTACH", "a", "o0"), ("TAMIS.ATTACH", "b", "o1"), ("TAMIS.ORPHANS", "DROP", "o2"))
        client.good("SET", "a", "string")
        for name in ("o0", "o2"):
            refused(client("TAMIS.ATTACH", "other", name), "ERR a key of this server has that filter", name)
            refused(client("TAMIS.ORPHANS", "DROP", name), "ERR no orphan has that name", name)
        late = disk.ask(client, ("BF.RESERVE", "o1", "0.01", LARGE), ("BF.RESERVE", "o2", "0.01", LARGE), ("BF.RESERVE", "a2", "0.01", LARGE))
        disk.takes(0)
        refused(asking[0].answer(), "WRONGTYPE", "the key has got something else")
        same([one.answer() for one in asking[1:] + late], ["OK"] * 5, "the others")
        for key, item in (("b", "of o1"), ("o1", "none"), ("o2", "none")):
            same(client.good("BF.MEXISTS", key, "of o1", "of o2"), [item == "of o1", 0], key)
        eventually(lambda: orphans(client) == ["a", "c"], "the first one is an orphan again")
        client.good("DEL", "a")
        same(client.good("TAMIS.ATTACH", "a"), "OK", "by its name")
        same(client.good("BF.MEXISTS", "a", "of o0", "of o1"), [1, 0], "with what it had")
        has_filters(disk.redis, sorted(["a", "a2", "b", "c", "first", "k", "o1", "o2"]), "each has its name")


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


def an_orphan_is_found_by_its_new_name():
    """A thread has given it the name of its key, which does not have it yet, and another key asks for it by that name: the server
    sleeps meanwhile.  One key gets it.  Seen to fail without is_held_by_now(): both had it."""
    with Orphans() as (disk, client):
        disk.stands_still()
        first, = disk.ask(client, ("TAMIS.ATTACH", "a", "o0"))
        clients = [disk.redis.client() for _ in range(4)]
        for one in clients:
            one.good("PING")
        clients[0].send("DEBUG", "SLEEP", "1")  # the others come in one turn of the event loop
        time.sleep(0.3)
        for one, command in zip(clients[1:], (("DEBUG", "SLEEP", "2"), ("TAMIS.ATTACH", "b", "a"), ("DEBUG", "SLEEP", "1"))):
            one.send(*command)
        same(clients[0].answer(), "OK", "the first sleep")
        disk.takes(0)
        same((first.answer(), clients[1].answer(), clients[3].answer()), ("OK", "OK", "OK"), "the first one")
        refused(clients[2].answer(), "ERR a key of this server has that filter", "the second one")
        same((client.good("EXISTS", "a", "b"), client.good("BF.MEXISTS", "a", "of o0", "z")), (1, [1, 0]), "its key")
        has_filters(disk.redis, ["a", "c", "first", "k", "o1", "o2"], "names")
        same(orphans(client), ["c", "o1", "o2"], "it is no orphan")
        client.good("DEL", "a")
        has_filters(disk.redis, ["c", "first", "k", "o1", "o2"], "it goes with its key")


def a_filter_that_goes_is_attached():
    """Its key is gone, and it waits for the thread that drops filters, so there is none.  Seen to hang where it is renamed in the
    place of that, with the registry's mutex."""
    with DiskWithStore() as (disk, client):
        for key in "klm":
            client.good("BF.RESERVE", key, "0.01", LARGE)
            client.good("BF.ADD", key, "first")
        disk.stands_still()
        client.good("DEL", "k")
        time.sleep(0.1)  # by now the thread is at work for it, nearly always
        client.good("DEL", "l")
        asking = disk.ask(client, ("TAMIS.ATTACH", "other", "l"))
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
        asking = disk.ask(client, ("TAMIS.ATTACH", "a", "o0"), ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"))
        client.send("DEBUG", "RELOAD")
        time.sleep(0.3)
        disk.takes(0)
        same(client.answer(), "OK", "DEBUG RELOAD")
        same([one.answer() for one in asking], ["OK", "OK", b"k"], "the answers")
        same((sorted(client.good("KEYS", "*")), orphans(client)), ([b"a"], ["c", "o2"]), "keys")
        has_filters(disk.redis, ["a", "c", "first", "k", "o2"], "filters")
        client.good("BF.RESERVE", "l", "0.01", LARGE)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ATTACH", "b", "o2"), ("TAMIS.ATTACH", "counted", "c"), ("TAMIS.DETACH", "l"))
        client.good("BGREWRITEAOF")
        is_rewritten(client)
        disk.takes(0)
        same([one.answer() for one in asking], ["OK", "OK", b"l"], "the answers")
        for _ in range(2):
            client = disk.restarted()
            same((sorted(client.good("KEYS", "*")), orphans(client)), ([b"a", b"b", b"counted"], []), "the AOF")
            same((client.good("BF.MEXISTS", "b", "of o2", "z"), client.good("CF.COUNT", "counted", "x")), ([1, 0], 2), "filters")
            has_filters(disk.redis, ["a", "b", "counted", "first", "k", "l"], "filters")


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
        follower = second.client()
        follow(follower, disk.redis)
        for command in (("MULTI",), ("TAMIS.ATTACH", "a", "o0"), ("BF.ADD", "a", "y"), ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"),
                        ("EXISTS", "k")):
            client.good(*command)
        same(client.good("EXEC"), ["OK", 1, "OK", b"k", 0], "MULTI")
        same(client.good("EVAL", "return {redis.call('TAMIS.ATTACH', KEYS[1], 'c'), redis.call('TAMIS.DETACH', KEYS[2])}", 2, "counted", "a"),
             ["OK", b"a"], "a script")
        has_filters(disk.redis, ["a", "counted", "first", "k", "o2"], "filters")
        same((client.good("WAIT", 1, 0), follower.good("KEYS", "*")), (1, [b"counted"]), "the replica")
        disk.stands_still()
        asking, = disk.ask(client, ("TAMIS.ATTACH", "b", "o2"))
        refused(client("EVAL", "return redis.call('TAMIS.ATTACH', KEYS[1], 'o2')", 1, "d"), "ERR a key of this server has that filter")
        disk.takes(0)
        same(asking.answer(), "OK", "the one that was first")


def commands_on_its_key_come_before():
    """What is written into a filter before it is detached comes to the replica before, and EXCEPT in another thread ends well.  The
    replica has a store of its own, in which the filter stays, too."""
    with DiskWithStore(**AOF) as (disk, client), server() as second:
        follower, asking = detaches(disk, client, second)
        client.good("BF.MADD", "k", "y", "z")
        copied, = disk.ask(client, ("COPY", "k", "copy"))
        for command in (("MULTI",), ("BF.ADD", "k", "of multi"), ("EXEC",)):
            client.good(*command)
        client.send("MULTI")
        client.send("TAMIS.EXCEPT", "k", "ADD", "x")
        client.send("EXEC")
        time.sleep(0.2)
        disk.takes(0)
        same([client.answer() for _ in range(3)][2] in ([1], ["ERR not found"]), True, "MULTI")
        same(asking.answer(), b"k", "TAMIS.DETACH")
        same(copied.answer() in (0, 1), True, "COPY")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        same(client.good("DEBUG", "DIGEST"), follower.good("DEBUG", "DIGEST"), "the replica")
        words = "x\ny\nz\nof multi\n"
        same(*[tamis("check", "--store", store_of(one), "k", text=words) for one in (disk.redis, second)], "the filter that stays")


def an_orderly_end_comes_meanwhile():
    """SHUTDOWN: the AOF has TAMIS.DETACH."""
    with Orphans(**AOF) as (disk, client):
        disk.stands_still()
        disk.ask(client, ("TAMIS.ATTACH", "a", "o0"), ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"))
        client.send("SHUTDOWN")
        time.sleep(0.3)
        disk.takes(0)
        disk.redis.process.wait()
        client = disk.redis.start()
        same((client.good("KEYS", "*"), orphans(client)), ([], ["a", "c", "o2"]), "afterwards")
        has_filters(disk.redis, ["a", "c", "first", "k", "o2"], "filters")


def writes_are_paused_meanwhile():
    """Nothing is replicated while they are, and all goes on behind that."""
    with Orphans(**AOF) as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ATTACH", "a", "o0"), ("TAMIS.ORPHANS", "DROP", "o1"), ("TAMIS.DETACH", "k"))
        client.good("CLIENT", "PAUSE", 60000, "WRITE")
        disk.takes(0)
        time.sleep(0.3)
        same(client.good("EXISTS", "a", "k"), 1, "the keys are as they were")
        client.good("CLIENT", "UNPAUSE")
        same([one.answer() for one in asking], ["OK", "OK", b"k"], "the answers")
        same((client.good("WAIT", 1, 0), follower.good("EXISTS", "k")), (1, 0), "the replica")


def an_aof_detaches_once():
    """A filter that was detached was made once more at each start, as redis:aside:NUMBER, and stayed.  Seen to fail with an
    is_rebuilt() that says no."""
    for preamble in ("no", "yes"):
        with served(aof_use_rdb_preamble=preamble, **AOF) as (redis, client):
            client.good("BF.ADD", "small", "x")
            client.good("BF.RESERVE", "large", "0.01", LARGE)
            for key in ("small", "large"):
                client.good("TAMIS.DETACH", key)
            tamis("drop", "--store", store_of(redis), "small")
            client.good("BF.ADD", "small", "of another")
            for _ in range(2):
                client = redis.restart(kill=True)
                eventually(lambda now=client: now.good("BF.MEXISTS", "small", "x", "of another") == [0, 1], "the second of that name")
                has_filters(redis, ["large", "small"], f"{preamble}: the store has no further one")
            client.good("DEL", "small")
            has_filters(redis, ["large"], "the one that was detached")


run(the_server_goes_on, clients_go, keys_come_and_go_while_one_is_detached, a_key_gets_another_filter_while_one_is_detached,
    keys_come_while_an_orphan_is_attached, two_attach_one_filter, an_orphan_is_found_by_its_new_name, a_filter_that_goes_is_attached,
    a_node_of_a_cluster_drops_orphans, data_are_loaded_and_saved_meanwhile, a_kill_leaves_all_or_nothing,
    a_disk_with_errors, transactions_do_it_at_once, commands_on_its_key_come_before, an_orderly_end_comes_meanwhile,
    writes_are_paused_meanwhile, an_aof_detaches_once)
