/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.h: how much memory a build may take if the caller does not say. */
#pragma once

#include "base/base.h"

#define TAMIS__BUDGET_MIN ((uint64_t)1 << 20)

/* A quarter of what is free: in the machine, or in the control group if that is less. */
uint64_t tamis__budget(void);

/* How many of the threads may work at once, if each needs so many bytes beside the keys: together
 * at most half of what is free, but at least one. */
unsigned tamis__budget_threads(unsigned threads, uint64_t thread_bytes);

#ifdef TAMIS_TEST_POINTS
extern uint64_t tamis__budget_available; /* for tests: what is free; 0: what the system says */
#endif

/* ---- For tests: from the texts of the system's files ----------------------------------------- */

/* MemAvailable of /proc/meminfo, in bytes; 0 if the text has none. */
uint64_t tamis__meminfo_available(const char *text);
/* Finds the path of the group in /proc/self/cgroup that limits memory; false if there is none.
 * *is_v1: the group belongs to the memory controller alone. */
bool tamis__cgroup_path(const char *text, char *path, size_t path_bytes, bool *is_v1);
