/* SPDX-License-Identifier: BSD-2-Clause */
/* lanes_avx2.h: vectors of 4 (lanes.h), for files that are compiled for AVX2 and BMI2. */
#include <immintrin.h>
#include <stdint.h>

#define LANES 4u
#define LANES_OF(F) F(0), F(1), F(2), F(3)

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

/* Reads 32 cells of 4 bits, and returns which are 0; *full gets which are 14 or 15.  The processor
 * reads aligned 16 bytes at once (Intel SDM 3A 9.1.1, AMD64 APM 2 7.3.2).  It is written in
 * assembly as C has no atomic read of a vector; others change the cells meanwhile. */
static inline __attribute__((always_inline)) uint64_t see_32(const uint64_t *words, uint64_t *full)
{
    __m128i packed;
    __asm__ volatile("vmovdqa %1, %0" : "=x"(packed) : "m"(*(const __m128i *)(const void *)words));
    const __m256i wide = _mm256_cvtepu8_epi16(packed);
    const __m256i cells =
        _mm256_and_si256(_mm256_or_si256(wide, _mm256_slli_epi16(wide, 4)), _mm256_set1_epi8(15));
    *full = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(cells, _mm256_set1_epi8(13)));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(cells, _mm256_setzero_si256()));
}

/* The same for 64 cells. */
static inline __attribute__((always_inline)) uint64_t see_nibbles(const uint64_t *words,
                                                                  uint64_t *full)
{
    uint64_t full_low, full_high;
    const uint64_t zero = see_32(words, &full_low) | see_32(words + 2, &full_high) << 32;
    *full = full_low | full_high << 32;
    return zero;
}
