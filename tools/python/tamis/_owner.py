# SPDX-License-Identifier: BSD-2-Clause
"""Who has work of a frontier in hand, whether that process is dead, and who may take work at all.

A pid alone is not enough, as the system gives it away again.  With the time at which the process began and the boot it is
one process for ever.  A pid of another PID namespace says nothing here: such an owner is never told to be dead.
"""

from __future__ import annotations

import dataclasses
import os
import sqlite3


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _stat(pid: int | str) -> tuple[int, str, int] | None:
    """Pid, state and start time (in clock ticks since the boot) out of /proc/PID/stat; None if it cannot be read."""
    text = _read(f"/proc/{pid}/stat")
    fields = text[text.rfind(")") + 1:].split()  # the name of the program may have blanks and brackets
    if len(fields) < 20:
        return None
    return int(text.split(" ", 1)[0]), fields[0], int(fields[19])


@dataclasses.dataclass(frozen=True)
class Identity:
    """A process.  `space` is the number of its PID namespace, 0 if others cannot be looked at from there."""

    pid: int
    start: int
    boot: str
    space: int

    @classmethod
    def mine(cls) -> Identity:
        """This process.  Where /proc is missing, or is that of another namespace, there is nothing to compare."""
        own, pid = _stat("self"), os.getpid()
        boot = _read("/proc/sys/kernel/random/boot_id").strip()
        if own is None or own[0] != pid:
            return cls(pid, 0, boot, 0)
        return cls(pid, own[2], boot, os.stat("/proc/self/ns/pid").st_ino)

    def is_dead(self, mine: Identity) -> bool:
        """True only if that is certain; `mine` is the process that asks."""
        if self.boot and mine.boot and self.boot != mine.boot:
            return True
        if not self.space or self.space != mine.space:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass  # another user's
        now = _stat(self.pid)
        return now is not None and (now[2] != self.start or now[1] in "ZX")  # hidepid hides the living: None

    def is_at_work(self, mine: Identity) -> bool:
        """True only if that is certain: of a process of another PID namespace it is not."""
        return bool(self.space) and self.space == mine.space and not self.is_dead(mine)


def enter(db: sqlite3.Connection, mine: Identity) -> int:
    """Makes a row of this process among the owners, and returns its number."""
    return db.execute("INSERT INTO owner (pid, start, boot, space) VALUES (?, ?, ?, ?)",
                      (mine.pid, mine.start, mine.boot, mine.space)).lastrowid or 0


def claim(db: sqlite3.Connection, mine: Identity, row: int, worker: str) -> tuple[tuple[str, int, int, int] | None, int]:
    """Makes the queue that of the workers of one sort, whose entries no other sort can work on, and this process an owner.

    row     the number of its row among the owners; 0: it has none yet

    Returns None and the row's number.  Where entries of another sort are left, or an owner of it is at work, nothing is changed:
    the first of both is the other's name, the number of its entries, how many of these were set aside, and the pid of an
    owner, or 0.  This is one transaction, so of two that begin at once on an empty queue one finds the other's row.
    """
    db.execute("CREATE TABLE IF NOT EXISTS worker (name TEXT NOT NULL)")
    other = db.execute("SELECT name FROM worker").fetchone()
    if other is not None and other[0] != worker:
        left, aside = db.execute("SELECT count(*), ifnull(sum(state = 5), 0) FROM entry WHERE state <> 4").fetchone()
        owners = (Identity(*fields) for fields in db.execute("SELECT pid, start, boot, space FROM owner").fetchall())
        pid = next((owner.pid for owner in owners if owner.is_at_work(mine)), 0)
        if left or pid:
            return (other[0], left, aside, pid), row
    db.execute("DELETE FROM worker")
    db.execute("INSERT INTO worker (name) VALUES (?)", (worker,))
    return None, row or enter(db, mine)
