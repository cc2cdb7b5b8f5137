/* SPDX-License-Identifier: BSD-2-Clause */
/* sums.c: the table of a mapped segment; see sums.h.  docs/format.md, 3.8, has its fields. */
#include "segment/sums.h"

#include "hash/sum.h"
#include "os/io.h"

#define BLOCK_WORDS (TAMIS__SUM_BLOCK_BYTES / 8)
/* A pass asks for so many blocks at once, and tells how far it is: 1 MiB. */
#define BLOCKS_AT_ONCE 16u

#define MEND "; take it from a backup ('tamis repair --from'), or make it anew from its keys"

/* How far into the data a place of the file is. */
static uint64_t in_data(const struct tamis__segment_header *h, uint64_t at)
{
    return at > h->data_offset ? at - h->data_offset : 0;
}

/* ---- What is summed -------------------------------------------------------------------------- */

/* Copies words that others may change meanwhile; then the sum is not used. */
static void load_words(const void *from, uint64_t *to, size_t words)
{
    const uint64_t *source = from;
    for (size_t i = 0; i < words; i++) /* ORDER relaxed: see tamis__sums_check(). */
        to[i] = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
}

static uint64_t sum_of(const void *at, size_t bytes, uint64_t buffer[BLOCK_WORDS])
{
    load_words(at, buffer, bytes / 8);
    return tamis__checksum(buffer, bytes);
}

/* The sum of the levels of overflow; 0 if there is none. */
static uint64_t sum_overflow(const struct tamis__segment *segment, uint64_t bytes,
                             uint64_t buffer[BLOCK_WORDS])
{
    const char *at = (const char *)segment->map + segment->header->file_bytes;
    struct tamis__sum64 sum;
    if (bytes == 0) return 0;
    tamis__sum64_init(&sum);
    for (uint64_t done = 0; done < bytes; done += TAMIS__SUM_BLOCK_BYTES) {
        const uint64_t left = bytes - done;
        const size_t now = (size_t)(left < TAMIS__SUM_BLOCK_BYTES ? left : TAMIS__SUM_BLOCK_BYTES);
        load_words(at + done, buffer, now / 8);
        tamis__sum64_add(&sum, buffer, now);
    }
    return tamis__sum64_finish(&sum);
}

/* ---- Making ---------------------------------------------------------------------------------- */

int tamis__sums_make(const struct tamis__segment *segment, uint64_t mark)
{
    const struct tamis__segment_header *h = segment->header;
    const uint64_t count = tamis__sums_count(h);
    char *table = (char *)segment->map + tamis__sums_at(h);
    uint64_t *sums = (uint64_t *)(void *)(table + TAMIS__SUMS_HEAD_BYTES);
    uint64_t *buffer = tamis__sums_buffer(TAMIS__SUM_BLOCK_BYTES);
    if (buffer == NULL) return TAMIS_ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        if (i % BLOCKS_AT_ONCE == 0)
            tamis__segment_want(segment, in_data(h, tamis__sums_block_at(h, i)),
                                BLOCKS_AT_ONCE * TAMIS__SUM_BLOCK_BYTES);
        const uint64_t sum = sum_of((const char *)segment->map + tamis__sums_block_at(h, i),
                                    tamis__sums_block_bytes(h, i), buffer);
        __atomic_store_n(&sums[i], sum, __ATOMIC_RELAXED); /* ORDER: the mark comes later */
    }
    struct tamis__sums_head head = {.mark = mark,
                                    .items = tamis__segment_items(segment),
                                    .fixed = tamis__sums_fixed(h),
                                    .overflow_bytes = tamis__sums_overflow_bytes(h),
                                    .sums = tamis__checksum(sums, tamis__sums_bytes_of(h))};
    head.overflow = sum_overflow(segment, head.overflow_bytes, buffer);
    tamis__sums_close_head(&head);
    uint64_t words[sizeof head / 8];
    memcpy(words, &head, sizeof head);
    for (size_t i = 0; i < sizeof head / 8; i++) /* ORDER relaxed: as above */
        __atomic_store_n((uint64_t *)(void *)table + i, words[i], __ATOMIC_RELAXED);
    free(buffer);
    return 0;
}

/* ---- Checking -------------------------------------------------------------------------------- */

struct checking {
    const struct tamis__segment *segment;
    const struct tamis__segment_header *header;
    struct tamis__sums_verdict *verdict;
    struct tamis__sums_head head;
    uint64_t *sums;   /* a copy */
    uint64_t *buffer; /* of a block */
    uint64_t broken;  /* blocks */
};

static void break_at(struct tamis__sums_verdict *verdict, uint64_t offset, const char *reason)
{
    verdict->state = TAMIS__SUMS_BROKEN;
    verdict->offset = offset;
    (void)snprintf(verdict->reason, sizeof verdict->reason, "%s", reason);
}

/* Copies the table, and checks that it is whole. */
static bool read_table(struct checking *c)
{
    const struct tamis__segment_header *h = c->header;
    const char *at = (const char *)c->segment->map + tamis__sums_at(h);
    uint64_t words[sizeof c->head / 8];
    load_words(at, words, sizeof words / 8);
    memcpy(&c->head, words, sizeof c->head);
    load_words(at + TAMIS__SUMS_HEAD_BYTES, c->sums, (size_t)tamis__sums_count(h));
    return memcmp(c->head.magic, TAMIS__SUMS_MAGIC, sizeof c->head.magic) == 0 &&
           c->head.checksum ==
               tamis__checksum(&c->head.magic, sizeof c->head - sizeof c->head.checksum) &&
           c->head.sums == tamis__checksum(c->sums, tamis__sums_bytes_of(h));
}

/* The place of a byte that is not 0 between the table and the end of the room for it; 0: there is
 * none. */
static uint64_t first_stray(const struct checking *c)
{
    const struct tamis__segment_header *h = c->header;
    const uint64_t end = tamis__sums_at(h) + tamis__sums_bytes(h->data_offset, h->data_bytes);
    for (uint64_t at = end; at < tamis__sums_end(h); at += 8)
        if (__atomic_load_n((const uint64_t *)(const void *)((char *)c->segment->map + at),
                            __ATOMIC_RELAXED) != 0)
            return at;
    return 0;
}

/* Fewer items than when the segment was sealed are compared with the catalog, which a repair brings
 * down to them. */
static bool counts_otherwise(const struct checking *c)
{
    const uint64_t items = tamis__segment_items(c->segment);
    return items > c->head.items || (c->header->counter_bits != 0 && items < c->head.items);
}

static void check_header(const struct checking *c)
{
    struct tamis__sums_verdict *verdict = c->verdict;
    const uint64_t stray = first_stray(c);
    if (c->head.fixed != tamis__sums_fixed(c->header))
        break_at(verdict, 0, "has other bytes than when it was sealed, in its header" MEND);
    else if (counts_otherwise(c))
        break_at(verdict, offsetof(struct tamis__segment_header, items),
                 "has counted other items than when it was sealed, though nobody has written to "
                 "it" MEND);
    else if (stray != 0)
        break_at(verdict, stray,
                 "has other bytes than when it was sealed, behind its table of checksums" MEND);
    else if (c->head.overflow_bytes != tamis__sums_overflow_bytes(c->header) ||
             c->head.overflow != sum_overflow(c->segment, c->head.overflow_bytes, c->buffer))
        break_at(verdict, c->header->file_bytes,
                 "has other bytes than when it was sealed, in its overflow of counters" MEND);
}

/* Says how many blocks are broken. */
static void tell_broken(const struct checking *c)
{
    const uint64_t count = tamis__sums_count(c->header);
    (void)snprintf(c->verdict->reason, sizeof c->verdict->reason,
                   "has other bytes than when it was sealed, in %" PRIu64 " of its %" PRIu64
                   " part%s of 64 KiB (the first here), and keys may answer absent" MEND,
                   c->broken, count, tamis__plural(count));
}

static int check_blocks(struct checking *c, tamis__sums_tell *tell, const void *context)
{
    const struct tamis__segment_header *h = c->header;
    const uint64_t count = tamis__sums_count(h);
    int rc = 0;
    for (uint64_t i = 0, from = 0; rc == 0 && i < count; i++) {
        const uint64_t at = tamis__sums_block_at(h, i),
                       to = in_data(h, at + tamis__sums_block_bytes(h, i));
        if (i % BLOCKS_AT_ONCE == 0)
            tamis__segment_want(c->segment, in_data(h, at),
                                BLOCKS_AT_ONCE * TAMIS__SUM_BLOCK_BYTES);
        const uint64_t sum =
            sum_of((const char *)c->segment->map + at, tamis__sums_block_bytes(h, i), c->buffer);
        if (sum != c->sums[i] && c->broken++ == 0) break_at(c->verdict, at, "");
        if ((i + 1) % BLOCKS_AT_ONCE != 0 && i + 1 < count) continue;
        tamis__segment_release(c->segment, from, to - from);
        from = to;
        rc = tell != NULL ? tell(context, to) : 0;
    }
    if (c->broken > 0) tell_broken(c);
    return rc;
}

/* ORDER seq_cst: a writer changes the mark before its first byte, and the mark is read again behind
 * the bytes: if any of them was the writer's, the mark is another. */
static uint64_t mark_of(const struct tamis__segment *segment)
{
    tamis__fence();
    return __atomic_load_n(&segment->live->mark, __ATOMIC_SEQ_CST);
}

static int check_sealed(struct checking *c, uint64_t mark, tamis__sums_tell *tell,
                        const void *context)
{
    int rc = 0;
    c->verdict->state = TAMIS__SUMS_HOLD;
    if (!read_table(c))
        break_at(
            c->verdict, tamis__sums_at(c->header),
            "has a damaged table of checksums, so nobody knows whether the rest is sound" MEND);
    else if (c->head.mark != mark) /* written to by a library that knows no tables */
        c->verdict->state = TAMIS__SUMS_NONE;
    else
        rc = check_blocks(c, tell, context);
    if (rc == 0 && c->verdict->state == TAMIS__SUMS_HOLD) check_header(c);
    if (mark_of(c->segment) != mark) c->verdict->state = TAMIS__SUMS_NONE;
    return rc;
}

int tamis__sums_check(const struct tamis__segment *segment, tamis__sums_tell *tell,
                      const void *context, struct tamis__sums_verdict *verdict)
{
    const uint64_t mark = mark_of(segment);
    struct checking c = {.segment = segment, .header = segment->header, .verdict = verdict};
    *verdict = (struct tamis__sums_verdict){.state = TAMIS__SUMS_NONE};
    if (!tamis__mark_is_sealed(mark) || !tamis__sums_have_room(segment->header)) return 0;
    c.sums = tamis__sums_buffer(tamis__sums_bytes_of(segment->header) + TAMIS__SUM_BLOCK_BYTES);
    if (c.sums == NULL) return TAMIS_ENOMEM;
    c.buffer = c.sums + tamis__sums_count(segment->header);
    const int rc = check_sealed(&c, mark, tell, context);
    free(c.sums);
    return rc;
}
