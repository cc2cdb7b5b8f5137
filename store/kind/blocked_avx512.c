/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_avx512.c: the loops of blocked_run.h with vectors of 8; compiled for AVX-512 F, DQ and VL, and BMI2. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "tamis.h"

#define RUN tamis__blocked_run_avx512
#define LANES 8u

typedef uint64_t lanes __attribute__((vector_size(64)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

static inline __attribute__((always_inline)) uint64_t key8(const struct tamis_key *key)
{
    uint64_t value;
    memcpy(&value, key->data, sizeof value);
    return value;
}

static inline __attribute__((always_inline)) lanes lanes_load(const struct tamis_key *keys)
{
    return (lanes){key8(keys),     key8(keys + 1), key8(keys + 2), key8(keys + 3),
                   key8(keys + 4), key8(keys + 5), key8(keys + 6), key8(keys + 7)};
}

#include "kind/blocked_run.h"
