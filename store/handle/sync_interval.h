/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_interval.h: checkpoints that a handle makes by itself (sync_interval.c). */
#ifndef TAMIS_HANDLE_SYNC_INTERVAL_H
#define TAMIS_HANDLE_SYNC_INTERVAL_H

#include "handle/view.h"

/* sync_interval.c: no checkpoints by itself any more. */
void tamis__interval_end(struct tamis_filter *filter);
/* In the child of a fork(), which has not got the thread. */
void tamis__interval_forget(struct tamis_filter *filter);

#endif
