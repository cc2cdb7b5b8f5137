/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sizing.c: from capacity and rate to bits and hashes, and back.
 *
 * bloom.  n keys make t = k n picks of m bits.  The share X/m of bits set has mean
 * f = 1 - (1 - 1/m)^t; a stranger is let in with probability E[(X/m)^k].  Bloom (1970) takes f^k;
 * X varies, so the mean of the power is a little more (Bose et al., "On the false-positive rate of
 * Bloom filters", 2008).  We add the second-order term, k(k-1)/2 f^(k-2) Var(X/m) with
 * Var(X/m) = (e^-c - (1+c) e^-2c) / m, c = t/m: 0.4 % of the rate at m = 1000, nothing at 10^6.
 * Where m is small, this sum is still too low, and X gets its exact distribution, pick by pick.
 * Also, the positions of a key are not independent: they follow from three values (decision 0004),
 * so a stranger may walk on the very bits of one key.  hash/repeat.c says how much that adds.  Up
 * to 255 bits a bound is taken that rests on measurements (one key, k = 7 to 20, m = 22 to 192: at
 * most 64 / m^4 above independent picks; n = 4, m = 84, k = 12: 1.8 times as many).  No filter that
 * is sized by its rate has fewer than BLOOM_M_MIN bits: a file has a page of them anyway.
 *
 * blocked.  A key picks one of B blocks, in it one word from each of z groups, and in each word q
 * bits with repetition.  The loads of blocks, their numbers of keys, are binomial (n, 1/B).  Full
 * blocks let in more strangers than empty ones keep out, so the rate is the mixture over loads
 * (Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters", 2007).  Given the
 * load L of a block, each of its keys chose the same word as the stranger with probability 1/w, w =
 * 8/z.  By inclusion and exclusion, d distinct bits of a word are all set after L keys with
 * probability sum_i (-1)^i C(d,i) r_i^L, r_i = 1 - (1 - (1 - i/64)^q)/w.  The stranger's q picks
 * are d distinct bits with the occupancy probability P(q, d).  The z words are independent given L.
 * The rate is exact, except that hashes are taken as uniform.
 *
 * counting.  A counting filter has the places of a blocked one, with counters for bits.  A stranger
 * is let in where all its counters are above 0, which is as likely as all its bits being set.
 *
 * fuse.  A fuse filter has fingerprints for bits, and a rule of its own (fuse.c).
 *
 * z follows from k (tamis__blocked_words): two words down to a rate of 1e-3, four below.  Four
 * words have at least three bits each.  That costs 1.7 % of the bits between 9e-4 and 5e-4,
 * and lets k alone say the geometry.  Sizes are found by bisection on the exact rate, not by
 * an approximate formula.
 */
#include "sizing/sizing.h"

#include <math.h>

#include "sizing/fuse.h"
#include "sizing/kinds.h"

#define LN2 0.69314718055994530942
#define BLOCKED_Q_MAX 10u
/* To find a size takes some hundred evaluations.  Up to this m they take at most 0.1 s together. */
#define EXACT_M_MAX 512u
#define EXACT_PICKS_MAX 2048
#define ALIKE_M_MAX 255
#define WALK_M_MAX 65536
#define BLOOM_M_MIN 512u
/* Down to this rate a key touches two words, below it four (docs/sizing.md has the table). */
#define TWO_WORD_RATE_MIN 1e-3

bool tamis__rate_is_valid(double p)
{
    return p >= TAMIS_FP_RATE_MIN && p < 1;
}

int tamis__fail_rate(double p)
{
    return tamis__fail(TAMIS_EINVAL,
                       "false-positive rate %g is out of range; give a number from %g up to, but "
                       "not including, 1, such as 0.01",
                       p, TAMIS_FP_RATE_MIN);
}

uint32_t tamis__blocked_words(uint32_t k)
{
    if (k >= 2 && k <= 10 && k % 2 == 0) return 2;
    if (k >= 12 && k <= 4 * BLOCKED_Q_MAX && k % 4 == 0) return 4;
    return 0;
}

/* Computes E[(X/m)^k] after `picks` of m bits: the chance of each X follows from those of
 * one pick before. */
static double exact_bloom_rate(uint32_t m, uint32_t k, uint32_t picks)
{
    double chance[EXACT_M_MAX + 1] = {1}, rate = 0;
    for (uint32_t pick = 0; pick < picks; pick++) {
        for (uint32_t x = pick + 1 < m ? pick + 1 : m; x > 0; x--)
            chance[x] = (chance[x] * x + chance[x - 1] * (m - x + 1)) / m;
        chance[0] = 0;
    }
    for (uint32_t x = 1; x <= m; x++)
        rate += chance[x] * pow((double)x / m, k);
    return rate;
}

double tamis__independent_rate(uint64_t m_bits, uint32_t k, uint64_t n)
{
    if (n == 0) return 0;
    const double m = (double)m_bits;
    const double t = (double)k * (double)n;
    const double alike = k > 3 && m <= ALIKE_M_MAX ? 1 + k * (k - 1.0) / (2 * m) : 1;
    if (m_bits <= EXACT_M_MAX && t <= EXACT_PICKS_MAX)
        return fmin(exact_bloom_rate((uint32_t)m_bits, k, (uint32_t)t) * alike, 1);
    const double f = -expm1(t * log1p(-1 / m));
    const double c = t / m;
    const double variance = (exp(-c) - (1 + c) * exp(-2 * c)) / m;
    const double rate = pow(f, k) * (1 + 0.5 * k * (k - 1.0) * fmax(variance, 0) / (f * f));
    return fmin(rate * alike, 1);
}

struct tamis__load tamis__load_of(uint64_t m_bits, uint32_t k, uint64_t n)
{
    const double m = (double)m_bits, keys = (double)n;
    return (struct tamis__load){.share = m > 1 ? -expm1(k * keys * log1p(-1 / m)) : n > 0,
                                .items = keys};
}

/* The rate with hash set xxh3. */
static double bloom_rate(uint64_t m_bits, uint32_t k, uint64_t n)
{
    const struct tamis__load load = tamis__load_of(m_bits, k, n);
    return fmin(tamis__independent_rate(m_bits, k, n) + tamis__repeat_walk(m_bits, k, load), 1);
}

/* P(q, d) for d = 0..q: how many distinct bits of 64 do q picks make? */
static void occupancy(uint32_t q, double *p)
{
    p[0] = 1;
    for (uint32_t d = 1; d <= q; d++)
        p[d] = 0;
    for (uint32_t pick = 0; pick < q; pick++) {
        for (uint32_t d = q; d > 0; d--)
            p[d] = p[d] * d / 64 + p[d - 1] * (65 - d) / 64;
        p[0] = 0;
    }
}

double tamis__word_hit_rate(uint32_t ones, uint32_t q)
{
    return pow(ones / 64.0, q);
}

/* Coefficients of sum_i c_i r_i^L, the chance that a stranger's bits in one word are all set. */
static void word_terms(uint32_t q, uint32_t z, double *c, double *r)
{
    double p[BLOCKED_Q_MAX + 1];
    const double w = (double)TAMIS__BLOCK_WORDS / z;
    occupancy(q, p);
    for (uint32_t i = 0; i <= q; i++) {
        c[i] = 0;
        for (uint32_t d = i; d <= q; d++) {
            double choose = 1; /* C(d, i) */
            for (uint32_t j = 0; j < i; j++)
                choose = choose * (d - j) / (j + 1);
            c[i] += (i % 2 ? -1 : 1) * p[d] * choose;
        }
        r[i] = 1 - (1 - pow(1 - i / 64.0, q)) / w;
    }
}

static double blocked_rate(uint64_t blocks, uint32_t k, uint64_t n)
{
    const uint32_t z = tamis__blocked_words(k);
    const uint32_t q = z == 0 ? 0 : k / z;
    double c[BLOCKED_Q_MAX + 1], r[BLOCKED_Q_MAX + 1], power[BLOCKED_Q_MAX + 1];
    const double keys = (double)n, load = keys / (double)blocks;
    double sum = 0;
    if (n == 0) return 0;
    if (z == 0 || blocks == 0) return NAN;
    if (load > 20000) return 1; /* each bit is unset with probability under e^-78 */
    word_terms(q, z, c, r);
    /* Loads more than seven deviations below the mean weigh less than e^-24. */
    const double lowest = blocks == 1 ? keys : floor(fmax(0, load - 7 * sqrt(load) - 7));
    const double others = (double)blocks - 1;
    /* Weights start at 1 and are divided by their total.  So no factorial of n is needed, which
     * would lose digits. */
    double weight = 1, total = 0;
    for (uint32_t i = 0; i <= q; i++)
        power[i] = pow(r[i], lowest);
    for (double L = lowest; L <= keys; L++) {
        double hit = 0;
        for (uint32_t i = 0; i <= q; i++) {
            hit += c[i] * power[i];
            power[i] *= r[i];
        }
        hit = fmax(hit, 0) * fmax(hit, 0);
        sum += weight * (z == 2 ? hit : hit * hit);
        total += weight;
        if (blocks == 1 || (L > load && weight < 1e-9 * sum)) break;
        weight *= (keys - L) / ((L + 1) * others);
    }
    return fmin(sum / total, 1);
}

/* A counting filter is a blocked one with counters for bits: same places, same rates. */
static bool in_blocks(uint32_t kind)
{
    return tamis_kind_has(kind, TAMIS__KIND_IN_BLOCKS);
}

static bool is_plain(uint32_t kind)
{
    return tamis_kind_has(kind, TAMIS_KIND_IS_PLAIN);
}

TAMIS_API double tamis_predict_rate(uint32_t kind, uint64_t m_bits, uint32_t k, uint64_t n)
{
    if (m_bits == 0 || k == 0 || n > TAMIS__CAPACITY_MAX || m_bits > TAMIS__M_BITS_MAX) return NAN;
    if (is_plain(kind)) return bloom_rate(m_bits, k, n);
    if (in_blocks(kind)) return blocked_rate(m_bits / TAMIS__BLOCK_BITS, k, n);
    return NAN;
}

/* The rate by which sizes are found.  It must not change, or filters of older versions could no
 * longer be merged with new ones of the same capacity.  So it has no tamis__repeat_walk(), which
 * counts where a filter has few keys, and no size is found there. */
static double planned_rate(uint32_t kind, uint64_t m_bits, uint32_t k, uint64_t n)
{
    const double m = (double)m_bits;
    const double walk = k > 3 && m_bits <= WALK_M_MAX ? (double)n * 64 / (m * m * m * m) : 0;
    if (!is_plain(kind)) return tamis_predict_rate(kind, m_bits, k, n);
    return fmin(tamis__independent_rate(m_bits, k, n) + walk, 1);
}

/* What the searches below count: single bits for bloom, blocks for the others. */
static uint64_t unit_bits(uint32_t kind)
{
    return in_blocks(kind) ? TAMIS__BLOCK_BITS : 1;
}

/* Smallest m for which n keys at k hashes keep the rate p; 0 if none up to the limit does. */
static uint64_t smallest_m(uint32_t kind, uint32_t k, uint64_t n, double p)
{
    const uint64_t unit = unit_bits(kind);
    uint64_t low = 0, high = 1; /* low is too small, high is enough */
    while (planned_rate(kind, high * unit, k, n) > p) {
        low = high;
        if (high > TAMIS__M_BITS_MAX / unit / 2) return 0;
        high *= 2;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (planned_rate(kind, middle * unit, k, n) > p)
            low = middle;
        else
            high = middle;
    }
    if (is_plain(kind) && high < BLOOM_M_MIN) return BLOOM_M_MIN;
    return high * unit;
}

/* Largest n that m bits at k hashes hold within the rate p; 0 if not even one key. */
static uint64_t largest_n(uint32_t kind, uint32_t k, uint64_t m_bits, double p)
{
    uint64_t low = 0, high = 1; /* low fits, high does not */
    while (planned_rate(kind, m_bits, k, high) <= p) {
        low = high;
        if (high >= TAMIS__CAPACITY_MAX) return high;
        high *= 2;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (planned_rate(kind, m_bits, k, middle) <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first and last k worth trying for a rate of about p, and the step between them. */
static void k_range(uint32_t kind, double p, uint32_t *first, uint32_t *last, uint32_t *step)
{
    const double best = -log2(p); /* classic optimum: k = -log2 p */
    if (is_plain(kind)) {
        *first = (uint32_t)fmax(1, floor(best) - 1);
        *last = (uint32_t)fmin(TAMIS_K_MAX, ceil(best) + 1);
        *step = 1;
    } else if (p >= TWO_WORD_RATE_MIN) {
        *first = 2;
        *last = 10;
        *step = 2;
    } else { /* blocks want fewer hashes than the classic optimum, never more */
        *first = 12;
        *last = (uint32_t)fmin(4 * BLOCKED_Q_MAX, fmax(16, 4 * ceil(best / 4)));
        *step = 4;
    }
}

/* Best k for n keys in m bits: the lowest predicted rate. */
static uint32_t best_k(uint32_t kind, uint64_t m_bits, uint64_t n)
{
    uint32_t best = 0;
    double lowest = INFINITY;
    for (uint32_t k = 1; k <= TAMIS_K_MAX; k++) {
        const double rate = planned_rate(kind, m_bits, k, n);
        if (!(rate < lowest)) continue; /* NaN: no such geometry */
        lowest = rate;
        best = k;
    }
    return best;
}

/* n and p are known: finds the k that needs the fewest bits; if several do, the one with
 * the best rate. */
static void size_by_rate(struct tamis_sizing *s)
{
    uint32_t first, last, step;
    uint64_t fewest = 0;
    double lowest = INFINITY;
    k_range(s->kind, s->fp_rate, &first, &last, &step);
    for (uint32_t k = first; k <= last; k += step) {
        const uint64_t m_bits = smallest_m(s->kind, k, s->capacity, s->fp_rate);
        if (m_bits == 0 || (fewest != 0 && m_bits > fewest)) continue;
        const double rate = tamis_predict_rate(s->kind, m_bits, k, s->capacity);
        if (m_bits == fewest && rate >= lowest) continue;
        fewest = m_bits;
        lowest = rate;
        s->k = k;
    }
    s->m_bits = fewest;
}

/* p and m are known: finds the k that holds the most keys, and their number. */
static void fit_by_rate(struct tamis_sizing *s)
{
    uint32_t first, last, step;
    k_range(s->kind, s->fp_rate, &first, &last, &step);
    for (uint32_t k = first; k <= last; k += step) {
        const uint64_t n = largest_n(s->kind, k, s->m_bits, s->fp_rate);
        if (n <= s->capacity) continue;
        s->capacity = n;
        s->k = k;
    }
}

/* n and k are known.  For bloom, m follows from k = m/n ln 2.  For blocked, m is where the rate is
 * 2^-k, which is the rate of bloom. */
static void size_by_k(struct tamis_sizing *s)
{
    if (is_plain(s->kind))
        s->m_bits = (uint64_t)ceil((double)s->capacity * s->k / LN2);
    else
        s->m_bits = smallest_m(s->kind, s->k, s->capacity, exp2(-(double)s->k));
}

/* m and k are known: finds n by the rate asked for, else by 2^-k, but at least one key. */
static void fit_by_k(struct tamis_sizing *s)
{
    s->capacity =
        largest_n(s->kind, s->k, s->m_bits, s->fp_rate != 0 ? s->fp_rate : exp2(-(double)s->k));
    if (s->capacity == 0 && s->fp_rate == 0) s->capacity = 1;
}

/* What m counts. */
static const char *unit_name(uint32_t kind)
{
    return tamis_kind_has(kind, TAMIS_KIND_COUNTS) ? "counters" : "bits";
}

int tamis__check_counter_bits(uint32_t kind, uint32_t bits)
{
    if (!tamis_kind_has(kind, TAMIS_KIND_COUNTS))
        return bits == 0 ? 0
                         : tamis__fail(TAMIS_EINVAL,
                                       "a %s filter has no counters; leave the bits of a counter "
                                       "out, or use kind counting",
                                       tamis_kind_name(kind));
    if (tamis__counter_bits_are_valid(bits)) return 0;
    return tamis__fail(TAMIS_EINVAL, "counters of %u bits are out of range; give 4, 8, 16 or 32",
                       bits);
}

static int check_counter_bits(const struct tamis_sizing *s)
{
    const int rc = tamis__check_counter_bits(s->kind, s->counter_bits);
    if (rc < 0 || s->counter_bits == 0 || s->m_bits <= TAMIS__COUNTERS_MAX) return rc;
    return tamis__fail(TAMIS_EINVAL, "m of %llu counters is too large; the most is 2^40",
                       (unsigned long long)s->m_bits);
}

static int check_ranges(const struct tamis_sizing *s)
{
    char size[TAMIS__SIZE_BYTES];
    if (tamis_kind_name(s->kind) == NULL)
        return tamis__fail(TAMIS_EINVAL,
                           "kind %u has no sizing; use blocked, bloom, counting or fuse", s->kind);
    if (s->fp_rate != 0 && !(s->fp_rate >= TAMIS__SEGMENT_RATE_MIN && s->fp_rate < 1))
        return tamis__fail_rate(s->fp_rate);
    if (s->capacity > TAMIS__CAPACITY_MAX)
        return tamis__fail(TAMIS_EINVAL, "capacity %llu is too large; the most is %llu keys",
                           (unsigned long long)s->capacity,
                           (unsigned long long)TAMIS__CAPACITY_MAX);
    if (s->m_bits > TAMIS__M_BITS_MAX)
        return tamis__fail(TAMIS_EINVAL, "m of %llu bits is too large; the most is 2^62 bits (%s)",
                           (unsigned long long)s->m_bits,
                           tamis__size_text(size, (double)TAMIS__M_BITS_MAX / 8));
    if (s->k > TAMIS_K_MAX)
        return tamis__fail(TAMIS_EINVAL, "k of %u hashes is out of range; give 1 to %u", s->k,
                           TAMIS_K_MAX);
    if (s->k != 0 && in_blocks(s->kind) && tamis__blocked_words(s->k) == 0)
        return tamis__fail(TAMIS_EINVAL,
                           "a %s filter has no k of %u; give an even number up to 10 or a "
                           "multiple of 4 from 12 to 40, or use kind bloom",
                           tamis_kind_name(s->kind), s->k);
    if (s->m_bits != 0 && s->m_bits < unit_bits(s->kind))
        return tamis__fail(TAMIS_EINVAL, "a %s filter needs at least 512 %s, not %llu",
                           tamis_kind_name(s->kind), unit_name(s->kind),
                           (unsigned long long)s->m_bits);
    return check_counter_bits(s);
}

/* Fills in what follows from kind, n, m and k. */
static int complete(struct tamis_sizing *s)
{
    if (s->capacity == 0)
        return tamis__fail(TAMIS_EINVAL,
                           "%llu %s hold not even one key at a rate of %g; give more %s or a "
                           "greater rate",
                           (unsigned long long)s->m_bits, unit_name(s->kind), s->fp_rate,
                           unit_name(s->kind));
    const bool counting = tamis_kind_has(s->kind, TAMIS_KIND_COUNTS);
    if (s->m_bits == 0 || s->k == 0 ||
        s->m_bits > (counting ? TAMIS__COUNTERS_MAX : TAMIS__M_BITS_MAX))
        return tamis__fail(TAMIS_EINVAL,
                           "no filter of up to 2^%d %s holds %llu key%s at a rate of %g; ask for "
                           "fewer keys or a greater rate",
                           counting ? 40 : 62, unit_name(s->kind), (unsigned long long)s->capacity,
                           tamis__plural(s->capacity), s->fp_rate);
    const uint64_t data_bits = tamis__data_bits(s->m_bits, s->counter_bits);
    s->words = in_blocks(s->kind) ? tamis__blocked_words(s->k) : 0;
    s->predicted_rate = tamis_predict_rate(s->kind, s->m_bits, s->k, s->capacity);
    s->bits_per_key = (double)data_bits / (double)s->capacity;
    if (s->fp_rate == 0) /* it is kept with the filter, as a parameter of it */
        s->fp_rate = planned_rate(s->kind, s->m_bits, s->k, s->capacity);
    struct tamis__layout layout;
    tamis__layout(data_bits, &layout);
    s->data_bytes = layout.data_bytes;
    s->file_bytes = layout.file_bytes;
    return 0;
}

/* Only p and k are known: gives the bits per key, for an n so large that it does not matter. */
static int per_key_only(struct tamis_sizing *s)
{
    const uint64_t many = 1000000;
    const uint64_t m_bits = smallest_m(s->kind, s->k, many, s->fp_rate);
    s->bits_per_key = (double)tamis__data_bits(m_bits, s->counter_bits) / (double)many;
    s->words = in_blocks(s->kind) ? tamis__blocked_words(s->k) : 0;
    s->predicted_rate = s->fp_rate;
    return 0;
}

int tamis__size(struct tamis_sizing *sizing)
{
    struct tamis_sizing s = {.kind = sizing->kind ? sizing->kind : (uint32_t)TAMIS_KIND_BLOCKED,
                             .k = sizing->k,
                             .capacity = sizing->capacity,
                             .m_bits = sizing->m_bits,
                             .fp_rate = sizing->fp_rate,
                             .counter_bits = sizing->counter_bits};
    if (tamis_kind_has(s.kind, TAMIS_KIND_COUNTS) && s.counter_bits == 0)
        s.counter_bits = TAMIS__COUNTER_BITS_DEFAULT;
    const bool n = s.capacity != 0, p = s.fp_rate != 0, m = s.m_bits != 0, k = s.k != 0;
    int rc = check_ranges(&s);
    if (rc < 0) return rc;
    s.m_bits -= s.m_bits % unit_bits(s.kind);
    if (n + p + m + k < 2)
        return tamis__fail(TAMIS_EINVAL, "sizing needs two of capacity, rate, bits and hashes");
    if (tamis_kind_has(s.kind, TAMIS_KIND_IS_STATIC)) {
        rc = tamis__fuse_size(&s);
    } else if (p && k && !n && !m) {
        rc = per_key_only(&s);
    } else {
        if (n && p && !m && !k)
            size_by_rate(&s);
        else if (n && p && k && !m)
            s.m_bits = smallest_m(s.kind, s.k, s.capacity, s.fp_rate);
        else if (n && k && !m)
            size_by_k(&s);
        else if (n && m && !k)
            s.k = best_k(s.kind, s.m_bits, s.capacity);
        else if (p && m && !n && !k)
            fit_by_rate(&s);
        else if (m && k && !n)
            fit_by_k(&s);
        rc = complete(&s);
    }
    if (rc == 0) *sizing = s;
    return rc;
}

TAMIS_API int tamis_size(struct tamis_sizing *sizing)
{
    struct tamis_sizing own;
    int rc = tamis__take_struct(sizing, &own, sizeof own, "struct tamis_sizing");
    if (rc == 0 && own.fp_rate != 0 && !tamis__rate_is_valid(own.fp_rate))
        rc = tamis__fail_rate(own.fp_rate);
    if (rc == 0) rc = tamis__size(&own);
    if (rc == 0) tamis__give_struct(&own, sizeof own, sizing);
    return rc;
}
