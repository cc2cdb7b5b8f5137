/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private_store.h: a store in memory that only this command uses, and that goes with it.
 *
 * The store lies in a directory of a tmpfs. A second process does the work; the first one waits for
 * it, and then removes the directory. So the memory is given back however the work ends.
 */
#pragma once

#include "command.h"

/* Runs `work` in a process of its own, with call->store open on a new, empty store, and returns its
 * exit status. SIGINT, SIGTERM and SIGHUP go to that process. If a signal kills it, this process
 * dies by the same signal after the store was removed. */
int private_store_run(struct invocation *call, int (*work)(struct invocation *call));

/* Removes a directory and all in it; what cannot be removed stays. */
void tree_remove(const char *path);
