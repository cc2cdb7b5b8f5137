/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * still.h: filters that must stay as they are while a thread is at work for them.
 *
 * A replica does what a command does when the command comes to it, which is when the master runs it
 * for the second time (making.h).  What is written into the filter between the thread's work and
 * that would be in another place there: counted in a copy of the source, or in the slice that the
 * thread has put out of force.  So a command that counts in a filter which is copied, or adds to
 * one whose slices or generations change, is put off: its client is blocked, and the command is run
 * when the other one is replicated.
 *
 * A command of MULTI, of a script or of a master has no client that could wait, and one that was
 * put off once cannot be put off again.  It is run at once.  Before, the server waits for a thread
 * that changes the filter, and replicates the change.  What a thread has copied is worth nothing
 * any more: the command that copies does so in the main thread.
 */
#pragma once

#include "value/value.h"

/* A thread is about to begin: called in the `keep` of a maker that `holds_still`. */
void still_begin(struct value *value);
/* Called in its `let_go`, before the value is unpinned. */
void still_end(struct value *value);
bool still_waits(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again);

/* Called by a command that writes, before it does or replies anything.  Returns whether it was put
 * off: then `again`, the command itself, is called later. */
static inline bool still_puts_off(RedisModuleCtx *ctx, const struct value *value,
                                  RedisModuleReplyFunc *again)
{
    return value->is_still && still_waits(ctx, value, again);
}
