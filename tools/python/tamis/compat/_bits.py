# SPDX-License-Identifier: BSD-2-Clause
"""Filters of a fixed size, as the other packages have them: of kind bloom, with bits that can be read and set.

Those without a file are in a store of this process, in memory if there is /dev/shm, which goes when the process ends.
"""

from __future__ import annotations

import atexit
import itertools
import math
import os
import shutil
import tempfile
import weakref

from .._filter import Filter
from .._store import Store

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


def masked(a: bytes, b: bytes) -> bytes:
    return (int.from_bytes(a, "little") & int.from_bytes(b, "little")).to_bytes(len(a), "little")


def is_subset(a: bytes, b: bytes) -> bool:
    return not int.from_bytes(a, "little") & ~int.from_bytes(b, "little")


def count(data: bytes) -> int:
    return int.from_bytes(data, "little").bit_count()


def estimate(m_bits: int, k: int, ones: int) -> float:
    """How many keys have set so many bits (Swamidass and Baldi 2007)."""
    return math.inf if ones >= m_bits else m_bits / k * abs(math.log1p(-ones / m_bits))
