/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tags.c: ids of filters that a server has drawn: 128 bits, under which it finds a filter whatever
 * that is called (tamis_labels.h).  A filter has at most one, and no two filters have the same.
 *
 *     o <id>                  the number of the filter, u64
 *     n <number, big-endian>  its id
 *     x                       what servers know the store by, u64; missing: store_id
 */
#include "catalog/lmdb.h"

/* Reads a value of so many bytes.  Returns 1, or 0 if there is none. */
static int get_bytes(struct tamis__catalog_txn *txn, const struct tamis__key *key, void *to,
                     size_t bytes)
{
    const void *value;
    size_t count;
    const int rc = tamis__txn_get_summed(txn, key, "record of an id", &value, &count);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    if (count != bytes)
        return tamis__fail_record(txn, TAMIS_ECORRUPT, "record of an id", "",
                                  "has an impossible length");
    memcpy(to, value, bytes);
    return 1;
}

int tamis__catalog_get_tag(struct tamis__catalog_txn *txn, uint64_t filter_id,
                           uint8_t tag[TAMIS_ID_BYTES])
{
    const struct tamis__key key = tamis__number_key('n', filter_id);
    return get_bytes(txn, &key, tag, TAMIS_ID_BYTES);
}

int tamis__catalog_find_tag(struct tamis__catalog_txn *txn, const uint8_t tag[TAMIS_ID_BYTES],
                            uint64_t *filter_id)
{
    const struct tamis__key key = tamis__tag_key(tag);
    return get_bytes(txn, &key, filter_id, sizeof *filter_id);
}

int tamis__catalog_put_tag(struct tamis__catalog_txn *txn, uint64_t filter_id,
                           const uint8_t tag[TAMIS_ID_BYTES])
{
    const struct tamis__key by_tag = tamis__tag_key(tag), by_id = tamis__number_key('n', filter_id);
    int rc = tamis__catalog_forget_tag(txn, filter_id);
    if (rc == 0) rc = tamis__txn_put_summed(txn, &by_tag, &filter_id, sizeof filter_id);
    if (rc == 0) rc = tamis__txn_put_summed(txn, &by_id, tag, TAMIS_ID_BYTES);
    /* A library that does not know ids would drop a filter and leave its id behind. */
    if (rc == 0) tamis__catalog_raise_format(txn, TAMIS__STORE_FORMAT_IDS);
    return rc;
}

int tamis__catalog_forget_tag(struct tamis__catalog_txn *txn, uint64_t filter_id)
{
    const struct tamis__key by_id = tamis__number_key('n', filter_id);
    uint8_t tag[TAMIS_ID_BYTES] = {0};
    int rc = tamis__catalog_get_tag(txn, filter_id, tag);
    if (rc <= 0) return rc;
    const struct tamis__key by_tag = tamis__tag_key(tag);
    rc = tamis__txn_delete(txn, &by_tag);
    return rc < 0 && rc != TAMIS_ENOTFOUND ? rc : tamis__txn_delete(txn, &by_id);
}

static const struct tamis__key known_as_key = {{'x'}, 1};

int tamis__catalog_get_known_as(struct tamis__catalog_txn *txn, uint64_t *known_as)
{
    *known_as = tamis__catalog_store(txn)->store_id;
    const int rc = get_bytes(txn, &known_as_key, known_as, sizeof *known_as);
    return rc < 0 ? rc : 0;
}

int tamis__catalog_put_known_as(struct tamis__catalog_txn *txn, uint64_t known_as)
{
    return known_as == tamis__catalog_store(txn)->store_id
               ? 0
               : tamis__txn_put_summed(txn, &known_as_key, &known_as, sizeof known_as);
}

int tamis__catalog_copy_tag(struct tamis__catalog_txn *from, struct tamis__catalog_txn *to,
                            uint64_t filter_id)
{
    uint8_t tag[TAMIS_ID_BYTES] = {0};
    const int rc = tamis__catalog_get_tag(from, filter_id, tag);
    return rc <= 0 ? rc : tamis__catalog_put_tag(to, filter_id, tag);
}
