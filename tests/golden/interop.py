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
    from golden import HERE, TAMIS, has_library, lines, rows, tamis
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
    from command import is_long, scratch_in_memory
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

RATES = ("0.4", "0.1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-9", "1e-10", "1e-12")


def read(path):
    """The rows of a table of expected answers, without its titles."""
    return rows(path)[1:]


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
            elif field.startswith("window"):  # null where there is none
                assert (other or 0) == value, (name, field, value, other)
            else:  # as text: integers past 2^63 are strings in the command's JSON
                assert str(other) == str(value), (name, field, value, other)
        present, explained = [], []
        for key in keys:
            explained += ("\t".join((key.hex(), hashes, ",".join(map(str, positions)))) + "\n"
                          for hashes, positions in store.explain(name, key))
            if store.contains(name, key):
                present.append(key)
        checked = tamis(path, "check", "--hex", name, keys=keys, statuses=(0, 1))
        assert checked == lines(present), name
        assert tamis(path, "explain", "--hex", name, keys=keys) == "".join(explained), name
        count += len(present)
    return count


def has_md5():
    return has_library("libmd", "md5")


def golden_stores_agree(scratch):
    for directory in sorted(glob.glob(os.path.join(HERE, "format-*"))):
        if directory.endswith("md5") and not has_md5():
            continue
        path = os.path.join(scratch, os.path.basename(directory))
        shutil.copytree(os.path.join(directory, "store"), path)
        added = read(os.path.join(directory, "added.tsv"))
        strangers = read(os.path.join(directory, "strangers.tsv"))
        names = [row[0] for row in read(os.path.join(directory, "filters.tsv"))]
        store = reader.Store(path)
        for column, name in enumerate(names, 1):
            assert store.filters[name]["files"][0].label()[1] == name
            for row in added:
                assert store.contains(name, bytes.fromhex(row[0])) == (row[column] != "FULL"), row
            for row in strangers:
                assert store.contains(name, bytes.fromhex(row[0])) == (row[column] == "yes"), row
        keys = [bytes.fromhex(row[0]) for row in added + strangers]
        print(f"{os.path.basename(directory)}: {len(names)} filters, {len(keys)} keys,"
              f" yes {compare(path, keys)}")


def create(path, name, *arguments):
    tamis(path, "create", name, "--seed", str(random.choice((0, random.getrandbits(64)))),
          *arguments)


def create_lists(path):
    """Filters that go on in further segments as keys are added."""
    for capacity in ("1", "7", "50", "300"):
        create(path, f"grown {capacity}", "-n", capacity, "-p", "1e-3")
        create(path, f"grown bloom {capacity}", "-n", capacity, "-p", "1e-2", "--kind", "bloom")
    create(path, "hours", "-n", "1000", "--window", "5h", "--slices", "5")
    create(path, "growing days", "-n", "100", "--window", "10d")
    create(path, "days from the first", "-n", "100", "--window", "10d", "--window-from", "first")
    create(path, "keys from the first", "--window", "90keys", "--window-from", "first")
    for slices in ("1", "3", "32"):
        create(path, f"keys {slices}", "--window", "90keys", "--slices", slices)


def import_bits(path, name, bits, *arguments):
    """A string of bits, the most significant first, whatever the hash set."""
    done = subprocess.run([TAMIS, "import", name, "--store", path, "--from", "redis-bitmap", "-",
                           *arguments], input=bits, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def create_sip(path):
    """Every kind; a list that grows, and one that moves."""
    with tempfile.NamedTemporaryFile() as keys:
        keys.write(b"a\nb\n\nlonger key\n")
        keys.flush()
        for number, arguments in enumerate((
                ("-n", "1000"), ("-n", "100", "--kind", "bloom"), ("-n", "10", "-p", "1e-4"),
                ("-m", "1003", "-k", "5"), ("--window", "90keys", "--slices", "3"))):
            tamis(path, "create", f"sip {number}", "--hash-set", "sip", *arguments)
        tamis(path, "build", "sip fuse", "--hash-set", "sip", keys.name)


def create_hash_sets(path):
    """Every hash set, with every function of php, in both bit orders, made and imported."""
    functions = [f.__name__ for f in reader.hash_sets.FUNCTIONS.values()]
    names = ["php-mt", "php-mt-legacy", "redisbloom", "guava", "spark-v1", "spark-v2", "dcso", "xxh3"] + ["md5"] * has_md5()
    for turn in range(6):
        chosen = functions if turn == 0 else random.choices(functions, k=random.randint(1, 32))
        bits = random.choice((1, 2, 63, 64, 65, 1 << 20, 1000003, random.randint(1, 1 << 24)))
        tamis(path, "create", f"php {turn}", "-m", str(bits), "--hash-set",
              "php:" + ",".join(chosen))
        for name in names:
            geometry = ("-m", str(random.choice((1, 64, 1000, bits))),
                        "-k", str(random.randint(1, 12)), "--hash-set", name)
            tamis(path, "create", f"{name} {turn}", *geometry)
            import_bits(path, f"{name} {turn} imported", b"", *geometry)
        seed = str(random.choice((0, 1, (1 << 32) - 1, random.getrandbits(32))))
        tamis(path, "create", f"spark-v2 {turn} seed", "-m", str(bits), "-k", "5", "--hash-set", "spark-v2", "--seed", seed)
        blocks = str(256 * random.choice((1, 2, 3, 1000, random.randint(1, 1 << 16))))
        tamis(path, "create", f"parquet {turn}", "-m", blocks, "--hash-set", "parquet")
        import_bits(path, f"parquet {turn} imported", b"", "-m", blocks, "-k", "8", "--hash-set", "parquet")
        seeds = ",".join(str(random.choice((0, 1, (1 << 32) - 1, random.getrandbits(32)))) for _ in range(random.randint(0, 15)))
        seeds = f"pybloomfilter:{seeds},7" if seeds else "pybloomfilter:7"
        tamis(path, "create", f"pybloomfilter {turn}", "-m", str(bits), "--hash-set", seeds)
        import_bits(path, f"pybloomfilter {turn} imported", b"", "-m", str(bits), "--hash-set", seeds)
        # Lists that go on in segments of hash set xxh3.
        tamis(path, "create", f"php {turn} grown", "-m", "1000", "-n", "10", "--on-full", "grow",
              "--hash-set", "php:" + ",".join(chosen[:3]))
        import_bits(path, f"sealed {turn}", b"", "-m", "1000", "-k", "3", "--seal", "-n", "200",
                    "--hash-set", names[turn % len(names)])
    import_bits(path, "bits", random.randbytes(125), "-m", "1000", "-k", "3", "--hash-set", "guava")


def random_hash_sets_agree(scratch):
    path = os.path.join(scratch, "sets")
    keys = [random.randbytes(n % 101) for n in range(200)]
    keys += [b"https://www.example.com/article/%d.html" % random.randrange(10**9)
             for _ in range(100)]
    create_hash_sets(path)
    sip = has_library("libsodium", "sip")
    if sip:
        create_sip(path)
    for filter in reader.Store(path).list():
        if filter["name"] not in ("bits", "sip fuse"):
            tamis(path, "add", "--hex", filter["name"], keys=keys[::2])
    count = compare(path, keys)
    store = reader.Store(path)
    for name in store.filters:
        assert name in ("bits", "sip fuse", "sip 4") or all(store.contains(name, key) for key in keys[::2]), name
    sets = {s.header["hash_set"] for r in store.filters.values() for s in r["files"]}
    assert sets == set(range(1, reader.hash_sets.LAST + 1)) - {5 - 5 * has_md5(), 8 - 8 * sip}, sets
    orders = {s.header["bit_order"] for r in store.filters.values() for s in r["files"]}
    assert orders == {0, 1}, orders
    mixed = [name for name, r in store.filters.items()
             if len({s.header["hash_set"] for s in r["files"]}) > 1]
    assert len(mixed) >= 11, mixed  # of the sealed ones one was xxh3 before
    print(f"hash sets: {len(store.filters)} filters, {len(keys)} keys, yes {count}")


def random_store_agrees(scratch):
    path = os.path.join(scratch, "random")
    # Each length from 0 to 300 three times, and some more.
    keys = [random.randbytes(n % 301) for n in range(1000)]
    random.shuffle(keys)
    for rate in RATES:
        # Made for 1 to 500 keys, given 500: strangers get both answers, and blocked filters have
        # every k that they can have.
        for kind, capacity in itertools.product(("blocked", "bloom"), ("1", "10", "100", "500")):
            create(path, f"{kind} {rate} {capacity}", "-n", capacity, "-p", rate, "--kind", kind,
                   "--on-full", "warn")
    for m_bits in (1, 2, 63, 64, 65, 512, 32767, 32768, 32769, 1 << 20, (1 << 28) - 64, 1 << 28):
        create(path, f"bits {m_bits}", "-m", str(m_bits), "-k", str(random.randint(1, 64)),
               "-n", "100")
    create_lists(path)
    create(path, "large", "-n", "30M", "-p", "1e-2")
    create(path, "dropped", "-n", "10")
    for filter in reader.Store(path).list():
        name = filter["name"]
        tamis(path, "add", "--hex", name, keys=keys[:250])
        if filter["window_seconds"]:
            tamis(path, "rotate", name)
        tamis(path, "add", "--hex", name, keys=keys[250:500])
    # Into its third segment.
    tamis(path, "add", "grown 50", keys=[b"further %d" % i for i in range(66_000)])
    tamis(path, "rename", "large", "larger")
    tamis(path, "rename", "larger", "größer")
    tamis(path, "drop", "dropped")
    count = compare(path, keys)
    store = reader.Store(path)
    counts = {name: len(record["files"]) for name, record in store.filters.items()}
    assert counts["grown 50"] == 3 and counts["grown 1"] == 2 and counts["hours"] == 3, counts
    assert counts["keys 3"] in (4, 5), counts  # one that was left, where a spare was entered since
    ks = {f["k"] for f in store.list() if f["kind"] == "blocked"}
    assert ks == set(reader.BLOCKED_WORDS), ks
    offsets = {s.header["data_offset"] for r in store.filters.values() for s in r["files"]}
    assert offsets == {2304, 4096, 2 << 20}, offsets
    for name, record in store.filters.items():
        if not record["window_items"]:  # else all but the last have been forgotten
            assert all(store.contains(name, key) for key in keys[:500]), name
    print(f"random: {len(store.filters)} filters, {len(keys)} keys, yes {count}")


def key_digest(keys, seed):
    """3.6 of docs/format.md"""
    digests = {reader.digest(key, seed)[1] for key in keys}
    total = sum(xxhash.xxh3_128_intdigest(struct.pack("<Q", digest)) for digest in digests)
    return (total % (1 << 128)).to_bytes(16, "little")


def build(path, name, keys, *arguments, seeds=(0,)):
    """`seeds`: beside a random one; 0 keeps the seed of a list that is built again."""
    seed = random.choice((*seeds, random.getrandbits(64)))
    tamis(path, "build", name, "--hex", "--allow-empty", "--seed", str(seed), *arguments, keys=keys)
    store = reader.Store(path)
    record = store.filters[name]
    assert record["key_digest"] == key_digest(keys, seed), (name, arguments)
    assert record["files"][0].header["key_digest"] == record["key_digest"]
    assert record["segments"][0]["items"] == len(set(keys)) or "--kind" in arguments
    absent = [key for key in keys if not store.contains(name, key)]
    assert set(absent) <= record["excepted"], (name, arguments)
    return record


def write_keys(path, keys):
    with open(path, "w", encoding="ascii") as file:
        file.write(lines(keys))
    return path


def build_pieces(path):
    """So many keys that they lie in two pieces; returns some of them."""
    numbers = [str(number) for number in range(3200000)]
    done = subprocess.run([TAMIS, "build", "pieces", "--store", path, "-p", "1e-3"],
                          input="\n".join(numbers) + "\n", text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    some = [number.encode() for number in random.sample(numbers, 200)]
    store = reader.Store(path)
    assert store.filters["pieces"]["files"][0].header["pieces"] >= 2
    assert all(store.contains("pieces", key) for key in some)
    return some


def random_builds_agree(scratch):
    """Kind fuse with fingerprints of 8, 16 and 32 bits and packed ones, exceptions, generations, other kinds."""
    path = os.path.join(scratch, "builds")
    keys = list({random.randbytes(n % 61) for n in range(700)})
    strangers = [random.randbytes(20) for _ in range(3000)]
    for rate, count in itertools.product(("0.5", "1e-2", "1e-3", "1.6e-5", "1e-6", "2.4e-10"), (0, 1, 2, 10, 100, 600)):
        record = build(path, f"fuse {rate} {count}", keys[:count] + keys[:count // 2], "-p", rate)
        assert record["files"][0].header["kind"] == 4
    for kind in ("blocked", "bloom"):
        build(path, kind, keys, "--kind", kind)
    excepted = write_keys(os.path.join(scratch, "except"), keys[:20] + strangers[:5])
    good = write_keys(os.path.join(scratch, "against"), strangers + keys[30:40])
    record = build(path, "excepted", keys, "-p", "0.1", "--except", excepted, "--against", good)
    found = {key for key in record["excepted"] if key not in keys and key not in strangers[:5]}
    assert found and found <= set(strangers), found
    store = reader.Store(path)
    assert not any(store.contains("excepted", key) for key in strangers)
    for turn in range(5):
        build(path, "kept", keys[100 * turn:100 * turn + 300], "--keep", "2", "--against", good, seeds=(1,))
        tamis(path, "except", "--hex", "kept", "add", keys[100 * turn].hex())
    tamis(path, "rollback", "kept")
    store = reader.Store(path)
    assert sorted(g for i, g in store.kept if i == store.filters["kept"]["filter_id"]) == [3, 5]
    assert store.filters["kept"]["generation"] == 4
    some = build_pieces(path)
    count = compare(path, keys + strangers[:500] + some)
    offsets = {r["files"][0].header["fingerprint_bits"] for r in store.filters.values()}
    assert offsets == {0, 8, 10, 16, 20, 32}, offsets
    print(f"builds: {len(store.filters) + 1} filters, yes {count}")


def refused(path):
    """Does the reader refuse the store?  The command must too, or find a problem in it."""
    try:
        reader.Store(path)
        mine = None
    except reader.Refused as refusal:
        mine = str(refusal)
    theirs = subprocess.run([TAMIS, "verify", "--store", path], capture_output=True, check=False)
    assert theirs.returncode == (2 if mine else 0), (mine, theirs)
    return bool(mine)


def damage_is_refused_alike(scratch):
    """Random bytes of a header changed, some with a checksum that fits again; other sizes."""
    path = os.path.join(scratch, "damaged")
    create(path, "bloom", "-m", "5001", "-k", "5")
    create(path, "blocked", "-n", "300")
    create(path, "list", "-n", "20", "--window", "1d")  # slices of 2 keys, which grow
    tamis(path, "create", "php", "-m", "4999", "--hash-set", "php:js,fnv")
    tamis(path, "add", "php", "one", "two")
    tamis(path, "add", "list", "one", "two")
    tamis(path, "add", "list", "three")  # into the second segment of its slice
    tamis(path, "add", "blocked", "one", "two")
    tamis(path, "add", "bloom", "one", "two")
    assert len(os.listdir(os.path.join(path, "segments"))) == 5
    verdicts = {True: 0, False: 0}
    turns = 800 if is_long() else 200
    for turn in range(turns):
        file = os.path.join(path, "segments", "%016d.seg" % random.randint(1, 5))
        with open(file, "rb") as original:
            sound = original.read()
        changed = bytearray(sound)
        if turn % 8 == 0:  # another size
            del changed[random.choice((0, 7, 8, 511, 4095, 4096, len(sound) - 1)):]
        elif turn % 8 == 1:
            changed += bytes(4096)
        elif turn % 8 == 2:  # what goes on after it
            changed[1544:1552] = struct.pack("<Q", random.choice((0, 1, 3, 4, 5, 6, (1 << 64) - 1)))
        elif turn % 2:  # any byte of the header; what is live may have any value
            changed[random.randint(0, 2047)] ^= 1 << random.randint(0, 7)
        else:  # a forged constant part
            changed[random.randint(0, 319)] ^= 1 << random.randint(0, 7)
            changed[504:512] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(changed[:504])))
        with open(file, "wb") as damaged:
            damaged.write(changed)
        verdicts[refused(path)] += 1
        with open(file, "wb") as mended:
            mended.write(sound)
    assert not refused(path)
    assert verdicts[True] > turns / 8 and verdicts[False] > turns / 80, verdicts
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
    assert sorted(key[:1] for key, _ in records) == [b"b", b"f", b"f", b"g", b"i", b"i", b"s"]
    turns = 120 if is_long() else 40
    for turn in range(turns):
        key, value = random.choice(records)
        changed = bytearray(value)
        if turn % 4 == 0 and key[:1] in (b"f", b"i", b"s"):  # version 2, another name, or policy
            if turn % 8 == 0 or key[:1] != b"f":
                changed[0] += 1
            else:
                changed[random.randint(80, 119)] ^= 1 << random.randint(0, 7)
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
    print(f"damaged catalogs: {turns} refused by both")


def main():
    seed = int(os.environ.get("TAMIS_TEST_SEED") or random.SystemRandom().getrandbits(63))
    print(f"seed {seed}")
    random.seed(seed)
    scratch_in_memory()
    with tempfile.TemporaryDirectory(prefix="tamis-test-") as scratch:
        golden_stores_agree(scratch)
        random_store_agrees(scratch)
        random_hash_sets_agree(scratch)
        random_builds_agree(scratch)
        damage_is_refused_alike(scratch)
        catalog_damage_is_refused_alike(scratch)


main()
