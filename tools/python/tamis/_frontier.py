# SPDX-License-Identifier: BSD-2-Clause
"""Frontier: a queue of work beside a filter, which many processes share and which outlives each of them.

docs/frontier.md has the file, the states of an entry, and the argument why none is lost.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import operator
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from ._errors import ClosedError, Error, ReadOnlyError, UnsupportedError
from ._filter import Filter
from ._owner import Identity, claim, enter
from ._queue import Queue, make_file
from ._remote import is_url
from ._store import Store, open_any_size
from ._types import Key

Payload: TypeAlias = "bytes | str | None"
Entry: TypeAlias = "Key | tuple[Key | None, Payload] | tuple[Key | None, Payload, int]"
logger = logging.getLogger(__name__)
BATCH = 4096  # entries of one transaction, so that the others get the lock between
DONE_KEPT = 10_000  # done entries that wait for the filter to be synced; of a large filter a thousandth of its capacity
MOST = (1 << 63) - 1  # the greatest integer of SQLite
LOOK_SECONDS = 0.1  # how often the owners are looked at while there is enough to take

_frontiers: weakref.WeakSet[Frontier] = weakref.WeakSet()


@dataclasses.dataclass(frozen=True)
class Item:
    """Work that take() has handed out."""

    key: bytes | None
    """As it was pushed; a str as UTF-8.  None: it may be there several times."""
    payload: Payload
    priority: int
    deaths: int
    """How many of its holders died, or let its lease end."""
    failures: int
    note: str | None
    """What failed() was told last."""
    number: int
    takes: int
    """How often it was handed out.  With the number it says which handing out this is."""

    @property
    def text(self) -> str:
        """The key as a str."""
        return (self.key or b"").decode()


ITEM = "key, payload, priority, deaths, failures, note, id, takes"


def _bytes_of(key: Key) -> bytes:
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes):
        return key
    return bytes(memoryview(key))  # type: ignore[arg-type]


def _entry_of(entry: Any, priority: int) -> tuple[bytes | None, Payload, int]:
    """The key, payload and priority of an entry; raises TypeError if it is none."""
    payload: Payload = None
    if isinstance(entry, tuple):
        if not 2 <= len(entry) <= 3:
            raise TypeError(f"an entry is a key, (key, payload) or (key, payload, priority), not {entry!r}")
        entry, payload, priority = (*entry, priority)[:3]
        if not isinstance(payload, (bytes, str, type(None))):
            raise TypeError(f"a payload is bytes, str or None, not {type(payload).__name__}; pickle or json make bytes "
                            "of other objects")
        if isinstance(payload, str):
            payload.encode()  # a lone surrogate is refused here, and not in the middle
        if entry is None:
            return None, payload, _priority_of(priority)
    return _bytes_of(entry), payload, _priority_of(priority)


def _priority_of(priority: Any) -> int:
    number = int(priority)
    if not -MOST - 1 <= number <= MOST:
        raise OverflowError(f"a priority has 64 bits, and {priority!r} has more")
    return number


def _items(items: Item | Iterable[Item]) -> Sequence[Item]:
    listed = [items] if isinstance(items, Item) else list(items)
    for item in listed:
        if not isinstance(item, Item):
            raise TypeError(f"this takes items as take() gives them, not {item!r}")
    return listed


class Frontier:
    """Work that is shared, kept, and handed out again when its holder dies.

        with tamis.Frontier(tamis.Store("/var/lib/crawl"), "crawl") as frontier:
            frontier.push_many(["https://example.com/"])
            while frontier.pending():
                for item in frontier.take(10):
                    frontier.done(item, push=links_of(item.text))

    A key is pushed once for as long as the filter knows it: of all processes one is told that it is new, those that use the
    filter alone included.  An item stays with who took it until done(), failed() or release(), until its process has died,
    or until its lease has ended.  A kill at any point gives an item again and never loses one.

    Safe for threads; after fork() the child is an owner of its own, and so is one that was pickled.  Calls take a lock between processes for less than a
    millisecond, and push_many() and done() wait for the disk; a coroutine calls them by asyncio.to_thread().

    store           a Store, or the path of one
    name            of the queue, the file queues/NAME.sqlite in the directory of the store
    filter          the Filter that knows the keys, or its name; None: the name of the queue.  It is made if there is none
    capacity, fp_rate   of a filter that is made
    key_rule        of a filter that is made, such as "url:sort": take() gives the spelling that was pushed first
    max_deaths      an item is set aside when so many of its holders have died; 0: never.  For the last time it is handed
                    out alone
    max_failures    an item is set aside when it failed so often; 0: never
    busy_timeout    seconds that a call waits for the lock, before BusyError
    """

    def __init__(self, store: Store | str | os.PathLike[str], name: str, *, filter: Filter | str | None = None,
                 capacity: int = 1_000_000, fp_rate: float = 0.0001, key_rule: str | None = None,
                 max_deaths: int = 20, max_failures: int = 5, busy_timeout: float = 30) -> None:
        if min(operator.index(max_deaths), operator.index(max_failures)) < 0:
            raise ValueError(f"max_deaths and max_failures are numbers from 0 on, not {max_deaths!r} and {max_failures!r}")
        if not isinstance(store, Store):
            if is_url(os.fsdecode(store)):
                raise UnsupportedError("a frontier is a file beside a filter, and this store is a Redis server; give the "
                                       "directory of a store on this machine")
            store = Store(store)
        if store.read_only:
            raise ReadOnlyError(f"a frontier writes, and the store {store.path!r} was opened read-only")
        self.name, self.max_deaths, self.max_failures = name, max_deaths, max_failures
        self.given_again = 0
        """How many entries this frontier has taken from dead owners, or from those whose lease had ended."""
        self.set_aside = 0
        """How many of such it has set aside."""
        self._owns_filter = not isinstance(filter, Filter)
        if isinstance(filter, Filter):
            self._filter = filter
        else:
            self._filter = open_any_size(store, name if filter is None else filter, capacity, fp_rate, key_rule)
        stat = self._filter.stat
        if stat.kind == "fuse":
            raise UnsupportedError(f"{stat.name!r} is of kind fuse, to which nothing can be added; name another filter")
        self._queue = Queue(make_file(store.path, name), name, busy_timeout)
        self._lock = threading.RLock()
        self._closed = False
        self._done_limit = max(DONE_KEPT, min(stat.capacity // 1000, 1_000_000))
        self._reset()
        self._done_kept = self._counts()[4]
        _frontiers.add(self)

    def _reset(self) -> None:
        """What belongs to this process alone."""
        self._owner = 0  # the number of our row; made by the first change
        self._identity = Identity.mine()
        self._has_fresh = self._has_suspect = False
        self._looked = 0.0
        self._version: object = None
        self._done_kept = 0

    @property
    def filter(self) -> Filter:
        """The filter that knows the keys."""
        return self._filter

    @property
    def path(self) -> str:
        """The file of the queue."""
        return self._queue.path

    # Inside a call.

    @contextlib.contextmanager
    def _change(self, durable: bool) -> Iterator[sqlite3.Connection]:
        """A transaction of this owner."""
        with self._lock:
            self._open()
            if not self._owner:  # in a transaction of its own: entries never name an owner whose row was undone
                with self._queue.change(durable=False) as db:
                    row = enter(db, self._identity)
                self._owner = row
            with self._queue.change(durable) as db:
                yield db

    def _claim(self, worker: str) -> tuple[str, int, int, int] | None:
        """Enters as an owner of the sort `worker`; for schedulers, before anything else.  Answers as claim() of _owner.py."""
        with self._lock, self._open().change(durable=False) as db:  # the push of an entry brings it to the disk
            found, row = claim(db, self._identity, self._owner, worker)
        self._owner = row
        return found

    def _open(self) -> Queue:
        """The file, unless this is closed."""
        if self._closed:
            raise ClosedError(f"the frontier {self.name!r} is closed")
        return self._queue

    def _counts(self) -> Sequence[int]:
        """How many entries are in each state, at one moment: between two reads an entry may go from one state to another."""
        with self._lock:
            counts = ", ".join(f"(SELECT count(*) FROM entry WHERE state = {state})" for state in range(6))
            row: Any = self._open().read(f"SELECT {counts}")[0]
            return row  # type: ignore[no-any-return]

    def _remember(self, keys: Sequence[bytes]) -> None:
        """Adds the keys that the filter lacks.  In a counting filter add_many() would count the others once more."""
        known = self._filter.contains_many(keys)
        self._filter.add_many([key for key, is_known in zip(keys, known) if not is_known])

    def _adopt(self, db: sqlite3.Connection, owner: int) -> None:
        """Lets the fresh entries of an owner wait, which will not do so itself."""
        rows = db.execute("SELECT key FROM entry WHERE owner = ? AND state = 0 AND key IS NOT NULL", (owner,)).fetchall()
        self._remember([key for key, in rows])
        db.execute("UPDATE entry SET state = 1, owner = NULL WHERE owner = ? AND state = 0", (owner,))

    def _let_go(self, db: sqlite3.Connection, condition: str, *values: object) -> None:
        """Lets the entries that are out and match the condition wait again, or sets them aside."""
        change = "UPDATE entry SET deaths = deaths + 1, owner = NULL, note = coalesce(note, 'its holder died'), state ="
        if self.max_deaths:
            aside = f"state = 2 AND deaths + 1 >= {self.max_deaths:d} AND {condition}"
            for key, deaths in db.execute(f"SELECT key, deaths FROM entry WHERE {aside}", values).fetchall():
                logger.warning("%r is set aside in the frontier %r: %d processes that had it died", key, self.name, deaths + 1)
            self.set_aside += db.execute(f"{change} 5 WHERE {aside}", values).rowcount
        self.given_again += db.execute(f"{change} 1 WHERE state = 2 AND {condition}", values).rowcount

    def _look_at_owners(self, db: sqlite3.Connection) -> None:
        """Takes the entries of dead owners, and ends the leases that are over."""
        now = time.monotonic()
        self._looked = now
        owners = db.execute("SELECT id, pid, start, boot, space FROM owner WHERE id <> ?", (self._owner,)).fetchall()
        dead = [owner for owner, *fields in owners if Identity(*fields).is_dead(self._identity)]
        dead += [owner for owner, in db.execute("SELECT DISTINCT owner FROM entry WHERE state = 2 AND owner NOT IN"
                                                " (SELECT id FROM owner)").fetchall()]
        for owner in dead:
            self._adopt(db, owner)
            self._let_go(db, "owner = ?", owner)
            db.execute("DELETE FROM owner WHERE id = ?", (owner,))
        self._let_go(db, "lease_end <= ?", now)
        db.execute("UPDATE entry SET state = 1, due = NULL WHERE state = 3 AND due <= ?", (time.time(),))

    @staticmethod
    def _end(db: sqlite3.Connection, items: Sequence[Item], states: str = "1, 2, 3") -> bytes:
        """Ends items.  The answer of an item is 1 if it is ended, and 0 if it was handed out to another meanwhile."""
        answers = bytearray()
        for item in items:
            change = ("DELETE FROM entry" if item.key is None else
                      "UPDATE entry SET state = 4, payload = NULL, owner = NULL, note = NULL, due = NULL")
            answers.append(db.execute(f"{change} WHERE id = ? AND takes = ? AND state IN ({states})",
                                      (item.number, item.takes)).rowcount)
        return bytes(answers)

    # Pushing.

    def push_many(self, entries: Iterable[Entry], *, priority: int = 0) -> bytes:
        """Put work into the queue.  Returns a byte for each entry: 1 if it was new, 0 if it was seen before.

        entries     keys, (key, payload) or (key, payload, priority).  A key is str or bytes; with the key None an entry is
                    always new.  A payload is bytes, str or None
        priority    of entries that have none of their own; the highest is handed out first

        What is new is on the disk when the call returns.  TypeError and the like come before anything is pushed.  An error
        later has `.answers`, of the entries that were tried.
        """
        return self._push([_entry_of(entry, priority) for entry in self._listed(entries)], [])[0]

    def push(self, key: Key | None, payload: Payload = None, *, priority: int = 0) -> bool:
        """Put one key into the queue; whether it was new.  push_many() is far cheaper for many."""
        return bool(self.push_many([(key, payload, priority)])[0])

    @staticmethod
    def _listed(entries: Iterable[Entry]) -> list[Entry]:
        if isinstance(entries, (str, bytes)):
            raise TypeError(f"entries are an iterable of keys, not one {type(entries).__name__}; push() takes one")
        return list(entries)

    def _push(self, entries: Sequence[tuple[bytes | None, Payload, int]], done: Sequence[Item]) -> tuple[bytes, bytes]:
        """Pushes batch by batch.  The transaction of the last batch ends `done`, too.  Returns the answers for both."""
        answers, ended = bytearray(), b""
        try:
            for start in range(0, max(1, len(entries)), BATCH):
                is_last = start + BATCH >= len(entries)
                batch, ended = self._push_batch(entries[start:start + BATCH], done if is_last else [])
                answers += batch
        except Error as error:
            error.answers = bytes(answers)
            raise
        return bytes(answers), ended

    def _push_batch(self, entries: Sequence[tuple[bytes | None, Payload, int]], done: Sequence[Item]) -> tuple[bytes, bytes]:
        with self._lock:
            self._open()
            self._settle()
            if done:
                self._remember([item.key for item in done if item.key is not None])
            with self._change(durable=True) as db:
                numbers = self._insert(db, entries)
                self._has_fresh = any(numbers)
                ended = self._end(db, done)
            fresh = [(number, entry[0]) for number, entry in zip(numbers, entries) if number and entry[0] is not None]
            lost = self._tell_filter(fresh)
            self._done_kept += sum(ended)
        if self._done_kept >= self._done_limit:
            self.checkpoint()
        return bytes(bool(number) and number not in lost for number in numbers), ended

    def _insert(self, db: sqlite3.Connection, entries: Sequence[tuple[bytes | None, Payload, int]]) -> list[int]:
        """Inserts entries.  Returns the number of each that is new, and 0 for each other one."""
        numbers = []
        known = iter(self._filter.contains_many([key for key, _, _ in entries if key is not None]))
        insert = "INSERT OR IGNORE INTO entry (key, payload, priority, state, owner) VALUES (?, ?, ?, 0, ?)"
        for key, payload, priority in entries:
            number = 0
            if key is None or not next(known):
                cursor = db.execute(insert, (key, payload, priority, self._owner))
                number = cursor.lastrowid or 0 if cursor.rowcount == 1 else 0
            numbers.append(number)
        return numbers

    def _tell_filter(self, fresh: Sequence[tuple[int, bytes]]) -> set[int]:
        """Adds the keys of fresh entries, and lets the entries wait.  Returns the numbers of those that another process has
        won by the filter alone, which are deleted."""
        lost: set[int] = set()
        try:
            answers = self._filter.add_many([key for _, key in fresh])
            lost = {number for (number, _), is_new in zip(fresh, answers) if not is_new}
        finally:  # if the filter takes no more, the entries are work all the same, and the error is raised
            if self._has_fresh:
                with self._change(durable=False) as db:
                    db.executemany("DELETE FROM entry WHERE id = ?", [(number,) for number in lost])
                    db.execute("UPDATE entry SET state = 1, owner = NULL WHERE owner = ? AND state = 0", (self._owner,))
                self._has_fresh = False
        return lost

    def _settle(self) -> None:
        """Lets the entries wait that an interrupted push has inserted."""
        if self._has_fresh:
            with self._change(durable=False) as db:
                self._adopt(db, self._owner)
            self._has_fresh = False

    # Taking and giving back.

    def take(self, n: int = 1, *, lease: float = 60) -> list[Item]:
        """Up to n items: the highest priority first, then the oldest.  Fewer or none if no more wait.

        lease       seconds for which they are yours; renew() extends them.  Then, or when this process dies, they are
                    handed out again
        """
        if (n := operator.index(n)) < 0 or not lease > 0:
            raise ValueError(f"take(n, lease) needs n >= 0 and lease > 0, not {n!r} and {lease!r}")
        with self._lock:
            self._settle()
            with self._change(durable=False) as db:
                return self._take(db, min(n, MOST), lease)

    def _take(self, db: sqlite3.Connection, n: int, lease: float) -> list[Item]:
        has_looked = time.monotonic() - self._looked > LOOK_SECONDS
        if has_looked:
            self._look_at_owners(db)
        rows = self._select(db, n)
        if len(rows) < n and not has_looked:
            self._look_at_owners(db)
            rows = self._select(db, n)
        end = time.monotonic() + lease
        db.executemany("UPDATE entry SET state = 2, owner = ?, lease_end = ?, takes = takes + 1 WHERE id = ?",
                       [(self._owner, end, row[6]) for row in rows])
        return [Item(*(row[:-1] + (row[-1] + 1,))) for row in rows]

    def _select(self, db: sqlite3.Connection, n: int) -> list[Any]:
        """Rows to hand out.  A suspect, whose next death sets it aside, comes last and alone, so that nothing is set aside for
        a death by what was in the same hands."""
        suspected = self.max_deaths - 1 if self.max_deaths > 1 else 1 << 62
        select = f"SELECT {ITEM} FROM entry WHERE state = 1 AND deaths"
        if self._has_suspect:
            self._has_suspect = bool(db.execute("SELECT 1 FROM entry WHERE state = 2 AND owner = ? AND deaths >= ?",
                                                (self._owner, suspected)).fetchone())
            if self._has_suspect:
                return []
        rows = db.execute(f"{select} < ? ORDER BY priority DESC, deaths, id LIMIT ?", (suspected, n)).fetchall()
        if not rows and n:
            if not db.execute("SELECT 1 FROM entry WHERE state = 2 AND owner = ? LIMIT 1", (self._owner,)).fetchone():
                rows = db.execute(f"{select} >= ? ORDER BY priority DESC, deaths, id LIMIT 1", (suspected,)).fetchall()
                self._has_suspect = bool(rows)
        return rows

    def renew(self, items: Item | Iterable[Item], *, lease: float = 60) -> bytes:
        """Items that are still being worked on: their lease ends `lease` seconds from now.  A byte for each: 1, or 0 if it
        was handed out to another meanwhile."""
        end = time.monotonic() + lease
        with self._change(durable=False) as db:
            return bytes(db.execute("UPDATE entry SET lease_end = ? WHERE id = ? AND takes = ? AND state = 2",
                                    (end, item.number, item.takes)).rowcount for item in _items(items))

    def done(self, items: Item | Iterable[Item], *, push: Iterable[Entry] = (), priority: int = 0) -> bytes:
        """The work is done.  A byte for each item: 1, or 0 if its lease had ended and it was handed out to another.

        push        what was found in it, as for push_many(): in the queue if and only if the items are done, whatever is
                    killed when (a batch of more than 4,096 may be there before)
        """
        return self._push([_entry_of(entry, priority) for entry in self._listed(push)], _items(items))[1]

    def failed(self, items: Item | Iterable[Item], *, again_in: float = 0, note: str = "", aside: bool = False) -> bytes:
        """The work failed.  It is handed out again, or set aside if it failed max_failures times.  Answers as done().

        again_in    not before so many seconds
        note        why, for aside()
        aside       set it aside now
        """
        change = ("UPDATE entry SET failures = failures + 1, note = ?, owner = NULL, due = ?,"
                  " state = CASE WHEN failures + 1 >= ? THEN 5 ELSE ? END WHERE id = ? AND takes = ? AND state IN (1, 2)")
        if not isinstance(note, str) or not again_in == again_in:
            raise TypeError(f"failed(again_in, note) needs seconds and a str, not {again_in!r} and {note!r}")
        note.encode()
        limit = 0 if aside else self.max_failures or 1 << 62
        due, state = (time.time() + again_in, 3) if again_in > 0 else (None, 1)
        with self._change(durable=True) as db:
            return bytes(db.execute(change, (note or None, due, limit, state, item.number, item.takes)).rowcount
                         for item in _items(items))

    def release(self, items: Item | Iterable[Item]) -> bytes:
        """Give items back undone; they are handed out again at once.  Answers as done()."""
        with self._change(durable=False) as db:
            return self._release(db, _items(items))

    @staticmethod
    def _release(db: sqlite3.Connection, items: Sequence[Item]) -> bytes:
        return bytes(db.execute("UPDATE entry SET state = 1, owner = NULL WHERE id = ? AND takes = ? AND state = 2",
                                (item.number, item.takes)).rowcount for item in items)

    # What is there.

    def __len__(self) -> int:
        """How much is not finished: what waits, and what is out.  What is set aside is not in it."""
        return sum(self._counts()[:4])

    def __bool__(self) -> bool:
        return True  # an empty frontier is a frontier

    def pending(self) -> bool:
        """Whether anything waits or is out, anywhere; False: the work is done.  Cheaper than len()."""
        with self._lock:
            exists = " OR ".join(f"EXISTS (SELECT 1 FROM entry WHERE state = {state})" for state in (1, 2, 3, 0))
            return bool(self._open().read(f"SELECT {exists}")[0][0])

    def counts(self) -> dict[str, int]:
        """How many entries are "waiting", "out", "later" and "aside"."""
        fresh, waiting, out, later, _, aside = self._counts()
        return {"waiting": fresh + waiting, "out": out, "later": later, "aside": aside}

    def _available(self, n: int) -> tuple[int, int]:
        """How many entries wait, up to n, and how many owners there are."""
        with self._lock:
            row: Any = self._open().read("SELECT (SELECT count(*) FROM (SELECT 1 FROM entry WHERE state = 1 LIMIT ?)),"
                                        " (SELECT count(*) FROM owner)", n)[0]
            return row[0], row[1]

    def changed(self) -> bool:
        """Whether another process has changed the queue since this was asked last.  Costs microseconds."""
        with self._lock:
            before, self._version = self._version, self._open().version()
            return before != self._version

    # What was set aside.

    def aside(self, n: int = 1000) -> list[Item]:
        """Up to n items that were set aside, the oldest first; their notes say why."""
        with self._lock:
            rows: Any = self._open().read(f"SELECT {ITEM} FROM entry WHERE state = 5 ORDER BY id LIMIT ?", n)
            return [Item(*row) for row in rows]

    def put_back(self, items: Item | Iterable[Item]) -> bytes:
        """Items that were set aside wait again, as if they had never died or failed.  A byte for each: 1, or 0."""
        with self._change(durable=True) as db:
            change = "UPDATE entry SET state = 1, deaths = 0, failures = 0 WHERE id = ? AND takes = ? AND state = 5"
            return bytes(db.execute(change, (item.number, item.takes)).rowcount for item in _items(items))

    def forget(self, items: Item | Iterable[Item]) -> bytes:
        """Items that were set aside go, as if they were done.  A byte for each: 1, or 0."""
        listed = _items(items)
        with self._lock:
            self._open()
            self._remember([item.key for item in listed if item.key is not None])
            with self._change(durable=True) as db:
                return self._end(db, listed, "5")

    # The end.

    def checkpoint(self) -> None:
        """Bring the filter to the disk, and then delete the entries that were done before.  Happens by itself after each
        10,000 (or a thousandth of the filter's capacity) and at close()."""
        with self._lock:
            rows: Any = self._open().read("SELECT id, key FROM entry WHERE state = 4")
            self._done_kept = 0
        if rows:  # without our lock: bringing a large filter to the disk takes its time
            self._remember([key for _, key in rows])
            self._filter.sync()
            for start in range(0, len(rows), BATCH):
                with self._change(durable=False) as db:
                    db.executemany("DELETE FROM entry WHERE id = ? AND state = 4",
                                   [(number,) for number, _ in rows[start:start + BATCH]])

    def backup(self, directory: str | os.PathLike[str]) -> str:
        """Copy the queue into a copy of the store that `tamis backup` has made before, and return the copy's path.

        This order loses nothing: what the queue finished in between is in the copy of the queue, or was done after the
        filter was copied, and is done again.
        """
        with self._lock:
            source, path = self._open(), make_file(os.fspath(Store(directory, create=False).path), self.name)
            with contextlib.closing(sqlite3.connect(path)) as into:
                source.db.backup(into)
        return path

    def close(self) -> None:
        """Give back what this frontier has taken and not done, and close it.  Again: nothing happens."""
        with self._lock:
            if self._closed:
                return
            try:
                if self._owner:
                    with self._change(durable=False) as db:
                        self._adopt(db, self._owner)
                        db.execute("UPDATE entry SET state = 1, owner = NULL WHERE owner = ? AND state = 2", (self._owner,))
                        db.execute("DELETE FROM owner WHERE id = ?", (self._owner,))
                    self._has_fresh = False
                    self.checkpoint()
            finally:
                self._closed = True
                self._queue.close()
                if self._owns_filter:
                    self._filter.close()

    @property
    def closed(self) -> bool:
        return self._closed

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the path of the store and names, as a filter is: it is another owner, which has nothing in hand."""
        if self._closed:
            raise ClosedError(f"the frontier {self.name!r} is closed")
        store = os.path.dirname(os.path.dirname(self.path))
        return _reopened, (store, self.name, self._filter.name if self._owns_filter else self._filter, self.max_deaths,
                           self.max_failures, self._queue.busy_timeout)

    def __enter__(self) -> Frontier:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tamis.Frontier {self.name!r} in {self.path!r}{', closed' if self._closed else ''}>"


def _reopened(store: str, name: str, filter: Filter | str, max_deaths: int, max_failures: int, busy_timeout: float) -> Frontier:
    return Frontier(Store(store, create=False), name, filter=filter, max_deaths=max_deaths, max_failures=max_failures,
                    busy_timeout=busy_timeout)


# SQLite's locks do not survive a fork(), neither in the child nor, once the child closes the file, in the parent.  So no
# connection is open while the process forks; each side opens one of its own when it needs it.

_forking: list[Frontier] = []


def _before_fork() -> None:
    for frontier in list(_frontiers):
        frontier._lock.acquire()
        _forking.append(frontier)
        with contextlib.suppress(Error):
            frontier._queue.close()


def _after_in_parent() -> None:
    while _forking:
        _forking.pop()._lock.release()


def _after_in_child() -> None:
    while _forking:
        frontier = _forking.pop()
        frontier._lock = threading.RLock()
        frontier._reset()


os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
