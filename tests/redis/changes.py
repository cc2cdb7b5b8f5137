# SPDX-License-Identifier: BSD-2-Clause
"""changes.py MODULE TAMIS SLOW_DISK: filters that a thread changes, or copies, are the same on replicas and in the AOF, whatever comes meanwhile.

A thread has changed a filter some time before the server tells replicas.  To meet that time at any speed of the machine, the server sleeps
(DEBUG SLEEP) while the thread ends its work, and has got commands before that which it runs directly after its sleep.  Each case says with
what it was seen to fail; "the module before" is that of the commit before these tests.
"""
import os
import shutil
import time

from harness import MODULE, eventually, filters, follow, has_filters, is_linked, is_rewritten, refused, run, same, server, store_of, tamis
from slow_disk import Disk, change_roles, waiting_clients

LARGE = 100_000  # of more bytes than a draft may have


def slices(client, key):
    told = client.good("TAMIS.INFO", key)
    return told[[str(word) for word in told].index("live slices") + 1]


def window(client, key, count=2):
    client.good("TAMIS.RESERVE", key, "0.01", LARGE, "WINDOWITEMS", 1000, "SLICES", count)
    client.good("TAMIS.ADD", key, "x")


def words_of(*commands):
    """Commands that a client sends in one piece."""
    return b"".join(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
                    for words in ([str(word).encode() for word in command] for command in commands))


def run_behind_the_thread(disk, *lines):
    """The disk goes on, the threads end their work, and before the server hears of it, it runs these commands, those of each client in
    one piece.  Returns the clients."""
    clients = [disk.redis.client() for _ in range(len(lines) + 1)]
    for one in clients:
        one.good("PING")
    clients[0].send("DEBUG", "SLEEP", "1")  # the others come in one turn of the event loop
    time.sleep(0.3)
    for one, commands in zip(clients[1:], lines):
        one.socket.sendall(words_of(*(([("DEBUG", "SLEEP", "2")] if one is clients[1] else []) + commands)))
    same(clients[0].answer(), "OK", "the first sleep")
    disk.takes(0)
    same(clients[1].answer(), "OK", "the second sleep")
    return clients[1:]


def restarted_without_store(disk):
    """The AOF is all that there is."""
    disk.redis.kill()
    shutil.rmtree(store_of(disk.redis))
    return disk.redis.start()


def adds_wait_while_a_window_moves():
    """What comes between the thread's work and the end of TAMIS.ROTATE is in one slice everywhere.  Seen to fail without
    still_begin() in keep_still(), and with the module before: the replica lacks it after the next rotations."""
    adds = {"w": [[("BF.ADD", "w", "add")], [("BF.MADD", "w", "madd", "x")], [("BF.INSERT", "w", "ITEMS", "insert")],
                  [("TAMIS.ADD", "w", "tamis")]],
            "m": [[("MULTI",), ("BF.ADD", "m", "add"), ("TAMIS.ADD", "m", "tamis"), ("EXEC",)], [("BF.ADD", "m", "behind")],
                  [("EVAL", "return redis.call('BF.MADD', KEYS[1], 'madd', 'insert')", 1, "m")]]}
    items = ("add", "madd", "insert", "tamis")
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        for key, lines in adds.items():
            window(client, key)
            client.socket.settimeout(60)
            disk.stands_still()
            rotated, = disk.ask(client, ("TAMIS.ROTATE", key))
            clients = run_behind_the_thread(disk, *lines)
            same(rotated.answer(), "OK", "the answer")
            for one, commands in zip(clients, lines):
                answers = [one.answer() for _ in commands]
                same("ERR" in str(answers), False, answers)
            same(slices(client, key), 2, "slices")
            for _ in range(2):  # the window reaches two slices behind the newest
                client.good("TAMIS.ROTATE", key)
        same(client.good("WAIT", 1, 0), 1, "a replica")
        wanted = [(slices(client, key), client.good("BF.MEXISTS", key, *items, "x")) for key in adds]
        same(wanted, [(3, [1, 1, 1, 1, 1]), (3, [1, 1, 1, 1, 0])], "the server")
        for one, what in ((follower, "the replica"), (restarted_without_store(disk), "the AOF")):
            same([(slices(one, key), one.good("BF.MEXISTS", key, *items, "x")) for key in adds], wanted, what)


def what_a_client_that_leaves_has_changed_is_told():
    """Under the name that the key has by then."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        window(client, "w")
        client.socket.settimeout(60)
        disk.stands_still()
        gone, = disk.ask(client, ("TAMIS.ROTATE", "w"))
        gone.close()
        client.good("RENAME", "w", "v")
        disk.takes(0)
        eventually(lambda: slices(client, "v") == 2, "the window has moved")
        eventually(lambda: client.good("WAIT", 1, 0) == 1 and slices(follower, "v") == 2, "that of the replica, too")
        client.good("BF.ADD", "v", "x")
        client = restarted_without_store(disk)
        same((slices(client, "v"), client.good("BF.EXISTS", "v", "x")), (2, 1), "the AOF")


def writers_wait_for_rotate_and_rollback():
    """Each that can.  Seen to hang with the module before, whose server waited for the disk."""
    with Disk() as (disk, client):
        for night in "12":
            tamis("--store", store_of(disk.redis), "build", "list", "--kind", "bloom", "-n", "10000", "--keep", "5", text=f"night {night}\n")
        client.good("TAMIS.ATTACH", "list")
        client.good("TAMIS.RESERVE", "w", "0.01", 1000, "WINDOWITEMS", 1000, "SLICES", 2)
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ROLLBACK", "list"), ("TAMIS.ROTATE", "w"))
        late = disk.ask(client, ("BF.ADD", "list", "late"), ("BF.MADD", "list", "late"), ("BF.INSERT", "list", "ITEMS", "late"),
                        ("TAMIS.ADD", "list", "late"), ("BF.MADD", "w", "late"), ("TAMIS.EXCEPT", "list", "ADD", "e"),
                        ("TAMIS.ROLLBACK", "list", 99), ("BF.ADD", "w", "late"), ("BF.LOADCHUNK", "w", 9, "12345678"))
        same((client.good("PING"), client.good("BF.EXISTS", "list", "night 2")), ("PONG", 1), "others go on")
        disk.takes(0)
        same([one.answer() for one in asking], ["OK", "OK"], "the answers")
        answers = [one.answer() for one in late]
        same(sorted(map(str, (answers[0], *answers[1], *answers[2], *answers[3]))), ["0", "0", "0", "1"], "one of them was the first")
        same((answers[4] in ([0], [1]), answers[5], answers[7] in (0, 1)), (True, 1, True), "the others")
        refused(answers[6], "ERR no other generation")
        same(client.good("BF.MEXISTS", "list", "night 1", "night 2", "late"), [1, 0, 1], "in the generation in force")


def changes_of_one_filter_come_in_order():
    """A filter is copied as it was before the next change of it, and two changes are replicated as they were done."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        window(client, "w", 3)
        for key in "abc":
            client.good("BF.RESERVE", key, "0.01", LARGE)
            client.good("BF.MADD", key, "x", f"of {key}")
        client.socket.settimeout(60)
        disk.takes(30)
        clients = [disk.redis.client() for _ in range(7)]
        for one, command in zip(clients, (("COPY", "w", "w2"), ("TAMIS.ROTATE", "w"), ("COPY", "w", "w3"),
                                          ("COPY", "a", "a2"), ("TAMIS.EXCEPT", "a", "ADD", "x"), ("COPY", "a", "a3"),
                                          ("TAMIS.COMBINE", "bc", "UNION", "b", "c"))):
            one.send(*command)
            client.good("PING")  # it has come
        same([one.answer() for one in clients], [1, "OK", 1, 1, 1, 1, "OK"], "the answers")
        disk.takes(0)
        for _ in range(20):
            pair = [disk.redis.client() for _ in range(4)]
            for one, command in zip(pair, (("TAMIS.EXCEPT", "b", "ADD", "y"), ("TAMIS.EXCEPT", "b", "REMOVE", "y"),
                                           ("TAMIS.MERGE", "b", "a"), ("TAMIS.ROTATE", "w"))):
                one.send(*command)
            for one in pair:
                same("ERR" in str(one.answer()), False, "no error")
                one.close()
            same(client.good("WAIT", 1, 0), 1, "a replica")
            same(*[one.good("TAMIS.EXCEPTIONS", "b") for one in (client, follower)], "exceptions")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        wanted = [[slices(client, key) for key in ("w2", "w3")], [client.good("BF.EXISTS", key, "x") for key in ("a", "a2", "a3")]]
        same(wanted, [[1, 2], [0, 1, 0]], "each has what came before")
        for one, what in ((follower, "the replica"), (restarted_without_store(disk), "the AOF")):
            same([[slices(one, key) for key in ("w2", "w3")], [one.good("BF.EXISTS", key, "x") for key in ("a", "a2", "a3")]], wanted, what)


def transactions_find_what_came_before():
    """MULTI waits for threads that change what it reads or changes.  Seen to fail with the module before:
    the replica's copies have other slices and exceptions."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        for key in ("w", "v"):
            window(client, key, 4)
        for key in "ab":
            client.good("BF.RESERVE", key, "0.01", LARGE)
            client.good("BF.MADD", key, "x", f"of {key}")
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ROTATE", "w"), ("TAMIS.EXCEPT", "a", "ADD", "x"))
        same(client.good("COPY", "v", "v2"), 1, "a copy waits for no disk")
        clients = run_behind_the_thread(disk, [("MULTI",), ("COPY", "w", "w2"), ("TAMIS.ROTATE", "w"), ("COPY", "a", "a2"),
                                               ("TAMIS.EXCEPT", "a", "REMOVE", "x"), ("TAMIS.MERGE", "b", "a"), ("TAMIS.ROTATE", "v"), ("EXEC",)])
        same([clients[0].answer() for _ in range(8)], ["OK"] + ["QUEUED"] * 6 + [[1, "OK", 1, [1], "OK", "OK"]], "MULTI")
        same([one.answer() for one in asking], ["OK", 1], "the answers")
        same(client.good("WAIT", 1, 0), 1, "a replica")

        def state(one):
            return [[slices(one, key) for key in ("w", "w2", "v", "v2")], [one.good("BF.MEXISTS", key, "x", "of a") for key in ("a", "a2", "b")]]

        wanted = state(client)
        same((wanted[0][:2], wanted[0][2], wanted[1]), ([3, 2], 2, [[1, 1], [0, 1], [1, 1]]), "what came before")
        for one, what in ((follower, "the replica"), (restarted_without_store(disk), "the AOF")):
            same(state(one), wanted, what)


def data_are_loaded_meanwhile():
    """A window moves once.  Seen to fail without making_settle_all() before a dump is made: the dump lacks what replicas have."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        window(client, "w", 4)
        client.good("BF.RESERVE", "a", "0.01", LARGE)
        client.good("BF.MADD", "a", *"xy")
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ROTATE", "w"), ("TAMIS.EXCEPT", "a", "ADD", "x", "q"))
        late, = disk.ask(client, ("BF.ADD", "w", "late"))
        client.send("DEBUG", "RELOAD")
        time.sleep(0.3)
        disk.takes(0)
        same(client.answer(), "OK", "DEBUG RELOAD")
        same([one.answer() for one in asking], ["OK", 2], "the answers")
        same(late.answer(), 1, "who waited")
        same(slices(client, "w"), 2, "moved once")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        for one, what in ((follower, "the replica"), (restarted_without_store(disk), "the AOF")):
            same((slices(one, "w"), one.good("BF.MEXISTS", "w", "x", "late")), (2, [1, 1]), what)


def a_dump_has_what_is_not_replicated_yet():
    """An AOF that is rewritten between the thread's work and the command has both.  Seen to fail with the module before."""
    for preamble in ("yes", "no"):
        with Disk(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble) as (disk, client):
            window(client, "w", 4)
            client.socket.settimeout(60)
            disk.stands_still()
            rotated, = disk.ask(client, ("TAMIS.ROTATE", "w"))
            rewriter, = run_behind_the_thread(disk, [("BGREWRITEAOF",)])
            same((rewriter.answer(), rotated.answer()), ("Background append only file rewriting started", "OK"), "answers")
            is_rewritten(client)
            client.good("BF.ADD", "w", "y")
            same(slices(client, "w"), 2, "the server")
            again = restarted_without_store(disk)
            same((slices(again, "w"), again.good("BF.MEXISTS", "w", "x", "y")), (2, [1, 1]), f"the AOF, preamble {preamble}")
            same(again.good("TAMIS.ROTATE", "w", "MADE", 1), "OK", "another slice")
            same(slices(again, "w"), 3, "it moves")
            refused(again("TAMIS.ROTATE", "w", "MADE", "soon"), "ERR give MADE and a time")
            refused(again("TAMIS.ROTATE", "w", "MADE"), "ERR wrong number of arguments")


def keys_come_to_a_source_meanwhile():
    """A replica has all that the master has in its copy, and nobody lacks what was answered before."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        for key in ("a", "b"):
            client.good("BF.RESERVE", key, "0.01", LARGE)
            client.good("BF.MADD", key, *range(100))
        window(client, "w", 4)
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.COMBINE", "both", "UNION", "a", "b"))
        same([client.good("COPY", key, other) for key, other in (("a", "copy"), ("w", "w2"))], [1, 1], "copies wait for no disk")
        for item in range(100, 200):
            client.good("BF.ADD", "ab"[item % 2], item)
        rotating = run_behind_the_thread(disk, [("MULTI",), ("TAMIS.ROTATE", "w"), ("BF.ADD", "a", "last"), ("EXEC",)])
        same([rotating[0].answer() for _ in range(4)][-1], ["OK", 1], "a transaction")
        same([one.answer() for one in asking], ["OK"], "the answer")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        items = [*range(200), "last", *range(1000, 1200)]
        for key in ("copy", "both"):
            mine, other = [one.good("BF.MEXISTS", key, *items) for one in (client, follower)]
            same([there for there in mine[:100] if not there], [], f"what came before, {key}")
            same([item for item, here, there in zip(items, mine, other) if here > there], [], f"the replica has all of it, {key}")
        same([slices(one, key) for one in (client, follower) for key in ("w", "w2")], [2, 1, 2, 1], "windows")


def rights_are_looked_at_again():
    """By each command that was put off.  Seen to fail with the module before."""
    with Disk(cluster_enabled="yes", cluster_require_full_coverage="no") as (disk, client):
        client.good("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        eventually(lambda: b"cluster_state:ok" in client.good("CLUSTER", "INFO"), "the cluster")
        for key in ("{a}w", "{b}w"):
            window(client, key)
        client.good("ACL", "SETUSER", "soon", "on", ">secret", "~*", "+@all")
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.ROTATE", "{a}w"), ("TAMIS.ROTATE", "{b}w"))
        moved = disk.ask(client, ("BF.ADD", "{a}w", "y"), ("TAMIS.ADD", "{a}w", "y"))
        users = [disk.redis.client() for _ in range(3)]
        for one, command in zip(users, (("BF.ADD", "{b}w", "y"), ("TAMIS.EXCEPT", "{b}w", "ADD", "y"), ("BF.MADD", "{b}w", "z"))):
            one.good("AUTH", "soon", "secret")
            one.send(*command)
        eventually(lambda: waiting_clients(client) == 7, "all wait")
        client.good("CLUSTER", "DELSLOTS", client.good("CLUSTER", "KEYSLOT", "{a}"))
        client.good("ACL", "SETUSER", "soon", "-bf.add", "-tamis.except")
        disk.takes(0)
        for one in moved:
            refused(one.answer(), "TRYAGAIN")
        for one in users[:2]:
            refused(one.answer(), "NOPERM")
        same(users[2].answer(), [1], "a right that is left")
        refused(asking[0].answer(), "TRYAGAIN")
        same(asking[1].answer(), "OK", "the other")
        same(client.good("BF.MEXISTS", "{b}w", "y", "z"), [0, 1], "nothing else was done")


def a_filter_goes_before_it_is_claimed():
    """A local process drops what a thread has made while the server is paused.  Seen to fail where the claim describes the filter once
    more: the handle stays open for ever."""
    with Disk() as (disk, client):
        client.good("BF.RESERVE", "from", "0.01", LARGE)
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("BF.RESERVE", "made", "0.01", LARGE))
        client.good("CLIENT", "PAUSE", 60_000, "WRITE")
        disk.takes(0)
        eventually(lambda: len(filters(disk.redis)) == 2, "it is made")
        time.sleep(0.3)  # the thread opens it
        tamis("drop", "--store", store_of(disk.redis), *[name for name in filters(disk.redis) if name != "from"])
        client.good("CLIENT", "UNPAUSE")
        for one in asking:
            one.answer()
        client("DEL", "made")

        def has_any():
            with open(f"/proc/{disk.redis.process.pid}/maps", encoding="utf-8") as file:
                return ".seg (deleted)" in file.read()

        eventually(lambda: not has_any(), "nothing of them is mapped")
        has_filters(disk.redis, ["from"], "filters")


def a_checkpoint_waits_for_names_and_the_server_does_not():
    """TAMIS.SYNC knows a filter by its id."""
    with Disk() as (disk, client):
        for key in "ab":
            client.good("BF.RESERVE", key, "0.01", LARGE)
        client.good("BF.ADD", "b", "x")
        client.socket.settimeout(60)
        disk.stands_still()
        client.good("RENAME", "a", "c")
        client.good("RENAME", "b", "d")
        asking = disk.ask(client, ("TAMIS.SYNC", "d"), ("TAMIS.SYNC", "c"))
        same((client.good("PING"), client.good("BF.EXISTS", "d", "x")), ("PONG", 1), "the server goes on")
        client.good("DEL", "c")
        disk.takes(0)
        same([one.answer() for one in asking], ["OK", "OK"], "the answers")
        has_filters(disk.redis, ["d"], "names")


def strangers_cannot_have_the_server_wait():
    """The module looks at SHUTDOWN before the server does, which asks for a password.  Seen to fail where each SHUTDOWN waits for the threads."""
    with Disk() as (disk, client):
        client.good("BF.RESERVE", "a", "0.01", LARGE)
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.EXCEPT", "a", "ADD", "x"))
        client.good("CONFIG", "SET", "requirepass", "secret")
        stranger = disk.redis.client()
        stranger.socket.settimeout(60)
        for words in (("SHUTDOWN", "nonsense"), ("SHUTDOWN", "ABORT")):
            refused(stranger(*words), "NOAUTH")
            same(client.good("PING"), "PONG", "the server goes on")
        client.good("CONFIG", "SET", "requirepass", "")
        disk.takes(0)
        for one in asking:
            one.answer()


def told_of(client):
    """What a server and its replica must have alike."""
    return (client.good("TAMIS.EXCEPTIONS", "a"), slices(client, "w"),
            [client.good("BF.MEXISTS", key, "x", "of a") for key in "abw"])


def nothing_is_changed_while_writes_are_paused():
    """All threads are at work, and further changes wait for them: these are not begun."""
    many = 10  # tasks are begun eight at a time
    with Disk(appendonly="yes", appendfsync="always") as (disk, client):
        for i in range(many):
            client.good("BF.RESERVE", f"k{i}", "0.01", LARGE)
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, *[("TAMIS.EXCEPT", f"k{i}", "ADD", "x") for i in range(many)])
        client.good("CLIENT", "PAUSE", 60_000, "WRITE")
        time.sleep(0.3)  # a turn of the event loop
        disk.takes(0)
        eventually(lambda: any(client.good("TAMIS.EXCEPTIONS", f"k{i}") for i in range(many)), "what was begun is done")
        time.sleep(0.3)
        same(sum(client.good("TAMIS.EXCEPTIONS", f"k{i}") == [] for i in range(many)) >= 2, True, "two are not begun")
        client.good("CLIENT", "UNPAUSE")
        same([one.answer() for one in asking], [1] * many, "the answers")
        client = restarted_without_store(disk)
        same([client.good("TAMIS.EXCEPTIONS", f"k{i}") for i in range(many)], [[b"x"]] * many, "the AOF")


def a_master_becomes_a_replica_meanwhile():
    """What threads have changed by then comes to nothing, and the log tells it; what has not begun is not done.  Seen to fail without
    resync_want(): the two differ for good; and without making_give_up_changes(), as TAMIS.MERGE is done, too."""
    for how in ("FAILOVER", "REPLICAOF"):
        settings = {"appendonly": "yes", "appendfsync": "always", "repl_diskless_sync_delay": 0}
        with Disk(**settings) as (disk, client), server(**settings) as second:
            other = second.client()
            follow(other, disk.redis)
            window(client, "w")
            for key in "ab":
                client.good("BF.RESERVE", key, "0.01", LARGE)
                client.good("BF.MADD", key, "x", f"of {key}")
            same(client.good("WAIT", 1, 0), 1, "a replica")
            wanted = told_of(client)
            client.socket.settimeout(60)
            disk.stands_still()
            asking = disk.ask(client, ("TAMIS.EXCEPT", "a", "ADD", "x"), ("TAMIS.ROTATE", "w"), ("TAMIS.MERGE", "b", "a"))
            asking += disk.ask(client, ("BF.ADD", "w", "late"))
            time.sleep(1)  # by now a thread has begun, nearly always
            change_roles(how, disk, client, second, other, asking)
            eventually(lambda: told_of(other) == told_of(client) == wanted, f"{how}: both have the same")
            is_linked(client)
            other.good("TAMIS.EXCEPT", "b", "ADD", "of b")
            same(other.good("WAIT", 1, 0), 1, "the replica")
            same(client.good("TAMIS.EXCEPTIONS", "b"), [b"of b"], "and so they go on")
            log = disk.redis.log()
            told = [f"{name} has changed a filter when the server was a replica" in log for name in ("TAMIS.EXCEPT", "TAMIS.ROTATE", "TAMIS.MERGE")]
            # What ends when the full sync has begun need not be told.
            same((any(told[:2]), told[2]), (True, False), f"the log: {told}")
            same((disk.redis.process.poll(), "CRASH" in log), (None, False), "it lives")


def a_full_sync_that_cannot_be_had_is_told():
    """A node of a cluster refuses REPLICAOF; here the command has another name.  What the log says is what helps."""
    with server(repl_diskless_sync_delay=0) as second:
        config = os.path.join(second.directory, "other.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"rename-command REPLICAOF UNKNOWN\nloadmodule {MODULE}\n")
        with Disk(config=config, repl_diskless_sync_delay=0) as (disk, client):
            goes_without_a_full_sync(second, disk, client)


def goes_without_a_full_sync(second, disk, client):
    other = second.client()
    follow(other, disk.redis)
    client.good("BF.RESERVE", "a", "0.01", LARGE)
    client.good("BF.ADD", "a", "x")
    same(client.good("WAIT", 1, 0), 1, "a replica")
    client.socket.settimeout(60)
    disk.stands_still()
    disk.ask(client, ("TAMIS.EXCEPT", "a", "ADD", "x"))
    other.good("REPLICAOF", "NO", "ONE")
    client.good("SLAVEOF", "127.0.0.1", second.port)
    disk.takes(0)
    eventually(lambda: "no full sync can be asked for" in disk.redis.log(), "it is told")
    is_linked(client)
    same((client.good("BF.EXISTS", "a", "x"), other.good("BF.EXISTS", "a", "x")), (0, 1), "they differ")
    other.good("RESTORE", "a", 0, other.good("DUMP", "a"), "REPLACE")
    same(other.good("WAIT", 1, 0), 1, "the replica")
    same((client.good("BF.EXISTS", "a", "x"), client.good("TAMIS.EXCEPTIONS", "a")), (1, []), "they do not")


def a_replica_with_clients_of_its_own_changes_filters():
    """Such as `replica-read-only no` allows.  Seen to fail with a making_put_off() that does not ask
    server_is_replica(): what was done there is taken for what a master has done, and a full sync takes it away."""
    with server(repl_diskless_sync_delay=0) as first, Disk(replica_read_only="no") as (disk, client):
        follow(client, first)
        client.good("BF.RESERVE", "a", "0.01", LARGE)
        client.good("BF.RESERVE", "b", "0.01", LARGE)
        client.good("BF.ADD", "b", "x")
        same((client.good("TAMIS.EXCEPT", "a", "ADD", "y"), client.good("TAMIS.MERGE", "a", "b"), client.good("TAMIS.SYNC", "a")),
             (1, "OK", "OK"), "the answers")
        same((client.good("BF.MEXISTS", "a", "x", "y"), "was a replica" in disk.redis.log()), ([1, 0], False), "it is done")


def a_key_that_lost_its_filter_gets_no_half_one():
    """The key is gone when the command that was to change its filter is run anew, and a reload has had the threads finish.  Seen to fail
    without the question for argv in making_claim(): the key gets a value that has no filter, and BF.EXISTS ends the server."""
    with Disk(appendonly="yes") as (disk, client):
        for key in ("to", "from"):
            client.good("BF.RESERVE", key, "0.01", LARGE)
        client.socket.settimeout(60)
        disk.stands_still()
        busy = disk.ask(client, *[("BF.RESERVE", f"busy {i}", "0.01", LARGE) for i in range(4)])
        asking, = disk.ask(client, ("TAMIS.COMBINE", "to", "UNION", "from"))
        client.good("DEL", "to")
        client.send("DEBUG", "RELOAD")
        time.sleep(0.3)  # it is the same if the disk goes on before
        disk.takes(0)
        same(client.answer(), "OK", "the reload")
        refused(asking.answer(), "ERR", "the key is gone")
        del busy
        same((client.good("EXISTS", "to"), client.good("BF.EXISTS", "to", "x"), client.good("BF.ADD", "to", "x")), (0, 0, 1), "a new one")


run(a_key_that_lost_its_filter_gets_no_half_one,
    nothing_is_changed_while_writes_are_paused, a_master_becomes_a_replica_meanwhile, a_full_sync_that_cannot_be_had_is_told,
    a_replica_with_clients_of_its_own_changes_filters,
    adds_wait_while_a_window_moves, what_a_client_that_leaves_has_changed_is_told, writers_wait_for_rotate_and_rollback, changes_of_one_filter_come_in_order,
    transactions_find_what_came_before, data_are_loaded_meanwhile,
    a_dump_has_what_is_not_replicated_yet, keys_come_to_a_source_meanwhile, rights_are_looked_at_again,
    a_filter_goes_before_it_is_claimed, a_checkpoint_waits_for_names_and_the_server_does_not, strangers_cannot_have_the_server_wait)
