/* SPDX-License-Identifier: BSD-2-Clause */
/* bench.h: what benchmarks share: a clock, the end on an error, a median, and a directory. */
#ifndef TAMIS_BENCH_H
#define TAMIS_BENCH_H

#include <err.h>
#include <stdlib.h>
#include <time.h>

#include "scratch.h"
#include "specs.h"
#include "tamis.h"

/* Seconds. */
static inline double bench_clock(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double bench_now(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

/* What a call of the library returned; an error ends the program. */
static inline int64_t bench_done(int64_t rc)
{
    if (rc < 0) errx(1, "%s", tamis_last_error());
    return rc;
}

static inline int bench_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static inline double bench_median(double *figures, size_t count)
{
    qsort(figures, count, sizeof *figures, bench_ascending);
    return figures[count / 2];
}

/* A new directory in `parent` (NULL: in $TMPDIR or /tmp), which is removed at the end. */
static inline const char *bench_directory(const char *parent)
{
    if (parent != NULL) (void)setenv("TMPDIR", parent, 1);
    return scratch_directory();
}

#endif
