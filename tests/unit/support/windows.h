/* SPDX-License-Identifier: BSD-2-Clause */
/* windows.h: filters that forget, under a clock that the test moves, so a month passes at once. */
#ifndef TAMIS_UNIT_WINDOWS_H
#define TAMIS_UNIT_WINDOWS_H

#include "keys.h"

#define DAY INT64_C(86400000000000)
#define BEGIN (20000 * DAY)

/* A case that begins at BEGIN. */
#define WINDOW_CASE(name) STORE_CASE_WITH(name, windows_setup)
int windows_setup(void **state);

extern int64_t *now;         /* shared with children */
int64_t windows_clock(void); /* tamis__clock_hook, unless a case sets another */

/* A new filter "w" with a window, open. */
tamis_filter *windowed(tamis_store *store, int64_t window_ns, uint64_t window_items,
                       uint32_t slices, uint64_t capacity);

#endif
