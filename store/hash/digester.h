/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digester.h: the digest of a key by the rule of its filter: XXH3 with a seed (digest.h), SipHash
 * with a secret key (sip.c), or the pair of a hash set that has one (hash_set.h).
 */
#pragma once

#include "base/base.h"
#include "hash/digest.h"

/* SipHash (sip.c). */
struct tamis__digest tamis__digest_sip(const void *key, size_t key_bytes,
                                       const uint8_t secret[TAMIS_SECRET_BYTES]);

/* The rule by which the keys of a filter become digests. */
struct tamis__digester {
    /* NULL: XXH3 is used, with the seed.  Otherwise this function is, with the secret key, which is
     * NULL for all but SipHash. */
    struct tamis__digest (*other)(const void *key, size_t key_bytes, const uint8_t *secret);
    union { /* so that the whole is returned in two registers */
        uint64_t seed;
        const uint8_t *secret;
    };
};

static inline struct tamis__digest tamis__digest_by(const struct tamis__digester *by,
                                                    const void *key, size_t key_bytes)
{
    /* The branch goes the same way for all keys of a loop, so it costs XXH3 nothing that
     * can be measured. */
    if (__builtin_expect(by->other != NULL, 0)) return by->other(key, key_bytes, by->secret);
    return tamis__digest(key, key_bytes, by->seed);
}
