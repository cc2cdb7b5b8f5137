/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes.h: what every file format of Tamis rests on: a little-endian host whose atomics on 64-bit
 * words need no lock (a lock would be private to a process), and a static check of struct layouts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Tamis files are little-endian and used in place: a big-endian host would misread them"
#endif
#if !defined(__SIZEOF_INT128__) || __SIZEOF_POINTER__ != 8
#error "Tamis needs a 64-bit host"
#endif

_Static_assert(__GCC_ATOMIC_LLONG_LOCK_FREE == 2, "atomics must work between processes");

/*
 * A struct that stands in files is described once, by a list with a row for each field:
 *
 *     FIELD(s, offset, type, name, array, "meaning")     array is empty, or [SIZE]
 *
 * TAMIS__FILE_STRUCT makes the struct of it, and a check that the compiler lays it out so.  The
 * tables of docs/format.md and docs/exchange.md are made of the same lists: after a change run
 * tests/docs/formats.py, as the test `formats_are_those_of_the_structs` says.
 */
#define TAMIS__FILE_STRUCT(tag, FIELDS, bytes)                                                     \
    struct tag {                                                                                   \
        FIELDS(TAMIS__MEMBER, )                                                                    \
    };                                                                                             \
    FIELDS(TAMIS__AT, struct tag)                                                                  \
    TAMIS__SIZE(struct tag, bytes)
#define TAMIS__MEMBER(s, offset, type, name, array, meaning) type name array;
#define TAMIS__AT(s, offset, type, name, array, meaning)                                           \
    _Static_assert(offsetof(s, name) == (offset), #name " is not where the format has it");
#define TAMIS__SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")

static inline uint16_t tamis__get16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t tamis__get32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t tamis__get64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Are all of these bytes 0? */
static inline bool tamis__is_zero(const unsigned char *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/* An IEEE 754 double is stored as its 64 bits. */
static inline double tamis__double_from_bits(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline uint64_t tamis__double_to_bits(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* Reverses the order of the bits within each byte of the word: it exchanges halves, then pairs,
 * then neighbours.  This leads from one bit order to the other, and back. */
static inline uint64_t tamis__reverse_bits(uint64_t w)
{
    w = (w >> 4 & 0x0F0F0F0F0F0F0F0Fu) | (w & 0x0F0F0F0F0F0F0F0Fu) << 4;
    w = (w >> 2 & 0x3333333333333333u) | (w & 0x3333333333333333u) << 2;
    return (w >> 1 & 0x5555555555555555u) | (w & 0x5555555555555555u) << 1;
}

/* Returns the upper 64 bits of the 128-bit product: an x uniform in [0, 2^64) becomes uniform
 * in [0, range). */
__extension__ typedef unsigned __int128 tamis__u128;
static inline uint64_t tamis__scale(uint64_t x, uint64_t range)
{
    return (uint64_t)(((tamis__u128)x * range) >> 64);
}
