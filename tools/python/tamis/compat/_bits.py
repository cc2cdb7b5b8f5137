# SPDX-License-Identifier: BSD-2-Clause
"""Filters of a fixed size, as the other packages have them: of kind bloom, with bits that can be read and set.

Those without a file are in a store of this process, in memory if there is /dev/shm, which goes when the process ends.
"""

from __future__ import annotations

import atexit
import itertools
import math
import operator
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator

from .._filter import Filter
from .._store import Store

PIECE = 256 << 10  # bytes

_numbers = itertools.count()
_private: dict[int, Store] = {}  # by process, since a child of fork() must not remove its parent's


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def private_store() -> Store:
    process = os.getpid()
    if process not in _private:
        place = tempfile.mkdtemp(prefix="tamis-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        atexit.register(_remove, place, process)
        _private[process] = Store(os.path.join(place, "store"))
    return _private[process]


def _drop(store: Store, name: str, owner: int) -> None:
    if os.getpid() == owner and not store.closed:
        try:
            store.drop(name)
        except Exception:  # at exit the store may be gone
            pass


def new_filter(owner: object, m_bits: int, k: int, seed: int) -> Filter:
    """A filter in the store of this process, which is dropped when `owner` is collected or holds another."""
    store, name = private_store(), f"{os.getpid()}-{next(_numbers)}"
    made = store.create(name, kind="bloom", m_bits=m_bits, k=k, seed=seed, on_full="warn")
    weakref.finalize(made, _drop, store, name, os.getpid())
    return made


# Filters may be as large as the memory, so what is done to all of their bits is done piece by piece.


def pieces(filter: Filter) -> Iterator[bytes]:
    """The bits, of which each piece but the last has PIECE bytes."""
    for number in itertools.count():
        data = filter._data(number * PIECE, PIECE)
        if not data:
            return
        yield data


def size(filter: Filter) -> int:
    """The bytes of the bits."""
    return -(-filter.stat.m_bits // 64) * 8


def fill(filter: Filter, data: Iterable[bytes]) -> None:
    """Set the bits that are set in these pieces."""
    offset = 0
    for piece in data:
        filter._set_data(piece, offset)
        offset += len(piece)


def cut(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """What read(n) gives, piece by piece."""
    return iter(lambda: read(PIECE), b"")


def common(a: Filter, b: Filter) -> Iterator[bytes]:
    """The bits that both have."""
    for one, other in zip(pieces(a), pieces(b)):
        both = int.from_bytes(one, "little") & int.from_bytes(other, "little")
        yield both.to_bytes(len(one), "little")


def is_subset(a: Filter, b: Filter) -> bool:
    return all(not int.from_bytes(one, "little") & ~int.from_bytes(other, "little")
               for one, other in zip(pieces(a), pieces(b)))


def is_equal(a: Filter, b: Filter) -> bool:
    return all(map(operator.eq, pieces(a), pieces(b)))


def is_empty(filter: Filter) -> bool:
    return all(piece == bytes(len(piece)) for piece in pieces(filter))


def count(filter: Filter) -> int:
    return sum(int.from_bytes(piece, "little").bit_count() for piece in pieces(filter))


def estimate(m_bits: int, k: int, ones: int) -> float:
    """How many keys have set so many bits (Swamidass and Baldi 2007)."""
    return math.inf if ones >= m_bits else m_bits / k * abs(math.log1p(-ones / m_bits))
