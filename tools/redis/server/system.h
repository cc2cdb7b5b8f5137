/* SPDX-License-Identifier: BSD-2-Clause */
/* system.h: memory and time. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Memory of zeros, of a size that a client has asked for; or NULL: the server's own calloc() would
 * end the server.  RedisModule_Free() frees it. */
void *zeros(uint64_t bytes);

/* Nanoseconds since some moment before. */
static inline int64_t clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
