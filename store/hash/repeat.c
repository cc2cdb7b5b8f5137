/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repeat.c: see repeat.h.
 *
 * The walk (a + i b + i(i-1)/2 c, in units of 1/m).  Three things happen more often than to
 * independent positions:
 *
 * - Positions i and j coincide for all pairs with one sum i + j = t at once, namely if the walk
 *   turns round at t/2.  Then the key has fewer positions.  For odd t, positions differ by (j - i)
 *   times w = b + (t-1)/2 c; for even t by (j - i)/2 times w = 2 b + (t-1) c.  w is uniform, and
 *   two positions that differ by d w are in one bit with probability 1 - d |w| m.  For w near u/v
 *   of the circle only the pairs with d divisible by v coincide.  What independent positions would
 *   do is subtracted.
 * - The walk is that of a key, forwards or backwards: 35 k^-2.5 n / m^3.
 * - The walk has two places, b and c being near 0 or a half of the circle: 470 k^-3.5 x^2 / m^2.
 *
 * The last two were fitted to a measurement that pins the first three positions to set bits, for k
 * from 4 to 30 and m from 64 to 10^6.  The sum is within a factor of 1.4 of it (2 where k is 10 and
 * x under 0.1); repeat_test asks real filters.
 *
 * A progression (a + i b modulo m).  Two things:
 *
 * - b is u/v of the circle, and the key has v places: x^v phi(v) / m for each v that divides m.
 * - The progression is that of a key, forwards or backwards, or is shifted by s: then s positions
 *   are left to chance.
 *
 * Where the terms overflow, each overflow makes a jump.  So two progressions must overflow at the
 * same places, and one with few places must not overflow often.  Both chances are sums over a grid
 * of a and b.
 */
#include "hash/repeat.h"

#include <math.h>
#include <stdlib.h>

#define SHARE_MAX 0.4
#define TINY_M_MAX 255u /* up to it, at least 64 n / m^4 (rate_test) */
#define STEPS 32u       /* of an integral */
#define GRID 64u        /* values of a, and of b */

static unsigned common_divisor(unsigned a, unsigned b)
{
    while (b != 0) {
        const unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Euler's phi: how many of 0 .. v-1 share no divisor with v. */
static unsigned coprime_count(unsigned v)
{
    unsigned count = 0;
    for (unsigned u = 0; u < v; u++)
        count += common_divisor(u, v) == 1;
    return count;
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* The pairs of one sum: their multiples of w are first, first + step, ... up to last. */
struct pairs {
    unsigned first, step, last;
};

static struct pairs pairs_of(unsigned k, unsigned sum)
{
    const unsigned low = sum < k ? 0 : sum - k + 1;
    const unsigned widest = sum - 2 * low;
    if (sum % 2 == 1) return (struct pairs){.first = 1, .step = 2, .last = widest};
    return (struct pairs){.first = 1, .step = 1, .last = widest / 2};
}

/* What the pairs whose multiple is divisible by v add, for one w near u/v: the integral over w. */
static double turned(struct pairs pairs, unsigned v, unsigned k, double x)
{
    unsigned used = 0;
    double sum = 0;
    for (unsigned d = pairs.first; d <= pairs.last; d += pairs.step)
        used += d % v == 0;
    if (used < 2) return 0;
    for (unsigned i = 0; i < STEPS; i++) {
        const double root = (i + 0.5) / STEPS, w = root * root / v;
        double together = pow(x, k - used), alone = 0;
        for (unsigned d = pairs.first; d <= pairs.last; d += pairs.step) {
            if (d % v != 0) continue;
            const double same = fmax(0, 1 - d * w);
            together *= x + (1 - x) * same;
            alone += (1 - x) * same;
        }
        sum += (together - pow(x, k) - pow(x, k - 1) * alone) * 2 * root / v / STEPS;
    }
    return 2 * sum;
}

double tamis__repeat_walk(uint64_t m_bits, uint32_t k, struct tamis__load load)
{
    const double m = (double)m_bits, x = load.share;
    const double tiny = k > 3 && m_bits <= TINY_M_MAX ? 64 * load.items / (m * m * m * m) : 0;
    double turns = 0;
    if (k <= 3 || !(x > 0) || x >= SHARE_MAX) return tiny;
    for (unsigned sum = 1; sum < 2 * k - 2; sum++) {
        const struct pairs pairs = pairs_of(k, sum);
        for (unsigned v = 1; 2 * v <= pairs.last || v == 1; v++)
            turns += coprime_count(v) * turned(pairs, v, k, x);
    }
    return fmax(tiny, turns / m + 35 * pow(k, -2.5) * load.items / (m * m * m) +
                          470 * pow(k, -3.5) * x * x / (m * m));
}

/* ---- Progressions ---------------------------------------------------------------------------- */

/* Where a progression overflows: for each term the number of overflows so far, and whether it is
 * folded. */
struct course {
    int16_t overflows[TAMIS_K_MAX];
    bool folded[TAMIS_K_MAX];
};

/* a and b are parts of the circle, b from -1/2 to 1/2. */
static void follow(struct course *course, unsigned k, enum tamis__progression_shape shape, double a,
                   double b)
{
    const bool folds = shape == TAMIS__PROGRESSION_FOLDED;
    for (unsigned i = 0; i < k; i++) {
        const double at = a + i * b + (folds ? 0.5 : 0), turns = floor(at);
        course->overflows[i] = (int16_t)turns;
        course->folded[i] = folds && at - turns < 0.5;
    }
}

/* Names the places at which a progression overflows.  A fold turns the sign of all that follows, so
 * a course and its mirror have one name. */
static uint64_t name_of(const struct course *course, unsigned k)
{
    uint64_t name = 0;
    const int sign = course->folded[0] ? -1 : 1;
    for (unsigned i = 0; i < k; i++) {
        const int jumps = sign * (course->overflows[i] - course->overflows[0]);
        const unsigned turned = course->folded[i] != course->folded[0];
        name = (name ^ (uint64_t)(jumps * 2 + (int)turned + 256)) * 0x9E3779B97F4A7C15u;
        name ^= name >> 32;
    }
    return name;
}

/* How many places do the k positions have, if b is a v-th of the circle? */
static unsigned places_of(const struct course *course, unsigned k, unsigned v, bool jumps)
{
    unsigned places = 0;
    for (unsigned i = 0; i < k; i++) {
        bool known = false;
        for (unsigned j = 0; j < i && !known; j++)
            known = i % v == j % v && course->folded[i] == course->folded[j] &&
                    (!jumps || course->overflows[i] == course->overflows[j]);
        places += !known;
    }
    return places;
}

static int compare_names(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The chance that two of the names are the same. */
static double same_chance(uint64_t *names, size_t count)
{
    double sum = 0;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && names[j] == names[i];)
            j++;
        sum += (double)(j - i) * (double)(j - i);
    }
    return sum / (double)count / (double)count;
}

/* Point `i` of the grid. */
static void follow_point(struct course *course, unsigned k, enum tamis__progression_shape shape,
                         unsigned i)
{
    const unsigned column = i % GRID, row = i / GRID;
    const double a = (column + 0.5) / GRID, b = (row + 0.5) / GRID - 0.5;
    follow(course, k, shape, a, b);
}

/* The chance that two courses of k terms are the same. */
static double alike(unsigned k, enum tamis__progression_shape shape)
{
    uint64_t names[GRID * GRID];
    struct course course;
    if (shape == TAMIS__PROGRESSION_WHOLE) return 1;
    for (unsigned i = 0; i < GRID * GRID; i++) {
        follow_point(&course, k, shape, i);
        names[i] = name_of(&course, k);
    }
    return same_chance(names, GRID * GRID);
}

/* The chance to be let in with b a v-th of the circle. */
static double pass_with(unsigned v, unsigned k, enum tamis__progression_shape shape, bool jumps,
                        double x)
{
    struct course course;
    double sum = 0;
    if (shape == TAMIS__PROGRESSION_WHOLE) return pow(x, v);
    for (unsigned i = 0; i < GRID * GRID; i++) {
        follow_point(&course, k, shape, i);
        sum += pow(x, places_of(&course, k, v, jumps));
    }
    return sum / (GRID * GRID);
}

double tamis__repeat_progression(uint64_t m_bits, uint32_t k, enum tamis__progression_shape shape,
                                 uint64_t jump, struct tamis__load load)
{
    const double m = (double)m_bits, x = load.share, chance = pow(x, k);
    double few = 0, shifted = 0;
    if (k <= 2 || !(x > 0) || x >= 1) return 0;
    if (shape == TAMIS__PROGRESSION_WRAPPED && jump == 0) shape = TAMIS__PROGRESSION_WHOLE;
    for (unsigned v = 1; v < k; v++)
        if (m_bits % v == 0)
            few += coprime_count(v) * (pass_with(v, k, shape, jump != 0, x) - chance);
    for (unsigned s = 0; s + 2 < k; s++) {
        const double term = (s == 0 ? 2 : 4) * pow(x, s);
        if (s > 0 && term < 0.01 * shifted) break;
        shifted += term * alike(k - s, shape);
    }
    return fmax(0, few / m) + load.items / (m * m) * shifted * (1 - x);
}
