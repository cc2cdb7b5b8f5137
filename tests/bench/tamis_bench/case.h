/* SPDX-License-Identifier: BSD-2-Clause */
/* case.h: one filter, all that is done to it, and the limits beside it. */
#ifndef TAMIS_BENCH_CASE_H
#define TAMIS_BENCH_CASE_H

#include "calls.h"
#include "figures.h"
#include "options.h"

struct bench_case {
    char prefix[64]; /* of its figures: "blocked/8/out" */
    char title[160]; /* of its table */
    uint32_t kind;
    enum key_set key_set;
    uint64_t capacity; /* that the filter is made for */
    uint64_t keys;     /* that are added; more than capacity: the filter grows */
    double fp_rate;
    uint32_t pages; /* enum tamis_pages */
    bool cached;    /* so small that hashing is the limit of asking */
    bool ask_all;   /* adds and hits of all the keys are timed, not of some */
    bool grows;     /* a filter that never fills is made as one that grows, too */
    bool peers;     /* other libraries stand beside it */
    bool life;      /* the limits are its own lines; and what a filter costs besides its keys */
    bool calls[CALLS];
    bool alone; /* single calls by one process only */
    bool teams[TEAMS];
    uint64_t sample_keys; /* asked for a sample */
    unsigned levels, repeats;
    /* Results, for the table. */
    uint32_t k, segments;
    uint64_t data_bytes;
    uint64_t all_bytes; /* of the data of all segments */
    /* Of `life`: seconds in calls that add, and to sync; microseconds to open; bytes of page
     * tables in the process, and bytes that have entries of 2 MiB there. */
    double fill_s, sync_s, open_us;
    uint64_t table_bytes, huge_bytes;
};

/* Measure it, in the store at `store`; nothing where none of its figures is wanted (false). */
bool case_run(struct bench_case *c, const struct options *options, const char *store);

/* What the limit of such a figure is made of: so many of each of the limits. */
void case_limit(const struct bench_case *c, enum operation operation, double parts[]);

#endif
