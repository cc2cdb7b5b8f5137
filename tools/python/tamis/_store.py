# SPDX-License-Identifier: BSD-2-Clause
"""Store: a directory of named filters."""

from __future__ import annotations

import builtins
import contextlib
import datetime
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from . import _tamis
from ._errors import ExistsError, InvalidError, MismatchError, NotFoundError
from ._filter import (CREATE, FILTER_DURABLE, FILTER_FROM_FIRST, FORCE_NETWORK_FS, READ_ONLY, Build, Filter, FilterStat,
                      Generation)

PAGES = {"auto": 0, "small": 1, "huge": 2}  # enum tamis_pages
ON_FULL = {None: 0, "grow": 1, "refuse": 2, "warn": 3}  # enum tamis_on_full
BUILD_IF_CHANGED, BUILD_KEEP = 0x400, 0x800
PUBLISH_IF_CHANGED, PUBLISH_KEEP, PUBLISH_NEWER = 0x2000, 0x4000, 0x8000
MERGE_INTERSECT = 0x1000000
MANY_IF_MISSING = 0x200
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}  # as the command has them
Duration = datetime.timedelta | float | int | str


def seconds_of(window: Duration) -> float:
    """The seconds of a window: of a number of them, of a timedelta, or of text such as "30d" (s, m, h, d or w)."""
    if isinstance(window, datetime.timedelta):
        return window.total_seconds()
    try:
        if isinstance(window, str):
            unit = SECONDS.get(window[-1:])
            return float(window) if unit is None else float(window[:-1]) * unit
        return window if isinstance(window, int) else float(window)
    except (TypeError, ValueError):
        raise InvalidError(f"a window is a number of seconds, a timedelta, or text with s, m, h, d or w such as '30d', not "
                           f"{window!r}") from None


def _nanoseconds(window: Duration | None) -> int:
    if window is None:
        return 0
    if isinstance(window, datetime.timedelta):
        return window // datetime.timedelta(microseconds=1) * 1000
    seconds = seconds_of(window)
    if seconds != seconds or seconds < 0:
        raise InvalidError(f"a window of {window!r} is no time to remember keys for; give more than 0, or None for no window")
    return round(seconds * 1_000_000_000)


def _spec(capacity: int = 0, fp_rate: float = 0, kind: str | None = None, *, hash_set: str | None = None, seed: int = 0,
          k: int = 0, m_bits: int = 0, on_full: str | None = None, window: Duration | None = None,
          window_items: int = 0, slices: int = 0, counter_bits: int = 0, durable: bool = False,
          secret: bytes = b"", window_from: str = "last", pages: str = "auto",
          key_rule: str | None = None) -> tuple[Any, ...]:
    """The tuple that fields.c takes."""
    if window_from not in ("first", "last"):
        raise ValueError(f"window_from is 'first' or 'last', not {window_from!r}")
    if on_full not in ON_FULL:
        raise ValueError(f"on_full is 'grow', 'refuse' or 'warn', not {on_full!r}")
    flags = FILTER_DURABLE * durable | FILTER_FROM_FIRST * (window_from == "first")
    return (capacity, fp_rate, kind, k, m_bits, hash_set, seed, ON_FULL[on_full], slices, _nanoseconds(window),
            window_items, counter_bits, flags, secret, _pages(pages), key_rule)


def rule_of(key_rule: str | None) -> str:
    """A key rule as filters have it: its options in order.  None is "bytes".  Raises InvalidError for what is no rule."""
    if key_rule in (None, "bytes", "name", "url"):
        return key_rule or "bytes"
    with tempfile.TemporaryDirectory() as place, Store(os.path.join(place, "store")) as store:
        with store.create("rule", 1, key_rule=key_rule) as made:
            return str(made.stat.key_rule)


def open_any_size(store: Store, name: str, capacity: int, fp_rate: float, key_rule: str | None) -> Filter:
    """A filter that is there, whatever its size, if it has the key rule; otherwise one that is made."""
    if name not in store:
        return store.open_or_create(name, capacity, fp_rate, key_rule=key_rule)
    found = store.open(name)
    has = found.stat.key_rule
    if key_rule is None or rule_of(key_rule) == has:
        return found
    found.close()
    raise MismatchError(f"the filter {name!r} is there already with key rule {has}, not {key_rule}; leave key_rule out, or give "
                        "another name")


def _pages(pages: str) -> int:
    if pages not in PAGES:
        raise ValueError(f"pages is 'auto', 'small' or 'huge', not {pages!r}")
    return PAGES[pages]


def _reopen_filter(path: str, name: str, flags: int) -> Filter:
    return Filter(Store(path, create=False, read_only=bool(flags & READ_ONLY)), name, _flags=flags)


class Store(_tamis.Store):
    """A directory of filters, which many processes share without a server.

    It looks like a mapping: store["name"] opens a filter, `name in store`, len(store), and iteration over names in their
    byte order.  store["name"] opens it anew each time, so keep what it returns.

    create          make the store if there is none; not for a read-only one
    read_only       every filter is opened read-only, and nothing is written
    mode            of the files of a new store, such as 0o660; None: 0o666 less umask
    busy_timeout    seconds that a call waits for another process that has a lock of the store
    """

    _reopen_filter = staticmethod(_reopen_filter)  # what a Filter pickles as

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True, read_only: bool = False,
                 mode: int | None = None, busy_timeout: float = 10, force_network_fs: bool = False) -> None:
        given = os.fsdecode(path)
        if not given:
            raise InvalidError("the path of the store is empty; name a directory (\".\" is the working directory)")
        scheme, separator, _ = given.partition("://")
        if separator and "/" not in scheme:  # abspath() would make a directory's name of it
            raise InvalidError(f"{given.split('@')[-1]!r} is a URL, and a store is a directory; give its path.  Filters on a Redis "
                               "server are for tamis.scrapy, the command 'tamis --store URL', and any client of Redis")
        self._path = os.path.abspath(given)
        self._read_only = read_only
        flags = READ_ONLY if read_only else create * CREATE
        flags |= force_network_fs * FORCE_NETWORK_FS
        milliseconds = round(busy_timeout * 1000)
        _tamis.store_open(self, self._path, flags, mode or 0, milliseconds if milliseconds > 0 else -1)

    @property
    def path(self) -> str:
        """The directory, as an absolute path."""
        return self._path

    @property
    def read_only(self) -> bool:
        return self._read_only

    # The names.

    def __getitem__(self, name: str) -> Filter:
        return Filter(self, name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(name) and bool(self._list(name, False, True))

    def __iter__(self) -> Iterator[str]:
        return iter([fields["name"] for fields in self._list("", False, False)])

    def __len__(self) -> int:
        return len(self._list("", False, False))

    def __bool__(self) -> bool:
        return True  # a store without filters is a store

    def list(self, prefix: str = "") -> list[FilterStat]:
        """What is known of each filter whose name begins with the prefix, with the items of now."""
        return [FilterStat._of(fields) for fields in self._list(prefix, True, False)]

    # Making and opening.

    def open(self, name: str, *, read_only: bool = False, no_sync: bool = False, populate: bool = False) -> Filter:
        """Open a filter.

        no_sync     closing it brings nothing to the disk; a later sync does
        populate    bring all of it into memory first
        """
        return Filter(self, name, read_only=read_only, no_sync=no_sync, populate=populate)

    def create(self, name: str, capacity: int = 0, fp_rate: float = 0, *, kind: str | None = None,
               hash_set: str | None = None, seed: int = 0, k: int = 0, m_bits: int = 0, on_full: str | None = None,
               window: Duration | None = None, window_items: int = 0, slices: int = 0, counter_bits: int = 0,
               durable: bool = False, secret: bytes = b"",
               window_from: str = "last", pages: str = "auto", key_rule: str | None = None) -> Filter:
        """Make a filter, and open it.

        capacity    distinct keys for which the rate holds
        fp_rate     rate of false positives; 0: 1 %
        kind        "blocked" (the default), "bloom" or "counting"; store.build() makes "fuse"
        on_full     "grow" (the default): further files; "refuse": FullError; "warn": a worse rate
        window      a timedelta, seconds, or "30d" (s, m, h, d or w): keys are forgotten after that, and at most a slice later
        window_from "last" (the default): a window after the last add of a key; "first": after the first, so a key that
                    keeps coming is new again once a window
        durable     add() returns True only once a power cut cannot take the key
        pages       pages of memory: "auto", "small" or "huge" (set_pages() changes it)
        key_rule    what the key of a record is: "bytes" (the default), "name" for hosts, "url" for URLs; docs/keys.md has the rules
        """
        return Filter(self, name, _mode=1, _spec=_spec(
            capacity, fp_rate, kind, hash_set=hash_set, seed=seed, k=k, m_bits=m_bits, on_full=on_full, window=window,
            window_items=window_items, slices=slices, counter_bits=counter_bits, durable=durable, secret=secret,
            window_from=window_from, pages=pages, key_rule=key_rule))

    def set_pages(self, name: str, pages: str) -> None:
        """Change in which pages of memory a filter is mapped, for all processes: "auto", "small" or "huge".

        What is in memory stays as it is until it leaves it, or until the next sync() has it come anew.
        """
        self._set_pages(name, _pages(pages))

    def open_or_create(self, name: str, capacity: int = 0, fp_rate: float = 0, *, kind: str | None = None,
                       hash_set: str | None = None, seed: int = 0, k: int = 0, m_bits: int = 0,
                       on_full: str | None = None, window: Duration | None = None, window_items: int = 0,
                       slices: int = 0, counter_bits: int = 0, durable: bool = False, secret: bytes = b"",
                       window_from: str = "last", key_rule: str | None = None,
                       whatever_is_there: bool = False) -> Filter:
        """Open a filter, or make it if there is none; of many processes one makes it.  The arguments are those of
        create().  MismatchError says which field of a filter that is there differs from them.

        whatever_is_there   a filter that is there is taken as it is, and the other arguments only say what is made if
                            there is none
        """
        spec = _spec(
            capacity, fp_rate, kind, hash_set=hash_set, seed=seed, k=k, m_bits=m_bits, on_full=on_full, window=window,
            window_items=window_items, slices=slices, counter_bits=counter_bits, durable=durable, secret=secret,
            window_from=window_from, key_rule=key_rule)
        return self._open_any(name, spec) if whatever_is_there else Filter(self, name, _mode=2, _spec=spec)

    def create_many(self, names: Iterable[str], capacity: int = 0, fp_rate: float = 0, *, kind: str | None = None,
                    hash_set: str | None = None, seed: int = 0, k: int = 0, m_bits: int = 0, on_full: str | None = None,
                    window: Duration | None = None, window_items: int = 0, slices: int = 0, counter_bits: int = 0,
                    durable: bool = False, secret: bytes = b"", window_from: str = "last", key_rule: str | None = None,
                    if_missing: bool = False) -> int:
        """Make many filters, without opening them, and return how many were made.  The other arguments are those of
        create().

        They are made in batches of some hundred, each in one transaction, which is much faster than one after the other.
        After an exception the batch of the name that it tells is not there, and all before it are.

        if_missing  a filter that is there already is left as it is; MismatchError if it is not what the arguments say
        """
        spec = _spec(
            capacity, fp_rate, kind, hash_set=hash_set, seed=seed, k=k, m_bits=m_bits, on_full=on_full, window=window,
            window_items=window_items, slices=slices, counter_bits=counter_bits, durable=durable, secret=secret,
            window_from=window_from, key_rule=key_rule)
        if isinstance(names, str):
            raise TypeError("names is a list of names, or another iterable of them; create() makes one filter")
        return self._create_many(tuple(names), spec, MANY_IF_MISSING * if_missing)

    def _open_any(self, name: str, spec: tuple[Any, ...]) -> Filter:
        while True:  # again if another process made or dropped it in between
            try:
                return Filter(self, name)
            except NotFoundError:
                pass
            try:
                return Filter(self, name, _mode=1, _spec=spec)
            except ExistsError:
                pass

    def merge(self, name: str, *filters: Filter, intersect: bool = False) -> Filter:
        """Make a filter of the keys that are in any of the filters, or in all of them."""
        self._merge(name, filters, MERGE_INTERSECT * intersect)
        return Filter(self, name)

    def build(self, name: str, capacity: int = 0, fp_rate: float = 0, *, kind: str | None = None,
              hash_set: str | None = None, seed: int = 0, key_rule: str | None = None, memory_bytes: int = 0,
              threads: int = 0, if_changed: bool = False, keep: int | None = None) -> Build:
        """Begin the next generation of a filter, which is made anew as a whole; see Build.

        kind            "fuse" (the default), "blocked" or "bloom"
        key_rule        as of create(); None: that of the filter, or "bytes" for a new one
        memory_bytes    for keys, before they go to a file; 0: a quarter of what is free
        if_changed      publish nothing if the keys are those of the generation in force
        keep            how many older generations are kept for rollback(); None: as before
        """
        flags = BUILD_IF_CHANGED * if_changed | BUILD_KEEP * (keep is not None)
        return Build(self, name, _spec(capacity, fp_rate, kind, hash_set=hash_set, seed=seed, key_rule=key_rule),
                     memory_bytes, threads, flags, keep or 0)

    def import_(self, name: str, file: str | os.PathLike[str] | BinaryIO, format: str = "tamis", *,
                hash_set: str | None = None, m_bits: int = 0, k: int = 0, capacity: int = 0,
                fp_rate: float = 0, publish: bool = False, if_changed: bool = False,
                newer: bool = False, keep: int | None = None) -> Filter:
        """Make a filter of what Filter.export(), `tamis export` or another program wrote, and open it.

        file        a path, or a binary file that is open
        format      "tamis", "redisbloom", "dcso", "pybloomfilter", "guava", "spark", "parquet" or "redis-bitmap"; the other arguments
                    are what the last four do not tell (docs/exchange.md)
        publish     make the stream the next generation of the filter, whatever that is, in one step, as Build.publish()
                    does; there need not be one
        if_changed  with publish: publish nothing if that list is in force already
        newer       with publish: only what was made after the list in force; MismatchError of an older one, and nothing of that list
        keep        with publish: how many older generations are kept for rollback(); None: as before
        """
        if not publish and (if_changed or newer or keep is not None):
            raise ValueError("if_changed, newer and keep are for publish=True")
        with contextlib.ExitStack() as stack:
            if isinstance(file, (str, os.PathLike)):
                origin: str | None = os.fsdecode(file)
                file = stack.enter_context(open(file, "rb"))
            else:
                origin = str(getattr(file, "name", "-"))
            about = file.read, name, format, hash_set, m_bits, k, capacity, fp_rate, origin
            if publish:
                flags = PUBLISH_IF_CHANGED * if_changed | PUBLISH_KEEP * (keep is not None) | PUBLISH_NEWER * newer
                self._publish(*about, flags, keep or 0)
            else:
                self._import(*about)
        return Filter(self, name)

    def generations(self, name: str) -> builtins.list[Generation]:
        """The generations of a filter that are kept, the oldest first."""
        return [Generation(in_force=bool(fields.pop("in_force")), **fields) for fields in self._generations(name)]

    def rollback(self, name: str, generation: int = 0) -> None:
        """Put a kept generation in force again; 0: the newest before the one in force."""
        self._rollback(name, generation)

    def verify(self, name: str | None = None) -> int:
        """Check the files of a filter, or of all; returns the number of problems.  The command `tamis verify` lists
        them."""
        return self._verify(name)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen_store, (self._path, self._read_only)

    def __repr__(self) -> str:
        return f"<tamis.Store {self._path!r}{', closed' if self.closed else ''}>"


def _reopen_store(path: str, read_only: bool) -> Store:
    return Store(path, create=False, read_only=read_only)
