/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_count.c: one shared item counter against a counter for each processor
 * (docs/decisions/0006).
 *
 * Two threads add to a counter 20 million times each: all on one, then as tamis__segment_count does
 * it. Prints the least nanoseconds an addition of five runs.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "segment/room.h"

#define ADDITIONS 20000000u
#define THREADS 2
#define RUNS 5

static struct tamis__segment segment;

static void *on_one(void *unused)
{
    for (unsigned i = 0; i < ADDITIONS; i++)
        (void)__atomic_fetch_add(&segment.header->items[0].items, 1, __ATOMIC_RELAXED);
    return unused;
}

static void *on_own(void *unused)
{
    for (unsigned i = 0; i < ADDITIONS; i++)
        tamis__segment_count(&segment, 1);
    return unused;
}

static double run(void *(*body)(void *), int threads)
{
    double least = 1e18;
    for (int r = 0; r < RUNS; r++) {
        pthread_t ids[THREADS];
        const double start = bench_now();
        for (int t = 0; t < threads; t++)
            (void)pthread_create(&ids[t], NULL, body, NULL);
        for (int t = 0; t < threads; t++)
            (void)pthread_join(ids[t], NULL);
        const double ns = (bench_now() - start) * 1e9;
        if (ns < least) least = ns;
    }
    return least / ADDITIONS;
}

int main(void)
{
    segment.header = aligned_alloc(4096, sizeof *segment.header);
    if (segment.header == NULL) return 1;
    memset(segment.header, 0, sizeof *segment.header);
    for (int threads = 1; threads <= THREADS; threads++)
        printf("%d thread(s): one counter %.1f ns, a counter a processor %.1f ns\n", threads,
               run(on_one, threads), run(on_own, threads));
    free(segment.header);
    return 0;
}
