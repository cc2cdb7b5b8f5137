/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.h: how rdb*.c read a value: from what the server gives, or, where `rdb` is NULL, from a
 * payload that this thread reads (payload.h).
 */
#pragma once

#include <stdio.h>

#include "persist/payload.h"
#include "server/redis_api.h"

#define LOADING_ROOM 1024

/* The payload that a thread reads, and what came of it. */
struct loading {
    struct payload payload;
    char text[LOADING_ROOM]; /* what is wrong */
};
/* From now on this thread reads that payload; NULL: none. */
void loading_begin(struct loading *loading);
struct loading *loading_now(void);

uint64_t load_number(RedisModuleIO *rdb);
double load_double(RedisModuleIO *rdb);
char *load_string(RedisModuleIO *rdb, size_t *bytes);
bool load_has_failed(RedisModuleIO *rdb);
const char *load_key(RedisModuleIO *rdb, size_t *bytes);
int load_db(RedisModuleIO *rdb);

/* Tells the log what is wrong; a thread leaves that to the main thread. */
#define load_complain(rdb, ...)                                                                    \
    do {                                                                                           \
        if ((rdb) != NULL)                                                                         \
            RedisModule_LogIOError(rdb, "warning", __VA_ARGS__);                                   \
        else if (loading_now()->text[0] == '\0') /* the first says why, and others follow */       \
            (void)snprintf(loading_now()->text, LOADING_ROOM, __VA_ARGS__);                        \
    } while (0)
