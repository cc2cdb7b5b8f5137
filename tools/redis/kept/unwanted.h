/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwanted.h: orphans that the setting tamis.drop-orphans drops when the server has begun.
 *
 * A server that has neither dump nor AOF begins with no key, and makes other filters than those
 * that the last one has left.  They are dropped a few at a time, while the server runs.  Until then
 * they are orphans as others are: TAMIS.ATTACH takes them, and they make way for new keys.  Those
 * that a process has open stay.
 */
#pragma once

#include <stdint.h>

#include "server/redis_api.h"

/* Drops some of the unwanted orphans; the log tells when none is left.  Called now and then. */
void unwanted_drop_some(RedisModuleCtx *ctx);
/* How many were dropped since the server began. */
uint64_t unwanted_dropped(void);
