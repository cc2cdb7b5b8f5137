/* SPDX-License-Identifier: BSD-2-Clause */
/* bits.h: SETBIT, GETBIT, BITCOUNT and STRLEN on keys that have a filter. */
#pragma once

#include "server/redis_api.h"

RedisModuleCmdFunc bits_setbit, bits_getbit, bits_bitcount, bits_strlen;
/* Turns a command of the server that names such a key into one of these.  Called before each
 * command; `argc` is at least 2. */
void bits_turn(RedisModuleCommandFilterCtx *filter, int argc);
