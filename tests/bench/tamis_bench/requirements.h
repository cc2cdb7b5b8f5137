/* SPDX-License-Identifier: BSD-2-Clause */
/* requirements.h: what was asked of the library's speed, held against what was measured. */
#ifndef TAMIS_BENCH_REQUIREMENTS_H
#define TAMIS_BENCH_REQUIREMENTS_H

#include <stdbool.h>

#include "machine.h"

struct requirement {
    char what[96];
    const char *unit; /* "ns" or "times" */
    double measured;
    double limit;  /* ns; 0: it is no matter of a limit */
    double wanted; /* at most so many ns, or at least so many times */
    char rule[96]; /* how `wanted` came from the limit */
    bool holds;
};

#define REQUIREMENTS_MAX 80u

/* Those whose figures were measured; returns how many. */
unsigned requirements_hold(struct requirement list[REQUIREMENTS_MAX]);

#endif
