/* SPDX-License-Identifier: BSD-2-Clause */
/* restoring.c: see restoring.h. */
#include "persist/restoring.h"

#include <string.h>

#include "keys/make.h"
#include "persist/load.h"
#include "persist/rdb.h"
#include "registry/registry.h"

static const struct {
    const char *name;
    enum type type;
    void *(*load)(RedisModuleIO *rdb, int encver);
} loaders[] = {{"MBbloom--", TYPE_BLOOM, rdb_load_bloom},
               {"MBbloomCF", TYPE_CUCKOO, rdb_load_cuckoo},
               {"bloomfltr", TYPE_BLOOM, rdb_load_valkey}};
#define LOADERS (sizeof loaders / sizeof loaders[0])

static size_t loader_of(const struct restoring *restoring)
{
    size_t i = 0;
    while (i < LOADERS && strcmp(restoring->head.type, loaders[i].name) != 0)
        i++;
    return i;
}

bool restoring_is_ours(const RedisModuleString *payload, struct restoring *restoring)
{
    size_t bytes;
    const char *data = RedisModule_StringPtrLen(payload, &bytes);
    *restoring = (struct restoring){.payload = payload};
    return payload_has_head(data, bytes, &restoring->head) && loader_of(restoring) < LOADERS;
}

enum type restoring_type(const struct restoring *restoring)
{
    return loaders[loader_of(restoring)].type;
}

/* Has all of the payload gone into the value?  If not, gives it up. */
static void check_end(struct restoring *restoring, const struct loading *loading)
{
    struct value *value = restoring->value;
    if (value == NULL || payload_is_read(&loading->payload)) return;
    if (value->filter != NULL) (void)registry_drop_filter(value->name);
    tamis_filter_release(value->filter);
    value_free(value);
    restoring->value = NULL;
}

/* In a thread.  A second try, under another name, begins anew. */
static int make_restored(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    struct restoring *restoring = context;
    struct make_place place = {.store = store, .name = name};
    size_t bytes;
    const char *data = RedisModule_StringPtrLen(restoring->payload, &bytes);
    if (!payload_is_whole(data, bytes)) {
        restoring->is_broken = true;
        return TAMIS_ECORRUPT;
    }
    struct loading loading = {.payload = payload_value(data, bytes)};
    loading_begin(&loading);
    make_in_place(&place);
    restoring->value = loaders[loader_of(restoring)].load(NULL, restoring->head.encoding);
    check_end(restoring, &loading);
    make_in_place(NULL);
    loading_begin(NULL);
    memcpy(restoring->text, loading.text, sizeof restoring->text);
    if (restoring->value == NULL) return place.rc < 0 ? place.rc : TAMIS_ECORRUPT;
    *filter = restoring->value->filter;
    restoring->value->filter = NULL;
    value_set_name(restoring->value, "");
    return 0;
}

static void *keep_restoring(const void *context)
{
    const struct restoring *restoring = context;
    struct restoring *copy = RedisModule_Alloc(sizeof *copy);
    *copy = *restoring;
    RedisModule_RetainString(NULL, (RedisModuleString *)(uintptr_t)copy->payload);
    return copy;
}

static void forget_restoring(void *context)
{
    struct restoring *restoring = context;
    RedisModule_FreeString(NULL, (RedisModuleString *)(uintptr_t)restoring->payload);
    if (restoring->value != NULL) value_free(restoring->value);
    RedisModule_Free(restoring);
}

struct maker restoring_maker(struct restoring *restoring)
{
    return (struct maker){.make = make_restored,
                          .context = restoring,
                          .keep = keep_restoring,
                          .forget = forget_restoring};
}

struct value *restoring_make_now(struct restoring *restoring)
{
    char apart[NAME_ROOM];
    tamis_filter *filter = NULL;
    name_apart(NAME_ASIDE, apart);
    if (make_restored(restoring, registry_store(), apart, &filter) < 0) return NULL;
    struct value *value = restoring->value;
    restoring->value = NULL;
    value->filter = filter;
    if (filter != NULL) value_set_name(value, apart);
    return value;
}

struct value *restoring_take(const struct restoring *made, int *rc)
{
    struct value *value = made->value;
    *rc = TAMIS_ECORRUPT;
    const bool in_memory = value != NULL && (value->slots != NULL || value->valkey != NULL);
    const uint32_t expansion = value == NULL ? 0 : value->expansion; /* the payload told it */
    const bool done = in_memory ? making_is_done(rc) : value != NULL && making_claim(value, rc);
    if (!done || *rc < 0) return NULL;
    value->expansion = expansion;
    ((struct restoring *)(uintptr_t)made)->value = NULL;
    return value;
}
