/* SPDX-License-Identifier: BSD-2-Clause */
/* fork.h: the list of the handles of this process, for fork(). */
#pragma once

#include "handle/view.h"

/* Enters a handle that may write: in a child it is another writer.  Undone by
 * tamis__handles_leave(), which may be called for a handle that never entered. */
void tamis__handles_enter(struct tamis_filter *filter);
void tamis__handles_leave(struct tamis_filter *filter);
