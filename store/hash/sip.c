/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sip.c: the hash set sip, for keys that an enemy chooses; docs/security.md says when to
 * use it.  It is SipHash-2-4 with 128 bits (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012).
 *
 * The SipHash key, 16 random bytes that each filter has of its own, stands first in the parameters;
 * the other parameters are 0.  Positions follow from the digest as those of xxh3 do (xxh3.h), so
 * the set goes with every kind.
 *
 * The function comes from libsodium.  A library that is built without libsodium knows the set and
 * refuses to use it.
 */
#include <assert.h>

#include "hash/digester.h"
#include "hash/xxh3.h"

#if TAMIS_WITH_SIP
#include <sodium.h>

static_assert(crypto_shorthash_siphashx24_KEYBYTES == TAMIS_SECRET_BYTES, "a key fits");

/* sodium_init() is not called: it picks implementations and opens the random device, but this
 * function has only one implementation, plain C without state. */
struct tamis__digest tamis__digest_sip(const void *key, size_t key_bytes,
                                       const uint8_t secret[TAMIS_SECRET_BYTES])
{
    unsigned char out[crypto_shorthash_siphashx24_BYTES];
    TAMIS__POINT_HASHED(1);
    (void)crypto_shorthash_siphashx24(out, key, key_bytes, secret);
    return (struct tamis__digest){.high = tamis__get64(out), .low = tamis__get64(out + 8)};
}

static struct tamis__digest digest_of(const struct tamis__hashing *hashing, const void *key,
                                      size_t key_bytes)
{
    return tamis__digest_sip(key, key_bytes, hashing->parameters);
}

#else

struct tamis__digest tamis__digest_sip(const void *key, size_t key_bytes,
                                       const uint8_t secret[TAMIS_SECRET_BYTES])
{
    (void)key, (void)key_bytes, (void)secret;
    assert(!"where the set is missing no segment of it is opened, and none is made");
    return (struct tamis__digest){0, 0};
}

#endif

const struct tamis__hash_set tamis__hash_set_sip = {
    .id = TAMIS__HASH_SIP,
    .bit_order = TAMIS__BITS_LSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "sip",
    .any_kind = true,
    .keyed = true,
#if TAMIS_WITH_SIP
    .positions = tamis__walk_positions,
    .digest = digest_of,
    .repeats = tamis__walk_repeats,
    .describe = tamis__walk_describe,
#else
    .missing = "needs libsodium, which this build is without; install the package libsodium-dev "
               "and build Tamis with TAMIS_WITH_SIP=ON",
#endif
};
