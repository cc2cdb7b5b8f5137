/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * catalog.c: the only user of lmdb.h.
 *
 * One LMDB tree; the first byte of a key says what it is:
 *
 *     s                     the store's record
 *     f <name>              a filter's record
 *     i <id, big-endian>    the name of filter <id>
 *     g <number, big-end.>  a segment to be unlinked
 *     p                     the first segment number that a file of another catalog had already
 *     v <id> <generation>   a generation of filter <id> that is kept; both big-endian
 *     x <id> <generation> <chunk>   a part of the exceptions that it found (0: by hand); big-endian
 *
 * Every value ends in a checksum over key and value (record.c).
 */
#include "catalog/catalog.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/point.h"
#include "catalog/pages.h"
#include "catalog/txn.h"

/* Address space, not memory: room for some million filters. */
#define MAP_BYTES ((size_t)1 << 30)
#define KEY_BYTES_MAX (1 + TAMIS_NAME_MAX)
#define CHUNK_KEY_BYTES (1 + 8 + 8 + 4)

struct key {
    unsigned char bytes[KEY_BYTES_MAX];
    size_t count;
};

/* ---- Locks ------------------------------------------------------------------------------ */

/*
 * Take the lock by way of a turnstile, a lock on the store's directory that is held only until the
 * real one is got: a writer that waits keeps new readers out, and so gets in when those inside are
 * done.  flock alone is not fair: eight processes that kept reading kept a writer out for 40 s.
 * 1: ours; 0: not free, and only TAMIS__IF_FREE was asked.
 */
static int take_lock(const struct tamis__catalog *catalog, enum tamis__lock lock, bool if_free,
                     struct tamis__private_fd *held)
{
    const char *what = catalog->lock_path;
    struct tamis__private_fd turnstile;
    int rc =
        tamis__private_open(catalog->root_fd, "catalog.lock",
                            catalog->read_only ? O_RDONLY : O_RDWR | O_CREAT, 0666, what, held);
    if (rc == TAMIS_ENOTFOUND && catalog->read_only) return 1; /* a copy without it: no writer */
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(TAMIS_ENOSTORE, "the store of %s was removed; open it again", what);
    if (rc < 0) return rc;
    rc = tamis__private_open(catalog->root_fd, ".", O_RDONLY | O_DIRECTORY, 0, what, &turnstile);
    if (rc < 0) return rc;
    if (if_free) {
        rc = tamis__try_lock(turnstile.fd, lock, what);
        if (rc == 1) rc = tamis__try_lock(held->fd, lock, what);
    } else {
        rc = tamis__lock(turnstile.fd, lock, what);
        if (rc == 0) rc = tamis__lock(held->fd, lock, what);
        if (rc == 0) rc = 1;
    }
    tamis__private_close(&turnstile);
    return rc;
}

int tamis__catalog_hold(const struct tamis__catalog *catalog, enum tamis__lock lock,
                        struct tamis__private_fd *held)
{
    const int rc = take_lock(catalog, lock, false, held);
    if (rc < 0) tamis__private_close(held);
    return rc < 0 ? rc : 0;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

int tamis__fail_mdb(const struct tamis__catalog *catalog, int error, const char *verb)
{
    switch (error) {
    case 0:
        return 0;
    case MDB_MAP_FULL:
        return tamis__fail(TAMIS_ENOSPACE, "the catalog %s is full at %zu MiB; drop some filters",
                           catalog->file_path, MAP_BYTES >> 20);
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

static int fail_record(const struct tamis__catalog_txn *txn, int code, const char *what,
                       const char *name, const char *reason)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(code, "the catalog %s: the %s %s %s%s", txn->catalog->file_path, what,
                       tamis__quote(quoted, name), reason,
                       code == TAMIS_EVERSION ? "" : "; 'tamis repair' makes it anew");
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static struct key name_key(const char *name)
{
    struct key key = {.count = 1};
    const size_t bytes = strnlen(name, TAMIS_NAME_MAX);
    key.bytes[0] = 'f';
    memcpy(key.bytes + 1, name, bytes);
    key.count += bytes;
    return key;
}

static struct key number_key(char type, uint64_t number)
{
    struct key key = {.count = 9};
    key.bytes[0] = (unsigned char)type;
    for (int i = 0; i < 8; i++)
        key.bytes[1 + i] = (unsigned char)(number >> (56 - 8 * i));
    return key;
}

static const struct key store_key = {{'s'}, 1}, passed_key = {{'p'}, 1};

static struct key generation_key(char type, uint64_t filter_id, uint64_t generation)
{
    struct key key = number_key(type, filter_id);
    const struct key second = number_key(type, generation);
    memcpy(key.bytes + key.count, second.bytes + 1, 8);
    key.count += 8;
    return key;
}

static struct key chunk_key(uint64_t filter_id, uint64_t generation, uint32_t chunk)
{
    struct key key = generation_key('x', filter_id, generation);
    for (int shift = 24; shift >= 0; shift -= 8)
        key.bytes[key.count++] = (unsigned char)(chunk >> shift);
    return key;
}

static MDB_val to_val(const struct key *key)
{
    return (MDB_val){.mv_size = key->count, .mv_data = (void *)(uintptr_t)(const void *)key->bytes};
}

static struct tamis__bytes key_bytes(const struct key *key)
{
    return (struct tamis__bytes){key->bytes, key->count};
}

/* ---- Life cycle ------------------------------------------------------------------------------ */

int tamis__catalog_init(struct tamis__catalog *catalog, int root_fd, const char *store_path,
                        bool read_only)
{
    *catalog = (struct tamis__catalog){.root_fd = root_fd, .read_only = read_only};
    if (asprintf(&catalog->file_path, "%s/catalog.mdb", store_path) < 0) catalog->file_path = NULL;
    if (asprintf(&catalog->lock_path, "%s/catalog.lock", store_path) < 0) catalog->lock_path = NULL;
    if (catalog->file_path != NULL && catalog->lock_path != NULL) return 0;
    tamis__catalog_clear(catalog);
    return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", store_path);
}

void tamis__catalog_clear(struct tamis__catalog *catalog)
{
    free(catalog->file_path);
    free(catalog->lock_path);
    catalog->file_path = catalog->lock_path = NULL;
}

/* Open LMDB on `path`, under our lock, so that it needs none of its own. */
int tamis__txn_open(struct tamis__catalog_txn *txn, const char *path)
{
    const struct tamis__catalog *catalog = txn->catalog;
    const unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS;
    int error = mdb_env_create(&txn->env);
    if (error) return tamis__fail_mdb(catalog, error, "open");
    error = mdb_env_set_mapsize(txn->env, MAP_BYTES);
    if (!error)
        error = mdb_env_open(txn->env, path, flags | (txn->exclusive ? 0 : MDB_RDONLY), 0666);
    if (!error) error = mdb_txn_begin(txn->env, NULL, txn->exclusive ? 0 : MDB_RDONLY, &txn->txn);
    if (!error) error = mdb_dbi_open(txn->txn, NULL, 0, &txn->dbi);
    return tamis__fail_mdb(catalog, error, "open");
}

static int write_store_record(struct tamis__catalog_txn *txn)
{
    unsigned char buffer[TAMIS__STORE_RECORD_BYTES];
    MDB_val key = to_val(&store_key), value = {sizeof buffer, buffer};
    tamis__store_record_encode(&txn->store, key_bytes(&store_key), buffer);
    return tamis__fail_mdb(txn->catalog, mdb_put(txn->txn, txn->dbi, &key, &value, 0), "write");
}

/* Which no record has that was written before it happened. */
static int write_passed(struct tamis__catalog_txn *txn)
{
    const uint64_t words[2] = {
        txn->store.passed,
        tamis__record_checksum(key_bytes(&passed_key), &txn->store.passed, sizeof words[0])};
    MDB_val key = to_val(&passed_key), value = {sizeof words, (void *)(uintptr_t)words};
    return tamis__fail_mdb(txn->catalog, mdb_put(txn->txn, txn->dbi, &key, &value, 0), "write");
}

static int read_passed(struct tamis__catalog_txn *txn)
{
    MDB_val key = to_val(&passed_key), value;
    const int error = mdb_get(txn->txn, txn->dbi, &key, &value);
    if (error == MDB_NOTFOUND) return 0;
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    if (value.mv_size != 16 || tamis__get64((const unsigned char *)value.mv_data + 8) !=
                                   tamis__record_checksum(key_bytes(&passed_key), value.mv_data, 8))
        return fail_record(txn, TAMIS_ECORRUPT, "record of a number", "p",
                           "does not match its checksum");
    txn->store.passed = tamis__get64(value.mv_data);
    return 0;
}

void tamis__txn_close(struct tamis__catalog_txn *txn)
{
    if (txn->txn != NULL) mdb_txn_abort(txn->txn);
    if (txn->env != NULL) mdb_env_close(txn->env);
    txn->txn = NULL;
    txn->env = NULL;
}

/* ---- Transactions ---------------------------------------------------------------------------- */

/* Check the file's pages before LMDB follows them; see pages.h. */
static int check_pages(const struct tamis__catalog *catalog)
{
    struct tamis__file_info info;
    struct tamis__page_fault fault = {0, ""};
    void *map = NULL;
    int fd = -1;
    int rc = tamis__open(catalog->root_fd, "catalog.mdb", O_RDONLY, 0, catalog->file_path, &fd);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(TAMIS_ENOSTORE,
                           "there is no store here: %s is missing; 'tamis create' makes a store",
                           catalog->file_path);
    if (rc < 0) return rc;
    rc = tamis__file_info(fd, catalog->file_path, &info);
    if (rc == 0 && (!info.is_regular || info.bytes == 0))
        rc = tamis__fail(TAMIS_EFOREIGN, "%s is %s and no catalog; 'tamis repair' makes it anew",
                         catalog->file_path, info.is_regular ? "empty" : "not a regular file");
    if (rc == 0) rc = tamis__map(fd, info.bytes, false, catalog->file_path, &map);
    if (rc == 0) {
        rc = tamis__pages_check(map, (size_t)info.bytes, &fault);
        if (rc == TAMIS_ENOMEM)
            rc = tamis__fail(rc, "out of memory checking %s", catalog->file_path);
        else if (rc < 0)
            rc = tamis__fail(
                rc, "the catalog %s is damaged at byte %llu: %s; 'tamis repair' makes it anew",
                catalog->file_path, (unsigned long long)fault.offset, fault.reason);
    }
    tamis__unmap(map, info.bytes);
    if (rc == 0) { /* LMDB goes by path: it must lead where the lock and the check were */
        rc = tamis__same_file(fd, catalog->file_path);
        if (rc == 0)
            rc = tamis__fail(TAMIS_ENOSTORE, "the store of %s was moved or replaced; open it again",
                             catalog->file_path);
    }
    tamis__close(fd);
    return rc < 0 ? rc : 0;
}

static int read_store_record(struct tamis__catalog_txn *txn)
{
    const char *reason = "is missing";
    MDB_val key = to_val(&store_key), value;
    int rc = TAMIS_ECORRUPT;
    const int error = mdb_get(txn->txn, txn->dbi, &key, &value);
    if (error && error != MDB_NOTFOUND) return tamis__fail_mdb(txn->catalog, error, "read");
    if (!error)
        rc = tamis__store_record_decode(key_bytes(&store_key),
                                        (struct tamis__bytes){value.mv_data, value.mv_size},
                                        &txn->store, &reason);
    if (rc < 0) return fail_record(txn, rc, "record of the store", "s", reason);
    rc = read_passed(txn);
    txn->store_as_read = txn->store;
    return rc;
}

enum waiting { WAIT, IF_FREE, HELD };

/* 1: begun; 0: the lock is not free, and only then was it wanted. */
static int begin(const struct tamis__catalog *catalog, enum tamis__lock lock, enum waiting waiting,
                 struct tamis__catalog_txn **out)
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
    int rc = waiting == HELD ? 1 : take_lock(catalog, lock, waiting == IF_FREE, &txn->lock);
    if (rc > 0) {
        rc = check_pages(catalog);
        if (rc == 0) rc = tamis__txn_open(txn, catalog->file_path);
        if (rc == 0) rc = read_store_record(txn);
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
    const int rc = begin(catalog, lock, WAIT, txn);
    return rc < 0 ? rc : 0;
}

int tamis__catalog_begin_if_free(const struct tamis__catalog *catalog, enum tamis__lock lock,
                                 struct tamis__catalog_txn **txn)
{
    return begin(catalog, lock, IF_FREE, txn);
}

int tamis__catalog_begin_held(const struct tamis__catalog *catalog, enum tamis__lock lock,
                              struct tamis__catalog_txn **txn)
{
    const int rc = begin(catalog, lock, HELD, txn);
    return rc < 0 ? rc : 0;
}

int tamis__catalog_commit(struct tamis__catalog_txn *txn)
{
    int rc = 0;
    if (memcmp(&txn->store, &txn->store_as_read, sizeof txn->store) != 0)
        rc = write_store_record(txn);
    if (rc == 0 && txn->store.passed != txn->store_as_read.passed) rc = write_passed(txn);
    if (rc < 0) return rc;
    const int error = mdb_txn_commit(txn->txn); /* frees the transaction, whatever it returns */
    txn->txn = NULL;
    if (error) return tamis__fail_mdb(txn->catalog, error, "write");
    TAMIS__POINT(TAMIS__POINT_COMMITTED);
    return 0;
}

int tamis__catalog_commit_part(struct tamis__catalog_txn *txn)
{
    const int rc = tamis__catalog_commit(txn);
    if (rc < 0) return rc;
    txn->store_as_read = txn->store;
    return tamis__fail_mdb(txn->catalog, mdb_txn_begin(txn->env, NULL, 0, &txn->txn), "write");
}

void tamis__catalog_end(struct tamis__catalog_txn *txn)
{
    if (txn == NULL) return;
    tamis__txn_close(txn);
    tamis__private_close(&txn->lock);
    free(txn);
}

struct tamis__store_record *tamis__catalog_store(struct tamis__catalog_txn *txn)
{
    return &txn->store;
}

/* ---- Records --------------------------------------------------------------------------------- */

static int decode(const struct tamis__catalog_txn *txn, MDB_val key, MDB_val value,
                  struct tamis__record *record)
{
    const char *reason = "";
    const size_t bytes = key.mv_size - 1;
    const bool kept = *(const char *)key.mv_data == 'v';
    if (kept) {
        record->name[0] = '\0';
    } else if (bytes > TAMIS_NAME_MAX) {
        return fail_record(txn, TAMIS_ECORRUPT, "record of a filter", "", "has an impossible name");
    } else {
        memcpy(record->name, (const char *)key.mv_data + 1, bytes);
        record->name[bytes] = '\0';
    }
    int rc =
        tamis__record_decode((struct tamis__bytes){key.mv_data, key.mv_size},
                             (struct tamis__bytes){value.mv_data, value.mv_size}, record, &reason);
    if (rc == 0 && !kept) return 0;
    if (rc == 0) {
        const struct key own = generation_key('v', record->filter_id, record->generation);
        if (own.count == key.mv_size && memcmp(own.bytes, key.mv_data, own.count) == 0) return 0;
        rc = TAMIS_ECORRUPT;
        reason = "is not what its key says";
    }
    return fail_record(txn, rc, kept ? "record of a generation" : "record of filter", record->name,
                       reason);
}

/* Visit the keys that begin with `prefix`, in order. */
static int each_key(struct tamis__catalog_txn *txn, const struct key *prefix,
                    int (*visit)(void *context, MDB_val key, MDB_val value), void *context)
{
    MDB_cursor *cursor;
    MDB_val key = to_val(prefix), value;
    int rc = 0, error = mdb_cursor_open(txn->txn, txn->dbi, &cursor);
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    error = mdb_cursor_get(cursor, &key, &value, prefix->count > 0 ? MDB_SET_RANGE : MDB_FIRST);
    while (!error && rc == 0 && key.mv_size >= prefix->count &&
           memcmp(key.mv_data, prefix->bytes, prefix->count) == 0) {
        rc = visit(context, key, value);
        if (rc == 0) error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    if (rc != 0) return rc;
    return error == MDB_NOTFOUND ? 0 : tamis__fail_mdb(txn->catalog, error, "read");
}

/* Does one value match its checksum?  Counts filters by name less filters by id. */
static int check_value(void *context, MDB_val key, MDB_val value)
{
    int64_t *balance = context;
    const unsigned char *bytes = value.mv_data;
    const unsigned char type = key.mv_size > 0 ? *(const unsigned char *)key.mv_data : 0;
    if (value.mv_size < 8 ||
        tamis__get64(bytes + value.mv_size - 8) !=
            tamis__record_checksum((struct tamis__bytes){key.mv_data, key.mv_size}, bytes,
                                   value.mv_size - 8))
        return 1;
    *balance += (type == 'f') - (type == 'i');
    return 0;
}

/*
 * Before it is said that something is not there: is all that is there sound?  A damaged key is not
 * found either, and "no such filter" would be a wrong answer then.
 */
static int check_all(struct tamis__catalog_txn *txn)
{
    const struct key all = {.count = 0};
    int64_t balance = 0;
    const int rc = each_key(txn, &all, check_value, &balance);
    if (rc < 0) return rc;
    if (rc == 0 && balance == 0) return 0;
    return tamis__fail(
        TAMIS_ECORRUPT, "the catalog %s is damaged: %s; 'tamis repair' makes it anew",
        txn->catalog->file_path,
        rc > 0 ? "a record does not match its checksum" : "its names and its ids do not match");
}

/* TAMIS_ENOTFOUND, unless the catalog is damaged. */
static int not_found(struct tamis__catalog_txn *txn)
{
    const int rc = check_all(txn);
    return rc < 0 ? rc : TAMIS_ENOTFOUND;
}

int tamis__catalog_get(struct tamis__catalog_txn *txn, const char *name,
                       struct tamis__record *record)
{
    const struct key key = name_key(name);
    MDB_val k = to_val(&key), value;
    const int error = mdb_get(txn->txn, txn->dbi, &k, &value);
    if (error == MDB_NOTFOUND) return not_found(txn);
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    return decode(txn, k, value, record);
}

int tamis__catalog_get_by_id(struct tamis__catalog_txn *txn, uint64_t filter_id,
                             struct tamis__record *record)
{
    char name[TAMIS_NAME_MAX + 1];
    const struct key key = number_key('i', filter_id);
    MDB_val k = to_val(&key), value;
    const int error = mdb_get(txn->txn, txn->dbi, &k, &value);
    if (error == MDB_NOTFOUND) return not_found(txn);
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    const unsigned char *bytes = value.mv_data;
    if (value.mv_size < 9 || value.mv_size - 8 > TAMIS_NAME_MAX ||
        tamis__get64(bytes + value.mv_size - 8) !=
            tamis__record_checksum(key_bytes(&key), bytes, value.mv_size - 8))
        return fail_record(txn, TAMIS_ECORRUPT, "record of an id", "i",
                           "does not match its checksum");
    memcpy(name, bytes, value.mv_size - 8);
    name[value.mv_size - 8] = '\0';
    const int rc = tamis__catalog_get(txn, name, record);
    if (rc == TAMIS_ENOTFOUND || (rc == 0 && record->filter_id != filter_id))
        return fail_record(txn, TAMIS_ECORRUPT, "record of filter", name,
                           "is not what its id says");
    return rc;
}

int tamis__catalog_put(struct tamis__catalog_txn *txn, const struct tamis__record *record)
{
    unsigned char buffer[TAMIS__RECORD_BYTES_MAX], name[TAMIS_NAME_MAX + 8];
    const struct key key = name_key(record->name), id = number_key('i', record->filter_id);
    MDB_val k = to_val(&key), value = {.mv_data = buffer};
    value.mv_size = tamis__record_encode(record, key_bytes(&key), buffer);
    int error = mdb_put(txn->txn, txn->dbi, &k, &value, 0);
    if (!error) {
        const size_t bytes = strlen(record->name);
        const uint64_t sum = tamis__record_checksum(key_bytes(&id), record->name, bytes);
        memcpy(name, record->name, bytes);
        memcpy(name + bytes, &sum, sizeof sum);
        k = to_val(&id);
        value = (MDB_val){bytes + sizeof sum, name};
        error = mdb_put(txn->txn, txn->dbi, &k, &value, 0);
    }
    return tamis__fail_mdb(txn->catalog, error, "write");
}

int tamis__catalog_forget(struct tamis__catalog_txn *txn, const struct tamis__record *record)
{
    const struct key key = name_key(record->name), id = number_key('i', record->filter_id);
    MDB_val k = to_val(&key);
    int error = mdb_del(txn->txn, txn->dbi, &k, NULL);
    k = to_val(&id);
    if (!error) error = mdb_del(txn->txn, txn->dbi, &k, NULL);
    return tamis__fail_mdb(txn->catalog, error, "write");
}

struct record_visit {
    struct tamis__catalog_txn *txn;
    tamis__catalog_fn *fn;
    void *context;
    struct tamis__record record;
};

static int visit_record(void *context, MDB_val key, MDB_val value)
{
    struct record_visit *visit = context;
    const int rc = decode(visit->txn, key, value, &visit->record);
    return rc < 0 ? rc : visit->fn(visit->context, &visit->record);
}

int tamis__catalog_each(struct tamis__catalog_txn *txn, const char *prefix, tamis__catalog_fn *fn,
                        void *context)
{
    const struct key from = name_key(prefix);
    struct record_visit visit = {.txn = txn, .fn = fn, .context = context};
    if (strlen(prefix) > TAMIS_NAME_MAX) return 0; /* longer than any name */
    const int rc = check_all(txn);
    return rc < 0 ? rc : each_key(txn, &from, visit_record, &visit);
}

/* ---- Generations and exceptions -------------------------------------------------------------- */

static int forget_key(struct tamis__catalog_txn *txn, const struct key *key)
{
    MDB_val k = to_val(key);
    const int error = mdb_del(txn->txn, txn->dbi, &k, NULL);
    return error == MDB_NOTFOUND ? 0 : tamis__fail_mdb(txn->catalog, error, "write");
}

int tamis__catalog_put_generation(struct tamis__catalog_txn *txn,
                                  const struct tamis__record *record)
{
    unsigned char buffer[TAMIS__RECORD_BYTES_MAX];
    const struct key key = generation_key('v', record->filter_id, record->generation);
    MDB_val k = to_val(&key), value = {.mv_data = buffer};
    value.mv_size = tamis__record_encode(record, key_bytes(&key), buffer);
    return tamis__fail_mdb(txn->catalog, mdb_put(txn->txn, txn->dbi, &k, &value, 0), "write");
}

int tamis__catalog_forget_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                     uint64_t generation)
{
    const struct key key = generation_key('v', filter_id, generation);
    return forget_key(txn, &key);
}

int tamis__catalog_each_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                   tamis__catalog_fn *fn, void *context)
{
    const struct key of_one = number_key('v', filter_id), all = {{'v'}, 1};
    struct record_visit visit = {.txn = txn, .fn = fn, .context = context};
    return each_key(txn, filter_id ? &of_one : &all, visit_record, &visit);
}

int tamis__catalog_put_exceptions(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                  uint64_t generation, uint32_t chunk, const void *bytes,
                                  size_t count)
{
    const struct key key = chunk_key(filter_id, generation, chunk);
    const uint64_t sum = tamis__record_checksum(key_bytes(&key), bytes, count);
    MDB_val k = to_val(&key), value = {.mv_size = count + sizeof sum};
    const int error = mdb_put(txn->txn, txn->dbi, &k, &value, MDB_RESERVE);
    if (error) return tamis__fail_mdb(txn->catalog, error, "write");
    memcpy(value.mv_data, bytes, count);
    memcpy((char *)value.mv_data + count, &sum, sizeof sum);
    return 0;
}

int tamis__catalog_fail_exceptions(const struct tamis__catalog_txn *txn, const char *reason)
{
    return fail_record(txn, TAMIS_ECORRUPT, "record of exceptions", "x", reason);
}

struct chunk_visit {
    struct tamis__catalog_txn *txn;
    tamis__chunk_fn *fn;
    void *context;
    uint32_t chunk;
};

static int visit_chunk(void *context, MDB_val key, MDB_val value)
{
    struct chunk_visit *visit = context;
    const struct tamis__bytes name = {key.mv_data, key.mv_size};
    const unsigned char *bytes = value.mv_data;
    uint32_t chunk = 0;
    for (size_t i = CHUNK_KEY_BYTES - 4; i < key.mv_size; i++)
        chunk = chunk << 8 | ((const unsigned char *)key.mv_data)[i];
    if (key.mv_size != CHUNK_KEY_BYTES || chunk != visit->chunk++ || value.mv_size < 8 ||
        tamis__get64(bytes + value.mv_size - 8) !=
            tamis__record_checksum(name, bytes, value.mv_size - 8))
        return tamis__catalog_fail_exceptions(
            visit->txn, "is not the next one, or does not match its checksum");
    return visit->fn(visit->context, bytes, value.mv_size - 8);
}

int tamis__catalog_each_exceptions(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                   uint64_t generation, tamis__chunk_fn *fn, void *context)
{
    const struct key from = generation_key('x', filter_id, generation);
    struct chunk_visit visit = {.txn = txn, .fn = fn, .context = context};
    return each_key(txn, &from, visit_chunk, &visit);
}

static int count_chunk(void *context, const void *bytes, size_t count)
{
    (void)bytes;
    (void)count;
    (*(uint32_t *)context)++;
    return 0;
}

int tamis__catalog_forget_exceptions(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                     uint64_t generation)
{
    uint32_t count = 0;
    int rc = tamis__catalog_each_exceptions(txn, filter_id, generation, count_chunk, &count);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const struct key key = chunk_key(filter_id, generation, i);
        rc = forget_key(txn, &key);
    }
    return rc;
}

/* ---- Garbage --------------------------------------------------------------------------------- */

int tamis__catalog_put_garbage(struct tamis__catalog_txn *txn, uint64_t segment_number)
{
    const struct key key = number_key('g', segment_number);
    uint64_t sum = tamis__record_checksum(key_bytes(&key), "", 0);
    MDB_val k = to_val(&key), value = {sizeof sum, &sum};
    return tamis__fail_mdb(txn->catalog, mdb_put(txn->txn, txn->dbi, &k, &value, 0), "write");
}

int tamis__catalog_forget_garbage(struct tamis__catalog_txn *txn, uint64_t segment_number)
{
    const struct key key = number_key('g', segment_number);
    return forget_key(txn, &key);
}

struct garbage_visit {
    struct tamis__catalog_txn *txn;
    tamis__garbage_fn *fn;
    void *context;
};

static int visit_garbage(void *context, MDB_val key, MDB_val value)
{
    struct garbage_visit *visit = context;
    uint64_t number = 0;
    if (key.mv_size == 9)
        for (int i = 0; i < 8; i++)
            number = number << 8 | ((const unsigned char *)key.mv_data)[1 + i];
    if (key.mv_size != 9 || value.mv_size != 8 ||
        tamis__get64(value.mv_data) !=
            tamis__record_checksum((struct tamis__bytes){key.mv_data, key.mv_size}, "", 0))
        return fail_record(visit->txn, TAMIS_ECORRUPT, "record of a dropped segment", "g",
                           "does not match its checksum");
    return visit->fn(visit->context, number);
}

int tamis__catalog_each_garbage(struct tamis__catalog_txn *txn, tamis__garbage_fn *fn,
                                void *context)
{
    const struct key from = {{'g'}, 1};
    struct garbage_visit visit = {.txn = txn, .fn = fn, .context = context};
    return each_key(txn, &from, visit_garbage, &visit);
}
