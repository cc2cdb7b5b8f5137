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
 * all cells of a key before it answers, and only remove lowers cells.  So counting_contains() never
 * misses a key, and count() is never below the truth.
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
#include "base/cpu.h"
#include "kind/counting_key.h"

/* ---- One key --------------------------------------------------------------------------------- */

TAMIS__INLINE struct tamis__key_cells cells_of(const struct tamis__segment_header *header,
                                               const void *key, size_t key_bytes, unsigned z)
{
    const struct tamis__digester by = tamis__header_digester(header);
    const struct tamis__digest digest = tamis__digest_by(&by, key, key_bytes);
    const uint64_t block = tamis__scale(digest.high, header->m_bits / TAMIS__BLOCK_BITS);
    struct tamis__key_cells cells = {.word = {0}};
    for (unsigned w = 0; w < z; w++) {
        const struct tamis__target t = tamis__target_of(digest.low, w, z, header->k / z);
        cells.word[w] = block * TAMIS__BLOCK_WORDS + t.word;
        cells.mask[w] = t.mask;
    }
    return cells;
}

static int counting_add(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    const unsigned z = segment->header->words;
    const struct tamis__key_cells its = cells_of(segment->header, key, key_bytes, z);
    return z == 2 ? add_key(&cells, &its, 2) : add_key(&cells, &its, 4);
}

/* To stop at the first cell that is 0 is faster here, as no other key's cells are under way
 * meanwhile. */
static int counting_contains(const struct tamis__segment *segment, const void *key,
                             size_t key_bytes)
{
    const unsigned z = segment->header->words;
    const struct tamis__key_cells its = cells_of(segment->header, key, key_bytes, z);
    return tamis__counting_least(segment, &its, z) > 0;
}

/* Words of 64 cells lie within a line, or, if the cells have 16 bits or more, in two or four: then
 * the lines of the first and the last cell of the key are fetched. */
static void counting_fetch(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    const unsigned z = segment->header->words;
    const struct tamis__key_cells its = cells_of(segment->header, key, key_bytes, z);
    const struct tamis__cells cells = tamis__cells_of(segment);
    for (unsigned w = 0; w < z; w++) {
        const uint64_t first = its.word[w] * 64 + (unsigned)__builtin_ctzll(its.mask[w]);
        const uint64_t last = its.word[w] * 64 + 63 - (unsigned)__builtin_clzll(its.mask[w]);
        __builtin_prefetch(tamis__cell_word(&cells, first), 0, 3);
        __builtin_prefetch(tamis__cell_word(&cells, last), 0, 3);
    }
}

/* ---- Many keys ------------------------------------------------------------------------------- */

/* Runs the best variant of the loops that this machine has. */
static int64_t counting_run(const struct tamis__segment *segment, struct tamis__counting_call call)
{
    tamis__counting_run_fn *fn = tamis__counting_run_portable;
#ifdef __x86_64__
    const enum tamis__cpu cpu = tamis__block_cpu(segment->header);
    if (cpu == TAMIS__CPU_AVX2) fn = tamis__counting_run_avx2;
    if (cpu == TAMIS__CPU_AVX512) fn = tamis__counting_run_avx512;
#endif
    return fn(segment, &call);
}

static int64_t counting_add_batch(const struct tamis__segment *segment,
                                  const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    return counting_run(
        segment, (struct tamis__counting_call){
                     .op = TAMIS__COUNTING_ADD, .keys = keys, .count = count, .answers = answers});
}

static size_t counting_contains_keeping(const struct tamis__segment *segment,
                                        const struct tamis_key *keys, size_t count,
                                        struct tamis__digest *digests, uint8_t *answers)
{
    return (size_t)counting_run(segment,
                                (struct tamis__counting_call){.op = TAMIS__COUNTING_CONTAINS,
                                                              .keys = keys,
                                                              .kept = digests,
                                                              .count = count,
                                                              .answers = answers});
}

static size_t counting_contains_batch(const struct tamis__segment *segment,
                                      const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    return counting_contains_keeping(segment, keys, count, NULL, answers);
}

static int64_t counting_remove_batch(const struct tamis__segment *segment,
                                     const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    return counting_run(segment, (struct tamis__counting_call){.op = TAMIS__COUNTING_REMOVE,
                                                               .keys = keys,
                                                               .count = count,
                                                               .answers = answers});
}

static int64_t counting_remove_digests(const struct tamis__segment *segment,
                                       const struct tamis__digest *digests, size_t count,
                                       uint8_t *answers)
{
    return counting_run(segment, (struct tamis__counting_call){.op = TAMIS__COUNTING_REMOVE,
                                                               .digests = digests,
                                                               .count = count,
                                                               .answers = answers});
}

static int64_t counting_count_batch(const struct tamis__segment *segment,
                                    const struct tamis_key *keys, size_t count, uint64_t *counts)
{
    return counting_run(
        segment, (struct tamis__counting_call){
                     .op = TAMIS__COUNTING_COUNT, .keys = keys, .count = count, .counts = counts});
}

/* ---- The whole segment ----------------------------------------------------------------------- */

static int counting_check(const struct tamis__segment_header *header, const char **reason)
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

static void counting_measure(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    tamis__block_measure(segment, counters_above_zero, &cells, ones, fp_rate);
}

static int counting_verify(const struct tamis__segment *segment, uint64_t *offset,
                           const char **reason)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    return tamis__cells_verify(&cells, offset, reason);
}

static void mend_copy(const struct tamis__segment *segment)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    tamis__cells_mend_copy(&cells);
}

static int counting_mend(const struct tamis__segment *segment, uint64_t file_bytes)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    return tamis__cells_mend(&cells, file_bytes);
}

const struct tamis__kind tamis__kind_counting = {
    .id = TAMIS_KIND_COUNTING,
    .check = counting_check,
    .add = counting_add,
    .contains = counting_contains,
    .fetch = counting_fetch,
    .add_batch = counting_add_batch,
    .contains_batch = counting_contains_batch,
    .contains_keeping = counting_contains_keeping,
    .remove_batch = counting_remove_batch,
    .remove_digests = counting_remove_digests,
    .count_batch = counting_count_batch,
    .mend_copy = mend_copy,
    .mend = counting_mend,
    .verify = counting_verify,
    .positions = tamis__block_positions,
    .measure = counting_measure,
    .merge = tamis__cells_merge,
    .reserve = tamis__cells_reserve,
    .tally = tamis__cells_tally,
};
