/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.h: replays logs whose owners are dead (replay.c). */
#pragma once

#include "txn/store.h"

/*
 * Replays the logs of dead handles of a filter, brings their keys to the disk, and removes the
 * logs.  `numbers` are those of the filter's segments, the newest last.  Returns 1 if there were
 * logs, 0 if there were none, or an error, after which the remaining logs are as they were.
 * TAMIS__LOGS_DAMAGED: as 1, and a log was damaged: the filter is unclean since its last
 * checkpoint, which the catalog does not know yet.
 */
#define TAMIS__LOGS_DAMAGED 2
int tamis__logs_replay(struct tamis_store *store, uint64_t filter_id, const uint64_t *numbers,
                       uint32_t count);
/* Removes the logs of a filter that is gone. */
int tamis__logs_forget(struct tamis_store *store, uint64_t filter_id);
