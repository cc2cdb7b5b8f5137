# SPDX-License-Identifier: BSD-2-Clause
"""dumps.py MODULE TAMIS: filters that move by BF.SCANDUMP, BF.LOADCHUNK and RESTORE, and payloads that lie.

It was seen to fail for a piece that was read past its segment, for RedisBloom's payload without its growth, without
read_ahead() of rdb.c, and for a value of kind counting under the type of BF.*.  tests/fuzz has these loaders without
a server, and 100,000 mutated payloads.
"""
import random
import resource
import struct

from harness import eventually, filters, has_filters, refused, run, same, served, server
from rdb_payload import BLOOM, CUCKOO, bloom, bloom_layers, closed, double, module_value, string, unsigned
from redis_client import Error

ITEMS = [f"item {i}" for i in range(400)]


def scan(client, key):
    return client.chunks("BF.SCANDUMP", key)


def layers_of(client, key):
    """A filter of RedisBloom as its payload has it, from its dump."""
    chunks = scan(client, key)
    return bloom_layers(chunks[0][1], b"".join(chunk for _, chunk in chunks[1:]))


def chunks_that_fit_nowhere_are_refused():
    """model.py has those that fit."""
    for exact in ("yes", "no"):
        with served("exact", exact) as (_, client):
            client.good("BF.RESERVE", "k", "0.01", 50, "EXPANSION", 3)
            client.good("BF.MADD", "k", *ITEMS)
            end = scan(client, "k")[1][0]
            refused(client("BF.LOADCHUNK", "none", 5, b"data"), "ERR not found")
            refused(client("BF.LOADCHUNK", "k", 1 << 40, b"data"), "ERR invalid offset - no link found")
            refused(client("BF.LOADCHUNK", "k", 4, b"data"), "ERR invalid offset - no link found")
            refused(client("BF.LOADCHUNK", "k", end + 2, b"data"), "ERR invalid chunk - Too big")
            same(client.good("BF.SCANDUMP", "k", -1), [0, b""], "a negative iterator")
            same(client.good("BF.SCANDUMP", "k", 2)[0], end, "from the second byte on")


def a_large_filter_comes_in_pieces_of_16_mib():
    with served("exact", "yes") as (_, client):
        client.good("BF.RESERVE", "k", "0.01", 20000000, "NONSCALING")
        same([(iterator, len(data)) for iterator, data in scan(client, "k")],
             [(1, 73), (16777217, 16777216), (23962649, 7185432)], "RedisBloom's pieces")


def redisblooms_payloads_are_restored():
    with served("exact", "yes") as (redis, client):
        client.good("BF.RESERVE", "k", "0.01", 50, "EXPANSION", 3)
        client.good("BF.MADD", "k", *ITEMS)
        layers = layers_of(client, "k")
        client.good("RESTORE", "four", 0, bloom(4, layers, growth=3))
        same(client.good("BF.DEBUG", "four"), client.good("BF.DEBUG", "k"), "encoding version 4")
        same(scan(client, "four"), scan(client, "k"), "byte for byte")
        client.good("CONFIG", "SET", "tamis.like", "valkey")
        client.good("RESTORE", "there", 0, bloom(4, layers, growth=3))
        client.good("CONFIG", "SET", "tamis.like", "redisbloom")
        same(client.good("DUMP", "there"), client.good("DUMP", "four"), "a server like Valkey takes it as RedisBloom's")
        client.good("DEL", "there")
        client.good("RESTORE", "two", 0, bloom(2, layers))
        same(client.good("BF.INFO", "two", "EXPANSION"), [2], "before version 4 all grew by 2")
        usual = 0xC6A4A7935BD1E995
        client.good("RESTORE", "five", 0, bloom(5, layers, growth=3, seed=usual))
        same(scan(client, "five"), scan(client, "k"), "version 5 with the usual seed")
        refused(client("RESTORE", "five", 0, bloom(5, layers, growth=3, seed=7), "REPLACE"), "ERR Bad data format")
        chunks = scan(client, "k")
        head = bytearray(chunks[0][1] + struct.pack("<Q", usual))
        head[15] |= 0x80
        for iterator, data in [(1, bytes(head))] + chunks[1:]:
            client.good("BF.LOADCHUNK", "seeded", iterator, data)
        same(scan(client, "seeded"), chunks, "a head with the usual seed")
        refused(client("BF.LOADCHUNK", "none", 1, bytes(head[:-1]) + b"\0"), "ERR received bad data")
        for encver in (0, 1):  # they hashed to 32 bits, as no options say otherwise
            refused(client("RESTORE", "old", 0, bloom(encver, layers)), "ERR Bad data format")
        refused(client("RESTORE", "c", 0, module_value(CUCKOO, *[unsigned(1)] * 7)), "ERR Bad data format")
        for number, kind in enumerate((BLOOM, CUCKOO), 1):
            refused(client("RESTORE", "c", 0, module_value(kind - 4 + 256, *[unsigned(1)] * 7)), "ERR Bad data format")
            same(redis.log().count("the dump is of the module of Tamis 0.x"), number, "the log says what to do")
        eventually(lambda: filters(redis) == ["five", "four", "k", "seeded", "two"], "nothing is left of those that were refused")


def payloads_that_lie_are_refused():
    """Mutated heads, chunks and payloads with a right checksum: errors, and the server goes on."""
    seeded = random.Random(11)
    with served("exact", "yes", "max-bytes", 1 << 20) as (redis, client):
        client.good("BF.RESERVE", "k", "0.01", 50)
        client.good("BF.MADD", "k", *ITEMS[:100])
        layers = layers_of(client, "k")
        theirs = bloom(4, layers)[:-10]
        ours = client.good("DUMP", "k")[:-10]
        heads = [scan(client, "k")[0][1]]
        good = 0
        for _ in range(400):
            body = bytearray(seeded.choice((theirs, ours, heads[0])))
            for _ in range(seeded.choice((1, 1, 2, 5))):
                at = seeded.randrange(len(body))
                body[at] = seeded.choice((0, 1, 0x7F, 0xFF, body[at] ^ 1 << seeded.randrange(8)))
            if seeded.random() < 0.2:
                del body[seeded.randrange(len(body)):]
            body = bytes(body)
            if len(body) < 200 and not body.startswith(b"\x07"):
                answer = client("BF.LOADCHUNK", "v", 1, body)
            else:
                answer = client("RESTORE", "v", 0, closed(body))
            if not isinstance(answer, Error):
                good += 1
                for words in (("BF.INFO", "v"), ("BF.ADD", "v", "x"), ("BF.EXISTS", "v", "item 1"), ("DUMP", "v"),
                              ("DEL", "v")):
                    client(*words)
        same(client.good("PING"), "PONG", f"the server is there; {good} mutants were good")
        client.good("FLUSHALL")
        refused(client("RESTORE", "v", 0, bloom(4, layers, count=1 << 40)), "ERR Bad data format")
        refused(client("RESTORE", "v", 0, bloom(4, [])), "ERR Bad data format")
        refused(client("RESTORE", "v", 0, module_value(BLOOM - 4 + 300, unsigned(1))), "ERR Bad data format")
        head = bytearray(heads[0])
        struct.pack_into("<QQ", head, 20, 1 << 40, 1 << 43)
        refused(client("BF.LOADCHUNK", "v", 1, bytes(head)), "ERR received bad data")
        refused(client("BF.RESERVE", "v", "0.0001", 1 << 30), "ERR Insufficient memory to create filter")
        eventually(lambda: filters(redis) == [], "nothing is left over")


def a_head_that_claims_more_than_comes_makes_no_file():
    with served() as (redis, client):
        # A file that becomes larger ends the server.
        resource.prlimit(redis.process.pid, resource.RLIMIT_FSIZE, (32 << 20, 32 << 20))
        capacity, bits = 60000000, 8 << 29
        payload = module_value(BLOOM, *[unsigned(n) for n in (3, 0, 2, 2, capacity, 1, 0)], double(0.01), unsigned(capacity),
                               double(0.005), *[unsigned(n) for n in (7, bits, 1, 1, 1, 0, 0)], string(bytes(3 << 19)),
                               unsigned(0))
        refused(client("RESTORE", "k", 0, payload), "ERR Bad data format")
        has_filters(redis, [], "nothing is left")


def values_of_the_other_type_are_refused():
    """A cuckoo filter is none of BF.*."""
    with served(rdbcompression="no") as (redis, client):
        client.good("BF.ADD", "b", "x")
        client.good("CF.ADD", "c", "x")
        for key, other in (("b", CUCKOO), ("c", BLOOM)):
            payload = client.good("DUMP", key)
            changed = payload[:2] + struct.pack(">Q", other) + payload[10:-10]
            refused(client("RESTORE", "other", 0, closed(changed)), "ERR Bad data format", key)
        has_filters(redis, ["b"], "nothing is left")


def payloads_of_one_filter_are_the_same():
    """Of two servers, where the filter is RedisBloom's; seen to fail for a stream, which has times."""
    with server("exact", "yes") as one, server("exact", "yes") as two:
        payloads = []
        for redis in (one, two):
            client = redis.client()
            client.good("BF.RESERVE", "k", "0.01", 50, "EXPANSION", 3)
            client.good("BF.MADD", "k", *ITEMS)
            payloads.append(client.good("DUMP", "k"))
        same(payloads[0] == payloads[1], True, "the payloads")
        client.good("RESTORE", "restored", 0, payloads[0])
        same(client.good("DUMP", "restored") == payloads[0], True, "that of the copy")
        same(client.good("BF.INFO", "restored"), client.good("BF.INFO", "k"), "BF.INFO")
        same(scan(client, "restored"), scan(client, "k"), "byte for byte")
        client.good("BF.MADD", "restored", *[f"more {i}" for i in range(2000)])
        same(client.good("BF.INFO", "restored", "EXPANSION"), [3], "it grows on")
        parts = payloads[0][:-10]
        cut = parts.rindex(b"\x05")  # the last piece, a byte shorter
        refused(client("RESTORE", "lie", 0, closed(parts[:cut] + b"\x05\x01x\x00")), "ERR Bad data format")
        eventually(lambda: filters(two) == ["k", "restored"], "nothing is left of the lie")


def one_that_counts_is_told_where_it_is_not():
    with served() as (_, client), server(repl_diskless_sync_delay=0) as second:
        client.good("TAMIS.RESERVE", "counts", "0.01", 100, "KIND", "counting")
        client.good("BF.ADD", "counts", "x")
        second.client().good("RESTORE", "counts", 0, client.good("DUMP", "counts"))
        refused(second.client()("BF.EXISTS", "counts", "x"), "ERR the filter cannot be opened: it counts", "another server")
        same(second.client().good("DEL", "counts"), 1, "DEL")
        same(client.good("TAMIS.COUNT", "counts", "x"), [1], "its own server")


run(chunks_that_fit_nowhere_are_refused, one_that_counts_is_told_where_it_is_not, a_large_filter_comes_in_pieces_of_16_mib,
    redisblooms_payloads_are_restored,
    payloads_that_lie_are_refused, a_head_that_claims_more_than_comes_makes_no_file,
    values_of_the_other_type_are_refused, payloads_of_one_filter_are_the_same)
