/* SPDX-License-Identifier: BSD-2-Clause */
/* outline.h: a filter of the store as memory would have it: for dumps, COPY and RESTORE. */
#pragma once

#include "value/memory.h"
#include "value/stored.h"

/* Makes the layers of a filter of the store, which is open and plain, with no bit set.  Returns 0
 * or an error. */
int outline_make(const struct value *value, struct memory **memory);
/* Reads the bits of layer i into it. */
int outline_fill(const struct value *value, struct memory *memory);
