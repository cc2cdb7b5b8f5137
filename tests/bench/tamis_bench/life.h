/* SPDX-License-Identifier: BSD-2-Clause */
/* life.h: what a filter costs besides its keys: to sync, to open, and in tables of pages. */
#ifndef TAMIS_BENCH_LIFE_H
#define TAMIS_BENCH_LIFE_H

#include "case.h"

/* Seconds that tamis_filter_sync() of the first process takes. */
double life_sync(void);

/* What the first process, which has the filter open, has of it in memory. */
void life_look(struct bench_case *c);

/*
 * Microseconds, the least of c->repeats, in which a process opens the store and the filter, which
 * nobody has open, and answers the first key.
 */
double life_open(const struct bench_case *c, const struct options *options, const char *store);

#endif
