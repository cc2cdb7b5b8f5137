# SPDX-License-Identifier: BSD-2-Clause
"""make_shards.py: writes shards.tsv, the keys and shards for clients in other languages (docs/cluster.md),
by the rule as it is written there, with Debian's python3-xxhash.  No code of Tamis is in it."""
import os
import sys

import xxhash

COUNTS = (1, 2, 3, 64, 1000, 65536)
KEYS = [b"", b"a", b"https://a.example/", b"\0", b"\xff\xfe line\n", "ключ".encode()]
KEYS += [bytes((7 * i + n) % 256 for i in range(n)) for n in (3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 300)]
KEYS += [b"https://host%d.example/path/%d" % (i, i * i) for i in range(20)]


def shard(key, count):
    return ((xxhash.xxh3_64_intdigest(key) >> 32) * count) >> 32


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def lines():
    yield "# key in hexadecimal, shards, shard, slot of the shard's Redis key NAME:{SHARD}"
    for key in KEYS:
        for count in COUNTS:
            number = shard(key, count)
            yield f"{key.hex()}\t{count}\t{number}\t{crc16(b'%d' % number) % 16384}"


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shards.tsv")
    text = "".join(line + "\n" for line in lines())
    if len(sys.argv) > 1:  # --check
        with open(path, encoding="utf-8") as file:
            sys.exit(0 if file.read() == text else "shards.tsv is not what make_shards.py makes")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
