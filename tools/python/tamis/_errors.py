# SPDX-License-Identifier: BSD-2-Clause
"""The exceptions: one for each code of tamis_errors.h, below Error.

Those that have a counterpart among Python's own are of that class too, so that `except KeyError` works for a filter that
is not there.
"""


from __future__ import annotations

from typing import Any


class Error(Exception):
    """An error of the library.  str() says what was tried, on what, and what mends it."""

    code: int = 0
    """The number of the library's code, below 0."""
    name: str = ""
    """The name of the code, such as "TAMIS_ENOTFOUND"."""
    answers: bytes | bytearray | list[int] | None = None
    """After a call for many keys: what it had answered before it ended.  A byte for each key that was tried: 1, 0, or 2 for a key
    that was refused; of count_many() a list, of shard_many() the shards.  None: after one of the other calls."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # KeyError would show the sentence in quotes


class ClosedError(Error, ValueError):
    """The store, filter or build was closed."""


class InvalidError(Error, ValueError):
    """An argument is outside what the call accepts."""

    code, name = -1, "TAMIS_EINVAL"


class NotFoundError(Error, KeyError):
    """No such filter in the store."""

    code, name = -2, "TAMIS_ENOTFOUND"


class ExistsError(Error):
    """A filter of that name exists already."""

    code, name = -3, "TAMIS_EEXIST"


class MismatchError(Error, ValueError):
    """Two filters, or a filter and what is asked for, differ."""

    code, name = -4, "TAMIS_EMISMATCH"


class NoStoreError(Error):
    """There is no store at that path."""

    code, name = -5, "TAMIS_ENOSTORE"


class ReadOnlyError(Error):
    """The store, the handle or the kind cannot be written to."""

    code, name = -6, "TAMIS_EREADONLY"


class AccessError(Error):
    """The system denies access to a file of the store."""

    code, name = -7, "TAMIS_EACCESS"


class NoSpaceError(Error):
    """The file system has not enough room."""

    code, name = -8, "TAMIS_ENOSPACE"


class NoMemoryError(Error, MemoryError):
    """Out of memory."""

    code, name = -9, "TAMIS_ENOMEM"


class InputOutputError(Error):
    """The system reports an input/output error."""

    code, name = -10, "TAMIS_EIO"


class CorruptError(Error):
    """A file of the store, or a stream, is damaged."""

    code, name = -11, "TAMIS_ECORRUPT"


class ForeignError(Error):
    """A file or stream is not of Tamis, or belongs to another store."""

    code, name = -12, "TAMIS_EFOREIGN"


class VersionError(Error):
    """A file or stream was written by a newer version of Tamis."""

    code, name = -13, "TAMIS_EVERSION"


class DroppedError(Error):
    """The filter was dropped while this handle was open."""

    code, name = -14, "TAMIS_EDROPPED"


class UnsupportedError(Error):
    """This kind, hash set or build of the library cannot do that."""

    code, name = -15, "TAMIS_EUNSUPPORTED"


class LimitError(Error):
    """A limit of the system is reached (open files, mappings, quota)."""

    code, name = -16, "TAMIS_ELIMIT"


class SystemCallError(Error):
    """A system call failed in a way that has no code of its own."""

    code, name = -17, "TAMIS_ESYSTEM"


class FullError(Error):
    """The filter is full and was made to refuse more."""

    code, name = -18, "TAMIS_EFULL"


class BusyError(Error):
    """Another process has held a lock of the store for too long."""

    code, name = -19, "TAMIS_EBUSY"


class BatchError(Error):
    """A call for many keys ended by an exception that cannot carry `answers`.  This one does, and was raised from it."""


def with_answers(error: BaseException, answers: Any) -> BaseException:
    """What is raised in place of an exception that has answers of another call already, or refuses the attribute."""
    made: BaseException
    try:
        made = type(error)(*error.args)
        object.__setattr__(made, "answers", answers)
    except Exception:
        if not isinstance(error, Exception):  # such as KeyboardInterrupt, which stays what it is
            return error
        made = BatchError(f"the call for many keys was ended by {type(error).__name__}: {error}")
        made.answers = answers
    made.__cause__ = error
    return made


BY_CODE: dict[int, type[Error]] = {
    error.code: error
    for error in list(globals().values())
    if isinstance(error, type) and issubclass(error, Error) and error.code
}
