/* SPDX-License-Identifier: BSD-2-Clause */
/* random.c: splitmix64, seeded in the open. */
#include "random.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t random_seed(void)
{
    static uint64_t seed;
    static int known;
    if (known) return seed;
    const char *given = getenv("TAMIS_TEST_SEED");
    if (given != NULL && *given != '\0') {
        char *end;
        errno = 0;
        seed = strtoull(given, &end, 0);
        if (errno != 0 || *end != '\0') errx(1, "TAMIS_TEST_SEED=%s is not a number", given);
    } else {
        struct timespec now;
        (void)clock_gettime(CLOCK_REALTIME, &now);
        uint64_t mixed = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
        mixed ^= (uint64_t)getpid() << 32;
        seed = random_next(&mixed);
    }
    known = 1;
    (void)printf("seed %" PRIu64 "\n", seed);
    (void)fflush(stdout); /* before a fork, or a crash, can lose or double it */
    return seed;
}

uint64_t random_below(uint64_t *state, uint64_t range)
{
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)(((u128)random_next(state) * range) >> 64);
}

void random_fill(uint64_t *state, void *buffer, size_t bytes)
{
    unsigned char *out = buffer;
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)random_next(state);
}

size_t random_key(uint64_t number, char out[RANDOM_KEY_BYTES])
{
    return (size_t)snprintf(out, RANDOM_KEY_BYTES, "key-%016" PRIx64, number);
}
