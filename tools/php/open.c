/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c: handles of stores and filters, from among the kept ones (kept.c) where these still stand
 * for what is asked for.
 *
 * A directory may be replaced by another, a filter dropped, renamed or made anew, by any process
 * and at any time.  A worker of PHP-FPM lives for days, so a handle that has gone stale must not
 * stay. The directory of a store is known by its inode, which nobody else gets while the handle is
 * open.
 */
#include "php_tamis.h"
#include <sys/stat.h>

/* ---- Stores ---------------------------------------------------------------------------------- */

/* Forgets a store whose directory is another by now, with its filters. */
static void forget_store(struct kept_handle *store)
{
    struct kept_handle *newer;

    for (struct kept_handle *kept = TAMIS_G(filters).oldest; kept; kept = newer) {
        newer = kept->newer;
        if (strncmp(ZSTR_VAL(kept->key), ZSTR_VAL(store->key), ZSTR_LEN(store->key)) == 0)
            kept_forget(kept);
    }
    kept_forget(store);
    kept_leave(store);
}

struct kept_handle *open_store(zend_string *path, const struct tamis_store_options *options)
{
    tamis_store *store;
    struct stat directory = {.st_ino = 0}; /* looked at before it is opened, so never newer */
    zend_string *key = strpprintf(0, "%s|%u|%ld|", ZSTR_VAL(path), (unsigned)options->flags,
                                  (long)options->busy_timeout_ms);
    struct kept_handle *kept = kept_find(&TAMIS_G(stores), key);
    int rc;

    (void)stat(ZSTR_VAL(path), &directory);
    if (kept && (directory.st_ino == 0 || kept->device != directory.st_dev ||
                 kept->inode != directory.st_ino)) {
        forget_store(kept);
        kept = NULL;
    }
    if (!kept) {
        rc = tamis_store_open_with(ZSTR_VAL(path), options, &store);
        if (rc < 0) {
            throw_error(rc);
        } else {
            kept = kept_add(&TAMIS_G(stores), key, store, NULL);
            kept->device = directory.st_dev;
            kept->inode = directory.st_ino;
        }
    }
    zend_string_release(key);
    return kept;
}

/* ---- Filters --------------------------------------------------------------------------------- */

static zend_string *filter_key(struct kept_handle *store, zend_string *name, unsigned flags)
{
    return strpprintf(0, "%s%u|%s", ZSTR_VAL(store->key), flags, ZSTR_VAL(name));
}

/* Tells whether the handle still stands for the filter of that name, which may have been dropped or
 * renamed since it was opened.  Returns 1, 0, or TAMIS_EBUSY if the catalog is locked, so that
 * nobody can tell. */
static int is_current(struct kept_handle *kept, zend_string *name, uint64_t *generation)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    int rc = tamis_filter_stat(kept->filter, &stat);

    if (rc < 0) return rc == TAMIS_EBUSY ? rc : 0;
    *generation = stat.generation;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): PHP has parsed a name
    return strcmp(stat.name, ZSTR_VAL(name)) == 0;
}

static void forget(struct kept_handle *kept)
{
    if (!kept) return;
    kept_forget(kept);
    kept_leave(kept);
}

/* A kept handle that still stands for that name, or a new one. */
static int find_or_open(struct kept_handle *store, zend_string *name, unsigned flags,
                        struct kept_handle **found)
{
    zend_string *key = filter_key(store, name, flags);
    struct kept_handle *kept = kept_find(&TAMIS_G(filters), key);
    uint64_t generation;
    tamis_filter *filter;
    int rc = kept ? is_current(kept, name, &generation) : 0;

    if (rc == 0) {
        forget(kept);
        kept = NULL;
        rc = tamis_filter_open(store->store, ZSTR_VAL(name), flags, &filter);
        if (rc == 0) kept = kept_add(&TAMIS_G(filters), key, NULL, filter);
    }
    zend_string_release(key);
    if (rc < 0) {
        kept_leave(kept);
        kept = NULL;
    }
    *found = kept;
    return rc;
}

struct kept_handle *open_filter(struct kept_handle *store, zend_string *name, unsigned flags)
{
    struct kept_handle *kept;
    int rc = find_or_open(store, name, flags, &kept);

    if (rc < 0) throw_error(rc);
    return kept;
}

/* The bytes of a spec, and of its texts.  Two calls of openOrCreate() asked for the same if these
 * are the same. */
static zend_string *spec_bytes(const struct tamis_filter_spec *spec)
{
    struct tamis_filter_spec fields = *spec;
    const char *hash_set = spec->hash_set ? spec->hash_set : "";
    const char *key_rule = spec->key_rule ? spec->key_rule : "";
    size_t bytes = strlen(hash_set) + 1, rule_bytes = strlen(key_rule);
    zend_string *all = zend_string_alloc(sizeof fields + bytes + rule_bytes, 1);

    fields.hash_set = fields.key_rule = NULL;
    memcpy(ZSTR_VAL(all), &fields, sizeof fields);
    memcpy(ZSTR_VAL(all) + sizeof fields, hash_set, bytes);
    memcpy(ZSTR_VAL(all) + sizeof fields + bytes, key_rule, rule_bytes + 1);
    return all;
}

/* A kept handle that openOrCreate() need not open anew: it asked for the same before, and the
 * filter was not made anew since.  Opening takes ten times as long, and closing a handle that has
 * added is a checkpoint. */
static struct kept_handle *find_made(zend_string *key, zend_string *name, zend_string *made_with)
{
    struct kept_handle *kept = kept_find(&TAMIS_G(filters), key);
    uint64_t generation;

    if (kept && kept->made_with && zend_string_equals(kept->made_with, made_with) &&
        is_current(kept, name, &generation) > 0 && generation == kept->generation)
        return kept;
    kept_leave(kept);
    return NULL;
}

static struct kept_handle *make(struct kept_handle *store, zend_string *name, zend_string *key,
                                const struct tamis_filter_spec *spec, make_call *call)
{
    tamis_filter *filter;
    struct kept_handle *kept;
    int rc = call(store->store, ZSTR_VAL(name), spec, &filter);

    if (rc < 0) {
        throw_error(rc);
        return NULL;
    }
    forget(kept_find(&TAMIS_G(filters), key));
    kept = kept_add(&TAMIS_G(filters), key, NULL, filter);
    if (is_current(kept, name, &kept->generation) > 0) kept->made_with = spec_bytes(spec);
    return kept;
}

struct kept_handle *open_made(struct kept_handle *store, zend_string *name,
                              const struct tamis_filter_spec *spec, make_call *call)
{
    zend_string *key = filter_key(store, name, 0), *made_with = spec_bytes(spec);
    struct kept_handle *kept = NULL;

    if (call == tamis_filter_open_or_create) kept = find_made(key, name, made_with);
    if (!kept) kept = make(store, name, key, spec, call);
    zend_string_release(made_with);
    zend_string_release(key);
    return kept;
}

struct kept_handle *open_any(struct kept_handle *store, zend_string *name,
                             const struct tamis_filter_spec *spec)
{
    struct kept_handle *kept = NULL;
    tamis_filter *filter;
    zend_string *key;
    int rc;

    do { /* again if another process made or dropped it in between */
        rc = find_or_open(store, name, 0, &kept);
        if (rc != TAMIS_ENOTFOUND) break;
        rc = tamis_filter_create(store->store, ZSTR_VAL(name), spec, &filter);
    } while (rc == TAMIS_EEXIST);
    if (rc < 0) {
        throw_error(rc);
    } else if (!kept) {
        key = filter_key(store, name, 0);
        kept = kept_add(&TAMIS_G(filters), key, NULL, filter);
        zend_string_release(key);
    }
    return kept;
}
