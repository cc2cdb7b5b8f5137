/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_growth.c: what growth costs in bits a key, by the rates that the segments are made for.
 *
 * A filter is made for 10,000 keys and a rate; each further segment takes twice as many as the one
 * before.  The rates of the segments must sum to the filter's, in one of two ways:
 *
 *     geometric    segment i has (1 - r) r^i of it
 *     half first   the first has a half, those after it share the other: (1 - r) r^(i - 1) of that
 *
 * Prints, for both kinds, the bits of all segments by the keys they are made for, when the filter
 * has grown 0, 1, 4, 8 and 13 times, beside those of a filter that was made for as many and does
 * not grow. It computes and measures no time; the choice is in docs/decisions/0011-growth.md.
 */
#include <math.h>
#include <stdio.h>

#include "bench.h"

#define FIRST 10000.0
#define GROWTHS 13

static double bits_of(uint32_t kind, double keys, double fp_rate)
{
    struct tamis_sizing sizing = {
        .size = sizeof sizing, .kind = kind, .capacity = (uint64_t)keys, .fp_rate = fp_rate};
    bench_done(tamis_size(&sizing));
    return (double)sizing.m_bits;
}

static double rate_of(double fp_rate, double ratio, int half_first, int segment)
{
    if (!half_first) return fp_rate * (1 - ratio) * pow(ratio, segment);
    if (segment == 0) return fp_rate / 2;
    return fp_rate / 2 * (1 - ratio) * pow(ratio, segment - 1);
}

static void print_row(uint32_t kind, double fp_rate, double ratio, int half_first)
{
    double bits = 0, keys = 0;
    printf("  %-10s %4.2f", half_first ? "half first" : "geometric", ratio);
    for (int i = 0; i <= GROWTHS; i++) {
        const double now = FIRST * pow(2, i);
        bits += bits_of(kind, now, rate_of(fp_rate, ratio, half_first, i));
        keys += now;
        if (i == 0 || i == 1 || i == 4 || i == 8 || i == GROWTHS) printf(" %6.1f", bits / keys);
    }
    printf("\n");
}

int main(void)
{
    static const double rates[] = {1e-2, 1e-3, 1e-4, 1e-6};
    static const double ratios[] = {0.5, 0.7, 0.8, 0.85, 0.9};
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t p = 0; p < sizeof rates / sizeof rates[0]; p++) {
            printf("%s, rate %g: does not grow %.1f bits a key; grown 0, 1, 4, 8, 13 times:\n",
                   kinds[k] == TAMIS_KIND_BLOCKED ? "blocked" : "bloom", rates[p],
                   bits_of(kinds[k], 1e6, rates[p]) / 1e6);
            for (int half_first = 0; half_first < 2; half_first++)
                for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; r++)
                    print_row(kinds[k], rates[p], ratios[r], half_first);
        }
    return 0;
}
