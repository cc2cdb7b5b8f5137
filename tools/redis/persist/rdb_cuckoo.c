/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_cuckoo.c: cuckoo filters of RedisBloom in dumps.
 *
 *     encoding version 4   U sub-filters, U buckets of the first, U items, U deletes, U bucket
 *                          size, U most iterations, U expansion; of each sub-filter U buckets, S
 *                          slots
 *     5                    the same, and U seed
 *     before 4             U sub-filters, U buckets of each, U items; of each S slots
 *     in ours (rdb.c)      of each S slots
 *
 * Nothing is allocated but the strings that are there, which become the slots.
 */
#include "persist/load.h"
#include "persist/rdb_parts.h"
#include "server/config.h"
#include "value/exact.h"

#define ENCODING_WITH_EXPANSION 4
#define ENCODING_WITH_SEED 5

void rdb_save_slots(RedisModuleIO *rdb, const struct value *value)
{
    for (uint32_t i = 0; i < value->cuckoo.filters; i++)
        RedisModule_SaveStringBuffer(rdb, (const char *)value->slots[i],
                                     exact_slots(&value->cuckoo, i));
}

/* Loads the slots of sub-filter `at`; those before it are loaded. */
static bool load_slots(RedisModuleIO *rdb, struct value *value, uint32_t at, bool has_buckets)
{
    const uint64_t slots = exact_slots(&value->cuckoo, at);
    uint64_t buckets = slots / value->cuckoo.bucket_size;
    size_t bytes = 0;
    if (has_buckets && load_number(rdb) != buckets) return false;
    if (load_has_failed(rdb)) return false;
    char *data = load_string(rdb, &bytes);
    if (load_has_failed(rdb) || data == NULL || bytes != slots) {
        RedisModule_Free(data);
        return false;
    }
    value->slots = RedisModule_Realloc(value->slots, (at + 1) * sizeof *value->slots);
    value->slots[at] = (uint8_t *)data;
    return true;
}

bool rdb_load_slots(RedisModuleIO *rdb, struct value *value, bool has_buckets)
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
    const uint64_t seed = load_number(rdb);
    if (load_has_failed(rdb)) return false;
    if (seed == usual) return true;
    load_complain(rdb, "the filter has a seed of its own, and here RedisBloom's filters have "
                       "none; make it anew there without SEED");
    return false;
}

struct value *rdb_load_redisbloom_cuckoo(RedisModuleIO *rdb, int encver)
{
    struct value *value = value_new(TYPE_CUCKOO);
    struct cuckoo *c = &value->cuckoo;
    const uint64_t filters = load_number(rdb);
    *c = (struct cuckoo){.buckets = load_number(rdb),
                         .bucket_size = (uint32_t)config.cf_bucket_size,
                         .max_iterations = (uint32_t)config.cf_max_iterations,
                         .expansion = 1};
    c->items = load_number(rdb);
    if (encver >= ENCODING_WITH_EXPANSION) {
        c->deletes = load_number(rdb);
        c->bucket_size = (uint32_t)load_number(rdb);
        c->max_iterations = (uint32_t)load_number(rdb);
        c->expansion = (uint32_t)load_number(rdb);
    }
    c->filters = filters <= CUCKOO_FILTERS_MAX ? (uint32_t)filters : 0;
    if (!load_has_failed(rdb) && cuckoo_is_sound(c) &&
        rdb_load_slots(rdb, value, encver >= ENCODING_WITH_EXPANSION) &&
        rdb_load_seed(rdb, encver, 0))
        return value;
    load_complain(rdb, "the dump of a cuckoo filter of RedisBloom is damaged");
    value_free(value);
    return NULL;
}
