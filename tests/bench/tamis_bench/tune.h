/* SPDX-License-Identifier: BSD-2-Clause */
/* tune.h: what is chosen for the batch loops on this processor, and the loops of kind blocked with
 * each depth that they can have and both ways to fetch (base/cpu.h). */
#ifndef TAMIS_BENCH_TUNE_H
#define TAMIS_BENCH_TUNE_H

#include <stdio.h>

#include "options.h"

/*
 * Makes a filter of options->out_keys keys in a new store at that path.  Prints what a key costs
 * when it is asked for and when it is added again, with each variant that the machine has, each
 * depth and both ways to fetch, beside the random line read.
 */
void tune_run(const struct options *options, const char *store, FILE *out);

/* Prints a line that says what the loops do with so many bytes of data here: how many keys, of
 * bloom lines, are ahead, and into which cache they come. */
void tune_print_chosen(uint64_t data_bytes, FILE *out);

#endif
