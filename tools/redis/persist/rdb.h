/* SPDX-License-Identifier: BSD-2-Clause */
/* rdb.h: values in dumps. */
#pragma once

#include "value/value.h"

void rdb_save_value(RedisModuleIO *rdb, void *value);
void *rdb_load_bloom(RedisModuleIO *rdb, int encver);
void *rdb_load_cuckoo(RedisModuleIO *rdb, int encver);
void *rdb_load_valkey(RedisModuleIO *rdb, int encver);

/* Says what is being saved: a file (by a child, or SAVE), or a payload of DUMP. */
void rdb_saving(bool begins, bool to_file);
/* Says what is being loaded: an AOF, whose commands come behind its preamble, or a dump.  (The
 * server's own flag of an AOF is off while it loads one.) */
void rdb_loading(bool aof);
