/* SPDX-License-Identifier: BSD-2-Clause */
/* value.c: see value.h. */
#include "value/value.h"

#include <string.h>

#include "server/config.h"
#include "value/durable.h"
#include "value/exact.h"
#include "value/head.h"
#include "value/valkey.h"

RedisModuleType *value_types[TYPES], *value_type_of_valkey;

/* With its key and its places in tables, a filter that is closed has at most 512 bytes. */
_Static_assert(sizeof(struct value) <= 320, "there may be a million values");

RedisModuleType *value_type_of(const struct value *value)
{
    return value->as_valkey ? value_type_of_valkey : value_types[value->type];
}

struct value *value_new(enum type type)
{
    struct value *value = RedisModule_Calloc(1, sizeof *value);
    value->type = type;
    value->as_valkey = type == TYPE_BLOOM && config.like == LIKE_VALKEY;
    value->name = "";
    return value;
}

static void free_name(struct value *value)
{
    if (value->name != value->key && *value->name != '\0')
        RedisModule_Free((void *)(uintptr_t)value->name);
}

/* Has the key the bytes of the name? */
static bool is_named_as_key(const struct value *value, const char *name)
{
    return value->key != NULL && strlen(name) == value->key_bytes && *name != '\0' &&
           memcmp(name, value->key, value->key_bytes) == 0;
}

void value_set_name(struct value *value, const char *name)
{
    const char *now = is_named_as_key(value, name) ? value->key
                      : *name == '\0'              ? ""
                                                   : RedisModule_Strdup(name);
    free_name(value);
    value->name = now;
    value->is_stored = *now != '\0';
}

void value_set_key(struct value *value, const char *key, size_t key_bytes)
{
    char *copy = RedisModule_Alloc(key_bytes + 1);
    memcpy(copy, key, key_bytes);
    copy[key_bytes] = '\0';
    if (value->name != value->key) RedisModule_Free(value->key); /* else it is the name's now */
    value->key = copy;
    value->key_bytes = key_bytes;
    if (!is_named_as_key(value, value->name)) return;
    free_name(value);
    value->name = copy;
}

void value_forget_arrived(struct value *value)
{
    RedisModule_Free(value->arriving);
    value->arriving = NULL;
    value->arrived = value->arriving_room = 0;
}

void value_free(struct value *value)
{
    value_forget_arrived(value);
    exact_free(value);
    valkey_free(value->valkey);
    durable_forget(value);
    free_name(value);
    RedisModule_Free(value->key);
    RedisModule_Free(value);
}

/* What RedisBloom's head says of how the filter grows. */
static int describe_exact(struct value *value)
{
    unsigned char head[HEAD_ROOM];
    const int64_t bytes = head_of_value(value, head);
    if (bytes < 0) return (int)bytes;
    value->expansion = bloom_head_expansion(head);
    return 0;
}

int value_describe(struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct tamis_segment_stat first = {.size = sizeof first};
    int rc = tamis_filter_stat(value->filter, &stat);
    if (rc == 0) rc = tamis_filter_segment(value->filter, 0, &first);
    if (rc < 0) return rc;
    value->created_at = stat.created_at;
    value->origin = first.created_at;
    value->kind = stat.kind;
    value->durable = (stat.flags & TAMIS_FILTER_DURABLE) != 0;
    if (value_counts(value) != (value->type == TYPE_CUCKOO)) return TAMIS_EINVAL;
    value->exact = value_is_of_redisbloom(&stat);
    value->expansion = stat.on_full == TAMIS_ON_FULL_REFUSE ? 0 : 2;
    return value->exact ? describe_exact(value) : 0;
}

void value_take_filter(struct value *value, struct value *from)
{
    value->filter = from->filter;
    value->created_at = from->created_at;
    value->origin = from->origin;
    value->kind = from->kind;
    value->durable = from->durable;
    value->exact = from->exact;
    value->expansion = from->expansion;
    value_set_name(value, from->name);
    from->filter = NULL;
}

void value_mark(tamis_filter *filter)
{
    static const uint64_t nothing;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    (void)tamis_filter_set_prepared(filter, 1);
    int rc = tamis_filter_prepare(filter); /* an error meets the adds, too */
    for (uint32_t i = 0; rc == 0 && tamis_filter_segment(filter, i, &segment) == 0; i++)
        if (segment.data_bytes >= sizeof nothing)
            rc = tamis_filter_write_data(filter, i, 0, &nothing, sizeof nothing);
}

int64_t value_items(const struct value *value)
{
    return value->valkey != NULL ? valkey_items(value->valkey) : tamis_filter_items(value->filter);
}

struct known known_from(const struct tamis_filter_stat *stat)
{
    return (struct known){.segments = stat->segment_count,
                          .bytes = stat->size_bytes,
                          .items = stat->items,
                          .unclean = (stat->state & TAMIS_STATE_UNCLEAN) != 0,
                          .degraded = (stat->state & TAMIS_STATE_DEGRADED) != 0};
}

struct known value_known(const struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const bool told = value->filter != NULL && tamis_filter_stat(value->filter, &stat) == 0;
    struct known known = told ? known_from(&stat) : value->known;
    if (told) known.size_bytes = value_size_bytes(value);
    return known;
}

uint64_t value_size_bytes(const struct value *value)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    uint64_t bytes = 32;
    if (value->valkey != NULL) return valkey_size_bytes(value->valkey);
    if (value->filter == NULL) return value->known.size_bytes;
    for (uint32_t i = 0; tamis_filter_segment(value->filter, i, &segment) == 0; i++) {
        bytes += 64 + segment.data_bytes;
    }
    return bytes;
}
