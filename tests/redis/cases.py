# SPDX-License-Identifier: BSD-2-Clause
"""cases.py MODULE TAMIS: the answers of RedisBloom, case by case, in RESP2 and RESP3.

It was seen to fail for an error rate of 0 that was accepted, and for BF.INFO's single field as a map in RESP2.
"""
import math
import random

from case_files import ask
from harness import run, same, served, server


def ask_all(name, resp):
    with server("exact", "yes") as redis:
        client = redis.client(resp)
        client.good("SET", "s", "v")
        words = {}
        if name == "bf_cases.txt":  # the two chunks of a filter as the case that makes `i` has it
            client.good("BF.RESERVE", "i", "0.001", "100")
            words["HDR"] = client.good("BF.SCANDUMP", "i", "0")[1]
            words["DATA"] = client.good("BF.SCANDUMP", "i", "1")[1]
            client.good("DEL", "i")
        ask(client, name, resp, words)


def bloom_answers_as_redisbloom():
    for resp in (2, 3):
        ask_all("bf_cases.txt", resp)


def cuckoo_answers_as_redisbloom():
    for resp in (2, 3):
        ask_all("cf_cases.txt", resp)


def layers_of(rate, capacity, growth, items):
    """The lines of BF.DEBUG for a filter of RedisBloom with so many items; growth 0: it does not scale."""
    lines, rate = [f"size:{items}"], rate if growth == 0 else rate / 2
    while True:
        per_entry = -math.log(rate) / 0.480453013918201
        bits = max(1, int(capacity * per_entry))
        bits += -bits % 64
        held = min(items, capacity)
        lines.append(f"bytes:{bits // 8} bits:{bits} hashes:{math.ceil(0.693147180559945 * per_entry)} hashwidth:64 "
                     f"capacity:{capacity} size:{held} ratio:{rate:g}")
        items -= held
        if items == 0:
            return lines
        capacity, rate = capacity * growth, rate / 2


def shapes_are_those_of_redisbloom():
    """BF.RESERVE with numbers of all sizes; as many items as are new are added."""
    seeded = random.Random(5)
    with served("exact", "yes") as (_, client):
        for number in range(60):
            rate = seeded.choice((0.25, 0.2499, 0.1, 0.01, 1e-3, 1e-9, seeded.uniform(1e-6, 0.25),
                                  10 ** -seeded.uniform(1, 12)))
            capacity = seeded.choice((1, 2, 7, 63, 64, 65, 100, seeded.randrange(1, 2000)))
            growth = seeded.choice((0, 1, 2, 2, 3, 5, 32768))
            words = ["NONSCALING"] if growth == 0 else [] if growth == 2 else ["EXPANSION", growth]
            client.good("BF.RESERVE", "k", repr(rate), capacity, *words)
            most = {0: capacity + 1, 1: 3 * capacity}.get(growth, 4 * capacity + 20)
            wanted = seeded.randrange(most)
            if wanted:
                client.good("BF.MADD", "k", *range(wanted))
            items = client.good("BF.CARD", "k")
            same([line.decode() for line in client.good("BF.DEBUG", "k")], layers_of(rate, capacity, growth, items),
                 f"{number}: {rate} {capacity} {words}")
            client.good("DEL", "k")


run(bloom_answers_as_redisbloom, cuckoo_answers_as_redisbloom, shapes_are_those_of_redisbloom)
