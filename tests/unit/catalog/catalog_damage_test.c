/* SPDX-License-Identifier: BSD-2-Clause */
/* catalog_damage_test.c: what is checked of a catalog of several levels of pages, and when. */
#include "fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "catalogs.h"
#include "points.h"

#define FILTERS 400u
#define PAGE 4096u

static char *make_store(void)
{
    char *path;
    AUTO_STORE *store = fixture_store(&path);
    catalogs_put_range(store, 0, FILTERS);
    return path;
}

/*
 * The first and the last of each page are among them.  A filter whose key is damaged is not said to
 * be missing.  Seen to fail with not_found() answering at once.
 */
CASE(catalog_damaged_key_is_not_a_missing_filter)
{
    AUTO_FREE char *path = make_store();
    size_t bytes;
    unsigned asked = 0;
    AUTO_FREE unsigned char *sound = catalogs_read_file(path, &bytes);
    for (unsigned filter = 0; filter < FILTERS; filter++) {
        char name[16];
        tamis_filter *opened;
        tamis_store *store;
        (void)snprintf(name, sizeof name, "f%06u", filter);
        catalogs_damage_key(path, filter);
        int rc = tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &store); /* may come by that page */
        if (rc == 0) {
            rc = tamis_filter_open(store, name, TAMIS_OPEN_READ_ONLY, &opened);
            tamis_store_close(store);
            asked++;
        }
        assert_int_equal(rc, TAMIS_ECORRUPT);
        fixture_poke(fixture_join(path, "catalog.mdb"), 0, sound, bytes);
    }
    assert_true(asked > FILTERS / 2);
}

/* A name that nobody has is told so, between any two that are there, before and behind them. */
CASE(catalog_of_many_pages_denies_what_is_not_there)
{
    AUTO_FREE char *path = make_store();
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    tamis_filter *opened;
    char name[16];
    for (unsigned filter = 0; filter < FILTERS; filter++) {
        (void)snprintf(name, sizeof name, "f%06u-", filter);
        assert_int_equal(tamis_filter_open(store, name, 0, &opened), TAMIS_ENOTFOUND);
    }
    assert_int_equal(tamis_filter_open(store, "a", 0, &opened), TAMIS_ENOTFOUND);
    assert_int_equal(tamis_filter_open(store, "z", 0, &opened), TAMIS_ENOTFOUND);
}

static char *forged;

/* The first free list gets the number 0, after all pages were checked. */
static void forge_free_list(unsigned point)
{
    size_t bytes;
    if (point != TAMIS__POINT_CATALOG_CHECKED) return;
    AUTO_FREE unsigned char *file = catalogs_read_file(forged, &bytes);
    const bool second = tamis__get64(file + PAGE + 144) > tamis__get64(file + 144);
    const uint64_t page = tamis__get64(file + (second ? PAGE : 0) + 80) * PAGE;
    const uint64_t node = page + tamis__get16(file + page + 16);
    fixture_poke(fixture_join(forged, "catalog.mdb"), node + 8, "\0\0\0\0\0\0\0", 8);
}

/* In a child, which needs not give back what LMDB has lost. */
static void write_until_lmdb_gives_up(void *path)
{
    static struct tamis__record record;
    struct tamis__catalog_txn *txn;
    int rc = 0;
    tamis_store *store = fixture_open(path, 0);
    forged = path;
    tamis__point_hook = forge_free_list;
    if (tamis__catalog_begin(&store->catalog, TAMIS__LOCK_EXCLUSIVE, &txn) < 0) _exit(1);
    tamis__point_hook = NULL;
    for (unsigned i = 1000; rc == 0 && i < 3000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "f%06u", i);
        catalogs_record(&record, name, i, 1);
        rc = tamis__catalog_put(txn, &record);
    }
    if (rc != TAMIS_ECORRUPT) _exit(2);
    if (tamis__catalog_commit(txn) >= 0) _exit(3);
    tamis__catalog_end(txn);
    tamis_store_close(store);
    _exit(0);
}

/*
 * A free list that changes under a writer lets LMDB give one page twice, and assert in the middle
 * of a change.  Seen to crash with mdb_txn_abort() after that.
 */
CASE(catalog_that_lmdb_gives_up_in_a_change_is_damaged)
{
    AUTO_FREE char *path = make_store();
    tamis_store *store = fixture_open(path, 0);
    catalogs_forget_range(store, 1, 300, 2); /* leaves a list of many pages */
    tamis_store_close(store);
    assert_int_equal(fixture_child(write_until_lmdb_gives_up, path), 0);
}

/*
 * A handle that has checked the catalog before does so again once somebody wrote to it.  Seen to
 * fail with is_same_state() of opened.c that is always true: the reader believed what it knew.
 */
CASE(catalog_damaged_between_two_transactions_is_noticed)
{
    AUTO_FREE char *path = make_store();
    tamis_store *store = fixture_open(path, 0);
    tamis_filter *opened;
    size_t bytes;
    catalogs_forget_range(store, 1, 300, 2);
    tamis_store_close(store);
    forged = path;
    AUTO_FREE unsigned char *sound = catalogs_read_file(path, &bytes);
    store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    for (int round = 0; round < 3; round++) {
        tamis__pause_us(30000); /* what is checked right after a write is not kept */
        for (int again = 0; again < 2; again++)
            assert_int_equal(tamis_filter_open(store, "f000007-", 0, &opened), TAMIS_ENOTFOUND);
        forge_free_list(TAMIS__POINT_CATALOG_CHECKED);
        for (int again = 0; again < 2; again++)
            assert_int_equal(tamis_filter_open(store, "f000007-", 0, &opened), TAMIS_ECORRUPT);
        fixture_poke(fixture_join(path, "catalog.mdb"), 0, sound, bytes);
    }
    tamis_store_close(store);
}

CASES_PREPARE
{
    scratch_in_memory();
}
