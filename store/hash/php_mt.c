/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * php_mt.c: the hash sets php-mt and php-mt-legacy, which take positions from
 * PHP's random generator.
 *
 *     mt_srand(crc32($key));  k times: mt_rand(0, $m - 1)
 *
 * The generator is MT19937 (Matsumoto and Nishimura 1998).  PHP 7.1 and later implements it
 * correctly and maps its output to a range by rejection (php-mt).  PHP 5.2.1 to 7.0, and
 * MT_RAND_PHP of today, mixes the low bit of the wrong word into the state and scales through a
 * double (php-mt-legacy).  For m past 2^32, php-mt joins two outputs, of which the first is the low
 * half, as PHP 8.2 and later does.
 */
#include <math.h>

#include "hash/hash_set.h"

/* CRC-32/ISO-HDLC, the one of Ethernet and zip, reflected 0xEDB88320; each step takes
 * half a byte. */
static uint32_t crc32(const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* ---- MT19937 --------------------------------------------------------------------------------- */

#define WORDS 624u
#define MIDDLE 397u

struct generator {
    uint32_t state[WORDS];
    uint32_t next; /* the word that the next output comes from */
    bool legacy;
};

static void seed(struct generator *g, uint32_t number, bool legacy)
{
    g->state[0] = number;
    for (uint32_t i = 1; i < WORDS; i++)
        g->state[i] = 1812433253 * (g->state[i - 1] ^ g->state[i - 1] >> 30) + i;
    g->next = 0;
    g->legacy = legacy;
}

/* Each word of the state is renewed when its turn comes, not all 624 at once.  The new value of a
 * word needs no later new value, so the outputs are the same, and a key asks for few of them. */
static uint32_t output(struct generator *g)
{
    uint32_t *word = &g->state[g->next];
    const uint32_t u = *word, v = g->state[(g->next + 1) % WORDS];
    const uint32_t low_bit = (g->legacy ? u : v) & 1; /* v's in the paper */
    *word = g->state[(g->next + MIDDLE) % WORDS] ^ ((u & 0x80000000) | (v & 0x7FFFFFFF)) >> 1 ^
            ((0 - low_bit) & 0x9908B0DF);
    g->next = (g->next + 1) % WORDS;
    uint32_t y = *word; /* tempering */
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680;
    y ^= y << 15 & 0xEFC60000;
    return y ^ y >> 18;
}

static uint64_t output64(struct generator *g)
{
    const uint64_t low = output(g);
    return low | (uint64_t)output(g) << 32;
}

/* Returns a number uniform in [0, m), 1 <= m <= 2^63, as php_mt_rand_range() does: outputs past the
 * last multiple of m are thrown away.  If m is a power of two, the low bits are taken and nothing
 * is thrown away; this holds for m = 1 too, which uses up an output.  (PHP gives up after 50
 * throws.  No key needs so many: the chance is below 2^-50.) */
static uint64_t range(struct generator *g, uint64_t m)
{
    const bool wide = m - 1 > UINT32_MAX;
    const uint64_t most = wide ? UINT64_MAX : UINT32_MAX;
    uint64_t number = wide ? output64(g) : output(g);
    if ((m & (m - 1)) == 0) return number & (m - 1);
    while (number > most - most % m - 1)
        number = wide ? output64(g) : output(g);
    return number % m;
}

/* RAND_RANGE_BADSCALING of PHP.  The result is below m, as 31 bits over 2^31 are below 1 by
 * more than rounding. */
static uint64_t legacy_range(struct generator *g, uint64_t m)
{
    const uint32_t number = output(g) >> 1;
    return (uint64_t)(((double)(m - 1) + 1.0) * (number / 2147483648.0));
}

/* ---- The sets -------------------------------------------------------------------------------- */

static void php_mt_positions(const struct tamis__hashing *hashing, const void *key,
                             size_t key_bytes, uint64_t *places)
{
    struct generator g;
    const bool legacy = hashing->set->id == TAMIS__HASH_PHP_MT_LEGACY;
    seed(&g, crc32(key, key_bytes), legacy);
    for (uint32_t i = 0; i < hashing->k; i++)
        places[i] = legacy ? legacy_range(&g, hashing->m_bits) : range(&g, hashing->m_bits);
}

/* A key has the 32 bits of one of the others, or finds the bits that positions can reach set:
 * php-mt-legacy reaches 2^31. */
static double php_mt_repeats(const struct tamis__hashing *hashing, struct tamis__load load)
{
    const bool legacy = hashing->set->id == TAMIS__HASH_PHP_MT_LEGACY;
    const double m = (double)hashing->m_bits, k = hashing->k;
    const double reached = fmin(1, load.share * (legacy ? fmax(1, m / 0x1p31) : 1));
    return pow(reached, k) - pow(load.share, k) + load.items / 0x1p32;
}

/* Writes the CRC in decimal: the positions depend on nothing else of the key. */
static size_t php_mt_describe(const struct tamis__hashing *hashing, const void *key,
                              size_t key_bytes, char *text, size_t text_bytes)
{
    (void)hashing;
    return (size_t)snprintf(text, text_bytes, "%" PRIu32, crc32(key, key_bytes));
}

static const char *php_mt_weakness(const uint8_t *parameters)
{
    (void)parameters;
    return "all positions of a key follow from its 32-bit CRC, so with n keys in the filter the "
           "false-positive rate is never below n / 2^32; see docs/migrating.md";
}

/* $k = ceil(($m / $n) * log(2)); PHP divides to an int where nothing is left over. */
static void php_mt_shape(struct tamis_sizing *sizing)
{
    const uint64_t m = sizing->m_bits, n = sizing->capacity;
    if (m == 0) return;
    const uint64_t whole = m / n;
    const double share = m % n == 0 ? (double)whole : (double)m / (double)n;
    const double k = ceil(share * 0.6931471805599453); /* log(2) */
    sizing->k = k < UINT32_MAX ? (uint32_t)k : UINT32_MAX;
}

const struct tamis__hash_set tamis__hash_set_php_mt = {
    .id = TAMIS__HASH_PHP_MT,
    .bit_order = TAMIS__BITS_MSB_FIRST,
    .m_bits_max = INT64_MAX,
    .name = "php-mt",
    .positions = php_mt_positions,
    .repeats = php_mt_repeats,
    .describe = php_mt_describe,
    .weakness = php_mt_weakness,
    .shape = php_mt_shape,
};

const struct tamis__hash_set tamis__hash_set_php_mt_legacy = {
    .id = TAMIS__HASH_PHP_MT_LEGACY,
    .bit_order = TAMIS__BITS_MSB_FIRST,
    .m_bits_max = INT64_MAX,
    .name = "php-mt-legacy",
    .positions = php_mt_positions,
    .repeats = php_mt_repeats,
    .describe = php_mt_describe,
    .weakness = php_mt_weakness,
    .shape = php_mt_shape,
};
