# SPDX-License-Identifier: BSD-2-Clause
"""Filters that many processes share and that survive restarts: *have we seen this key before?*

    import tamis

    store = tamis.Store("/var/lib/crawl")
    seen = store.open_or_create("seen", capacity=10_000_000, fp_rate=0.001)
    if seen.add(url):           # of all processes, this one was told that it is new
        fetch(url)

docs/python.md of the source is the tutorial.
"""

from typing import TYPE_CHECKING

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
from ._lists import Keys, keys_of
from ._store import Store
from ._tamis import shard, shard_many, simd, version

if TYPE_CHECKING:
    from ._frontier import Frontier, Item

__version__ = version()
__all__ = [
    "AccessError", "BatchError", "Build", "BuildResult", "BusyError", "ClosedError", "CorruptError", "DroppedError", "Error",
    "ExistsError", "Filter", "FilterStat", "ForeignError", "Frontier", "FullError", "Generation", "InputOutputError",
    "InvalidError", "Item", "Keys", "LimitError", "MismatchError", "NoMemoryError", "NoSpaceError", "NoStoreError", "NotFoundError",
    "ReadOnlyError",
    "Store", "SystemCallError", "UnsupportedError", "VersionError", "keys_of", "shard", "shard_many", "simd", "version",
]


# A type checker would take any name for one of these.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Frontier and Item are loaded when they are asked for: they alone need sqlite3, which not every Python has."""
        if name not in ("Frontier", "Item"):
            raise AttributeError(f"module 'tamis' has no attribute '{name}'")
        try:
            from . import _frontier
        except ImportError as error:
            if error.name not in ("sqlite3", "_sqlite3"):
                raise
            raise ImportError(f"tamis.{name} needs Python's module sqlite3, which this Python cannot load ({error}); install "
                              "it, or a Python that has it.  All else of tamis works without", name=error.name) from error
        value = getattr(_frontier, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
