/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.h: which filters are measured. */
#ifndef TAMIS_BENCH_PLAN_H
#define TAMIS_BENCH_PLAN_H

#include "case.h"

#define PLAN_MAX 48u

/* Fill in the cases of a run; returns how many. */
unsigned plan_kinds(const struct options *options, struct bench_case cases[PLAN_MAX]);
unsigned plan_sizes(const struct options *options, struct bench_case cases[PLAN_MAX]);
unsigned plan_growth(const struct options *options, struct bench_case cases[PLAN_MAX]);

#endif
