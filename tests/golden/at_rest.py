# SPDX-License-Identifier: BSD-2-Clause
"""The checksums of a segment that is sealed, docs/format.md, 3.8."""
import struct

import xxhash

MARK, SEALED, WRITTEN = 1568, 1 << 63, 7


def checked(segment, end):
    """Where the table behind the data ends, or `end` if there is no room for one.  A table that holds is right."""
    data, header = segment.map, segment.header
    one_page = header["data_offset"] < 4096
    starts = range(min(header["data_offset"], 4096), end, 65536)
    table = data[end:4088 if one_page else len(data)][:64 + 8 * len(starts)]
    if not starts or len(table) < 64 + 8 * len(starts) or header["kind"] not in (1, 2):
        return end
    (mark,) = struct.unpack_from("<Q", data, MARK)
    if mark & (SEALED | WRITTEN) != SEALED:
        return end + len(table)
    checksum, magic, right, items, fixed, overflow_bytes, overflow, sums = struct.unpack_from("<Q8sQQQQQQ", table)
    whole = xxhash.xxh3_64_intdigest(table[8:64]), b"TAMSUMS\n", xxhash.xxh3_64_intdigest(table[64:])
    segment.must_rest((checksum, magic, sums) == whole, "table of checksums")
    if right == mark:
        rules = b"".join(data[2048 + 64 * i + 16:2048 + 64 * (i + 1)] for i in range(header["stripes"]))
        rules += data[1728:2048] if one_page else b""
        blocks = [xxhash.xxh3_64_intdigest(data[at:min(at + 65536, end)]) for at in starts]
        segment.must_rest(table[64:] == struct.pack(f"<{len(blocks)}Q", *blocks), "data")
        segment.must_rest((items, fixed, overflow_bytes, overflow) == (
            segment.items(), xxhash.xxh3_64_intdigest(data[1152:1528] + rules), 0, 0), "header")
    return end + len(table)
