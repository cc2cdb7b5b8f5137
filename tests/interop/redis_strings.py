# SPDX-License-Identifier: BSD-2-Clause
"""redis_strings.py TAMIS: filled by `tamis add`, a filter holds the very bytes of the Redis string
that a PHP program filled with the same keys, and says of every key what that program says.

The recorded runs are those of redis_ops.tsv.  Where the string has 512 MiB only the positions are
compared, not bytes.
"""
import glob
import hashlib
import json
import os
import sys
import tempfile

from command import VECTORS, Tamis, finish, keys_of, same, table

ALL = "php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv"
SMALL = {"bl8": ("php:js,pjw", 8), "bl1000003": ("php:js,pjw", 1000003),
         "all8_1000003": (ALL, 1000003)}
WITHOUT_MODULUS = {"rptc": "php:bkdr,sdbm,js", "bl0": "php:js,pjw"}


def data_of(tamis, store, name):
    line, = tamis.run("info", name, "--json")
    segment, = json.loads(line)["segments"]
    same(name, "msb-first", segment["bit_order"])
    path, = glob.glob(os.path.join(store, "segments", f"{segment['number']:016}.seg"))
    with open(path, "rb") as file:
        return file.read()[segment["data_offset"]:]


def same_bytes(name, row, data):
    """The string ends at its highest set byte; behind it the filter has zeros."""
    string, rest = data[:int(row["strlen"])], data[int(row["strlen"]):]
    same(name, row["sha256_of_GET"], hashlib.sha256(string).hexdigest())
    same(name, int(row["bitcount"]), sum(bin(byte).count("1") for byte in string))
    same(name, 0, sum(rest))


def check_small(tamis, store, strings, rows):
    added = keys_of([row for row in rows if row["op"] == "add"])
    for name, (hash_set, m) in SMALL.items():
        tamis.run("create", name, "--hash-set", hash_set, "-m", m)
        tamis.run("add", name, "--hex", lines=added)
        same_bytes(name, strings[name], data_of(tamis, store, name))
        expected = [key for key, row in zip(keys_of(rows), rows) if row[name + "_exists"] == "1"]
        same(name, expected, tamis.run("check", name, "--hex", lines=keys_of(rows)))
    tamis.run("create", "joker8", "--hash-set", "php:js,pjw", "-m", 8)
    tamis.run("add", "joker8", "joker")
    same_bytes("joker8", strings["joker8"], data_of(tamis, store, "joker8"))
    same("problems of the store", [], tamis.run("verify"))


def check_positions(tamis, name, hash_set, m, rows):
    added = keys_of([row for row in rows if row["op"] == "add"])
    with open(os.path.join(VECTORS, f"redis_bits_{name}.txt"), encoding="ascii") as file:
        expected = [int(line) for line in file]
    bits = set()
    for _, positions in tamis.explain(hash_set, m, 0, added):
        bits.update(map(int, positions.split(",")))
    same(name, expected, sorted(bits))


def check_replies(tamis, rows):
    """put() of the second program returned the offsets."""
    for column, hash_set, m in (("bl8_put", "php:js,pjw", 8), ("bl0_put", "php:js,pjw", 2**32),
                                ("bl1000003_put", "php:js,pjw", 1000003),
                                ("all8_1000003_put", ALL, 1000003)):
        told = [row for row in rows if row[column]]
        for row, (_, positions) in zip(told, tamis.explain(hash_set, m, 0, keys_of(told))):
            same(f"{column} {row['key_hex']}", row[column], positions)


def main():
    rows = table("redis_ops.tsv")
    strings = {row["redis_key"]: row for row in table("redis_strings.tsv")}
    with tempfile.TemporaryDirectory() as directory:
        store = os.path.join(directory, "store")
        tamis = Tamis(sys.argv[1], store)
        check_small(tamis, store, strings, rows)
        for name, hash_set in WITHOUT_MODULUS.items():
            check_positions(tamis, name, hash_set, 2**32, rows)
        for name in ("bl1000003", "all8_1000003"):
            check_positions(tamis, name, *SMALL[name], rows)
        check_replies(tamis, rows)
    finish(1000)


main()
