# SPDX-License-Identifier: BSD-2-Clause
"""Who has work of a frontier in hand, and whether that process is dead.

A pid alone is not enough, as the system gives it away again.  With the time at which the process began and the boot it is
one process for ever.  A pid of another PID namespace says nothing here: such an owner is never told to be dead.
"""

from __future__ import annotations

import dataclasses
import os


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
