/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_labels.h: for a server whose filters have ids, and whose names are labels for people.
 *
 * A name of a filter may change, be given to another filter, or be late.  An id never does: the
 * server draws 128 random bits for a filter, and finds it by them whatever it is called.  The
 * Redis module works so (docs/redis.md).  A filter without an id is one of others.
 *
 *     tamis_id_name(id, name)                    the name that says the id: redis:0123...
 *     tamis_filter_create(store, name, ...)      makes the filter under it
 *     tamis_filters_label(store, labels, n)      gives filters their ids and names, many at once
 *     tamis_filter_open_id(store, id, ...)       opens it, under whatever name
 *
 * A filter that has the name of its id, and is TAMIS_FILTER_OWNED, is found by that id too: a
 * server that is killed before it has labelled a filter finds it all the same.
 */
#ifndef TAMIS_LABELS_H
#define TAMIS_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_stat.h"
#include "tamis_store.h"
#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAMIS_ID_NAME_BYTES 40 /* with its end */

/* Writes the name that says the id. */
TAMIS_API void tamis_id_name(const uint8_t id[TAMIS_ID_BYTES], char name[TAMIS_ID_NAME_BYTES]);

/* A number that the store has drawn when it was made, or when it was restored from a backup
 * (TAMIS_BACKUP_FOR_USE): a server that has noted it with its ids sees that the filters are of
 * another time.  0 for NULL. */
TAMIS_API uint64_t tamis_store_id(const tamis_store *store);

/* The name that a filter is to have. */
struct tamis_label {
    size_t size; /* sizeof(struct tamis_label), in each of several */
    uint8_t id[TAMIS_ID_BYTES];
    const char *name;  /* NULL: that of its id */
    int result;        /* 0; TAMIS_ENOTFOUND: no filter has the id; TAMIS_EEXIST: another filter has
                          the name, and this one has that of its id; TAMIS_EINVAL: no name */
    uint32_t reserved; /* 0 */
};

#define TAMIS_LABELS_MAX 1000

/*
 * Gives filters their names, in one change of the store.  A filter that was made under the name of
 * its id gets the id, too.  All filters that change get the names of their ids first, so filters
 * may exchange their names.
 *
 * labels   `count`, at most TAMIS_LABELS_MAX, of different ids.
 * Returns  how many have the name that was wanted; each `result` says more.  After an error, one of
 *          a change of the catalog, nothing is changed.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filters_label(tamis_store *store, struct tamis_label *labels,
                                                   size_t count);

/* As tamis_filter_open(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_open_id(tamis_store *store,
                                                    const uint8_t id[TAMIS_ID_BYTES],
                                                    uint32_t flags, tamis_filter **filter);

/* Has a filter the id?  1, 0 or an error.  `name`, with room for TAMIS_NAME_MAX + 1 bytes, receives
 * what it is called; it may be NULL. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_find_id(tamis_store *store,
                                                    const uint8_t id[TAMIS_ID_BYTES], char *name);

/* As tamis_filter_drop_many(), for the filters that have these ids; any number of them. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_drop_ids(tamis_store *store,
                                                         const uint8_t (*ids)[TAMIS_ID_BYTES],
                                                         size_t count);

/*
 * Gets the id of a filter, and gives it `id` if it has none.
 *
 * id       NULL: it is given none, and *has is 0 bytes if it has none.
 * Returns  1: it has an id; 0: it has none.  TAMIS_ENOTFOUND, and the errors of a change.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_id(tamis_store *store, const char *name,
                                               const uint8_t *id, uint8_t has[TAMIS_ID_BYTES]);

/* Called for each filter; id is NULL if it has none.  A value other than 0 ends the listing, which
 * returns it. */
typedef int tamis_ids_fn(void *context, const char *name, const uint8_t *id, int owned);
/* Lists the names, ids and owners of all filters, in one snapshot; no lock is held while `fn`
 * runs. */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list_ids(tamis_store *store, tamis_ids_fn *fn,
                                                    void *context);

#ifdef __cplusplus
}
#endif

#endif
