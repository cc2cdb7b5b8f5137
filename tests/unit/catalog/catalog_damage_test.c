/* SPDX-License-Identifier: BSD-2-Clause */
/* catalog_damage_test.c: what is checked of a catalog of several levels of pages, and when. */
#include "fixture.h"

#include <stdio.h>

#include "catalogs.h"

#define FILTERS 400u

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
static void catalog_damaged_key_is_not_a_missing_filter(void **state)
{
    AUTO_FREE char *path = make_store();
    size_t bytes;
    unsigned asked = 0;
    AUTO_FREE unsigned char *sound = catalogs_read_file(path, &bytes);
    (void)state;
    for (unsigned filter = 0; filter < FILTERS; filter++) {
        char name[16];
        tamis_filter *opened;
        tamis_store *store;
        (void)snprintf(name, sizeof name, "f%06u", filter);
        catalogs_damage_key(path, filter);
        int rc = tamis_store_open(path, TAMIS_READ_ONLY, &store); /* may come by that page */
        if (rc == 0) {
            rc = tamis_filter_open(store, name, TAMIS_READ_ONLY, &opened);
            tamis_store_close(store);
            asked++;
        }
        assert_int_equal(rc, TAMIS_ECORRUPT);
        fixture_poke(fixture_join(path, "catalog.mdb"), 0, sound, bytes);
    }
    assert_true(asked > FILTERS / 2);
}

/* A name that nobody has is told so, between any two that are there, before and behind them. */
static void catalog_of_many_pages_denies_what_is_not_there(void **state)
{
    AUTO_FREE char *path = make_store();
    AUTO_STORE *store = fixture_open(path, TAMIS_READ_ONLY);
    tamis_filter *opened;
    char name[16];
    (void)state;
    for (unsigned filter = 0; filter < FILTERS; filter++) {
        (void)snprintf(name, sizeof name, "f%06u-", filter);
        assert_int_equal(tamis_filter_open(store, name, 0, &opened), TAMIS_ENOTFOUND);
    }
    assert_int_equal(tamis_filter_open(store, "a", 0, &opened), TAMIS_ENOTFOUND);
    assert_int_equal(tamis_filter_open(store, "z", 0, &opened), TAMIS_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalog_damaged_key_is_not_a_missing_filter),
        cmocka_unit_test(catalog_of_many_pages_denies_what_is_not_there),
    };
    scratch_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
