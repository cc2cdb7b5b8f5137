/* SPDX-License-Identifier: BSD-2-Clause */
/* except.c: the exceptions of a filter, changed and listed by name. */
#include <stdlib.h>

#include "base/error.h"
#include "change.h"

struct loading {
    struct tamis__catalog_txn *txn;
    struct tamis__exceptions *set;
};

static int load_chunk(void *context, const void *bytes, size_t count)
{
    struct loading *loading = context;
    const char *reason = "";
    const int rc = tamis__exceptions_decode(loading->set, bytes, count, &reason);
    return rc == TAMIS_ECORRUPT ? tamis__catalog_fail_exceptions(loading->txn, reason) : rc;
}

int tamis__exceptions_load(struct tamis__catalog_txn *txn, uint64_t filter_id, uint64_t generation,
                           struct tamis__exceptions *set)
{
    struct loading loading = {txn, set};
    return tamis__catalog_each_exceptions(txn, filter_id, generation, load_chunk, &loading);
}

int tamis__exceptions_save(struct tamis__catalog_txn *txn, uint64_t filter_id, uint64_t generation,
                           const struct tamis__exceptions *set)
{
    uint8_t *chunk = malloc(TAMIS__CHUNK_BYTES_MAX);
    if (chunk == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the exceptions");
    int rc = tamis__catalog_forget_exceptions(txn, filter_id, generation);
    size_t next = 0;
    for (uint32_t i = 0; rc == 0 && next < set->count; i++) {
        const size_t bytes = tamis__exceptions_encode(set, &next, chunk);
        rc = tamis__catalog_put_exceptions(txn, filter_id, generation, i, chunk, bytes);
    }
    free(chunk);
    return rc;
}

int tamis__exceptions_move(struct tamis__catalog_txn *txn, uint64_t filter_id, uint64_t from,
                           uint64_t to)
{
    struct tamis__exceptions found = {0};
    int rc = tamis__exceptions_load(txn, filter_id, from, &found);
    if (rc == 0 && found.count > 0) rc = tamis__exceptions_save(txn, filter_id, to, &found);
    if (rc == 0 && found.count > 0) rc = tamis__catalog_forget_exceptions(txn, filter_id, from);
    tamis__exceptions_clear(&found);
    return rc;
}

int tamis__exceptions_load_all(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                               struct tamis__exceptions *all)
{
    struct tamis__exceptions found = {0};
    int rc = tamis__exceptions_load(txn, record->filter_id, 0, all);
    if (rc == 0) rc = tamis__exceptions_load(txn, record->filter_id, record->generation, &found);
    if (rc == 0) rc = tamis__exceptions_add_set(all, &found);
    if (rc == 0) rc = tamis__exceptions_settle(all);
    tamis__exceptions_clear(&found);
    return rc;
}

/* ---- Exceptions by hand ---------------------------------------------------------------------- */

/* What is done to the set: the number of keys that it is about, or an error. */
struct edit {
    const struct tamis_key *keys;
    size_t count;
    bool take_off;
    uint8_t *answers;
};

static int64_t take_off(struct tamis__change *change, const struct edit *edit)
{
    uint8_t *by_hand = calloc(2, edit->count + 1);
    int64_t count = 0;
    if (by_hand == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the exceptions");
    uint8_t *found = by_hand + edit->count;
    change->set_found = true;
    (void)tamis__exceptions_remove(&change->by_hand, edit->keys, edit->count, by_hand);
    (void)tamis__exceptions_remove(&change->found, edit->keys, edit->count, found);
    for (size_t i = 0; i < edit->count; i++) {
        const uint8_t was = by_hand[i] | found[i];
        if (edit->answers != NULL) edit->answers[i] = was;
        count += was;
    }
    free(by_hand);
    return count;
}

static int64_t put_on(struct tamis__change *change, const struct edit *edit)
{
    const size_t before = change->by_hand.count;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < edit->count; i++)
        rc = tamis__exceptions_add(&change->by_hand, edit->keys[i].data, edit->keys[i].bytes, 0);
    if (rc == 0) rc = tamis__exceptions_settle(&change->by_hand);
    return rc < 0 ? rc : (int64_t)(change->by_hand.count - before);
}

static int edit_once(struct tamis_store *store, const char *name, const struct edit *edit,
                     int64_t *changed)
{
    struct tamis__change change = {.store = store, .set_by_hand = true};
    struct tamis__catalog_txn *txn;
    int rc = tamis__change_load(&change, name);
    if (rc == 0 && change.is_new) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc == 0) {
        rc = tamis__exceptions_load(txn, change.before.filter_id, change.before.generation,
                                    &change.found);
        tamis__catalog_end(txn);
    }
    if (rc == 0) {
        *changed = edit->take_off ? take_off(&change, edit) : put_on(&change, edit);
        if (*changed < 0) rc = (int)*changed;
    }
    if (rc == 0 && *changed > 0) {
        /* An empty one where there was one: handles follow from index to index. */
        rc = tamis__change_stage(&change, change.before.exceptions != 0);
        const uint64_t count = change.after.exception_count;
        if (rc == 0) rc = tamis__change_lock(&change);
        if (rc == 0) {
            change.after = change.before;
            change.after.exception_count = count;
            rc = tamis__change_commit(&change);
        }
    }
    tamis__change_end(&change);
    return rc;
}

struct editing {
    struct tamis_store *store;
    const char *name;
    const struct edit *edit;
    int64_t changed;
};

static int edit_again(void *context)
{
    struct editing *e = context;
    return edit_once(e->store, e->name, e->edit, &e->changed);
}

static int64_t edit_exceptions(struct tamis_store *store, const char *name, const struct edit *edit)
{
    struct editing editing = {.store = store, .name = name, .edit = edit};
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__check_keys(edit->keys, edit->count);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc == 0) rc = tamis__change_try(name, edit_again, &editing);
    return rc < 0 ? rc : editing.changed;
}

TAMIS_API int64_t tamis_filter_except(tamis_store *store, const char *name,
                                      const struct tamis_key *keys, size_t count)
{
    const struct edit edit = {.keys = keys, .count = count};
    return edit_exceptions(store, name, &edit);
}

TAMIS_API int64_t tamis_filter_unexcept(tamis_store *store, const char *name,
                                        const struct tamis_key *keys, size_t count,
                                        uint8_t *answers)
{
    const struct edit edit = {.keys = keys, .count = count, .take_off = true, .answers = answers};
    return edit_exceptions(store, name, &edit);
}

TAMIS_API int tamis_filter_exceptions(tamis_store *store, const char *name, tamis_exception_fn *fn,
                                      void *context)
{
    struct tamis__exceptions all = {0};
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = tamis__exceptions_load_all(txn, &record, &all);
    tamis__catalog_end(txn);
    for (size_t i = 0; rc == 0 && i < all.count; i++) {
        const struct tamis_key key = {all.entries[i].key, all.entries[i].bytes};
        rc = fn(context, &key, all.entries[i].generation);
    }
    tamis__exceptions_clear(&all);
    return rc;
}
