#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A reader of stores that follows docs/format.md, as a check of that page.

    reader.py STORE list           a line of JSON for each filter, sorted by name
    reader.py STORE check NAME     of the keys on standard input print those that are in the filter
    reader.py STORE explain NAME   for each key: KEY<TAB>digest<TAB>positions; a line a segment

It shares no code with the library.  Keys are lines of hexadecimal, in and out.  The whole store is
checked first: for what section 5.1 says must be refused, and for what is wrong without a wrong
answer (bits past m, lost labels, files of no filter).  Either ends the program with status 2.
Needs python3-lmdb and python3-xxhash.
"""
import contextlib
import fcntl
import json
import mmap
import os
import struct
import sys

import lmdb
import xxhash

MASK = (1 << 64) - 1
KINDS = {1: "blocked", 2: "bloom"}
BLOCKED_WORDS = {2: 2, 4: 2, 6: 2, 8: 2, 10: 2,
                 12: 4, 16: 4, 20: 4, 24: 4, 28: 4, 32: 4, 36: 4, 40: 4}
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63)

# 3.1.1; `x` bytes are reserved.
HEADER = struct.Struct("<8sIIIIQQQIIQQIIQdQQQqII64s304xQ")
HEADER_FIELDS = ("magic format_version incompat_flags compat_flags header_bytes number filter_id "
                 "store_id kind hash_set seed m_bits k words capacity fp_rate data_offset "
                 "data_bytes file_bytes created_at bit_order stripes parameters checksum").split()
LABEL = struct.Struct("<QI4x256s40xQ")  # 3.1.2
STORE = struct.Struct("<I4xQQQq")  # 2.2
FILTER = struct.Struct("<IIQQQQdqqq8x")  # 2.3
FILTER_FIELDS = ("record_version segment_count filter_id name_sequence generation capacity fp_rate "
                 "created_at published_at checkpointed_at").split()
ENTRY = struct.Struct("<QIIQQIIQdQQqI4x64s")
ENTRY_FIELDS = ("number kind hash_set seed m_bits k words capacity fp_rate items file_bytes "
                "created_at bit_order parameters").split()
assert (HEADER.size, LABEL.size, STORE.size, FILTER.size, ENTRY.size) == (512, 320, 40, 80, 152)


class Refused(Exception):
    """What section 5.1 says a reader must refuse."""


def must(condition, what, verdict, why):
    if not condition:
        raise Refused(f"{what}: {verdict}: {why}")


def digest(key, seed):
    value = xxhash.xxh3_128_intdigest(key, seed=seed)
    return value >> 64, value & MASK


def layout(m_bits):
    data_bytes = 8 * ((m_bits + 63) // 64)
    data_offset = 4096 if data_bytes < 32 << 20 else 2 << 20
    return data_offset, data_bytes, (data_offset + data_bytes + 4095) // 4096 * 4096


def blocked_positions(header, key):
    """3.3"""
    high, low = digest(key, header["seed"])
    z = header["words"]
    q = header["k"] // z
    s = 2 if z == 2 else 1
    block = high * (header["m_bits"] // 512) >> 64
    for i in range(z):
        x = low * MULTIPLIERS[i] & MASK
        word = i * (8 // z) + (x >> (64 - s))
        for j in range(1, q + 1):
            yield 512 * block + 64 * word + (x >> (64 - s - 6 * j)) % 64


def bloom_positions(header, key):
    """3.4, hash set xxh3"""
    a, b = digest(key, header["seed"])
    swapped = (a << 32 & MASK) | a >> 32
    mixed = (swapped ^ b) * 0x9E3779B97F4A7C15 & MASK
    c = mixed ^ mixed >> 32
    for _ in range(header["k"]):
        yield a * header["m_bits"] >> 64
        a = a + b & MASK
        b = b + c & MASK


class Segment:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            self.check_start(file.read(4096), size)
            self.map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        self.check_padding(size)

    def check_start(self, page, size):
        """Section 5.1, as far as one file can be judged on its own."""
        path = self.path
        must(page[:8] == b"TAMIS\r\n\0", path, "foreign", "magic")
        must(len(page) == 4096, path, "truncated", "no whole header")
        self.header = h = dict(zip(HEADER_FIELDS, HEADER.unpack_from(page)))
        must(h["format_version"] <= 1, path, "newer", "format_version")
        must(h["incompat_flags"] == 0, path, "newer", "incompat_flags")
        must(h["checksum"] == xxhash.xxh3_64_intdigest(page[:504]), path, "damaged", "checksum")
        must(h["format_version"] == 1, path, "damaged", "format_version 0")
        must(h["header_bytes"] == 4096 and h["stripes"] == 32, path, "damaged", "shape")
        must(1 <= h["m_bits"] <= 1 << 62, path, "damaged", "m")
        must(1 <= h["k"] <= 64, path, "damaged", "k")
        must(h["bit_order"] == 0, path, "newer", "bit_order")
        must(h["capacity"] > 0 and 0 < h["fp_rate"] <= 1, path, "damaged", "capacity or rate")
        must((h["data_offset"], h["data_bytes"], h["file_bytes"]) == layout(h["m_bits"]),
             path, "damaged", "layout")
        must(size == h["file_bytes"], path, "truncated or damaged", f"{size} bytes")
        must(os.path.basename(path) == "%016d.seg" % h["number"], path, "foreign", "number")
        must(h["kind"] in KINDS, path, "newer", "kind")
        must(h["hash_set"] == 1, path, "newer", "hash_set")
        if h["kind"] == 1:
            must(h["m_bits"] % 512 == 0 and h["words"] == BLOCKED_WORDS.get(h["k"]),
                 path, "damaged", "geometry")
        else:
            must(h["words"] == 0, path, "damaged", "geometry")

    def check_padding(self, size):
        """3.2: what no position reaches is zero.  No answer depends on it; damage shows here."""
        h = self.header
        start = h["data_offset"]
        end = start + h["data_bytes"]
        if h["m_bits"] % 64:
            (last,) = struct.unpack_from("<Q", self.map, end - 8)
            must(last >> h["m_bits"] % 64 == 0, self.path, "damaged", "bits past m")
        must(not any(self.map[4096:start]) and not any(self.map[end:size]),
             self.path, "damaged", "bytes around the data")

    def label(self):
        """(sequence, name) of the label that holds, None if neither is whole; 3.1.2."""
        whole = []
        for offset in (512, 832):
            sequence, count, name, checksum = LABEL.unpack_from(self.map, offset)
            right = xxhash.xxh3_64_intdigest(self.map[offset:offset + 312])
            if sequence and 1 <= count <= 255 and checksum == right:
                whole.append((sequence, name[:count].decode()))
        return max(whole, default=None)

    def items(self):
        return sum(struct.unpack_from("<Q", self.map, 2048 + 64 * i)[0] for i in range(32)) & MASK

    def positions(self, key):
        rule = blocked_positions if self.header["kind"] == 1 else bloom_positions
        return rule(self.header, key)

    def __contains__(self, key):
        start = self.header["data_offset"]
        return all(self.map[start + p // 8] >> p % 8 & 1 for p in self.positions(key))


def check_value(key, value, smallest):
    must(len(value) >= smallest, key, "damaged", "too short")
    (checksum,) = struct.unpack("<Q", value[-8:])
    seed = xxhash.xxh3_64_intdigest(key)
    must(checksum == xxhash.xxh3_64_intdigest(value[:-8], seed=seed), key, "damaged", "checksum")
    return value[:-8]


class Store:
    def __init__(self, path):
        self.path = path
        with self.lock():
            self.read_catalog()
            for record in self.filters.values():
                record["files"] = [self.open_segment(record, entry) for entry in record["segments"]]
            self.check_names()

    @contextlib.contextmanager
    def lock(self):
        try:
            file = open(os.path.join(self.path, "catalog.lock"), "rb")
        except FileNotFoundError:  # a copy that nobody writes to
            yield
            return
        with file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield

    def read_catalog(self):
        self.filters, self.ids, self.garbage, self.store_id = {}, {}, set(), None
        catalog = os.path.join(self.path, "catalog.mdb")
        with lmdb.open(catalog, subdir=False, lock=False, readonly=True) as environment:
            with environment.begin() as transaction:
                for key, value in transaction.cursor():
                    self.read_record(bytes(key), bytes(value))
        must(self.store_id is not None, catalog, "damaged", "no store record")
        for filter_id, name in self.ids.items():
            record = self.filters.get(name)
            must(record is not None and record["filter_id"] == filter_id, catalog, "damaged",
                 f"id {filter_id}")
        must(len(self.ids) == len(self.filters), catalog, "damaged", "ids and filters")

    def read_record(self, key, value):
        must(key[:1] not in b"ig" or len(key) == 9, key, "damaged", "size of the key")
        if key == b"s":
            body = check_value(key, value, 48)
            version, self.store_id, self.next_filter_id, self.next_segment, _ = STORE.unpack(body)
            must(version == 1, key, "newer", "record_version")
        elif key[:1] == b"f":
            self.filters[key[1:].decode()] = self.read_filter(key, check_value(key, value, 88))
        elif key[:1] == b"i":
            (filter_id,) = struct.unpack(">Q", key[1:])
            self.ids[filter_id] = check_value(key, value, 9).decode()
        elif key[:1] == b"g":
            must(check_value(key, value, 8) == b"", key, "damaged", "garbage with a value")
            self.garbage.add(struct.unpack(">Q", key[1:])[0])

    @staticmethod
    def read_filter(key, body):
        record = dict(zip(FILTER_FIELDS, FILTER.unpack_from(body)))
        must(record["record_version"] == 1, key, "newer", "record_version")
        count = record["segment_count"]
        must(1 <= count <= 64 and len(body) == 80 + 152 * count, key, "damaged", "segment_count")
        record["segments"] = [dict(zip(ENTRY_FIELDS, ENTRY.unpack_from(body, 80 + 152 * i)))
                              for i in range(count)]
        return record

    def open_segment(self, record, entry):
        segment = Segment(os.path.join(self.path, "segments", "%016d.seg" % entry["number"]))
        header = segment.header
        must(header["store_id"] == self.store_id, segment.path, "foreign", "store_id")
        must(header["filter_id"] == record["filter_id"], segment.path, "foreign", "filter_id")
        for field in ENTRY_FIELDS:
            must(field == "items" or entry[field] == header[field], segment.path, "damaged", field)
        return segment

    def check_names(self):
        """Labels, counters and the directory: what can be wrong without a wrong answer."""
        known = set(self.garbage)
        for name, record in self.filters.items():
            must(record["filter_id"] < self.next_filter_id, name, "damaged", "next_filter_id")
            for segment in record["files"]:
                number = segment.header["number"]
                must(number < self.next_segment, segment.path, "damaged", "next_segment")
                label = segment.label()
                must(label is not None, segment.path, "damaged", "no whole label")
                must(label[0] < record["name_sequence"] or label[1] == name,
                     segment.path, "damaged", f"label {label}")
                known.add(number)
        for file in os.listdir(os.path.join(self.path, "segments")):
            must(file in {"%016d.seg" % number for number in known}, file, "foreign", "no filter")

    def list(self):
        for name, record in sorted(self.filters.items(), key=lambda item: item[0].encode()):
            newest = record["files"][-1].header
            yield {"name": name, "kind": KINDS[newest["kind"]], "hash_set": "xxh3",
                   "m_bits": sum(s.header["m_bits"] for s in record["files"]), "k": newest["k"],
                   "seed": newest["seed"], "capacity": record["capacity"],
                   "fp_rate": record["fp_rate"], "items": sum(s.items() for s in record["files"]),
                   "size_bytes": sum(s.header["file_bytes"] for s in record["files"]),
                   "generation": record["generation"]}

    def contains(self, name, key):
        return any(key in segment for segment in self.filters[name]["files"])

    def explain(self, name, key):
        for segment in self.filters[name]["files"]:
            yield "%016x,%016x" % digest(key, segment.header["seed"]), segment.positions(key)


def main(arguments):
    if len(arguments) < 2 or (arguments[1] == "list") != (len(arguments) == 2):
        sys.exit(__doc__)
    store = Store(arguments[0])
    if arguments[1] == "list":
        for line in store.list():
            print(json.dumps(line, ensure_ascii=False))
        return
    for line in sys.stdin:
        key = bytes.fromhex(line)
        if arguments[1] == "check":
            if store.contains(arguments[2], key):
                print(key.hex())
        else:
            for hashes, positions in store.explain(arguments[2], key):
                print(key.hex(), hashes, ",".join(map(str, positions)), sep="\t")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        sys.exit(2)
