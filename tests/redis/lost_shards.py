# SPDX-License-Identifier: BSD-2-Clause
"""lost_shards.py MODULE TAMIS: filters in shards of which some fail: a key that is gone, as an asynchronous failover may lose it,
a shard that cannot go back, a user who may not WAIT; and many shards that are made without holding a server up.

Seen to fail with the command before these (586f10e): `list` printed nothing; no message named a shard; `create --if-missing` made the
shard anew without a word; 4 sentences for 4 shards that failed alike; --replicas went on for --timeout without the right to
WAIT; 64 requests to make shards on the way to one server at a time."""
import os
import re
import socket
import tempfile
import threading
import time

from cluster_servers import Cluster
from harness import run, same, server, store_of, tamis
from redis_server import free_port
from remote import remote, urls

KEYS = urls(0, 2000)
SHARDS = 16


def each_store():
    """A server, and a cluster, with a client of the node that has a key."""
    with server() as one:
        yield one.url(), lambda key: (one.client(), one)
    with Cluster(3) as cluster:
        def node_of(key):
            for node in cluster.masters:
                if not str(node.client()("GET", key)).startswith("MOVED"):
                    return node.client(), node
            raise AssertionError(f"no node has {key}")
        yield cluster.url(), node_of


def a_lost_shard_is_told_and_not_made_anew():
    for store, node_of in each_store():
        for name in ("seen", "other"):
            remote(store, "create", name, "-n", "10k", "-p", "1e-6", "--shards", SHARDS)
            remote(store, "add", name, keys=KEYS)
        for lost in ("seen:{5}", "seen:{0}"):
            client, node = node_of(lost)
            held = client.good("BF.CARD", lost)
            same(client.good("DEL", lost), 1)
            why = f"'{lost}' (127.0.0.1:{node.port})"
            listed = remote(store, "list", status=2)
            assert re.search(rb"^other +blocked", listed.out, re.M) and b"seen" not in listed.out, listed.out
            for words, keys in ((["list"], None), (["info", "seen"], None), (["add", "seen"], KEYS), (["check", "seen"], KEYS),
                                (["create", "seen", "-n", "10k", "-p", "1e-6", "--shards", SHARDS, "--if-missing"], None)):
                told = remote(store, *words, keys=keys, status=2).err
                assert why in told and "1 of its 16 shards is gone" in told and told.count("tamis: filter") == 1, (words, told)
                assert "'tamis repair seen'" in told, told
            same(client("EXISTS", lost), 0, "made anew without being told to")
            same(remote(store, "list", "-q").out, b"other\nseen\n")
            repaired(store, lost, client, held)


def nothing_is_begun_on_a_filter_with_a_lost_shard():
    """Seen to fail with the command of 586f10e: a merge of one source and --like left a destination in state "making", rename
    left the filter in state "renaming", and no message named the shard or its node."""
    for store, node_of in each_store():
        for name in ("seen", "whole"):
            remote(store, "create", name, "-n", "10k", "-p", "1e-6", "--shards", SHARDS)
        client, node = node_of("seen:{5}")
        in_it = next(key for key in KEYS if has_shard(store, client, key))
        same(client.good("DEL", "seen:{5}"), 1)
        with tempfile.TemporaryDirectory() as directory:
            for words in (["merge", "new", "whole", "seen"], ["merge", "new", "seen"], ["merge", "whole", "seen"], ["merge", "seen", "whole"],
                          ["create", "new", "--like", "seen"], ["rename", "seen", "new"], ["explain", "seen", in_it.decode()],
                          ["export", "seen", "--to", "tamis", directory + "/out"]):
                told = remote(store, *words, status=2).err
                assert f"filter 'seen': 1 of its 16 shards is gone: 'seen:{{5}}' (127.0.0.1:{node.port})" in told, (words, told)
                same(told.count("tamis: "), 1, told)
            same(os.listdir(directory), [])
        same(remote(store, "list", "-q").out, b"seen\nwhole\n")
        remote(store, "repair", "seen")
        remote(store, "merge", "new", "whole", "seen")


def has_shard(store, client, key):
    """Does the key go to the shard 5 of the filter?"""
    remote(store, "add", "seen", keys=[key])
    return client.good("BF.CARD", "seen:{5}") > 0


def a_lost_descriptor_is_told_and_made_anew():
    """Seen to fail before: `create --if-missing` answered that 'seen:{0}' exists already, left a filter in state "making", and
    said that `drop` takes away what it had made, which were the shards with their keys."""
    shape = ["seen", "-n", "10k", "-p", "1e-6", "--shards", SHARDS]
    for store, node_of in each_store():
        remote(store, "create", *shape)
        remote(store, "add", "seen", keys=KEYS)
        client, _ = node_of("seen")
        same(client.good("DEL", "seen"), 1)
        listed = remote(store, "list")
        assert "no key 'seen' that describes it" in listed.err and b"seen:{15}" in listed.out, listed.err
        for words in (["create", *shape], ["create", "seen", "-n", "20k", "-p", "1e-6", "--shards", SHARDS]):
            told = remote(store, *words, status=2).err
            assert "all 16 shards of a filter 'seen' are there" in told and "--if-missing" in told, told
            same(client("EXISTS", "seen"), 0, words)
        told = remote(store, "create", "seen", "-n", "20k", "-p", "1e-6", "--shards", SHARDS, "--if-missing", status=2).err
        assert "exists with capacity" in told, told
        same(client("EXISTS", "seen"), 0, "another capacity")
        shard, _ = node_of("seen:{3}")
        shard.good("RENAME", "seen:{3}", "kept{3}")
        for more in ([], ["--if-missing"]):
            told = remote(store, "create", *shape, *more, status=2).err
            assert "15 of 16 shards of a filter 'seen' are there" in told, told
            same((client("EXISTS", "seen"), shard("EXISTS", "seen:{3}")), (0, 0), "made anew")
        shard.good("RENAME", "kept{3}", "seen:{3}")
        assert "keep their keys" in remote(store, "create", *shape, "--if-missing").err
        same(remote(store, "create", *shape, "--if-missing").err, "")
        same(remote(store, "add", "--new", "seen", keys=KEYS).out, b"", "new keys")
        same(remote(store, "info", "seen", "capacity").out, b"10000\n")


def repaired(store, lost, client, held):
    """The `held` keys of that shard are new again, and no others."""
    dry = remote(store, "repair", "--dry-run", "seen")
    assert lost.encode() in dry.out and "1 shard of 'seen' would be made anew" in dry.err, (dry.out, dry.err)
    same(client("EXISTS", lost), 0, "a dry run")
    done = remote(store, "repair", "seen")
    assert lost.encode() in done.out and "1 shard of 'seen' was made anew" in done.err, (done.out, done.err)
    assert "nothing to repair" in remote(store, "repair", "seen").err
    assert held > 0, "the shard had no keys"
    same(len(remote(store, "add", "--new", "seen", keys=KEYS).out.splitlines()), held, "new keys after the repair")
    same(client.good("BF.CARD", lost), held)
    same(remote(store, "info", "seen", "fp_rate").out, b"1e-6\n")


def shards_that_fail_are_one_sentence():
    """Strings in the place of shards: 6 of them, of which 4 are named."""
    with server() as one:
        remote(one.url(), "create", "f", "-n", "10k", "--shards", SHARDS)
        for i in range(6):
            one.client().good("SET", f"f:{{{i}}}", "text")
        for words in (["add", "f"], ["check", "f"], ["info", "f"]):
            told = remote(one.url(), *words, keys=KEYS, status=2).err
            assert told.count("tamis: filter") == 1 and "6 of its 16 shards failed: 'f:{0}'" in told and "and 2 more" in told, told
        for i in range(6):
            one.client().good("DEL", f"f:{{{i}}}")
        told = remote(one.url(), "check", "f", keys=KEYS, status=2).err
        assert told.count("tamis: filter") == 1 and "6 of its 16 shards are gone: " in told, told
        same(len(remote(one.url(), "repair", "f").out.splitlines()), 6)
        for i in range(SHARDS):
            one.client().good("DEL", f"f:{{{i}}}")
        assert "all of its 16 shards are gone" in remote(one.url(), "repair", "f", status=2).err
        assert "name the filter" in remote(one.url(), "repair", status=2).err
        remote(one.url(), "create", "one", "-n", "10")
        assert "is one key" in remote(one.url(), "repair", "one", status=2).err
        assert "no such filter" in remote(one.url(), "repair", "none", status=2).err


def nights(one, directory, shard, count):
    """Generations of a shard that hold the one key of their night."""
    for night in range(count):
        tamis("--store", store_of(one), "build", f"list-{shard}", "-n", "10", "--keep", "5", text=f"night {night}\n")
    one.client().good("TAMIS.ATTACH", f"list:{{{shard}}}", f"list-{shard}")


def in_force(one, shard):
    info = one.client().good("TAMIS.INFO", f"list:{{{shard}}}")
    return info[[str(word) for word in info].index("generation") + 1]


def all_shards_go_back():
    with server() as one:
        client, store = one.client(), one.url()
        for shard in range(4):
            nights(one, one.directory, shard, 3)
        client.good("HSET", "list", *"tamis 1 state ready shards 4 capacity 40 rate 0.01 kind fuse seed 1".split())
        newest = in_force(one, 0)
        assert f"generation {newest - 1} of 'list' is in force, instead of generation {newest}" in remote(store, "rollback", "list").err
        same([in_force(one, i) for i in range(4)], [newest - 1] * 4)
        remote(store, "rollback", "list", newest - 1)  # they are in it
        remote(store, "rollback", "list", newest)
        client.good("TAMIS.ROLLBACK", "list:{2}", newest - 1)  # as one that was stopped in the middle
        told = remote(store, "rollback", "list", status=2).err
        assert f"'tamis rollback list {newest - 1}'" in told, told
        same([in_force(one, i) for i in range(4)], [newest, newest, newest - 1, newest])
        # A shard without that generation: the others go back.
        tamis("--store", store_of(one), "build", "list-3", "-n", "10", "--keep", "1", text="tonight\n")
        told = remote(store, "rollback", "list", newest - 1, status=2).err
        assert f"3 of the 4 shards of filter 'list' are in generation {newest - 1}" in told and "'list:{3}'" in told, told
        tamis("--store", store_of(one), "drop", "list-3")
        client.good("DEL", "list:{3}")
        nights(one, one.directory, 3, 3)
        remote(store, "rollback", "list", newest - 1)
        same([in_force(one, i) for i in range(4)], [newest - 1] * 4)
        remote(store, "rollback", "list", 99, status=2)
        remote(store, "rollback", "nothing", status=2)


def no_right_to_wait():
    """It ends at once, and what it added is told, as it is in doubt."""
    with server() as one:
        remote(one.url(), "create", "f", "-n", "10k", "--shards", 4)
        one.client().good("ACL", "SETUSER", "few", "on", ">word", "~*", "+@all", "-wait")
        began = time.monotonic()
        done = remote(one.url().replace("redis://", "redis://few:word@"), "--timeout", 60, "add", "--new", "--replicas", 1, "f",
                      keys=KEYS[:100], status=2)
        assert time.monotonic() - began < 30, "it waited for --timeout"
        assert "+wait" in done.err and "100 keys were in doubt" in done.err, done.err
        same(done.out.splitlines(), KEYS[:100])
        told = remote(one.url(), "--wait", 1, "add", "f", "k", status=2).err
        assert "--replicas waits for replicas" in told, told


class Counting:
    """Passes all on to a server, and looks at how many requests that begin with `word` are in what comes at a time: between
    two answers of the server, all of them are on their way."""

    def __init__(self, one, word):
        self.word, self.most, self.open = word, 0, 0
        self.listener = socket.create_server(("127.0.0.1", free_port()))
        self.one, self.lock = one, threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.one.port))
            for source, to, note in ((peer, far, self.sent), (far, peer, self.answered)):
                threading.Thread(target=self.pass_on, args=(source, to, note), daemon=True).start()

    def pass_on(self, source, to, note):
        try:
            while data := source.recv(1 << 20):
                note(data)
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def sent(self, data):
        with self.lock:
            self.open += data.count(self.word)
            self.most = max(self.most, self.open)

    def answered(self, data):
        with self.lock:
            self.open = max(0, self.open - data.count(b"+OK\r\n") - data.count(b":1\r\n"))


def many_shards_are_made_a_few_at_a_time():
    with server() as one:
        for word, words in ((b"\r\nTAMIS.RESERVE\r\n", ["create", "f", "-n", "10k", "--shards", 64]),
                            (b"\r\nRENAMENX\r\n", ["rename", "f", "g"])):
            passing = Counting(one, word)
            remote(f"redis://127.0.0.1:{passing.listener.getsockname()[1]}", *words)
            passing.listener.close()
            assert 1 <= passing.most <= 4, f"{words}: {passing.most} at a time"


run(a_lost_shard_is_told_and_not_made_anew, nothing_is_begun_on_a_filter_with_a_lost_shard,
    a_lost_descriptor_is_told_and_made_anew, shards_that_fail_are_one_sentence, all_shards_go_back, no_right_to_wait,
    many_shards_are_made_a_few_at_a_time)
