/* SPDX-License-Identifier: BSD-2-Clause */
/* txn.h: what the files of this folder share of a transaction. */
#ifndef TAMIS_CATALOG_TXN_H
#define TAMIS_CATALOG_TXN_H

#include <lmdb.h>

#include "catalog/catalog.h"

struct tamis__catalog_txn {
    const struct tamis__catalog *catalog;
    struct tamis__private_fd
        lock; /* not open where there is no lock file, or the caller holds it */
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    bool exclusive;
    struct tamis__store_record store, store_as_read;
};

/* Open LMDB on `path`, under our lock, so that it needs none of its own. */
int tamis__txn_open(struct tamis__catalog_txn *txn, const char *path);
/* Close LMDB; what was not committed is dropped. */
void tamis__txn_close(struct tamis__catalog_txn *txn);

/* An error number of LMDB as a code and a sentence; 0 stays 0. */
int tamis__fail_mdb(const struct tamis__catalog *catalog, int error, const char *verb);

#endif
