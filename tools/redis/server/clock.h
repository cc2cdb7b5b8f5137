/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h: how long something takes, and when it was. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment before. */
static inline int64_t clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
