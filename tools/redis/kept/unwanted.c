/* SPDX-License-Identifier: BSD-2-Clause */
/* unwanted.c: see unwanted.h. */
#include "kept/unwanted.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/others.h"
#include "registry/registry.h"

/* What one call does at most: kept_release() may wait for the disk, a millisecond a filter. */
#define DROPS_AT_ONCE 4
#define NS_AT_ONCE 5000000

struct turn {
    RedisModuleCtx *ctx;
    int64_t end_ns;
    int left;  /* how many may still be dropped in this turn */
    bool more; /* some are left for the next one */
};

static uint64_t dropped, stayed;

uint64_t unwanted_dropped(void)
{
    return dropped;
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
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
    (void)strcpy(value->name, l->name);
    value->life = LIFE_FOUND;
    value->kind = l->kind;
    value->created_at = l->created_at;
    kept_release(value);
    return true;
}

static bool drop_one(void *context, struct leftover *l)
{
    struct turn *turn = context;
    if (!l->unwanted) return false;
    if (turn->left == 0 || now_ns() >= turn->end_ns) {
        turn->more = true;
        return false;
    }
    turn->left--;
    if (!others_use(l->name) && drop_as_value(l)) {
        dropped++;
        return true;
    }
    l->unwanted = false;
    stayed++;
    leftovers_tell_orphan(turn->ctx, l);
    return false;
}

static bool is_unwanted(void *context, struct leftover *l)
{
    *(bool *)context |= l->unwanted;
    return false;
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
    struct turn turn = {.ctx = ctx, .end_ns = now_ns() + NS_AT_ONCE, .left = DROPS_AT_ONCE};
    bool any = false;
    leftovers_take_off(is_unwanted, &any);
    if (!any) return;
    if (!others_are_none()) {
        if (!told)
            RedisModule_Log(ctx, "warning",
                            "another server uses the store too, so no orphan of it is dropped");
        told = true;
        return;
    }
    leftovers_take_off(drop_one, &turn);
    if (!turn.more) tell_result(ctx);
}
