# SPDX-License-Identifier: BSD-2-Clause
"""makings.py MODULE TAMIS SLOW_DISK: filters are made while the disk works, and the server answers meanwhile.

A disk that stands still shows it at any speed of the machine: a command that waited for it would never be answered.  The first
four cases in which it stands still were seen to fail with a making_put_off() that returns false: the server hangs.
"""
import os

from harness import eventually, follow, has_filters, refused, run, same, server, store_of, tamis
from slow_disk import Disk

LARGE = 100_000  # of more bytes than a draft may have


def stream(redis, name):
    """A filter with one key, as `tamis export` writes it; the store it comes from is another one."""
    other = os.path.join(redis.directory, "other")
    tamis("create", "--store", other, "-n", LARGE, name)
    tamis("add", "--store", other, name, text="x\n")
    path = os.path.join(redis.directory, "stream")
    tamis("export", "--store", other, "--to", "tamis", name, path)
    with open(path, "rb") as file:
        return file.read()


def head(redis):
    """What the first BF.LOADCHUNK of a copy has."""
    with server() as source:
        client = source.client()
        client.good("BF.RESERVE", "h", "0.01", LARGE)
        return client.good("BF.SCANDUMP", "h", 0)[1]


def commands(redis):
    """Commands that make a filter, and what they answer."""
    return {
        "reserved": (("BF.RESERVE", "reserved", "0.01", LARGE), "OK"),
        "inserted": (("BF.INSERT", "inserted", "CAPACITY", LARGE, "ITEMS", "x", "y", "x"), [1, 1, 0]),
        "counted": (("CF.RESERVE", "counted", LARGE), "OK"),
        "added": (("CF.ADD", "added", "x"), 1),
        "new": (("CF.INSERTNX", "new", "ITEMS", "x", "x"), [1, 0]),
        "drawn": (("TAMIS.RESERVE", "drawn", "0.01", LARGE, "SEED", "random"), "OK"),
        "secret": (("TAMIS.RESERVE", "secret", "0.01", LARGE, "HASHSET", "sip"), "OK"),
        "loaded": (("TAMIS.LOAD", "loaded", stream(redis, "loaded")), "OK"),
        "headed": (("BF.LOADCHUNK", "headed", 1, head(redis)), "OK"),
    }


def the_server_goes_on_while_filters_are_made():
    """Replicas and the AOF have each filter as the server has it, with the seeds that were drawn."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        wanted = commands(disk.redis)
        client.good("BF.ADD", "other", "x")
        follower = second.client()
        follow(follower, disk.redis)
        client.socket.settimeout(60)  # of a server that waits for the disk
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


def filters_of_others_are_combined_meanwhile():
    """Sources may go while a thread reads them.  Seen to fail with a has_changed() that says no, as the replica lacks the filter,
    and to crash without kept_pin()."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        for key in "abcd":
            client.good("BF.RESERVE", key, "0.01", LARGE)
            client.good("BF.ADD", key, f"of {key}")
        client.good("CONFIG", "SET", "tamis.max-open", 2)
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.COMBINE", "ab", "UNION", "a", "b"), ("TAMIS.COMBINE", "cd", "UNION", "c", "d"),
                          ("TAMIS.COMBINE", "aa", "INTERSECT", "a", "a"))
        client.good("DEL", "c")
        client.good("RENAME", "d", "c")
        same((client.good("BF.ADD", "a", "later"), client.good("PING")), (1, "PONG"), "others go on")
        disk.takes(0)
        both, gone, alone = [one.answer() for one in asking]
        same((both, alone), ("OK", "OK"), "the answers")
        refused(gone, "ERR not found", "a source that is gone")
        same(client.good("BF.MEXISTS", "ab", "of a", "of b", "of c"), [1, 1, 0], "what is combined")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        same(follower.good("BF.MEXISTS", "ab", "of a", "of b", "of c"), [1, 1, 0], "the replica")
        has_filters(disk.redis, ["a", "aa", "ab", "b", "c"], "filters")
        disk.stands_still()
        swapped, = disk.ask(client, ("TAMIS.COMBINE", "x", "UNION", "a", "b"))
        client.good("RENAME", "c", "b")
        disk.takes(0)
        refused(swapped.answer(), "ERR a key got another filter", "another filter has the name of a source")
        has_filters(disk.redis, ["a", "aa", "ab", "b"], "filters")
        same(sorted(client.good("KEYS", "*")), sorted(follower.good("KEYS", "*")), "keys of the replica")


def filters_are_merged_meanwhile():
    """Into one that is there.  Seen to fail with a has_changed() that says no: the replica has more."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client), server() as second:
        follower = second.client()
        follow(follower, disk.redis)
        for key in ("a", "b", "to", "into", "gone", "other"):
            client.good("BF.RESERVE", key, "0.01", LARGE)
            if key in "ab":
                client.good("BF.ADD", key, f"of {key}")
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("TAMIS.MERGE", "to", "a", "b"), ("TAMIS.COMBINE", "into", "UNION", "a"), ("TAMIS.MERGE", "gone", "b"))
        same(client.good("BF.EXISTS", "a", "of a"), 1, "the server goes on")
        client.good("RENAME", "other", "gone")
        disk.takes(0)
        to, into, gone = [one.answer() for one in asking]
        same((to, into), ("OK", "OK"), "the answers")
        refused(gone, "ERR a key got another filter", "a key with another filter")
        client.good("BF.RESERVE", "small", "0.01", 100)
        refused(client("TAMIS.MERGE", "small", "a"), "ERR the filters cannot be merged: ", "filters of other shapes")
        same(client.good("WAIT", 1, 0), 1, "a replica")
        disk.redis.kill()
        again = disk.redis.start()
        for one in (follower, again):
            same([one.good("BF.MEXISTS", key, "of a", "of b") for key in ("to", "into", "gone")], [[1, 1], [1, 0], [0, 0]],
                 "what the filters have")


def the_last_piece_of_a_filter_that_counts():
    """Seen to fail without take_made(): the piece comes twice."""
    with Disk(appendonly="yes", appendfsync="always") as (disk, client):
        client.good("CF.RESERVE", "from", LARGE)
        client.good("CF.INSERT", "from", "ITEMS", *range(100), 7)
        chunks = client.chunks("CF.SCANDUMP", "from")
        for key in ("whole", "deleted", "anew"):
            for chunk in chunks[:-1]:
                client.good("CF.LOADCHUNK", key, *chunk)
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, *[("CF.LOADCHUNK", key, *chunks[-1]) for key in ("whole", "deleted", "anew")])
        client.good("DEL", "deleted", "anew")
        client.good("CF.LOADCHUNK", "anew", *chunks[0])
        same(client.good("PING"), "PONG", "the server goes on")
        disk.takes(0)
        whole, deleted, anew = [one.answer() for one in asking]
        same(whole, "OK", "the answer")
        refused(deleted, "ERR not found")
        refused(anew, "Couldn't load chunk!")
        same([client.good("CF.COUNT", "whole", item) for item in (7, 8, 200)], [2, 1, 0], "what is counted")
        has_filters(disk.redis, ["from", "whole"], "filters")
        client.good("DEL", "anew")
        disk.redis.kill()
        client = disk.redis.start()
        same([client.good("CF.COUNT", "whole", item) for item in (7, 8, 200)], [2, 1, 0], "the AOF")


def exact_filters_are_made_meanwhile():
    with Disk("exact", "yes") as (disk, client):
        client.socket.settimeout(60)
        disk.stands_still()
        asking = disk.ask(client, ("BF.RESERVE", "a", "0.01", 100), ("BF.ADD", "b", "x"), ("BF.MADD", "c", "x", "x"))
        same(client.good("PING"), "PONG", "the server goes on")
        disk.takes(0)
        same([one.answer() for one in asking], ["OK", 1, [1, 0]], "the answers")


def a_key_gets_something_else_meanwhile():
    """The command finds what is there when its filter is made, and the filter is dropped."""
    with Disk() as (disk, client):
        client.good("BF.RESERVE", "before", "0.01", 100)
        client.good("BF.ADD", "before", "x")
        disk.stands_still()
        asking = disk.ask(client, ("BF.RESERVE", "string", "0.01", LARGE), ("BF.RESERVE", "filter", "0.01", LARGE),
                          ("BF.INSERT", "renamed", "CAPACITY", LARGE, "ITEMS", "x", "y"), ("BF.RESERVE", "flushed", "0.01", LARGE),
                          ("BF.RESERVE", "twice", "0.01", LARGE), ("BF.RESERVE", "twice", "0.01", LARGE))
        refused(client("TAMIS.ATTACH", "attached", "filter"), "ERR a key of this server has that filter", "a filter that is to come")
        client.good("SELECT", 1)
        client.good("FLUSHDB")
        client.good("SELECT", 0)
        client.good("SET", "string", "x")
        client.good("SET", "filter", "x")
        client.good("DEL", "filter")
        client.good("RENAME", "before", "renamed")
        disk.takes(0)
        string, made, renamed, flushed, one, two = [one.answer() for one in asking]
        refused(string, "WRONGTYPE", "a string")
        same((made, flushed, renamed), ("OK", "OK", [0, 1]), "the answers")
        same(sorted([str(one), str(two)]), ["ERR item exists", "OK"], "one of two")
        has_filters(disk.redis, ["filter", "flushed", "renamed", "twice"], "the others are dropped")
        same(client.good("BF.MEXISTS", "renamed", "x", "y", "z"), [1, 1, 0], "the filter that came to the key")


def a_client_leaves_meanwhile():
    with Disk() as (disk, client):
        client.good("BF.ADD", "k", "x")
        disk.stands_still()
        leaver, killed = disk.ask(client, ("BF.RESERVE", "left", "0.01", LARGE), ("CF.ADD", "killed", "x"))
        number = killed_id(client, "cf.add")
        leaver.close()
        client.good("CLIENT", "KILL", "ID", number)
        same((client.good("PING"), client.good("EXISTS", "left", "killed")), ("PONG", 0), "the server goes on")
        disk.takes(0)
        same(client.good("BF.RESERVE", "last", "0.01", LARGE), "OK", "the next one")
        has_filters(disk.redis, ["k", "last"], "what nobody has is dropped")
        killed.close()


def killed_id(client, command):
    line, = [line for line in client.good("CLIENT", "LIST").decode().split("\n") if f"cmd={command} " in line]
    return line.split("id=")[1].split()[0]


def multi_and_scripts_make_filters_at_once():
    """They have no client that could wait; other filters are being made with the same names."""
    with Disk() as (disk, client):
        disk.takes(20)
        others = [disk.redis.client() for _ in range(2)]
        for one, key in zip(others, ("m", "s")):
            one.send("BF.RESERVE", key, "0.01", LARGE)
        client.good("MULTI")
        client.good("BF.RESERVE", "m", "0.01", LARGE)
        client.good("CF.ADD", "n", "x")
        multi = client("EXEC")
        script = client("EVAL", "return redis.call('BF.RESERVE', KEYS[1], '0.01', ARGV[1])", 1, "s", LARGE)
        disk.takes(0)
        same(sorted([str(multi[0]), str(others[0].answer())]), ["ERR item exists", "OK"], "of two with one name")
        same(multi[1], 1, "CF.ADD")
        other = str(others[1].answer())
        same("OK" in (str(script), other) and "item exists" in str(script) + other, True, f"a script: {script}, {other}")
        has_filters(disk.redis, ["m", "n", "s"], "names")


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
    """A kill leaves no more than orphans, and an orderly end nothing.  The end waits for the disk."""
    for kill in (True, False):
        with Disk(appendonly="yes", appendfsync="always") as (disk, client):
            client.good("BF.ADD", "k", "x")
            disk.stands_still() if kill else disk.takes(30)
            wanted = [(f"BF.RESERVE", f"r{i}", "0.01", LARGE) for i in range(8)] + [("CF.ADD", "c", "x")]
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
            orphans = sorted(name.decode() for name, _ in client.good("TAMIS.ORPHANS", "LIST"))
            has_filters(disk.redis, sorted(keys + orphans), "keys and orphans")
            same((kill or orphans == [], "k" in keys), (True, True), f"orphans: {orphans}, keys: {keys}")
            same("unclean" in tamis("verify", "--store", store_of(disk.redis)), False, "the store is well")
            for orphan in orphans:
                client.good("TAMIS.ORPHANS", "DROP", orphan)


def what_cannot_be_made_is_told():
    """By the thread, in the words of the server's own thread."""
    with Disk() as (disk, client):
        tamis("create", "--store", store_of(disk.redis), "-n", "10", "taken")
        refused(client("BF.RESERVE", "taken", "0.01", LARGE), "ERR could not create filter: a filter 'taken' exists already")
        refused(client("TAMIS.RESERVE", "k", "0.01", LARGE, "HASHSET", "nonsense"), "ERR could not create filter: ")
        refused(client("TAMIS.LOAD", "k", stream(disk.redis, "k")[:-8]), "ERR could not create filter: ")
        disk.takes(-1)
        refused(client("BF.RESERVE", "k", "0.01", LARGE), "ERR could not create filter: ")
        disk.takes(0)
        same((client.good("BF.RESERVE", "k", "0.01", LARGE), client.good("EXISTS", "taken")), ("OK", 0), "afterwards")
        has_filters(disk.redis, ["k", "taken"], "filters")


run(the_server_goes_on_while_filters_are_made, filters_of_others_are_combined_meanwhile, filters_are_merged_meanwhile,
    the_last_piece_of_a_filter_that_counts, exact_filters_are_made_meanwhile, a_key_gets_something_else_meanwhile,
    a_client_leaves_meanwhile, multi_and_scripts_make_filters_at_once, a_child_saves_meanwhile,
    the_end_of_a_server_leaves_nothing_half, what_cannot_be_made_is_told)
