# SPDX-License-Identifier: BSD-2-Clause
"""A reader of streams of format tamis that follows docs/exchange.md, as a check of that page.

It shares no code with the library.  What a reader must refuse raises Refused.  Filters of kind counting are left to
tests/unit.  Needs python3-xxhash.
"""
import struct

import xxhash

import hash_sets
from reader import BLOCKED_WORDS, SIP, XXH3, Refused, Segment, check_place, check_policy, fuse_fault
from reader import fuse_end_bytes, fuse_is_packed, fuse_seeds_bytes, must

HEAD = struct.Struct("<8sIIQdIIqQQdQ16s")
HEAD_FIELDS = ("magic version segments capacity fp_rate on_full slices window_ns window_items "
               "filter_capacity filter_rate exceptions key_digest").split()
DESCRIPTION = struct.Struct("<IIQQIIQdQQqII64s32sQqIIIIIIQ")
DESCRIPTION_FIELDS = ("kind hash_set seed m_bits k words capacity fp_rate items data_bytes created_at "
                      "bit_order flags parameters kept slice slice_start step counter_bits "
                      "fingerprint_bits pieces piece_segments segment_slots data_checksum").split()
assert (HEAD.size, DESCRIPTION.size) == (96, 224)
FUSE = 4
NOT_FUSE = "fingerprint_bits pieces piece_segments segment_slots data_checksum".split()


class StreamSegment(Segment):
    """A segment whose data lie in a stream; it is asked as one of a store."""

    def __init__(self, description, stream, offset):  # pylint: disable=super-init-not-called
        self.explained = None, None
        self.header = dict(description, data_offset=offset)
        self.map = stream


class Stream:
    def __init__(self, data):
        self.data = data
        must(data[:8] == b"TAMISX\r\n" and len(data) >= HEAD.size, "stream", "foreign", "magic")
        self.head = dict(zip(HEAD_FIELDS, HEAD.unpack_from(data)))
        must(1 <= self.head["version"] <= 4, "stream", "newer", "version")
        must(1 <= self.head["segments"] <= 64, "stream", "damaged", "segments")
        end = HEAD.size + DESCRIPTION.size * self.head["segments"]
        must(len(data) >= end + 8 + 16, "stream", "truncated", "head")
        (checksum,) = struct.unpack_from("<Q", data, end)
        must(checksum == xxhash.xxh3_64_intdigest(data[:end]), "stream", "damaged", "head")
        must(data[-16:] == xxhash.xxh3_128_digest(data[:-16]), "stream", "damaged", "checksum")
        self.at = end + 8
        self.check_head()
        self.segments = [self.read_segment(i) for i in range(self.head["segments"])]
        self.exceptions = [self.read_exception() for _ in range(self.head["exceptions"])]
        keys = [key for _, key in self.exceptions]
        must(all(a < b for a, b in zip(keys, keys[1:])), "stream", "damaged", "order of exceptions")
        must(self.at == len(data) - 16, "stream", "damaged", "length")
        self.check_list()

    def check_head(self):
        head = self.head
        head["window_from"] = head["on_full"] >> 31 if head["version"] == 4 else 0
        head["on_full"] &= ~(head["window_from"] << 31)
        check_policy(head, "stream")
        must(1 <= head["capacity"] <= 1 << 62 and 0 < head["fp_rate"] <= 1, "stream", "damaged", "capacity or rate")
        must(head["exceptions"] <= 10000000, "stream", "damaged", "exceptions")
        if head["version"] == 1:
            must(head["exceptions"] == 0 and not any(head["key_digest"]), "stream", "newer", "head")

    def take(self, count):
        must(count <= len(self.data) - 16 - self.at, "stream", "truncated", "data")
        self.at += count
        return self.data[self.at - count:self.at]

    def read_segment(self, index):
        d = dict(zip(DESCRIPTION_FIELDS,
                     DESCRIPTION.unpack_from(self.data, HEAD.size + DESCRIPTION.size * index)))
        what = f"segment {index}"
        must(d["kind"] in (1, 2, FUSE), what, "newer", "kind")
        must(1 <= d["m_bits"] <= 1 << 62 and 1 <= d["k"] <= 64, what, "damaged", "m or k")
        must(1 <= d["capacity"] <= 1 << 56 and 0 < d["fp_rate"] <= 1, what, "damaged", "capacity or rate")
        must(d["items"] <= 1 << 56 and d["flags"] <= 1 and d["bit_order"] <= 1 and d["counter_bits"] == 0,
             what, "damaged", "items, flags, order or counters")
        check_place(self.head, d, what)
        if d["kind"] == FUSE:
            must(self.head["version"] == (3 if fuse_is_packed(d) else 2) and not fuse_fault(d), what, "damaged", "geometry")
            must(d["hash_set"] in (XXH3, SIP), what, "newer", "hash_set")
            slots = d["m_bits"] // d["fingerprint_bits"]
            must(bool(d["items"]) == bool(d["pieces"]) and d["items"] <= min(d["capacity"], slots),
                 what, "damaged", "items")
            size = 8 * ((8 * (fuse_seeds_bytes(d) + fuse_end_bytes(d)) + d["m_bits"] + 63) // 64)
        else:
            must(not any(d[field] for field in NOT_FUSE), what, "newer", "fields of kind fuse")
            must(d["kind"] == 2 or d["words"] == BLOCKED_WORDS.get(d["k"]) and d["m_bits"] % 512 == 0,
                 what, "damaged", "geometry")
            known = (XXH3, SIP) if d["kind"] == 1 else range(1, hash_sets.LAST + 1)
            must(d["hash_set"] in known, what, "newer", "hash_set")
            must(d["kind"] == 2 or d["bit_order"] == 0, what, "damaged", "bit_order")
            must(d["kind"] == 1 or d["words"] == 0, what, "damaged", "words")
            size = 8 * ((d["m_bits"] + 63) // 64)
        must(not hash_sets.fault(d["hash_set"], d["parameters"], d["seed"], d["m_bits"], d["k"]), what, "damaged", "parameters")
        must(d["hash_set"] != SIP or d["seed"] == 0, what, "damaged", "seed")
        must(d["items"] == 0 or d["kind"] == FUSE or any(self.data[self.at:self.at + size]),
             what, "damaged", "items of no bits")
        must(d["data_bytes"] == size, what, "damaged", "bytes of data")
        segment = StreamSegment(d, self.data, self.at)
        data = self.take(size)
        if d["kind"] == FUSE:
            must(d["data_checksum"] == xxhash.xxh3_64_intdigest(data), what, "damaged", "data")
        else:
            must(not any(map(segment.bit, range(d["m_bits"], 8 * size))), what, "damaged", "bits past m")
        return segment

    def read_exception(self):
        length, how = struct.unpack("<II", self.take(8))
        must(length <= 65535 and 1 <= how <= 3, "stream", "damaged", "exception")
        return how, self.take(length)

    def check_list(self):
        slices = [s.header["slice"] for s in self.segments]
        must(slices == sorted(slices), "stream", "damaged", "order of the slices")
        if any(s.header["kind"] == FUSE for s in self.segments):
            must(len(slices) == 1 and self.head["slices"] == 0 and self.head["on_full"] in (0, 3),
                 "stream", "damaged", "list of kind fuse")
        elif self.head["version"] == 2:
            must(self.exceptions, "stream", "damaged", "version 2 of nothing")
        else:
            must(self.head["version"] in (1, 4 * self.head["window_from"]), "stream", "damaged", "version")

    def __contains__(self, key):
        return key not in {k for _, k in self.exceptions} and any(key in s for s in self.segments)

    def info(self):
        return {"version": self.head["version"], "capacity": self.head["capacity"],
                "items": sum(s.header["items"] for s in self.segments),
                "exceptions": len(self.exceptions), "kinds": [s.header["kind"] for s in self.segments]}
