/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c: filters that are known by an id, and called as somebody likes (tamis_labels.h). */
#include "tamis_labels.h"

#include "base/arguments.h"
#include "handle/view.h"
#include "txn/files.h"
#include "txn/spares.h"
#include "txn/write.h"

#define PREFIX "redis:"

TAMIS_API void tamis_id_name(const uint8_t id[TAMIS_ID_BYTES], char name[TAMIS_ID_NAME_BYTES])
{
    size_t at = sizeof PREFIX - 1;
    (void)memcpy(name, PREFIX, sizeof PREFIX);
    for (size_t i = 0; i < TAMIS_ID_BYTES; i++, at += 2)
        (void)snprintf(name + at, 3, "%02x", id[i]);
}

TAMIS_API uint64_t tamis_store_id(const tamis_store *store)
{
    return store == NULL ? 0 : store->known_as;
}

/* Reads the record of an id.  *tagged: the catalog knows the id, and not only the name says it.
 * TAMIS_ENOTFOUND comes without a sentence. */
static int get(struct tamis_store *store, struct tamis__catalog_txn *txn, const uint8_t *id,
               struct tamis__record *record, bool *tagged)
{
    char name[TAMIS_ID_NAME_BYTES];
    uint64_t filter_id;
    int rc = tamis__catalog_find_tag(txn, id, &filter_id);
    *tagged = rc > 0;
    if (rc > 0) return tamis__store_get_by_id(store, txn, filter_id, record);
    if (rc < 0) return rc;
    tamis_id_name(id, name);
    rc = tamis__store_get(store, txn, name, record);
    return rc == 0 && !record->owned ? TAMIS_ENOTFOUND : rc;
}

static int fail_no_id(const struct tamis_store *store, const uint8_t *id)
{
    char name[TAMIS_ID_NAME_BYTES];
    tamis_id_name(id, name);
    return tamis__fail(TAMIS_ENOTFOUND, "the store %s has no filter of the id %s",
                       store->place.path, name + sizeof PREFIX - 1);
}

/* As get(), while somebody else has the lock, who may be waiting for the disk.  The library puts
 * the id into the catalog when it changes the name, so a name of an id that is not there is that
 * filter's.  TAMIS__PEEK_UNSURE: only the lock can tell. */
static int peek(const struct tamis_store *store, const uint8_t *id, struct tamis__record *record)
{
    char name[TAMIS_ID_NAME_BYTES];
    int rc = tamis__catalog_peek_tagged(&store->catalog, id, record);
    if (rc != TAMIS_ENOTFOUND) return rc;
    tamis_id_name(id, name);
    rc = tamis__catalog_peek_named(&store->catalog, name, record);
    if (rc == TAMIS_ENOTFOUND) /* it may have got its id, and another name, in between */
        return tamis__catalog_peek_tagged(&store->catalog, id, record);
    return rc == 0 && !record->owned ? TAMIS_ENOTFOUND : rc;
}

/* The record of an id, as it is now. */
static int look_up(struct tamis_store *store, const uint8_t *id, struct tamis__record *record)
{
    struct tamis__catalog_txn *txn;
    bool tagged;
    const bool waits = !store->catalog.stays_open;
    int rc = tamis__catalog_try_begin(&store->catalog, TAMIS__LOCK_SHARED, waits, &txn);
    if (rc == 0) {
        rc = peek(store, id, record);
        if (rc != TAMIS__PEEK_UNSURE) return rc;
        rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    }
    if (rc < 0) return rc;
    rc = get(store, txn, id, record, &tagged);
    tamis__catalog_end(txn);
    return rc;
}

TAMIS_API int tamis_filter_find_id(tamis_store *store, const uint8_t id[TAMIS_ID_BYTES], char *name)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__record record;
    const int rc = look_up(store, id, &record);
    if (rc == 0 && name != NULL) memcpy(name, record.name, sizeof record.name);
    return rc == TAMIS_ENOTFOUND ? 0 : rc < 0 ? rc : 1;
}

/* Another process may rename the filter behind the look: then it is looked for again. */
#define LOOKS_MAX 100

TAMIS_API int tamis_filter_open_id(tamis_store *store, const uint8_t id[TAMIS_ID_BYTES],
                                   uint32_t flags, tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__record record;
    for (unsigned i = 0; i < LOOKS_MAX; i++) {
        int rc = look_up(store, id, &record);
        if (rc == TAMIS_ENOTFOUND) return fail_no_id(store, id);
        if (rc == 0) rc = tamis_filter_open(store, record.name, flags, filter);
        if (rc == TAMIS_ENOTFOUND) continue;
        if (rc < 0 || *filter == NULL || (*filter)->filter_id == record.filter_id) return rc;
        tamis_filter_release(*filter);
        *filter = NULL;
    }
    return tamis__fail(TAMIS_EBUSY, "others kept renaming filters of the store %s; try again",
                       store->place.path);
}

/* ---- Ids ------------------------------------------------------------------------------------- */

TAMIS_API int tamis_filter_id(tamis_store *store, const char *name, const uint8_t *id,
                              uint8_t has[TAMIS_ID_BYTES])
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0)
        rc = id != NULL ? tamis__store_begin_write(store, &txn)
                        : tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    memset(has, 0, TAMIS_ID_BYTES);
    rc = tamis__store_get(store, txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = tamis__catalog_get_tag(txn, record.filter_id, has);
    if (rc == 0 && id != NULL) {
        rc = tamis__catalog_put_tag(txn, record.filter_id, id);
        if (rc == 0) rc = tamis__catalog_commit(txn);
        if (rc == 0) memcpy(has, id, TAMIS_ID_BYTES);
        if (rc == 0) rc = 1;
    }
    tamis__catalog_end(txn);
    return rc;
}

/* What is listed; the names stand behind each other. */
struct listed {
    struct tamis__catalog_txn *txn;
    struct one {
        uint64_t filter_id;
        uint8_t id[TAMIS_ID_BYTES];
        bool has_id, owned;
        char name[TAMIS_NAME_MAX + 1];
    } * ones;
    size_t count, room;
};

static int note(void *context, const struct tamis__record *record)
{
    struct listed *listed = context;
    if (listed->count == listed->room) {
        const size_t room = 2 * listed->room + 64;
        struct one *more = realloc(listed->ones, room * sizeof *more);
        if (more == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory listing a store");
        listed->ones = more;
        listed->room = room;
    }
    struct one *one = &listed->ones[listed->count++];
    *one = (struct one){.filter_id = record->filter_id, .owned = record->owned};
    memcpy(one->name, record->name, sizeof one->name);
    return 0;
}

/* Two digits of an id in the name of a filter; -1: they are none. */
static int digits_at(const char *text)
{
    int value = 0;
    for (int i = 0; i < 2; i++) {
        const char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return -1;
        value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return value;
}

/* Is it the name of an id? */
static bool read_id_name(const char *name, uint8_t id[TAMIS_ID_BYTES])
{
    const size_t before = sizeof PREFIX - 1;
    if (strlen(name) != TAMIS_ID_NAME_BYTES - 2 || strncmp(name, PREFIX, before) != 0) return false;
    for (size_t i = 0; i < TAMIS_ID_BYTES; i++) {
        const int value = digits_at(name + before + 2 * i);
        if (value < 0) return false;
        id[i] = (uint8_t)value;
    }
    return true;
}

static int get_ids(struct listed *listed)
{
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < listed->count; i++) {
        struct one *one = &listed->ones[i];
        rc = tamis__catalog_get_tag(listed->txn, one->filter_id, one->id);
        one->has_id = rc > 0 || (rc == 0 && one->owned && read_id_name(one->name, one->id));
    }
    return rc < 0 ? rc : 0;
}

TAMIS_API int tamis_store_list_ids(tamis_store *store, tamis_ids_fn *fn, void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct listed listed = {.ones = NULL};
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &listed.txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_each(listed.txn, "", note, &listed);
    if (rc == 0) rc = get_ids(&listed);
    tamis__catalog_end(listed.txn);
    for (size_t i = 0; rc == 0 && i < listed.count; i++) {
        const struct one *one = &listed.ones[i];
        rc = fn(context, one->name, one->has_id ? one->id : NULL, one->owned);
    }
    free(listed.ones);
    return rc;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* A filter that gets another name. */
struct renamed {
    struct tamis__record record;
    char name[TAMIS_NAME_MAX + 1]; /* as it is to be */
    bool tagged, changes;
};

static int rename_to(struct tamis__catalog_txn *txn, struct renamed *r, const char *name)
{
    if (strcmp(r->record.name, name) == 0) return 0;
    int rc = tamis__catalog_forget(txn, &r->record);
    r->record.name_sequence++;
    (void)snprintf(r->record.name, sizeof r->record.name, "%s", name);
    if (rc == 0) rc = tamis__catalog_put(txn, &r->record);
    return rc;
}

/* Reads the filter of a label; puts it aside, under the name of its id, if its name changes. */
static int begin_one(struct tamis_store *store, struct tamis__catalog_txn *txn,
                     struct tamis_label *label, struct renamed *r)
{
    char aside[TAMIS_ID_NAME_BYTES];
    tamis_id_name(label->id, aside);
    const bool legal = label->name != NULL && tamis__check_name(label->name) == 0;
    label->result = label->name != NULL && !legal ? TAMIS_EINVAL : 0;
    int rc = get(store, txn, label->id, &r->record, &r->tagged);
    if (rc == TAMIS_ENOTFOUND) {
        label->result = rc;
        return 0;
    }
    if (rc < 0) return rc;
    (void)snprintf(r->name, sizeof r->name, "%s", legal ? label->name : aside);
    if (!r->tagged) rc = tamis__catalog_put_tag(txn, r->record.filter_id, label->id);
    r->changes = strcmp(r->record.name, r->name) != 0;
    return rc == 0 && r->changes ? rename_to(txn, r, aside) : rc;
}

/* Gives a filter its name, unless another has it. */
static int end_one(struct tamis__catalog_txn *txn, struct tamis_label *label, struct renamed *r)
{
    struct tamis__record other;
    if (!r->changes) return 0;
    const int rc = tamis__catalog_get(txn, r->name, &other);
    if (rc == TAMIS_ENOTFOUND) return rename_to(txn, r, r->name);
    if (rc == 0 && other.filter_id != r->record.filter_id) label->result = TAMIS_EEXIST;
    return rc;
}

/* Writes the new name into the segments.  If this fails, the next open for writing does it. */
static void relabel(struct tamis_store *store, const struct tamis__record *record)
{
    for (uint32_t i = 0; i < record->segment_count + record->spare_count; i++) {
        struct tamis__segment segment;
        if (tamis__segment_open(&store->place, record->segments[i].number, true, &segment) < 0)
            continue;
        (void)tamis__segment_relabel(&store->place, &segment, record->name_sequence, record->name);
        tamis__segment_close(&segment);
    }
}

/* Label `index` of an array whose labels are as large as the first one says. */
static struct tamis_label *label_at(struct tamis_label *labels, size_t index)
{
    return (struct tamis_label *)(void *)((unsigned char *)labels + index * labels->size);
}

static int check_labels(struct tamis_label *labels, size_t count)
{
    struct tamis_label own;
    int rc = tamis__take_struct(labels, &own, sizeof own, "struct tamis_label");
    for (size_t i = 1; rc == 0 && i < count; i++)
        if (label_at(labels, i)->size != labels->size)
            rc = tamis__fail(TAMIS_EINVAL,
                             "label %zu has another size than the first; set each to "
                             "sizeof(struct tamis_label)",
                             i);
    return rc;
}

static int label_all(struct tamis_store *store, struct tamis_label *labels, struct renamed *renamed,
                     size_t count)
{
    struct tamis__catalog_txn *txn;
    bool any = false;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = begin_one(store, txn, label_at(labels, i), &renamed[i]);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = end_one(txn, label_at(labels, i), &renamed[i]);
        any |= renamed[i].changes ||
               (label_at(labels, i)->result != TAMIS_ENOTFOUND && !renamed[i].tagged);
    }
    if (rc == 0 && any) rc = tamis__catalog_commit(txn);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (renamed[i].changes) relabel(store, &renamed[i].record);
    tamis__catalog_end(txn);
    return rc;
}

TAMIS_API int tamis_filters_label(tamis_store *store, struct tamis_label *labels, size_t count)
{
    TAMIS__REFUSE_NULL(store, "store");
    int done = 0;
    if (count == 0) return 0;
    TAMIS__REFUSE_NULL(labels, "labels");
    if (count > TAMIS_LABELS_MAX)
        return tamis__fail(TAMIS_EINVAL, "%zu labels are too many; give at most %d", count,
                           TAMIS_LABELS_MAX);
    int rc = check_labels(labels, count);
    if (rc < 0) return rc;
    struct renamed *renamed = calloc(count, sizeof *renamed);
    if (renamed == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory labelling filters");
    rc = label_all(store, labels, renamed, count);
    for (size_t i = 0; i < count; i++)
        done += label_at(labels, i)->result == 0;
    free(renamed);
    return rc < 0 ? rc : done;
}

/* ---- Drops ----------------------------------------------------------------------------------- */

TAMIS_API int64_t tamis_filter_drop_ids(tamis_store *store, const uint8_t (*ids)[TAMIS_ID_BYTES],
                                        size_t count)
{
    TAMIS__REFUSE_NULL(store, "store");
    if (count > 0) TAMIS__REFUSE_NULL(ids, "ids");
    char(*names)[TAMIS_NAME_MAX + 1] = calloc(count + 1, sizeof *names);
    const char **list = calloc(count + 1, sizeof *list);
    int64_t *created_at = calloc(count + 1, sizeof *created_at);
    size_t found = 0;
    int64_t rc = names == NULL || list == NULL || created_at == NULL
                     ? tamis__fail(TAMIS_ENOMEM, "out of memory dropping filters")
                     : 0;
    struct tamis__catalog_txn *txn;
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    const bool begun = rc == 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct tamis__record record;
        bool tagged;
        rc = get(store, txn, ids[i], &record, &tagged);
        if (rc == 0) {
            memcpy(names[found], record.name, sizeof names[found]);
            list[found] = names[found];
            created_at[found++] = record.created_at;
        }
        if (rc == TAMIS_ENOTFOUND) rc = 0;
    }
    if (begun) tamis__catalog_end(txn);
    /* A name that another filter has by now is passed over: it was created at another time. */
    if (rc == 0 && found > 0) rc = tamis_filter_drop_many(store, list, created_at, found);
    free(created_at);
    free((void *)list);
    free(names);
    return rc;
}
