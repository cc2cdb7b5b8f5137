/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.h: how much memory a build may take where nobody says it. */
#ifndef TAMIS_BUILD_BUDGET_H
#define TAMIS_BUILD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAMIS__BUDGET_MIN ((uint64_t)1 << 20)

/* A quarter of what is free: of the machine, or of the control group if that is less. */
uint64_t tamis__budget(void);

/* ---- For tests: from the texts of the system's files ----------------------------------------- */

/* MemAvailable of /proc/meminfo, in bytes; 0 where there is none. */
uint64_t tamis__meminfo_available(const char *text);
/* The path of the group in /proc/self/cgroup that limits memory, in `path`; false where there is
 * none. *is_v1: it is a group of the memory controller alone. */
bool tamis__cgroup_path(const char *text, char *path, size_t path_bytes, bool *is_v1);

#endif
