# SPDX-License-Identifier: BSD-2-Clause
"""like_valkey.py MODULE TAMIS: the answers, the filters, the dumps and the settings of valkey-bloom.

It was seen to fail for a layer whose rate was that of the layer before it, for SipHash of the item without its length, for a
payload whose last layer lacked its items, for a creation that replicas got as it was typed (without its seed), and for BF.INFO of
one field as an array.
"""
import os
import struct

from case_files import HERE, ask
from harness import eventually, filters, follow, has_filters, is_rewritten, refused, run, same, served
from rdb_payload import double, module_value, string, unsigned

BLOOMFLTR = 0x6E5A2899F96DAC01  # bloomfltr, encoding version 1
LIKE = ("like", "valkey", "exact", "yes")
SEED = b"a seed of 32 bytes, no more no le"[:32]


def vectors():
    """(capacity, rate, tightening ratio, expansion, seed, answers, blob) of the recorded filters."""
    with open(os.path.join(HERE, "valkey_vectors.tsv"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            capacity, rate, tightening, expansion, seed, answers, blob = line[:-1].split("\t")
            yield capacity, rate, tightening, int(expansion), bytes.fromhex(seed), answers, bytes.fromhex(blob)


def items(count):
    return ["item " * (i % 7) + str(i) for i in range(count)]


def layers_of(blob):
    """(head and bits, items, capacity) of each layer of a blob."""
    at, layers = 30, []
    for _ in range(struct.unpack_from("<Q", blob, 22)[0]):
        size, = struct.unpack_from("<Q", blob, at)
        layers.append((blob[at + 8:at + 8 + size], *struct.unpack_from("<qq", blob, at + 8 + size)))
        at += 24 + size
    return layers


def payload_of(blob, layers=None, random=None, count=None, version=1):
    """valkey-bloom's payload of the filter of a blob."""
    expansion, rate, tightening, is_random = struct.unpack_from("<IddB", blob, 1)
    layers = layers_of(blob) if layers is None else layers
    parts = [unsigned(len(layers) if count is None else count), unsigned(expansion), double(rate), double(tightening),
             unsigned(is_random if random is None else random)]
    for i, (data, held, capacity) in enumerate(layers):
        parts += [string(data), unsigned(capacity)] + ([unsigned(held)] if i + 1 == len(layers) else [])
    return module_value(BLOOMFLTR - 1 + version, *parts)


def answers_are_those_of_valkey_bloom():
    for resp in (2, 3):
        with served(*LIKE, "use-random-seed", "no") as (redis, _):  # a drawn one may make a false positive of a case
            client = redis.client(resp)
            client.good("SET", "s", "v")
            ask(client, "valkey_cases.txt", resp, {"S32": SEED})


def filters_are_those_of_valkey_bloom():
    """Made here, key by key: the same answers and the same bits; and what it wrote is asked here, and goes on here."""
    with served(*LIKE, rdbcompression="no") as (_, client):
        for i, (capacity, rate, tightening, expansion, seed, answers, blob) in enumerate(vectors()):
            growth = ["EXPANSION", expansion] if expansion else ["NONSCALING"]
            added = client.good("BF.INSERT", f"made {i}", "CAPACITY", capacity, "ERROR", rate, "TIGHTENING", tightening, "SEED",
                                seed, *growth, "ITEMS", *items(len(answers)))
            same("".join(map(str, added)), answers, f"adds of {i}")
            same(client.good("DUMP", f"made {i}")[2:-10], payload_of(blob)[2:-10], f"payload of {i}")
            same(client.good("BF.LOAD", f"blob {i}", blob), "OK")
            same(client.good("RESTORE", f"rdb {i}", 0, payload_of(blob)), "OK")
            keys = [f"{way} {i}" for way in ("made", "blob", "rdb")]
            for key in keys:
                same(client.good("BF.MEXISTS", key, *items(len(answers))), [1] * len(answers), key)
                same(client.good("TYPE", key), "bloomfltr")
            more = [client("BF.MADD", key, *[f"more {n}" for n in range(60)]) for key in keys]
            same(more[1:], [more[0]] * 2, f"adds that follow, {i}")
            same(len(set(client.good("DEBUG", "DIGEST-VALUE", *keys))), 1, f"digests of {i}")


def a_filter_grows_by_layers():
    """Their number and capacity, the rate of the whole, and no key lost.  The seed is fixed, so this always has one outcome."""
    with served(*LIKE, "use-random-seed", "no") as (_, client):
        client.good("BF.RESERVE", "k", "0.01", 1000)
        for at in range(0, 100000, 5000):
            client.good("BF.MADD", "k", *range(at, at + 5000))
        told = client.good("BF.INFO", "k")
        same(told[5], 7, "layers of 1000 keys, of 2000 and so on")
        same(told[1], 127000, "their capacity")
        same(client.good("BF.MEXISTS", "k", *range(100000)), [1] * 100000, "all are there")
        false = sum(client.good("BF.MEXISTS", "k", *range(200000, 250000)))
        same(false < 0.025 * 50000, True, f"{false} of 50000 strangers: the rates of all layers add up to 2 %")


def all_ways_of_saving_bring_a_filter_back():
    _, _, _, _, _, _, blob = next(vectors())
    for way in ("rdb", "aof", "rewritten", "preamble"):
        settings = {"save": "900 1"} if way == "rdb" else {"appendonly": "yes"}
        preamble = "yes" if way == "preamble" else "no"
        with served(*LIKE, **settings, **{"aof-use-rdb-preamble": preamble}) as (redis, client):
            client.good("BF.INSERT", "k", "CAPACITY", 3, "ITEMS", *items(20))
            client.good("BF.LOAD", "l", blob)
            client.good("CONFIG", "SET", "tamis.exact", "no")
            client.good("BF.RESERVE", "stored", "0.01", 50, "EXPANSION", 40000)
            client.good("BF.MADD", "stored", *items(20))
            if way in ("rewritten", "preamble"):
                client.good("BGREWRITEAOF")
                is_rewritten(client)
            told = (("BF.INFO", "k"), ("BF.INFO", "l"), ("BF.INFO", "stored"), ("TYPE", "k"), ("TYPE", "stored"),
                    ("DEBUG", "DIGEST-VALUE", "k", "l", "stored"), ("BF.MEXISTS", "stored", *items(20)))
            before = [client.good(*words) for words in told]
            client = redis.restart()
            same(client.good("BF.MEXISTS", "k", *items(20)), [1] * 20, way)
            if way == "aof":  # it has BF.RESERVE, and the server is exact again
                continue
            same([client.good(*words) for words in told], before, way)
            client.good("DEL", "k", "l", "stored")
            eventually(lambda: filters(redis) == [], "nothing is left in the store")


def replicas_have_the_same_bits():
    """A replica makes the filter with the seed that was drawn, whatever its own settings and limits are."""
    with served(*LIKE) as (redis, client), served("default-capacity", 7, "memory-usage-limit", 100) as (_, follower):
        follow(follower, redis)
        client.good("BF.ADD", "k", "x")
        client.good("BF.RESERVE", "r", "0.001", 10, "NONSCALING")
        client.good("BF.MADD", "r", *items(5))
        client.good("BF.INSERT", "i")
        client.good("BF.LOAD", "l", next(vectors())[6])
        before = client.good("INFO", "replication").split(b"master_repl_offset:")[1].split(b"\r")[0]
        client.good("BF.MADD", "k", "x", "x")
        same(client.good("INFO", "replication").split(b"master_repl_offset:")[1].split(b"\r")[0], before, "nothing was new")
        same(client.good("WAIT", 1, 60000), 1)
        keys = ("k", "r", "i", "l")
        same(follower.good("DEBUG", "DIGEST-VALUE", *keys), client.good("DEBUG", "DIGEST-VALUE", *keys), "on the replica")


def words_of_valkey_bloom_are_known_without_the_setting():
    """They make its filters; answers are RedisBloom's."""
    capacity, rate, tightening, expansion, seed, answers, blob = next(vectors())
    with served() as (redis, client):
        added = client.good("BF.INSERT", "k", "CAPACITY", capacity, "ERROR", rate, "SEED", seed, "EXPANSION", expansion, "TIGHTENING",
                            tightening, "ITEMS", *items(len(answers)))
        same("".join(map(str, added)), answers, "adds")
        client.good("BF.LOAD", "l", blob)
        client.good("RESTORE", "p", 0, payload_of(blob))
        same(len(set(client.good("DEBUG", "DIGEST-VALUE", "k", "l", "p"))), 1, "all of them are one filter")
        same(client.good("BF.INFO", "k")[::2],
             ["Capacity", "Size", "Number of filters", "Number of items inserted", "Expansion rate"], "RedisBloom's fields")
        same(client.good("BF.INFO", "k", "ERROR"), [b"0.01"])
        same(client.good("BF.INFO", "k", "MAXSCALEDCAPACITY")[0] > 1000000, True)
        same(redis.client(3).good("BF.EXISTS", "k", items(1)[0]), True, "a boolean")
        refused(client("BF.INFO", "k", "text"), "Invalid information value")
        refused(client("BF.INSERT", "v", "VALIDATE", 5, "ITEMS", "x"), "Unknown argument received")
        refused(client("BF.INSERT", "v", "VALIDATESCALETO", 10 ** 12, "ITEMS", "x"), "ERR provided VALIDATESCALETO causes")
        same(client.good("BF.INSERT", "v", "VALIDATESCALETO", 10 ** 6, "ITEMS", "x"), [1], "a filter of the store")
        same(client.good("TYPE", "v"), "MBbloom--")
        has_filters(redis, ["v"], "of these, the store has one")
        refused(client("BF.SCANDUMP", "k", 0), "ERR a filter of valkey-bloom has no pieces")
        for words in (("INFO", "k"), ("EXCEPT", "k", "ADD", "x"), ("DETACH", "k"), ("ADD", "k", "x"), ("MERGE", "v", "k")):
            refused(client(f"TAMIS.{words[0]}", *words[1:]), "ERR tamis: this is a filter of valkey-bloom")
        refused(client("TAMIS.SETBIT", "k", 1, 1), "WRONGTYPE")
        refused(client("BF.LOADCHUNK", "k", 1, "x"), "ERR received bad data")
        client.good("RENAME", "k", "renamed")
        client.good("MOVE", "renamed", 1)
        client.good("SWAPDB", 0, 1)
        same(client.good("BF.EXISTS", "renamed", items(1)[0]), 1, "in step with its key")


def filters_of_the_store_are_told_as_its_own():
    """Without tamis.exact BF.* makes filters of the store, under valkey-bloom's type."""
    with served("like", "valkey") as (redis, client):
        same(client.good("BF.INSERT", "k"), [])
        same(client.good("BF.INSERT", "k", "ITEMS", "x", "x"), [1, 0])
        same(client.good("TYPE", "k"), "bloomfltr")
        told = client.good("BF.INFO", "k")
        same(told[:2] + told[6:12] + told[14:], ["Capacity", 100, "Number of items inserted", 1, "Error rate", b"0.01",
                                                 "Expansion rate", 2, "Max scaled capacity", 26214300])
        has_filters(redis, ["k"], "a local process sees it")
        same(client.good("TAMIS.CHECK", "k", "x", "y"), [1, 0])
        refused(client("BF.RESERVE", "v", "0.01", 2 ** 63 - 1), "ERR operation exceeds bloom object memory limit")
        client.good("BF.RESERVE", "n", "0.01", 2, "NONSCALING")
        same(client.good("BF.MADD", "n", 1, 2, 3, 4)[-1], "ERR non scaling filter is full")
        client.good("RESTORE", "copy", 0, client.good("DUMP", "k"))
        client.good("COPY", "k", "copy2")
        same(len(set(client.good("DEBUG", "DIGEST-VALUE", "k", "copy", "copy2"))), 1, "the same bits")
        same(client.good("TYPE", "copy2"), "bloomfltr")
        client.good("CONFIG", "SET", "tamis.like", "redisbloom")
        client.good("BF.ADD", "other", "x")
        same((client.good("TYPE", "other"), client.good("TYPE", "k")), ("MBbloom--", "bloomfltr"), "the type is that of its making")
        same(client.good("BF.INFO", "k", "CAPACITY"), [100], "an array of one")


def settings_have_the_names_of_valkey_bloom():
    arguments = ("bf.bloom-capacity", "500", "bloom-tightening-ratio", "0.25", "bloom-defrag-enabled", "no", "bf.bloom-expansion", "0")
    with served(*LIKE, *arguments) as (_, client):
        client.good("BF.ADD", "k", "x")
        same(client.good("BF.INFO", "k", "CAPACITY"), 500)
        same(client.good("BF.INFO", "k", "EXPANSION"), None)
        client.good("CONFIG", "SET", "BF.bloom-expansion", "3", "bf.bloom-fp-rate", "0.75", "bf.bloom-use-random-seed", "no")
        same(b"0.75" in client.good("CONFIG", "GET", "maxclients", "bf.bloom-fp-rate"), True, "a name of valkey-bloom is asked")
        same(client.good("CONFIG", "GET", "tamis.use-random-seed")[1], b"no")
        client.good("BF.ADD", "l", "x")
        client.good("BF.ADD", "m", "x")
        same((client.good("BF.INFO", "l", "ERROR"), client.good("BF.INFO", "l", "TIGHTENING")), (b"0.75", b"0.25"))
        same(len(set(client.good("DEBUG", "DIGEST-VALUE", "l", "m"))), 1, "both have the fixed seed")
        for name, range_ in (("fp-rate", "error rate"), ("tightening-ratio", "tightening ratio")):
            answer = client("CONFIG", "SET", f"bf.bloom-{name}", "1.5")
            same(answer.split(" - ")[1], f"ERR (0 < {range_} range < 1)", name)
        client.good("CONFIG", "SET", "bf.bloom-memory-usage-limit", "384")
        refused(client("BF.RESERVE", "v", "0.01", 101), "ERR operation exceeds bloom object memory limit")
        client.good("BF.RESERVE", "v", "0.01", 100)
        added = client("BF.MADD", "v", *range(200))
        same((len(added) < 105, str(added[-1])), (True, "ERR operation exceeds bloom object memory limit"), "no second layer")
        client.good("CONFIG", "SET", "bf.bloom-memory-usage-limit", "1mb")
        same(client.good("BF.ADD", "v", "one more key"), 1)


def damaged_payloads_are_refused():
    blob = next(vectors())[6]
    layers = layers_of(blob)
    head = layers[0][0]

    def changed(at, data):
        return [(head[:at] + data + head[at + len(data):], *layers[0][1:])] + layers[1:]

    payloads = {
        "no layer": payload_of(blob, count=0), "fewer layers than it says": payload_of(blob, count=9),
        "another encoding version": payload_of(blob, version=2), "a seed that is maybe drawn": payload_of(blob, random=2),
        "a layer of version 2": payload_of(blob, changed(0, b"\2")), "bits of another length": payload_of(blob, changed(1, b"\1")),
        "no hashes": payload_of(blob, changed(9, bytes(4))), "hashes to keep a server busy": payload_of(blob, changed(9, b"\xff" * 4)),
        "another seed": payload_of(blob, changed(13, b"another")), "a head alone": payload_of(blob, [(head[:45], 1, 1)]),
        "a short head": payload_of(blob, [(head[:44], 1, 1)]), "no capacity": payload_of(blob, [(head, 0, 0)]),
        "no rate": payload_of(blob[:5] + bytes(8) + blob[13:]), "a ratio of 1": payload_of(blob[:13] + struct.pack("<d", 1) + blob[21:]),
    }
    with served(*LIKE) as (_, client):
        for what, payload in payloads.items():
            refused(client("RESTORE", "k", 0, payload), "ERR Bad data format", what)
        for at in range(1, len(blob)):
            refused(client("BF.LOAD", "k", blob[:at]), "ERR bloom object decoding failed", f"{at} bytes of a blob")
        refused(client("BF.LOAD", "k", blob + b"x"), "ERR bloom object decoding failed", "a byte behind it")
        refused(client("BF.LOAD", "k", b"\2" + blob[1:]), "ERR bloom object decoding failed. Unsupported version")
        refused(client("BF.LOAD", "k", blob[:5] + bytes(8) + blob[13:]), "ERR (0 < error rate range < 1)")
        client.good("CONFIG", "SET", "tamis.memory-usage-limit", 300)
        refused(client("BF.LOAD", "k", blob), "ERR operation exceeds bloom object memory limit")
        client.good("RESTORE", "k", 0, payload_of(blob))


run(answers_are_those_of_valkey_bloom, filters_are_those_of_valkey_bloom, a_filter_grows_by_layers,
    all_ways_of_saving_bring_a_filter_back, replicas_have_the_same_bits, words_of_valkey_bloom_are_known_without_the_setting,
    filters_of_the_store_are_told_as_its_own, settings_have_the_names_of_valkey_bloom, damaged_payloads_are_refused)
