# SPDX-License-Identifier: BSD-2-Clause
"""A second cuckoo filter of RedisBloom, in Python, to compare that of the module with."""
import struct

M = 0xC6A4A7935BD1E995
ALL = (1 << 64) - 1
OTHER = 0x5BD1E995


def murmur(data):
    """MurmurHash64A with seed 0."""
    h = len(data) * M & ALL
    for at in range(0, len(data) - 7, 8):
        k = struct.unpack_from("<Q", data, at)[0] * M & ALL
        k = (k ^ k >> 47) * M & ALL
        h = (h ^ k) * M & ALL
    rest = data[len(data) & ~7:]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * M & ALL
    h = (h ^ h >> 47) * M & ALL
    return h ^ h >> 47


def power_above(number):
    return 1 << max(number - 1, 0).bit_length()


class Full(Exception):
    pass


class Cuckoo:
    def __init__(self, capacity, bucket_size=2, max_iterations=20, expansion=1):
        self.size, self.most = bucket_size, max_iterations
        self.expansion = power_above(expansion) if expansion else 0
        self.first = power_above(capacity // bucket_size)
        self.items = self.deletes = 0
        self.filters = []
        self.grow()

    def grow(self):
        buckets = self.first * self.expansion ** len(self.filters) if self.filters else self.first
        self.filters.append([[0] * self.size for _ in range(buckets)])

    def places(self, item):
        h = murmur(item)
        print_ = h % 255 + 1
        return print_, (h, h ^ print_ * OTHER)

    def find(self, filters, hashes, print_):
        """The first bucket and slot that have the fingerprint."""
        for buckets in filters:
            for h in hashes:
                bucket = buckets[h % len(buckets)]
                if print_ in bucket:
                    return bucket, bucket.index(print_)
        return None

    def contains(self, item):
        print_, hashes = self.places(item)
        return self.find(self.filters, hashes, print_) is not None

    def count(self, item):
        print_, hashes = self.places(item)
        return sum(buckets[h % len(buckets)].count(print_) for buckets in self.filters for h in hashes)

    def evict(self, print_, h):
        buckets = self.filters[-1]
        steps, at, slot = [], h % len(buckets), 0
        for _ in range(self.most):
            steps.append((at, slot))
            print_, buckets[at][slot] = buckets[at][slot], print_
            at = (at ^ print_ * OTHER) % len(buckets)
            if 0 in buckets[at]:
                buckets[at][buckets[at].index(0)] = print_
                return True
            slot = (slot + 1) % self.size
        for at, slot in reversed(steps):
            print_, buckets[at][slot] = buckets[at][slot], print_
        return False

    def add(self, item):
        print_, hashes = self.places(item)
        while True:
            found = self.find(reversed(self.filters), hashes, 0)
            if found:
                found[0][found[1]] = print_
            if found or self.evict(print_, hashes[0]):
                self.items += 1
                return
            if self.expansion == 0:
                raise Full
            self.grow()

    def remove(self, item):
        print_, hashes = self.places(item)
        found = self.find(reversed(self.filters), hashes, print_)
        if not found:
            return False
        found[0][found[1]] = 0
        self.items -= 1
        self.deletes += 1
        if len(self.filters) > 1 and self.deletes * 10 > self.items:
            self.compact(False)
        return True

    def compact(self, go_on=True):
        for i in range(len(self.filters) - 1, 0, -1):
            emptied = True
            for at, bucket in enumerate(self.filters[i]):
                for slot, print_ in enumerate(bucket):
                    if print_ == 0:
                        continue
                    found = self.find(self.filters[:i], (at, at ^ print_ * OTHER), 0)
                    if found:
                        found[0][found[1]] = print_
                        bucket[slot] = 0
                    else:
                        emptied = False
            if emptied and i == len(self.filters) - 1:
                self.filters.pop()
            if not emptied and not go_on:
                break
        self.deletes = 0

    def slots(self):
        return [bytes(slot for bucket in buckets for slot in bucket) for buckets in self.filters]

    def head(self):
        return struct.pack("<QQQQHHH", self.items, self.first, self.deletes, len(self.filters), self.size,
                           self.most, self.expansion)
