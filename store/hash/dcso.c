/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dcso.c: the hash set dcso, that of the Bloom filters of DCSO (github.com/DCSO/bloom in Go, flor
 * in Python), in which lists of malicious domains and known files are handed round.
 *
 *     h(0) = FNV-1(key) mod M            FNV-1 of 64 bits: multiply, then XOR each byte
 *     h(i + 1) = (h(i) G mod 2^64) mod M
 *     position i = h(i + 1) mod m        i from 0
 *
 * M is the largest prime below 2^64, and G the multiplier that was chosen there.  The product
 * overflows, as it does in the Go program, so the sequence is no power of G modulo M.
 */
#include <math.h>

#include "hash/hash_set.h"

#define FNV_BASIS 0xCBF29CE484222325u
#define FNV_PRIME 0x100000001B3u
#define MODULUS 18446744073709551557u    /* M */
#define MULTIPLIER 18446744073709550147u /* G */

static uint64_t fnv_1(const uint8_t *key, size_t key_bytes)
{
    uint64_t hash = FNV_BASIS;
    for (size_t i = 0; i < key_bytes; i++)
        hash = hash * FNV_PRIME ^ key[i];
    return hash;
}

static void dcso_positions(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                           uint64_t *positions)
{
    uint64_t h = fnv_1(key, key_bytes) % MODULUS;
    for (uint32_t i = 0; i < hashing->k; i++) {
        h = h * MULTIPLIER % MODULUS;
        positions[i] = h % hashing->m_bits;
    }
}

/*
 * The product keeps what h is modulo the power of two that divides m, 2^j: all positions modulo 2^j
 * follow from the first.  A key that was never added begins as one of n keys there with chance
 * n / 2^j, or s steps before or behind it, and then finds the bits of that key, or of others.
 */
static double dcso_repeats(const struct tamis__hashing *hashing, struct tamis__load load)
{
    const double x = load.share, k = hashing->k;
    const double power = (double)(hashing->m_bits & -hashing->m_bits);
    const double near = x + (1 - x) * power / (double)hashing->m_bits;
    const double begins = -expm1(load.items * log1p(-1 / fmax(power, 2)));
    double chance = 0;
    if (power < 2 || !(x > 0)) return 0;
    for (double s = 0; s < k; s++)
        chance += (s > 0 ? 2 : 1) * (pow(near, k - s) * pow(x, s) - pow(x, k));
    return fmin(1, begins * chance);
}

/* Writes the FNV-1 of the key in hexadecimal. */
static size_t dcso_describe(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                            char *text, size_t text_bytes)
{
    (void)hashing;
    return (size_t)snprintf(text, text_bytes, "%016" PRIx64, fnv_1(key, key_bytes));
}

/* As Initialize() of the Go program does. */
static void dcso_shape(struct tamis_sizing *sizing)
{
    const double capacity = (double)sizing->capacity;
    if (sizing->m_bits == 0 && sizing->fp_rate != 0) {
        const double bits = fabs(ceil(capacity * log(sizing->fp_rate) / pow(log(2), 2)));
        sizing->m_bits = bits < 0x1p63 ? (uint64_t)bits : UINT64_MAX;
    }
    const double k = ceil(log(2) * (double)sizing->m_bits / capacity);
    sizing->k = k < TAMIS_K_MAX ? (uint32_t)k : TAMIS_K_MAX;
}

const struct tamis__hash_set tamis__hash_set_dcso = {
    .id = TAMIS__HASH_DCSO,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "dcso",
    .positions = dcso_positions,
    .repeats = dcso_repeats,
    .describe = dcso_describe,
    .shape = dcso_shape,
};
