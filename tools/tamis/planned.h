/* SPDX-License-Identifier: BSD-2-Clause */
/* planned.h: shows a filter that is not made: what `calc` and `create --dry-run` share. */
#pragma once

#include <stdbool.h>

#include "json.h"
#include "tamis.h"

/* What `create` would make, and the segment by which that grows. */
struct planned {
    struct tamis_sizing first, next;
    bool grows; /* there is a next one */
};

/* Plans the filter.  Returns 0, or an error of the library. */
int planned_of(const struct tamis_filter_spec *spec, struct planned *planned);
/* Puts its fields into an object. */
void planned_put(const struct planned *planned, json_t *object);
/* What growth costs, as a sentence to be freed; NULL if the filter does not grow. */
char *planned_growth(const struct planned *planned);
