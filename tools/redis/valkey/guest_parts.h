/* SPDX-License-Identifier: BSD-2-Clause */
/* guest_parts.h: what makes up the table of guest.h, and what module/ needs of this folder. */
#pragma once

#include "valkey/valkey.h"

/* rdb_valkey.c */
void *valkey_load(RedisModuleIO *rdb, int encver);
void valkey_save(RedisModuleIO *rdb, const struct valkey *valkey);
bool valkey_emit(RedisModuleIO *aof, RedisModuleString *key, const struct valkey *valkey);
void valkey_digest(RedisModuleDigest *to, const struct valkey *valkey);

/* bf_valkey.c */
extern const struct guest valkey_guest;
RedisModuleCmdFunc bf_load;
