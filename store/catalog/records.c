/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.c: reads and writes what the catalog holds, in a transaction: filters, generations that
 * are kept, garbage.  catalog.c lists the keys.
 */
#include "catalog/lmdb.h"

static struct tamis__key tamis__generation_key(char type, uint64_t filter_id, uint64_t generation)
{
    struct tamis__key key = tamis__number_key(type, filter_id);
    const struct tamis__key second = tamis__number_key(type, generation);
    memcpy(key.bytes + key.count, second.bytes + 1, 8);
    key.count += 8;
    return key;
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
        return tamis__fail_record(txn, TAMIS_ECORRUPT, "record of a filter", "",
                                  "has an impossible name");
    } else {
        memcpy(record->name, (const char *)key.mv_data + 1, bytes);
        record->name[bytes] = '\0';
    }
    int rc =
        tamis__record_decode((struct tamis__bytes){key.mv_data, key.mv_size},
                             (struct tamis__bytes){value.mv_data, value.mv_size}, record, &reason);
    if (rc == 0 && !kept) return 0;
    if (rc == 0) {
        const struct tamis__key own =
            tamis__generation_key('v', record->filter_id, record->generation);
        if (own.count == key.mv_size && memcmp(own.bytes, key.mv_data, own.count) == 0) return 0;
        rc = TAMIS_ECORRUPT;
        reason = "is not what its key says";
    }
    return tamis__fail_record(txn, rc, kept ? "record of a generation" : "record of filter",
                              record->name, reason);
}

/* Visits the keys that begin with `prefix`, in order. */
static int each_key_after(struct tamis__catalog_txn *txn, const struct tamis__key *prefix,
                          const struct tamis__key *after,
                          int (*visit)(void *context, MDB_val key, MDB_val value), void *context)
{
    MDB_cursor *cursor;
    MDB_val key = tamis__key_val(after != NULL ? after : prefix), value;
    int rc = 0, error = mdb_cursor_open(txn->txn, txn->dbi, &cursor);
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    rc = tamis__txn_check_key(txn, key, true);
    if (rc == 0)
        error = tamis__mdb_cursor_get(txn, cursor, &key, &value,
                                      key.mv_size > 0 ? MDB_SET_RANGE : MDB_FIRST);
    if (rc == 0 && !error && after != NULL && key.mv_size == after->count &&
        memcmp(key.mv_data, after->bytes, after->count) == 0) {
        rc = tamis__txn_check_key(txn, key, true);
        if (rc == 0) error = tamis__mdb_cursor_get(txn, cursor, &key, &value, MDB_NEXT);
    }
    while (!error && rc == 0 && key.mv_size >= prefix->count &&
           memcmp(key.mv_data, prefix->bytes, prefix->count) == 0) {
        rc = visit(context, key, value);
        if (rc == 0) rc = tamis__txn_check_key(txn, key, true);
        if (rc == 0) error = tamis__mdb_cursor_get(txn, cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    if (rc == 0 && error != MDB_NOTFOUND) rc = tamis__fail_mdb(txn->catalog, error, "read");
    return tamis__txn_answer(txn, rc);
}

static int each_key(struct tamis__catalog_txn *txn, const struct tamis__key *prefix,
                    int (*visit)(void *context, MDB_val key, MDB_val value), void *context)
{
    return each_key_after(txn, prefix, NULL, visit, context);
}

/* Does one value match its checksum?  Also counts filters by name, less filters by id. */
static int check_value(void *context, MDB_val key, MDB_val value)
{
    int64_t *balance = context;
    const unsigned char type = key.mv_size > 0 ? *(const unsigned char *)key.mv_data : 0;
    if (!tamis__matches_sum(key, value)) return 1;
    *balance += (type == 'f') - (type == 'i');
    return 0;
}

static int fail_damaged(const struct tamis__catalog_txn *txn, const char *reason)
{
    return tamis__fail(TAMIS_ECORRUPT,
                       "the catalog %s is damaged: %s; 'tamis repair' makes it anew",
                       txn->catalog->file_path, reason);
}

#define BAD_SUM "a record does not match its checksum"

/* Called before all filters are listed: is everything there sound?  A record under a damaged key no
 * longer belongs to a filter. */
static int check_all_records(struct tamis__catalog_txn *txn)
{
    const struct tamis__key all = {.count = 0};
    int64_t balance = 0;
    int rc = tamis__txn_check_pages(txn);
    if (rc == 0) rc = each_key(txn, &all, check_value, &balance);
    if (rc < 0) return rc;
    if (rc > 0) return fail_damaged(txn, BAD_SUM);
    return balance == 0 ? 0 : fail_damaged(txn, "its names and its ids do not match");
}

/* Checks the record behind the place where the key would be, and the one before it.  Returns 1 if
 * one of them is damaged. */
static int check_beside(struct tamis__catalog_txn *txn, MDB_cursor *cursor, MDB_val key)
{
    MDB_val value;
    int64_t balance = 0;
    int error = tamis__mdb_cursor_get(txn, cursor, &key, &value, MDB_SET_RANGE);
    if (error && error != MDB_NOTFOUND) return tamis__fail_mdb(txn->catalog, error, "read");
    if (!error && check_value(&balance, key, value)) return 1;
    error = tamis__mdb_cursor_get(txn, cursor, &key, &value, error ? MDB_LAST : MDB_PREV);
    if (error == MDB_NOTFOUND) return 0;
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    return check_value(&balance, key, value);
}

/*
 * Returns TAMIS_ENOTFOUND, unless the catalog is damaged: a damaged key is not found either,
 * and "no such filter" would be a wrong answer then.  The pages on the path are in order.  So
 * if the key had been there and was damaged, its record stands where the search for it ends: it
 * is the last key before that place or the first behind it, and its checksum, over key and
 * value, does not match.
 */
static int not_found(struct tamis__catalog_txn *txn, const struct tamis__key *key)
{
    MDB_cursor *cursor;
    int rc = tamis__txn_check_key(txn, tamis__key_val(key), true);
    if (rc < 0) return rc;
    const int error = mdb_cursor_open(txn->txn, txn->dbi, &cursor);
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    rc = check_beside(txn, cursor, tamis__key_val(key));
    mdb_cursor_close(cursor);
    if (rc > 0) rc = fail_damaged(txn, BAD_SUM);
    return tamis__txn_answer(txn, rc < 0 ? rc : TAMIS_ENOTFOUND);
}

int tamis__catalog_get(struct tamis__catalog_txn *txn, const char *name,
                       struct tamis__record *record)
{
    const struct tamis__key key = tamis__name_key(name);
    MDB_val value;
    const int rc = tamis__txn_get(txn, &key, &value);
    if (rc == TAMIS_ENOTFOUND) return not_found(txn, &key);
    return tamis__txn_answer(txn, rc < 0 ? rc : decode(txn, tamis__key_val(&key), value, record));
}

int tamis__catalog_get_by_id(struct tamis__catalog_txn *txn, uint64_t filter_id,
                             struct tamis__record *record)
{
    char name[TAMIS_NAME_MAX + 1];
    const struct tamis__key key = tamis__number_key('i', filter_id);
    const void *bytes;
    size_t count;
    int rc = tamis__txn_get_summed(txn, &key, "record of an id", &bytes, &count);
    if (rc == TAMIS_ENOTFOUND) return not_found(txn, &key);
    if (rc < 0) return tamis__txn_answer(txn, rc);
    if (count == 0 || count > TAMIS_NAME_MAX)
        return tamis__fail_record(txn, TAMIS_ECORRUPT, "record of an id", "i",
                                  "has an impossible length");
    memcpy(name, bytes, count);
    name[count] = '\0';
    rc = tamis__catalog_get(txn, name, record);
    if (rc == TAMIS_ENOTFOUND || (rc == 0 && record->filter_id != filter_id))
        return tamis__fail_record(txn, TAMIS_ECORRUPT, "record of filter", name,
                                  "is not what its id says");
    return rc;
}

static int fail_new_record(const struct tamis__catalog_txn *txn, const struct tamis__key *key,
                           const struct tamis__record *record, const char *problem)
{
    char quoted[TAMIS__QUOTED_BYTES];
    const bool kept = key->bytes[0] == 'v';
    return tamis__fail(TAMIS_ECORRUPT,
                       "the catalog %s: the new record of %s%s %s, and is not written; 'tamis "
                       "verify' tells whether a file is damaged",
                       txn->catalog->file_path, kept ? "a generation" : "filter ",
                       kept ? "" : tamis__quote(quoted, record->name), problem);
}

static int put_record(struct tamis__catalog_txn *txn, const struct tamis__key *key,
                      const struct tamis__record *record)
{
    unsigned char buffer[TAMIS__RECORD_BYTES_MAX];
    const char *problem = tamis__record_problem(record);
    if (problem != NULL) return fail_new_record(txn, key, record, problem);
    const size_t bytes = tamis__record_encode(record, tamis__key_bytes(key), buffer);
    for (uint32_t i = 0; i < record->segment_count + record->spare_count; i++)
        if (record->segments[i].file_bytes == TAMIS__HEADER_BYTES)
            tamis__catalog_raise_format(txn, TAMIS__STORE_FORMAT_ONE_PAGE);
    return tamis__txn_put(txn, key, buffer, bytes);
}

int tamis__catalog_put(struct tamis__catalog_txn *txn, const struct tamis__record *record)
{
    const struct tamis__key key = tamis__name_key(record->name),
                            id = tamis__number_key('i', record->filter_id);
    const int rc = put_record(txn, &key, record);
    return rc < 0 ? rc : tamis__txn_put_summed(txn, &id, record->name, strlen(record->name));
}

/* Deletes a record that may be there. */
static int forget_key(struct tamis__catalog_txn *txn, const struct tamis__key *key)
{
    const int rc = tamis__txn_delete(txn, key);
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}

int tamis__catalog_forget(struct tamis__catalog_txn *txn, const struct tamis__record *record)
{
    const struct tamis__key key = tamis__name_key(record->name),
                            id = tamis__number_key('i', record->filter_id);
    const int rc = tamis__txn_delete(txn, &key);
    return rc < 0 ? rc : tamis__txn_delete(txn, &id);
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
    return rc < 0 || visit->fn == NULL ? rc : visit->fn(visit->context, &visit->record);
}

int tamis__catalog_each(struct tamis__catalog_txn *txn, const char *prefix, tamis__catalog_fn *fn,
                        void *context)
{
    const struct tamis__key from = tamis__name_key(prefix);
    struct record_visit visit = {.txn = txn, .fn = fn, .context = context};
    if (strlen(prefix) > TAMIS_NAME_MAX) return 0; /* longer than any name */
    const int rc = check_all_records(txn);
    return rc < 0 ? rc : each_key(txn, &from, visit_record, &visit);
}

int tamis__catalog_each_after(struct tamis__catalog_txn *txn, const char *prefix, const char *after,
                              tamis__catalog_fn *fn, void *context)
{
    const struct tamis__key from = tamis__name_key(prefix), behind = tamis__name_key(after);
    struct record_visit visit = {.txn = txn, .fn = fn, .context = context};
    return each_key_after(txn, &from, &behind, visit_record, &visit);
}

/* ---- Generations ----------------------------------------------------------------------------- */

int tamis__catalog_put_generation(struct tamis__catalog_txn *txn,
                                  const struct tamis__record *record)
{
    const struct tamis__key key = tamis__generation_key('v', record->filter_id, record->generation);
    return put_record(txn, &key, record);
}

int tamis__catalog_get_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                  uint64_t generation, struct tamis__record *record)
{
    const struct tamis__key key = tamis__generation_key('v', filter_id, generation);
    MDB_val value;
    const int rc = tamis__txn_get(txn, &key, &value);
    return rc < 0 ? rc : decode(txn, tamis__key_val(&key), value, record);
}

int tamis__catalog_forget_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                     uint64_t generation)
{
    const struct tamis__key key = tamis__generation_key('v', filter_id, generation);
    return forget_key(txn, &key);
}

int tamis__catalog_each_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                   tamis__catalog_fn *fn, void *context)
{
    const struct tamis__key of_one = tamis__number_key('v', filter_id), all = {{'v'}, 1};
    struct record_visit visit = {.txn = txn, .fn = fn, .context = context};
    return each_key(txn, filter_id ? &of_one : &all, visit_record, &visit);
}

/* ---- Garbage --------------------------------------------------------------------------------- */

int tamis__catalog_put_garbage(struct tamis__catalog_txn *txn, uint64_t segment_number)
{
    const struct tamis__key key = tamis__number_key('g', segment_number);
    return tamis__txn_put_summed(txn, &key, "", 0);
}

int tamis__catalog_forget_garbage(struct tamis__catalog_txn *txn, uint64_t segment_number)
{
    const struct tamis__key key = tamis__number_key('g', segment_number);
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
    if (key.mv_size != 9 || value.mv_size != 8 || !tamis__matches_sum(key, value))
        return tamis__fail_record(visit->txn, TAMIS_ECORRUPT, "record of a dropped segment", "g",
                                  "does not match its checksum");
    return visit->fn != NULL ? visit->fn(visit->context, number) : 0;
}

int tamis__catalog_each_garbage(struct tamis__catalog_txn *txn, tamis__garbage_fn *fn,
                                void *context)
{
    const struct tamis__key from = {{'g'}, 1};
    struct garbage_visit visit = {.txn = txn, .fn = fn, .context = context};
    return each_key(txn, &from, visit_garbage, &visit);
}

/* ---- Trouble, and the boot ------------------------------------------------------------------- */

/* Reads words; returns 1, or 0 and zeros if there are none.  Words up to `count` that the record
 * lacks are 0. */
static int get_words(struct tamis__catalog_txn *txn, const struct tamis__key *key, const char *what,
                     uint64_t *words, size_t count)
{
    const void *bytes;
    size_t size;
    const int rc = tamis__txn_get_summed(txn, key, what, &bytes, &size);
    memset(words, 0, count * 8);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? 0 : rc;
    if (size % 8 != 0 || size < 16 || size > count * 8)
        return tamis__fail_record(txn, TAMIS_ECORRUPT, what, "", "has an impossible length");
    memcpy(words, bytes, size);
    return 1;
}

int tamis__catalog_get_trouble(struct tamis__catalog_txn *txn, uint64_t filter_id,
                               struct tamis__trouble *trouble)
{
    const struct tamis__key key = tamis__number_key('u', filter_id);
    uint64_t words[4];
    const int rc = get_words(txn, &key, "record of a filter in trouble", words, 4);
    *trouble =
        (struct tamis__trouble){(int64_t)words[0], (int64_t)words[1], (int64_t)words[2], words[3]};
    return rc < 0 ? rc : 0;
}

int tamis__catalog_put_trouble(struct tamis__catalog_txn *txn, uint64_t filter_id,
                               struct tamis__trouble trouble)
{
    const struct tamis__key key = tamis__number_key('u', filter_id);
    const uint64_t words[4] = {(uint64_t)trouble.unclean_since, (uint64_t)trouble.degraded_since,
                               (uint64_t)trouble.damaged_since, trouble.missing_keys};
    if ((words[0] | words[1] | words[2] | words[3]) == 0) return forget_key(txn, &key);
    return tamis__txn_put_summed(txn, &key, words, words[3] != 0 ? 32 : words[2] != 0 ? 24 : 16);
}

static const struct tamis__key boot_key = {{'b'}, 1};

int tamis__catalog_is_of_boot(struct tamis__catalog_txn *txn,
                              const uint8_t boot_id[TAMIS__BOOT_ID_BYTES])
{
    uint64_t words[2];
    const int rc = get_words(txn, &boot_key, "record of the boot", words, 2);
    return rc <= 0 ? rc : memcmp(words, boot_id, sizeof words) == 0;
}

int tamis__catalog_put_boot(struct tamis__catalog_txn *txn,
                            const uint8_t boot_id[TAMIS__BOOT_ID_BYTES])
{
    return tamis__txn_put_summed(txn, &boot_key, boot_id, TAMIS__BOOT_ID_BYTES);
}
