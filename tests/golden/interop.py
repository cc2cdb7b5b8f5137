#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""interop.py TAMIS: the command and reader.py, which share no code, must agree on every answer.

On the golden stores, on a new store with random keys, and on damaged copies of one.  Prints its
seed; $TAMIS_TEST_SEED runs it again.  Status 77: python3-lmdb or python3-xxhash is not installed.
"""
import glob
import itertools
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is written beside the sources
try:
    import lmdb
    import xxhash

    import reader
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
TAMIS = os.path.abspath(sys.argv[1])
RATES = ("0.4", "0.1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-9", "1e-10", "1e-12")


def lines(keys):
    return "".join(key.hex() + "\n" for key in keys)


def tamis(store, *arguments, keys=(), statuses=(0,)):
    done = subprocess.run([TAMIS, arguments[0], "--store", store, *arguments[1:]],
                          input=lines(keys), capture_output=True, text=True, check=False)
    assert done.returncode in statuses, (arguments, done.returncode, done.stderr)
    return done.stdout


def read(path):
    """The rows of a table of expected answers, without its titles."""
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file][1:]


def compare(path, keys):
    """Membership, positions and metadata of every filter; returns how many answers were yes."""
    store = reader.Store(path)
    count = 0
    listed = [json.loads(line) for line in tamis(path, "list", "--json").splitlines()]
    assert [f["name"] for f in listed] == [f["name"] for f in store.list()]
    for mine in store.list():
        name = mine["name"]
        theirs = json.loads(tamis(path, "info", "--json", name))
        for field, value in mine.items():
            other = theirs[field]
            if field == "fp_rate":  # printed with 15 digits
                assert abs(other - value) <= 1e-12 * value, (name, value, other)
            else:  # as text: integers past 2^63 are strings in the command's JSON
                assert str(other) == str(value), (name, field, value, other)
        present = [key for key in keys if store.contains(name, key)]
        checked = tamis(path, "check", "--hex", name, keys=keys, statuses=(0, 1))
        assert checked == lines(present), name
        explained = "".join(
            "\t".join((key.hex(), hashes, ",".join(map(str, positions)))) + "\n"
            for key in keys for hashes, positions in store.explain(name, key))
        assert tamis(path, "explain", "--hex", name, keys=keys) == explained, name
        count += len(present)
    return count


def golden_stores_agree(scratch):
    for directory in sorted(glob.glob(os.path.join(HERE, "format-*"))):
        path = os.path.join(scratch, os.path.basename(directory))
        shutil.copytree(os.path.join(directory, "store"), path)
        added = read(os.path.join(directory, "added.tsv"))
        strangers = read(os.path.join(directory, "strangers.tsv"))
        names = [row[0] for row in read(os.path.join(directory, "filters.tsv"))]
        store = reader.Store(path)
        for column, name in enumerate(names, 1):
            assert store.filters[name]["files"][0].label()[1] == name
            assert all(store.contains(name, bytes.fromhex(row[0])) for row in added)
            for row in strangers:
                assert store.contains(name, bytes.fromhex(row[0])) == (row[column] == "yes"), row
        keys = [bytes.fromhex(row[0]) for row in added + strangers]
        print(f"{os.path.basename(directory)}: {len(names)} filters, {len(keys)} keys,"
              f" yes {compare(path, keys)}")


def create(path, name, *arguments):
    tamis(path, "create", name, "--seed", str(random.choice((0, random.getrandbits(64)))),
          *arguments)


def random_store_agrees(scratch):
    path = os.path.join(scratch, "random")
    # Each length from 0 to 300 three times, and some more.
    keys = [random.randbytes(n % 301) for n in range(1000)]
    random.shuffle(keys)
    for rate in RATES:
        # Made for 1 to 500 keys, given 500: strangers get both answers, and blocked filters have
        # every k that they can have.
        for kind, capacity in itertools.product(("blocked", "bloom"), ("1", "10", "100", "500")):
            create(path, f"{kind} {rate} {capacity}", "-n", capacity, "-p", rate, "--kind", kind)
    for m_bits in (1, 2, 63, 64, 65, 512, 32767, 32768, 32769, 1 << 20, (1 << 28) - 64, 1 << 28):
        create(path, f"bits {m_bits}", "-m", str(m_bits), "-k", str(random.randint(1, 64)),
               "-n", "100")
    create(path, "large", "-n", "30M", "-p", "1e-2")
    create(path, "dropped", "-n", "10")
    for filter in reader.Store(path).list():
        tamis(path, "add", "--hex", filter["name"], keys=keys[:500])
    tamis(path, "rename", "large", "larger")
    tamis(path, "rename", "larger", "größer")
    tamis(path, "drop", "dropped")
    count = compare(path, keys)
    store = reader.Store(path)
    ks = {f["k"] for f in store.list() if f["kind"] == "blocked"}
    assert ks == set(reader.BLOCKED_WORDS), ks
    offsets = {s.header["data_offset"] for r in store.filters.values() for s in r["files"]}
    assert offsets == {4096, 2 << 20}, offsets
    for name in store.filters:
        assert all(store.contains(name, key) for key in keys[:500])
    print(f"random: {len(store.filters)} filters, {len(keys)} keys, yes {count}")


def refused(path):
    """Does the reader refuse the store?  The command must too, or find a problem in it."""
    try:
        reader.Store(path)
        mine = False
    except reader.Refused:
        mine = True
    theirs = subprocess.run([TAMIS, "verify", "--store", path], capture_output=True, check=False)
    assert theirs.returncode == (2 if mine else 0), (mine, theirs)
    return mine


def damage_is_refused_alike(scratch):
    """Random bytes of a header changed, some with a checksum that fits again; other sizes."""
    path = os.path.join(scratch, "damaged")
    create(path, "bloom", "-m", "5001", "-k", "5")
    create(path, "blocked", "-n", "300")
    tamis(path, "add", "blocked", "one", "two")
    tamis(path, "add", "bloom", "one", "two")
    verdicts = {True: 0, False: 0}
    for turn in range(400):
        file = os.path.join(path, "segments", "%016d.seg" % random.randint(1, 2))
        with open(file, "rb") as original:
            sound = original.read()
        changed = bytearray(sound)
        if turn % 8 == 0:  # another size
            del changed[random.choice((0, 7, 8, 511, 4095, 4096, len(sound) - 1)):]
        elif turn % 8 == 1:
            changed += bytes(4096)
        elif turn % 2:  # any byte of the header; what is live may have any value
            changed[random.randint(0, 2047)] ^= 1 << random.randint(0, 7)
        else:  # a forged constant part
            changed[random.randint(0, 199)] ^= 1 << random.randint(0, 7)
            changed[504:512] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(changed[:504])))
        with open(file, "wb") as damaged:
            damaged.write(changed)
        verdicts[refused(path)] += 1
        with open(file, "wb") as mended:
            mended.write(sound)
    assert not refused(path)
    assert verdicts[True] > 100 and verdicts[False] > 10, verdicts
    print(f"damaged: {verdicts[True]} refused, {verdicts[False]} not, by both")


def catalog_damage_is_refused_alike(scratch):
    """Any byte of any value changed; a record of a newer version; an id without its name."""
    path = os.path.join(scratch, "catalog")
    create(path, "one", "-n", "100")
    create(path, "two", "-n", "100", "--kind", "bloom")
    create(path, "three", "-n", "100")
    tamis(path, "drop", "three")  # leaves a garbage record
    file = os.path.join(path, "catalog.mdb")
    with open(file, "rb") as original:
        sound = original.read()
    with lmdb.open(file, subdir=False, lock=False, readonly=True) as environment:
        with environment.begin() as transaction:
            records = [(bytes(key), bytes(value)) for key, value in transaction.cursor()]
    assert sorted(key[:1] for key, _ in records) == [b"f", b"f", b"g", b"i", b"i", b"s"]
    for turn in range(120):
        key, value = random.choice(records)
        changed = bytearray(value)
        if turn % 4 == 0 and key[:1] in (b"f", b"i", b"s"):  # version 2, or another name
            changed[0] += 1
            seed = xxhash.xxh3_64_intdigest(key)
            changed[-8:] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(changed[:-8]), seed))
        else:
            changed[random.randrange(len(changed))] ^= 1 << random.randint(0, 7)
        with lmdb.open(file, subdir=False, lock=False, map_size=1 << 30) as environment:
            with environment.begin(write=True) as transaction:
                transaction.put(key, bytes(changed))
        assert refused(path), (key, bytes(changed))
        with open(file, "wb") as mended:
            mended.write(sound)
    assert not refused(path)
    print("damaged catalogs: 120 refused by both")


def main():
    seed = int(os.environ.get("TAMIS_TEST_SEED") or random.SystemRandom().getrandbits(63))
    print(f"seed {seed}")
    random.seed(seed)
    with tempfile.TemporaryDirectory(prefix="tamis-test-") as scratch:
        golden_stores_agree(scratch)
        random_store_agrees(scratch)
        damage_is_refused_alike(scratch)
        catalog_damage_is_refused_alike(scratch)


main()
