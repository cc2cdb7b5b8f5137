/* SPDX-License-Identifier: BSD-2-Clause */
/* copy.h: COPY of a key, as a method of its data type. */
#pragma once

#include "value/value.h"

/* Makes the value of the new key; NULL if that fails, and the log says why. */
void *copy_value(RedisModuleKeyOptCtx *ctx, const void *value);
