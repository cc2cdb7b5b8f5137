# SPDX-License-Identifier: BSD-2-Clause
"""rbloom's class Bloom, on filters of Tamis:  from tamis.compat.rbloom import Bloom

It answers as rbloom 1.5 does.  What save() writes is not rbloom's format, and rbloom's files are refused: their bits
come from another hash.  After fork() both processes use the same filter, where rbloom has two.
"""

from __future__ import annotations

import builtins
import io
import itertools
import math
import operator
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NoReturn

from . import _bits

MAGIC = b"tamis.rbloom\0\0\0\1"
HEAD = struct.Struct("<16sQQ")  # MAGIC, bits, hashes


def _check_kept(hash_func: Callable[[Any], int], verb: str) -> None:
    if hash_func is builtins.hash:
        raise ValueError(f"Cannot {verb} a bloom filter that uses the built-in hash function")


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

    def _new(self) -> Bloom:
        made = Bloom.__new__(type(self))
        made._open(self._m_bits, self._k, self._hash)
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
        return _bits.estimate(self._m_bits, self._k, _bits.count(self._filter))

    def add(self, obj: Any, /) -> None:
        self._filter.add(self._key(obj))

    def __contains__(self, obj: Any) -> bool:
        return self._key(obj) in self._filter

    def __bool__(self) -> bool:
        return not _bits.is_empty(self._filter)

    def __repr__(self) -> str:
        return f"<Bloom size_in_bits={self._m_bits} approx_items={self.approx_items:.1f}>"

    def update(self, *others: Iterable[Any] | Bloom) -> None:
        for other in others:
            if isinstance(other, Bloom):
                _bits.fill(self._filter, _bits.pieces(self._like(other)._filter))
            else:
                self._filter.update(map(self._key, other))

    def intersection_update(self, *others: Iterable[Any] | Bloom) -> None:
        kept = self._filter
        for other in others:
            both = self._new()._filter
            _bits.fill(both, _bits.common(kept, self._like(other)._filter))
            kept = both
        self._filter = kept

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
        return _bits.is_subset(self._filter, self._like(other)._filter)

    def issuperset(self, other: Bloom, /) -> bool:
        return self._like(other).issubset(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bloom):
            return NotImplemented
        return _bits.is_equal(self._filter, self._like(other)._filter)

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
        made = self._new()
        _bits.fill(made._filter, _bits.pieces(self._filter))
        return made

    def _saved(self) -> Iterator[bytes]:
        _check_kept(self._hash, "save")
        return itertools.chain([HEAD.pack(MAGIC, self._m_bits, self._k)], _bits.pieces(self._filter))

    def save_bytes(self) -> bytes:
        return b"".join(self._saved())

    def save(self, filepath: str | bytes | os.PathLike[Any]) -> None:
        saved = self._saved()
        with open(filepath, "wb") as file:
            file.writelines(saved)

    @classmethod
    def load_bytes(cls, data: bytes, hash_func: Callable[[Any], int]) -> Bloom:
        return cls._load(io.BytesIO(data), hash_func)

    @classmethod
    def _load(cls, file: BinaryIO, hash_func: Callable[[Any], int]) -> Bloom:
        _check_kept(hash_func, "load")
        if not file.seekable():
            file = io.BytesIO(file.read())
        size = file.seek(0, os.SEEK_END) - HEAD.size
        file.seek(0)
        head = file.read(HEAD.size)
        if head[:len(MAGIC)] != MAGIC or size < 0:
            raise ValueError("not saved by tamis.compat.rbloom; what rbloom itself saved cannot be read, as its bits come "
                             "from another hash: make the filter anew from its keys")
        _, m_bits, k = HEAD.unpack(head)
        # Checked before anything is made of that size.
        if not 0 < m_bits <= 8 * size or not 0 < k < 1000:
            raise ValueError("damaged: the bits are fewer than the head says")
        made = cls.__new__(cls)
        made._open(m_bits, k, hash_func)
        if size != _bits.size(made._filter):
            raise ValueError("damaged: the bits are not as many as the head says")
        _bits.fill(made._filter, _bits.cut(file.read))
        return made

    @classmethod
    def load(cls, filepath: str | bytes | os.PathLike[Any], hash_func: Callable[[Any], int]) -> Bloom:
        _check_kept(hash_func, "load")
        with open(filepath, "rb") as file:
            return cls._load(file, hash_func)

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle 'rbloom.Bloom' object")
