/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digester.h: the digest of a key by the rule of its filter: XXH3 with a seed (digest.h), or
 * SipHash with a secret key (sip.c).
 */
#ifndef TAMIS_HASH_DIGESTER_H
#define TAMIS_HASH_DIGESTER_H

#include "hash/digest.h"
#include "tamis.h"

/* SipHash (sip.c). */
struct tamis__digest tamis__digest_sip(const void *key, size_t key_bytes,
                                       const uint8_t secret[TAMIS_SECRET_BYTES]);

/* The rule by which the keys of a filter become digests. */
struct tamis__digester {
    uint64_t seed;         /* the seed of XXH3 */
    const uint8_t *secret; /* if not NULL, SipHash is used, with this key */
};

static inline struct tamis__digest tamis__digest_by(const struct tamis__digester *by,
                                                    const void *key, size_t key_bytes)
{
    /* The branch goes the same way for all keys of a loop, so it costs XXH3 nothing that
     * can be measured. */
    if (__builtin_expect(by->secret != NULL, 0))
        return tamis__digest_sip(key, key_bytes, by->secret);
    return tamis__digest(key, key_bytes, by->seed);
}

#endif
