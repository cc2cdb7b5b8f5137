/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h: which filter of the store belongs to which key (docs/redis.md, "Names"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tamis.h"

#define NAME_ROOM (TAMIS_NAME_MAX + 1)

/* The name of the filter of a key: the key itself in database 0, if that is a legal name; else an
 * escaped form. */
void name_of_key(int db, const char *key, size_t key_bytes, char name[NAME_ROOM]);
