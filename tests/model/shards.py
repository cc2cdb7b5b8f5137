#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""shards.py [--seed S]: how unevenly the shards of a filter fill, and what that does to the false-positive rate; and the
rate over time of filters that grow and of windows.  It prints the tables of docs/cluster.md.

shards.py --check TAMIS [--seed S]: the same formulas beside real filters: eight shards are made with the command TAMIS and
filled by the rule of docs/cluster.md.  Seen to fail: with Bloom's formula, which takes all blocks for equally full, a shard
has a rate of 0.32 %, and not the 0.48 % of its sizing.

The keys of shards are drawn: a shard of n/N keys on average gets a Poisson number of them, which is the multinomial law for
many shards.  The rate of kind blocked is the mixture of docs/sizing.md (Putze, Sanders, Singler 2007).
"""
import argparse
import functools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

BLOCK_BITS = 512
GEOMETRIES = ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 4))  # k, words of a block that a key uses
SMALL, LARGE = 65536, 2 ** 20  # no segment after the first is for fewer keys; none after one of 65,536 for fewer than 2^20


def distinct(picks, bits=64):
    """The chances that so many picks of a word's bits hit 0, 1, 2... different ones."""
    chances = [1.0]
    for _ in range(picks):
        after = [0.0] * (len(chances) + 1)
        for hit, chance in enumerate(chances):
            after[hit] += chance * hit / bits
            after[hit + 1] += chance * (bits - hit) / bits
        chances = after
    return chances


@functools.lru_cache(maxsize=None)
def let_in(k, words, keys):
    """The chance that a block with so many keys lets a stranger in."""
    q = k // words
    group = 8 / words
    stays = [1 - (1 - (1 - i / 64) ** q) / group for i in range(q + 1)]
    one = sum(chance * sum((-1) ** i * math.comb(d, i) * stays[i] ** keys for i in range(d + 1))
              for d, chance in enumerate(distinct(q)))
    return max(one, 0.0) ** words


@functools.lru_cache(maxsize=None)
def rate(k, words, load):
    """The false-positive rate with this many keys a block on average."""
    if load <= 0:
        return 0.0
    total = 0.0
    for keys in range(int(load + 12 * math.sqrt(load) + 20)):
        total += math.exp(keys * math.log(load) - load - math.lgamma(keys + 1)) * let_in(k, words, keys)
    return total


@functools.lru_cache(maxsize=None)
def sized(p):
    """The geometry with the fewest bits for a rate, and the keys a block that it holds."""
    best = (0, 0, 0.0)
    for k, words in GEOMETRIES:
        low, high = 0.1, 200.0
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (middle, high) if rate(k, words, middle) <= p else (low, middle)
        best = max(best, (k, words, low), key=lambda g: g[2])
    return best


def segments(capacity, p):
    """Capacity and rate of a filter's first segment and of those that it grows by."""
    share = p * (0.5 if capacity >= SMALL else 0.1)
    left = p - share
    yield capacity, share
    while True:
        capacity = max(2 * capacity, SMALL if capacity < SMALL else LARGE)
        share = left * (0.12 if capacity < LARGE else 0.3 if capacity == LARGE else 0.4)
        left -= share
        yield capacity, share


def rate_of(capacity, p, keys):
    """The rate of a filter that grows, with so many keys in it, rounded to 1/200 of a segment's capacity."""
    absent = 1.0
    for room, share in segments(capacity, p):
        k, words, load = sized(share)
        took = min(keys, room)
        absent *= 1 - rate(k, words, load * round(200 * took / room) / 200)
        keys -= took
        if keys <= 0:
            return 1 - absent


def poisson(mean):
    return max(0, round(random.gauss(mean, math.sqrt(mean))))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def imbalance(p):
    rows = []
    for keys, shards in ((10 ** 7, 64), (10 ** 10, 1024), (10 ** 11, 2048), (10 ** 12, 32768)):
        mean = keys / shards
        capacity = math.ceil(mean + 4 * math.sqrt(mean))
        counts = [poisson(mean) for _ in range(shards)]
        whole = sum(rate_of(capacity, p, count) for count in counts) / shards
        rows.append((f"{keys:.0e}".replace("e+", "e"), f"{shards:,}", f"{min(counts) / mean:.5f}",
                     f"{max(counts) / mean:.5f}", str(sum(count > capacity for count in counts)),
                     f"{whole:.5%}", f"{rate_of(capacity, p, round(mean)):.5%}"))
    print(f"Shards of a filter made for {p:.1%}, when it holds the keys that it was made for:\n")
    table(("keys", "shards", "emptiest, of the mean", "fullest", "shards that grew", "rate of the whole",
           "rate if all were even"), rows)


def growth(p):
    capacity, shards = 10 ** 9, 64
    mean = capacity / shards
    room = math.ceil(mean + 4 * math.sqrt(mean))
    rows = []
    for share in (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.5, 2, 3, 5, 10, 30):
        whole = sum(rate_of(room, p, poisson(mean * share)) for _ in range(shards)) / shards
        rows.append((f"{share:g}", f"{whole:.4%}", f"{whole / p:.2f}"))
    print(f"A filter for 1e9 keys at {p:.1%} in {shards} shards, while it fills and grows:\n")
    table(("keys, of the capacity", "rate", "of the rate asked for"), rows)


def window(p):
    """Ten slices and the one being filled; a day of the week has its own traffic."""
    slices, mean = 10, 10 ** 6
    share = p / (slices + 1)
    room = math.ceil(mean * 1.1)
    live, rows = [], []
    for day in range(22):
        traffic = mean * (0.6 if day % 7 in (5, 6) else 1.16)
        if day == 14:
            traffic *= 3  # a rush: that slice grows
        live = (live + [poisson(traffic)])[-(slices + 1):]
        absent = 1.0
        for keys in live:
            absent *= 1 - rate_of(room, share, keys)
        if day in (0, 1, 4, 9, 10, 13, 14, 18, 21):
            rows.append((str(day + 1), f"{sum(live):,}", f"{1 - absent:.4%}", f"{(1 - absent) / p:.2f}"))
    print(f"A window of {slices} days at {p:.1%} for 11 million keys, at the end of a day; weekends are quiet, day 15 is a rush:\n")
    table(("day", "keys remembered", "rate", "of the rate asked for"), rows)


# ---- Beside real filters -------------------------------------------------------------------------


def run(tamis, store, *words, keys=None):
    text = None if keys is None else b"".join(b"%s\n" % key for key in keys)
    done = subprocess.run([tamis, "--store", store, *words], input=text, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"tamis {' '.join(words)}: {done.stderr.decode()}")
    return done.stdout


def within(what, got, want, deviation):
    print(f"{what}: {got:.6g}, expected {want:.6g}, standard deviation {deviation:.3g}")
    if abs(got - want) > 5 * deviation:
        sys.exit(f"shards.py: {what} is {abs(got - want) / deviation:.1f} standard deviations off")


def check(tamis):
    import xxhash  # Debian: python3-xxhash
    shards, keys, strangers, p = 8, 800_000, 400_000, 0.01
    shard = lambda key: ((xxhash.xxh3_64_intdigest(key) >> 32) * shards) >> 32
    mark = random.getrandbits(32)
    parts, asked = [[] for _ in range(shards)], [[] for _ in range(shards)]
    for i in range(keys):
        key = b"https://example.org/%d/%d" % (mark, i)
        parts[shard(key)].append(key)
    for i in range(strangers):
        key = b"https://example.org/%d/stranger/%d" % (mark, i)
        asked[shard(key)].append(key)
    mean = keys / shards
    capacity = math.ceil(mean + 4 * math.sqrt(mean))
    hits, expected = 0, 0.0
    with tempfile.TemporaryDirectory(prefix="tamis-shards-") as store:
        for i in range(shards):
            within(f"keys of shard {i}", len(parts[i]), mean, math.sqrt(mean * (1 - 1 / shards)))
            run(tamis, store, "create", f"s{i}", "-n", str(capacity), "-p", str(p), "--seed", "1")
            run(tamis, store, "add", f"s{i}", keys=parts[i])
            segment = json.loads(run(tamis, store, "info", "--json", f"s{i}"))["segments"][0]
            load = segment["items"] * BLOCK_BITS / segment["m_bits"]
            truth = rate(segment["k"], segment["words"], load)
            model = rate_of(capacity, p, len(parts[i]))
            if abs(model / truth - 1) > 0.05:
                sys.exit(f"shards.py: shard {i} should have a rate of {model:.3%} by its sizing, and has {truth:.3%}")
            expected += truth * len(asked[i])
            hits += run(tamis, store, "check", f"s{i}", keys=asked[i]).count(b"\n")
    within("strangers let in", hits, expected, math.sqrt(expected))
    if hits / strangers > p:
        sys.exit("shards.py: the rate of the whole is worse than what was asked for")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", metavar="TAMIS")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    print(f"seed {arguments.seed}\n")
    if arguments.check:
        check(os.path.abspath(arguments.check))
        return
    imbalance(0.001)
    growth(0.001)
    window(0.001)


if __name__ == "__main__":
    main()
