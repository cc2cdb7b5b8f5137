/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * except.c: changes and lists the exceptions of a filter, by its name.
 *
 * A change reads the index in force, makes another one and puts it in the place of the first.
 * Reading, sorting and writing are done without the catalog's lock, so that nobody waits for ten
 * million keys, or for a process that is stopped among them.  Under the lock it checks that nobody
 * else has changed the exceptions meanwhile.  If somebody has, it begins again from the new ones.
 */
#include "exceptions/index.h"
#include "filter/change.h"
#include "filter/points.h"
#include "handle/follow.h"
#include "key/form.h"
#include "txn/exceptions.h"

/* ---- Exceptions by hand ---------------------------------------------------------------------- */

/* Changes the set.  Returns the number of keys that were changed, or an error. */
struct edit {
    const struct tamis_key *keys; /* as the caller gives them */
    size_t count;
    bool take_off;
    uint8_t *answers;
};

static int64_t take_off(struct tamis__change *change, const struct edit *edit,
                        const struct tamis_key *forms)
{
    return (int64_t)tamis__exceptions_remove(&change->set, forms, edit->count, edit->answers);
}

static int64_t put_on(struct tamis__change *change, const struct edit *edit,
                      const struct tamis_key *forms)
{
    const size_t before = tamis__exceptions_count_by_hand(&change->set);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < edit->count; i++)
        rc = tamis__exceptions_add(&change->set, forms[i].data, forms[i].bytes, 0);
    if (rc == 0) rc = tamis__exceptions_sort(&change->set);
    return rc < 0 ? rc : (int64_t)(tamis__exceptions_count_by_hand(&change->set) - before);
}

/* Changes the set by the forms of the keys, which are what the filter has as exceptions. */
static int64_t edit_set(struct tamis__change *change, const struct edit *edit)
{
    struct tamis__form_room room;
    struct tamis__key_rule rule;
    const char *text = change->before.policy.key_rule;
    int64_t rc = tamis__key_rule_open(change->before.name, text, &rule);
    if (rc < 0) return rc;
    if (rule.id == TAMIS__KEY_BYTES)
        return edit->take_off ? take_off(change, edit, edit->keys)
                              : put_on(change, edit, edit->keys);
    struct tamis_key *forms = calloc(edit->count + 1, sizeof *forms);
    if (forms == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory for %zu exceptions", edit->count);
    tamis__form_room_init(&room);
    rc = tamis__form_keys(&rule, edit->keys, edit->count, &room, forms);
    if (rc == 0) rc = edit->take_off ? take_off(change, edit, forms) : put_on(change, edit, forms);
    tamis__form_room_clear(&room);
    free(forms);
    return rc;
}

static int edit_once(struct tamis_store *store, const char *name, const struct edit *edit,
                     int64_t *changed)
{
    struct tamis__change change = {.store = store, .edits = true};
    int rc = tamis__change_load(&change, name);
    if (rc == 0 && change.is_new) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) TAMIS__POINT(TAMIS__POINT_EXCEPT_LOADED);
    if (rc == 0) {
        *changed = edit_set(&change, edit);
        if (*changed < 0) rc = (int)*changed;
    }
    if (rc == 0 && *changed > 0) {
        /* If there was an index, an empty one comes: handles follow from index to index. */
        rc = tamis__change_stage(&change, change.before.exceptions != 0);
        const uint64_t count = change.after.exception_count;
        if (rc == 0) TAMIS__POINT(TAMIS__POINT_EXCEPT_STAGED);
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

static int64_t edit_exceptions(struct tamis_store *store, const char *name, const struct edit *edit)
{
    unsigned tries = 0;
    int64_t changed = 0;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__check_keys(edit->keys, edit->count);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc < 0) return rc;
    do {
        rc = tamis__change_tried(name, edit_once(store, name, edit, &changed), &tries);
    } while (rc == TAMIS__AGAIN);
    return rc < 0 ? rc : changed;
}

TAMIS_API int64_t tamis_filter_except(tamis_store *store, const char *name,
                                      const struct tamis_key *keys, size_t count)
{
    TAMIS__REFUSE_NULL(store, "store");
    const struct edit edit = {.keys = keys, .count = count};
    return edit_exceptions(store, name, &edit);
}

TAMIS_API int64_t tamis_filter_unexcept(tamis_store *store, const char *name,
                                        const struct tamis_key *keys, size_t count,
                                        uint8_t *answers)
{
    TAMIS__REFUSE_NULL(store, "store");
    const struct edit edit = {.keys = keys, .count = count, .take_off = true, .answers = answers};
    return edit_exceptions(store, name, &edit);
}

/* ---- Listing --------------------------------------------------------------------------------- */

struct telling {
    tamis_exception_fn *fn;
    void *context;
};

static int tell_exception(void *context, const struct tamis__exception *e)
{
    const struct telling *telling = context;
    const struct tamis_key key = {e->key, e->bytes};
    return telling->fn(telling->context, &key, tamis__exception_by_hand(e) ? 0 : e->generation);
}

TAMIS_API int tamis_filter_exceptions(tamis_store *store, const char *name, tamis_exception_fn *fn,
                                      void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(fn, "fn");
    struct telling told = {fn, context};
    struct tamis__exceptions all = {0};
    struct tamis__exceptions_source source = {.open = false};
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = tamis__exceptions_open(store, &record, &source);
    tamis__catalog_end(txn);
    if (rc == 0) rc = tamis__exceptions_read(store, &source, &all);
    for (size_t i = 0; rc == 0 && i < all.count; i++) {
        rc = tell_exception(&told, &all.entries[i]);
    }
    tamis__exceptions_clear(&all);
    return rc;
}

TAMIS_API int tamis_filter_each_exception(tamis_filter *filter, tamis_exception_fn *fn,
                                          void *context)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    TAMIS__REFUSE_NULL(fn, "fn");
    struct telling told = {fn, context};
    struct tamis__view *view;
    int rc = tamis__pin_current(filter, &view); /* fn may take long, and may call us */
    if (rc < 0) return rc;
    const struct tamis__segment *index = &view->index.segment;
    if (index->header != NULL && !tamis__index_sum_is_right(index))
        rc = tamis__fail(TAMIS_ECORRUPT, "the filter '%s' has damaged exceptions" TAMIS__INDEX_MEND,
                         filter->name);
    if (rc == 0 && index->header != NULL) rc = tamis__index_each(index, tell_exception, &told);
    if (rc == 0) rc = tamis__view_check(view);
    tamis__unpin(filter, view);
    return rc;
}
