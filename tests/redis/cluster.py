# SPDX-License-Identifier: BSD-2-Clause
"""cluster.py MODULE TAMIS: a sharded filter on a Redis Cluster: shards by the rule, slots that move while keys are
added, a master that is killed, and one that hangs; an import from whichever node."""
import os
import subprocess
import tempfile

from cluster_servers import Cluster
from harness import eventually, run, same
from remote import Adding, remote, urls
from redis_client import Error

HERE = os.path.dirname(os.path.abspath(__file__))


def error_count(server, word):
    for line in server.client().good("INFO", "errorstats").decode().splitlines():
        if line.startswith(f"errorstat_{word}:count="):
            return int(line.split("=")[1])
    return 0


def slot(number, cluster):
    return cluster.servers[0].client().good("CLUSTER", "KEYSLOT", f"f:{{{number}}}")


def shards_are_those_of_the_vectors():
    """The vectors are what Debian's python3-xxhash computes, and Tamis puts each key where they say."""
    done = subprocess.run(["/usr/bin/python3", "-B", os.path.join(HERE, "make_shards.py"), "--check"], check=False)
    same(done.returncode, 0, "shards.tsv")
    with open(os.path.join(HERE, "shards.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    with Cluster(3) as cluster:
        for count in (2, 3, 64, 1000):
            mine = [row for row in rows if row[1] == str(count)]
            remote(cluster.url(), "create", "v", "-n", "2k", "-p", "1e-9", "--shards", count)
            remote(cluster.url(), "add", "--hex", "v", *[row[0] for row in mine])
            for key, _, shard, where in mine:
                same(cluster.servers[0].client().good("CLUSTER", "KEYSLOT", f"v:{{{shard}}}"), int(where), key)
                asked = [server.client()("BF.EXISTS", f"v:{{{shard}}}", bytes.fromhex(key))
                         for server in cluster.servers]
                same([one for one in asked if not isinstance(one, Error)], [1], f"{key} in shard {shard} of {count}")
            remote(cluster.url(), "drop", "v")


def slots_move_while_keys_are_added():
    """Each key is told as new once.  Seen to fail without ASKING, which the server then answers by MOVED."""
    with Cluster(3) as cluster:
        remote(cluster.url(), "create", "f", "-n", "100k", "-p", "1e-9", "--shards", "16")
        source, target = cluster.masters[0], cluster.masters[2]
        moving = [slot(i, cluster) for i in range(16) if slot(i, cluster) in set(cluster.slots_of(source))]
        assert moving, "no shard is on the first master"
        adding = Adding(cluster.url(1), source.directory, "f")
        given = 0

        def more():
            nonlocal given
            adding.give(urls(given, 2000))
            given += 2000
            eventually(lambda: len(adding.printed()) == given, "the keys are answered")

        more()
        for one in moving:
            cluster.move(one, source, target, more)
            more()
        same(adding.end(), 0, "status")
        same(adding.printed(), urls(0, given), "the keys, in their order")
        same(adding.told(), "", "what is told")
        same(remote(cluster.url(2), "check", "-c", "f", keys=urls(0, given)).out, b"%d\n" % given)
        assert error_count(source, "MOVED") > 0 and error_count(source, "ASK") > 0, "no redirection was seen"


def import_follows_moved():
    """A string is imported from whichever node is named.  Seen to fail before: "the server says: MOVED ..."."""
    with Cluster(3) as cluster, tempfile.TemporaryDirectory() as directory:
        owner = next(server for server in cluster.masters if not isinstance(server.client()("EXISTS", "bits"), Error))
        owner.client().good("SETBIT", "bits", 7, 1)
        for i in range(3):
            remote(directory, "import", f"b{i}", "--from", cluster.url(i), "bits", "--hash-set", "md5", "-m", 8, "-k", 1)
            same(remote(directory, "info", f"b{i}", "m_bits").out, b"8\n")
        assert "is not there" in remote(directory, "import", "x", "--from", cluster.url(0), "nothing", status=2).err


def lose_one(adding, harm):
    """`harm` comes to a master while keys are on their way.  Returns how many were given."""
    for first in range(0, 20000, 500):
        adding.give(urls(first, 500))
    eventually(lambda: len(adding.printed()) > 10000, "keys are answered")
    harm()
    for first in range(20000, 40000, 500):
        adding.give(urls(first, 500))
    return 40000


def a_master_dies_and_another_hangs():
    """With --replicas 1 no key is lost that was answered; those in doubt are told twice at most, and counted.  A
    master that hangs is given up when the others say that its slots have gone.  Seen to fail without the look at the slots
    while a node is silent."""
    with Cluster(3, (0, 0, 1, 2)) as cluster:
        first, second, third = cluster.masters
        store = cluster.url(2)
        remote(store, "create", "f", "-n", "200k", "-p", "1e-9", "--shards", "64")
        adding = Adding(store, third.directory, "--replicas", "1", "f")
        given = lose_one(adding, first.kill)
        same(adding.end(), 0, adding.told())
        check_printed(adding, given)
        same(remote(store, "check", "-c", "f", keys=urls(0, given)).out, b"%d\n" % given)
        assert "master" in [cluster.role(replica) for replica in cluster.replicas[:2]], "no replica took over"
        remote(store, "drop", "f")
        remote(store, "create", "f", "-n", "200k", "-p", "1e-9", "--shards", "64")
        adding = Adding(store, third.directory, "f")
        given = lose_one(adding, lambda: cluster.hang(second))
        same(adding.end(), 0, adding.told())
        check_printed(adding, given)
        same(cluster.role(cluster.replicas[2]), "master")


def check_printed(adding, given):
    printed = adding.printed()
    same(set(printed), set(urls(0, given)), "each key is told as new")
    doubled = len(printed) - given
    told = adding.told()
    doubts = int(told.split("tamis: ")[1].split(" ")[0]) if " in doubt" in told else 0
    assert doubled <= doubts, f"{doubled} keys are told twice, and {doubts} were in doubt"


run(shards_are_those_of_the_vectors, slots_move_while_keys_are_added, import_follows_moved, a_master_dies_and_another_hangs)
