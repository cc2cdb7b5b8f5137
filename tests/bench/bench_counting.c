/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_counting.c: what counting costs, in memory and in time, on a multiset of 10 million keys.
 *
 *     bench_counting [DIRECTORY]      a store is made there (default: $TMPDIR or /tmp) and removed
 *
 * The keys follow Zipf's law with exponent 1 over a million of them.  Compared, at the same m, k
 * and places, sized for the distinct keys at 1 %: filters of kind counting with counters of each
 * width, of which those of 32 bits are the fixed wide ones; and a Dynamic Count Filter
 * (Aguilar-Saborit et al. 2006) in the memory of this process alone, without atomics.  Prints bytes
 * a distinct key at the end of all adds, and nanoseconds of processor a key for adding all,
 * counting all, removing all, in batches of 4096.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "kind/block.h"

#define TOTAL 10000000u
#define UNIVERSE 1000000u
#define BATCH 4096u
#define AHEAD 64u

static void *allocate(uint64_t bytes)
{
    void *memory = calloc(1, (size_t)bytes);
    if (memory == NULL) err(1, "calloc");
    return memory;
}

/* ---- The multiset ------------------------------------------------------------------------------
 */

/* xorshift64* (Vigna 2016), from a fixed seed: each run has the same keys. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

static uint64_t *draw_keys(uint64_t *distinct, uint64_t *most)
{
    double *sums = allocate(UNIVERSE * sizeof *sums), sum = 0;
    uint32_t *times = allocate(UNIVERSE * sizeof *times);
    uint64_t *keys = allocate(TOTAL * sizeof *keys), state = 1;
    for (uint32_t rank = 0; rank < UNIVERSE; rank++)
        sums[rank] = sum += 1.0 / (rank + 1);
    *distinct = *most = 0;
    for (uint32_t i = 0; i < TOTAL; i++) {
        const double at = (double)(next_random(&state) >> 11) * 0x1p-53 * sum;
        uint32_t low = 0, high = UNIVERSE - 1; /* the first rank whose sum is not below */
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (sums[middle] < at)
                low = middle + 1;
            else
                high = middle;
        }
        keys[i] = low;
        *distinct += times[low]++ == 0;
        if (times[low] > *most) *most = times[low];
    }
    free(sums);
    free(times);
    return keys;
}

/* ---- The Dynamic Count Filter ------------------------------------------------------------------
 */

#define LAMBDA 0.5 /* of its delayed shrinking */

struct dcf {
    struct tamis__segment_header header; /* m, k, z and seed, for the places */
    uint64_t *low, *over;                /* m counters of x bits, m of y bits */
    unsigned x, y;
    uint64_t rebuilds;
    uint64_t levels[65][2]; /* per level: counters below its threshold, and not below */
};

static uint64_t packed_get(const uint64_t *words, unsigned width, uint64_t i)
{
    const uint64_t bit = i * width, word = bit / 64, shift = bit % 64;
    uint64_t value = words[word] >> shift;
    if (shift + width > 64) value |= words[word + 1] << (64 - shift);
    return value & (((uint64_t)1 << width) - 1);
}

static void packed_set(uint64_t *words, unsigned width, uint64_t i, uint64_t value)
{
    const uint64_t bit = i * width, word = bit / 64, shift = bit % 64;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    words[word] = (words[word] & ~(mask << shift)) | value << shift;
    if (shift + width <= 64) return;
    words[word + 1] = (words[word + 1] & ~(mask >> (64 - shift))) | value >> (64 - shift);
}

static uint64_t *packed_new(uint64_t count, unsigned width)
{
    return allocate((count * width / 64 + 2) * 8);
}

static uint64_t dcf_get(const struct dcf *d, uint64_t i)
{
    const uint64_t over = d->y > 0 ? packed_get(d->over, d->y, i) : 0;
    return over << d->x | packed_get(d->low, d->x, i);
}

static unsigned bits_of(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static uint64_t *level_of(struct dcf *d, uint64_t value)
{
    const unsigned level = bits_of(value >> d->x);
    const double threshold = level == 0
                                 ? LAMBDA * (double)((1u << d->x) - 1)
                                 : (double)((uint64_t)1 << (d->x + level - 1)) * (1 + LAMBDA);
    return &d->levels[level][(double)value >= threshold];
}

static void dcf_resize(struct dcf *d, unsigned y)
{
    uint64_t *over = y > 0 ? packed_new(d->header.m_bits, y) : NULL;
    const unsigned kept = y < d->y ? y : d->y;
    for (uint64_t i = 0; kept > 0 && i < d->header.m_bits; i++)
        packed_set(over, y, i, packed_get(d->over, d->y, i));
    free(d->over);
    d->over = over;
    d->y = y;
    d->rebuilds++;
}

static void dcf_put(struct dcf *d, uint64_t i, uint64_t old, uint64_t value)
{
    (*level_of(d, old))--;
    (*level_of(d, value))++;
    if (bits_of(value >> d->x) > d->y) dcf_resize(d, d->y + 1);
    packed_set(d->low, d->x, i, value & ((1u << d->x) - 1));
    if (d->y > 0) packed_set(d->over, d->y, i, value >> d->x);
    const uint64_t *top = d->levels[d->y];
    if (value < old && d->y > 0 && top[0] + top[1] == 0 && d->levels[d->y - 1][1] == 0)
        dcf_resize(d, d->y - 1);
}

static struct dcf *dcf_new(const struct tamis_segment_stat *like, double adds_a_key)
{
    struct dcf *d = allocate(sizeof *d);
    d->header.m_bits = like->m_bits;
    d->header.hash_set = TAMIS__HASH_XXH3;
    d->header.k = like->k;
    d->header.words = like->words;
    d->x = (unsigned)fmax(1, log2(adds_a_key));
    d->low = packed_new(like->m_bits, d->x);
    d->levels[0][0] = like->m_bits;
    return d;
}

static void dcf_free(struct dcf *d)
{
    free(d->low);
    free(d->over);
    free(d);
}

enum op { ADD, COUNT, REMOVE };

static uint64_t dcf_one(struct dcf *d, const uint64_t *places, enum op op)
{
    uint64_t least = UINT64_MAX;
    for (unsigned j = 0; j < d->header.k; j++) {
        const uint64_t value = dcf_get(d, places[j]);
        if (value < least) least = value;
        if (op == ADD) dcf_put(d, places[j], value, value + 1);
        if (op == REMOVE) dcf_put(d, places[j], value, value - 1);
    }
    return least;
}

/* The places of a key are computed, and fetched, AHEAD keys before their turn. */
static double dcf_run(struct dcf *d, const uint64_t *keys, enum op op)
{
    static uint64_t ring[AHEAD][TAMIS_K_MAX];
    const double start = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < TOTAL + AHEAD; i++) {
        uint64_t *places = ring[i % AHEAD];
        if (i >= AHEAD) sum += dcf_one(d, places, op);
        if (i >= TOTAL) continue;
        tamis__block_positions(&d->header, &keys[i], sizeof keys[i], places);
        for (unsigned j = 0; j < d->header.k; j++) {
            __builtin_prefetch(&d->low[places[j] * d->x / 64], 1, 3);
            if (d->y > 0) __builtin_prefetch(&d->over[places[j] * d->y / 64], 1, 3);
        }
    }
    if (sum == 0) errx(1, "the filter is empty");
    return (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e9 / TOTAL;
}

/* ---- Filters of kind counting ------------------------------------------------------------------
 */

static int64_t one_batch(tamis_filter *filter, const struct tamis_key *keys, size_t count,
                         enum op op)
{
    static uint64_t counts[BATCH];
    static uint8_t answers[BATCH];
    if (op == ADD) return tamis_filter_add_batch(filter, keys, count, answers);
    if (op == COUNT) return tamis_filter_count_batch(filter, keys, count, counts);
    return tamis_filter_remove_batch(filter, keys, count, answers);
}

static double filter_run(tamis_filter *filter, const uint64_t *keys, enum op op)
{
    struct tamis_key batch[BATCH];
    const double start = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t done = 0; done < TOTAL; done += BATCH) {
        const uint32_t count = TOTAL - done < BATCH ? TOTAL - done : BATCH;
        for (uint32_t i = 0; i < count; i++)
            batch[i] = (struct tamis_key){&keys[done + i], sizeof *keys};
        const int64_t got = one_batch(filter, batch, count, op);
        if (got < 0 || (op != ADD && got != count)) errx(1, "%s", tamis_last_error());
    }
    return (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e9 / TOTAL;
}

static void bench_filter(tamis_store *store, const uint64_t *keys, uint64_t distinct,
                         uint32_t counter_bits, struct tamis_segment_stat *stat)
{
    char name[32];
    const struct tamis_filter_spec spec = {.size = sizeof spec,
                                           .capacity = distinct,
                                           .kind = TAMIS_KIND_COUNTING,
                                           .counter_bits = counter_bits};
    tamis_filter *filter;
    (void)snprintf(name, sizeof name, "counting, %u bits", counter_bits);
    bench_done(tamis_filter_create(store, name, &spec, &filter));
    const double add = filter_run(filter, keys, ADD), count = filter_run(filter, keys, COUNT);
    bench_done(tamis_filter_segment(filter, 0, stat));
    const double remove = filter_run(filter, keys, REMOVE);
    printf("%-20s %12" PRIu64 " %8.2f %8.1f %8.1f %8.1f\n", name, stat->file_bytes,
           (double)stat->file_bytes / (double)distinct, add, count, remove);
    bench_done(tamis_filter_close(filter));
}

static void bench_dcf(const uint64_t *keys, uint64_t distinct,
                      const struct tamis_segment_stat *like)
{
    struct dcf *d = dcf_new(like, (double)TOTAL / (double)distinct);
    const double add = dcf_run(d, keys, ADD);
    const uint64_t grown = d->rebuilds;
    const uint64_t bytes = d->header.m_bits * (d->x + d->y) / 8;
    const unsigned y = d->y;
    const double count = dcf_run(d, keys, COUNT), remove = dcf_run(d, keys, REMOVE);
    printf("%-20s %12" PRIu64 " %8.2f %8.1f %8.1f %8.1f   x %u, y %u, rebuilt %" PRIu64
           " + %" PRIu64 " times\n",
           "dynamic count filter", bytes, (double)bytes / (double)distinct, add, count, remove,
           d->x, y, grown, d->rebuilds - grown);
    dcf_free(d);
}

int main(int argc, char **argv)
{
    static const uint32_t widths[] = {4, 8, 16, 32};
    struct tamis_segment_stat stat = {.size = sizeof stat};
    tamis_store *store;
    uint64_t distinct, most;
    bench_done(
        tamis_store_open(bench_directory(argc > 1 ? argv[1] : NULL), TAMIS_OPEN_CREATE, &store));
    uint64_t *keys = draw_keys(&distinct, &most);
    printf("%u keys, %" PRIu64 " distinct, the most frequent %" PRIu64 " times\n", TOTAL, distinct,
           most);
    printf("%-20s %12s %8s %8s %8s %8s\n", "", "bytes", "a key", "add ns", "count", "remove");
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        bench_filter(store, keys, distinct, widths[i], &stat);
    bench_dcf(keys, distinct, &stat);
    free(keys);
    tamis_store_close(store);
    return 0;
}
