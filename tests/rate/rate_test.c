/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rate_test.c: a filter has the rate that was asked for.
 *
 * For each kind, p and n: size a filter, check that the predicted rate is at most p, fill it to its
 * capacity, ask for strangers, and hold the share let in against the prediction.  The prediction is
 * a mean over filters; one small filter of 100 keys differs from the next by more than the binomial
 * noise of the questions, so small ones are averaged over many (by seed), and the spread between
 * them, as measured, enters the bound.  4.5 standard errors: one false alarm in 150,000
 * comparisons.
 *
 * Works on segments in plain memory: what is tested is sizing and hashing, not the store.
 *
 * Seen to fail: with double hashing modulo m, as Dillinger and Manolios print it, for xxh3's walk
 * (bloom, p = 1e-4, n = 100: got 1.28e-4, 9.9 errors off); with blocked.c's picks of 6 bits
 * overlapping by five (p = 0.1, n = 100: 10.1 errors off).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "hash/hash_set.h"
#include "kind/kind.h"
#include "plan/policy.h"
#include "random.h"
#include "rounds.h"

#define BATCH 4096u
#define ERRORS_ALLOWED 4.5
/* Let in this many strangers in the mean: 2.5 % of noise, and the bound is 11 % wide; at rates
 * where that would be 160 million questions a filter 400: 5 % and 22 %.  A rate that is a quarter
 * off is seen with either. */
#define HITS_WANTED 1600.0
#define HITS_WANTED_OF_FEW 400.0
#define FEW 2e-5
/* The short form has HITS_WANTED_OF_FEW at rates under this, but for filters of so many keys. */
#define RARE 2e-4
#define KEYS_IN_FULL 10000u

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define N_MAX 100000u
#define N_SOME N_MAX
#define P_MIN 1e-4
#else
/* The short form measures filters of more than N_SOME keys at one rate, and rates under FEW, which
 * take tens of millions of questions, for one size; the long form all of them. */
#define N_MAX 10000000u
#define N_SOME 1000000u
#define P_MIN 1e-5
#endif

struct trial {
    const struct tamis__kind *kind;
    struct tamis__segment_header header;
    struct tamis__segment segment;
    uint64_t next_key; /* every key is used once: members and strangers never meet */
};

static void trial_init(struct trial *trial, uint32_t kind, const struct tamis_sizing *sizing)
{
    const size_t bytes = (size_t)(sizing->data_bytes + 63) / 64 * 64;
    memset(trial, 0, sizeof *trial);
    trial->kind = tamis__kind_by_id(kind);
    trial->header.kind = kind;
    trial->header.hash_set = TAMIS__HASH_XXH3;
    trial->header.m_bits = sizing->m_bits;
    trial->header.k = sizing->k;
    trial->header.words = sizing->words;
    trial->header.data_bytes = sizing->data_bytes;
    trial->header.counter_bits = sizing->counter_bits;
    trial->segment = tamis__segment_at(&trial->header, aligned_alloc(64, bytes));
    assert_non_null(trial->segment.data);
    memset(trial->segment.data, 0, bytes);
}

/* `count` keys never used before, in batches, through one of the kind's batch calls. */
static uint64_t run_keys(struct trial *trial, uint64_t count, int adding)
{
    static uint64_t numbers[BATCH];
    static struct tamis_key keys[BATCH];
    static uint8_t answers[BATCH];
    uint64_t ones = 0;
    while (count > 0) {
        const size_t now = count < BATCH ? (size_t)count : BATCH;
        for (size_t i = 0; i < now; i++) {
            numbers[i] = trial->next_key++;
            keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
        }
        ones += adding ? (size_t)trial->kind->add_batch(&trial->segment, keys, now, answers)
                       : trial->kind->contains_batch(&trial->segment, keys, now, answers);
        count -= now;
    }
    return ones;
}

static unsigned filters_for(uint64_t n)
{
    if (n <= 1000) return 400;
    if (n <= 10000) return 60;
    return n <= 100000 ? 8 : 1;
}

struct measured {
    double predicted, rate, error; /* error: one standard error of the rate */
};

static double hits_for(const struct tamis_sizing *sizing)
{
    const double few = rounds_are_long() || sizing->capacity == KEYS_IN_FULL ? FEW : RARE;
    return sizing->predicted_rate < few ? HITS_WANTED_OF_FEW : HITS_WANTED;
}

static struct measured measure(const struct tamis_sizing *sizing, uint64_t seed, unsigned filters)
{
    struct trial trial;
    double sum = 0, squares = 0;
    trial_init(&trial, sizing->kind, sizing);
    const double predicted = sizing->predicted_rate;
    const double least = predicted < 2e-4 && sizing->capacity <= 20 ? 2e-4 : predicted;
    const uint64_t questions = (uint64_t)fmin(2e8, hits_for(sizing) / least) / filters + 1;
    for (unsigned f = 0; f < filters; f++) {
        trial.header.seed = seed + f;
        memset(trial.segment.data, 0, (size_t)sizing->data_bytes);
        (void)run_keys(&trial, sizing->capacity, 1);
        const double rate = (double)run_keys(&trial, questions, 0) / (double)questions;
        sum += rate;
        squares += rate * rate;
    }
    const double rate = sum / filters, total = (double)questions * filters;
    const double binomial = sqrt(predicted * (1 - predicted) / total);
    const double spread =
        filters > 1 ? sqrt(fmax(0, squares / filters - rate * rate) / (filters - 1)) : 0;
    const struct measured got = {
        .predicted = predicted, .rate = rate, .error = fmax(binomial, spread)};
    printf("%-7s p %-6g n %-8" PRIu64 " m/n %6.2f k %2u: predicted %.4e, got %.4e, %+.1f errors\n",
           tamis_kind_name(trial.kind->id), sizing->fp_rate, sizing->capacity, sizing->bits_per_key,
           sizing->k, predicted, rate, (rate - predicted) / got.error);
    free(trial.segment.data);
    return got;
}

static void check_rate(uint32_t kind, double p, uint64_t n, uint64_t seed)
{
    struct tamis_sizing sizing = {.size = sizeof sizing, .kind = kind, .capacity = n, .fp_rate = p};
    assert_int_equal(tamis_size(&sizing), 0);
    assert_true(sizing.predicted_rate <= p);
    const struct measured got = measure(&sizing, seed, filters_for(n));
    assert_true(fabs(got.rate - got.predicted) <= ERRORS_ALLOWED * got.error);
}

/* Seen to fail before sizes had a least m: asked 1e-4, n = 1 gave 3.4e-4. */
CASE(rate_of_tiny_bloom_is_at_most_as_asked)
{
    static const double rates[] = {0.1, 0.01, 0.002, 1e-3, 1e-4};
    const uint64_t seed = random_seed();
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        for (uint64_t n = 1; n <= 20; n += n < 4 ? 1 : 4) {
            struct tamis_sizing sizing = {.size = sizeof sizing,
                                          .kind = TAMIS_KIND_BLOOM,
                                          .capacity = n,
                                          .fp_rate = rates[i]};
            assert_int_equal(tamis_size(&sizing), 0);
            const struct measured got = measure(&sizing, seed, 400);
            assert_true(got.predicted <= rates[i] && got.rate <= rates[i]);
        }
}

/* What is told of an explicit m and k, as by `tamis calc`, is a bound where m is tiny.  Seen to
 * fail with the formula for many bits: n = 1, m = 22, k = 13 was told 7.4e-5, and has 3.4e-4. */
CASE(rate_of_tiny_geometry_is_at_most_as_told)
{
    static const struct {
        uint32_t n, m, k;
    } cases[] = {{1, 22, 13}, {1, 32, 7}, {2, 29, 9},   {2, 45, 12}, {3, 66, 12},
                 {4, 84, 12}, {4, 41, 6}, {13, 171, 9}, {1, 8, 2},   {20, 250, 9}};
    const uint64_t seed = random_seed();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tamis_sizing sizing = {.size = sizeof sizing,
                                      .kind = TAMIS_KIND_BLOOM,
                                      .capacity = cases[i].n,
                                      .m_bits = cases[i].m,
                                      .k = cases[i].k};
        assert_int_equal(tamis_size(&sizing), 0);
        const struct measured got = measure(&sizing, seed, 4000);
        assert_true(got.rate <= got.predicted + ERRORS_ALLOWED * got.error);
        assert_true(got.rate >= 0.4 * got.predicted); /* and no wild one */
    }
}

static void check_kind(uint32_t kind)
{
    const uint64_t seed = random_seed();
    for (double p = 0.1; p >= P_MIN * 0.99; p /= 10)
        for (uint64_t n = 100; n <= N_MAX; n *= 10)
            if (rounds_are_long() || (p < FEW ? n == 10000 : n <= N_SOME || fabs(p - 0.01) < 1e-9))
                check_rate(kind, p, n, seed);
}

CASE(rate_of_blocked_is_as_predicted)
{
    check_kind(TAMIS_KIND_BLOCKED);
}

CASE(rate_of_bloom_is_as_predicted)
{
    check_kind(TAMIS_KIND_BLOOM);
}

CASE(rate_of_counting_is_as_predicted)
{
    check_kind(TAMIS_KIND_COUNTING);
}

/* ---- Filters that have grown ----------------------------------------------------------------- */

#define LIST_MAX 4u

struct grown {
    struct trial trials[LIST_MAX];
    double planned, predicted;
    unsigned count;
};

/* Makes the segments of a filter that grows, and fills each to its capacity. */
static void grow(const struct tamis__policy *policy, uint32_t kind, uint64_t seed,
                 struct grown *grown)
{
    const struct tamis__policy_list list = {0};
    struct tamis_sizing sizing = {.kind = kind};
    double absent = 1;
    assert_int_equal(tamis__policy_size_first(policy, &sizing), 0);
    grown->planned = 0;
    for (unsigned i = 0; i < grown->count; i++) {
        struct trial *trial = &grown->trials[i];
        const uint64_t last = sizing.capacity;
        trial_init(trial, kind, &sizing);
        trial->header.seed = seed;
        trial->next_key = (uint64_t)i << 32;
        (void)run_keys(trial, last, 1);
        absent *= 1 - tamis_predict_rate(kind, sizing.m_bits, sizing.k, last);
        grown->planned += sizing.fp_rate;
        sizing = (struct tamis_sizing){.kind = kind};
        assert_int_equal(
            tamis__policy_size_next(policy, &list, last, policy->fp_rate - grown->planned, &sizing),
            0);
    }
    grown->predicted = 1 - absent;
}

/* How many of so many strangers does one of the segments let in? */
static uint64_t ask_grown(const struct grown *grown, uint64_t count)
{
    static uint64_t numbers[BATCH];
    static struct tamis_key keys[BATCH];
    static uint8_t answers[BATCH], any[BATCH];
    uint64_t let_in = 0;
    for (uint64_t done = 0; done < count; done += BATCH) {
        memset(any, 0, sizeof any);
        for (size_t i = 0; i < BATCH; i++) {
            numbers[i] = UINT64_C(1) << 60 | (done + i);
            keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
        }
        for (unsigned s = 0; s < grown->count; s++) {
            const struct trial *trial = &grown->trials[s];
            (void)trial->kind->contains_batch(&trial->segment, keys, BATCH, answers);
            for (size_t i = 0; i < BATCH; i++)
                any[i] |= answers[i];
        }
        for (size_t i = 0; i < BATCH; i++)
            let_in += any[i];
    }
    return let_in;
}

static void check_grown(uint32_t kind, uint64_t capacity, double p, unsigned count, uint64_t seed)
{
    const struct tamis__policy policy = {
        .on_full = TAMIS_ON_FULL_GROW, .capacity = capacity, .fp_rate = p};
    struct grown grown = {.count = count};
    grow(&policy, kind, seed, &grown);
    const uint64_t asked = ((uint64_t)(HITS_WANTED / p) / BATCH + 1) * BATCH;
    const double rate = (double)ask_grown(&grown, asked) / (double)asked;
    const double error = sqrt(grown.predicted * (1 - grown.predicted) / (double)asked);
    printf("%-7s p %-6g grown from %-7" PRIu64 " to %u segments: planned %.3e, predicted %.4e, got "
           "%.4e, %+.1f errors\n",
           tamis_kind_name(kind), p, capacity, count, grown.planned, grown.predicted, rate,
           (rate - grown.predicted) / error);
    assert_true(grown.planned < p && grown.predicted <= grown.planned);
    assert_true(fabs(rate - grown.predicted) <= ERRORS_ALLOWED * error);
    assert_true(rate <= p);
    for (unsigned i = 0; i < count; i++)
        free(grown.trials[i].segment.data);
}

/* Seen to fail: with 1.1 of what is left in next_share() of store/plan/policy.c; with segments
 * that are filled with twice as many keys as they are made for. */
CASE(rate_of_grown_filters_is_less_than_asked)
{
    static const uint64_t capacities[] = {100, 1000, 30000, 100000};
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM};
    const uint64_t seed = random_seed();
    for (size_t k = 0; k < 2; k++)
        for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++)
            for (double p = 0.1; p >= 0.99e-3; p /= 10) {
                check_grown(kinds[k], capacities[c], p, 2, seed);
                if (N_MAX > N_SOME && (rounds_are_long() || capacities[c] == 1000))
                    check_grown(kinds[k], capacities[c], p, capacities[c] < 65536 ? 4 : 3, seed);
            }
}
