/* SPDX-License-Identifier: BSD-2-Clause */
/* orphans.h: filters of ours in the store that no value has. */
#pragma once

#include "value/value.h"

/* Calls fn for each orphan.  Returns how many there are, or an error. */
typedef void orphan_fn(void *context, const char *name, const struct id *id);
int64_t orphans_each(orphan_fn *fn, void *context);
/* How many there were at the last look. */
int64_t orphans_count(void);
