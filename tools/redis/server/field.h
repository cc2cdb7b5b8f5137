/* SPDX-License-Identifier: BSD-2-Clause */
/* field.h: what the server tells of itself in INFO. */
#pragma once

#include <stdbool.h>

#include "server/redis_api.h"

#define FIELD_ROOM 512

/* Reads a field of a section of INFO, such as "redis_version" of "server".  False: the server has
 * no such field, or it is longer; then the text is empty. */
bool server_field(RedisModuleCtx *ctx, const char *section, const char *name,
                  char text[FIELD_ROOM]);
