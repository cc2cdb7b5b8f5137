/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_interval.h: the thread of a handle that makes checkpoints by itself. */
#pragma once

#include "handle/view.h"

/* Ends the thread. */
void tamis__interval_end(struct tamis_filter *filter);
/* Forgets the thread, in the child of a fork(), which does not have it. */
void tamis__interval_forget(struct tamis_filter *filter);
