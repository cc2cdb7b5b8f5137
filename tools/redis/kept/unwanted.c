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

/* What one call does at most. */
#define NS_AT_ONCE 5000000
/* `tamis list` and the like open each filter for a moment.  One that another process uses for less
 * than this is looked at again. */
#define MOMENT_NS ((int64_t)2000000000)

static uint64_t dropped, stayed, waiting; /* `waiting`: those that are put off, or more */

uint64_t unwanted_dropped(void)
{
    return dropped;
}

/* Another process has the drawer open, or the filter for a moment.  The filter waits behind the
 * others until it has not. */
static void put_off(struct leftover *l)
{
    waiting += !l->put_off;
    l->put_off = true;
    leftovers_put_last(l);
}

static void keep(RedisModuleCtx *ctx, struct leftover *l)
{
    stayed++;
    l->unwanted = false;
    leftovers_tell_orphan(ctx, l);
    leftovers_put_last(l); /* those that are unwanted stay in front */
}

static bool is_used_for_a_moment(struct leftover *l)
{
    const int64_t now = clock_ns();
    if (l->used_since == 0) l->used_since = now;
    return now - l->used_since < MOMENT_NS;
}

/* Returns false if the filter was put off. */
static bool deal_with(RedisModuleCtx *ctx, struct leftover *l)
{
    const enum use use = others_use(l->name);
    if (use == USED_PERHAPS || (use == USED && is_used_for_a_moment(l))) {
        put_off(l);
        return false;
    }
    waiting -= l->put_off;
    if (use == USED) {
        keep(ctx, l);
        return true;
    }
    kept_drop(l->name, l->created_at, l->kind);
    dropped++;
    leftovers_forget_one(l);
    return true;
}

/* The next one that is to be dropped; NULL: there is none. */
static struct leftover *next_unwanted(void)
{
    struct leftover *l = leftovers_first();
    if (l != NULL && l->unwanted && !l->put_off) return l;
    while (waiting > 0 && l != NULL && !(l->unwanted && l->put_off))
        l = l->next;
    if (l == NULL) waiting = 0; /* they have been attached meanwhile, or dropped by hand */
    return waiting > 0 ? l : NULL;
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
    bool goes_on = true;
    while (l != NULL && goes_on && clock_ns() < end_ns) {
        const bool again = l->put_off;
        goes_on = deal_with(ctx, l) || !again;
        l = next_unwanted();
    }
    if (l == NULL) tell_result(ctx);
}
