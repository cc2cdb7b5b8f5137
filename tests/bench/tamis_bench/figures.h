/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * figures.h: what was measured, by name.
 *
 * A name says all: KIND/KEYS/PLACE/CALL/OPERATION/TEAM, such as blocked/8/out/batch/hit/p1.  The
 * limits of the same case have `limit` for CALL, as blocked/8/out/limit/line/p1, and another
 * library has its name there.
 */
#ifndef TAMIS_BENCH_FIGURES_H
#define TAMIS_BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEVELS_MAX 32u
#define SAMPLES_MAX 64u

/*
 * Nanoseconds a key.  What is asked of a full filter has one level, and its samples differ by
 * chance alone.  Adds have a level for each part of the filling; the figures are means over the
 * levels of the least, and of the median, of each.
 */
struct figure {
    char name[96];
    unsigned levels;
    unsigned counts[LEVELS_MAX];
    double samples[LEVELS_MAX][SAMPLES_MAX];
    uint64_t keys, yes; /* of all samples */
    char limit[96];     /* what its limit is made of, "2 line + hash"; empty: it has none */
    double limit_ns;    /* filled in at the end; 0: not measured */
};

/* The figure of that name, made if it is not there; its address holds. */
struct figure *figure_get(const char *name);
/* NULL if there is none. */
const struct figure *figure_find(const char *name);
/* In the order in which they were made; NULL past the last. */
struct figure *figure_at(size_t index);

void figure_add(struct figure *figure, unsigned level, double ns);

/* 0 where nothing was measured. */
double figure_least(const struct figure *figure);
double figure_median(const struct figure *figure);

/* The least of a figure by its name; 0 where there is none. */
double figure_ns(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
