/* SPDX-License-Identifier: BSD-2-Clause */
/* still.c: see still.h.  The main thread alone comes here. */
#include "kept/still.h"

#include "kept/making.h"
#include "server/args.h"
#include "server/waiting.h"

static struct waiting_list waiting; /* each for a value, which is pinned */

void still_begin(struct value *value)
{
    value->is_still = true;
}

void still_end(struct value *value)
{
    if (!value->is_still || making_holds_still(value)) return;
    value->is_still = false;
    waiting_let_go(&waiting, value);
}

bool still_waits(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again)
{
    if (!args_can_wait(ctx)) {
        making_settle(value, true);
        return false;
    }
    waiting_put(&waiting, ctx, again, value);
    return true;
}
