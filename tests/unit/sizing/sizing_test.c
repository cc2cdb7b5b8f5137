/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sizing_test.c: the arithmetic of store/sizing/, against simulation, exact sums and the classic
 * formula (docs/sizing.md).
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sizing/fuse.h"
#include "sizing/sizing.h"

#define LN2 0.69314718055994530942

static struct tamis_sizing sized(uint32_t kind, uint64_t n, double p, uint64_t m, uint32_t k)
{
    struct tamis_sizing s = {
        .size = sizeof s, .kind = kind, .capacity = n, .fp_rate = p, .m_bits = m, .k = k};
    assert_done(tamis_size(&s));
    return s;
}

static void assert_near(double got, double expected, double relative, const char *what)
{
    if (fabs(got - expected) <= relative * fabs(expected)) return;
    fail_msg("%s: %.9g, expected %.9g within %g of it", what, got, expected, relative);
}

/* ---- The rates themselves ------------------------------------------------------------------- */

/* docs/sizing.md has this table; 4 words below 1e-3. */
CASE(sizing_blocked_bits_per_key_are_those_of_the_table)
{
    static const struct {
        double p, bits_per_key;
        uint32_t words;
    } table[] = {{1e-2, 10.27, 2}, {1e-3, 17.04, 2}, {1e-4, 22.56, 4}, {1e-6, 41.08, 4}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct tamis_sizing s = sized(TAMIS_KIND_BLOCKED, 1000000, table[i].p, 0, 0);
        assert_near(s.bits_per_key, table[i].bits_per_key, 0.005 / table[i].bits_per_key,
                    "bits per key");
        assert_int_equal(s.words, table[i].words);
    }
}

/* Of all k the classic filter needs -k / ln(1 - p^(1/k)) bits a key; the best of them. */
CASE(sizing_bloom_bits_per_key_are_the_classic_ones)
{
    for (double p = 0.1; p > 1e-9; p /= 10) {
        double fewest = INFINITY;
        for (uint32_t k = 1; k <= 64; k++)
            fewest = fmin(fewest, -(double)k / log1p(-pow(p, 1.0 / k)));
        const struct tamis_sizing s = sized(TAMIS_KIND_BLOOM, 10000000, p, 0, 0);
        assert_near(s.bits_per_key, fewest, 1e-5, "bits per key");
        assert_true(s.bits_per_key >= -log2(p) / LN2); /* the bound for any k, whole or not */
    }
}

/*
 * E[(X/m)^k] without any formula for X: the distribution of the number of set bits, pick by pick.
 * At m = 300 the classic f^k is 1.3 % too low; what we add must leave less than a tenth of that.
 */
static double exact_bloom_rate(unsigned m, uint32_t k, unsigned n)
{
    double *chance = calloc(m + 1, sizeof *chance), rate = 0;
    assert_non_null(chance);
    chance[0] = 1;
    for (unsigned pick = 0; pick < k * n; pick++) {
        for (unsigned x = m; x > 0; x--)
            chance[x] = chance[x] * x / m + chance[x - 1] * (m - x + 1) / m;
        chance[0] = 0;
    }
    for (unsigned x = 0; x <= m; x++)
        rate += chance[x] * pow((double)x / m, k);
    free(chance);
    return rate;
}

CASE(sizing_bloom_rate_is_the_exact_mean)
{
    static const struct {
        unsigned m, n;
        uint32_t k;
    } cases[] = {{300, 30, 7}, {300, 60, 3}, {1000, 100, 7}, {1000, 50, 14}, {2000, 100, 13}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned m = cases[i].m, n = cases[i].n;
        const uint32_t k = cases[i].k;
        const double exact = exact_bloom_rate(m, k, n);
        const double classic = pow(-expm1(k * n * log1p(-1.0 / m)), k);
        const double ours = tamis_predict_rate(TAMIS_KIND_BLOOM, m, k, n);
        assert_true(fabs(ours - exact) < 0.1 * fabs(classic - exact));
    }
}

/* n keys into the blocks of a model filter; mean and standard error of a stranger's chance. */
static void simulate_blocked(uint64_t *state, uint64_t blocks, unsigned z, unsigned q, uint64_t n,
                             double *mean, double *error)
{
    const unsigned w = 8 / z;
    double sum = 0, squares = 0;
    uint64_t *words = calloc((size_t)blocks * 8, sizeof *words);
    assert_non_null(words);
    for (uint64_t key = 0; key < n; key++) {
        uint64_t *block = words + random_below(state, blocks) * 8;
        for (unsigned i = 0; i < z; i++) {
            uint64_t *word = block + i * w + random_below(state, w);
            for (unsigned j = 0; j < q; j++)
                *word |= (uint64_t)1 << random_below(state, 64);
        }
    }
    for (uint64_t b = 0; b < blocks; b++) {
        double pass = 1;
        for (unsigned i = 0; i < z; i++) {
            double hit = 0;
            for (unsigned j = 0; j < w; j++)
                hit += pow(__builtin_popcountll(words[b * 8 + i * w + j]) / 64.0, q) / w;
            pass *= hit;
        }
        sum += pass;
        squares += pass * pass;
    }
    free(words);
    *mean = sum / (double)blocks;
    *error = sqrt((squares / (double)blocks - *mean * *mean) / (double)blocks);
}

/*
 * The model of sizing.c played with dice.  The seed is fixed: five standard errors are a bound that
 * a right formula breaks once in two million seeds, and this one holds.  Seen to fail with r_i
 * taken as 1 - (1 - (1 - i/64)^q) / w at w = 8 for all z, and with the mixture replaced by its mean
 * load.
 */
CASE(sizing_blocked_rate_is_that_of_a_simulation)
{
    static const double rates[] = {0.1, 1e-2, 1e-3, 1e-4, 1e-6};
    uint64_t state = 20240501;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const uint64_t n = FIXTURE_SANITIZED ? 300000 : 2000000;
        const struct tamis_sizing s = sized(TAMIS_KIND_BLOCKED, n, rates[i], 0, 0);
        double mean, error;
        simulate_blocked(&state, s.m_bits / 512, s.words, s.k / s.words, n, &mean, &error);
        (void)printf("rate %g: predicted %.4g, simulated %.4g +- %.1g\n", rates[i],
                     s.predicted_rate, mean, error);
        assert_true(error < 0.05 * mean);
        assert_true(fabs(mean - s.predicted_rate) < 5 * error);
    }
}

/* One block and one key: by hand, each of z words is the stranger's with 1/w, and then its q picks
 * are all among the key's distinct bits. */
CASE(sizing_blocked_rate_of_one_key_is_that_by_hand)
{
    /* k = 2: z = 2, q = 1; same word of 4 and same bit of 64, twice */
    assert_near(tamis_predict_rate(TAMIS_KIND_BLOCKED, 512, 2, 1), pow(1 / 256.0, 2), 1e-12,
                "k = 2");
    /* k = 4: q = 2; the key has 1 or 2 distinct bits of a word, the stranger hits both times */
    const double word = (1 / 64.0 * pow(1 / 64.0, 2) + 63 / 64.0 * pow(2 / 64.0, 2)) / 4;
    assert_near(tamis_predict_rate(TAMIS_KIND_BLOCKED, 512, 4, 1), word * word, 1e-12, "k = 4");
    assert_near(tamis_predict_rate(TAMIS_KIND_BLOCKED, 512 * 10, 4, 1), word * word / 10, 1e-9,
                "ten blocks");
}

CASE(sizing_word_hit_rate_is_the_chance_of_q_hits)
{
    assert_near(tamis__word_hit_rate(16, 3), 1 / 64.0, 1e-15, "16 of 64, 3 picks");
    assert_true(tamis__word_hit_rate(0, 1) == 0 && tamis__word_hit_rate(64, 10) == 1);
}

CASE(sizing_predicted_rate_of_no_keys_is_zero_and_of_no_geometry_nan)
{
    assert_true(tamis_predict_rate(TAMIS_KIND_BLOOM, 100, 3, 0) == 0);
    assert_true(tamis_predict_rate(TAMIS_KIND_BLOCKED, 512, 2, 0) == 0);
    assert_true(isnan(tamis_predict_rate(TAMIS_KIND_BLOOM, 0, 3, 1)));
    assert_true(isnan(tamis_predict_rate(TAMIS_KIND_BLOOM, 100, 0, 1)));
    assert_true(isnan(tamis_predict_rate(TAMIS_KIND_BLOCKED, 511, 2, 1)));
    assert_true(isnan(tamis_predict_rate(TAMIS_KIND_BLOCKED, 512, 3, 1)));
    assert_true(isnan(tamis_predict_rate(99, 512, 2, 1)));
    assert_true(isnan(tamis_predict_rate(TAMIS_KIND_BLOOM, TAMIS__M_BITS_MAX + 1, 2, 1)));
    assert_true(isnan(tamis_predict_rate(TAMIS_KIND_BLOOM, 512, 2, TAMIS__CAPACITY_MAX + 1)));
}

CASE(sizing_predicted_rate_is_monotone)
{
    static const uint32_t ks[] = {2, 6, 10, 12, 20, 40};
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++)
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            double before = 0;
            for (uint64_t n = 1; n < 100000000; n += 1 + n / 3) {
                const double rate = tamis_predict_rate(kind, 512 * 1000, ks[i], n);
                assert_true(rate >= before && rate <= 1);
                assert_true(rate > before || rate == 1);
                before = rate;
            }
            before = 2;
            for (uint64_t blocks = 1; blocks < 100000000; blocks += 1 + blocks / 3) {
                const double rate = tamis_predict_rate(kind, 512 * blocks, ks[i], 1000);
                assert_true(rate <= before && rate > 0);
                before = rate;
            }
        }
}

/* ---- What tamis_size makes of what is known -------------------------------------------------- */

CASE(sizing_capacity_and_rate_give_the_smallest_m)
{
    static const double rates[] = {0.3, 0.1, 1e-2, 1e-3, 9.99e-4, 1e-4, 1e-5, 1e-6};
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++)
        for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
            for (uint64_t n = 1; n <= 1000000000; n *= 10) {
                const struct tamis_sizing s = sized(kind, n, rates[i], 0, 0);
                const uint64_t unit = kind == TAMIS_KIND_BLOCKED ? 512 : 1, least = 512;
                assert_true(s.predicted_rate <= rates[i] && s.predicted_rate > 0);
                assert_true(s.predicted_rate == tamis_predict_rate(kind, s.m_bits, s.k, n));
                assert_true(s.fp_rate == rates[i] && s.capacity == n && s.kind == kind);
                assert_int_equal(s.m_bits % unit, 0);
                assert_true(s.m_bits >= least);
                if (s.m_bits > least)
                    assert_true(tamis_predict_rate(kind, s.m_bits - unit, s.k, n) > rates[i]);
            }
}

/* No other k of the same number of words does with fewer bits. */
CASE(sizing_capacity_and_rate_give_the_best_k)
{
    static const double rates[] = {0.2, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9};
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++)
        for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
            const struct tamis_sizing s = sized(kind, 100000, rates[i], 0, 0);
            for (uint32_t k = 1; k <= TAMIS_K_MAX; k++) {
                if (kind == TAMIS_KIND_BLOCKED && tamis__blocked_words(k) != s.words) continue;
                assert_true(s.m_bits <= sized(kind, 100000, rates[i], 0, k).m_bits);
            }
        }
}

CASE(sizing_capacity_and_m_give_the_k_of_the_lowest_rate)
{
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++)
        for (uint64_t bits = 2; bits <= 64; bits *= 2) {
            const struct tamis_sizing s = sized(kind, 512000, 0, 512000 * bits, 0);
            assert_int_equal(s.m_bits, 512000 * bits);
            assert_true(s.fp_rate == s.predicted_rate);
            for (uint32_t k = 1; k <= TAMIS_K_MAX; k++)
                assert_false(tamis_predict_rate(kind, s.m_bits, k, 512000) < s.predicted_rate);
        }
}

CASE(sizing_capacity_and_k_give_the_m_of_that_k)
{
    const struct tamis_sizing bloom = sized(TAMIS_KIND_BLOOM, 1000000, 0, 0, 7);
    assert_int_equal(bloom.m_bits, 10098866); /* ceil(7e6 / ln 2) */
    assert_near(bloom.predicted_rate, exp2(-7), 1e-4, "rate at k = 7");
    const struct tamis_sizing blocked = sized(TAMIS_KIND_BLOCKED, 1000000, 0, 0, 8);
    assert_true(blocked.predicted_rate <= exp2(-8));
    assert_near(blocked.predicted_rate, exp2(-8), 1e-3, "rate of k = 8");
}

CASE(sizing_rate_and_m_give_the_most_keys)
{
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++)
        for (double p = 0.1; p > 1e-7; p /= 10) {
            const struct tamis_sizing s = sized(kind, 0, p, (uint64_t)512 << 12, 0);
            assert_true(s.capacity > 0 && s.predicted_rate <= p);
            for (uint32_t k = 1; k <= TAMIS_K_MAX; k++) {
                if (kind == TAMIS_KIND_BLOCKED && tamis__blocked_words(k) != s.words) continue;
                assert_true(tamis_predict_rate(kind, s.m_bits, k, s.capacity + 1) > p);
            }
            /* and back again: as many keys need as many bits, but for one unit */
            const struct tamis_sizing back = sized(kind, s.capacity, p, 0, 0);
            assert_true(back.m_bits <= s.m_bits);
            assert_near((double)back.m_bits, (double)s.m_bits, 1e-3, "m there and back");
        }
}

CASE(sizing_rate_and_k_give_bits_per_key_alone)
{
    const struct tamis_sizing bloom = sized(TAMIS_KIND_BLOOM, 0, 0.01, 0, 7);
    assert_near(bloom.bits_per_key, -7 / log1p(-pow(0.01, 1 / 7.0)), 1e-5, "bits per key");
    assert_true(bloom.m_bits == 0 && bloom.capacity == 0 && bloom.file_bytes == 0);
    const struct tamis_sizing blocked = sized(TAMIS_KIND_BLOCKED, 0, 1e-4, 0, 12);
    assert_near(blocked.bits_per_key, sized(TAMIS_KIND_BLOCKED, 1000000, 1e-4, 0, 12).bits_per_key,
                1e-9, "bits per key");
    assert_int_equal(blocked.words, 4);
}

CASE(sizing_m_and_k_give_the_keys_of_a_rate)
{
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++) {
        const uint64_t m = 512 * 20000;
        const struct tamis_sizing half = sized(kind, 0, 0, m, 8); /* 2^-k where no rate is given */
        assert_true(tamis_predict_rate(kind, m, 8, half.capacity) <= exp2(-8));
        assert_true(tamis_predict_rate(kind, m, 8, half.capacity + 1) > exp2(-8));
        const struct tamis_sizing asked = sized(kind, 0, 1e-3, m, 8);
        assert_true(tamis_predict_rate(kind, m, 8, asked.capacity) <= 1e-3);
        assert_true(tamis_predict_rate(kind, m, 8, asked.capacity + 1) > 1e-3);
        assert_true(asked.fp_rate == 1e-3);
    }
}

CASE(sizing_three_or_four_known_values_keep_them)
{
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++) {
        const uint64_t n = 100000, m = 512 * 2500;
        const struct tamis_sizing nmk = sized(kind, n, 0, m, 6);
        assert_true(nmk.capacity == n && nmk.m_bits == m && nmk.k == 6);
        assert_true(fabs(nmk.fp_rate / tamis_predict_rate(kind, m, 6, n) - 1) < 0.01);
        const struct tamis_sizing npm = sized(kind, n, 0.05, m, 0);
        assert_true(npm.capacity == n && npm.m_bits == m && npm.fp_rate == 0.05);
        assert_int_equal(npm.k, sized(kind, n, 0, m, 0).k);
        const struct tamis_sizing npk = sized(kind, n, 0.05, 0, 6);
        assert_true(npk.capacity == n && npk.k == 6 && npk.fp_rate == 0.05);
        assert_true(npk.predicted_rate <= 0.05);
        const struct tamis_sizing all = sized(kind, n, 0.05, m, 6);
        assert_true(all.capacity == n && all.m_bits == m && all.k == 6 && all.fp_rate == 0.05);
        assert_true(all.predicted_rate == nmk.predicted_rate);
    }
}

CASE(sizing_kind_zero_is_blocked_and_m_is_cut_to_blocks)
{
    const struct tamis_sizing s = sized(0, 0, 0.01, 512 * 10 + 511, 0);
    assert_int_equal(s.kind, TAMIS_KIND_BLOCKED);
    assert_int_equal(s.m_bits, 512 * 10);
}

CASE(sizing_blocked_words_follow_from_k)
{
    for (uint32_t k = 0; k <= 100; k++) {
        uint32_t words = 0;
        if (k == 2 || k == 4 || k == 6 || k == 8 || k == 10) words = 2;
        if (k == 12 || k == 16 || k == 20 || k == 24 || k == 28 || k == 32 || k == 36 || k == 40)
            words = 4;
        assert_int_equal(tamis__blocked_words(k), words);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* What is asked, and words of the sentence. */
static const struct {
    struct tamis_sizing asked;
    const char *words;
} out_of_range[] = {
    {SIZING_FIELD(.kind = 99, .capacity = 1, .fp_rate = 0.1), "kind 99"},
    {SIZING_FIELD(.capacity = 10, .fp_rate = 1),
     "rate 1 is out of range; give a number from 1e-12"},
    {SIZING_FIELD(.capacity = 10, .fp_rate = 1.5), "rate 1.5 is out of range"},
    {SIZING_FIELD(.capacity = 10, .fp_rate = -0.1), "rate -0.1 is out of range"},
    {SIZING_FIELD(.capacity = 10, .fp_rate = 1e-13), "rate 1e-13 is out of range"},
    {SIZING_FIELD(.capacity = 10, .fp_rate = NAN), "nan is out of range"},
    {SIZING_FIELD(.capacity = 10, .fp_rate = -NAN), "nan is out of range"},
    {SIZING_FIELD(.capacity = 10, .fp_rate = INFINITY), "rate inf is out of range"},
    {SIZING_FIELD(.capacity = ((uint64_t)1 << 56) + 1, .fp_rate = 0.1),
     "the most is 72057594037927936"},
    {SIZING_FIELD(.capacity = UINT64_MAX, .fp_rate = 0.1),
     "capacity 18446744073709551615 is too large"},
    {SIZING_FIELD(.kind = 2, .m_bits = ((uint64_t)1 << 62) + 1, .k = 3), "the most is 2^62 bits"},
    {SIZING_FIELD(.kind = 2, .m_bits = UINT64_MAX, .k = 3),
     "m of 18446744073709551615 bits is too large"},
    {SIZING_FIELD(.kind = 2, .capacity = 10, .k = 65),
     "k of 65 hashes is out of range; give 1 to 64"},
    {SIZING_FIELD(.kind = 1, .capacity = 10, .k = 3),
     "a blocked filter has no k of 3; give an even"},
    {SIZING_FIELD(.kind = 1, .capacity = 10, .k = 14), "no k of 14"},
    {SIZING_FIELD(.kind = 1, .capacity = 10, .k = 44), "no k of 44"},
    {SIZING_FIELD(.kind = 1, .capacity = 10, .m_bits = 511), "at least 512 bits, not 511"},
    {SIZING_FIELD(.kind = 1, .m_bits = 1, .k = 2), "at least 512 bits, not 1"},
    {SIZING_FIELD(.kind = 1), "two of capacity, rate, bits and hashes"},
    {SIZING_FIELD(.kind = 2, .capacity = 10), "two of capacity"},
    {SIZING_FIELD(.kind = 2, .fp_rate = 0.1), "two of capacity"},
    {SIZING_FIELD(.kind = 2, .m_bits = 10), "two of capacity"},
    {SIZING_FIELD(.kind = 2, .k = 10), "two of capacity"},
    {SIZING_FIELD(.capacity = (uint64_t)1 << 56, .fp_rate = 1e-12),
     "no filter of up to 2^62 bits holds"},
    {SIZING_FIELD(.kind = 2, .capacity = (uint64_t)1 << 56, .k = 64),
     "no filter of up to 2^62 bits"},
    {SIZING_FIELD(.kind = 2, .capacity = (uint64_t)1 << 56, .fp_rate = 1e-12, .k = 1),
     "no filter of up"},
    {SIZING_FIELD(.kind = 2, .m_bits = 1, .fp_rate = 0.5), "not even one key"},
    {SIZING_FIELD(.kind = 2, .m_bits = 2, .fp_rate = 1e-3),
     "2 bits hold not even one key at a rate of 0.001"},
    {SIZING_FIELD(.kind = 2, .m_bits = 3, .k = 64, .fp_rate = 1e-3), "not even one key"},
};

CASE(sizing_values_out_of_range_are_refused)
{
    for (size_t i = 0; i < sizeof out_of_range / sizeof out_of_range[0]; i++) {
        struct tamis_sizing asked = out_of_range[i].asked;
        assert_refused(TAMIS_EINVAL, out_of_range[i].words, tamis_size(&asked));
        assert_memory_equal(&asked, &out_of_range[i].asked, sizeof asked); /* and left as it was */
    }
}

CASE(sizing_limits_themselves_are_accepted)
{
    (void)sized(TAMIS_KIND_BLOOM, 1, TAMIS_FP_RATE_MIN, 0, 0);
    (void)sized(TAMIS_KIND_BLOOM, 10, 0.999, 0, 0);
    (void)sized(TAMIS_KIND_BLOOM, (uint64_t)1 << 56, 0.5, 0, 0);
    (void)sized(TAMIS_KIND_BLOOM, 0, 0.01, (uint64_t)1 << 62, 0);
    (void)sized(TAMIS_KIND_BLOOM, 1000, 0, 0, 64);
    (void)sized(TAMIS_KIND_BLOCKED, 1000, 0, 0, 40);
    (void)sized(TAMIS_KIND_BLOCKED, 1, 0, 512, 0);
    (void)sized(TAMIS_KIND_BLOOM, 1, 0, 1, 1);
}

/* Any numbers at all: a result or a refusal, and no result that lies. */
CASE(sizing_any_input_gives_a_sound_result_or_a_refusal)
{
    uint64_t state = random_seed();
    unsigned accepted = 0;
    for (int i = 0; i < 20000; i++) {
        struct tamis_sizing s = {.size = sizeof s, .kind = (uint32_t)random_below(&state, 3)};
        const unsigned given = (unsigned)random_below(&state, 16);
        if (given & 1) s.capacity = random_next(&state) >> random_below(&state, 64);
        if (given & 2) s.m_bits = random_next(&state) >> random_below(&state, 64);
        if (given & 4) s.k = (uint32_t)random_below(&state, 70);
        if (given & 8) s.fp_rate = exp2(-(double)random_below(&state, 4200) / 100);
        if (tamis_size(&s) < 0) continue;
        accepted++;
        if (s.m_bits == 0) continue; /* p and k alone */
        assert_true(s.capacity > 0 && s.k > 0 && s.m_bits <= TAMIS__M_BITS_MAX);
        assert_true(s.predicted_rate >= 0 && s.predicted_rate <= 1);
        assert_true(s.file_bytes >= 2312 + s.data_bytes && s.data_bytes * 8 >= s.m_bits);
    }
    assert_true(accepted > 1000);
}

/* ---- Layout ---------------------------------------------------------------------------------- */

CASE(sizing_little_data_share_the_page_of_the_header_and_large_start_at_2_mib)
{
    static const struct {
        uint64_t m_bits, data_offset, data_bytes, file_bytes;
    } cases[] = {
        {1, 2304, 8, 4096},
        {64, 2304, 8, 4096},
        {65, 2304, 16, 4096},
        {1712 * 8, 2304, 1712, 4096}, /* with room for one checksum */
        {1712 * 8 + 1, 4096, 1720, 8192},
        {(4096 - 72) * 8, 4096, 4024, 8192},
        {(4096 - 64) * 8, 4096, 4032, 12288},
        {4096 * 8, 4096, 4096, 12288},
        {4096 * 8 + 1, 4096, 4104, 12288},
        {((uint64_t)32 << 23) - 64, 4096, ((uint64_t)32 << 20) - 8, 12288 + ((uint64_t)32 << 20)},
        {(uint64_t)32 << 23, (uint64_t)2 << 20, (uint64_t)32 << 20, ((uint64_t)34 << 20) + 8192},
        {(uint64_t)1 << 62, (uint64_t)2 << 20, (uint64_t)1 << 59,
         ((uint64_t)1 << 59) + ((uint64_t)1 << 46) + ((uint64_t)2 << 20) + 4096},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tamis__layout layout;
        tamis__layout(cases[i].m_bits, &layout);
        assert_int_equal(layout.data_offset, cases[i].data_offset);
        assert_int_equal(layout.data_bytes, cases[i].data_bytes);
        assert_int_equal(layout.file_bytes, cases[i].file_bytes);
    }
}

CASE(sizing_thousand_keys_at_one_percent_fit_a_page)
{
    assert_int_equal(sized(TAMIS_KIND_BLOCKED, 1000, 0.01, 0, 0).file_bytes, 4096);
    assert_int_equal(sized(TAMIS_KIND_BLOOM, 1000, 0.01, 0, 0).file_bytes, 4096);
}

/* As blocked, with counters for bits. */
CASE(sizing_of_counting_is_that_of_blocked)
{
    static const uint32_t widths[] = {0, 4, 8, 16, 32};
    for (double p = 0.1; p > 1e-7; p /= 10)
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            struct tamis_sizing blocked = {.size = sizeof blocked, .capacity = 12345, .fp_rate = p};
            struct tamis_sizing counting = {.size = sizeof counting,
                                            .kind = TAMIS_KIND_COUNTING,
                                            .capacity = 12345,
                                            .fp_rate = p,
                                            .counter_bits = widths[i]};
            const uint32_t bits = widths[i] ? widths[i] : 4;
            assert_done(tamis_size(&blocked));
            assert_done(tamis_size(&counting));
            assert_true(counting.m_bits == blocked.m_bits && counting.k == blocked.k);
            assert_true(counting.words == blocked.words && counting.counter_bits == bits);
            assert_true(counting.predicted_rate == blocked.predicted_rate);
            assert_int_equal(counting.data_bytes, blocked.m_bits * bits / 8);
            assert_true(fabs(counting.bits_per_key - bits * blocked.bits_per_key) < 1e-9);
        }
    struct tamis_sizing bad = {
        .size = sizeof bad, .capacity = 10, .fp_rate = 0.1, .counter_bits = 8};
    assert_refused(TAMIS_EINVAL, "a blocked filter has no counters", tamis_size(&bad));
    bad.kind = TAMIS_KIND_COUNTING;
    bad.counter_bits = 12;
    assert_refused(TAMIS_EINVAL, "counters of 12 bits are out of range", tamis_size(&bad));
    bad.counter_bits = 4;
    bad.capacity = (uint64_t)1 << 50;
    assert_refused(TAMIS_EINVAL, "no filter of up to 2^40 counters", tamis_size(&bad));
    bad = (struct tamis_sizing){.size = sizeof(struct tamis_sizing),
                                .kind = TAMIS_KIND_COUNTING,
                                .k = 6,
                                .m_bits = (uint64_t)1 << 41};
    assert_refused(TAMIS_EINVAL, "counters is too large; the most is 2^40", tamis_size(&bad));
}

/* Powers of two from a page on, and all levels together two slots for every counter. */
CASE(sizing_of_overflow_holds_every_counter)
{
    for (uint64_t m = 512; m <= TAMIS__COUNTERS_MAX; m = m * 3 / 2 / 512 * 512 + 512) {
        const uint64_t first = tamis__overflow_slots(m, 0);
        const uint32_t levels = tamis__overflow_levels_max(m);
        assert_true(first >= 256 && first >= m / 256 && (first & (first - 1)) == 0);
        assert_true(first == 256 || first / 2 < m / 256);
        assert_true(tamis__overflow_bytes(m, levels) / 16 >= 2 * m);
        assert_true(tamis__overflow_bytes(m, levels - 1) / 16 < 2 * m);
        uint64_t sum = 0;
        for (uint32_t level = 0; level < levels; level++) {
            assert_int_equal(tamis__overflow_bytes(m, level), 16 * sum);
            sum += tamis__overflow_slots(m, level);
        }
    }
}

/* Small filters have more false positives than the formula for large ones says.  (Broken: that
 * formula for all; it is off by 1e-4 of the rate and more here.) */
CASE(sizing_rate_of_a_small_bloom_filter_is_exact)
{
    for (unsigned m = 20; m <= 500; m += 60)
        for (unsigned n = 1; n <= m / 6; n += 3) {
            const double rate = tamis_predict_rate(TAMIS_KIND_BLOOM, m, 3, n);
            assert_true(fabs(rate / exact_bloom_rate(m, 3, n) - 1) < 1e-9);
        }
}

/* (Broken: widest() takes fingerprints whose slots need an eighth more than the bits asked for.) */
CASE(sizing_of_fuse_takes_no_more_bits_than_asked_for)
{
    unsigned sized = 0;
    for (uint64_t m = 8000000; m < 50000000; m += 100000) {
        struct tamis_sizing s = {
            .size = sizeof s, .kind = TAMIS_KIND_FUSE, .capacity = 1000000, .m_bits = m};
        if (tamis_size(&s) < 0) continue;
        sized++;
        assert_true(s.m_bits <= m);
    }
    assert_true(sized > 300);
}

/* Up, so that a piece never has fewer slots than it is likely to be peeled in; the rows of the
 * table of sizing/fuse.c.  (Broken: first slots, and then segments, rounded down.) */
CASE(sizing_of_fuse_rounds_slots_up)
{
    static const struct {
        uint64_t keys;
        uint32_t slots, segments;
    } frozen[] = {{1, 8, 1},
                  {7, 8, 2},
                  {12, 8, 2},
                  {15, 16, 2},
                  {48, 16, 4},
                  {54, 32, 3},
                  {160, 32, 6},
                  {161, 64, 4},
                  {205, 64, 5},
                  {641, 128, 7},
                  {723, 128, 8},
                  {3001, 256, 15},
                  {3122, 256, 16},
                  {12478, 512, 30},
                  {50318, 1024, 58},
                  {153375, 2048, 86},
                  {302463, 4096, 84},
                  {1200000, 4096, 330},
                  {1200001, 8192, 164},
                  {1204922, 8192, 165}};
    for (size_t i = 0; i < sizeof frozen / sizeof frozen[0]; i++) {
        struct tamis__fuse_shape shape;
        tamis__fuse_shape(frozen[i].keys, 8, 1, &shape);
        assert_int_equal(shape.segment_slots, frozen[i].slots);
        assert_int_equal(shape.piece_segments, frozen[i].segments);
    }
}
