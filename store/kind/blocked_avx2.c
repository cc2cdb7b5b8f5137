/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_avx2.c: the loops of blocked_run.h with vectors of 4; compiled for AVX2 and BMI2. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "tamis.h"

#define RUN tamis__blocked_run_avx2
#define LANES 4u

typedef uint64_t lanes __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

static inline __attribute__((always_inline)) uint64_t key8(const struct tamis_key *key)
{
    uint64_t value;
    memcpy(&value, key->data, sizeof value);
    return value;
}

static inline __attribute__((always_inline)) lanes lanes_load(const struct tamis_key *keys)
{
    return (lanes){key8(keys), key8(keys + 1), key8(keys + 2), key8(keys + 3)};
}

#include "kind/blocked_run.h"
