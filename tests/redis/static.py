# SPDX-License-Identifier: BSD-2-Clause
"""static.py MODULE TAMIS: filters of kind fuse and exceptions in dumps, logs and replicas; TAMIS.EXCEPT, TAMIS.LOAD;
secrets and seeds that the server draws.

It was seen to fail for a TAMIS.EXCEPT that was not replicated, for a dump that referred to a static filter, for an
AOF whose exceptions were all by hand, and for a TAMIS.RESERVE that was replicated as it came.
"""
import glob
import json
import os
import random
import shutil
import zlib

from harness import eventually, filters, follow, has_filters, refused, run, same, served, store_of, tamis

KEYS = [f"key {i}" for i in range(2000)]
STRANGERS = [f"stranger {i}" for i in range(3000)]


def build(redis, name, keys, rate="0.004", against=()):
    """A static filter; those of `against` that would seem to be in it become exceptions."""
    path = os.path.join(redis.directory, "against")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(f"{key}\n" for key in against))
    extra = ("--against", path) if against else ()
    tamis("build", "--store", store_of(redis), name, "-p", rate, *extra, text="".join(f"{key}\n" for key in keys))


def stream_of(redis, name):
    path = os.path.join(redis.directory, "stream")
    tamis("export", "--store", store_of(redis), name, "--to", "tamis", path, "--force", "--with-key")
    with open(path, "rb") as file:
        return file.read()


def seen(client, key):
    """All that tells one filter from another; of the answers how many are yes, and a sum."""
    answers = client.good("BF.MEXISTS", key, *KEYS, *STRANGERS)
    return (sum(answers), zlib.crc32(bytes(answers)), client.good("TAMIS.EXCEPTIONS", key),
            client.good("DEBUG", "DIGEST-VALUE", key), client.good("BF.INFO", key))


def found_of(redis, name):
    """How many of its exceptions a build has found."""
    lines = tamis("except", "--store", store_of(redis), name, "list", "--json").splitlines()
    return sum(json.loads(line)["generation"] != 0 for line in lines)


def lose_store(redis):
    """The server goes on without what its store had."""
    shutil.rmtree(store_of(redis))


def exceptions_are_set_taken_off_and_listed():
    with served() as (redis, client):
        three = redis.client(3)
        build(redis, "list", KEYS)
        client.good("TAMIS.ATTACH", "k", "list")
        same(client.good("TAMIS.EXCEPTIONS", "k"), [], "none")
        same(client.good("TAMIS.EXCEPT", "k", "ADD", "key 1", "key 2", "key 2", "other"), 3, "so many are new")
        same(client.good("TAMIS.EXCEPT", "k", "add", "key 1", ""), 1, "and the empty key")
        same(client.good("BF.MEXISTS", "k", "key 1", "key 2", "key 3"), [0, 0, 1], "they answer absent")
        same(client.good("TAMIS.EXCEPTIONS", "k"), [b"", b"key 1", b"key 2", b"other"], "in the order of their bytes")
        same(tamis("except", "--store", store_of(redis), "list", "list"), "\nkey 1\nkey 2\nother\n", "the command")
        same(client.good("TAMIS.EXCEPT", "k", "REMOVE", "key 1", "key 9", "key 1"), [1, 0, 0], "RESP2")
        same(three.good("TAMIS.EXCEPT", "k", "REMOVE", "key 2", "key 9"), [True, False], "RESP3")
        same(client.good("BF.MEXISTS", "k", "key 1", "key 2"), [1, 1], "they are back")
        tamis("except", "--store", store_of(redis), "list", "add", "key 7")
        same(client.good("BF.EXISTS", "k", "key 7"), 0, "what a local process has excepted")
        client.good("BF.ADD", "bits", "x")
        client.good("TAMIS.EXCEPT", "bits", "ADD", "x")
        same(client.good("BF.EXISTS", "bits", "x"), 0, "a filter of bits")
        client.good("MULTI")
        client.good("TAMIS.EXCEPT", "bits", "REMOVE", "x")
        client.good("BF.EXISTS", "bits", "x")
        same(client.good("EXEC"), [[1], 1], "in MULTI")


def what_cannot_be_excepted_is_refused():
    with served() as (_, client):
        client.good("SET", "text", "x")
        client.good("CF.ADD", "counts", "x")
        client.good("BF.ADD", "k", "x")
        refused(client("TAMIS.EXCEPT", "none", "ADD", "x"), "ERR not found")
        refused(client("TAMIS.EXCEPTIONS", "none"), "ERR not found")
        for key, says in (("text", "WRONGTYPE"), ("counts", "ERR tamis: this is a cuckoo filter")):
            refused(client("TAMIS.EXCEPT", key, "ADD", "x"), says)
            refused(client("TAMIS.EXCEPTIONS", key), says)
        refused(client("TAMIS.EXCEPT", "k", "LIST", "x"), "ERR give ADD or REMOVE; TAMIS.EXCEPTIONS lists")
        refused(client("TAMIS.EXCEPT", "k", "ADD"), "ERR wrong number of arguments")
        refused(client("TAMIS.EXCEPTIONS", "k", "x"), "ERR wrong number of arguments")
        refused(client("TAMIS.EXCEPT", "k", "ADD", "fine", "x" * 65536),
                "ERR the exceptions stay as they were: a key of 65536 bytes")
        same(client.good("TAMIS.EXCEPTIONS", "k"), [], "all or none")
        (docs,) = client.good("COMMAND", "DOCS", "tamis.except")[1::2]
        same(b"Makes items answer absent" in docs[1], True, "COMMAND DOCS")
        (info,) = client.good("COMMAND", "INFO", "tamis.exceptions")
        same(info[1:4], [2, ["readonly", "module"], 1], "COMMAND INFO: a replica lists them too")


def static_filters_travel_whole():
    with served() as (redis, client):
        build(redis, "list", KEYS, against=STRANGERS)
        client.good("TAMIS.ATTACH", "k", "list")
        client.good("TAMIS.EXCEPT", "k", "ADD", "key 5")
        before = seen(client, "k")
        same(len(before[2]) > 2, True, "the build has found exceptions")
        client.good("RESTORE", "restored", 0, client.good("DUMP", "k"))
        client.good("COPY", "k", "copied")
        for key in ("restored", "copied"):
            same(seen(client, key), before, key)
        has_filters(redis, ["copied", "list", "restored"], "they are filters of their own")
        client.good("DEL", "restored", "copied")
        eventually(lambda: filters(redis) == ["list"], "which go with their keys")
        refused(client("BF.SCANDUMP", "k", 0), "ERR a filter of kind fuse, or with exceptions, has no pieces")
        client.good("BF.ADD", "bits", "x")
        head = client.good("BF.SCANDUMP", "bits", 0)[1]
        client.good("TAMIS.EXCEPT", "bits", "ADD", "y")
        refused(client("BF.SCANDUMP", "bits", 0), "ERR a filter of kind fuse, or with exceptions, has no pieces")
        refused(client("BF.LOADCHUNK", "v", 1, stream_of(redis, "bits")[:len(head) - 4] + head[-4:]),
                "ERR could not create filter: a filter of kind fuse, or with exceptions,", "a head of what comes whole only")


def a_dump_has_static_filters():
    """With content the filters come from the dump, with references from the store."""
    for mode in ("content", "reference"):
        with served("rdb", mode, save="900 1") as (redis, client):
            build(redis, "list", KEYS, against=STRANGERS)
            client.good("TAMIS.ATTACH", "k", "list")
            client.good("TAMIS.EXCEPT", "k", "ADD", "key 5")
            client.good("BF.RESERVE", "bits", "0.01", 100, "EXPANSION", 4)
            client.good("BF.MADD", "bits", *KEYS[:300])
            client.good("TAMIS.EXCEPT", "bits", "ADD", "key 7", "other")
            before = {key: seen(client, key) for key in ("k", "bits")}
            redis.stop()
            if mode == "content":
                lose_store(redis)
            client = redis.start()
            for key, was in before.items():
                same(seen(client, key), was, f"{mode}, {key}")
            client.good("TAMIS.EXCEPT", "k", "REMOVE", "key 5")
            same(client.good("BF.EXISTS", "k", "key 5"), 1, "it can be changed as before")


def logs_have_static_filters():
    """An AOF with and without a preamble, before and after a rewrite; the store is lost meanwhile."""
    for preamble, exact in (("yes", "no"), ("no", "no"), ("no", "yes")):
        with served("exact", exact, appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble,
                    auto_aof_rewrite_percentage="0") as (redis, client):
            build(redis, "list", KEYS, against=STRANGERS)
            stream = stream_of(redis, "list")
            half = len(stream) // 2
            client.good("TAMIS.LOAD", "fuse", "EXPANSION", 3, stream[:half], stream[half:half + 1], stream[half + 1:])
            client.good("TAMIS.EXCEPT", "fuse", "ADD", "key 5", "key 6")
            client.good("TAMIS.EXCEPT", "fuse", "REMOVE", "key 6")
            client.good("BF.RESERVE", "bits", "0.01", 100, "EXPANSION", 4)
            client.good("BF.MADD", "bits", *KEYS[:300])
            client.good("TAMIS.EXCEPT", "bits", "ADD", "key 7", "", "other")
            tamis("build", "--store", store_of(redis), "tonight", "-p", "0.05", "--kind", "blocked", "--against",
                  os.path.join(redis.directory, "against"), text="".join(f"{key}\n" for key in KEYS))
            client.good("TAMIS.LOAD", "built", stream_of(redis, "tonight"))
            before = {key: seen(client, key) for key in ("fuse", "bits", "built")}
            found = {key: found_of(redis, key) for key in before}
            same((found["fuse"] > 1, found["bits"], found["built"] > 1), (True, 0, True), "some are found by a build")
            for rewritten in (False, True):
                if rewritten:
                    client.good("BGREWRITEAOF")
                    eventually(lambda: b"aof_rewrite_in_progress:0" in client.good("INFO", "persistence") and
                               b"aof_last_bgrewrite_status:ok" in client.good("INFO", "persistence") and
                               b"aof_rewrites:1" in client.good("INFO", "stats") +
                               client.good("INFO", "persistence"), "the rewrite is done")
                for lost in (False, True):
                    redis.kill()
                    if lost:
                        lose_store(redis)
                    client = redis.start()
                    eventually(lambda: set(before) <= set(filters(redis)), "a thread has given each filter the name of its key")
                    for key, was in before.items():
                        same(seen(client, key), was, f"preamble {preamble}, exact {exact}, {rewritten}, {lost}, {key}")
                        same(found_of(redis, key), found[key], "what the build has found")
            same(client.good("TAMIS.ORPHANS", "LIST"), [], "nothing is left over")
            client.good("TAMIS.EXCEPT", "fuse", "REMOVE", "key 5")
            same(client.good("BF.EXISTS", "fuse", "key 5"), 1, "they are the same exceptions")


def replicas_have_static_filters():
    with served() as (master, client), served() as (_, other):
        build(master, "list", KEYS, against=STRANGERS)
        client.good("TAMIS.ATTACH", "k", "list")
        client.good("TAMIS.EXCEPT", "k", "ADD", "key 5")
        other.good("REPLICAOF", "127.0.0.1", master.port)
        eventually(lambda: other("EXISTS", "k") == 1, "the full sync")
        same(seen(other, "k"), seen(client, "k"), "what was there before")
        client.good("TAMIS.EXCEPT", "k", "ADD", "key 6", "key 7")
        client.good("TAMIS.EXCEPT", "k", "REMOVE", "key 5", "key 6")
        client.good("TAMIS.LOAD", "l", stream_of(master, "list"))
        same(client.good("WAIT", 1, 20000), 1, "the replica has all of it")
        for key in ("k", "l"):
            same(seen(other, key)[:4], seen(client, key)[:4], "commands")
        same(client.good("TAMIS.EXCEPTIONS", "k") != [], True, "the build's are left")


def a_stream_makes_a_key():
    with served("max-bytes", 1 << 16) as (redis, client):
        build(redis, "list", KEYS, "1e-4")
        tamis("create", "--store", store_of(redis), "counts", "--kind", "counting", "-n", "100")
        build(redis, "large", range(100000), "1e-9")
        stream = stream_of(redis, "list")
        refused(client("TAMIS.LOAD", "k", "EXPANSION", 40000, stream), "ERR bad expansion")
        refused(client("TAMIS.LOAD", "k", ""), "ERR there is no stream; give what 'tamis export --to tamis' wrote")
        refused(client("TAMIS.LOAD", "k", "DURABLE"), "ERR there is no stream")
        refused(client("TAMIS.LOAD", "k", "DURABLE", stream), "ERR could not create filter: a filter of kind fuse")
        refused(client("TAMIS.LOAD", "k", stream_of(redis, "large")), "ERR the filter would be larger than")
        refused(client("TAMIS.LOAD", "k", stream[:-1]), "ERR could not create filter: the tamis stream is truncated")
        refused(client("TAMIS.LOAD", "k", stream, "x"), "ERR could not create filter: the tamis stream goes on")
        rng = random.Random(5)
        for _ in range(300):
            damaged = bytearray(stream)
            damaged[rng.choice((rng.randrange(328), rng.randrange(len(stream))))] ^= 1 << rng.randrange(8)
            cut = rng.randrange(len(stream))
            refused(client("TAMIS.LOAD", "k", bytes(damaged[:cut]), bytes(damaged[cut:])), "ERR ")
        same((client.good("EXISTS", "k"), filters(redis)), (0, ["counts", "large", "list"]), "nothing is left")
        client.good("TAMIS.LOAD", "k", stream)
        refused(client("TAMIS.LOAD", "k", stream), "ERR item exists")
        same(client.good("BF.MEXISTS", "k", *KEYS), [1] * len(KEYS), "all keys")


def what_is_drawn_is_replicated_as_drawn():
    with served(appendonly="yes", appendfsync="always") as (master, client), served() as (_, other):
        follow(other, master)
        watcher = master.client()
        watcher.good("MONITOR")
        given = "0123456789abcdefFEDCBA9876543210"
        client.good("TAMIS.RESERVE", "sip", "0.01", 1000, "HASHSET", "sip")
        client.good("TAMIS.RESERVE", "again", "0.01", 1000, "HASHSET", "sip")
        client.good("TAMIS.RESERVE", "seed", "0.01", 1000, "SEED", "random")
        client.good("TAMIS.RESERVE", "other", "0.01", 1000, "SEED", "RANDOM")
        client.good("TAMIS.RESERVE", "given", "0.01", 1000, "SECRET", given, "HASHSET", "sip")
        client.good("TAMIS.RESERVE", "given2", "0.01", 1000, "HASHSET", "sip", "SECRET", given.lower())
        names = ("sip", "again", "seed", "other", "given", "given2")
        for name in names:
            client.good("BF.MADD", name, *KEYS[:50])
        same(client.good("WAIT", 1, 20000), 1, "the replica has all of it")
        digests = [client.good("DEBUG", "DIGEST-VALUE", name) for name in names]
        same([other.good("DEBUG", "DIGEST-VALUE", name) for name in names], digests, "the same bits")
        same(len({tuple(digest) for digest in digests}), 5, "each draws its own, and what is given is taken")
        client.good("TAMIS.MERGE", "given", "given2")
        refused(client("TAMIS.MERGE", "sip", "again"), "ERR the filters cannot be merged: ")
        log = b"".join(open(path, "rb").read() for path in glob.glob(master.directory + "/appendonlydir/*"))
        at = log.index(b"SECRET\r\n$32\r\n") + 13
        secret = log[at:at + 32].decode()
        same(len(bytes.fromhex(secret)), 16, "the AOF has the values drawn")
        watched = ""
        while "given2" not in watched.rsplit("\n", 1)[-1] or "BF.MADD" not in watched.rsplit("\n", 1)[-1]:
            watched += "\n" + watcher.answer()
        told = str([client.good("TAMIS.INFO", "sip"), client.good("BF.INFO", "sip"), client.good("SLOWLOG", "GET")])
        same(secret in watched + told + master.log(), False, "nobody is told the secret")
        master.kill()
        lose_store(master)
        client = master.start()
        same([client.good("DEBUG", "DIGEST-VALUE", name) for name in names], digests, "from the AOF")


def wrong_secrets_are_refused():
    with served() as (_, client):
        what = "ERR a secret is 32 hexadecimal digits, not all 0"
        for secret in ("", "0123", "0" * 32, "g" * 32, "\x10" * 32, "1" * 33):
            refused(client("TAMIS.RESERVE", "k", "0.01", 100, "HASHSET", "sip", "SECRET", secret), what)
        refused(client("TAMIS.RESERVE", "k", "0.01", 100, "SECRET", "1" * 32),
                "ERR could not create filter: hash set xxh3 has no secret; leave it out")
        refused(client("TAMIS.RESERVE", "k", "0.01", 100, "SEED", "any"), "ERR bad number")
        same(client.good("EXISTS", "k"), 0, "nothing is made")


run(exceptions_are_set_taken_off_and_listed, what_cannot_be_excepted_is_refused, static_filters_travel_whole,
    a_dump_has_static_filters, logs_have_static_filters, replicas_have_static_filters, a_stream_makes_a_key,
    what_is_drawn_is_replicated_as_drawn, wrong_secrets_are_refused)
