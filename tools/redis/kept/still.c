/* SPDX-License-Identifier: BSD-2-Clause */
/* still.c: see still.h.  The main thread alone comes here. */
#include "kept/still.h"

#include "kept/making.h"
#include "server/args.h"
#include "server/unblock.h"

/* A client that waits until something may be counted in the filter. */
struct waiting {
    struct waiting *next;
    const struct value *value; /* which is pinned */
    RedisModuleBlockedClient *client;
};

static struct waiting *first, **last = &first; /* in the order of their commands */

void still_begin(struct value *value)
{
    value->is_still = true;
}

void still_end(struct value *value)
{
    if (!value->is_still || making_reads(value)) return;
    value->is_still = false;
    for (struct waiting **link = &first, *w; (w = *link) != NULL;) {
        if (w->value != value) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        unblock(w->client, NULL);
        RedisModule_Free(w);
    }
    last = &first;
    while (*last != NULL)
        last = &(*last)->next;
}

bool still_puts_off(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again)
{
    if (!value->is_still) return false;
    if (!args_can_wait(ctx)) {
        making_spoil(value);
        return false;
    }
    struct waiting *w = RedisModule_Calloc(1, sizeof *w);
    w->value = value;
    w->client = RedisModule_BlockClient(ctx, again, NULL, NULL, 0);
    *last = w;
    last = &w->next;
    return true;
}
