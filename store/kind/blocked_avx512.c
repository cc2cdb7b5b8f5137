/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_avx512.c: the loops of blocked_run.h with vectors of 8; compiled for AVX-512 F, DQ and
 * VL, and BMI2. */
#include <immintrin.h>
#include <stdint.h>

#define RUN tamis__blocked_run_avx512
#define RUN_TOGETHER tamis__blocked_together_avx512
#define LANES 8u
/* A Zen 5 asks out of cache in 6.7 ns so, where 32 and 16 take 8.5. */
#define DEPTH 64u
#define STEP 32u
#define LANES_OF(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)

#define LANES_MUL64 /* one instruction multiplies 64 bits */
#define LANES_ROTATE(x, by) ((lanes)_mm512_rolv_epi64((__m512i)(x), (__m512i)(by)))

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

#include "kind/blocked_run.h"
