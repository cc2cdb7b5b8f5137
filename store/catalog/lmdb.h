/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb.h: LMDB as the files of this folder use it: what a transaction of catalog.h holds, LMDB's
 * calls on it, and the keys under which records lie (catalog.c lists these).  No other folder
 * includes this file.
 */
#pragma once

#include <lmdb.h>
#include <setjmp.h>

#include "catalog/catalog.h"
#include "catalog/pages.h"
#include "os/guard.h"

/* Address space, not memory: room for some million filters. */
#define TAMIS__CATALOG_MAP_BYTES ((size_t)1 << 30)
#define TAMIS__CLOSE_AFTER_MAX 16u
#define TAMIS__KEY_BYTES_MAX (1 + TAMIS_NAME_MAX)

struct tamis__key {
    unsigned char bytes[TAMIS__KEY_BYTES_MAX];
    size_t count;
};

/* A catalog file that LMDB has open and mapped, and what was checked of it (opened.c). */
struct tamis__opened {
    MDB_env *env;
    bool writable;
    struct tamis__guard *guard;   /* of LMDB's mapping; NULL until its place is known */
    struct tamis__file_info file; /* as it was when its pages were begun to be checked */
    /* The parts that LMDB is going to touch are checked here: in a mapping of our own until the
     * place of LMDB's is known, then in that.  A catalog that is made anew has none. */
    void *view;
    bool is_own_view;
    struct tamis__pages *pages;
    bool is_checked; /* true: every page is checked */
};

/* A look at the catalog without its lock (peek.c). */
struct tamis__peek {
    const char *what;
    int fd;
    struct tamis__file_info file; /* which file that is */
    struct tamis__pages_root root;
    size_t page_bytes;    /* of the pages below; 0: there are none yet */
    unsigned char *metas; /* both meta pages, as they were at first; then room for the same again */
    unsigned char *room;  /* that room */
    const unsigned char *page; /* the page that is looked at: in that room, or a kept one */
    bool keeps;                /* it is a look for many names, and keeps pages: */
    struct tamis__peek_kept *kept;
    bool is_sure; /* they are in force, or were when the last look ended */
};

struct tamis__catalog_txn {
    const struct tamis__catalog *catalog;
    /* Not open if there is no lock file, or if the caller holds the lock. */
    struct tamis__private_fd lock;
    struct tamis__opened opened;
    MDB_txn *txn;
    MDB_dbi dbi;
    bool exclusive;
    bool broken;          /* a page could not be had while LMDB was opened (os/guard.h) */
    bool unsure;          /* something failed: the next transaction opens the file anew */
    jmp_buf on_assertion; /* of LMDB; see lmdb.c */
    struct tamis__store_record store, store_as_read;
    int close_after[TAMIS__CLOSE_AFTER_MAX]; /* files that are closed when the lock is given back */
    uint32_t close_after_count;
};

/* Takes the lock of the catalog (lock.c).  Returns 1 if it is ours, or if a read-only store has no
 * lock file; 0 if it is not free and `if_free` was asked for; or an error.  In any case `held` is
 * the caller's to close. */
int tamis__catalog_lock(const struct tamis__catalog *catalog, enum tamis__lock lock, bool if_free,
                        struct tamis__private_fd *held);
/* Takes what the last transaction of this handle has left open, if it is this file and fits, and
 * closes it if it does not fit. */
void tamis__txn_take_opened(struct tamis__catalog_txn *txn, const struct tamis__file_info *file);
/* Opens LMDB on an open file, unless it was taken, and begins.  We have our lock, so LMDB needs
 * none of its own. */
int tamis__txn_open(struct tamis__catalog_txn *txn, int fd, const char *name);
/* Opens catalog.mdb, which is where the store's path leads, and checks the pages that a transaction
 * begins with; to write, every page, unless a note says that they are sound. */
int tamis__catalog_open_file(struct tamis__catalog_txn *txn, int *fd);
/* Opens the file to read, and checks nothing but that it is the store's own. */
int tamis__catalog_open_to_read(const struct tamis__catalog *catalog, int *fd);
/* Finds LMDB's mapping by a value that LMDB has given, guards it, and checks in it from now on. */
int tamis__txn_watch(struct tamis__catalog_txn *txn, const void *value);
/* Call before LMDB is asked for a key: checks the pages that it will touch.  `beside`: to write, or
 * if a cursor shall go one step from there. */
int tamis__txn_check_key(struct tamis__catalog_txn *txn, MDB_val key, bool beside);
int tamis__txn_check_pages(struct tamis__catalog_txn *txn); /* every page, once a transaction */
/* Call after a commit of ours, with the exclusive lock: notes that all pages are sound now. */
void tamis__txn_note(const struct tamis__catalog_txn *txn, int fd, uint64_t transaction);
/* Call after a read: returns `rc`, or TAMIS_ECORRUPT if a page of the catalog could not be had. */
int tamis__txn_answer(const struct tamis__catalog_txn *txn, int rc);
/* Ends LMDB's transaction; what was not committed is dropped.  Leaves the file open for the next
 * transaction of this handle, or closes it. */
void tamis__txn_close(struct tamis__catalog_txn *txn);
void tamis__opened_close(struct tamis__opened *opened);

/* LMDB's calls.  If an assertion in them fails, they return MDB_CORRUPTED. */
void tamis__mdb_watch(struct tamis__catalog_txn *txn); /* its environment, once it is made */
int tamis__mdb_begin(struct tamis__catalog_txn *txn);
int tamis__mdb_get(struct tamis__catalog_txn *txn, MDB_val *key, MDB_val *value);
int tamis__mdb_put(struct tamis__catalog_txn *txn, MDB_val *key, MDB_val *value, unsigned flags);
int tamis__mdb_del(struct tamis__catalog_txn *txn, MDB_val *key);
int tamis__mdb_cursor_get(struct tamis__catalog_txn *txn, MDB_cursor *cursor, MDB_val *key,
                          MDB_val *value, MDB_cursor_op op);
int tamis__mdb_commit(struct tamis__catalog_txn *txn); /* it ends, whatever this returns */

/* Gets, puts and deletes by key.  Return 0, TAMIS_ENOTFOUND without a sentence, or an error. */
int tamis__txn_get(struct tamis__catalog_txn *txn, const struct tamis__key *key, MDB_val *value);
int tamis__txn_put(struct tamis__catalog_txn *txn, const struct tamis__key *key, const void *bytes,
                   size_t count);
int tamis__txn_delete(struct tamis__catalog_txn *txn, const struct tamis__key *key);
/* The same for a value that ends in its checksum, which `count` does not include.  `what` is for
 * the sentence if the checksum does not match. */
#define TAMIS__SUMMED_BYTES_MAX TAMIS_NAME_MAX
int tamis__txn_get_summed(struct tamis__catalog_txn *txn, const struct tamis__key *key,
                          const char *what, const void **bytes, size_t *count);
int tamis__txn_put_summed(struct tamis__catalog_txn *txn, const struct tamis__key *key,
                          const void *bytes, size_t count);
bool tamis__matches_sum(MDB_val key, MDB_val value);

/* Turns an error number of LMDB into a code and a sentence; 0 stays 0. */
int tamis__fail_mdb(const struct tamis__catalog *catalog, int error, const char *verb);

/* Reports a record that cannot be right; `reason` is a clause. */
int tamis__fail_record(const struct tamis__catalog_txn *txn, int code, const char *what,
                       const char *name, const char *reason);

static inline struct tamis__key tamis__name_key(const char *name)
{
    struct tamis__key key = {.count = 1};
    const size_t bytes = strnlen(name, TAMIS_NAME_MAX);
    key.bytes[0] = 'f';
    memcpy(key.bytes + 1, name, bytes);
    key.count += bytes;
    return key;
}

static inline struct tamis__key tamis__number_key(char type, uint64_t number)
{
    struct tamis__key key = {.count = 9};
    key.bytes[0] = (unsigned char)type;
    for (int i = 0; i < 8; i++)
        key.bytes[1 + i] = (unsigned char)(number >> (56 - 8 * i));
    return key;
}

static inline struct tamis__key tamis__tag_key(const uint8_t tag[TAMIS_ID_BYTES])
{
    struct tamis__key key = {.count = 1 + TAMIS_ID_BYTES};
    key.bytes[0] = 'o';
    memcpy(key.bytes + 1, tag, TAMIS_ID_BYTES);
    return key;
}

static inline MDB_val tamis__key_val(const struct tamis__key *key)
{
    return (MDB_val){.mv_size = key->count, .mv_data = (void *)(uintptr_t)(const void *)key->bytes};
}

static inline struct tamis__bytes tamis__key_bytes(const struct tamis__key *key)
{
    return (struct tamis__bytes){key->bytes, key->count};
}
