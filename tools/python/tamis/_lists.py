# SPDX-License-Identifier: BSD-2-Clause
"""Keys of lists as users have them: the formats of the command's --format (tamis-build(1)), with the same answers."""

import csv
import gzip
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from typing import IO, Any

_GUESSED_LINES = 1000
_BLANKS = b" \t\r"
_LOCALS = {b"localhost", b"localhost.localdomain", b"localhost6", b"localhost6.localdomain6", b"localdomain", b"local",
           b"broadcasthost", b"ip6-localhost", b"ip6-loopback", b"ip6-localnet", b"ip6-mcastprefix", b"ip6-allnodes",
           b"ip6-allrouters", b"ip6-allhosts", b"0.0.0.0"}
_WHOLE = {b"all", b"important", b"third-party", b"3p", b"strict3p", b"document", b"doc"}
_NAME = re.compile(rb"(?=.*[A-Za-z\x80-\xff])[A-Za-z0-9_\x80-\xff-]+(?:\.[A-Za-z0-9_\x80-\xff-]+)*\.?", re.DOTALL)
_IPV4 = re.compile(rb"(?=.{7,15}\Z)[0-9]*\.[0-9]*\.[0-9]*\.[0-9]*")
_IPV6 = re.compile(rb"(?=[^%]*:[^%]*:)[0-9A-Fa-f:.]+(?:%.*)?", re.DOTALL)
_NUMBER = re.compile(rb"-?[0-9][0-9.eE+-]*")
_UNPAIRED = re.compile("[\ud800-\udfff]")


def _is_name(text: bytes) -> bool:
    return _NAME.fullmatch(text) is not None


def _is_address(text: bytes) -> bool:
    return (_IPV4 if b":" not in text else _IPV6).fullmatch(text) is not None


class Keys(Iterator[bytes]):
    """The keys of a list, one by one, and what is known of the list when they have ended."""

    format: str
    #: Names of rules @@||name^ of a filter list: keys that must answer absent.
    exceptions: list[bytes]
    #: Rules of other kinds, names of the machine itself, records without the field, lines of another format.
    others: int
    locals: int
    lacking: int
    foreign: int

    def __init__(self, lines: Iterable[bytes], format: str, field: "str | int | None", separator: "str | None") -> None:
        self.exceptions = []
        self.others = self.locals = self.lacking = self.foreign = 0
        self._field = field
        if format == "auto":
            first = list(islice(lines, _GUESSED_LINES))
            format = _guess(first)
            lines = chain(first, lines)
        readers: dict[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
            "lines": iter, "hosts": self._hosts, "adblock": self._adblock, "domains": self._domains, "csv": self._csv,
            "tsv": self._tsv, "jsonl": self._jsonl, "cdx": self._cdx}
        if format not in readers:
            raise ValueError(f"there is no format {format!r}; give auto, {', '.join(readers)}")
        if field is not None and format not in ("csv", "tsv", "jsonl"):
            raise ValueError("field goes with the formats csv, tsv and jsonl")
        if separator is not None and (format not in ("csv", "tsv") or len(separator) != 1):
            raise ValueError("separator is one character, and goes with the formats csv and tsv")
        self.format = format
        self._separator = separator or ("\t" if format == "tsv" else ",")
        self._keys = iter(readers[format](lines))

    def __next__(self) -> bytes:
        return next(self._keys)

    def _hosts(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            words = line.partition(b"#")[0].split()
            if len(words) == 1 or (words and not _is_address(words[0])):
                self.foreign += 1
                continue
            for name in words[1:]:
                if name.lower() in _LOCALS:
                    self.locals += 1
                else:
                    yield name

    def _adblock(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            rule = line.strip(_BLANKS)
            if not rule or rule[:1] in (b"!", b"[") or rule == b"#" or rule[:2] in (b"# ", b"#\t"):
                continue
            is_exception = rule.startswith(b"@@") and len(rule) > 2
            name, caret, rest = rule[2:].partition(b"^") if not is_exception else rule[4:].partition(b"^")
            if rule[2 * is_exception:][:2] != b"||" or not caret:
                # Blockers take a name alone, and a line of a hosts file, for rules of the whole host, too.
                words = rule.split()
                if len(words) > 1 and _is_address(words[0]):
                    yield from self._hosts([rule])
                elif len(words) == 1 and (_is_address(rule) or b"." in rule[:-1] and _is_name(rule)):
                    yield rule
                else:
                    self.others += 1
            elif not (_is_name(name) or _is_address(name)) or not _blocks_whole(rest):
                self.others += 1
            elif is_exception:
                self.exceptions.append(name)
            else:
                yield name

    def _domains(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        comments = (b"#", b";", b"//")
        for line in lines:
            words = line.strip(_BLANKS).split(None, 1)
            if not words or words[0].startswith(comments):
                continue
            name = words[0]
            name = name[2:] if name.startswith(b"*.") else name[1:] if name.startswith(b".") and len(name) > 1 else name
            if len(words) > 1 and not words[1].startswith(comments) or not _is_name(name):
                self.foreign += 1
            else:
                yield name

    def _rows(self, rows: Iterable[list[str]]) -> Iterator[bytes]:
        number = 1 if self._field is None else int(self._field) if str(self._field).isdigit() else 0
        for row in rows:
            if not row:
                continue
            if number == 0:
                if self._field not in row:
                    raise ValueError(f"the first record does not name the field {self._field!r}")
                number = row.index(str(self._field)) + 1
                continue
            if len(row) < number or not row[number - 1]:
                self.lacking += 1
            else:
                yield row[number - 1].encode("latin-1")

    def _csv(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        text = (line.decode("latin-1") + "\n" for line in lines)
        field_limit = csv.field_size_limit(1 << 26)
        try:
            yield from self._rows(csv.reader(text, delimiter=self._separator, strict=True))
        except csv.Error as error:
            raise ValueError(f"this is no CSV: {error}") from error
        finally:
            csv.field_size_limit(field_limit)

    def _tsv(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        yield from self._rows(text.split(self._separator) if text else []
                              for text in (line.rstrip(b"\r").decode("latin-1") for line in lines))

    def _documents(self, text: bytes, path: str) -> "list[bytes] | None":
        try:
            document = json.loads(text.decode("utf-8", "surrogateescape"), parse_int=_Number, parse_float=_Number,
                                  object_pairs_hook=_Members)
        except (ValueError, RecursionError):
            return None
        return list(_values(document, path))

    def _jsonl(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        path = "" if self._field is None else str(self._field)
        for line in lines:
            if not line.strip(_BLANKS):
                continue
            keys = self._documents(line, path)
            self.foreign += keys is None
            self.lacking += keys == []
            yield from keys or ()

    def _cdx(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        number = 3
        for line in lines:
            words = line.split()
            if words[:1] == [b"CDX"] and len(words) > 1:
                number = words.index(b"a") if b"a" in words else number
            elif len(words) >= 3 and words[2].startswith(b"{"):
                keys = self._documents(line[line.index(b"{"):], "url")
                self.foreign += keys is None
                self.lacking += keys == []
                yield from keys or ()
            elif len(words) >= number:
                yield words[number - 1]
            else:
                self.foreign += bool(words)


class _Number(str):
    """A number as it is written."""


class _Members(list[tuple[str, Any]]):
    """The members of an object, in their order, and those that have one name too."""


def _values(value: Any, path: str) -> Iterator[bytes]:
    if isinstance(value, _Members):
        for name, member in value if path else ():
            behind = "" if name == path else path.partition(".")[2] if name == path.partition(".")[0] and "." in path else None
            if behind is not None:
                yield from _values(member, behind)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, path)
    elif isinstance(value, str) and not path and value:
        # Bytes that are no UTF-8 stand for themselves; half of a pair of escapes is U+FFFD.
        yield _UNPAIRED.sub(lambda half: half[0] if "\udc80" <= half[0] <= "\udcff" else "\ufffd", value).encode(
            "utf-8", "surrogateescape")


def _blocks_whole(rest: bytes) -> bool:
    rest = rest.removeprefix(b"|")
    return not rest or (rest[:1] == b"$" and all(option in _WHOLE for option in rest[1:].split(b",")))


def _sort(line: bytes) -> str:
    """What a line is, as the first lines tell the format."""
    words = line.split()
    if len(words) > 1 and _is_address(words[0]):
        return "hosts"
    if line.startswith((b"||", b"@@|")) or any(mark in line for mark in (b"##", b"#@#", b"#?#", b"^$")) or (
            line.startswith(b"/") and b"/$" in line[1:]):
        return "adblock"
    if line.startswith((b"#", b"!", b";", b"//", b"[Adblock")):
        return "comment"
    name = words[0].removeprefix(b"*.") if words[0].startswith(b"*.") else words[0].removeprefix(b".")
    has_dot = b"." in name[:-1] or name != words[0]
    if _is_name(name) and has_dot and (len(words) == 1 or words[1].startswith(b"#")):
        return "domains"
    if line.startswith(b"{") and line.endswith(b"}"):
        return "jsonl with a field"
    if line.startswith(b'"') and line.endswith((b'"', b'",')) and len(line) > 1:
        return "jsonl, after jq -c '.[]'"
    if re.fullmatch(rb"[0-9A-Fa-f]{6,}:[0-9]+", line):
        return "csv with separator ':'"
    return "lines"


def _guess(lines: Iterable[bytes]) -> str:
    stripped = [line.strip(_BLANKS) for line in lines]
    if any(line.startswith((b"[Adblock", b"[uBlock", b"! Title:")) for line in stripped[:20]):
        return "adblock"
    sorts = [_sort(line) for line in stripped if line]
    sorts = [sort for sort in sorts if sort != "comment"]
    most = max(set(sorts), key=sorts.count, default="lines")
    if 2 * sorts.count(most) <= len(sorts):
        return "lines"
    if most not in ("hosts", "adblock", "domains", "lines"):
        raise ValueError(f"the list looks like format {most}; give that, or format='lines' if its lines are the keys")
    return most


def _split(file: IO[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(file):
        line = line.removesuffix(b"\n")
        yield line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line


def _opened(file: "IO[bytes]", close: ExitStack) -> Iterator[bytes]:
    with close:
        buffered: Any = file if hasattr(file, "peek") else io.BufferedReader(file)  # type: ignore[type-var]
        if buffered.peek(3)[:3] == b"\x1f\x8b\x08":
            buffered = close.enter_context(gzip.GzipFile(fileobj=buffered))
        yield from _split(buffered)


def keys_of(file: "str | os.PathLike[str] | IO[bytes]", format: str = "auto", *, field: "str | int | None" = None,
            separator: "str | None" = None) -> Keys:
    """The keys of a list: a path, or a file that is open for bytes; gzip is unpacked.

    `format` is one of the command: auto, lines, hosts, adblock, domains, csv, tsv, jsonl, cdx.  `field` is the number
    (from 1) or name of a column, or a path into a JSON document, "a.b.c".

        with store.build("ads") as build:
            keys = tamis.keys_of("hosts.txt.gz")
            build.add_many(keys)
            build.except_many(keys.exceptions)
    """
    close = ExitStack()
    opened = close.enter_context(open(file, "rb")) if isinstance(file, (str, os.PathLike)) else file
    return Keys(_opened(opened, close), format, field, separator)
