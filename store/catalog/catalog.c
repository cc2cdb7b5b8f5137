/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * catalog.c: transactions of the catalog.  This folder is the only user of lmdb.h.
 *
 * One LMDB tree; the first byte of a key says what it is:
 *
 *     s                     the store's record
 *     f <name>              a filter's record
 *     i <id, big-endian>    the name of filter <id>
 *     g <number, big-end.>  a segment to be unlinked
 *     p                     the first segment number that a file of another catalog had already
 *     v <id> <generation>   a generation of filter <id> that is kept; both big-endian
 *     u <id, big-endian>    what is wrong with filter <id>
 *     o <id>                the number of the filter that a server knows by this id (tags.c)
 *     n <id, big-endian>    the id of filter <id>
 *     b                     the boot under which all filters were looked at last
 *
 * Every value ends in a checksum over key and value (record.c).
 */
#include "catalog/catalog.h"

#include "catalog/lmdb.h"
#include "catalog/points.h"

#define SUM_BYTES 8u /* of the checksum at the end of each value */

static const struct tamis__key store_key = {{'s'}, 1}, passed_key = {{'p'}, 1},
                               drawers_key = {{'d'}, 1};

/* ---- Errors ---------------------------------------------------------------------------------- */

int tamis__fail_record(const struct tamis__catalog_txn *txn, int code, const char *what,
                       const char *name, const char *reason)
{
    char quoted[TAMIS__QUOTED_BYTES];
    const bool newer = code == TAMIS_EVERSION;
    const struct tamis__fault fault = {.what = txn->catalog->file_path,
                                       .mend = newer ? "" : "'tamis repair' makes it anew"};
    return tamis__fail_of(code, &fault, "the catalog %s: the %s %s %s%s", fault.what, what,
                          tamis__quote(quoted, name), reason,
                          newer ? "" : "; 'tamis repair' makes it anew");
}

/* ---- Life cycle ------------------------------------------------------------------------------ */

int tamis__catalog_init(struct tamis__catalog *catalog, int root_fd, const char *store_path,
                        bool read_only)
{
    *catalog = (struct tamis__catalog){.root_fd = root_fd, .read_only = read_only};
    if (asprintf(&catalog->file_path, "%s/catalog.mdb", store_path) < 0) catalog->file_path = NULL;
    if (asprintf(&catalog->lock_path, "%s/catalog.lock", store_path) < 0) catalog->lock_path = NULL;
    catalog->idle = calloc(1, sizeof(struct tamis__opened *));
    catalog->peeked = calloc(1, sizeof(struct tamis__peek *));
    catalog->named = calloc(1, sizeof(struct tamis__peek *));
    if (catalog->file_path != NULL && catalog->lock_path != NULL && catalog->idle != NULL &&
        catalog->peeked != NULL && catalog->named != NULL)
        return 0;
    tamis__catalog_clear(catalog);
    return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", store_path);
}

void tamis__catalog_clear(struct tamis__catalog *catalog)
{
    if (catalog->idle != NULL && *catalog->idle != NULL) {
        tamis__opened_close(*catalog->idle);
        free(*catalog->idle);
    }
    if (catalog->peeked != NULL) tamis__peek_close(*catalog->peeked);
    if (catalog->named != NULL) tamis__peek_close(*catalog->named);
    free((void *)catalog->idle);
    free((void *)catalog->peeked);
    free((void *)catalog->named);
    free(catalog->file_path);
    free(catalog->lock_path);
    catalog->file_path = catalog->lock_path = NULL;
    catalog->idle = NULL;
    catalog->peeked = NULL;
    catalog->named = NULL;
}

int tamis__txn_answer(const struct tamis__catalog_txn *txn, int rc)
{
    if (!txn->broken && !tamis__guard_is_broken(txn->opened.guard)) return rc;
    return tamis__fail(
        TAMIS_ECORRUPT,
        "a page of the catalog %s could not be read: the file was truncated meanwhile, "
        "or the disk fails (dmesg); restore it from a copy, or 'tamis repair' makes it "
        "anew",
        txn->catalog->file_path);
}

static int write_store_record(struct tamis__catalog_txn *txn)
{
    unsigned char buffer[TAMIS__STORE_RECORD_BYTES];
    tamis__store_record_encode(&txn->store, tamis__key_bytes(&store_key), buffer);
    return tamis__txn_put(txn, &store_key, buffer, sizeof buffer);
}

/* Reads the number that was passed over.  A record from before that happened does not have it. */
static int read_passed(struct tamis__catalog_txn *txn)
{
    const void *number;
    size_t bytes;
    const int rc = tamis__txn_get_summed(txn, &passed_key, "record of a number", &number, &bytes);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    if (bytes != sizeof txn->store.passed)
        return tamis__fail_record(txn, TAMIS_ECORRUPT, "record of a number", "p",
                                  "has an impossible length");
    txn->store.passed = tamis__get64(number);
    return 0;
}

/* Before version 1.0 small filters could share a file, a drawer, whose numbers stood under this
 * key.
 */
static int refuse_drawers(struct tamis__catalog_txn *txn)
{
    MDB_val value;
    const int rc = tamis__txn_get(txn, &drawers_key, &value);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    char *path =
        strndup(txn->catalog->file_path, strlen(txn->catalog->file_path) - strlen("/catalog.mdb"));
    (void)tamis__fail_drawers(path != NULL ? path : "");
    free(path);
    return TAMIS_EVERSION;
}

/* ---- Keys and values ------------------------------------------------------------------------- */

int tamis__txn_get(struct tamis__catalog_txn *txn, const struct tamis__key *key, MDB_val *value)
{
    MDB_val k = tamis__key_val(key);
    const int rc = tamis__txn_check_key(txn, k, false);
    if (rc < 0) return rc;
    const int error = tamis__mdb_get(txn, &k, value);
    return error == MDB_NOTFOUND ? TAMIS_ENOTFOUND : tamis__fail_mdb(txn->catalog, error, "read");
}

int tamis__txn_put(struct tamis__catalog_txn *txn, const struct tamis__key *key, const void *bytes,
                   size_t count)
{
    MDB_val k = tamis__key_val(key), value = {count, (void *)(uintptr_t)bytes};
    const int rc = tamis__txn_check_key(txn, k, true);
    return rc < 0 ? rc : tamis__fail_mdb(txn->catalog, tamis__mdb_put(txn, &k, &value, 0), "write");
}

int tamis__txn_delete(struct tamis__catalog_txn *txn, const struct tamis__key *key)
{
    MDB_val k = tamis__key_val(key);
    const int rc = tamis__txn_check_key(txn, k, true);
    if (rc < 0) return rc;
    const int error = tamis__mdb_del(txn, &k);
    return error == MDB_NOTFOUND ? TAMIS_ENOTFOUND : tamis__fail_mdb(txn->catalog, error, "write");
}

bool tamis__matches_sum(MDB_val key, MDB_val value)
{
    const unsigned char *bytes = value.mv_data;
    return value.mv_size >= SUM_BYTES &&
           tamis__get64(bytes + value.mv_size - SUM_BYTES) ==
               tamis__record_checksum((struct tamis__bytes){key.mv_data, key.mv_size}, bytes,
                                      value.mv_size - SUM_BYTES);
}

int tamis__txn_get_summed(struct tamis__catalog_txn *txn, const struct tamis__key *key,
                          const char *what, const void **bytes, size_t *count)
{
    const char name[2] = {(char)key->bytes[0], '\0'};
    MDB_val value;
    const int rc = tamis__txn_get(txn, key, &value);
    if (rc < 0) return rc;
    if (!tamis__matches_sum(tamis__key_val(key), value))
        return tamis__fail_record(txn, TAMIS_ECORRUPT, what, name, "does not match its checksum");
    *bytes = value.mv_data;
    *count = value.mv_size - SUM_BYTES;
    return 0;
}

int tamis__txn_put_summed(struct tamis__catalog_txn *txn, const struct tamis__key *key,
                          const void *bytes, size_t count)
{
    unsigned char value[TAMIS__SUMMED_BYTES_MAX + SUM_BYTES];
    const uint64_t sum = tamis__record_checksum(tamis__key_bytes(key), bytes, count);
    memcpy(value, bytes, count);
    memcpy(value + count, &sum, sizeof sum);
    return tamis__txn_put(txn, key, value, count + sizeof sum);
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static int read_store_record(struct tamis__catalog_txn *txn)
{
    const char *reason = "is missing";
    MDB_val value;
    int rc = tamis__txn_get(txn, &store_key, &value);
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    if (rc == TAMIS_ENOTFOUND)
        rc = TAMIS_ECORRUPT;
    else
        rc = tamis__store_record_decode(tamis__key_bytes(&store_key),
                                        (struct tamis__bytes){value.mv_data, value.mv_size},
                                        &txn->store, &reason);
    if (rc == TAMIS_EVERSION && !tamis__store_record_is_readable(&txn->store))
        return tamis__fail(rc,
                           "the catalog %s was made by a newer Tamis (format %" PRIu32
                           "), and is left alone; use that version",
                           txn->catalog->file_path, txn->store.format);
    if (rc < 0) return tamis__fail_record(txn, rc, "record of the store", "s", reason);
    rc = read_passed(txn);
    if (rc == 0) rc = refuse_drawers(txn);
    txn->store_as_read = txn->store;
    return rc < 0 ? rc : tamis__txn_watch(txn, value.mv_data);
}

/* Opens and checks as far as the store's record, which is the first that is read. */
static int open_checked(struct tamis__catalog_txn *txn)
{
    int fd = -1, rc = tamis__catalog_open_file(txn, &fd);
    if (rc < 0) return rc;
    TAMIS__POINT(TAMIS__POINT_CATALOG_CHECKED);
    tamis__guard_all(&txn->broken);
    rc = tamis__txn_open(txn, fd, txn->catalog->file_path);
    if (rc == 0) rc = read_store_record(txn);
    tamis__guard_all(NULL);
    tamis__close(fd);
    return tamis__txn_answer(txn, rc);
}

enum waiting { WAIT, IF_FREE, HELD };

/* Returns 1 if begun; 0 if the lock is not free, and the caller did not want to wait. */
static int begin_txn(const struct tamis__catalog *catalog, enum tamis__lock lock,
                     enum waiting waiting, struct tamis__catalog_txn **out)
{
    const bool exclusive = lock == TAMIS__LOCK_EXCLUSIVE;
    if (exclusive && catalog->read_only)
        return tamis__fail(TAMIS_EREADONLY,
                           "the store of %s is open read-only; open it for writing",
                           catalog->file_path);
    struct tamis__catalog_txn *txn = calloc(1, sizeof *txn);
    if (txn == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening %s", catalog->file_path);
    txn->catalog = catalog;
    txn->exclusive = exclusive;
    txn->lock.fd = -1;
    int rc =
        waiting == HELD ? 1 : tamis__catalog_lock(catalog, lock, waiting == IF_FREE, &txn->lock);
    if (rc > 0) {
        rc = open_checked(txn);
        if (rc == 0) rc = 1;
    }
    if (rc > 0)
        *out = txn;
    else
        tamis__catalog_end(txn);
    return rc;
}

int tamis__catalog_begin(const struct tamis__catalog *catalog, enum tamis__lock lock,
                         struct tamis__catalog_txn **txn)
{
    const int rc = begin_txn(catalog, lock, WAIT, txn);
    return rc < 0 ? rc : 0;
}

int tamis__catalog_try_begin(const struct tamis__catalog *catalog, enum tamis__lock lock,
                             bool waits, struct tamis__catalog_txn **txn)
{
    return begin_txn(catalog, lock, waits ? WAIT : IF_FREE, txn);
}

int tamis__catalog_begin_held(const struct tamis__catalog *catalog, enum tamis__lock lock,
                              struct tamis__catalog_txn **txn)
{
    const int rc = begin_txn(catalog, lock, HELD, txn);
    return rc < 0 ? rc : 0;
}

static void note_state(const struct tamis__catalog_txn *txn)
{
    MDB_envinfo info;
    int fd;
    if (mdb_env_info(txn->opened.env, &info) == 0 && mdb_env_get_fd(txn->opened.env, &fd) == 0)
        tamis__txn_note(txn, fd, info.me_last_txnid);
}

int tamis__catalog_commit(struct tamis__catalog_txn *txn)
{
    int rc = 0;
    if (memcmp(&txn->store, &txn->store_as_read, sizeof txn->store) != 0)
        rc = write_store_record(txn);
    if (rc == 0 && txn->store.passed != txn->store_as_read.passed)
        rc = tamis__txn_put_summed(txn, &passed_key, &txn->store.passed, sizeof txn->store.passed);
    rc = tamis__txn_answer(txn, rc);
    if (rc < 0) return rc;
    const int error = tamis__mdb_commit(txn);
    if (error) txn->unsure = true;
    if (error) return tamis__fail_mdb(txn->catalog, error, "write");
    TAMIS__POINT(TAMIS__POINT_COMMITTED);
    /* LMDB read pages while it committed.  If one of them could not be read, the next transaction
     * checks all pages again. */
    if (tamis__txn_answer(txn, 0) == 0) note_state(txn);
    return 0;
}

int tamis__catalog_commit_part(struct tamis__catalog_txn *txn)
{
    const int rc = tamis__catalog_commit(txn);
    if (rc < 0) return rc;
    txn->store_as_read = txn->store;
    txn->opened.is_checked = true; /* what the checks know is the state before */
    return tamis__fail_mdb(txn->catalog, tamis__mdb_begin(txn), "write");
}

void tamis__catalog_end(struct tamis__catalog_txn *txn)
{
    if (txn == NULL) return;
    tamis__txn_close(txn);
    tamis__private_close(&txn->lock);
    for (uint32_t i = 0; i < txn->close_after_count; i++)
        tamis__close(txn->close_after[i]);
    free(txn);
}

void tamis__catalog_close_after(struct tamis__catalog_txn *txn, int fd)
{
    if (txn->close_after_count == TAMIS__CLOSE_AFTER_MAX)
        tamis__close(fd);
    else
        txn->close_after[txn->close_after_count++] = fd;
}

struct tamis__store_record *tamis__catalog_store(struct tamis__catalog_txn *txn)
{
    return &txn->store;
}
