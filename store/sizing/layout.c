/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c: see layout.h. */
#include "sizing/layout.h"

bool tamis__counter_bits_are_valid(uint32_t bits)
{
    return bits == 4 || bits == 8 || bits == 16 || bits == 32;
}

uint64_t tamis__data_bits(uint64_t m_bits, uint32_t counter_bits)
{
    return counter_bits == 0 ? m_bits : m_bits * counter_bits;
}

uint64_t tamis__overflow_slots(uint64_t counters, uint32_t level)
{
    /* A level has at least a page of slots.  Their number is a power of two, so that a mask cuts a
     * hash to it. */
    const unsigned log2 =
        counters <= 65536 ? 8 : 64 - (unsigned)__builtin_clzll(counters / 256 - 1);
    return (uint64_t)1 << (log2 + level);
}

uint32_t tamis__overflow_levels_max(uint64_t counters)
{
    uint32_t levels = 1;
    while (tamis__overflow_bytes(counters, levels) / TAMIS__SLOT_BYTES < 2 * counters)
        levels++;
    return levels;
}

uint64_t tamis__overflow_bytes(uint64_t counters, uint32_t levels)
{
    return tamis__overflow_slots(counters, 0) * (((uint64_t)1 << levels) - 1) * TAMIS__SLOT_BYTES;
}

uint64_t tamis__data_bytes(uint64_t data_bits)
{
    return (data_bits / 64 + (data_bits % 64 != 0)) * 8;
}

/* `with_sums`: room for checksums is behind the data. */
static void lay_out(uint64_t data_bytes, uint64_t data_offset, bool with_sums,
                    struct tamis__layout *layout)
{
    const uint64_t room_of_page =
        with_sums ? tamis__sums_bytes(TAMIS__ONE_PAGE_HEADER_BYTES, TAMIS__ONE_PAGE_DATA_MAX) : 0;
    const bool is_one_page =
        TAMIS__FORMAT_KNOWN >= 2 && data_bytes <= TAMIS__ONE_PAGE_DATA_MAX - room_of_page;
    if (is_one_page) data_offset = TAMIS__ONE_PAGE_HEADER_BYTES;
    const uint64_t room = with_sums ? tamis__sums_bytes(data_offset, data_bytes) : 0,
                   end = data_offset + data_bytes + room;
    layout->data_bytes = data_bytes;
    layout->data_offset = data_offset;
    layout->file_bytes = (end + TAMIS__FILE_UNIT - 1) / TAMIS__FILE_UNIT * TAMIS__FILE_UNIT;
}

void tamis__layout(uint64_t data_bits, struct tamis__layout *layout)
{
    const uint64_t bytes = tamis__data_bytes(data_bits);
    const uint64_t offset = bytes >= TAMIS__LARGE_BYTES ? TAMIS__LARGE_OFFSET : TAMIS__HEADER_BYTES;
    lay_out(bytes, offset, true, layout);
}

void tamis__static_layout(uint64_t data_bits, struct tamis__layout *layout)
{
    lay_out(tamis__data_bytes(data_bits), TAMIS__HEADER_BYTES, false, layout);
}
