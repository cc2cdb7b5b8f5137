/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb.c: LMDB's calls, so that none of them ends the process, and what its errors mean.
 *
 * LMDB asserts what it expects of a page, and aborts if that is not so.  Pages are checked before
 * LMDB sees them (pages.h), but a file that is truncated under LMDB has other pages (os/guard.h).
 * So LMDB's assertion jumps back to the call here, which fails with MDB_CORRUPTED.  After that the
 * transaction can only be ended.  LMDB holds no lock of ours, and none of its own (MDB_NOLOCK),
 * that a jump could leave behind.
 */
#include "catalog/lmdb.h"

static void on_assertion(MDB_env *env, const char *message)
{
    struct tamis__catalog_txn *txn = mdb_env_get_userctx(env);
    (void)message;
    txn->unsure = true;
    longjmp(txn->on_assertion, 1);
}

void tamis__mdb_watch(struct tamis__catalog_txn *txn)
{
    (void)mdb_env_set_userctx(txn->opened.env, txn);
    (void)mdb_env_set_assert(txn->opened.env, on_assertion);
}

int tamis__mdb_begin(struct tamis__catalog_txn *txn)
{
    if (setjmp(txn->on_assertion) != 0) return MDB_CORRUPTED;
    return mdb_txn_begin(txn->opened.env, NULL, txn->exclusive ? 0 : MDB_RDONLY, &txn->txn);
}

int tamis__mdb_get(struct tamis__catalog_txn *txn, MDB_val *key, MDB_val *value)
{
    if (setjmp(txn->on_assertion) != 0) return MDB_CORRUPTED;
    return mdb_get(txn->txn, txn->dbi, key, value);
}

/* While LMDB changes a tree, the transaction knows the cursors on LMDB's stack.  After a jump these
 * are gone, and mdb_txn_abort() would follow them.  So the transaction is left to mdb_env_close(),
 * and the pages that it has allocated are lost. */
static int leave(struct tamis__catalog_txn *txn)
{
    txn->txn = NULL;
    return MDB_CORRUPTED;
}

int tamis__mdb_put(struct tamis__catalog_txn *txn, MDB_val *key, MDB_val *value, unsigned flags)
{
    if (setjmp(txn->on_assertion) != 0) return leave(txn);
    return mdb_put(txn->txn, txn->dbi, key, value, flags);
}

int tamis__mdb_del(struct tamis__catalog_txn *txn, MDB_val *key)
{
    if (setjmp(txn->on_assertion) != 0) return leave(txn);
    return mdb_del(txn->txn, txn->dbi, key, NULL);
}

int tamis__mdb_cursor_get(struct tamis__catalog_txn *txn, MDB_cursor *cursor, MDB_val *key,
                          MDB_val *value, MDB_cursor_op op)
{
    if (setjmp(txn->on_assertion) != 0) return MDB_CORRUPTED;
    return mdb_cursor_get(cursor, key, value, op);
}

int tamis__mdb_commit(struct tamis__catalog_txn *txn)
{
    MDB_txn *const ended = txn->txn;
    txn->txn = NULL; /* in any case: after a jump nobody knows what is left of it */
    if (setjmp(txn->on_assertion) != 0) return MDB_CORRUPTED;
    return mdb_txn_commit(ended);
}

int tamis__fail_mdb(const struct tamis__catalog *catalog, int error, const char *verb)
{
    switch (error) {
    case 0:
        return 0;
    case MDB_MAP_FULL:
        return tamis__fail(TAMIS_ENOSPACE, "the catalog %s is full at %zu MiB; drop some filters",
                           catalog->file_path, TAMIS__CATALOG_MAP_BYTES >> 20);
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_PANIC:
        return tamis__fail(TAMIS_ECORRUPT,
                           "the catalog %s is damaged (%s); 'tamis repair' makes it anew",
                           catalog->file_path, mdb_strerror(error));
    case MDB_VERSION_MISMATCH:
        return tamis__fail(TAMIS_EVERSION, "the catalog %s is of another version of LMDB",
                           catalog->file_path);
    default:
        if (error > 0) return tamis__fail_errno(error, verb, catalog->file_path);
        return tamis__fail(TAMIS_ESYSTEM, "cannot %s %s: %s", verb, catalog->file_path,
                           mdb_strerror(error));
    }
}
