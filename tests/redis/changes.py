# SPDX-License-Identifier: BSD-2-Clause
"""changes.py MODULE TAMIS SLOW_DISK: what stands in the way of filters that a thread changes: other roles, rights, passwords, names.
generated_changes.py has the commands that come meanwhile.  "The module before" is that of the commit before these tests.
"""
import os
import time

from harness import MODULE, eventually, filters, follow, has_filters, is_linked, refused, run, same, server, store_of, tamis
from slow_disk import Disk, change_roles, slices, waiting_clients

LARGE = 100_000  # of more bytes than a draft may have


def window(client, key, count=2):
    client.good("TAMIS.RESERVE", key, "0.01", LARGE, "WINDOWITEMS", 1000, "SLICES", count)
    client.good("TAMIS.ADD", key, "x")


def writers_wait_for_rotate_and_rollback():
    """Each that can.  Seen to hang with the module before, whose server waited for the disk."""
    with Disk() as (disk, client):
        for night in "12":
            tamis("--store", store_of(disk.redis), "build", "list", "--kind", "bloom", "-n", "10000", "--keep", "5", text=f"night {night}\n")
        client.good("TAMIS.ATTACH", "list")
        client.good("TAMIS.RESERVE", "w", "0.01", 1000, "WINDOWITEMS", 1000, "SLICES", 2)
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
        refused(client("TAMIS.ROTATE", "w", "MADE", "soon"), "ERR give MADE and a time")
        refused(client("TAMIS.ROTATE", "w", "MADE"), "ERR wrong number of arguments")
        same(client.good("BF.MEXISTS", "list", "night 1", "night 2", "late"), [1, 0, 1], "in the generation in force")


def rights_are_looked_at_again():
    """By each command that was put off.  Seen to fail with the module before."""
    with Disk(cluster_enabled="yes", cluster_require_full_coverage="no") as (disk, client):
        client.good("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        eventually(lambda: b"cluster_state:ok" in client.good("CLUSTER", "INFO"), "the cluster")
        for key in ("{a}w", "{b}w"):
            window(client, key)
        client.good("ACL", "SETUSER", "soon", "on", ">secret", "~*", "+@all")
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


def a_master_becomes_a_replica_meanwhile():
    """What threads have changed by then comes to nothing, and the log tells it; what has not begun is not done.  Seen to fail without
    resync_want(): the two differ for good; and without making_give_up_changes(), as TAMIS.MERGE is done, too."""
    for how in ("FAILOVER", "REPLICAOF"):
        settings = {"appendonly": "yes", "appendfsync": "always", "repl_diskless_sync_delay": 0}
        with Disk(**settings) as (disk, client), server(**settings) as second:
            other = disk.followed_by(second)
            window(client, "w")
            for key in "ab":
                client.good("BF.RESERVE", key, "0.01", LARGE)
                client.good("BF.MADD", key, "x", f"of {key}")
            same(client.good("WAIT", 1, 0), 1, "a replica")
            wanted = told_of(client)
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
    other = disk.followed_by(second)
    client.good("BF.RESERVE", "a", "0.01", LARGE)
    client.good("BF.ADD", "a", "x")
    same(client.good("WAIT", 1, 0), 1, "a replica")
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
    a_master_becomes_a_replica_meanwhile, a_full_sync_that_cannot_be_had_is_told,
    a_replica_with_clients_of_its_own_changes_filters,
    writers_wait_for_rotate_and_rollback, rights_are_looked_at_again,
    a_filter_goes_before_it_is_claimed, a_checkpoint_waits_for_names_and_the_server_does_not, strangers_cannot_have_the_server_wait)
