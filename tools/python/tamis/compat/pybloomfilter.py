# SPDX-License-Identifier: BSD-2-Clause
"""pybloomfiltermmap3's class BloomFilter, on filters of Tamis:  from tamis.compat.pybloomfilter import BloomFilter

It answers as pybloomfiltermmap3 0.6 does; add() is True for a key that was there already.  `filename` is the directory of
a store, which processes may share; no bit is lost between them.  Files of pybloomfiltermmap3 itself cannot be read, because
their bits come from another hash, and are never removed.
"""

from __future__ import annotations

import array
import base64
import errno
import hashlib
import json
import math
import os
import random
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from .._filter import Filter
from .._store import Store
from . import _bits

NAME, HEAD = "bloom", "pybloomfilter.json"


def _key(item: Any) -> str | bytes:
    # 0xff begins no UTF-8, so these are not the keys of a str.
    return item if isinstance(item, (str, bytes)) else b"\xff" + struct.pack("<q", hash(item))


def _is_empty_file(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) == 0


class BloomFilter:
    """A filter of fixed size, in memory or, with `filename`, in a store that other processes open too."""

    def __init__(self, capacity: int, error_rate: float, filename: str | None = None, perm: int = 0o755,
                 hash_seeds: Sequence[int] | None = None, data_array: bytes | None = None) -> None:
        if not 0 < error_rate < 1:
            raise ValueError("error_rate allowable range (0.0, 1.0) %f" % (error_rate,))
        for seed in hash_seeds or ():
            if not isinstance(seed, int) or seed < 0 or seed.bit_length() > 32:
                raise ValueError(f"invalid hash seed '{seed}', must be >= 0 and up to 32 bits in size")
        if data_array is not None and (filename or not hash_seeds):
            raise ValueError("data_array is for a filter in memory, with hash_seeds")
        hashes = len(hash_seeds or ()) or max(math.floor(math.log2(1 / error_rate)), 1)
        seeds = list(hash_seeds or (random.getrandbits(32) for _ in range(hashes)))
        each = math.ceil(capacity * abs(math.log(error_rate)) / (hashes * math.log(2) ** 2))
        head = {"capacity": capacity, "error_rate": error_rate, "hash_seeds": seeds,
                "num_bits": (max(hashes * each, 128) + 7) // 8 * 8, "counts": True}
        self._begin(head, filename, perm)
        if data_array is not None:
            self._filter._set_data(data_array, 0)
            self._head["counts"] = False

    def _begin(self, head: dict[str, Any], filename: str | None, perm: int = 0o755) -> None:
        self._head, self._path, self._read_only, self._closed = head, filename, False, False
        if not filename:
            self._filter = self._make(None)
            return
        if _is_empty_file(filename):  # as tempfile.NamedTemporaryFile makes, for a name that is free
            os.unlink(filename)
        if os.path.exists(filename) and not os.path.exists(os.path.join(filename, HEAD)):
            raise FileExistsError(errno.EEXIST, "not a filter of tamis.compat.pybloomfilter, so it stays", filename)
        if not os.path.isdir(filename):
            os.mkdir(filename, mode=perm | 0o700)
        with Store(filename) as store:
            if NAME in store:
                store.drop(NAME)
            self._filter = self._make(store)
        self._write_head()

    def _make(self, store: Store | None, name: str = NAME) -> Filter:
        seeds = array.array("I", self._head["hash_seeds"]).tobytes()
        seed = int.from_bytes(hashlib.sha256(seeds).digest()[:8], "little")
        bits, hashes = self._head["num_bits"], len(self._head["hash_seeds"])
        if store is None:
            return _bits.new_filter(self, bits, hashes, seed)
        return store.create(name, kind="bloom", m_bits=bits, k=hashes, seed=seed, on_full="warn")

    def _write_head(self) -> None:
        if self._path:
            temporary = os.path.join(self._path, f"{HEAD}.{os.getpid()}")
            with open(temporary, "w", encoding="ascii") as file:
                json.dump(self._head, file)
            os.replace(temporary, os.path.join(self._path, HEAD))

    @classmethod
    def open(cls, filename: str, mode: str = "rw") -> BloomFilter:
        if not os.path.exists(filename):
            raise FileNotFoundError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}: {filename}")
        self = cls.__new__(cls)
        try:
            with open(os.path.join(filename, HEAD), encoding="ascii") as file:
                self._head = json.load(file)
            self._path, self._read_only, self._closed = filename, "w" not in mode, False
            self._filter = Store(filename, create=False, read_only=self._read_only)[NAME]
        except (NotADirectoryError, FileNotFoundError, ValueError, LookupError) as error:
            raise ValueError(f"Invalid {cls.__name__} file: {filename}") from error
        return self

    def _assert(self, writable: bool = False) -> None:
        if self._closed:
            raise ValueError(f"I/O operation on closed {type(self).__name__} file")
        if writable and self._read_only:
            raise ValueError(f"Write operation on read-only {type(self).__name__} file")

    def _value(self, name: str) -> Any:
        self._assert()
        return self._head[name]

    capacity = property(lambda self: self._value("capacity"), doc="The keys that it was made for.")
    error_rate = property(lambda self: self._value("error_rate"), doc="The rate at capacity.")
    hash_seeds = property(lambda self: array.array("I", self._value("hash_seeds")), doc="They choose the bits of keys.")
    num_hashes = property(lambda self: len(self._value("hash_seeds")), doc="Bits of a key.")
    num_bits = property(lambda self: self._value("num_bits"), doc="Bits of the filter.")
    bit_count = property(lambda self: _bits.count(self._open_filter()), doc="Bits that are set.")
    bit_array = property(lambda self: int.from_bytes(self.data_array, "big"), doc="The bits, as a number.")

    @property
    def data_array(self) -> bytes:
        """The bits."""
        return b"".join(_bits.pieces(self._open_filter()))

    def _open_filter(self) -> Filter:
        self._assert()
        return self._filter

    @property
    def approx_len(self) -> int:
        """The number of keys, estimated from the bits."""
        return round(_bits.estimate(self.num_bits, self.num_hashes, self.bit_count))

    @property
    def filename(self) -> str:
        self._assert()
        if not self._path:
            raise NotImplementedError(f"Cannot access .name on an in-memory {type(self).__name__}")
        return self._path

    @property
    def name(self) -> bytes:
        return self.filename.encode()

    @property
    def read_only(self) -> bool:
        self._assert()
        return self._read_only

    def fileno(self) -> int:
        """0, as of a filter in memory: a store has several files."""
        self._assert()
        return 0

    def add(self, item: Any) -> bool:
        """Add a key.  True: it was there already, the other way round than tamis.Filter.add()."""
        self._assert(True)
        return not self._filter.add(_key(item))

    def update(self, iterable: Iterable[Any]) -> None:
        self._assert(True)
        self._filter.update(map(_key, iterable))

    def __contains__(self, item: Any) -> bool:
        self._assert()
        return _key(item) in self._filter

    def __len__(self) -> int:
        self._assert()
        return len(self._filter) if self._head["counts"] else self.approx_len

    def _other(self, other: BloomFilter) -> Filter:
        self._assert(True)
        other._assert()
        if (other.num_bits, other.hash_seeds) != (self.num_bits, self.hash_seeds):
            raise ValueError("The two BloomFilter objects are not the same type (hint: use copy_template)")
        self._head["counts"] = False
        self._write_head()
        return other._filter

    def union(self, other: BloomFilter) -> BloomFilter:
        """Bring in the keys of another one, made by copy_template()."""
        _bits.fill(self._filter, _bits.pieces(self._other(other)))
        return self

    def intersection(self, other: BloomFilter) -> BloomFilter:
        """Keep the keys that are in the other one too."""
        self._replace(_bits.common(self._filter, self._other(other)))
        return self

    __ior__, __iand__ = union, intersection

    def _replace(self, data: Iterable[bytes]) -> None:
        """Other processes that have it open are told that it was dropped, and open it again."""
        if not self._path:
            made = self._make(None)
            _bits.fill(made, data)
        else:
            with Store(self._path) as store:
                made = self._make(store, NAME + ".new")
                _bits.fill(made, data)
                store.drop(NAME)
                store.rename(NAME + ".new", NAME)
        self._filter.close()
        self._filter = made

    def clear_all(self) -> None:
        self._assert(True)
        self._head["counts"] = True
        self._replace(())
        self._write_head()

    def copy_template(self, filename: str | None = None, perm: int = 0o755) -> BloomFilter:
        """A new one that is empty and made alike."""
        self._assert()
        made = BloomFilter.__new__(type(self))
        made._begin(self._head | {"counts": True}, filename, perm)
        return made

    def copy(self, filename: str) -> BloomFilter:
        self._assert()
        if not self._path:
            raise NotImplementedError(f"Cannot call .copy on an in-memory {type(self).__name__}")
        made = self.copy_template(filename)
        _bits.fill(made._filter, _bits.pieces(self._filter))
        made._head["counts"] = False
        made._write_head()
        return made

    def to_base64(self) -> bytes:
        """Not pybloomfiltermmap3's text: from_base64() of this class reads it."""
        self.filename
        return base64.b64encode(zlib.compress(json.dumps(self._head).encode() + b"\n" + self.data_array))

    @classmethod
    def from_base64(cls, filename: str, string: bytes, perm: int = 0o755) -> BloomFilter:
        head, data = zlib.decompress(base64.b64decode(string)).split(b"\n", 1)
        return _rebuild(cls, json.loads(head), data, filename, perm)

    def __reduce__(self) -> tuple[Any, ...]:
        self._assert()
        if self._path:
            return type(self).open, (os.path.abspath(self._path), "r" if self._read_only else "rw")
        return _rebuild, (type(self), self._head, self.data_array)

    def sync(self) -> None:
        self._assert(True)
        self._filter.sync()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._filter.close()

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} capacity: {self.capacity}, error: {self.error_rate:0.3f}, "
                f"num_hashes: {self.num_hashes}>")


def _rebuild(cls: type[BloomFilter], head: dict[str, Any], data: bytes, filename: str | None = None,
             perm: int = 0o755) -> BloomFilter:
    made = cls.__new__(cls)
    made._begin(dict(head, counts=False), filename, perm)
    made._filter._set_data(data, 0)
    return made
