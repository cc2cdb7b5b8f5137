/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout.h: how many bytes a segment takes, and where in its file they lie.  Both follow from m
 * alone, whatever rate m was chosen for.
 */
#pragma once

#include "base/base.h"

/* A blocked filter's block: one cache line. */
#define TAMIS__BLOCK_BITS 512u
#define TAMIS__BLOCK_WORDS 8u

/* No bit array is larger.  2^62 bits are 512 PiB, more than any file system holds, and sums of them
 * do not overflow. */
#define TAMIS__M_BITS_MAX ((uint64_t)1 << 62)
/* No filter is made for more keys. */
#define TAMIS__CAPACITY_MAX ((uint64_t)1 << 56)

/*
 * Where the bits lie in a segment file.  Large data starts on a 2 MiB boundary, so that huge folios
 * and page-table entries fit it; smaller data follows the header, so that ten thousand filters stay
 * small.
 */
#define TAMIS__HEADER_BYTES 4096u
/* The newest format of a store that this library knows (docs/format.md 2.2).  A test builds what
 * depends on it once more, as a library of the format before (tests/install/yesterday_test.sh). */
#ifndef TAMIS__FORMAT_KNOWN
#define TAMIS__FORMAT_KNOWN 2u
#endif
/* Little data, and their checksums, share one page with a shorter header; the last word of such a
 * page tells that nobody has cut it (segment/header.h). */
#define TAMIS__ONE_PAGE_HEADER_BYTES 2304u
#define TAMIS__ONE_PAGE_END 4088u
#define TAMIS__ONE_PAGE_DATA_MAX (TAMIS__ONE_PAGE_END - TAMIS__ONE_PAGE_HEADER_BYTES)
#define TAMIS__LARGE_BYTES ((uint64_t)32 << 20)
#define TAMIS__LARGE_OFFSET ((uint64_t)2 << 20)
#define TAMIS__FILE_UNIT 4096u

/*
 * Behind the data of a segment that can be written to is room for a table of checksums
 * (segment/sums.h): a head, and a sum of 8 bytes for each block of the file from the header's end
 * to the end of the data.
 */
#define TAMIS__SUM_BLOCK_BYTES ((uint64_t)65536)
#define TAMIS__SUMS_HEAD_BYTES 64u
/* Where the first block begins, in a file with data at `data_offset`. */
static inline uint64_t tamis__sums_from(uint64_t data_offset)
{
    return data_offset < TAMIS__HEADER_BYTES ? data_offset : TAMIS__HEADER_BYTES;
}

/* How many blocks there are, and the bytes of their table. */
static inline uint64_t tamis__sum_blocks(uint64_t data_offset, uint64_t data_bytes)
{
    const uint64_t bytes = data_offset + data_bytes - tamis__sums_from(data_offset);
    return bytes / TAMIS__SUM_BLOCK_BYTES + (bytes % TAMIS__SUM_BLOCK_BYTES != 0);
}

static inline uint64_t tamis__sums_bytes(uint64_t data_offset, uint64_t data_bytes)
{
    return TAMIS__SUMS_HEAD_BYTES + 8 * tamis__sum_blocks(data_offset, data_bytes);
}

struct tamis__layout {
    uint64_t data_offset;
    uint64_t data_bytes; /* a multiple of 8 */
    uint64_t file_bytes; /* a multiple of TAMIS__FILE_UNIT */
};
void tamis__layout(uint64_t data_bits, struct tamis__layout *layout);
/* Gives the layout of a segment that is never written again.  Its data lie right behind the header,
 * so that no bits are wasted. */
void tamis__static_layout(uint64_t data_bits, struct tamis__layout *layout);
/* The data_bytes of that layout. */
uint64_t tamis__data_bytes(uint64_t data_bits);

/*
 * A counting filter has m counters where a blocked one has m bits.  Counters that outgrow their
 * bits go on in an overflow table behind the data.  The table consists of levels of 16-byte slots.
 * The first level has a 256th as many slots as there are counters, and each further level has twice
 * as many as the one before.  All levels together have at least two slots for every counter, so
 * they hold all counters.
 */
#define TAMIS__COUNTER_BITS_DEFAULT 4u
#define TAMIS__COUNTERS_MAX ((uint64_t)1 << 40)
#define TAMIS__SLOT_BYTES 16u
bool tamis__counter_bits_are_valid(uint32_t bits); /* 4, 8, 16 or 32 */
/* Bits of the data of a segment: m, or for a filter with counters m times the bits of a counter. */
uint64_t tamis__data_bits(uint64_t m_bits, uint32_t counter_bits);
uint64_t tamis__overflow_slots(uint64_t counters, uint32_t level);
uint32_t tamis__overflow_levels_max(uint64_t counters);
/* Bytes of the first `levels` levels together. */
uint64_t tamis__overflow_bytes(uint64_t counters, uint32_t levels);
