# SPDX-License-Identifier: BSD-2-Clause
"""rbloom's class Bloom, on filters of Tamis:  from tamis.compat.rbloom import Bloom

It answers as rbloom 1.5 does.  What save() writes is not rbloom's format, and rbloom's files are refused: their bits
come from another hash.  After fork() both processes use the same filter, where rbloom has two.
"""

from __future__ import annotations

import builtins
import math
import operator
import os
import struct
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from . import _bits

MAGIC = b"tamis.rbloom\0\0\0\1"
HEAD = struct.Struct("<16sQQ")  # MAGIC, bits, hashes


class Bloom:
    """A Bloom filter with the methods of set.  hash_func must give an integer from -2**127 to 2**127 - 1."""

    def __init__(self, expected_items: int, false_positive_rate: float,
                 hash_func: Callable[[Any], int] | None = builtins.hash) -> None:
        expected_items = operator.index(expected_items)
        if expected_items < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if expected_items == 0:
            raise ValueError("expected_items must be greater than 0")
        if not 0 < false_positive_rate < 1:
            raise ValueError("false_positive_rate must be between 0 and 1")
        # rbloom's sizes: whole bits, then whole bytes; and k = m/n ln 2 of the bits before that.
        # Where these are 0, 8 and 1: rbloom makes a filter that panics.
        bits = -expected_items * math.log(false_positive_rate) / math.log(2) ** 2
        m_bits = max(8, -(-int(bits) // 8) * 8)
        self._open(m_bits, max(1, int(bits / expected_items * math.log(2))), hash_func)

    def _open(self, m_bits: int, k: int, hash_func: Callable[[Any], int] | None) -> None:
        hash_func = builtins.hash if hash_func is None else hash_func
        if not callable(hash_func):
            raise TypeError("hash_func must be callable")
        self._m_bits, self._k, self._hash = m_bits, k, hash_func
        self._filter = _bits.new_filter(self, m_bits, k, 0)

    def _new(self, data: bytes = b"") -> Bloom:
        made = Bloom.__new__(type(self))
        made._open(self._m_bits, self._k, self._hash)
        if data:
            made._filter._set_data(data)
        return made

    def _key(self, obj: Any) -> bytes:
        return operator.index(self._hash(obj)).to_bytes(16, "little", signed=True)

    def _like(self, other: Any) -> Bloom:
        """The other one, or a new one of the items of an iterable."""
        if not isinstance(other, Bloom):
            made = self._new()
            made._filter.update(map(self._key, other))
            return made
        if (other._m_bits, other._k) != (self._m_bits, self._k):
            raise ValueError("size and max false positive rate must be the same for both filters")
        if other._hash is not self._hash:
            raise ValueError("Bloom filters must have the same hash function")
        return other

    @property
    def size_in_bits(self) -> int:
        return self._m_bits

    @property
    def hash_func(self) -> Callable[[Any], int]:
        return self._hash

    @property
    def approx_items(self) -> float:
        """Estimated from the bits."""
        return _bits.estimate(self._m_bits, self._k, _bits.count(self._filter._data()))

    def add(self, obj: Any, /) -> None:
        self._filter.add(self._key(obj))

    def __contains__(self, obj: Any) -> bool:
        return self._key(obj) in self._filter

    def __bool__(self) -> bool:
        return any(self._filter._data())

    def __repr__(self) -> str:
        return f"<Bloom size_in_bits={self._m_bits} approx_items={self.approx_items:.1f}>"

    def update(self, *others: Iterable[Any] | Bloom) -> None:
        for other in others:
            if isinstance(other, Bloom):
                self._filter._set_data(self._like(other)._filter._data())
            else:
                self._filter.update(map(self._key, other))

    def intersection_update(self, *others: Iterable[Any] | Bloom) -> None:
        data = self._filter._data()
        for other in others:
            data = _bits.masked(data, self._like(other)._filter._data())
        self._filter = self._new(data)._filter

    def union(self, *others: Iterable[Any] | Bloom) -> Bloom:
        made = self.copy()
        made.update(*others)
        return made

    def intersection(self, *others: Iterable[Any] | Bloom) -> Bloom:
        made = self.copy()
        made.intersection_update(*others)
        return made

    def __or__(self, other: Bloom) -> Bloom:
        return self.union(other) if isinstance(other, Bloom) else NotImplemented

    def __ior__(self, other: Bloom) -> Bloom:
        if not isinstance(other, Bloom):
            return NotImplemented
        self.update(other)
        return self

    def __and__(self, other: Bloom) -> Bloom:
        return self.intersection(other) if isinstance(other, Bloom) else NotImplemented

    def __iand__(self, other: Bloom) -> Bloom:
        if not isinstance(other, Bloom):
            return NotImplemented
        self.intersection_update(other)
        return self

    def issubset(self, other: Bloom, /) -> bool:
        return _bits.is_subset(self._filter._data(), self._like(other)._filter._data())

    def issuperset(self, other: Bloom, /) -> bool:
        return self._like(other).issubset(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bloom):
            return NotImplemented
        return self._filter._data() == self._like(other)._filter._data()

    __hash__ = None  # type: ignore[assignment]

    def __le__(self, other: Bloom) -> bool:
        return self.issubset(other) if isinstance(other, Bloom) else NotImplemented

    def __ge__(self, other: Bloom) -> bool:
        return self.issuperset(other) if isinstance(other, Bloom) else NotImplemented

    def __lt__(self, other: Bloom) -> bool:
        return self <= other and self != other if isinstance(other, Bloom) else NotImplemented

    def __gt__(self, other: Bloom) -> bool:
        return self >= other and self != other if isinstance(other, Bloom) else NotImplemented

    def clear(self) -> None:
        self._filter = self._new()._filter

    def copy(self) -> Bloom:
        return self._new(self._filter._data())

    def save_bytes(self) -> bytes:
        if self._hash is builtins.hash:
            raise ValueError("Cannot save a bloom filter that uses the built-in hash function")
        return HEAD.pack(MAGIC, self._m_bits, self._k) + self._filter._data()

    def save(self, filepath: str | bytes | os.PathLike[Any]) -> None:
        data = self.save_bytes()
        with open(filepath, "wb") as file:
            file.write(data)

    @classmethod
    def load_bytes(cls, data: bytes, hash_func: Callable[[Any], int]) -> Bloom:
        if hash_func is builtins.hash:
            raise ValueError("Cannot load a bloom filter that uses the built-in hash function")
        if data[:len(MAGIC)] != MAGIC or len(data) < HEAD.size:
            raise ValueError("not saved by tamis.compat.rbloom; what rbloom itself saved cannot be read, as its bits come "
                             "from another hash: make the filter anew from its keys")
        _, m_bits, k = HEAD.unpack_from(data)
        # Checked before anything is made of that size.
        if not 0 < m_bits <= 8 * (len(data) - HEAD.size) or not 0 < k < 1000:
            raise ValueError("damaged: the bits are fewer than the head says")
        made = cls.__new__(cls)
        made._open(m_bits, k, hash_func)
        if len(data) - HEAD.size != len(made._filter._data()):
            raise ValueError("damaged: the bits are not as many as the head says")
        made._filter._set_data(data[HEAD.size:])
        return made

    @classmethod
    def load(cls, filepath: str | bytes | os.PathLike[Any], hash_func: Callable[[Any], int]) -> Bloom:
        if hash_func is builtins.hash:
            raise ValueError("Cannot load a bloom filter that uses the built-in hash function")
        with open(filepath, "rb") as file:
            return cls.load_bytes(file.read(), hash_func)

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle 'rbloom.Bloom' object")
