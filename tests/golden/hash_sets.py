# SPDX-License-Identifier: BSD-2-Clause
"""The hash sets but xxh3 as docs/hash-sets.md tells them, as a check of that page; for reader.py.

positions_of(hash_set, parameters, seed, key, m, k) gives what `tamis explain` shows: the raw values as
text, and the positions.
"""
import functools
import hashlib
import zlib

import xxhash

MASK = (1 << 64) - 1

# The same keys are asked for in many filters, and again when answers are explained.
remembered = functools.lru_cache(maxsize=1 << 17)


# ---- php: PHP's ints of 64 bits, which become floats when a result does not fit -----------------

def signed(value):
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def to_int(value):
    """A double modulo 2^64, without its fraction."""
    return signed(int(value)) if isinstance(value, float) else value


def fitting(exact, inexact):
    return exact if -(1 << 63) <= exact < 1 << 63 else inexact


def plus(a, b):
    inexact = float(a) + float(b)
    return inexact if float in (type(a), type(b)) else fitting(a + b, inexact)


def minus(a, b):
    inexact = float(a) - float(b)
    return inexact if float in (type(a), type(b)) else fitting(a - b, inexact)


def times(a, b):
    inexact = float(a) * float(b)
    return inexact if float in (type(a), type(b)) else fitting(a * b, inexact)


def left(a, bits):
    return signed(to_int(a) << bits)


def remainder(a, b):
    """With the sign of a."""
    return abs(to_int(a)) % b * (-1 if to_int(a) < 0 else 1)


@remembered
def js(key):
    h = 1315423911
    for c in key:
        h = h ^ to_int(plus(plus(left(h, 5), c), h >> 2))
    return h


@remembered
def pjw(key):
    h = 0
    for c in key:
        h = plus(left(h, 4), c)
    t = to_int(h) & 0x0FFFFFFFF0000000
    return (to_int(h) ^ t >> 24) & ~0x0FFFFFFFF0000000 if t else h


@remembered
def elf(key):
    h = 0
    for c in key:
        h = plus(left(h, 4), c)
        x = to_int(h) & 0xF0000000
        h = (to_int(h) ^ x >> 24 if x else to_int(h)) & ~x
    return h


@remembered
def bkdr(key):
    h = 0
    for c in key:
        h = to_int(plus(times(h, 131), c))
    return h


@remembered
def sdbm(key):
    h = 0
    for c in key:
        h = to_int(minus(plus(plus(c, left(h, 6)), left(h, 16)), h))
    return h


@remembered
def djb(key):
    h = 5381
    for c in key:
        h = plus(to_int(plus(left(h, 5), h)), c)
    return h


@remembered
def dek(key):
    h = len(key)
    for c in key:
        h = left(h, 5) ^ h >> 27 ^ c
    return h


@remembered
def fnv(key):
    h = 2166136261
    for c in key:
        h = remainder(times(h, 16777619), 0xFFFFFFFF) ^ c
    return h


FUNCTIONS = {1: js, 2: pjw, 3: elf, 4: bkdr, 5: sdbm, 6: djb, 7: dek, 8: fnv}


def php_list(parameters):
    """The ids of the functions; None: no filter has these parameters."""
    count, ids = parameters[0], parameters[1:]
    good = (1 <= count <= 32 and all(i in FUNCTIONS for i in ids[:count]) and not any(ids[count:]))
    return list(ids[:count]) if good else None


def php(parameters, key, m, k):
    values = [FUNCTIONS[i](key) for i in php_list(parameters)]
    assert len(values) == k
    raw = ["float:%.0f" % v if isinstance(v, float) else str(v) for v in values]
    return raw, [(remainder(v, 0xFFFFFFFF) & 0xFFFFFFFF) % m for v in values]


# ---- php-mt, php-mt-legacy ------------------------------------------------------------------------

@functools.lru_cache(maxsize=1 << 12)
def seeded(seed):
    words = [seed]
    for i in range(1, 624):
        words.append((1812433253 * (words[-1] ^ words[-1] >> 30) + i) & 0xFFFFFFFF)
    return tuple(words)


class Twister:
    """MT19937, a word twisted when it is asked for."""

    def __init__(self, seed, legacy):
        self.legacy = legacy
        self.words = list(seeded(seed))
        self.next = 0

    def u32(self):
        words, i = self.words, self.next
        own, neighbour = words[i], words[(i + 1) % 624]
        mixed = (own & 0x80000000 | neighbour & 0x7FFFFFFF) >> 1
        if (own if self.legacy else neighbour) & 1:
            mixed ^= 0x9908B0DF
        y = words[i] = words[(i + 397) % 624] ^ mixed
        self.next = (i + 1) % 624
        y ^= y >> 11
        y ^= y << 7 & 0x9D2C5680
        y ^= y << 15 & 0xEFC60000
        return y ^ y >> 18

    def below(self, m):
        if self.legacy:
            return int((float(m - 1) + 1.0) * ((self.u32() >> 1) / 2147483648.0))
        bits = 32 if m <= 1 << 32 else 64
        top = (1 << bits) - 1
        while True:
            value = self.u32() if bits == 32 else self.u32() | self.u32() << 32
            if m & (m - 1) == 0 or value <= top - top % m - 1:
                return value % m


def mt(legacy, key, m, k):
    crc = zlib.crc32(key)
    twister = Twister(crc, legacy)
    return [str(crc)], [twister.below(m) for _ in range(k)]


# ---- md5, redisbloom, guava -----------------------------------------------------------------------

def md5(key, m, k):
    digests = [hashlib.md5(key + b"%d" % i).hexdigest() for i in range(k)]
    return digests, [int(digest, 16) % m for digest in digests]


def words_of(data):
    return [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]


@remembered
def murmur64a(key, seed):
    multiplier = 0xC6A4A7935BD1E995
    h = seed ^ len(key) * multiplier & MASK
    whole = len(key) // 8 * 8
    for word in words_of(key[:whole]):
        word = word * multiplier & MASK
        word = (word ^ word >> 47) * multiplier & MASK
        h = (h ^ word) * multiplier & MASK
    if whole < len(key):
        h = (h ^ words_of(key[whole:])[0]) * multiplier & MASK
    h = (h ^ h >> 47) * multiplier & MASK
    return h ^ h >> 47


def redisbloom(key, m, k):
    a = murmur64a(key, 0xC6A4A7935BD1E995)
    b = murmur64a(key, a)
    return ["%016x" % a, "%016x" % b], [(a + i * b & MASK) % m for i in range(k)]


def rotate(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def murmur128_mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def murmur128(key, seed=0):
    """MurmurHash3_x64_128 with seed 0."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    for i in range(0, len(key), 16):
        block = key[i:i + 16]
        low, high = (words_of(block) + [0])[:2]
        h1 ^= rotate(low * c1 & MASK, 31) * c2 & MASK
        if len(block) < 16:
            h2 ^= rotate(high * c2 & MASK, 33) * c1 & MASK
            break
        h1 = (rotate(h1, 27) + h2) * 5 + 0x52DCE729 & MASK
        h2 ^= rotate(high * c2 & MASK, 33) * c1 & MASK
        h2 = (rotate(h2, 31) + h1) * 5 + 0x38495AB5 & MASK
    h1, h2 = h1 ^ len(key), h2 ^ len(key)
    h1 = h1 + h2 & MASK
    h2 = h2 + h1 & MASK
    h1, h2 = murmur128_mix(h1), murmur128_mix(h2)
    h1 = h1 + h2 & MASK
    return h1, h2 + h1 & MASK


def guava(key, m, k):
    h1, h2 = murmur128(key)
    raw = h1.to_bytes(8, "little") + h2.to_bytes(8, "little")
    return [raw.hex()], [(h1 + i * h2 & MASK >> 1) % m for i in range(k)]


# ---- spark-v1, spark-v2 ---------------------------------------------------------------------------

def rotate32(x, bits):
    return (x << bits | x >> (32 - bits)) & 0xFFFFFFFF


def signed32(x):
    return x - (1 << 32) if x >> 31 else x


@remembered
def murmur32_of_spark(key, seed):
    """MurmurHash3_x86_32, with each byte behind the last whole word as a word of its own, extended with its sign."""
    whole = len(key) // 4 * 4
    words = [int.from_bytes(key[i:i + 4], "little") for i in range(0, whole, 4)]
    h = seed
    for word in words + [byte | (0xFFFFFF00 if byte >> 7 else 0) for byte in key[whole:]]:
        h ^= rotate32(word * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
        h = rotate32(h, 13) * 5 + 0xE6546B64 & 0xFFFFFFFF
    h ^= len(key)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def spark(version, seed, key, m, k):
    h1 = murmur32_of_spark(key, seed)
    h2 = murmur32_of_spark(key, h1)
    if version == 1:
        sums = [signed32(h1 + (i + 1) * h2 & 0xFFFFFFFF) for i in range(k)]
    else:
        sums = [signed32(h1) * (2**31 - 1) + (i + 1) * signed32(h2) for i in range(k)]
    return ["%08x" % h1, "%08x" % h2], [(~s if s < 0 else s) % m for s in sums]


# ---- dcso -----------------------------------------------------------------------------------------

def dcso(key, m, k):
    """FNV-1, and a sequence of products that overflow."""
    h = 0xCBF29CE484222325
    for byte in key:
        h = (h * 0x100000001B3 ^ byte) % 2**64
    value = "%016x" % h
    modulus = 2**64 - 59
    h %= modulus
    positions = []
    for _ in range(k):
        h = h * (modulus - 1410) % 2**64 % modulus
        positions.append(h % m)
    return [value], positions


# ---- pybloomfilter --------------------------------------------------------------------------------

def pybloomfilter_seeds(parameters):
    """Up to the last that is not 0."""
    seeds = [int.from_bytes(parameters[i:i + 4], "little") for i in range(0, 64, 4)]
    while seeds and seeds[-1] == 0:
        seeds.pop()
    return seeds


def pybloomfilter(parameters, key, m, k):
    """MurmurHash3_x64_128 with a seed for each position."""
    assert len(pybloomfilter_seeds(parameters)) == k
    hashes = [murmur128(key, seed) for seed in pybloomfilter_seeds(parameters)]
    return ["%016x" % (h1 ^ h2) for h1, h2 in hashes], [(h1 ^ h2) % m for h1, h2 in hashes]


# ---- parquet --------------------------------------------------------------------------------------

SALTS = [int(salt, 16) for salt in
         "47b6137b 44974d91 8824ad5b a2b7289d 705495c7 2df1424b 9efc4947 5c6bfb31".split()]


def parquet(key, m, k):
    h = xxhash.xxh64_intdigest(key, seed=0)
    block = (h >> 32) * (m // 256) >> 32
    return ["%016x" % h], [256 * block + 32 * i + (h * SALTS[i] % (1 << 32) >> 27) for i in range(k)]


# ---- sip ------------------------------------------------------------------------------------------

@remembered
def siphash_2_4_128(secret, key):
    """The 128 bits as two little-endian words."""
    k0, k1 = words_of(secret[:16])
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261,
         k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0], v[2] = v[0] + v[1] & MASK, v[2] + v[3] & MASK
            v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2], v[0] = v[2] + v[1] & MASK, v[0] + v[3] & MASK
            v[1], v[3] = rotate(v[1], 17) ^ v[2], rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    whole = len(key) // 8 * 8
    last = int.from_bytes(key[whole:], "little") | (len(key) & 0xFF) << 56
    for word in words_of(key[:whole]) + [last]:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return first, v[0] ^ v[1] ^ v[2] ^ v[3]


@remembered
def positions_of(hash_set, parameters, seed, key, m, k):
    if hash_set == 2:
        return php(parameters, key, m, k)
    if hash_set in (3, 4):
        return mt(hash_set == 4, key, m, k)
    if hash_set in (9, 10):
        return spark(hash_set - 8, 0 if hash_set == 9 else seed, key, m, k)
    if hash_set == 13:
        return pybloomfilter(parameters, key, m, k)
    return {5: md5, 6: redisbloom, 7: guava, 11: parquet, 12: dcso}[hash_set](key, m, k)


LAST = 13
NAMES = {1: "xxh3", 3: "php-mt", 4: "php-mt-legacy", 5: "md5", 6: "redisbloom", 7: "guava", 8: "sip", 9: "spark-v1",
         10: "spark-v2", 11: "parquet", 12: "dcso"}


def name_of(hash_set, parameters):
    if hash_set == 13:
        return "pybloomfilter:" + ",".join(map(str, pybloomfilter_seeds(parameters)))
    if hash_set != 2:
        return NAMES[hash_set]
    return "php:" + ",".join(FUNCTIONS[i].__name__ for i in php_list(parameters))


def fault(hash_set, parameters, seed, m, k):
    """What no filter has: parameters, a seed or an m that are not the set's, or a k that they contradict."""
    if hash_set == 10 and seed >= 1 << 32:
        return True
    if hash_set == 11 and (k != 8 or m % 256 != 0 or m > 1 << 40):
        return True
    if hash_set == 8:
        return not any(parameters[:16]) or any(parameters[16:])
    if hash_set == 13:
        return len(pybloomfilter_seeds(parameters)) != k or k == 0
    if hash_set != 2:
        return any(parameters)
    ids = php_list(parameters)
    return ids is None or len(ids) != k
