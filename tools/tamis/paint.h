/* SPDX-License-Identifier: BSD-2-Clause */
/* paint.h: colours of standard output. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* Are there to be colours?  --color says so; else they are for a terminal that can show them,
 * unless NO_COLOR is set (https://no-color.org). */
bool paint_is_wanted(const struct options *options);

/* How bad the state of a filter is, from TAMIS_STATE_* bits. */
enum paint_level { PAINT_GOOD, PAINT_FULL, PAINT_BAD };
enum paint_level paint_level_of(uint32_t state);

/* What begins text of that level, and what ends it, on a terminal. */
const char *paint_begin(enum paint_level level);
#define PAINT_END "\x1b[0m"
