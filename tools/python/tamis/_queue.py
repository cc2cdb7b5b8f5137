# SPDX-License-Identifier: BSD-2-Clause
"""The file of a frontier: a database of SQLite, its tables, its transactions, and its errors as those of Tamis.

docs/frontier.md has the states of an entry and the argument why none is lost.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
import urllib.parse
from collections.abc import Iterator

from ._errors import (
    AccessError,
    BusyError,
    CorruptError,
    Error,
    ForeignError,
    InputOutputError,
    InvalidError,
    NoSpaceError,
    ReadOnlyError,
    UnsupportedError,
    VersionError,
)

APPLICATION, VERSION = 0x54616D51, 1
OLDEST_SQLITE = (3, 24, 0)
TABLES = """
CREATE TABLE about (name TEXT NOT NULL);
CREATE TABLE owner (id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL, start INTEGER NOT NULL,
    boot TEXT NOT NULL, space INTEGER NOT NULL);
CREATE TABLE entry (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB UNIQUE, payload, priority INTEGER NOT NULL,
    state INTEGER NOT NULL, owner INTEGER, lease_end REAL, takes INTEGER NOT NULL DEFAULT 0,
    deaths INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, due REAL, note TEXT);
CREATE INDEX entry_turn ON entry (priority DESC, deaths, id) WHERE state = 1;
CREATE INDEX entry_fresh ON entry (owner) WHERE state = 0;
CREATE INDEX entry_out ON entry (owner, lease_end) WHERE state = 2;
CREATE INDEX entry_later ON entry (due) WHERE state = 3;
CREATE INDEX entry_done ON entry (id) WHERE state = 4;
CREATE INDEX entry_aside ON entry (id) WHERE state = 5;
"""
# The codes of SQLite, whose upper bytes say more.  Python tells them since 3.11; before it there is the sentence alone.
ERRORS: dict[int, tuple[type[Error], str]] = {
    1: (CorruptError, "the file was damaged or changed by another program; move it away"),
    3: (AccessError, "the rights of the file or of its directory are missing"),
    5: (BusyError, "another process holds its lock; one that was stopped in the middle of a change must go on or be killed"),
    6: (BusyError, "another thread holds its lock"),
    8: (ReadOnlyError, "the file cannot be written to; look at its rights and at those of its directory"),
    10: (InputOutputError, "look for errors of the disk in the system's log"),
    11: (CorruptError, "the file is damaged; move it away (the filter still has the keys), or save what is left by "
                       "`sqlite3 FILE .recover`"),
    13: (NoSpaceError, "nothing was changed; make room on its file system and try again"),
    14: (AccessError, "it cannot be opened; look at the rights of its directory"),
    18: (InvalidError, "a key or a payload is larger than SQLite takes, which is 1 GB; keep it in a file of its own"),
    23: (AccessError, "the system denies access"),
    26: (ForeignError, "the file is not a database of SQLite; move it away"),
}
SENTENCES = {"locked": 5, "readonly": 8, "disk i/o": 10, "malformed": 11, "full": 13, "unable to open": 14, "too big": 18,
             "not a database": 26}


def translated(error: sqlite3.Error, path: str) -> Error:
    """The error of SQLite as one of Tamis."""
    text = str(error)
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        code = next((number for words, number in SENTENCES.items() if words in text.lower()), 1)
    kind, mend = ERRORS.get(code & 0xFF, (Error, "see docs/frontier.md"))
    return kind(f"the queue {path!r}: {text}; {mend}")


def file_name(name: str) -> str:
    """The name of the file: no byte of it can lead out of the directory.  A long one ends in a digest."""
    quoted = urllib.parse.quote(os.fsencode(name), safe="").replace(".", "%2E")
    if len(quoted) > 180:
        quoted = f"{quoted[:160]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return f"{quoted}.sqlite"


def make_file(store_path: str, name: str) -> str:
    """The path of the queue's file, which is made if it is not there, with the rights of the store."""
    directory = os.path.join(store_path, "queues")
    path = os.path.join(directory, file_name(name))
    try:
        mode = os.stat(os.path.join(store_path, "catalog.mdb")).st_mode & 0o666
        if not os.path.isdir(directory):
            with contextlib.suppress(FileExistsError):
                os.mkdir(directory)
                os.chmod(directory, os.stat(store_path).st_mode & 0o7777)
        with contextlib.suppress(FileExistsError):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            os.fchmod(fd, mode)
            os.close(fd)
    except OSError as error:
        kind = {28: NoSpaceError, 30: ReadOnlyError}.get(error.errno or 0, AccessError)
        raise kind(f"the queue {path!r} cannot be made: {error.strerror}") from error
    return path


class Queue:
    """A connection to the file, for one process.  Not for two threads at once: Frontier has the lock."""

    def __init__(self, path: str, name: str, busy_timeout: float) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise UnsupportedError(f"a frontier needs SQLite {'.'.join(map(str, OLDEST_SQLITE))}, and this Python has "
                                   f"{sqlite3.sqlite_version}")
        self.path, self.busy_timeout = path, busy_timeout
        self.name = urllib.parse.quote(os.fsencode(name), safe="")
        self._db: sqlite3.Connection | None = None
        self._turn = 0  # counts transactions

    @property
    def db(self) -> sqlite3.Connection:
        """The connection, opened when it is needed first and after each fork()."""
        if self._db is None:
            try:
                self._db = self._connect()
            except sqlite3.Error as error:
                raise translated(error, self.path) from error
        return self._db

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(f"file:{urllib.parse.quote(os.fsencode(self.path))}?mode=rw", timeout=self.busy_timeout,
                             isolation_level=None, check_same_thread=False, uri=True)
        try:
            self._check(db)
            end = time.monotonic() + self.busy_timeout
            while True:  # SQLite does not wait itself where several processes ask for this
                try:
                    db.execute("PRAGMA journal_mode = WAL").fetchone()
                    break
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > end:
                        raise
                    time.sleep(0.005)
            self._make_tables(db)
        except BaseException:
            db.close()
            raise
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        """Refuses the file of another program, and of a newer version, before anything is written."""
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        has_tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != APPLICATION and (application or version or has_tables):
            raise ForeignError(f"{self.path!r} is a database of another program; move it away")
        if version > VERSION:
            raise VersionError(f"the queue {self.path!r} has version {version}, and this Tamis knows {VERSION}; "
                               "use the newer Tamis")

    def _make_tables(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA synchronous = FULL")
        if db.execute("PRAGMA user_version").fetchone()[0]:
            self._check_name(db)
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            if not db.execute("PRAGMA user_version").fetchone()[0]:
                for statement in TABLES.split(";"):
                    db.execute(statement)
                db.execute("INSERT INTO about (name) VALUES (?)", (self.name,))
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        self._check_name(db)

    def _check_name(self, db: sqlite3.Connection) -> None:
        found = db.execute("SELECT name FROM about").fetchone()
        if found is None or found[0] != self.name:
            raise ForeignError(f"{self.path!r} is the queue of {found[0] if found else None!r}, not of {self.name!r}")

    def _settled(self) -> sqlite3.Connection:
        """The connection, outside of a transaction.  One is left open if a signal's exception came at the very edge of change()."""
        db = self.db
        if db.in_transaction:
            db.execute("ROLLBACK")
        return db

    @contextlib.contextmanager
    def change(self, durable: bool) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the lock from its begin on: committed at the end of the block, undone by an exception.

        durable     on the disk when the block has ended
        """
        db = self._settled()
        self._turn = turn = self._turn + 1
        try:
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
        finally:
            with contextlib.suppress(sqlite3.Error):
                if db.in_transaction and turn == self._turn:  # one that was left open ends when it is collected
                    db.execute("ROLLBACK")

    def read(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """The rows of a SELECT, of one moment."""
        try:
            return self._settled().execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    def version(self) -> object:
        """A number that changes when another connection has changed the file.  Costs microseconds."""
        return self.read("PRAGMA data_version")[0][0]

    def close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            try:
                db.close()
            except sqlite3.Error as error:
                raise translated(error, self.path) from error
