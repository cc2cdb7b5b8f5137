/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * labels.h: the names of filters of ours, which are labels for people and local processes.
 *
 * Nothing here reads a name to decide anything.  A key that is made, renamed, moved or swapped says
 * what its filter is to be called; a thread brings that into the store, many in one change.
 */
#pragma once

#include "server/waiting.h"
#include "value/stored.h"

/* The value has this key now.  One that is on its way gets its label when it is there. */
void labels_want(struct stored *stored, int db, const char *key, size_t key_bytes);
/* SWAPDB: the keys of two databases have changed places. */
void labels_swap(int first, int second);
/* Leaves a job behind, if labels are wanted and none is under way. */
void labels_pass(void);
/* How many wait. */
uint64_t labels_waiting(void);
/* Takes the clients of the list.  Their commands run anew when a thread has tried to write the
 * labels that wait now. */
void labels_take_clients(struct waiting_list *clients);
/* Blocks the client of the command until then, if the label of the value waits. */
bool labels_wait(RedisModuleCtx *ctx, const struct stored *stored, RedisModuleReplyFunc *again);
/* Could the labels not be written when a thread tried it last? */
bool labels_have_failed(void);
