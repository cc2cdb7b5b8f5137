/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h: the store of this server is opened once, and with it what it had before. */
#pragma once

#include "tamis.h"

/* The store.  If it is not open, opens it (config.h has its path), and lists what it has
 * (leftovers.h).  Returns NULL if that fails, and tamis_last_error() says why; the next call tries
 * again. */
tamis_store *store_open(void);
