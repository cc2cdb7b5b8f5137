/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * busy.h: how long the server waits for a local process that has the lock of the store.
 *
 * That is some milliseconds, unless the process was stopped with the lock.  Then no client shall
 * wait long: a call gives up after a second, and for some seconds after that the next ones give up
 * at once.  While data are loaded, a call waits as long as the library does, as loading would fail.
 */
#pragma once

#include <stdbool.h>

#include "tamis.h"

/* Begins to watch over the waits of the store's calls. */
void busy_watch(tamis_store *store);
/* Called now and then: some seconds after a call gave up, lets calls wait again. */
void busy_pass(tamis_store *store);
