# SPDX-License-Identifier: BSD-2-Clause
"""A reader of stores that follows docs/format.md, as a check of that page.

It shares no code with the library.  The whole store is checked first: for what section 5.1 says must be refused,
and for what is wrong without a wrong answer (bits past m, lost labels, files of no filter).  Either raises Refused.
Needs python3-lmdb and python3-xxhash.
"""
import contextlib
import fcntl
import mmap
import os
import re
import struct
import time

import lmdb
import xxhash

import at_rest
import hash_sets

MASK = (1 << 64) - 1
KINDS = {1: "blocked", 2: "bloom", 4: "fuse"}
EXCEPTIONS = 5  # the kind of an index
BLOCKED_WORDS = {2: 2, 4: 2, 6: 2, 8: 2, 10: 2,
                 12: 4, 16: 4, 20: 4, 24: 4, 28: 4, 32: 4, 36: 4, 40: 4}
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63)

XXH3, SIP = 1, 8  # the hash sets of every kind (3.4); docs/hash-sets.md has the others, and hash_sets.py
ITEMS_MAX = 1 << 56  # of all stripes; 3.1.5
ON_FULL = ("warn", "grow", "refuse", "warn")
REFUSES = MASK  # as `next`
SPARE = 1 << 62  # as `next`: and the number of the spare that is offered

# 3.1.1; `x` bytes are reserved.
HEADER = struct.Struct("<8sIIIIQQQIIQQIIQdQQQqII64sQI4x32sQdIIqQQqIIIIIIQQII16sII128xQ")
HEADER_FIELDS = ("magic format_version incompat_flags compat_flags header_bytes number filter_id "
                 "store_id kind hash_set seed m_bits k words capacity fp_rate data_offset "
                 "data_bytes file_bytes created_at bit_order stripes parameters generation "
                 "flags kept filter_capacity filter_rate on_full slices window_ns window_items slice "
                 "slice_start step counter_bits fingerprint_bits pieces piece_segments segment_slots "
                 "data_checksum publication keep list_start key_digest "
                 "durable window_from checksum").split()
LABEL = struct.Struct("<QI4x256s40xQ")  # 3.1.2
STORE = struct.Struct("<IIQQQq")  # 2.2
FILTER = struct.Struct("<IIQQQQdqqqQIIqQQdQQIIQQ16s")  # 2.3
FILTER_FIELDS = ("record_version segment_count filter_id name_sequence generation capacity fp_rate "
                 "created_at published_at checkpointed_at flags on_full slices window_ns "
                 "window_items filter_capacity filter_rate publication last_generation keep durable "
                 "exceptions exception_count key_digest").split()
POLICY_FIELDS = "filter_capacity filter_rate on_full slices window_ns window_items window_from".split()
ENTRY = struct.Struct("<QIIQQIIQdQQqII64sQqIIII")
ENTRY_FIELDS = ("number kind hash_set seed m_bits k words capacity fp_rate items file_bytes "
                "created_at bit_order flags parameters slice slice_start step "
                "counter_bits fingerprint_bits pieces").split()
assert (HEADER.size, LABEL.size, STORE.size, FILTER.size, ENTRY.size) == (512, 320, 40, 176, 184)


class Refused(Exception):
    """What section 5.1 says a reader must refuse."""


def must(condition, what, verdict, why):
    if not condition:
        raise Refused(f"{what}: {verdict}: {why}")


def name_form(key):
    """The form of a key by the rule `name`; hash-sets.md."""
    name = key.removesuffix(b".")
    labels = name.split(b".")
    is_name = len(name) <= 253 and all(re.fullmatch(rb"[A-Za-z0-9_-]{1,63}", label) for label in labels)
    return name.lower() if is_name else key


def check_policy(p, what):
    """3.1.4"""
    must(p["on_full"] <= 3, what, "damaged", "on_full")
    must(p["window_from"] <= 1 and p["window_from"] <= p["slices"], what, "damaged", "window_from")
    must(1 <= p["filter_capacity"] <= 1 << 56 and 0 < p["filter_rate"] <= 1,
         what, "damaged", "capacity or rate of the filter")
    if p["window_ns"] or p["window_items"]:
        must(1 <= p["slices"] <= 32, what, "damaged", "slices")
        must(not (p["window_ns"] and p["window_items"]), what, "damaged", "two windows")
        must(p["window_items"] <= 1 << 56, what, "damaged", "window_items")
        must(0 <= p["window_ns"] <= 3155760000000000000, what, "damaged", "window_ns")
        must(not p["window_ns"] or p["window_ns"] // p["slices"] >= 100000000,
             what, "damaged", "length of a slice")
    else:
        must(p["slices"] == 0, what, "damaged", "slices of no window")


def check_place(policy, segment, what):
    """3.1.4: slice, slice_start and step, in a header or an entry."""
    must(segment["step"] <= 63, what, "damaged", "step")
    if policy["slices"] == 0:
        must(segment["slice"] == 0 == segment["slice_start"], what, "damaged", "slice of no window")
        return
    last = (1 << 63) - 1 - policy["window_ns"] - policy["window_ns"] // policy["slices"]
    must(segment["slice"] <= 1 << 62, what, "damaged", "slice")
    must(0 <= segment["slice_start"] <= last, what, "damaged", "slice_start")


def digest(key, seed):
    value = xxhash.xxh3_128_intdigest(key, seed=seed)
    return value >> 64, value & MASK


def digest_of(header, key):
    """high and low, by the header's hash set, XXH3 or SIP"""
    if header["hash_set"] == SIP:
        return hash_sets.siphash_2_4_128(header["parameters"], key)
    return digest(key, header["seed"])


def layouts(bits, static, one_page):
    """3.2; of m bits, of kind 4 (static) more: without and with room for checksums"""
    data_bytes = 8 * ((bits + 63) // 64)
    if one_page:
        return [(2304, data_bytes, 4096)]
    data_offset = 4096 if static or data_bytes < 32 << 20 else 2 << 20
    end = data_offset + data_bytes
    sums = 0 if static else 64 + 8 * ((end - 4096 + 65535) // 65536)
    return [(data_offset, data_bytes, (end + room + 4095) // 4096 * 4096) for room in (0, sums)]


def blocked_positions(header, key):
    """3.3"""
    high, low = digest_of(header, key)
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
    """3.4, hash sets xxh3 and sip"""
    a, b = digest_of(header, key)
    swapped = (a << 32 & MASK) | a >> 32
    mixed = (swapped ^ b) * 0x9E3779B97F4A7C15 & MASK
    c = mixed ^ mixed >> 32
    for _ in range(header["k"]):
        yield a * header["m_bits"] >> 64
        a = a + b & MASK
        b = b + c & MASK


def fuse_seeds_bytes(header):
    return (8 * header["pieces"] + 63) // 64 * 64


def fuse_is_packed(h):
    return h["fingerprint_bits"] not in (8, 16, 32)


def fuse_end_bytes(h):
    """3.6: zeros behind fingerprints that are packed."""
    return 8 if h["pieces"] and fuse_is_packed(h) else 0


def fuse_fault(h):
    """3.6: what no header of this kind has."""
    f, pieces, segments, slots = (h[name] for name in (
        "fingerprint_bits", "pieces", "piece_segments", "segment_slots"))
    if not 8 <= f <= 32 or h["k"] != 3 or h["words"] or h["bit_order"]:
        return True
    if "incompat_flags" in h and h["incompat_flags"] & 1 != fuse_is_packed(h):
        return True
    if pieces == 0:
        return (segments, slots, h["m_bits"]) != (0, 0, 64)
    return (segments < 1 or not 8 <= slots <= 65536 or slots & slots - 1 != 0 or
            (segments + 2) * slots * pieces > 1 << 56 or
            h["m_bits"] != (segments + 2) * slots * pieces * f)


class Segment:
    def __init__(self, path):
        self.path = path
        self.explained = None, None  # a key, and what explain() gave for it
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
        must(h["incompat_flags"] & ~(7 if h["kind"] == 4 else 6) == 0, path, "newer", "incompat_flags")
        # compat_flags say what who writes must know (bit 0: to take room). A reader heeds none of them.
        must(h["checksum"] == xxhash.xxh3_64_intdigest(page[:504]), path, "damaged", "checksum")
        must(h["format_version"] == 1, path, "damaged", "format_version 0")
        one_page = h["incompat_flags"] & 4 != 0
        must((h["header_bytes"], h["stripes"]) == ((2304, 4) if one_page else (4096, 32)), path, "damaged", "shape")
        must(not one_page or h["data_bytes"] <= 1784, path, "damaged", "layout")
        must(not one_page or page[4088:] == b"TAMIS\r\n\0", path, "damaged", "last word")
        must(1 <= h["m_bits"] <= 1 << 62, path, "damaged", "m")
        must(1 <= h["k"] <= 64, path, "damaged", "k")
        must(h["bit_order"] <= 1, path, "newer", "bit_order")
        must(1 <= h["capacity"] <= 1 << 56 and 0 < h["fp_rate"] <= 1, path, "damaged", "capacity or rate")
        seeds = 8 * (fuse_seeds_bytes(h) + fuse_end_bytes(h)) if h["kind"] == 4 and h["pieces"] < 1 << 32 else 0
        must((h["data_offset"], h["data_bytes"], h["file_bytes"]) in layouts(h["m_bits"] + seeds, h["kind"] == 4, one_page),
             path, "damaged", "layout")
        must(size == h["file_bytes"], path, "truncated or damaged", f"{size} bytes")
        h["key_rule"] = self.check_key_rule(page) if h["incompat_flags"] & 2 else b""
        check_policy(h, path)
        check_place(h, h, path)
        must(os.path.basename(path) == "%016d.seg" % h["number"], path, "foreign", "number")
        must(h["kind"] in KINDS or h["kind"] == EXCEPTIONS, path, "newer", "kind")
        must(h["counter_bits"] == 0, path, "damaged", "counters of a kind that has none")
        must(h["kind"] == 4 or h["fingerprint_bits"] == 0 == h["pieces"],
             path, "damaged", "fingerprints of a kind that has none")
        if h["kind"] == 4:
            must(not fuse_fault(h), path, "damaged", "geometry")
            must(h["hash_set"] in (XXH3, SIP), path, "newer", "hash_set")
        elif h["kind"] == EXCEPTIONS:
            must(h["m_bits"] % 64 == 0 and (h["k"], h["words"], h["bit_order"], h["seed"]) ==
                 (1, 0, 0, 0) and h["hash_set"] == XXH3, path, "damaged", "geometry")
        elif h["kind"] == 1:
            must(h["m_bits"] % 512 == 0 and h["words"] == BLOCKED_WORDS.get(h["k"]) and
                 h["bit_order"] == 0, path, "damaged", "geometry")
            must(h["hash_set"] in (XXH3, SIP), path, "newer", "hash_set")
        else:
            must(h["words"] == 0, path, "damaged", "geometry")
            must(1 <= h["hash_set"] <= hash_sets.LAST, path, "newer", "hash_set")
        must(not hash_sets.fault(h["hash_set"], h["parameters"], h["seed"], h["m_bits"], h["k"]),
             path, "damaged", "parameters")
        must(h["hash_set"] != SIP or h["seed"] == 0, path, "damaged", "seed")

    def check_padding(self, size):
        """3.2: what no position reaches is zero.  No answer depends on it; damage shows here."""
        h = self.header
        start = h["data_offset"]
        end = start + h["data_bytes"]
        if h["kind"] != 4 and h["m_bits"] % 64:
            past = range(h["m_bits"], h["data_bytes"] * 8)
            must(not any(map(self.bit, past)), self.path, "damaged", "bits past m")
        if h["incompat_flags"] & 4:
            size = 4088
        must(not any(self.map[h["header_bytes"]:start]) and not any(self.map[at_rest.checked(self, end):size]),
             self.path, "damaged", "bytes around the data")
        if h["kind"] in (4, EXCEPTIONS):
            must(h["data_checksum"] == xxhash.xxh3_64_intdigest(self.map[start:end]),
                 self.path, "damaged", "data_checksum")

    def must_rest(self, condition, what):
        must(condition, self.path, "damaged", f"{what} at rest")

    def check_key_rule(self, page):
        """3.1.8"""
        parts = [page[2048 + 64 * i + 16:2048 + 64 * (i + 1)] for i in range(self.header["stripes"])]
        text = b"".join(parts + [page[1728:2048]])[:512]
        rule = text.rstrip(b"\0")
        must(0 < len(rule) < 512 and b"\0" not in rule, self.path, "damaged", "key rule")
        (key_rule_sum,) = struct.unpack_from("<I", page, 212)
        must(key_rule_sum == xxhash.xxh3_64_intdigest(rule) & 0xffffffff | 1, self.path, "damaged", "sum of the key rule")
        must(rule == b"name", self.path, "newer", "key rule")
        return rule

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
        """3.1.5"""
        stripes = (struct.unpack_from("<Q", self.map, 2048 + 64 * i)[0] for i in range(self.header["stripes"]))
        return sum(min(items, ITEMS_MAX // self.header["stripes"]) for items in stripes)

    def next(self):
        """3.1.3"""
        return struct.unpack_from("<Q", self.map, 1544)[0]

    def is_entered(self):
        """A spare: was it ever the newest segment?  2.3"""
        return bool(self.items() or struct.unpack_from("<Q", self.map, 1568)[0])

    def hash_set(self):
        """Its name."""
        return hash_sets.name_of(self.header["hash_set"], self.header["parameters"])

    def explain(self, key):
        """The raw hash values, as the command writes them, and the positions.  The last key is often asked
        for again."""
        if self.explained[0] != key:
            self.explained = key, self.explain_anew(key)
        return self.explained[1]

    def explain_anew(self, key):
        h = self.header
        if h["kind"] == 4:
            digest_64, slots, fingerprint = self.fuse_place(key)
            return "%016x,%0*x" % (digest_64, (h["fingerprint_bits"] + 3) // 4, fingerprint), slots
        if h["hash_set"] in (XXH3, SIP):
            rule = blocked_positions if h["kind"] == 1 else bloom_positions
            return "%016x,%016x" % digest_of(h, key), list(rule(h, key))
        raw, positions = hash_sets.positions_of(h["hash_set"], h["parameters"], h["seed"], key, h["m_bits"], h["k"])
        return ",".join(raw), positions

    def bit(self, position):
        """3.2"""
        byte = self.map[self.header["data_offset"] + position // 8]
        return byte >> (7 - position % 8 if self.header["bit_order"] else position % 8) & 1

    def fuse_place(self, key):
        """3.6: the digest, the three slots, the fingerprint."""
        h = self.header
        low = digest_of(h, key)[1]
        pieces, segments, slots = h["pieces"], h["piece_segments"], h["segment_slots"]
        if pieces == 0:
            return low, [0, 0, 0], 0
        piece = low * pieces >> 64
        (seed,) = struct.unpack_from("<Q", self.map, h["data_offset"] + 8 * piece)
        first = (low * pieces & MASK) * (segments * slots) >> 64
        x = (low ^ seed) * 0x9E3779B97F4A7C15
        mixed = x >> 64 ^ x & MASK
        start = piece * (segments + 2) * slots
        return low, [start + first, start + (first + slots ^ mixed % slots),
                     start + (first + 2 * slots ^ (mixed >> 16) % slots)], (
                         mixed >> 32) % (1 << h["fingerprint_bits"])

    def fuse_slot(self, slot):
        count = self.header["fingerprint_bits"]
        start = self.header["data_offset"] + fuse_seeds_bytes(self.header) + slot * count // 8
        return (int.from_bytes(self.map[start:start + 8], "little") >> slot * count % 8) % (1 << count)

    def __contains__(self, key):
        if self.header["kind"] != 4:
            return all(map(self.bit, self.explain(key)[1]))
        _, (a, b, c), fingerprint = self.fuse_place(key)
        return self.header["pieces"] != 0 and (
            self.fuse_slot(a) ^ self.fuse_slot(b) ^ self.fuse_slot(c)) == fingerprint

    def exceptions(self):
        """3.7: [(key, generation)] of an index, by its records; each must be found by its slot."""
        data = self.map[self.header["data_offset"]:][:self.header["data_bytes"]]
        count, slots, size, by_build = struct.unpack_from("<QQQQ", data)
        must(slots >= max(8, 2 * count) and slots & slots - 1 == 0 and
             len(data) == 64 + 8 * slots + size and self.header["capacity"] == max(1, count) and
             not any(data[32:64]), self.path, "damaged", "index")
        table = struct.unpack_from(f"<{slots}Q", data, 64)
        records, found, at = data[64 + 8 * slots:], [], 0
        while at < size:
            generation, length = struct.unpack_from("<QI", records, at)
            key = records[at + 12:at + 12 + length]
            hashed = xxhash.xxh3_64_intdigest(key)
            slot = hashed % slots
            while table[slot] not in (0, hashed >> 40 << 40 | 1 + at // 8):
                slot = (slot + 1) % slots
            must(table[slot] != 0, self.path, "damaged", "slot of an exception")
            at += (12 + length + 7) // 8 * 8
            must(not any(records[at - (-(12 + length) % 8):at]), self.path, "damaged", "padding")
            found.append((key, generation))
        must(at == size and len(found) == count == slots - table.count(0),
             self.path, "damaged", "exceptions of an index")
        must(found == sorted(found), self.path, "damaged", "order of the exceptions")
        must(sum(g & ~(1 << 63) != 0 for _, g in found) == by_build, self.path, "damaged", "found")
        return found


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
                self.open_record(record)
            for record in self.kept.values():
                self.open_record(record)
            self.check_exceptions()
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
        self.kept = {}
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
        for filter_id, generation in self.kept:
            must(filter_id in self.ids, catalog, "damaged", f"generation of no filter {filter_id}")
            must(generation <= self.filters[self.ids[filter_id]]["last_generation"], catalog,
                 "damaged", f"generation {generation}")

    def read_record(self, key, value):
        must(len(key) == {b"i": 9, b"g": 9, b"v": 17, b"u": 9, b"b": 1}.get(key[:1], len(key)),
             key, "damaged", "size of the key")
        if key == b"s":
            body = check_value(key, value, 48)
            version, store_format, self.store_id, self.next_filter_id, self.next_segment, _ = (
                STORE.unpack(body))
            must(version == 1 and store_format <= 2, key, "newer", "record_version or format")
        elif key == b"p":
            must(len(check_value(key, value, 16)) == 8, key, "damaged", "size")
        elif key[:1] == b"f":
            self.filters[key[1:].decode()] = self.read_filter(key, check_value(key, value, 184))
        elif key[:1] == b"v":
            record = self.read_filter(key, check_value(key, value, 184))
            must(struct.unpack(">QQ", key[1:]) == (record["filter_id"], record["generation"]),
                 key, "damaged", "a generation of another key")
            self.kept[record["filter_id"], record["generation"]] = record
        elif key[:1] == b"i":
            (filter_id,) = struct.unpack(">Q", key[1:])
            self.ids[filter_id] = check_value(key, value, 9).decode()
        elif key == b"b":
            must(len(check_value(key, value, 24)) == 16, key, "damaged", "size")
        elif key[:1] == b"u":
            body = check_value(key, value, 24)
            must(len(body) == 16 and body != bytes(16) or len(body) == 24 and body[16:] != bytes(8),
                 key, "damaged", "no trouble")
        elif key[:1] == b"g":
            must(check_value(key, value, 8) == b"", key, "damaged", "garbage with a value")
            self.garbage.add(struct.unpack(">Q", key[1:])[0])

    @staticmethod
    def read_filter(key, body):
        record = dict(zip(FILTER_FIELDS, FILTER.unpack_from(body)))
        must(record["record_version"] in (1, 3), key, "newer", "record_version")
        count = record["segment_count"]
        end = 176 + 184 * count
        rule = body[end:].rstrip(b"\0")
        must(1 <= count <= 64 and len(body) - end == (len(rule) + 7) // 8 * 8 <= 512, key, "damaged", "segment_count")
        must((record["record_version"] == 3) == bool(record["flags"] & 16) == bool(rule), key, "damaged", "key rule")
        record["key_rule"] = rule
        record["flags"] &= ~16
        record["segments"] = [dict(zip(ENTRY_FIELDS, ENTRY.unpack_from(body, 176 + 184 * i)))
                              for i in range(count)]
        must(record["flags"] <= 3 and record["durable"] <= 1, key, "newer", "flags")
        record["window_from"] = record["flags"] >> 1
        check_policy(record, key)
        must(record["keep"] <= 1000 and record["generation"] <= record["last_generation"],
             key, "damaged", "generations")
        must(record["exceptions"] or not record["exception_count"], key, "damaged", "exceptions")
        must(1 <= record["capacity"] <= 1 << 62 and 0 < record["fp_rate"] <= 1,
             key, "damaged", "capacity or rate")
        spares = [entry.pop("flags") for entry in record["segments"]]
        must(max(spares) <= 1, key, "newer", "flags of a segment")
        must(spares[0] == 0 and spares == sorted(spares), key, "damaged", "place of a spare")
        record["spare_count"] = sum(spares)
        for entry in record["segments"]:
            check_place(record, entry, key)
            must(entry["items"] <= 1 << 56, key, "damaged", "items")
        slices = [entry["slice"] for entry in record["segments"]]
        must(slices == sorted(slices), key, "damaged", "order of the slices")
        return record

    def open_record(self, record):
        files = [self.open_segment(record, entry) for entry in record["segments"]]
        count = len(files) - record["spare_count"]
        is_behind = False
        while count < len(files) and (files[count - 1].next() == files[count].header["number"] or
                                      files[count].is_entered()):  # 2.3: entered since
            record["last_generation"] += 1
            record["generation"] = record["last_generation"]
            count += 1
            is_behind = True
        record["files"], record["spares"] = files[:count], files[count:]
        del record["segments"][count:]
        if is_behind and record["on_full"] == 1:
            record["capacity"] = (files[count - 1].header["capacity"] +
                                  sum(file.items() for file in files[:count - 1]))

    def check_exceptions(self):
        """2.6: each list has the index that its record names."""
        for record in [*self.filters.values(), *self.kept.values()]:
            record["excepted"] = set()
            if not record["exceptions"]:
                continue
            index = Segment(os.path.join(self.path, "segments",
                                         "%016d.seg" % record["exceptions"]))
            must((index.header["kind"], index.header["store_id"], index.header["filter_id"]) ==
                 (EXCEPTIONS, self.store_id, record["filter_id"]), index.path, "foreign", "index")
            found = index.exceptions()
            must(len(found) == record["exception_count"], index.path, "damaged", "exception_count")
            record["excepted"] = {key for key, _ in found}

    def open_segment(self, record, entry):
        segment = Segment(os.path.join(self.path, "segments", "%016d.seg" % entry["number"]))
        header = segment.header
        must(header["store_id"] == self.store_id, segment.path, "foreign", "store_id")
        must(header["filter_id"] == record["filter_id"], segment.path, "foreign", "filter_id")
        for field in entry:
            must(field == "items" or entry[field] == header[field], segment.path, "damaged", field)
        return segment

    def check_list(self, record):
        """What all segments say of the list, and how they are linked; 3.1.3 and 3.1.4."""
        following = [entry["number"] for entry in record["segments"][1:]] + [None]
        for segment, number in zip(record["files"], following):
            for field in POLICY_FIELDS:
                must(segment.header[field] == record[field], segment.path, "damaged", field)
            if number is None:  # the newest; a list in force again may still name one that followed it
                offers = [SPARE | spare.header["number"] for spare in record["spares"][:1]]
                sound = (segment.next() < self.next_segment or segment.next() in offers or
                         segment.next() == REFUSES and record["on_full"] == 2)
            else:
                sound = segment.next() in (0, number)
            must(sound, segment.path, "damaged", "next")

    def check_names(self):
        """Labels, counters and the directory: what can be wrong without a wrong answer."""
        known = set(self.garbage)
        for name, record in self.filters.items():
            must(record["filter_id"] < self.next_filter_id, name, "damaged", "next_filter_id")
            self.check_list(record)
            kept = [r for (filter_id, _), r in self.kept.items()
                    if filter_id == record["filter_id"]]
            known.update(r["exceptions"] for r in [record, *kept] if r["exceptions"])
            for segment in sum((r["files"] for r in kept), record["files"] + record["spares"]):
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
            capacity = record["filter_capacity" if record["slices"] else "capacity"]
            yield {"name": name, "kind": KINDS[newest["kind"]],
                   "hash_set": record["files"][-1].hash_set(),
                   "m_bits": sum(s.header["m_bits"] for s in record["files"]), "k": newest["k"],
                   "seed": newest["seed"], "capacity": capacity,
                   "fp_rate": record["fp_rate"], "items": sum(s.items() for s in self.alive(name)),
                   "size_bytes": sum(s.header["file_bytes"] for s in record["files"]),
                   "generation": record["generation"], "on_full": ON_FULL[record["on_full"]],
                   "window_from": ("last", "first")[record["window_from"]] if record["slices"] else "none",
                   "slices": record["slices"], "window_items": record["window_items"],
                   "window_seconds": record["window_ns"] / 1e9}

    def alive(self, name):
        """The segments that the window still has; 2.3."""
        record = self.filters[name]
        files, newest = record["files"], record["files"][-1].header["slice"]
        length = record["window_ns"] // max(record["slices"], 1)
        gone = time.time_ns() - length - record["window_ns"]
        first = len(files) if record["slices"] else 0
        while first > 0 and files[first - 1].header["slice"] + record["slices"] >= newest and (
                not length or files[first - 1].header["slice_start"] > gone):
            first -= 1
        return files[first:]

    def contains(self, name, key):
        if self.filters[name]["key_rule"] == b"name":
            key = name_form(key)
        return (any(key in segment for segment in self.alive(name)) and
                key not in self.filters[name]["excepted"])

    def explain(self, name, key):
        for segment in self.filters[name]["files"]:
            yield segment.explain(key)
