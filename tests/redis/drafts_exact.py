# SPDX-License-Identifier: BSD-2-Clause
"""drafts_exact.py MODULE TAMIS: with tamis.exact small filters of RedisBloom are drafts and go into drawers, and nobody can tell from an answer
or a dump.

What they are held against is the same filter by RedisBloom's own head: BF.LOADCHUNK makes that at once, with a file of its own.  The
head is computed here.  Rates are high and capacities small, so that false positives and further layers come soon.

Seen to fail: answers_are_those_of_the_bits for a draft that compares items (draft_bits_have() not asked: a false positive is answered 1, and
counted), and for bits that are not set; dumps_have_drafts for a dump and for a copy without the head, and for an AOF with BF.INSERT;
they_share_drawers with begin_exact() returning false.
"""
import fcntl
import glob
import hashlib
import math
import os
import shutil
import struct

from harness import are_made, eventually, follow, info, pipelined, run, same, served, store_of, tamis

SHAPES = ((0.25, 20, 2, False), (0.2, 60, 1, False), (0.01, 100, 2, False), (0.25, 30, 0, True), (0.1, 400, 4, False), (0.001, 10, 300, False))
ITEMS = 600


def head_of(rate, capacity, growth, fixed):
    """RedisBloom's head of an empty filter."""
    if not fixed:
        rate /= 2
    per_entry = -(math.log(rate) / 0.480453013918201)
    bits = (max(int(capacity * per_entry), 1) + 63) // 64 * 64
    return struct.pack("<QIII", 0, 1, 5 | (8 if fixed else 0), growth) + struct.pack(
        "<QQQddIQB", bits // 8, bits, 0, rate, per_entry, math.ceil(0.693147180559945 * per_entry), capacity, 0)


def reserve(key, rate, capacity, growth, fixed):
    return ("BF.RESERVE", key, rate, capacity) + (("NONSCALING",) if fixed else ("EXPANSION", growth))


def one_turn(client, *commands):
    client.good("MULTI")
    for command in commands:
        same(client.good(*command), "QUEUED", command)
    return client.good("EXEC")


def scan(client, key):
    """The head, and of the data what is short enough for a message."""
    chunks = client.chunks("BF.SCANDUMP", key)
    return [tuple(chunks[0])] + [(iterator, hashlib.sha256(data).hexdigest()) for iterator, data in chunks[1:]]


def load_head(client, key, shape):
    rate, capacity, growth, fixed = shape
    head = head_of(rate, capacity, 2 if fixed else growth, fixed)  # NONSCALING leaves the growth as it is by default
    client.good("BF.LOADCHUNK", key, 1, head)
    return head


def adds(key):
    """One by one, in batches, with items that come again."""
    commands = [("BF.ADD", key, f"item {i}") for i in range(25)] + [("BF.MADD", key, *(f"item {i}" for i in range(20, 40)))]
    commands += [("BF.EXISTS", key, f"item {i}") for i in range(80)] + [("BF.ADD", key, "")]
    commands += [("BF.INSERT", key, "NOCREATE", "ITEMS", *(f"item {i}" for i in range(35, 70)))]
    commands += [("BF.MEXISTS", key, *(f"item {i}" for i in range(200)))]
    return commands + [("BF.ADD", key, f"item {i}") for i in range(70, ITEMS)]


def differ_not(client, a, b, what):
    same(scan(client, a), scan(client, b), f"{what}: BF.SCANDUMP")
    same(client.good("BF.CARD", a), client.good("BF.CARD", b), f"{what}: BF.CARD")
    same(client.good("BF.INFO", a), client.good("BF.INFO", b), f"{what}: BF.INFO")
    same(client.good("DUMP", a) == client.good("DUMP", b), True, f"{what}: DUMP")


def answers_are_those_of_the_bits():
    for make in ("sync", "auto", "async"):
        with served("exact", "yes", "make", make) as (_, client):
            client.good("BF.ADD", "first", "x")
            for n, shape in enumerate(SHAPES):
                head = load_head(client, f"ref{n}", shape)
                answers = one_turn(client, reserve(f"k{n}", *shape), *adds(f"k{n}"))
                wanted = one_turn(client, *adds(f"ref{n}"))
                same(answers[1:], wanted, f"{make}, {shape}: answers")
                differ_not(client, f"k{n}", f"ref{n}", f"{make}, {shape}")
                one_turn(client, reserve(f"e{n}", *shape))
                same(scan(client, f"e{n}")[0], (1, head), "an empty one")
                # Not in one turn: the draft may be in the store by then, or the thread may have it.
                load_head(client, f"lref{n}", shape)
                client.good(*reserve(f"l{n}", *shape))
                same(pipelined(client, adds(f"l{n}")), pipelined(client, adds(f"lref{n}")), f"{make}, {shape}: answers, pipelined")
                differ_not(client, f"l{n}", f"lref{n}", f"{make}, {shape}, pipelined")
            load_head(client, "default ref", (0.01, 100, 2, False))
            made = [client.good("BF.ADD", "default", i) for i in range(ITEMS)]
            same(made, [client.good("BF.ADD", "default ref", i) for i in range(ITEMS)], "BF.ADD makes it")
            differ_not(client, "default", "default ref", "BF.ADD makes it")


def a_false_positive_is_one_from_the_first_item_on():
    """Of 20 items at a rate of 0.25 some are taken for known."""
    with served("exact", "yes", "make", "async") as (_, client):
        client.good("BF.ADD", "first", "x")
        news, asked = [], []
        for n in range(40):
            commands = [("BF.RESERVE", f"k{n}", 0.49, 40, "NONSCALING")]
            commands += [("BF.ADD", f"k{n}", f"{n} {i}") for i in range(40)] + [("BF.EXISTS", f"k{n}", f"{n} stranger {i}") for i in range(40)]
            answers = one_turn(client, *commands)
            news.append(sum(answers[1:41]))
            asked.append(sum(answers[41:]))
            same(client.good("BF.CARD", f"k{n}"), news[-1], "counted are those that were new")
        same(sum(news) < 40 * 40, True, "some items were taken for known")
        same(0 < sum(asked) < 40 * 40, True, "and some strangers")


def they_share_drawers():
    with served("exact", "yes") as (redis, client):
        client.good("BF.ADD", "first", "x")
        same(pipelined(client, [("BF.ADD", f"k{i}", "x") for i in range(2000)]), [1] * 2000, "made")
        are_made(client)
        segments = os.path.join(store_of(redis), "segments")
        same(len(glob.glob(os.path.join(segments, "*.seg"))) <= 1, True, "no files but those of drawers")
        same(sum(os.stat(file).st_blocks * 512 for file in glob.glob(os.path.join(segments, "*.drw"))) <= 2001 * 1024 + (1 << 20), True,
             "1 KiB each")
        same(pipelined(client, [("BF.MEXISTS", f"k{i}", "x", "y") for i in range(2000)]), [[1, 0]] * 2000, "asked")
        same("problem" in tamis("verify", "--store", store_of(redis)), False, "sound")


def is_saved(client):
    eventually(lambda: b"bgsave_in_progress:0" in client.good("INFO", "persistence") and
               b"aof_rewrite_in_progress:0" in client.good("INFO", "persistence") and
               b"aof_rewrite_scheduled:0" in client.good("INFO", "persistence"), "the child is done")


def written(redis, words):
    """Has the rewritten AOF these?"""
    bases = glob.glob(os.path.join(redis.directory, "appendonlydir", "*.base.aof")) or glob.glob(os.path.join(redis.directory, "*.aof"))
    with open(bases[0], "rb") as file:
        return words in file.read()


def dumps_have_drafts():
    """A lock that readers have keeps filters drafts, as if the process that has it was stopped."""
    for words, settings in (("BGSAVE", {"save": "900 1000000"}),
                            ("BGREWRITEAOF", {"appendonly": "yes", "appendfsync": "always", "aof_use_rdb_preamble": "yes"}),
                            ("BGREWRITEAOF", {"appendonly": "yes", "appendfsync": "always", "aof_use_rdb_preamble": "no"})):
        with served("exact", "yes", "make", "async", **settings) as (redis, client):
            client.good("BF.ADD", "first", "x")
            names = [f"k{n}" for n in range(len(SHAPES))]
            wanted = {}
            for name, shape in zip(names, SHAPES):
                load_head(client, f"ref {name}", shape)
                client.good("BF.MADD", f"ref {name}", *range(10))
                wanted[name] = scan(client, f"ref {name}")
                client.good("DEL", f"ref {name}")
            with open(os.path.join(store_of(redis), "catalog.lock"), "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH)
                for name, shape in zip(names, SHAPES):
                    one_turn(client, reserve(name, *shape), ("BF.MADD", name, *range(10)), ("COPY", name, f"copy {name}"))
                same(info(client, "filters_to_make") >= len(names), True, "they are drafts")
                client.good(words)
                is_saved(client)
                same("lacks the filter" in redis.log(), False, redis.log()[-2000:])
            if settings.get("aof_use_rdb_preamble") == "no":
                same(written(redis, b"BF.INSERT"), False, "RedisBloom's filters, whatever tamis.exact says where the AOF is loaded")
                same(written(redis, b"BF.LOADCHUNK"), True, "RedisBloom's heads")
            redis.kill()
            shutil.rmtree(store_of(redis))
            client = redis.start()
            eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")
            for name in names:
                same(scan(client, name), wanted[name], f"{words}: {name}")
                same(scan(client, f"copy {name}"), wanted[name], f"{words}: the copy of {name}")
            if words == "BGSAVE":
                client.good("DEBUG", "RELOAD")
                same([scan(client, name) for name in names], [wanted[name] for name in names], "after a reload, from drawers")


def replicas_and_payloads_have_them():
    with served("exact", "yes") as (redis, client), served("exact", "no") as (_, follower):
        for n, shape in enumerate(SHAPES):
            one_turn(client, reserve(f"k{n}", *shape), ("BF.MADD", f"k{n}", *range(200)))
        follow(follower, redis)
        for n, shape in enumerate(SHAPES):
            same(scan(follower, f"k{n}"), scan(client, f"k{n}"), "the replica has the same")
            client.good("RESTORE", f"r{n}", 0, client.good("DUMP", f"k{n}"))
            payload = one_turn(client, reserve(f"d{n}", *shape), ("BF.MADD", f"d{n}", *range(200)), ("DUMP", f"d{n}"))[2]
            same(payload == client.good("DUMP", f"k{n}"), True, "DUMP of a draft")
            same(scan(client, f"r{n}"), scan(client, f"k{n}"), "and so has RESTORE")


run(answers_are_those_of_the_bits, a_false_positive_is_one_from_the_first_item_on, they_share_drawers, dumps_have_drafts,
    replicas_and_payloads_have_them)
