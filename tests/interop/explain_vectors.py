# SPDX-License-Identifier: BSD-2-Clause
"""explain_vectors.py TAMIS: `tamis explain` and `tamis create` give every row of vectors/.

The hash values and positions as a user gets them: keys in hexadecimal on standard input.
"""
import hashlib
import json
import re
import sys
import tempfile

from command import Tamis, finish, keys_of, same, table

FUNCTIONS = {"js": "JSHash", "pjw": "PJWHash", "elf": "ELFHash", "bkdr": "BKDRHash",
             "sdbm": "SDBMHash", "djb": "DJBHash", "dek": "DEKHash", "fnv": "FNVHash"}


def check_php(tamis):
    rows = table("php_hash.tsv")
    keys = keys_of(rows)
    together = tamis.explain("php:" + ",".join(FUNCTIONS), 2**32, 8, keys)
    for row, (values, positions) in zip(rows, together):
        same(row["key_hex"], ",".join(row[name + "_raw"] for name in FUNCTIONS.values()), values)
        same(row["key_hex"], ",".join(row[name] for name in FUNCTIONS.values()), positions)
    for function, name in FUNCTIONS.items():
        for row, (values, position) in zip(rows, tamis.explain("php:" + function, 9973, 0, keys)):
            same(f"{function} of {row['key_hex']}", row[name + "_raw"], values)
            same(f"{function} of {row['key_hex']}", str(int(row[name]) % 9973), position)


def check_geometries(tamis, file, hash_set):
    """A table with columns "m=..;k=.."."""
    rows = table(file)
    for column in rows[0]:
        geometry = re.fullmatch(r"m=(\d+);k=(\d+)", column)
        if not geometry:
            continue
        m, k = geometry.groups()
        for row, (values, positions) in zip(rows, tamis.explain(hash_set, m, k, keys_of(rows))):
            same(f"{file} {column} {row['key_hex']}", row[column], positions)
            if "crc32" in row:
                same(f"{file} {row['key_hex']}", row["crc32"], values)


def check_long_runs(tamis):
    sets = {"php_mt_rand": "php-mt", "php_mt_rand_legacy": "php-mt-legacy", "py_md5": "md5"}
    for row in table("long_runs.tsv"):
        if row["generator"] == "py_md5" and not tamis.has_md5():
            continue
        (_, positions), = tamis.explain(sets[row["generator"]], row["m"], row["k"], keys_of([row]))
        same(row["generator"], row["last5"], ",".join(positions.split(",")[-5:]))
        same(row["generator"], row["sha256_of_comma_joined_list"],
             hashlib.sha256(positions.encode()).hexdigest())


def distinct(positions):
    return ",".join(map(str, sorted(set(map(int, positions.split(","))))))


def made(tamis, name, *arguments):
    """(m, k) of a filter that `create` makes so."""
    line, = tamis.run("create", name, "--json", *arguments)
    tamis.run("drop", name)
    fields = json.loads(line)
    return fields["m_bits"], fields["k"]


def check_single_keys(tamis, file, hash_set, reserved):
    """Bits of one key, in a filter of the capacity and rate of each column."""
    rows = table(file)
    for column, (capacity, rate) in reserved.items():
        m, k = made(tamis, column, "--hash-set", hash_set, "-n", capacity, "-p", rate)
        for row, (values, positions) in zip(rows, tamis.explain(hash_set, m, k, keys_of(rows))):
            same(f"{column} {row['key_hex']}", row[column], distinct(positions))
            if "murmur3_128" in row:
                same(row["key_hex"], row["murmur3_128"], values)


def check_sizing(tamis):
    for row in table("guava_sizing.tsv"):
        if row["n"] == "0":  # Guava takes it for 1; `create` refuses it
            continue
        m, k = made(tamis, "sized", "--hash-set", "guava", "-n", row["n"], "-p", row["p"])
        same(f"guava n = {row['n']}, p = {row['p']}",
             (int(row["num_longs"]) * 64, int(row["num_hash_functions"])), (m, k))
    for row in table("php_k.tsv"):
        if int(row["m"]) > 2**28 or int(row["k"]) > 64:  # too large a file, no such filter
            continue
        m, k = made(tamis, "sized", "--hash-set", "php-mt", "-n", row["n"], "-m", row["m"])
        same(f"php-mt n = {row['n']}, m = {row['m']}", (int(row["m"]), int(row["k"])), (m, k))


def main():
    with tempfile.TemporaryDirectory() as directory:
        tamis = Tamis(sys.argv[1], directory + "/store")
        check_php(tamis)
        check_geometries(tamis, "php_mt_rand.tsv", "php-mt")
        check_geometries(tamis, "php_mt_rand_legacy.tsv", "php-mt-legacy")
        if tamis.has_md5():
            check_geometries(tamis, "py_md5.tsv", "md5")
        check_long_runs(tamis)
        # The first layer of a filter that may grow has half the error.
        check_single_keys(tamis, "rb_single_key_bits.tsv", "redisbloom",
                          {"c1000_e0.01": (1000, 0.005), "c100000_e0.001_ns": (100000, 0.001),
                           "c7_e0.3": (7, 0.15)})
        check_single_keys(tamis, "guava_single_key_bits.tsv", "guava",
                          {"n1000_p0.01": (1000, 0.01), "n100000_p0.001": (100000, 0.001),
                           "n7_p0.3": (7, 0.3)})
        check_sizing(tamis)
    finish(4000)


main()
