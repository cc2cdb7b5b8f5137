# SPDX-License-Identifier: BSD-2-Clause
"""record_pybloomfilter.py DIRECTORY OLD_PYTHON: writes pybloomfilter_*.tsv of vectors/ by pybloomfiltermmap3 of PyPI.

To be run by a Python that has 0.6.3; OLD_PYTHON has 0.5.0, which writes what older versions and pybloomfiltermmap do: an m that is no multiple
of 8, and gaps of the header that are not cleared.  (pip install --no-build-isolation with setuptools < 60 and cython < 3.)  The keys are those
of dcso_*.tsv, and numbers, which the package hashes by 8 bytes of Python's hash().
"""
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile

from pybloomfilter import BloomFilter

from command import keys_of, table

NUMBERS = (0, 1, -1, 42, -5, 2**31, 2**61 - 2, 2**61 - 1, 2**61, -2**61, 10**30)
# name: n, p, seeds (None: the package draws them), whether the old one makes it
FILTERS = {"n100_p0.03": (100, 0.03, None, False), "n2000_p0.01": (2000, 0.01, None, False), "n3_p0.5": (3, 0.5, [0, 4294967295, 7], False),
           "n50_p0.00001": (50, 0.00001, None, False), "old_n101_p0.02": (101, 0.02, None, True)}
SINGLE = {"17": (1000, 0.2), "1,2,3,4,5,6,7": (1000, 0.01), "4294967295,0,305419896": (3, 0.1), "9,8,7,6,5,4,3,2,1": (10**8, 0.001)}


def is_text(key):
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True


def bytes_of(rows):
    return [bytes.fromhex(key) for key in keys_of(rows)]


def made(path, n, p, seeds=None):
    # What the allocator hands out next is not zero, as it would not be in a program that has run for a while.
    dirt = [b"\xa5" * 1170 for _ in range(64)]
    del dirt
    return BloomFilter(n, p, path, hash_seeds=seeds)


def recorded(name):
    """The row of dumps, and the answers to the ops in their order; '' for a key that was not sent."""
    n, p, seeds, old = FILTERS[name]
    answers = []
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "filter")
        bloom = made(path, n, p, seeds)
        rows = table("dcso_ops.tsv")
        for row, key in zip(rows, bytes_of(rows)):
            if row["op"] != "add":
                answers.append(None)
            elif old and not is_text(key):
                answers.append("")  # it hashes bytes by hash(), which differs from one run to the next
            else:
                answers.append(int(not bloom.add(key.decode() if old else key)))
        for i, key in enumerate(bytes_of(rows)):
            if answers[i] is None:
                answers[i] = "" if old and not is_text(key) else int((key.decode() if old else key) in bloom)
        seeds, m = ",".join(map(str, bloom.hash_seeds)), bloom.num_bits
        bloom.sync()
        bloom.close()
        with open(path, "rb") as file:
            data = file.read()
    print(name, n, p, seeds, m, len(data), hashlib.sha256(data).hexdigest(), data.hex(), *answers, sep="\t")


def bits_of(seeds, n, p, key):
    """The bits that one key sets, sorted, each once; and m."""
    bloom = BloomFilter(n, p, hash_seeds=seeds)
    bloom.add(key)
    bits = bloom.data_array
    found = [8 * at.start() + b for at in re.finditer(rb"[^\0]", bits) for b in range(8) if bits[at.start()] >> b & 1]
    return ",".join(map(str, found)), bloom.num_bits


def write_single(to):
    rows = table("dcso_single_key_bits.tsv")
    keys = [(row, key) for row, key in zip(keys_of(rows), bytes_of(rows))]
    keys += [(struct.pack("<q", hash(number)).hex(), number) for number in NUMBERS]
    head, cells = ["key_hex"], [[shown or "-"] for shown, _ in keys]
    for seeds, (n, p) in SINGLE.items():
        bits = [bits_of([int(seed) for seed in seeds.split(",")], n, p, key) for _, key in keys]
        head.append(f"pybloomfilter:{seeds};m={bits[0][1]}")
        for cell, (found, _) in zip(cells, bits):
            cell.append(found)
    with open(f"{to}/pybloomfilter_single_key_bits.tsv", "w", encoding="ascii") as file:
        for row in (head, *cells):
            print(*row, sep="\t", file=file)


def main():
    if sys.argv[1] == "--filter":
        recorded(sys.argv[2])
        return
    to, old_python = sys.argv[1:]
    lines = [subprocess.run([old_python if old else sys.executable, __file__, "--filter", name], check=True, capture_output=True,
                            text=True).stdout.rstrip("\n").split("\t") for name, (_, _, _, old) in FILTERS.items()]
    with open(f"{to}/pybloomfilter_dumps.tsv", "w", encoding="ascii") as file:
        for row in (["name", "n", "p", "seeds", "m", "len", "sha256", "data_hex"], *lines):
            print(*row[:8], sep="\t", file=file)
    ops = table("dcso_ops.tsv")
    with open(f"{to}/pybloomfilter_ops.tsv", "w", encoding="ascii") as file:
        print("op", "key_hex", *FILTERS, sep="\t", file=file)
        for i, row in enumerate(ops):
            print(row["op"], row["key_hex"], *(line[8 + i] for line in lines), sep="\t", file=file)
    write_single(to)


main()
