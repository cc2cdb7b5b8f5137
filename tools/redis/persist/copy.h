/* SPDX-License-Identifier: BSD-2-Clause */
/* copy.h: COPY of a key, as a method of its data type, and in a thread. */
#pragma once

#include "kept/making.h"

/* Makes the value of the new key; NULL if that fails, and the log says why. */
void *copy_value(RedisModuleKeyOptCtx *ctx, const void *value);

/* Makes a copy of the filter of *from, which is open, in a thread. */
struct maker copy_maker(struct value **from);
