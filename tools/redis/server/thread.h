/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.h: threads that nobody waits for. */
#pragma once

#include <stdbool.h>

/* Starts a thread that nobody waits for.  Returns whether the system gives one. */
bool thread_start(void *(*run)(void *context), void *context);
