/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_format_test.c: the number of a store's format (docs/format.md 2.2), and stores that have
 * drawers, which no release has made.
 *
 * Broken to see it fail: no number for files of one page, or for all files; a number that is not
 * looked at; one that a repair takes for damage; a key `d` that is passed over; a `.drw` that is a
 * foreign name.
 */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "catalog/lmdb.h"
#include "catalogs.h"
#include "txn/store.h"

static const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 100000};

static uint32_t format_of(tamis_store *store)
{
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    const uint32_t format = tamis__catalog_store(txn)->format;
    tamis__catalog_end(txn);
    return format;
}

/* Every call that begins with this store is refused with these words, and leaves it as it is. */
static void assert_refused_whole(tamis_store *store, const char *path, const char *words)
{
    tamis_store *other;
    size_t bytes = 0, bytes_after = 0;
    unsigned char *before = catalogs_read_file(path, &bytes);
    assert_refused(TAMIS_EVERSION, words, tamis_store_open(path, 0, &other));
    assert_refused(TAMIS_EVERSION, words, tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &other));
    assert_refused(TAMIS_EVERSION, words, tamis_filter_create(store, "more", &spec, NULL));
    assert_refused(TAMIS_EVERSION, words, tamis_filter_drop(store, "a"));
    assert_refused(TAMIS_EVERSION, words, tamis_store_verify(store, NULL, NULL, NULL));
    assert_refused(TAMIS_EVERSION, words, tamis_store_repair(path, 0, NULL, NULL));
    assert_refused(TAMIS_EVERSION, words,
                   tamis_store_repair(path, TAMIS_REPAIR_REBUILD, NULL, NULL));
    unsigned char *after = catalogs_read_file(path, &bytes_after);
    assert_int_equal(bytes, bytes_after);
    assert_memory_equal(before, after, bytes);
    assert_int_equal(access(fixture_segment_path(path, 1), F_OK), 0);
    free(before);
    free(after);
}

STORE_CASE(store_of_a_newer_format_is_newer_and_not_damaged)
{
    assert_done(tamis_filter_create(store, "a", &spec, NULL));
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    tamis__catalog_store(txn)->format = TAMIS__STORE_FORMAT_NEWEST + 1;
    catalogs_commit(txn);
    assert_refused_whole(store, path, "was made by a newer Tamis (format 3)");
}

STORE_CASE(store_without_a_new_thing_keeps_its_format)
{
    uint8_t id[TAMIS_ID_BYTES] = {1};
    assert_done(tamis_filter_create(store, "a", &spec, NULL));
    assert_done(tamis_filter_rename(store, "a", "b"));
    assert_int_equal(format_of(store), TAMIS__STORE_FORMAT_FIRST);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__catalog_put_tag(txn, 1, id));
    catalogs_commit(txn);
    assert_int_equal(format_of(store), TAMIS__STORE_FORMAT_IDS);
    assert_done(tamis_filter_drop(store, "b")); /* the number never goes down */
    assert_int_equal(format_of(store), TAMIS__STORE_FORMAT_IDS);
    (void)path;
}

/* The first file of one page makes a store of format 2, whatever makes the file. */
STORE_CASE(store_with_a_file_of_one_page_is_of_format_2)
{
    assert_done(tamis_filter_create(store, "large", &spec, NULL));
    assert_int_equal(format_of(store), TAMIS__STORE_FORMAT_FIRST);
    assert_done(tamis_filter_create(store, "small", SPEC(.capacity = 100), NULL));
    assert_int_equal(format_of(store), TAMIS__STORE_FORMAT_ONE_PAGE);
    assert_done(tamis_filter_drop(store, "small"));
    assert_int_equal(format_of(store), TAMIS__STORE_FORMAT_ONE_PAGE);
    /* A catalog that is made anew keeps the number, if the old one can be read. */
    assert_true(tamis_store_repair(path, TAMIS_REPAIR_REBUILD, NULL, NULL) >= 0);
    AUTO_STORE *anew = fixture_open(path, 0);
    assert_int_equal(format_of(anew), TAMIS__STORE_FORMAT_ONE_PAGE);
}

/* Without the old catalog, the number is that of what is found. */
STORE_CASE(store_whose_catalog_is_lost_gets_the_format_of_its_files)
{
    assert_done(tamis_filter_create(store, "large", &spec, NULL));
    assert_int_equal(unlink(fixture_join(path, "catalog.mdb")), 0);
    assert_true(tamis_store_repair(path, TAMIS_REPAIR_REBUILD, NULL, NULL) >= 0);
    tamis_store *anew = fixture_open(path, 0);
    assert_int_equal(format_of(anew), TAMIS__STORE_FORMAT_FIRST);
    assert_done(tamis_filter_create(anew, "small", SPEC(.capacity = 100), NULL));
    assert_int_equal(unlink(fixture_join(path, "catalog.mdb")), 0);
    tamis_store_close(anew);
    assert_true(tamis_store_repair(path, TAMIS_REPAIR_REBUILD, NULL, NULL) >= 0);
    anew = fixture_open(path, 0);
    assert_int_equal(format_of(anew), TAMIS__STORE_FORMAT_ONE_PAGE);
    tamis_store_close(anew);
}

/* What the only record of drawers has is of no concern. */
STORE_CASE(store_with_drawers_is_refused_by_its_catalog)
{
    static const struct tamis__key drawers = {{'d'}, 1};
    const uint64_t next = 2;
    assert_done(tamis_filter_create(store, "a", &spec, NULL));
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__txn_put_summed(txn, &drawers, &next, sizeof next));
    catalogs_commit(txn);
    assert_refused_whole(store, path, "has drawers");
    assert_non_null(strstr(tamis_last_error(), path));
}

/* The catalog is lost, or does not know of them. */
STORE_CASE(store_with_drawers_is_refused_by_its_files)
{
    char catalog[4096];
    assert_done(tamis_filter_create(store, "a", &spec, NULL));
    const char *drawer = fixture_join(path, "segments/0000000000000001.drw");
    const int fd = open(drawer, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_refused(TAMIS_EVERSION, "has drawers", tamis_store_verify(store, NULL, NULL, NULL));
    assert_refused(TAMIS_EVERSION, "has drawers", tamis_store_repair(path, 0, NULL, NULL));
    (void)snprintf(catalog, sizeof catalog, "%s/catalog.mdb", path);
    assert_int_equal(unlink(catalog), 0);
    assert_refused(TAMIS_EVERSION, "has drawers", tamis_store_repair(path, 0, NULL, NULL));
    assert_int_equal(access(fixture_join(path, "segments/0000000000000001.drw"), F_OK), 0);
    assert_int_equal(access(fixture_segment_path(path, 1), F_OK), 0);
}
