/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.h: logs whose owners are dead (replay.c). */
#ifndef TAMIS_TXN_REPLAY_H
#define TAMIS_TXN_REPLAY_H

#include "txn/store.h"

/*
 * replay.c: replay the logs of dead handles of a filter, bring that to the disk, and take them
 * away.  `numbers`: of the filter's segments, the newest last.  1 if there were any; 0; or an
 * error, after which what was not settled is as it was.  TAMIS__LOGS_DAMAGED: 1, and one of them
 * was damaged: the filter is unclean since its last checkpoint, and the catalog does not know that
 * yet.
 */
#define TAMIS__LOGS_DAMAGED 2
int tamis__logs_settle(struct tamis_store *store, uint64_t filter_id, const uint64_t *numbers,
                       uint32_t count);
/* Of a filter that is no more: take them away. */
int tamis__logs_forget(struct tamis_store *store, uint64_t filter_id);

#endif
