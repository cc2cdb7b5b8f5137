/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_avx2.c: the loops of blocked_run.h with vectors of 4; compiled for AVX2 and BMI2. */
#include <immintrin.h>
#include <stdint.h>

#define RUN tamis__blocked_run_avx2
#define RUN_TOGETHER tamis__blocked_together_avx2
#define LANES 4u
#define DEPTH 32u
#define STEP 16u /* measured against 4, 8 and 32 on a Zen 3 */
#define LANES_OF(F) F(0), F(1), F(2), F(3)

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

#include "kind/blocked_run.h"
