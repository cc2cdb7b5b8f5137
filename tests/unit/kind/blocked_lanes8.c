/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_lanes8.c: the loops of AVX-512 with its own instructions in C, so that they run
 * everywhere. */
#include <stdint.h>

#define RUN blocked_run_lanes8
#define RUN_TOGETHER blocked_together_lanes8
#define LANES 8u
#define DEPTH 64u
#define STEP 32u
#define LANES_OF(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)

#define LANES_MUL64
#define LANES_ROTATE(x, by) ((x) << ((by)&63) | (x) >> (-(by)&63))

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (a & UINT32_MAX) * (b & UINT32_MAX);
}

#include "blocked_lanes8.h"

#include "kind/blocked_run.h"
