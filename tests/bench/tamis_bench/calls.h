/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.h: the library's calls as orders to the crew, and the filter that they are made on. */
#ifndef TAMIS_BENCH_CALLS_H
#define TAMIS_BENCH_CALLS_H

#include "crew.h"

enum call { CALL_BATCH, CALL_SINGLE, CALLS };
enum operation { OP_ADD, OP_READD, OP_HIT, OP_MISS, OP_REMOVE, OPERATIONS };

/* "batch", "single"; "add", "re-add", "hit", "miss", "remove". */
extern const char *const call_names[CALLS];
extern const char *const operation_names[OPERATIONS];

/* An order for that; the caller adds keys, seed, key set, batch and team. */
struct order call_order(enum call call, enum operation operation);

/* Open the filter "bench" of that store in these processes, a bit each, for adding; a close brings
 * nothing to the disk. */
void filter_open(const char *store, unsigned processes);
void filter_close(unsigned processes);

/* Ends the program with the library's sentence if rc is below 0. */
void check(int64_t rc);

#endif
