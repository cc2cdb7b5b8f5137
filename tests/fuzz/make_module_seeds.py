# SPDX-License-Identifier: BSD-2-Clause
"""make_module_seeds.py MODULE TAMIS CORPUS: sound inputs to CORPUS/restore, CORPUS/dump and CORPUS/chunks, from a
redis-server with the module; to be run again when what a dump has changes."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "redis"))
from harness import served, store_of, tamis  # noqa: E402
from rdb_payload import bloom, bloom_layers, string, unsigned  # noqa: E402
from redis_client import Error  # noqa: E402

ITEMS = [f"item {i}" for i in range(40)]
CUCKOO, SEAL, STORED = 1, 2, 4


def write(folder, name, data):
    path = os.path.join(sys.argv[3], folder)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "wb") as file:
        file.write(data)


def body_of(payload, flags):
    """A payload of DUMP as an input of fuzz_restore: flags, encoding, what is behind the id."""
    encoding = struct.unpack(">Q", payload[2:10])[0] % 1024
    return bytes([flags]) + struct.pack("<H", encoding) + payload[10:-10]


def call(flags, iterator, data):
    return bytes([flags]) + struct.pack("<qI", iterator, len(data)) + data


def calls(client, command, key, flags):
    return b"".join(call(flags, iterator, data) for iterator, data in client.chunks(command, key))


def payloads(client, key, cuckoo=0):
    for folder, flags in (("restore", SEAL), ("dump", SEAL)):
        write(folder, key, body_of(client.good("DUMP", key), flags | cuckoo))


def main():
    with served("exact", "no", rdbcompression="no") as (redis, client):
        client.good("BF.RESERVE", "blocked", "0.1", 20, "EXPANSION", 3)
        client.good("BF.MADD", "blocked", *ITEMS[:10])
        client.good("BF.RESERVE", "grown", "0.1", 4)
        client.good("BF.MADD", "grown", *ITEMS)
        client.good("BF.RESERVE", "fixed", "0.1", 8, "NONSCALING")
        client.good("TAMIS.RESERVE", "window", "0.1", 20, "WINDOW", 60, "SLICES", 3)
        client.good("BF.MADD", "window", *ITEMS[:9])
        client.good("TAMIS.RESERVE", "php", "0.1", 20, "KIND", "bloom", "HASHSET", "php:bkdr,sdbm,js")
        client.good("BF.MADD", "php", *ITEMS[:9])
        client.good("TAMIS.RESERVE", "durable", "0.1", 20, "DURABLE")
        client.good("BF.MADD", "durable", *ITEMS[:9])
        tamis("build", "--store", store_of(redis), "fuse", text="".join(item + "\n" for item in ITEMS))
        tamis("except", "--store", store_of(redis), "fuse", "add", "stranger")
        client.good("TAMIS.ATTACH", "fuse")
        client.good("CF.RESERVE", "cuckoo", 20)
        client.good("CF.INSERT", "cuckoo", "ITEMS", *ITEMS[:9])
        for _ in range(40):
            client.good("CF.ADD", "cuckoo", "often")
        for key in ("durable", "fuse"):
            payloads(client, key)
        for key in ("blocked", "grown", "fixed", "window", "php"):
            payloads(client, key)
            head = call(SEAL, *client.good("BF.SCANDUMP", key, 0))
            write("chunks", key, head if key in ("grown", "window") else calls(client, "BF.SCANDUMP", key, SEAL))
        payloads(client, "cuckoo", CUCKOO)
        write("chunks", "cuckoo", calls(client, "CF.SCANDUMP", "cuckoo", SEAL | CUCKOO))
        reference = b"\x03\x00\x01" + b"".join(
            b"\x02\x81" + struct.pack(">Q", n) for n in (1, 1, 1 << 40, 1 << 40, 2, 0, 0, 0, 0, 0, 0, 0))
        reference = bytes([STORED]) + reference[1:] + b"\x05\x06stored" + b"\x02\x01\x00"
        write("restore", "reference", reference)
        write("dump", "reference", reference)
        write("dump", "attached", reference[:13] + b"\x02\x81" + struct.pack(">Q", 3) + reference[23:])
    with served("exact", "yes") as (_, client):
        client.good("BF.RESERVE", "exact", "0.1", 5)
        client.good("BF.MADD", "exact", *ITEMS)
        write("chunks", "exact", calls(client, "BF.SCANDUMP", "exact", 0))
        client.good("CF.RESERVE", "slots", 8, "EXPANSION", 2)
        client.good("CF.INSERT", "slots", "ITEMS", *ITEMS[:20])
        payloads(client, "slots", CUCKOO)
        write("chunks", "slots", calls(client, "CF.SCANDUMP", "slots", CUCKOO))
        theirs = b"".join(unsigned(number) for number in (1, 4, 3, 0, 2, 20, 1, 4)) + string(b"\1\2\3\0\0\0\0\0")
        for folder in ("restore", "dump"):
            write(folder, "redisbloom-cuckoo", bytes([CUCKOO]) + struct.pack("<H", 4) + theirs + b"\0")
        chunks = client.chunks("BF.SCANDUMP", "exact")
        layers = bloom_layers(chunks[0][1], b"".join(data for _, data in chunks[1:]))
        for encoding in range(5):
            payload = bloom(encoding, layers)
            if isinstance(client("RESTORE", "theirs", 0, payload, "REPLACE"), Error) and encoding >= 2:
                raise AssertionError(f"encoding {encoding} is refused")
            for folder in ("restore", "dump"):
                write(folder, f"redisbloom-{encoding}", body_of(payload, 0))


main()
