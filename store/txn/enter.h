/* SPDX-License-Identifier: BSD-2-Clause */
/* enter.h: enters a new filter, whose segments are made, into the store (enter.c). */
#pragma once

#include "txn/commit.h"

/* The segments, oldest first, that are to become the filter `name`. */
struct tamis__entry {
    const char *name;
    struct tamis__draft *drafts;
    uint32_t count;
    uint64_t capacity;
    double fp_rate;
    struct tamis__policy policy;
    bool owned;               /* TAMIS_FILTER_OWNED */
    int64_t created_at;       /* 0: now */
    tamis__opened_fn *opened; /* NULL: no handle is wanted */
    void *context;
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES]; /* of the keys that it was built from; or 0 */
    struct tamis__draft *index;                  /* of its exceptions; NULL: it has none */
    bool filled; /* with contents: a look cannot tell these files from orphans */
};

/* Reads the record of a name under the shared lock: 0, TAMIS_ENOTFOUND or an error. */
int tamis__look_up_name(const struct tamis_store *store, const char *name);
/* Fails with TAMIS_EEXIST before gigabytes are allocated for a name that is taken. */
int tamis__check_absent(struct tamis_store *store, const char *name);

/* Publishes all drafts in one commit.  After an error none of them is left. */
int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry);
/* The same for many filters of different names, in one transaction.  No entry has a handle or an
 * index. */
int tamis__drafts_enter_many(struct tamis_store *store, const struct tamis__entry *entries,
                             uint32_t count);
