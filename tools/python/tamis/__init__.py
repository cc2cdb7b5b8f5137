# SPDX-License-Identifier: BSD-2-Clause
"""Filters that many processes share and that survive restarts: *have we seen this key before?*

    import tamis

    store = tamis.Store("/var/lib/crawl")
    seen = store.open_or_create("seen", capacity=10_000_000, fp_rate=0.001)
    if seen.add(url):           # of all processes, this one was told that it is new
        fetch(url)

docs/python.md of the source is the tutorial.
"""

from ._errors import (
    AccessError,
    BatchError,
    BusyError,
    ClosedError,
    CorruptError,
    DroppedError,
    Error,
    ExistsError,
    ForeignError,
    FullError,
    InputOutputError,
    InvalidError,
    LimitError,
    MismatchError,
    NoMemoryError,
    NoSpaceError,
    NoStoreError,
    NotFoundError,
    ReadOnlyError,
    SystemCallError,
    UnsupportedError,
    VersionError,
)
from ._filter import Build, BuildResult, Filter, FilterStat, Generation
from ._frontier import Frontier, Item
from ._store import Store
from ._tamis import shard, shard_many, simd, version

__version__ = version()
__all__ = [
    "AccessError", "BatchError", "Build", "BuildResult", "BusyError", "ClosedError", "CorruptError", "DroppedError", "Error",
    "ExistsError", "Filter", "FilterStat", "ForeignError", "Frontier", "FullError", "Generation", "InputOutputError",
    "InvalidError", "Item", "LimitError", "MismatchError", "NoMemoryError", "NoSpaceError", "NoStoreError", "NotFoundError",
    "ReadOnlyError",
    "Store", "SystemCallError", "UnsupportedError", "VersionError", "shard", "shard_many", "simd", "version",
]
