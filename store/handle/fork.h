/* SPDX-License-Identifier: BSD-2-Clause */
/* fork.h: what fork() changes (fork.c). */
#ifndef TAMIS_HANDLE_FORK_H
#define TAMIS_HANDLE_FORK_H

#include "handle/view.h"

/* A handle that may write: its child is another writer.  Until handles_leave, harmless where it is
 * not in. */
void tamis__handles_enter(struct tamis_filter *filter);
void tamis__handles_leave(struct tamis_filter *filter);

#endif
