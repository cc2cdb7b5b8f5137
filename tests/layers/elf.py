# SPDX-License-Identifier: BSD-2-Clause
"""elf.py: who calls whom in an object file: its symbols and relocations, as a 64-bit little-endian ELF
file has them.  Debug information is left out.  It is read here, and not by readelf, because readelf
prints a hundred times more than is looked at."""

import bisect
import struct

SHT_SYMTAB, SHT_RELA = 2, 4
SHF_WRITE, SHF_ALLOC = 1, 2
STT_OBJECT, STT_FUNC = 1, 2
SHN_UNDEF, SHN_LORESERVE = 0, 0xFF00


class Object:
    """`defined`: names that other files can use.  `uses`: pairs (who, name of another file's).  `written`: variables; a
    table of pointers that are relocated once is none."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no 64-bit little-endian ELF object")
        (offset,) = struct.unpack_from("<Q", self.data, 0x28)
        size, count, titles = struct.unpack_from("<HHH", self.data, 0x3A)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size)
                         for i in range(count)]
        self.titles = self.sections[titles]
        self.defined, self.uses, self.written = set(), set(), set()
        for section in self.sections:
            if section[1] == SHT_SYMTAB:
                self.read_symbols(section)
        for section in self.sections:
            if section[1] == SHT_RELA and self.sections[section[7]][2] & SHF_ALLOC:
                self.read_relocations(section)

    def name_at(self, strings, offset):
        start = strings[4] + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def read_symbols(self, section):
        strings = self.sections[section[6]]
        self.symbols, self.starts = [], {}
        for i in range(section[5] // 24):
            name, info, _, where, value, _ = struct.unpack_from("<IBBHQQ", self.data, section[4] + 24 * i)
            name = self.name_at(strings, name)
            self.symbols.append((name, where))
            if where != SHN_UNDEF and where < SHN_LORESERVE:
                if info & 15 in (STT_OBJECT, STT_FUNC):
                    self.starts.setdefault(where, []).append((value, name))
                flags, title = self.sections[where][2], self.name_at(self.titles, self.sections[where][0])
                if info & 15 == STT_OBJECT and flags & SHF_WRITE and not title.startswith(".data.rel.ro"):
                    self.written.add(name)
                if info >> 4 and name:
                    self.defined.add(name)
        for starts in self.starts.values():
            starts.sort()

    def user(self, section, offset):
        """The function or the table that `offset` of a section lies in."""
        starts = self.starts.get(section, [])
        at = bisect.bisect_right(starts, (offset, "\x7f")) - 1
        return starts[at][1] if at >= 0 else self.name_at(self.titles, self.sections[section][0])

    def read_relocations(self, section):
        for i in range(section[5] // 24):
            offset, info, _ = struct.unpack_from("<QQq", self.data, section[4] + 24 * i)
            name, where = self.symbols[info >> 32]
            if where == SHN_UNDEF and name:
                self.uses.add((self.user(section[7], offset), name))
