# SPDX-License-Identifier: BSD-2-Clause
"""cuckoo_exact.py MODULE TAMIS: with tamis.exact, CF.* are RedisBloom's cuckoo filters, slot for slot.  model.py has dumps, copies and replicas of them.

It was seen to fail for a fingerprint that was not put back after an eviction that ended nowhere, for a
compaction that began with the oldest sub-filter, and for sub-filters that were dumped newest first.
"""
import random

from cuckoo_model import Cuckoo, Full, murmur
from harness import has_filters, refused, run, same, served
from rdb_payload import CUCKOO, module_value, string, unsigned

SHAPES = ((4, 2, 20, 1), (8, 1, 5, 2), (64, 4, 50, 3), (100, 3, 1, 1), (16, 2, 20, 0), (1000, 2, 20, 4))


def dump(client, key):
    return client.chunks("CF.SCANDUMP", key)


def act(client, model, seeded):
    """One command, and what the model says to it."""
    item = f"item {seeded.randrange(300)}"
    what = seeded.random()
    if what < 0.55:
        try:
            model.add(item.encode())
            same(client.good("CF.ADD", "c", item), 1, "CF.ADD")
        except Full:
            same(client("CF.ADD", "c", item), "Filter is full", "CF.ADD")
    elif what < 0.85:
        same(client.good("CF.DEL", "c", item), model.remove(item.encode()), "CF.DEL")
    elif what < 0.86:
        model.compact()
        client.good("CF.COMPACT", "c")
    else:
        same(client.good("CF.COUNT", "c", item), model.count(item.encode()), "CF.COUNT")
        same(client.good("CF.MEXISTS", "c", item, "x"), [model.contains(item.encode()), model.contains(b"x")], "")


def every_slot_is_as_in_a_second_implementation():
    same([murmur(text) for text in (b"", b"a", b"foo", b"item1")],
         [0, 0x071717D2D36B6B11, 0xCDDE38358FD25B01, 0x7930A108C52A9032], "MurmurHash64A")
    with served("exact", "yes", "cf-max-expansions", 1000) as (_, client):
        for number, shape in enumerate(SHAPES):
            seeded = random.Random(number)
            capacity, bucket_size, most, expansion = shape
            model = Cuckoo(*shape)
            client.good("CF.RESERVE", "c", capacity, "BUCKETSIZE", bucket_size, "MAXITERATIONS", most, "EXPANSION",
                        expansion)
            for _ in range(8):
                for _ in range(250):
                    act(client, model, seeded)
                chunks = dump(client, "c")
                if model.items == 0:
                    continue
                same(chunks[0], (1, model.head()), f"seed {number}: the head")
                same(b"".join(data for _, data in chunks[1:]), b"".join(model.slots()), f"seed {number}: the slots")
            client.good("DEL", "c")


def sub_filters_are_made_as_there():
    """Numbers of RedisBloom: 1,000 items in filters of several shapes."""
    with served("exact", "yes") as (_, client):
        for words, made in ((("64", "BUCKETSIZE", 1), 18), (("64",), 17), (("64", "EXPANSION", 2), 5),
                            (("256", "BUCKETSIZE", 4, "MAXITERATIONS", 500), 4),
                            (("64", "EXPANSION", 4, "MAXITERATIONS", 500), 3)):
            client.good("CF.RESERVE", "c", *words)
            for i in range(1000):
                same(client.good("CF.ADD", "c", i), 1, "CF.ADD")
            same(client.good("CF.INFO", "c")[5], made, f"{words}")
            same(sum(client.good("CF.MEXISTS", "c", *range(1000))), 1000, "all are there")
            client.good("DEL", "c")
        client.good("CF.RESERVE", "c", 4)
        for i in range(124):
            same(client.good("CF.ADD", "c", i), 1, "CF.ADD")
        refused(client("CF.ADD", "c", 124), "Maximum expansions reached")
        refused(client("CF.ADDNX", "c", 0), "Maximum expansions reached")


def redisblooms_payloads_are_restored():
    model = Cuckoo(8, 2, 20, 2)
    for i in range(40):
        model.add(b"%d" % i)
    slots = model.slots()
    parts = [unsigned(len(slots)), unsigned(model.first), unsigned(40)]
    sizes = [unsigned(number) for number in (0, 2, 20, 2)]
    each = [part for data in slots for part in (unsigned(len(data) // 2), string(data))]
    with served("cf-bucket-size", 2) as (redis, client):
        client.good("RESTORE", "c", 0, module_value(CUCKOO, *parts, *sizes, *each))
        same(dump(client, "c")[0][1], model.head(), "the head")
        same(b"".join(data for _, data in dump(client, "c")[1:]), b"".join(slots), "the slots")
        old = [unsigned(2), unsigned(4), unsigned(0), string(b"\1" * 8), string(bytes(8))]
        client.good("RESTORE", "old", 0, module_value(CUCKOO - 1, *old))
        same(client.good("CF.INFO", "old")[1:6:2], [40 + 32 + 16, 4, 2], "encoding version 3")
        client.good("RESTORE", "seed", 0, module_value(CUCKOO + 1, *parts, *sizes, *each, unsigned(0)))
        same(dump(client, "seed"), dump(client, "c"), "encoding version 5")
        refused(client("RESTORE", "lie", 0, module_value(CUCKOO + 1, *parts, *sizes, *each, unsigned(1))),
                "ERR Bad data format")
        same("a seed of its own" in redis.log(), True, "the log has the reason")
        lies = ([unsigned(1 << 60)] + parts[1:] + sizes + each, parts + sizes + each[:-2], [unsigned(0)] + parts[1:] + sizes,
                parts + sizes + each[:-1] + [string(slots[-1][:-1])], parts + sizes[:1] + [unsigned(0)] + sizes[2:] + each,
                parts[:1] + [unsigned(3)] + parts[2:] + sizes + each, parts + sizes[:3] + [unsigned(32768)] + each)
        for lie in lies:
            refused(client("RESTORE", "lie", 0, module_value(CUCKOO, *lie)), "ERR Bad data format")
        has_filters(redis, [], "the store has nothing of it")
        same(client.good("MEMORY", "USAGE", "c") > len(b"".join(slots)), True, "MEMORY USAGE")


def heads_and_pieces_that_lie_are_refused():
    with served("max-bytes", 1 << 20) as (_, client):
        head = Cuckoo(4).head()
        for at, byte in ((32, 0), (34, 0), (8, 3), (24, 0), (15, 0xFF), (27, 1), (31, 1), (11, 0x10)):
            lie = bytearray(head)
            lie[at] = byte
            if at == 34:
                lie[35] = 0
            refused(client("CF.LOADCHUNK", "c", 1, bytes(lie)), "Couldn't create filter!", f"byte {at}")
        seeded = bytearray(head + bytes(8))
        refused(client("CF.LOADCHUNK", "c", 1, bytes(seeded)), "Couldn't create filter!", "no flag")
        seeded[31] = 0x80
        client.good("CF.LOADCHUNK", "seeded", 1, bytes(seeded))
        seeded[38] = 1
        refused(client("CF.LOADCHUNK", "c", 1, bytes(seeded)), "Couldn't create filter!", "a seed")
        client.good("CF.LOADCHUNK", "c", 1, head)
        for iterator, data in ((5, b"abcde"), (6, b"abc"), (-5, b"a"), (2, b""), (1 << 62, b"a"), (9, b"abcd")):
            refused(client("CF.LOADCHUNK", "c", iterator, data), "Couldn't load chunk!", f"{iterator}")
        client.good("CF.LOADCHUNK", "c", 4, b"abc")
        client.good("CF.LOADCHUNK", "c", 5, b"d")
        client.good("CF.ADD", "c", "x")
        same(client.good("CF.SCANDUMP", "c", 1)[1][:4], b"abcd", "the pieces")
        refused(client("CF.SCANDUMP", "c", -1), "Invalid position")


run(every_slot_is_as_in_a_second_implementation, sub_filters_are_made_as_there, redisblooms_payloads_are_restored,
    heads_and_pieces_that_lie_are_refused)
