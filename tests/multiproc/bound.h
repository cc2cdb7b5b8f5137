/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bound.h: keys that many processes add, and what a filter must hold to afterwards: the rate that
 * was asked for, no segment over its capacity, no key lost, none told NEW twice.  For bound_test
 * and bound_faults_test.
 */
#ifndef TAMIS_MULTIPROC_BOUND_H
#define TAMIS_MULTIPROC_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

#define BOUND_BATCH_MAX 4096u

/* Keys 0 .. count - 1 of one trial, and what adders were told about them.  In memory that processes
 * share. */
struct bound_keys {
    uint64_t base;         /* key i is the number base + i; strangers follow after 2^40 */
    uint64_t count, first; /* ranges of bound_add_range() go round in keys first .. count - 1 */
    bool as_text;          /* key i is "key-<base + i in 16 hexadecimal digits>", for the command */
    uint8_t *told, *answered; /* per key: how often NEW was told; whether an add has returned */
    size_t bytes;             /* of the memory behind both */
    /* Of calls, and atomic: those that said TAMIS_EBUSY, TAMIS_ENOSPACE; the longest, and the
     * longest that was busy. */
    uint64_t busy, no_space, longest_ns, longest_busy_ns;
};

struct bound_keys *bound_keys_new(uint64_t base, uint64_t count);
void bound_keys_free(struct bound_keys *keys);

/*
 * Add these keys in one call, or again and again where it says TAMIS_EBUSY or TAMIS_ENOSPACE, until
 * all are in or refused.  Any other error ends the process.
 */
void bound_add(struct bound_keys *keys, tamis_filter *filter, const uint64_t *indexes,
               size_t count);
/*
 * Add `count` keys from key `from` on, in batches, from the first on or from the last.  After key
 * keys->count - 1 comes key keys->first.
 */
void bound_add_range(struct bound_keys *keys, tamis_filter *filter, uint64_t from, uint64_t count,
                     size_t batch, bool descending);

/* What is asked of a filter after its trial. */
struct bound_demand {
    double fp_rate;
    double spread; /* standard deviation of the rates of such filters, as a part of the rate */
    bool forgets;  /* a window: keys may be gone and be NEW again */
    bool counts_nothing; /* nobody noted who was told NEW (the command) */
    uint64_t in_flight;  /* items that may be there although nobody was told */
    uint32_t segments_min;
};

struct bound_outcome {
    double rate, rate_max; /* measured; the most it may be, 4 standard deviations included */
    int64_t over;          /* the greatest items less capacity of a segment */
    uint64_t items, told, twice, lost;
    uint32_t segments, state;
    double predicted;
    char failures[128]; /* names of the demands that are not met; "" where all are */
};

/*
 * Ask the filter everything, by a handle from before and in a fresh process.  Keys count as in
 * where an add of theirs has returned (`answered`).
 */
void bound_measure(const char *store_path, const char *name, tamis_filter *filter,
                   const struct bound_keys *keys, const struct bound_demand *demand,
                   struct bound_outcome *outcome);

/* "rate 0.0052 of 0.01, over -13, ..." without a newline. */
void bound_print(const struct bound_outcome *outcome);
void bound_fail(struct bound_outcome *outcome, const char *what);

/* A directory of its own under `parent`, removed at exit; its file system's name, such as "ext4".
 * */
const char *bound_directory(const char *parent);
const char *bound_file_system(const char *path);

int64_t bound_clock_ns(void);

#endif
