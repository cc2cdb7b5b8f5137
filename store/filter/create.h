/* SPDX-License-Identifier: BSD-2-Clause */
/* create.h: what the calls that make filters from a spec share (create.c). */
#pragma once

#include "plan/plan.h"
#include "txn/enter.h"

/* Makes a plan from the caller's spec, and checks the name. */
int tamis__create_plan(const char *name, const struct tamis_filter_spec *spec,
                       struct tamis__plan *plan);
/* Fails if the file system lacks room for that many bytes, which are of the filter `name`. */
int tamis__create_check_room(int dir_fd, uint64_t file_bytes, const char *name);
/* Makes the header of the filter's one segment, and the entry, which points to `draft`. */
void tamis__create_describe(struct tamis_store *store, const char *name,
                            const struct tamis__plan *plan, struct tamis__draft *draft,
                            struct tamis__entry *entry);
/* Is the existing filter what the plan wants?  TAMIS_EMISMATCH with the first difference. */
int tamis__create_compare(const char *name, const struct tamis__plan *plan,
                          const struct tamis__record *record);
