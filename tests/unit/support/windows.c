/* SPDX-License-Identifier: BSD-2-Clause */
#include "windows.h"

#include "base/point.h"
#include "spawn.h"

int64_t *now;

int64_t windows_clock(void)
{
    return __atomic_load_n(now, __ATOMIC_SEQ_CST);
}

int windows_setup(void **state)
{
    (void)state;
    if (now == NULL) now = spawn_shared(sizeof *now);
    *now = BEGIN;
    tamis__clock_hook = windows_clock;
    return 0;
}

tamis_filter *windowed(tamis_store *store, int64_t window_ns, uint64_t window_items,
                       uint32_t slices, uint64_t capacity)
{
    return fixture_create(store, "w",
                          SPEC(.capacity = capacity, .fp_rate = 1e-6, .slices = slices,
                               .window_ns = window_ns, .window_items = window_items));
}
