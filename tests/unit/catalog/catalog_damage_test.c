/* SPDX-License-Identifier: BSD-2-Clause */
/* catalog_damage_test.c: what is checked of a catalog of several levels of pages, and when. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "catalogs.h"

#define FILTERS 400u

static const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10};

static char *make_store(void)
{
    char *path;
    AUTO_STORE *store = fixture_store(&path);
    catalogs_put_range(store, 0, FILTERS);
    return path;
}

/* Change bit 6 of the last byte of that filter's key, wherever it stands, older pages too. */
static void damage_key(const char *path, unsigned filter)
{
    char key[16];
    size_t bytes, found = 0;
    const size_t key_bytes = (size_t)snprintf(key, sizeof key, "ff%06u", filter);
    AUTO_FREE unsigned char *file = catalogs_read_file(path, &bytes);
    for (size_t at = 0; at + key_bytes <= bytes; at++) {
        if (memcmp(file + at, key, key_bytes) != 0) continue;
        const unsigned char last = file[at + key_bytes - 1] ^ 0x40;
        fixture_poke(fixture_join(path, "catalog.mdb"), at + key_bytes - 1, &last, 1);
        found++;
    }
    assert_true(found > 0);
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
        damage_key(path, filter);
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

/*
 * A writer that knows all pages as sound checks them again when somebody else has written to the
 * file, without a commit.  Seen to fail with the times left out of memory_of().
 */
static void catalog_changed_between_two_writes_is_checked_again(void **state)
{
    AUTO_FREE char *path = make_store();
    AUTO_STORE *store = fixture_open(path, 0);
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = 5}};
    (void)state;
    assert_done(tamis_filter_create(store, "a", &spec, NULL));
    damage_key(path, 300); /* far from what the next one touches */
    assert_int_equal(utimensat(AT_FDCWD, fixture_join(path, "catalog.mdb"), times, 0), 0);
    const int rc = tamis_filter_create(store, "b", &spec, NULL);
    assert_int_equal(rc, TAMIS_ECORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalog_damaged_key_is_not_a_missing_filter),
        cmocka_unit_test(catalog_of_many_pages_denies_what_is_not_there),
        cmocka_unit_test(catalog_changed_between_two_writes_is_checked_again),
    };
    scratch_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
