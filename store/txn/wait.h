/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.h: how long a call waits for another process, and who is told of it (wait.c). */
#pragma once

#include "txn/store.h"

/*
 * A caller that waits for another process calls this again and again.  It pauses, longer the longer
 * it has waited, and tells the store's busy function once a second.
 *
 *     started_ns  tamis__steady_ns() when the waiting began; the same in each call.
 *     lock_fd     the file of the lock, to name its holder; -1: the lock of the catalog.
 *     Returns     1: try again. 0: the busy timeout is over, or the busy function says so; the
 *                 caller fails with tamis__fail_busy().
 */
int tamis__fail_busy_timeout(int64_t milliseconds); /* TAMIS_EINVAL */
int tamis__store_wait(struct tamis_store *store, int64_t started_ns, int lock_fd);
/* Fails with TAMIS_EBUSY.  `what` is such as "the filter 'a' cannot grow"; the sentence also names
 * the holder of the lock and the mend. */
int tamis__fail_busy(const struct tamis_store *store, int64_t started_ns, int lock_fd,
                     const char *what);

/* Makes this thread wait without the busy function.  For threads of the library: the function is
 * for the caller's threads. */
void tamis__wait_silently(void);
/* Calls tamis__catalog_init() for the store's place, so that the catalog waits as the store
 * does. */
int tamis__store_init_catalog(struct tamis_store *store, bool read_only);
