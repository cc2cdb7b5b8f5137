/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_cuckoo.c: cuckoo filters of RedisBloom in dumps.
 *
 *     encoding version 4   U sub-filters, U buckets of the first, U items, U deletes, U bucket
 *                          size, U most iterations, U expansion; of each sub-filter U buckets, S
 *                          slots
 *     5                    the same, and U seed
 *     before 4             U sub-filters, U buckets of each, U items; of each S slots
 *
 * Nothing is allocated but the strings that are there, which become the slots.
 */
#include "persist/rdb.h"
#include "server/config.h"
#include "value/exact.h"

#define ENCODING_WITH_EXPANSION 4
#define ENCODING_WITH_SEED 5

void rdb_save_cuckoo(RedisModuleIO *rdb, const struct exact *exact)
{
    const struct cuckoo *c = &exact->cuckoo;
    const uint64_t numbers[] = {c->filters,     c->buckets,        c->items,    c->deletes,
                                c->bucket_size, c->max_iterations, c->expansion};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        RedisModule_SaveUnsigned(rdb, numbers[i]);
    for (uint32_t i = 0; i < c->filters; i++) {
        const uint64_t slots = exact_slots(c, i);
        RedisModule_SaveUnsigned(rdb, slots / c->bucket_size);
        RedisModule_SaveStringBuffer(rdb, (const char *)exact->slots[i], slots);
    }
}

/* Loads the slots of sub-filter `at`; those before it are loaded. */
static bool load_slots(RedisModuleIO *rdb, struct exact *value, uint32_t at, bool has_buckets)
{
    const uint64_t slots = exact_slots(&value->cuckoo, at);
    uint64_t buckets = slots / value->cuckoo.bucket_size;
    size_t bytes = 0;
    if (has_buckets && RedisModule_LoadUnsigned(rdb) != buckets) return false;
    if (RedisModule_IsIOError(rdb)) return false;
    char *data = RedisModule_LoadStringBuffer(rdb, &bytes);
    if (RedisModule_IsIOError(rdb) || data == NULL || bytes != slots) {
        RedisModule_Free(data);
        return false;
    }
    value->slots = RedisModule_Realloc(value->slots, ((size_t)at + 1) * sizeof *value->slots);
    value->slots[at] = (uint8_t *)data;
    return true;
}

static bool load_all(RedisModuleIO *rdb, struct exact *value, bool has_buckets)
{
    struct cuckoo *c = &value->cuckoo;
    const uint32_t wanted = c->filters;
    if (cuckoo_slots(c) == UINT64_MAX) return false;
    c->filters = 0;
    while (c->filters < wanted && load_slots(rdb, value, c->filters, has_buckets))
        c->filters++;
    return c->filters == wanted;
}

bool rdb_load_seed(RedisModuleIO *rdb, int encver, uint64_t usual)
{
    if (encver < ENCODING_WITH_SEED) return true;
    const uint64_t seed = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb)) return false;
    if (seed == usual) return true;
    RedisModule_LogIOError(rdb, "warning",
                           "the filter has a seed of its own, and here RedisBloom's filters have "
                           "none; make it anew there without SEED");
    return false;
}

struct value *rdb_load_redisbloom_cuckoo(RedisModuleIO *rdb, int encver)
{
    struct exact *exact = RedisModule_Calloc(1, sizeof *exact);
    struct cuckoo *c = &exact->cuckoo;
    const uint64_t filters = RedisModule_LoadUnsigned(rdb);
    *c = (struct cuckoo){.buckets = RedisModule_LoadUnsigned(rdb),
                         .bucket_size = (uint32_t)config.cf_bucket_size,
                         .max_iterations = (uint32_t)config.cf_max_iterations,
                         .expansion = 1};
    c->items = RedisModule_LoadUnsigned(rdb);
    if (encver >= ENCODING_WITH_EXPANSION) {
        c->deletes = RedisModule_LoadUnsigned(rdb);
        c->bucket_size = (uint32_t)RedisModule_LoadUnsigned(rdb);
        c->max_iterations = (uint32_t)RedisModule_LoadUnsigned(rdb);
        c->expansion = (uint32_t)RedisModule_LoadUnsigned(rdb);
    }
    c->filters = filters <= CUCKOO_FILTERS_MAX ? (uint32_t)filters : 0;
    if (!RedisModule_IsIOError(rdb) && cuckoo_is_sound(c) &&
        load_all(rdb, exact, encver >= ENCODING_WITH_EXPANSION) && rdb_load_seed(rdb, encver, 0)) {
        struct value *value = value_new(TYPE_CUCKOO);
        value_settle(value, HOME_CUCKOO, exact);
        return value;
    }
    RedisModule_LogIOError(rdb, "warning", "the dump of a cuckoo filter of RedisBloom is damaged");
    exact_free(exact);
    return NULL;
}
