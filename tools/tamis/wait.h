/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.h: what is told on standard error while a command waits for another process. */
#pragma once

#include <stdint.h>

/* The busy_fn of a store.  It is called once a second, and tells the user at the first call, when
 * another process has taken the lock, and every ten seconds.  Always 0: the waiting goes on. */
int wait_tell(void *context, int64_t waited_ms, int64_t holder);
