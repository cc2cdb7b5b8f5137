/* SPDX-License-Identifier: BSD-2-Clause */
/* lanes8.h: vectors of 8, with what AVX-512 has written in C, so that its loops run everywhere. */
#ifndef TAMIS_UNIT_LANES8_H
#define TAMIS_UNIT_LANES8_H

#include <stdint.h>

#define LANES 8u
#define LANES_OF(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#define LANES_MUL64
#define LANES_ROTATE(x, by) ((x) << ((by)&63) | (x) >> (-(by)&63))

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (a & UINT32_MAX) * (b & UINT32_MAX);
}

static inline uint64_t see_nibbles(const uint64_t *words, uint64_t *full)
{
    uint64_t zero = 0;
    *full = 0;
    for (unsigned i = 0; i < 64; i++) {
        const uint64_t word = __atomic_load_n(&words[i / 16], __ATOMIC_ACQUIRE);
        const uint64_t cell = word >> i % 16 * 4 & 15;
        zero |= (uint64_t)(cell == 0) << i;
        *full |= (uint64_t)(cell >= 14) << i;
    }
    return zero;
}

#endif
