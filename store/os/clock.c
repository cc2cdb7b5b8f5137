/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c: clocks, pauses and barriers: the calls of io.h that concern no file and cannot fail. */
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/io.h"

int64_t tamis__now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* fails only for a bad address or clock */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t tamis__steady_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* as above */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef TAMIS_TEST_POINTS
int64_t (*tamis__clock_hook)(void);
#endif

int64_t tamis__clock_ns(void)
{
    struct timespec now;
#ifdef TAMIS_TEST_POINTS
    if (tamis__clock_hook) return tamis__clock_hook();
#endif
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now); /* as above */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void tamis__pause_us(unsigned us)
{
    const struct timespec pause = {.tv_nsec = (long)us * 1000};
    (void)nanosleep(&pause, NULL); /* a signal ends it early, which does no harm */
}

bool tamis__barrier_prepare(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void tamis__barrier(bool everywhere)
{
    if (everywhere) (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
