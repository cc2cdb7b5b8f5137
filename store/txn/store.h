/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h: the object behind a tamis_store: its directories, its catalog, its names. */
#pragma once

#include "catalog/catalog.h"
#include "log/log.h"
#include "segment/segment.h"

struct tamis_store {
    unsigned references; /* atomic: one for the handle and one for each open filter */
    bool read_only;
    int root_fd;
    uint64_t store_id;
    uint64_t known_as; /* to servers: tamis_store_id() */
    struct tamis__place place;
    struct tamis__catalog catalog;
    int64_t busy_timeout_ms; /* atomic: see wait.c */
    tamis_busy_fn *busy_fn;  /* NULL: no callback; set while no other thread uses the store */
    int64_t busy_every_ms;   /* how often it is called; set once */
    void *busy_context;
    tamis_event_fn *event_fn; /* NULL: no callback; as busy_fn */
    void *event_context;
};

/* Makes a store with nothing open yet; NULL if memory is short. tamis_store_close() closes all that
 * is open by then. */
struct tamis_store *tamis__store_new(bool read_only);
struct tamis_store *tamis__store_reference(struct tamis_store *store);

/* What is opened: a store, and what `then` opens in it within the same transaction of the catalog.
 * If `then` (or NULL) returns an error, the store is closed again. */
struct tamis__opening {
    const char *path;
    int (*then)(void *context, struct tamis_store *store, struct tamis__catalog_txn *txn);
    void *context;
};
/* tamis_store_open_with() for both. */
int tamis__store_open(const struct tamis__opening *opening,
                      const struct tamis_store_options *options, tamis_store **store);

/* Opens the directory, or the nearest existing one above it. */
int tamis__open_nearest(const char *path, int *fd);

/* Sets the sentence for a name that is not in the catalog; returns TAMIS_ENOTFOUND. */
int tamis__fail_no_filter(const struct tamis_store *store, const char *name);

int tamis__fail_exists(const char *name); /* TAMIS_EEXIST */

/* Can a filter have that name?  And a new filter, which may have no blanks before or behind it:
 * there may be such filters, of older versions. */
int tamis__check_name(const char *name);
int tamis__check_new_name(const char *name);
int tamis__check_writable(const struct tamis_store *store); /* 0 or TAMIS_EREADONLY */

/* The place where the logs of handles are. */
struct tamis__logs tamis__store_logs(const struct tamis_store *store);
