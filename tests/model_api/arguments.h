/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.h: calls with arguments that no call accepts, the code of each, and what its sentence
 * must name. */
#pragma once

#include <stddef.h>

#include "tamis.h"

/* Makes them all; the first one that answers otherwise is told in `trouble`.  Returns 0. */
int arguments_try(tamis_store *store, tamis_filter *filter, char *trouble, size_t bytes);
