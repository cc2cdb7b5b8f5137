/* SPDX-License-Identifier: BSD-2-Clause */
/* system.c: see system.h. */
#include "server/system.h"

#include <stdbool.h>
#include <stdlib.h>

#include "server/redis_api.h"

void *zeros(uint64_t bytes)
{
    if (RedisModule_TryCalloc != NULL) return RedisModule_TryCalloc(1, bytes);
    void *volatile probe = malloc(bytes); /* volatile: a compiler would leave both calls out */
    const bool there = probe != NULL;
    free(probe);
    return there ? RedisModule_Calloc(1, bytes) : NULL;
}
