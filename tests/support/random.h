/* SPDX-License-Identifier: BSD-2-Clause */
/* random.h: random numbers that a failed test can be run again with. */
#ifndef TAMIS_SUPPORT_RANDOM_H
#define TAMIS_SUPPORT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * $TAMIS_TEST_SEED, else one from the clock; the first call of a process tree prints "seed N" to
 * standard output and fixes it for all that are forked later.
 */
uint64_t random_seed(void);

/* splitmix64 (Steele, Lea, Flood 2014): the next of 2^64 numbers; any state is a good one. */
uint64_t random_next(uint64_t *state);

/* Uniform in [0, range); range is 1 or more. */
uint64_t random_below(uint64_t *state, uint64_t range);

/* `bytes` random bytes. */
void random_fill(uint64_t *state, void *buffer, size_t bytes);

/* The text "key-<number in 16 hexadecimal digits>": 20 bytes and a NUL; returns 20. */
#define RANDOM_KEY_BYTES 32
size_t random_key(uint64_t number, char out[RANDOM_KEY_BYTES]);

#endif
