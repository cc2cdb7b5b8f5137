/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_labels.h: for a server whose filters have ids, and whose names are labels for people.
 *
 * The name of a filter may change, may go to another filter, or may be late.  An id never changes:
 * the server draws 128 random bits for a filter, and finds the filter by them, whatever its name
 * is.  The Redis module works so (docs/redis.md).  A filter without an id belongs to another
 * program.
 *
 *     tamis_id_name(id, name)                    the name that says the id: redis:0123...
 *     tamis_filter_create(store, name, ...)      makes the filter under it
 *     tamis_filters_label(store, labels, n)      gives filters their ids and names, many at once
 *     tamis_filter_open_id(store, id, ...)       opens it, under whatever name
 *
 * An id also finds the filter that has the name of the id and is TAMIS_FILTER_OWNED.  So a server
 * that was killed before it gave a filter its label still finds the filter.
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

#define TAMIS_ID_NAME_BYTES 40 /* with the NUL */

/* Writes the name of an id: "redis:" and 32 hexadecimal digits. */
TAMIS_API void tamis_id_name(const uint8_t id[TAMIS_ID_BYTES], char name[TAMIS_ID_NAME_BYTES]);

/* Returns the number that a server notes beside its ids.  The number is drawn at random when the
 * store is made, and again when it is restored from a backup (TAMIS_BACKUP_FOR_USE).  So a server
 * whose note has another number knows that the filters are those of a backup.  Returns 0 for NULL.
 */
TAMIS_API uint64_t tamis_store_id(const tamis_store *store);

/* The name that a filter is to have. */
struct tamis_label {
    size_t size; /* sizeof(struct tamis_label), in each element of an array */
    uint8_t id[TAMIS_ID_BYTES];
    const char *name;  /* NULL: the name of the id */
    int result;        /* 0; TAMIS_ENOTFOUND: no filter has the id; TAMIS_EEXIST: another filter has
                          the name, so this filter got the name of its id; TAMIS_EINVAL: the name is
                          not a legal one */
    uint32_t reserved; /* 0 */
};

#define TAMIS_LABELS_MAX 1000

/*
 * Gives filters their names, in one change of the store.  A filter that was made under the name of
 * its id gets the id, too.  All filters that change get the names of their ids first, so filters
 * may exchange their names.
 *
 * labels   `count` labels of different ids, at most TAMIS_LABELS_MAX.
 * Returns  how many filters have the name that was wanted; each `result` says more.  TAMIS_EINVAL,
 *          TAMIS_EREADONLY, TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOSPACE, TAMIS_ENOMEM: nothing was
 *          changed.
 * Durable  when it returns 0 or more.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filters_label(tamis_store *store, struct tamis_label *labels,
                                                   size_t count);

/* Opens the filter that has the id, as tamis_filter_open() does by name. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_open_id(tamis_store *store,
                                                    const uint8_t id[TAMIS_ID_BYTES],
                                                    uint32_t flags, tamis_filter **filter);

/* Does a filter have the id?  Returns 1, 0 or an error.  `name` is NULL, or has room for
 * TAMIS_NAME_MAX + 1 bytes and receives the filter's name. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_find_id(tamis_store *store,
                                                    const uint8_t id[TAMIS_ID_BYTES], char *name);

/* Drops the filters that have these ids, as tamis_filter_drop_many() does by names. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_drop_ids(tamis_store *store,
                                                         const uint8_t (*ids)[TAMIS_ID_BYTES],
                                                         size_t count);

/*
 * Gets the id of a filter, and gives the filter the id `id` if it has none.
 *
 * id       NULL: the call gives the filter no id.
 * has      receives the id that the filter has after the call; zeros: it has none.
 * Returns  1: the filter has an id; 0: it has none.  TAMIS_ENOTFOUND, TAMIS_EINVAL,
 *          TAMIS_EREADONLY, TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOSPACE, TAMIS_ENOMEM.
 * Durable  when it returns 0 or 1.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_id(tamis_store *store, const char *name,
                                               const uint8_t *id, uint8_t has[TAMIS_ID_BYTES]);

/* The library calls this function for each filter.  id is NULL if the filter has none; owned is 1
 * for a filter of TAMIS_FILTER_OWNED, else 0.  A value other than 0 ends the listing, which returns
 * it. */
typedef int tamis_ids_fn(void *context, const char *name, const uint8_t *id, int owned);
/* Calls fn for each filter of the store, in one snapshot.  No lock is held while fn runs.  Returns
 * 0, the value by which fn ended the call, or an error of tamis_store_list(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list_ids(tamis_store *store, tamis_ids_fn *fn,
                                                    void *context);

#ifdef __cplusplus
}
#endif

#endif
