/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counting.c: the kind with counters instead of bits, so that keys can be removed and counted (Fan,
 * Cao, Almeida, Broder: "Summary Cache", 1998; counters without a limit: Aguilar-Saborit et al.,
 * "Dynamic Count Filters", 2006).
 *
 * The cells of a key are the counters at the places that a blocked filter of the same m, k and seed
 * would set as bits (block.h).  They are a set: a place that was picked twice is one cell.  cells.h
 * says how a cell counts.
 *
 *     contains   all cells above 0                        wait-free
 *     count      the least of the cells                   wait-free
 *     add        raise all cells, in order                lock-free
 *     remove     all above 0?  then lower all             under the lock of the block
 *
 * Every cell is at least the number of times that its keys were added and not removed: add raises
 * all cells of a key before it answers, and only remove lowers cells.  So contains() never misses a
 * key, and count() is never below the truth.
 *
 * NEW is told by the last-missing-word rule (docs/concurrency.md), where "lacking" means 0.  All
 * adders visit the cells in one order.  Of the cells that an adder found at 0, the last one
 * decides: who raises that one from 0 is told NEW.  All cells are raised in that order, also those
 * that are above 0, so the proof of docs/concurrency.md holds as long as nobody removes.  It also
 * says what changes with removers.
 *
 * remove must lower all cells of a key or none, and never below 0.  A remover locks the key's block
 * (segment.h), looks at all cells and then lowers them.  Beside it there are only adders, which
 * raise, so what it saw above 0 stays above 0 and nothing need ever be taken back.  Removers of one
 * key work one after the other.  There are 48 lock words, and the block's number picks one; adders
 * and readers do not look at it.
 *
 * A death in the middle of add or remove leaves cells too high, never too low.  A key may then seem
 * to be there that is not, which a filter is allowed to say.
 */
#include <assert.h>

#include "kind/block.h"
#include "kind/cells.h"
#include "kind/kind.h"

/* Keys in flight (docs/decisions/0005). */
#define RING 64u

/* The most cells of a key: z times q. */
#define CELLS_MAX 40u

enum op { ADD, CONTAINS, REMOVE, COUNT };

struct probe {
    uint64_t block;
    uint64_t low;
};

/* What all keys of a call have in common. */
struct frame {
    struct tamis__cells cells;
    uint64_t blocks;
    struct tamis__digester by;
    unsigned z, q;
};

static struct frame frame_of(const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    return (struct frame){.cells = tamis__cells_of(segment),
                          .blocks = h->m_bits / TAMIS__BLOCK_BITS,
                          .by = tamis__header_digester(h),
                          .z = h->words,
                          .q = h->k / h->words};
}

TAMIS__INLINE struct probe probe_at(const struct frame *frame, struct tamis__digest digest)
{
    return (struct probe){.block = tamis__scale(digest.high, frame->blocks), .low = digest.low};
}

TAMIS__INLINE struct probe probe_of(const struct frame *frame, const void *key, size_t key_bytes)
{
    return probe_at(frame, tamis__digest_by(&frame->by, key, key_bytes));
}

/* Lists the cells of a key, in order, and returns how many there are. */
TAMIS__INLINE unsigned cells_of(const struct frame *frame, struct probe probe, uint64_t *list)
{
    unsigned count = 0;
    for (unsigned i = 0; i < frame->z; i++) {
        const struct tamis__target t = tamis__target_of(probe.low, i, frame->z, frame->q);
        const uint64_t first = probe.block * TAMIS__BLOCK_BITS + t.word * 64;
        for (uint64_t left = t.mask; left != 0; left &= left - 1)
            list[count++] = first + (unsigned)__builtin_ctzll(left);
    }
    return count;
}

/* The first of the 64 cells of word i of a key; *x has the places in it (block.h). */
TAMIS__INLINE uint64_t word_cells(const struct frame *frame, struct probe probe, unsigned i,
                                  uint64_t *x)
{
    const unsigned word_bits = frame->z == 2 ? 2 : 1;
    *x = probe.low * tamis__multipliers[i];
    const uint64_t word = i * (TAMIS__BLOCK_WORDS / frame->z) + (*x >> (64 - word_bits));
    *x <<= word_bits;
    return probe.block * TAMIS__BLOCK_BITS + word * 64;
}

TAMIS__INLINE void prefetch_cell(const struct frame *frame, uint64_t cell, bool to_write)
{
    if (to_write)
        __builtin_prefetch(tamis__cell_word(&frame->cells, cell), 1, 3);
    else
        __builtin_prefetch(tamis__cell_word(&frame->cells, cell), 0, 3);
}

/* 64 cells of 4 or 8 bits are at most a cache line; wider ones are fetched one by one. */
TAMIS__INLINE void prefetch(const struct frame *frame, struct probe probe, bool to_write)
{
    for (unsigned i = 0; i < frame->z; i++) {
        uint64_t x;
        const uint64_t first = word_cells(frame, probe, i, &x);
        if (frame->cells.width_log2 <= 3) {
            prefetch_cell(frame, first, to_write);
            continue;
        }
        for (unsigned j = 0; j < frame->q; j++, x <<= 6)
            prefetch_cell(frame, first + (x >> 58), to_write);
    }
}

/*
 * Returns the least of what the cells of a key have in their bits, and sets *marked if one is
 * marked.  All places are looked at, also one that was picked twice: a branch on what is found, or
 * on how many are distinct, would be mispredicted and cost more than the loads.
 */
TAMIS__INLINE uint64_t least_bits(const struct frame *frame, struct probe probe, bool *marked)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned i = 0; i < frame->z; i++) {
        uint64_t x;
        const uint64_t first = word_cells(frame, probe, i, &x);
        for (unsigned j = 0; j < frame->q; j++, x <<= 6) {
            const uint64_t value = tamis__cell_peek(&frame->cells, first + (x >> 58));
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
    }
    *marked = most == frame->cells.most;
    return least;
}

/* The least of the counts of a key, one of whose cells is marked. */
static __attribute__((noinline)) uint64_t least_count(const struct frame *frame, struct probe probe)
{
    uint64_t list[CELLS_MAX], least = UINT64_MAX;
    const unsigned count = cells_of(frame, probe, list);
    for (unsigned i = 0; i < count && least > 0; i++) {
        const uint64_t value = tamis__cell_get(&frame->cells, list[i]);
        if (value < least) least = value;
    }
    return least;
}

TAMIS__INLINE uint64_t count_one(const struct frame *frame, struct probe probe)
{
    bool marked;
    const uint64_t least = least_bits(frame, probe, &marked);
    return __builtin_expect(marked && least > 0, 0) ? least_count(frame, probe) : least;
}

TAMIS__INLINE unsigned contains_one(const struct frame *frame, struct probe probe)
{
    return count_one(frame, probe) > 0;
}

static int lock(const struct frame *frame, struct probe probe)
{
    if (TAMIS__NO_BLOCK_LOCK) return 0;
    const int rc = tamis__segment_lock_block(frame->cells.segment, probe.block);
    if (rc == 0) TAMIS__POINT(TAMIS__POINT_BLOCK_LOCKED);
    return rc;
}

static void unlock(const struct frame *frame, struct probe probe)
{
    if (!TAMIS__NO_BLOCK_LOCK) tamis__segment_unlock_block(frame->cells.segment, probe.block);
}

/*
 * Takes back the raises of an add that found no room for its next cell, though there had been room
 * for all of them a moment before.  It works as a remover, since others might have looked at the
 * cells.  Somebody who removed a key that was never added may even have used the raises up.  If the
 * lock cannot be had, the raises stay: a false positive.
 */
static void take_back(const struct frame *frame, struct probe probe, const uint64_t *list,
                      unsigned count)
{
    if (lock(frame, probe) < 0) return;
    for (unsigned i = 0; i < count; i++)
        if (tamis__cell_get(&frame->cells, list[i]) > 0)
            (void)tamis__cell_lower(&frame->cells, list[i]);
    unlock(frame, probe);
}

/* Looks at the cells before anything is raised: it finds the last one at 0, and makes slots for
 * those that are full. */
static int look(const struct frame *frame, const uint64_t *list, unsigned count, unsigned *last)
{
    const struct tamis__cells *cells = &frame->cells;
    *last = CELLS_MAX;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t value = tamis__cell_peek(cells, list[i]);
        if (value == cells->most - 1) {
            const int rc = tamis__cell_take_slot(cells, list[i]);
            if (rc < 0) return rc;
        }
        if (value == 0 || (value == cells->most && tamis__cell_get_marked(cells, list[i]) == 0))
            *last = i;
    }
    TAMIS__POINT(TAMIS__POINT_ADD_LOADED);
    return 0;
}

/* Returns 1 if the key was new, 0 if not, or an error when nothing was done. */
static int add_one(const struct frame *frame, struct probe probe)
{
    uint64_t list[CELLS_MAX], before = 0;
    unsigned last;
    int won = 0, any = 0;
    const unsigned count = cells_of(frame, probe, list);
    int rc = look(frame, list, count, &last);
    for (unsigned i = 0; rc == 0 && i < count; i++) {
        rc = tamis__cell_raise(&frame->cells, list[i], &before);
        if (rc < 0) {
            take_back(frame, probe, list, i);
            break;
        }
        if (i == last) won = before == 0;
        any |= before == 0;
        TAMIS__POINT(TAMIS__POINT_CELL_RAISED);
    }
    if (rc < 0) return rc;
    return TAMIS__ANY_BIT_RULE ? any : won;
}

/* Returns 1 if the key was there and is removed once, 0 if not, or an error when
 * nothing was done. */
static int remove_one(const struct frame *frame, struct probe probe)
{
    uint64_t list[CELLS_MAX];
    bool gone = false;
    const unsigned count = cells_of(frame, probe, list);
    const int rc = lock(frame, probe);
    if (rc < 0) return rc;
    const unsigned there = contains_one(frame, probe);
    TAMIS__POINT(TAMIS__POINT_REMOVE_CHECKED);
    for (unsigned i = 0; there && i < count; i++) {
        gone |= tamis__cell_lower(&frame->cells, list[i]) == 1;
        TAMIS__POINT(TAMIS__POINT_CELL_LOWERED);
    }
    unlock(frame, probe);
    if (gone) (void)tamis__segment_count(frame->cells.segment, UINT64_MAX); /* less one */
    return (int)there;
}

TAMIS__INLINE int64_t apply(const struct frame *frame, struct probe probe, enum op op)
{
    switch (op) {
    case ADD:
        return add_one(frame, probe);
    case CONTAINS:
        return contains_one(frame, probe);
    case REMOVE:
        return remove_one(frame, probe);
    default:
        return (int64_t)count_one(frame, probe);
    }
}

/* What a batch call gets, and where its results go. */
struct batch {
    const struct tamis_key *keys; /* one of these two is NULL */
    const struct tamis__digest *digests;
    struct tamis__digest *kept; /* NULL, or where the digests of the keys go */
    size_t count;
    uint8_t *answers; /* NULL for COUNT */
    uint64_t *counts; /* NULL for the others */
};

TAMIS__INLINE struct probe take(const struct frame *frame, const struct batch *batch, size_t i)
{
    struct tamis__digest digest;
    assert(batch->digests != NULL || batch->keys != NULL);
    if (batch->digests != NULL)
        digest = batch->digests[i];
    else if (__builtin_expect(frame->by.other != NULL, 0))
        digest = tamis__digest_by(&frame->by, batch->keys[i].data, batch->keys[i].bytes);
    else
        digest = tamis__digest_at_once(batch->keys[i].data, batch->keys[i].bytes, frame->by.seed);
    if (batch->kept != NULL) batch->kept[i] = digest;
    return probe_at(frame, digest);
}

/* One loop for all batch calls: works on the oldest key in flight while the lines of this one come
 * in.  Ends at the first error; the keys that are not done get TAMIS_ANSWER_REFUSED. */
TAMIS__INLINE int64_t run(const struct tamis__segment *segment, enum op op, struct batch batch)
{
    struct probe ring[RING];
    const struct frame frame = frame_of(segment);
    const size_t count = batch.count, flight = count < RING ? count : RING;
    size_t ones = 0, counted = 0;
    int64_t got = 0;
    for (size_t i = 0; i < count + flight; i++) {
        if (i >= flight) {
            const size_t oldest = i - flight;
            got = apply(&frame, ring[oldest % RING], op);
            if (got < 0) {
                memset(batch.answers + oldest, TAMIS_ANSWER_REFUSED, count - oldest);
                break;
            }
            if (op == COUNT)
                batch.counts[oldest] = (uint64_t)got;
            else
                batch.answers[oldest] = (uint8_t)got;
            ones += got > 0;
            if (op == ADD && i % TAMIS__KEYS_A_COUNT == 0)
                counted = tamis__count_new(segment, ones, counted);
        }
        if (i < count) {
            struct probe *slot = &ring[i % RING];
            *slot = take(&frame, &batch, i);
            prefetch(&frame, *slot, op == ADD || op == REMOVE);
        }
    }
    if (op == ADD) (void)tamis__count_new(segment, ones, counted);
    return got < 0 ? got : (int64_t)ones;
}

static int64_t add_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                         size_t count, uint8_t *answers)
{
    return run(segment, ADD, (struct batch){.keys = keys, .count = count, .answers = answers});
}

static size_t contains_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                             size_t count, uint8_t *answers)
{
    return (size_t)run(segment, CONTAINS,
                       (struct batch){.keys = keys, .count = count, .answers = answers});
}

static size_t contains_keeping(const struct tamis__segment *segment, const struct tamis_key *keys,
                               size_t count, struct tamis__digest *digests, uint8_t *answers)
{
    return (size_t)run(
        segment, CONTAINS,
        (struct batch){.keys = keys, .count = count, .answers = answers, .kept = digests});
}

static int64_t remove_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                            size_t count, uint8_t *answers)
{
    return run(segment, REMOVE, (struct batch){.keys = keys, .count = count, .answers = answers});
}

static int64_t remove_digests(const struct tamis__segment *segment,
                              const struct tamis__digest *digests, size_t count, uint8_t *answers)
{
    return run(segment, REMOVE,
               (struct batch){.digests = digests, .count = count, .answers = answers});
}

static int64_t count_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                           size_t count, uint64_t *counts)
{
    return run(segment, COUNT, (struct batch){.keys = keys, .count = count, .counts = counts});
}

static int add(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct frame frame = frame_of(segment);
    return add_one(&frame, probe_of(&frame, key, key_bytes));
}

/* One key by itself: to stop at the first cell that is 0 is faster here, as no other key's cells
 * are under way meanwhile. */
static int contains(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct frame frame = frame_of(segment);
    uint64_t list[CELLS_MAX];
    const unsigned count = cells_of(&frame, probe_of(&frame, key, key_bytes), list);
    for (unsigned i = 0; i < count; i++)
        if (tamis__cell_get(&frame.cells, list[i]) == 0) return 0;
    return 1;
}

static int check(const struct tamis__segment_header *header, const char **reason)
{
    *reason = "has a geometry that no counting filter has";
    if (header->counter_bits == 0 || header->m_bits > TAMIS__COUNTERS_MAX ||
        !tamis__is_block_geometry(header))
        return TAMIS_ECORRUPT;
    const int rc = tamis__check_length(header, reason);
    if (rc < 0) return rc;
    return tamis__check_hash_set(header, reason);
}

static unsigned counters_above_zero(const void *data, uint64_t word)
{
    return tamis__cells_above_zero(data, word * 64, 64);
}

static void measure(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    tamis__block_measure(segment, counters_above_zero, &cells, ones, fp_rate);
}

static int verify(const struct tamis__segment *segment, uint64_t *offset, const char **reason)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    return tamis__cells_verify(&cells, offset, reason);
}

static void mend_copy(const struct tamis__segment *segment)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    tamis__cells_mend_copy(&cells);
}

static int mend(const struct tamis__segment *segment, uint64_t file_bytes)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    return tamis__cells_mend(&cells, file_bytes);
}

const struct tamis__kind tamis__kind_counting = {
    .id = TAMIS_KIND_COUNTING,
    .check = check,
    .add = add,
    .contains = contains,
    .add_batch = add_batch,
    .contains_batch = contains_batch,
    .contains_keeping = contains_keeping,
    .remove_batch = remove_batch,
    .remove_digests = remove_digests,
    .count_batch = count_batch,
    .mend_copy = mend_copy,
    .mend = mend,
    .verify = verify,
    .positions = tamis__block_positions,
    .measure = measure,
    .merge = tamis__cells_merge,
    .reserve = tamis__cells_reserve,
    .tally = tamis__cells_tally,
};
