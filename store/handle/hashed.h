/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hashed.h: keys on their way through a call, with their digests.  A call makes the digests at the
 * first segment that it asks.  It hands them on to further segments, to chores and to the log of a
 * durable filter.  So a key is hashed once, whatever is done with it.
 *
 * A digest is good for every segment that hashes by the same rule.  All segments of one publication
 * do so.  If another publication with another seed comes into force in the middle of a call, the
 * keys are hashed again.
 */
#pragma once

#include "handle/view.h"
#include "hash/digester.h"

/* The rule by which digests were made.  It is a copy, as the segment with the secret may be
 * unmapped by now. */
struct tamis__rule {
    bool is_made;  /* false: there are no digests yet */
    bool is_keyed; /* with the secret, so that by.secret is no longer used */
    struct tamis__digester by;
    uint8_t secret[TAMIS_SECRET_BYTES];
};

/* A key, and its digest, which is made when a segment first needs it. */
struct tamis__hashed_key {
    const void *key;
    size_t bytes;
    struct tamis__digest digest;
    struct tamis__rule rule;
};

/* Several keys.  `digests` has room for as many, unless the keys only go to a kind, which hashes
 * them itself. */
struct tamis__hashed_keys {
    const struct tamis_key *keys;
    struct tamis__digest *digests;
    size_t count;
    struct tamis__rule rule;
};

static inline void tamis__rule_set(struct tamis__rule *rule, const struct tamis__digester *by)
{
    rule->is_made = true;
    rule->is_keyed = by->other != NULL && by->secret != NULL;
    rule->by = *by;
    if (rule->is_keyed) memcpy(rule->secret, by->secret, sizeof rule->secret);
}

/* Are there digests, and would `by` make the same? */
static inline bool tamis__rule_is(const struct tamis__rule *rule, const struct tamis__digester *by)
{
    if (!rule->is_made || rule->by.other != by->other) return false;
    if (rule->is_keyed) return memcmp(rule->secret, by->secret, sizeof rule->secret) == 0;
    return by->other != NULL || rule->by.seed == by->seed;
}

/* Do the keys have the digests that the segments of the view know them by? */
static inline bool tamis__is_hashed(const struct tamis__hashed_keys *keys,
                                    const struct tamis__view *view)
{
    return view->digested && tamis__rule_is(&keys->rule, &view->by);
}

/* Makes the digest that the segments of the view know the key by, if they have digests. */
static inline void tamis__hash_key(const struct tamis__view *view, struct tamis__hashed_key *key)
{
    if (!view->digested || tamis__rule_is(&key->rule, &view->by)) return;
    key->digest = tamis__digest_by(&view->by, key->key, key->bytes);
    tamis__rule_set(&key->rule, &view->by);
}
