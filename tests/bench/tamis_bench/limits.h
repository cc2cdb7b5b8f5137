/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.h: the best that the machine can do, measured by loops that do nothing else. */
#ifndef TAMIS_BENCH_LIMITS_H
#define TAMIS_BENCH_LIMITS_H

#include "crew.h"

enum limit {
    LIMIT_LINE, /* the first: read a random line, 64 prefetched ahead */
    LIMIT_OR,   /* one locked OR on a random line, likewise */
    LIMIT_ORS,  /* two locked ORs on a random line, likewise */
    LIMIT_HASH, /* XXH3-128 of the keys, from the same array as the calls have them in */
    LIMITS
};

/* "line", "or", "two-ors", "hash". */
extern const char *const limit_names[LIMITS];

/* Make a file of so many bytes in that directory, its pages in the page cache as the library's are,
 * and map it in these processes, a bit each, every page touched there.  One at a time. */
void limits_open(const char *directory, uint64_t bytes, bool huge, unsigned processes);
void limits_close(unsigned processes);

/*
 * Instead of such a file, take the lines of a filter that these processes have open: the data of
 * its one segment, in the mapping that the library made, so that the limits have the same pages.
 * The ORs set no bits there.
 */
void limits_use(const struct tamis_segment_stat *segment, unsigned processes);
void limits_leave(unsigned processes);

/* An order for that limit; the caller adds keys, seed, key set and team. */
struct order limit_order(enum limit limit);

#endif
