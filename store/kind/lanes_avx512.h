/* SPDX-License-Identifier: BSD-2-Clause */
/* lanes_avx512.h: vectors of 8 (lanes.h), for files that are compiled for AVX-512 F, BW, DQ and VL,
 * and BMI2. */
#include <immintrin.h>
#include <stdint.h>

#define LANES 8u
#define LANES_OF(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#define LANES_MUL64 /* one instruction multiplies 64 bits */
#define LANES_ROTATE(x, by) ((lanes)_mm512_rolv_epi64((__m512i)(x), (__m512i)(by)))

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static inline __attribute__((always_inline)) lanes lanes_mul32(lanes a, lanes b)
{
    return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

/* As in lanes_avx2.h, with all 64 cells in one vector. */
static inline __attribute__((always_inline)) uint64_t see_nibbles(const uint64_t *words,
                                                                  uint64_t *full)
{
    const __m128i *halves = (const __m128i *)(const void *)words;
    __m128i low, high;
    __asm__ volatile("vmovdqa %1, %0" : "=x"(low) : "m"(halves[0]));
    __asm__ volatile("vmovdqa %1, %0" : "=x"(high) : "m"(halves[1]));
    const __m512i wide = _mm512_cvtepu8_epi16(_mm256_set_m128i(high, low));
    const __m512i cells =
        _mm512_and_si512(_mm512_or_si512(wide, _mm512_slli_epi16(wide, 4)), _mm512_set1_epi8(15));
    *full = _mm512_cmpgt_epi8_mask(cells, _mm512_set1_epi8(13));
    return _mm512_testn_epi8_mask(cells, cells);
}

/* A block is one vector, so all words of a key are looked at in one (blocked_together.h). */
#define LANES_BLOCK

/* `others`, with `mask` in each lane whose bit in `which` is set. */
static inline __attribute__((always_inline)) lanes lanes_with(lanes others, uint64_t which,
                                                              uint64_t mask)
{
    return (lanes)_mm512_mask_set1_epi64((__m512i)others, (__mmask8)which, (long long)mask);
}

/* Which words of the block at this address lack some of the bits?  0: none.  Others may set bits
 * meanwhile.  A bit says only "this key may be here", so each may be seen or not; the instruction
 * is written out so that the compiler reads the block once. */
static inline __attribute__((always_inline)) uint8_t lanes_lacking(uint64_t block, lanes bits)
{
    __m512i words;
    __asm__ volatile("vmovdqu64 %1, %0" : "=v"(words) : "m"(*(const __m512i *)block));
    return _mm512_cmpneq_epi64_mask(_mm512_and_si512(words, (__m512i)bits), (__m512i)bits);
}
