/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sums.h: the checksums of a segment that is sealed.
 *
 * A sealed segment has a table behind its data: a head, and an XXH3-64 of each 64 KiB of the file
 * from the header's end to the end of the data.  In a file of one page it ends before the last
 * word, which everybody looks at.  The table holds as long as the segment's mark is the one in the
 * head.  A writer changes the mark before its first bit and never sets it back (mark.h), so as long
 * as the marks agree, any byte that differs is damaged.  Nobody keeps the table up to date: it is
 * made once, and a mark that has gone on says that it is out of date.
 *
 *     made       before a new segment with contents has its name, and by the checkpoint that clears
 *                the mark of a segment that its list has left (docs/decisions/0045)
 *     in force   TAMIS__MARK_SEALED is in the mark, once the table and the data are on the disk
 *     checked    by verify, by copies, and before a segment is read for a delta
 */
#pragma once

#include "segment/mark.h"

#define TAMIS__SUMS_MAGIC "TAMSUMS\n" /* without its NUL */

#define TAMIS__SUMS_FIELDS(FIELD, s)                                                               \
    FIELD(s, 0, uint64_t, checksum, , "XXH3-64 of the 56 bytes behind it")                         \
    FIELD(s, 8, uint8_t, magic, [8], "`TAMSUMS` LF")                                               \
    FIELD(s, 16, uint64_t, mark, , "with which the table holds, bit 63 included")                  \
    FIELD(s, 24, uint64_t, items, , "the sum of the stripes")                                      \
    FIELD(s, 32, uint64_t, fixed, ,                                                                \
          "XXH3-64 of the bytes 1152 to 1527 of the header, then 16 to 63 of each stripe; in a "   \
          "file of one page then 1728 to 2047")                                                    \
    FIELD(s, 40, uint64_t, overflow_bytes, ,                                                       \
          "of kind 3, the bytes of the levels in force; else 0")                                   \
    FIELD(s, 48, uint64_t, overflow, ,                                                             \
          "XXH3-64 of these bytes, which begin at file_bytes; 0 if there are none")                \
    FIELD(s, 56, uint64_t, sums, , "XXH3-64 of all that follows")
TAMIS__FILE_STRUCT(tamis__sums_head, TAMIS__SUMS_FIELDS, TAMIS__SUMS_HEAD_BYTES);

/* Has the file room for a table?  Static data have a checksum in the header, and files that were
 * made before there were tables may have no room. */
bool tamis__sums_have_room(const struct tamis__segment_header *header);

/* Is the table of a segment with this mark in force? */
static inline bool tamis__mark_is_sealed(uint64_t mark)
{
    return (mark & (TAMIS__MARK_SEALED | TAMIS__MARK_BITS)) == TAMIS__MARK_SEALED;
}

/* Writes the sums of a staged file, whose data and levels of overflow do not change any more.  Does
 * nothing if there is no room. */
int tamis__sums_stage(struct tamis__staged *staged, const struct tamis__segment_header *header,
                      const char *what);
/* Writes the head, and seals the mark in `header`, whose other fields are final. */
int tamis__sums_stage_head(const struct tamis__staged *staged, struct tamis__segment_header *header,
                           const char *what);

/* Writes the table of a mapped segment, for the mark that it will have.  The caller has the table's
 * lock and knows that nobody writes to the segment.  TAMIS_ENOMEM. */
int tamis__sums_make(const struct tamis__segment *segment, uint64_t mark);

/* Does a mapped segment have the bytes that it had when it was sealed? */
enum tamis__sums_state {
    TAMIS__SUMS_NONE,   /* it is not sealed, or was written to during the check */
    TAMIS__SUMS_HOLD,   /* yes */
    TAMIS__SUMS_BROKEN, /* no: `offset` and `reason` say where */
};
struct tamis__sums_verdict {
    enum tamis__sums_state state;
    uint64_t offset;
    char reason[320]; /* a clause that fits behind the name of the file */
};
/* Called now and then with the bytes of the segment that were read.  A result other than 0 ends the
 * check, which returns it. */
typedef int tamis__sums_tell(const void *context, uint64_t bytes);
int tamis__sums_check(const struct tamis__segment *segment, tamis__sums_tell *tell,
                      const void *context, struct tamis__sums_verdict *verdict);

/* ---- For both files of sums ------------------------------------------------------------------ */

/* Where the table begins: behind the data. */
static inline uint64_t tamis__sums_at(const struct tamis__segment_header *h)
{
    return h->data_offset + h->data_bytes;
}

/* Where the room for the table ends. */
static inline uint64_t tamis__sums_end(const struct tamis__segment_header *h)
{
    return tamis__header_is_one_page(h) ? TAMIS__ONE_PAGE_END : h->file_bytes;
}

/* The sums without the head: how many, and their bytes. */
static inline uint64_t tamis__sums_count(const struct tamis__segment_header *h)
{
    return tamis__sum_blocks(h->data_offset, h->data_bytes);
}

static inline size_t tamis__sums_bytes_of(const struct tamis__segment_header *h)
{
    return (size_t)(8 * tamis__sums_count(h));
}

/* The place of block i in the file, and its bytes. */
static inline uint64_t tamis__sums_block_at(const struct tamis__segment_header *h, uint64_t i)
{
    return tamis__sums_from(h->data_offset) + i * TAMIS__SUM_BLOCK_BYTES;
}

static inline size_t tamis__sums_block_bytes(const struct tamis__segment_header *h, uint64_t i)
{
    const uint64_t left = tamis__sums_at(h) - tamis__sums_block_at(h, i);
    return (size_t)(left < TAMIS__SUM_BLOCK_BYTES ? left : TAMIS__SUM_BLOCK_BYTES);
}

/* The sum of what never changes in a header and is not in its checksum: what stood behind an
 * imported stream, and the key rule. */
uint64_t tamis__sums_fixed(const struct tamis__segment_header *header);
uint64_t tamis__sums_overflow_bytes(const struct tamis__segment_header *header);
void tamis__sums_close_head(struct tamis__sums_head *head);
/* NULL, with a sentence, if there is no memory. */
uint64_t *tamis__sums_buffer(size_t bytes);
