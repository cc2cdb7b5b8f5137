# SPDX-License-Identifier: BSD-2-Clause
"""What is taken for a key, and for many keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias


class Buffer(Protocol):
    """An object with a buffer: bytearray, memoryview, array.array, an array of numpy."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class ArrowArray(Protocol):
    """An array of Arrow: of pyarrow, polars, pandas."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...


class ArrowStream(Protocol):
    """Several such arrays."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Key: TypeAlias = "str | bytes | bytearray | memoryview | Buffer"
Keys: TypeAlias = "Iterable[Key] | Buffer | ArrowArray | ArrowStream"
