/* SPDX-License-Identifier: BSD-2-Clause */
/* problems.h: the search for damage, which verify and doctor share. */
#pragma once

#include "command.h"
#include "names.h"

/* Opens the store, runs `work`, closes the store.  It is open for writing where the caller may
 * write, so that the store remembers what is damaged; else for reading.  Returns the exit status.
 */
int problems_with_store(struct invocation *call, int (*work)(struct invocation *call));

/* Verifies the filters that the call names, or the whole store.  Returns the number of problems,
 * each of which was given to `fn`, or below 0 after a message.  *names is to be cleared either way.
 */
int64_t problems_find(const struct invocation *call, struct names *names, tamis_problem_fn *fn,
                      void *context);
