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

/* Why a filter of ours is not under the name of a key. */
#define NAME_TRASH "trash"   /* its key is gone, and it is about to be dropped */
#define NAME_ASIDE "aside"   /* it has a key, whose name another filter has at the moment */
#define NAME_ORPHAN "orphan" /* it had a key before the server was started, and has none now */
#define NAME_LOADING                                                                               \
    "loading" /* it was made while all was loaded, and the store had another one                   \
                 of that name before */

/* A name that no key has and no other filter: one of these words, and a number. */
void name_apart(const char *why, char name[NAME_ROOM]);
/* While an AOF or a dump is loaded, filters that would get a name NAME_ASIDE get NAME_LOADING. */
void names_while_loading(bool is);
/* Did name_apart() make the name, for that reason? */
bool name_is_apart(const char *name, const char *why);
