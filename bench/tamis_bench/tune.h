/* SPDX-License-Identifier: BSD-2-Clause */
/* tune.h: the loops of kind blocked, with each depth that they can have (base/cpu.h). */
#ifndef TAMIS_BENCH_TUNE_H
#define TAMIS_BENCH_TUNE_H

#include <stdio.h>

#include "options.h"

/*
 * Makes a filter of options->out_keys keys in a new store at that path.  Prints what a key costs
 * when it is asked for and when it is added again, with each variant that the machine has and each
 * depth, beside the random line read.
 */
void tune_run(const struct options *options, const char *store, FILE *out);

#endif
