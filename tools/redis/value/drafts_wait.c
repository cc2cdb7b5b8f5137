/* SPDX-License-Identifier: BSD-2-Clause */
/* drafts_wait.c: commands whose clients wait for drafts, or for room for another one. */
#include "server/args.h"
#include "server/waiting.h"
#include "value/draft_parts.h"
#include "value/drafts.h"

RedisModuleCtx *draft_hold_back(RedisModuleCtx *ctx, const struct value *value)
{
    if (value->draft == NULL || config.make != MAKE_AUTO || drafts_are_stuck() ||
        !args_can_wait(ctx) || RedisModule_GetThreadSafeContext == NULL ||
        RedisModule_FreeThreadSafeContext == NULL)
        return NULL;
    RedisModuleCtx *answer = NULL;
    drafts_lock(true);
    if (draft_may_hold_back()) {
        RedisModuleBlockedClient *client = RedisModule_BlockClient(ctx, NULL, NULL, NULL, 0);
        answer = RedisModule_GetThreadSafeContext(client);
        draft_add_answered(value->draft, client);
    }
    drafts_lock(false);
    return answer;
}

void draft_held_back(RedisModuleCtx *answer)
{
    if (answer != NULL) RedisModule_FreeThreadSafeContext(answer);
}

bool draft_puts_off(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again)
{
    if (value->draft == NULL || !drafts_are_made_behind() || drafts_are_stuck() ||
        !args_can_wait(ctx))
        return false;
    drafts_lock(true);
    draft_add_waiting(value->draft, waiting_first(ctx, again));
    drafts_lock(false);
    return true;
}

/* ---- Clients that make too many -------------------------------------------------------------- */

static struct waiting_list put_off;

bool drafts_put_off(RedisModuleCtx *ctx, RedisModuleReplyFunc *again)
{
    if (!drafts_are_made_behind() || drafts_are_stuck() || !drafts_are_many(1) ||
        !args_can_wait(ctx))
        return false;
    waiting_put(&put_off, ctx, again, NULL);
    return true;
}

void drafts_go_on(void)
{
    if (put_off.first != NULL && (drafts_are_stuck() || !drafts_are_many(1)))
        waiting_let_go(&put_off, NULL);
}
