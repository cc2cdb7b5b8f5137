/* SPDX-License-Identifier: BSD-2-Clause */
/* lost.h: what `tamis repair` has put aside in the store's lost/. */
#pragma once

#include "command.h"

/* Says on standard error, in one line, that something is there.  Says nothing of a store that is a
 * server. */
void lost_tell(const struct invocation *call);

/* `tamis repair` with --list-lost, --restore and --forget-lost.  The exit status. */
int lost_list(const struct invocation *call, const char *path);
int lost_restore(const struct invocation *call, const char *path);
int lost_forget(const struct invocation *call, const char *path);
