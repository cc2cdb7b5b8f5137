# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of RESTORE, written by hand: values of modules as RDB has them."""
import struct

BLOOM = 0x3016e5a289bef804  # MBbloom--, encoding version 4
CUCKOO = 0x3016e5a289821404


def table():
    """CRC-64 of Jones, reflected."""
    entries = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x95AC9329AC4BC9B5 if byte & 1 else 0)
        entries.append(byte)
    return entries


TABLE = table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def length(number):
    if number < 64:
        return bytes([number])
    if number < 1 << 14:
        return struct.pack(">H", 0x4000 | number)
    return b"\x81" + struct.pack(">Q", number)


def unsigned(number):
    return b"\x02" + length(number)


def double(number):
    return b"\x04" + struct.pack("<d", number)


def string(data):
    return b"\x05" + length(len(data)) + data


def closed(body):
    """With the version of RDB and the checksum that RESTORE wants."""
    body += struct.pack("<H", 10)
    return body + struct.pack("<Q", crc64(body))


def module_value(type_id, *parts):
    return closed(b"\x07\x81" + struct.pack(">Q", type_id) + b"".join(parts) + b"\x00")


def bloom_layers(head, data):
    """The layers of bloom(), from the head and the data that BF.SCANDUMP gives."""
    layers = []
    for i in range(struct.unpack_from("<I", head, 8)[0]):
        size, bits, items, error, per_entry, hashes, capacity, n2 = struct.unpack_from("<QQQddIQB", head, 20 + 53 * i)
        layers.append((capacity, error, hashes, per_entry, bits, n2, data[:size], items))
        data = data[size:]
    return layers


def bloom(encver, layers, options=5, growth=2, count=None, items=None, seed=None):
    """RedisBloom's payload; a layer: (capacity, error, hashes, bits per entry, bits, n2, data, items)."""
    parts = [unsigned(sum(layer[7] for layer in layers) if items is None else items),
             unsigned(len(layers) if count is None else count)]
    if encver >= 2:
        parts.append(unsigned(options))
    if encver >= 4:
        parts.append(unsigned(growth))
    for capacity, error, hashes, per_entry, bits, n2, data, held in layers:
        parts += [unsigned(capacity), double(error), unsigned(hashes), double(per_entry)]
        if encver >= 1:
            parts += [unsigned(bits), unsigned(n2)]
        parts += [string(data), unsigned(held)]
    if seed is not None:
        parts.append(unsigned(seed))
    return module_value(BLOOM - 4 + encver, *parts)
