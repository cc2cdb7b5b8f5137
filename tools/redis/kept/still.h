/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * still.h: filters that count and stay as they are while a thread copies them.
 *
 * A replica copies counters when the command comes to it, which is when the master runs it for the
 * second time (making.h).  What is counted in the source until then would be in the copy of the
 * replica, and not in that of the master.  So a command that counts in the source is put off: its
 * client is blocked, and the command is run when the copy has its key.
 *
 * A command of MULTI, of a script or of a master has no client that could wait, and one that was
 * put off once cannot be put off again.  It counts at once, and what the thread makes is worth
 * nothing any more: the command that copies does so in the main thread, and the server waits.
 */
#pragma once

#include "value/value.h"

/* A thread copies the filter, and begins only now: called in the `keep` of a maker, whose `reads`
 * says so too. */
void still_begin(struct value *value);
/* Called in its `forget`, before the value is unpinned. */
void still_end(struct value *value);
/* Called by a command that counts, before it does or replies anything.  Returns whether it was put
 * off: then `again`, the command itself, is called later. */
bool still_puts_off(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again);
