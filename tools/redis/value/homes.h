/* SPDX-License-Identifier: BSD-2-Clause */
/* homes.h: what each home of a value does in its own way. */
#pragma once

#include "value/value.h"

/* Frees a value with all that its home has.  Any thread. */
void value_free(void *value);
/* What BF.INFO calls its size: 32 bytes, 64 for each layer, and their data. */
uint64_t value_size_bytes(const struct value *value);
/* The items of a filter of BF.*, or an error. */
int64_t value_items(const struct value *value);
