/* SPDX-License-Identifier: BSD-2-Clause */
/* load.c: see load.h. */
#include "persist/load.h"

static _Thread_local struct loading *now;

void loading_begin(struct loading *loading)
{
    now = loading;
}

struct loading *loading_now(void)
{
    return now;
}

uint64_t load_number(RedisModuleIO *rdb)
{
    return rdb != NULL ? RedisModule_LoadUnsigned(rdb) : payload_number(&now->payload);
}

double load_double(RedisModuleIO *rdb)
{
    return rdb != NULL ? RedisModule_LoadDouble(rdb) : payload_double(&now->payload);
}

char *load_string(RedisModuleIO *rdb, size_t *bytes)
{
    return rdb != NULL ? RedisModule_LoadStringBuffer(rdb, bytes)
                       : payload_string(&now->payload, bytes);
}

bool load_has_failed(RedisModuleIO *rdb)
{
    return rdb != NULL ? RedisModule_IsIOError(rdb) : now->payload.failed;
}

const char *load_key(RedisModuleIO *rdb, size_t *bytes)
{
    const RedisModuleString *key = rdb != NULL ? RedisModule_GetKeyNameFromIO(rdb) : NULL;
    if (key != NULL) return RedisModule_StringPtrLen(key, bytes);
    *bytes = 0;
    return "";
}

int load_db(RedisModuleIO *rdb)
{
    return rdb != NULL ? RedisModule_GetDbIdFromIO(rdb) : 0;
}
