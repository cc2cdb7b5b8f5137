/* SPDX-License-Identifier: BSD-2-Clause */
/* unwanted.c: see unwanted.h. */
#include "kept/unwanted.h"

#include <inttypes.h>
#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/others.h"
#include "registry/registry.h"
#include "server/clock.h"

/* What one call does at most: kept_release() may wait for the disk, a millisecond a filter. */
#define DROPS_AT_ONCE 4
#define NS_AT_ONCE 5000000

static uint64_t dropped, stayed;

uint64_t unwanted_dropped(void)
{
    return dropped;
}

/* Drops a filter as that of a key that goes.  Returns false if it cannot be opened. */
static bool drop_as_value(const struct leftover *l)
{
    struct value *value =
        value_new(tamis_kind_has(l->kind, TAMIS_KIND_COUNTS) ? TYPE_CUCKOO : TYPE_BLOOM);
    if (tamis_filter_open(registry_store(), l->name, 0, &value->filter) < 0) {
        value_free(value);
        return false;
    }
    value_set_name(value, l->name);
    value->life = LIFE_FOUND;
    value->kind = l->kind;
    value->created_at = l->created_at;
    kept_release(value);
    return true;
}

static void drop_one(RedisModuleCtx *ctx, struct leftover *l)
{
    if (!others_use(l->name) && drop_as_value(l)) {
        dropped++;
        leftovers_forget_one(l);
        return;
    }
    l->unwanted = false;
    stayed++;
    leftovers_tell_orphan(ctx, l);
    leftovers_put_last(l); /* those that are unwanted stay in front */
}

/* The next one that is to be dropped; NULL: there is none. */
static struct leftover *next_unwanted(void)
{
    struct leftover *l = leftovers_first();
    return l != NULL && l->unwanted ? l : NULL;
}

static void tell_result(RedisModuleCtx *ctx)
{
    RedisModule_Log(ctx, "notice",
                    "%" PRIu64 " filters that this server had made before, and that no key has, "
                    "were dropped (tamis.drop-orphans)",
                    dropped);
    if (stayed > 0)
        RedisModule_Log(ctx, "notice", "%" PRIu64 " orphans stay, as another process has them open",
                        stayed);
}

void unwanted_drop_some(RedisModuleCtx *ctx)
{
    static bool told;
    const int64_t end_ns = clock_ns() + NS_AT_ONCE;
    struct leftover *l = next_unwanted();
    if (l == NULL) return;
    if (!others_are_none()) {
        if (!told)
            RedisModule_Log(ctx, "warning",
                            "another server uses the store too, so no orphan of it is dropped");
        told = true;
        return;
    }
    for (int left = DROPS_AT_ONCE; l != NULL && left > 0 && clock_ns() < end_ns; left--) {
        drop_one(ctx, l);
        l = next_unwanted();
    }
    if (l == NULL) tell_result(ctx);
}
