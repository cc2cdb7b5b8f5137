# SPDX-License-Identifier: BSD-2-Clause
"""explain_live.py TAMIS: the hash sets beside PHP and Python, run side by side on random keys.

PHP computes the eight string functions and mt_rand (hashes.php), this Python the md5 positions.
The keys: all of one byte, random bytes of many lengths, families that differ in a number, NULs,
4 KiB, and such as bring a function to where PHP's int becomes a float.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

from command import Tamis, finish, keys_of, same, seeded, skip, table

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hashes.php")
LIST = "php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv"
# Recorded keys on which djb and pjw hold a float, elf carries past bit 31, bkdr just fits.
RECORDED_EDGES = ("djbfloat", "djbfloatmid", "pjwfloat", "elfcarry", "bkdredge")


def random_keys(random):
    keys = [b""] + [bytes([byte]) for byte in range(256)]
    for _ in range(500):
        keys.append(random.randbytes(random.randrange(1, 65)))
    for _ in range(200):
        start = random.randrange(10**random.randrange(1, 15))
        keys.append(b"https://www.example.com/article/%d.html" % start)
        keys.append("评论 {} 号".format(start).encode())
    for _ in range(100):
        keys.append(bytes(random.choice(b"\x00\x00\x01\x7f\x80\xff") for _ in range(random.randrange(40))))
    for _ in range(10):
        keys.append(random.randbytes(4096))
        keys.append(bytes([random.randrange(256)]) * 4096)
    return keys


def bkdr_key(target):
    """A key whose value under bkdr, as long as nothing overflows, is the target."""
    digits = []
    while target:
        target, digit = divmod(target, 131)
        digits.append(digit)
    return bytes(reversed(digits))


def crafted_keys(random):
    """Around the places where a sum or product no longer fits 63 bits."""
    keys = []
    for offset in range(-40, 41):
        edge = bkdr_key((2**63 - 1) // 131 + offset)
        for last in (0, 1, 127, 128, 255):
            keys.append(edge + bytes([last]))
        keys.append(edge + random.randbytes(random.randrange(1, 20)))
    for _ in range(200):  # pjw: the 15 nibbles before the last byte are 7FFF..., or nearly
        nibbles = bytearray([7] + [15] * 14)
        if random.random() < 0.5:
            nibbles[random.randrange(15)] = random.randrange(16)
        keys.append(random.randbytes(random.randrange(5)) + bytes(nibbles) +
                    random.randbytes(random.randrange(1, 4)))
    rows = [row for row in table("php_hash.tsv") if row["class"] in RECORDED_EDGES]
    for key in keys_of(rows):
        for _ in range(40):
            keys.append(bytes.fromhex(key) + random.randbytes(random.randrange(4)))
    return keys


def php(*arguments, lines=()):
    done = subprocess.run(["php", "-n", PROGRAM] + [str(argument) for argument in arguments],
                          input="".join(line + "\n" for line in lines), capture_output=True,
                          text=True, check=True)
    return done.stdout.split("\n")[:-1]


def check_functions(tamis, keys):
    floats = 0
    answers = tamis.explain(LIST, 2**32, 8, keys)
    for line, (values, positions) in zip(php("functions", lines=keys), answers):
        key, raw, final = line.split("\t")
        floats += "float:" in raw
        same(f"hash values of {key}", raw, values)
        same(f"positions of {key}", final, positions)
    print(f"php functions: {len(keys)} keys, {floats} end in a float")
    if floats == 0:
        sys.exit("no key ends in a float; the crafted keys are wrong")


def check_mt(tamis, keys, random, version):
    sizes = [1, 2, 3, 1000, 2**20, 2**31 - 1, 2**31, 2**31 + 1, 3 * 10**9, 2**32 - 1, 2**32]
    sizes += [random.randrange(1, 2**random.randrange(2, 33)) for _ in range(6)]
    wide = [2**32 + 1, 6 * 10**9, 2**40, 2**62, 2**63 - 1, random.randrange(2**32, 2**63)]
    for mode, hash_set in (("mt", "php-mt"), ("legacy", "php-mt-legacy")):
        # The two outputs of a large m are put together otherwise before PHP 8.2.
        for m in sizes + (wide if mode == "legacy" or version >= 80200 else []):
            k = random.randrange(1, 20)
            answers = tamis.explain(hash_set, m, k, keys)
            for line, (crc, positions) in zip(php("mt", mode, m, k, lines=keys), answers):
                same(f"{hash_set} m = {m}, k = {k}", line.split("\t")[1:], [crc, positions])
        answers = tamis.explain(hash_set, 123456789, 3000, keys[:5])  # the state comes round
        for line, (crc, positions) in zip(php("mt", mode, 123456789, 3000, lines=keys), answers):
            same(f"{hash_set} k = 3000", line.split("\t")[1:], [crc, positions])


def check_rejection(tamis, keys):
    """The first output r is thrown away for m = r, and the greatest taken for m = r + 1."""
    edges = 0
    for key in keys:
        r = int(php("mt", "mt", 2**32, 1, lines=[key])[0].split("\t")[2])
        for m in (r, r + 1) if r > 2**31 else ():
            (_, positions), = tamis.explain("php-mt", m, 3, [key])
            expected = php("mt", "mt", m, 3, lines=[key])[0].split("\t")[2]
            same(f"php-mt m = {m} of {key}", expected, positions)
            edges += 1
    if edges == 0:
        sys.exit("no output was above 2^31; give more keys")


def check_k(tamis, random):
    """`create` with m and n finds the k that such a program computes."""
    shapes = []
    for _ in range(40):
        n = random.randrange(1, 5000)
        shapes.append((n * random.randrange(1, 80) + random.randrange(2) * random.randrange(n), n))
    for (m, n), k in zip(shapes, php("k", lines=[f"{m} {n}" for m, n in shapes])):
        if int(k) <= 64:
            tamis.run("create", "k", "--hash-set", "php-mt", "-m", m, "-n", n)
            same(f"k for m = {m}, n = {n}", [k], tamis.run("info", "k", "k"))
            tamis.run("drop", "k")


def check_md5(tamis, keys, random):
    for m, k in ((2**32, 12), (2**64 - 1, 4), (1, 2), (random.randrange(1, 2**64), 101)):
        answers = tamis.explain("md5", m, k, keys)
        for key, (values, positions) in zip(keys, answers):
            digests = [hashlib.md5(bytes.fromhex(key) + b"%d" % i).hexdigest() for i in range(k)]
            same(f"md5 of {key}", ",".join(digests), values)
            same(f"md5 m = {m} of {key}", ",".join(str(int(d, 16) % m) for d in digests), positions)


def main():
    if not shutil.which("php"):
        skip("php is not installed")
    version, int_bytes = map(int, php("version")[0].split())
    if int_bytes != 8:
        skip("php has no 64-bit integers")
    random = seeded()
    keys = [key.hex() for key in random_keys(random)]
    with tempfile.TemporaryDirectory() as directory:
        tamis = Tamis(sys.argv[1], directory + "/store")
        check_functions(tamis, keys + [key.hex() for key in crafted_keys(random)])
        check_mt(tamis, random.sample(keys, 500), random, version)
        check_rejection(tamis, random.sample(keys, 24))
        check_k(tamis, random)
        if tamis.has_md5():
            check_md5(tamis, random.sample(keys, 600), random)
    finish(10000)


main()
