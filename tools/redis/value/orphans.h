/* SPDX-License-Identifier: BSD-2-Clause */
/* orphans.h: filters of ours in the store that no value has. */
#pragma once

#include "value/value.h"

/* Calls fn for each orphan.  Returns how many there are, or an error. */
typedef void orphan_fn(void *context, const char *name, const struct id *id);
int64_t orphans_each(orphan_fn *fn, void *context);
/* Has another process a file of the filter open, or mapped, or can that not be told?  Any thread.
 */
bool orphan_is_in_use(const struct id *id);
/* A thread has all of them dropped but those that other processes have open, and logs how many. */
void orphans_drop_all(void);
/* How many there were at the last look. */
int64_t orphans_count(void);
