/* SPDX-License-Identifier: BSD-2-Clause */
/* aof.h: values in an AOF that is rewritten without a preamble. */
#pragma once

#include "value/value.h"

/* Emits the commands that make the value anew. */
void aof_rewrite_value(RedisModuleIO *aof, RedisModuleString *key, void *value);
