/* SPDX-License-Identifier: BSD-2-Clause */
/* explain.c: shows what a key is hashed to, and where its bits are. */
#include <math.h>

#include "handle/follow.h"
#include "hash/hash_set.h"
#include "key/form.h"

/* No system uses more hashes.  The limit keeps a typing error from running for hours. */
#define EXPLAIN_K_MAX ((uint32_t)1 << 20)

static int check_room(uint32_t k, const void *key, size_t key_bytes,
                      struct tamis_explanation *explanation)
{
    explanation->positions_count = k;
    if (key == NULL && key_bytes > 0)
        return tamis__fail(TAMIS_EINVAL, "the key is NULL with a length above 0; pass its bytes");
    if (explanation->hashes == NULL && explanation->hashes_bytes > 0)
        return tamis__fail_null("tamis_explain", "explanation->hashes");
    if (explanation->positions == NULL && explanation->positions_max > 0)
        return tamis__fail_null("tamis_explain", "explanation->positions");
    if (explanation->positions_max < k)
        return tamis__fail(TAMIS_EINVAL, "%u %s not fit in room for %zu", k,
                           k == 1 ? "position does" : "positions do", explanation->positions_max);
    return 0;
}

static int check_text(const struct tamis_explanation *explanation, size_t wanted)
{
    if (wanted < explanation->hashes_bytes) return 0;
    return tamis__fail(TAMIS_EINVAL, "the hash values need %zu byte%s of text, not %zu", wanted + 1,
                       tamis__plural(wanted + 1), explanation->hashes_bytes);
}

/* Describes the key by its hash set.  The caller adds the positions. */
static int describe_key(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                        struct tamis_explanation *explanation)
{
    const int rc = check_room(hashing->k, key, key_bytes, explanation);
    if (rc < 0) return rc;
    return check_text(explanation,
                      hashing->set->describe(hashing, key, key_bytes, explanation->hashes,
                                             explanation->hashes_bytes));
}

static int explain(const struct tamis__mapped_segment *s, const void *key, size_t key_bytes,
                   struct tamis_explanation *explanation)
{
    const struct tamis__segment_header *h = s->segment.header;
    if (s->kind->explain != NULL) {
        const int rc = check_room(h->k, key, key_bytes, explanation);
        if (rc < 0) return rc;
        return check_text(explanation,
                          s->kind->explain(&s->segment, key, key_bytes, explanation->positions,
                                           explanation->hashes, explanation->hashes_bytes));
    }
    const struct tamis__hashing hashing = tamis__header_hashing(h);
    const int rc = describe_key(&hashing, key, key_bytes, explanation);
    if (rc == 0) s->kind->positions(h, key, key_bytes, explanation->positions);
    return rc;
}

TAMIS_API int tamis_filter_explain(tamis_filter *filter, uint32_t index, const void *key,
                                   size_t key_bytes, struct tamis_explanation *explanation)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis_explanation own;
    struct tamis__view *view;
    int rc = tamis__take_struct(explanation, &own, sizeof own, "struct tamis_explanation");
    if (rc == 0) rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    const struct tamis__mapped_segment *s = &view->segments[index];
    struct tamis__form_room room;
    struct tamis_key form = {.data = key, .bytes = key_bytes};
    tamis__form_room_init(&room);
    if (filter->rule != NULL && (key != NULL || key_bytes == 0))
        rc = tamis__form_key(filter->rule, key, key_bytes, &room, &form);
    if (rc == 0) rc = explain(s, form.data, form.bytes, &own);
    tamis__form_room_clear(&room);
    tamis__give_struct(&own, sizeof own, explanation);
    return (int)tamis__leave_with(filter, view, rc);
}

static int explain_set(const char *hash_set, uint64_t m_bits, uint32_t k, uint64_t seed,
                       const struct tamis_key *key, struct tamis_explanation *explanation)
{
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    struct tamis__hashing hashing = {
        .parameters = parameters, .seed = seed, .m_bits = m_bits, .k = k};
    int rc = tamis__hash_set_parse(hash_set ? hash_set : "xxh3", &hashing.set, parameters);
    if (rc < 0) return rc;
    if (hashing.set->keyed)
        return tamis__fail(TAMIS_EINVAL,
                           "hash set %s has a secret key in each filter; ask a filter of that set",
                           hashing.set->name);
    if (m_bits == 0)
        return tamis__fail(TAMIS_EINVAL, "m of 0 bits is out of range; give 1 to 2^64-1");
    rc = tamis__hashing_check(&hashing);
    if (rc < 0) return rc;
    if (hashing.k == 0 || hashing.k > EXPLAIN_K_MAX)
        return tamis__fail(TAMIS_EINVAL, "k of %u hashes is out of range; give 1 to %u", hashing.k,
                           EXPLAIN_K_MAX);
    rc = describe_key(&hashing, key->data, key->bytes, explanation);
    if (rc == 0) hashing.set->positions(&hashing, key->data, key->bytes, explanation->positions);
    return rc;
}

TAMIS_API int tamis_explain(const char *hash_set, uint64_t m_bits, uint32_t k, uint64_t seed,
                            const void *key, size_t key_bytes,
                            struct tamis_explanation *explanation)
{
    struct tamis_explanation own;
    int rc = tamis__take_struct(explanation, &own, sizeof own, "struct tamis_explanation");
    if (rc < 0) return rc;
    rc = explain_set(hash_set, m_bits, k, seed, &(struct tamis_key){key, key_bytes}, &own);
    tamis__give_struct(&own, sizeof own, explanation);
    return rc;
}
