# SPDX-License-Identifier: BSD-2-Clause
"""Filter, Build, and what is known of a filter."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING, Any, BinaryIO

from . import _tamis

if TYPE_CHECKING:
    from ._store import Store
    from ._types import Keys

READ_ONLY, CREATE, NO_SYNC, POPULATE = 0x10, 0x20, 0x40, 0x80  # TAMIS_OPEN_*
FORCE_NETWORK_FS = 0x100
FILTER_DURABLE = 1
FILTER_FROM_FIRST = 4
EXPORT_WITH_KEY, EXPORT_WITH_DIGEST = 0x200000, 0x800000
STATES = ("full", "degraded", "unclean", "damaged", "over")  # TAMIS_STATE_*, from bit 0 on


def _states(bits: int) -> frozenset[str]:
    return frozenset(name for bit, name in enumerate(STATES) if bits >> bit & 1)


@dataclasses.dataclass(frozen=True, slots=True)
class FilterStat:
    """What is known of a filter.  Times are in nanoseconds since 1970-01-01 UTC; 0 means never."""

    name: str
    kind: str
    """"blocked", "bloom", "counting" or "fuse"."""
    hash_set: str
    k: int
    m_bits: int
    seed: int
    capacity: int
    fp_rate: float
    """The rate of false positives that the filter was made for, at capacity."""
    items: int
    """How many adds have answered True, less removes."""
    size_bytes: int
    predicted_rate: float
    """The rate at the present number of items, by formula."""
    generation: int
    segment_count: int
    states: frozenset[str]
    """Empty if all is well; else some of "full", "degraded", "unclean", "damaged", "over"."""
    created_at: int
    published_at: int
    checkpointed_at: int
    window_ns: int
    window_items: int
    slices: int
    live_slices: int
    on_full: str
    """"grow", "refuse" or "warn"."""
    counter_bits: int
    fingerprint_bits: int
    exceptions: int
    keep: int
    durable: bool
    key_rule: str
    """What the key of a record is: "bytes", or the rule by which the library makes the form of a key."""
    window_from: str | None
    unclean_since: int
    degraded_since: int
    bits_per_key: float
    room: int | None
    """How many keys it takes before it needs another segment, or refuses; None: any number, or not known."""
    pages: str
    """"auto", "small" or "huge"."""
    lacks_bytes: int
    """What the disk lacks for the next segment of a filter that is "full" for want of it, about; else 0."""
    imported_at: int
    """When the list in force was imported; 0: it was not."""
    imported_from: str
    imported_digest: str
    imported_signed_at: int
    """When it was signed, by the signature that was checked; 0: it was not."""
    imported_signed_by: str
    imported_signed_comment: str
    missing_keys: int
    """How many keys of an unclean filter are known to be missing; 0: not known."""

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> FilterStat:
        fields["states"] = _states(fields.pop("state"))
        for later in fields.keys() - _FIELDS:  # what a later library tells besides has no place here
            del fields[later]
        return cls(**fields)


_FIELDS = frozenset(field.name for field in dataclasses.fields(FilterStat))


@dataclasses.dataclass(frozen=True, slots=True)
class Generation:
    """A version of a filter that is built anew: the one in force, or one that is kept."""

    generation: int
    in_force: bool
    kind: str
    segment_count: int
    items: int
    size_bytes: int
    fp_rate: float
    exceptions: int
    published_at: int
    key_digest: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did."""

    keys: int
    distinct: int
    generation: int
    exceptions: int
    found: int
    conflicts: int
    sampled: int
    sampled_yes: int
    size_bytes: int
    key_digest: bytes
    published: bool
    """False: if_changed was given, and nothing has changed."""


class Filter(_tamis.Filter):
    """An open filter, which any number of processes and threads may use at once.

    A filter of a store is opened by store["name"], store.create(...) or store.open_or_create(...).  Keys are str (as
    UTF-8), bytes, or objects with a buffer.  `key in f` answers True for every key that was added, and for others at the
    rate of false positives.

    It pickles as path and name: the other process opens the same filter.  It survives fork().
    """

    def __init__(self, store: Store, name: str, *, read_only: bool = False, no_sync: bool = False,
                 populate: bool = False, _mode: int = 0, _flags: int = 0, _spec: tuple[Any, ...] | None = None) -> None:
        self._path = store.path
        self._name = name
        self._reopen = store._reopen_filter
        if store.read_only:
            read_only = True
        self._flags = _flags | read_only * READ_ONLY | no_sync * NO_SYNC | populate * POPULATE
        _tamis.filter_open(self, store, name, _mode, self._flags, _spec)

    @property
    def name(self) -> str:
        """The name by which the filter was opened."""
        return self._name

    @property
    def path(self) -> str:
        """The directory of the store."""
        return self._path

    @property
    def items(self) -> int:
        """How many keys were new, as len()."""
        return len(self)

    @property
    def stat(self) -> FilterStat:
        """What is known of the filter now.  Reads no bits, so it costs microseconds."""
        return FilterStat._of(self._stat())

    def export(self, file: str | os.PathLike[str] | BinaryIO, format: str = "tamis", *, with_key: bool = False,
               digest: bool = False) -> None:
        """Write the filter as a stream of a format: "tamis", "redisbloom", "guava", "spark", "parquet", "dcso", "pybloomfilter", "redis-bitmap".

        docs/exchange.md has the formats.

        file        a path, which gets this name when all is written; or a binary file that is open
        with_key    also what is secret: a seed other than 0, the key of hash set sip
        digest      begin the stream with its digest, so that Store.import_() with if_changed reads no further; "tamis" alone
        """
        flags = EXPORT_WITH_KEY * with_key | EXPORT_WITH_DIGEST * digest
        if not isinstance(file, (str, os.PathLike)):
            self._export(file.write, format, flags)
            return
        path = os.fspath(file)
        temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        try:
            with open(temporary, "xb") as into:
                self._export(into.write, format, flags)
                into.flush()
                os.fsync(into.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise

    def __ior__(self, other: Filter | Keys) -> Filter:
        """Bring in all keys of another filter, which must be made alike, or of an iterable."""
        if isinstance(other, Filter):
            if other is not self:
                self.merge(other)
        else:
            self.update(other)
        return self

    def __bool__(self) -> bool:
        return True  # a filter without keys is a filter

    def __iter__(self) -> Any:
        raise TypeError("a filter does not know its keys, so it cannot list them")

    def __enter__(self) -> Filter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reopen, (self._path, self._name, self._flags)

    def __repr__(self) -> str:
        closed = ", closed" if self.closed else ""
        return f"<tamis.Filter {self._name!r} in {os.fspath(self._path)!r}{closed}>"


class Build(_tamis.Build):
    r"""The next generation of a filter, made from all of its keys.

        with store.build("blacklist", fp_rate=0.001) as build, open("list", "rb") as lines:
            build.add_many(line.rstrip(b"\r\n") for line in lines)

    The end of the with block publishes the generation, unless an exception ends it.  `result` says what was done.  Until
    then, and if anything fails, the generation before it stays in force.
    """

    def __init__(self, store: Store, name: str, spec: tuple[Any, ...] | None, memory_bytes: int, threads: int,
                 flags: int, keep: int) -> None:
        self.result: BuildResult | None = None
        _tamis.build_open(self, store, name, spec, memory_bytes, threads, flags, keep)

    def publish(self) -> BuildResult:
        """Make the generation, verify it and put it in force."""
        published, fields = self._publish()
        self.result = BuildResult(published=published, **fields)
        self.close()
        return self.result

    def __enter__(self) -> Build:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is None and not self.closed:
                self.publish()
        finally:
            self.close()
