/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exists_test.c: tamis_filter_exists().
 *
 * Broken to see it fail: a look under the lock (the call waited for the one who had it, and gave
 * up); a name that was compared up to the end of the shorter one; the file that was open, without a
 * look at where the path leads; an is_current() that says yes (what others did was not seen in the
 * pages that are kept), and a forget_kept() that forgets nothing (nor what moved to other pages).
 */
#include <stdio.h>
#include <unistd.h>

#include "fixture.h"

#define MANY 300u /* some levels of pages */

static const struct tamis_filter_spec small = {
    .size = sizeof small, .capacity = 100, .fp_rate = 0.01};

STORE_CASE(exists_follows_what_becomes_of_a_name)
{
    assert_int_equal(tamis_filter_exists(store, "a"), 0);
    assert_done(tamis_filter_create(store, "a", &small, NULL));
    assert_int_equal(tamis_filter_exists(store, "a"), 1);
    assert_done(tamis_filter_rename(store, "a", "b"));
    assert_int_equal(tamis_filter_exists(store, "a"), 0);
    assert_int_equal(tamis_filter_exists(store, "b"), 1);
    assert_done(tamis_filter_drop(store, "b"));
    assert_int_equal(tamis_filter_exists(store, "b"), 0);
    assert_refused(TAMIS_EINVAL, "", tamis_filter_exists(store, ""));
}

STORE_CASE(exists_finds_each_name_of_many_and_no_other)
{
    char texts[MANY][16], other[24];
    const char *names[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "host %u", i);
        names[i] = texts[i];
    }
    assert_int_equal(tamis_filter_create_many(store, names, MANY, &small, 0), MANY);
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(other, sizeof other, "host %u.", i);
        assert_int_equal(tamis_filter_exists(store, texts[i]), 1);
        assert_int_equal(tamis_filter_exists(store, other), 0);
    }
    assert_int_equal(tamis_filter_exists(store, "host"), 0);
}

STORE_CASE(exists_waits_for_nobody_who_has_the_lock)
{
    assert_done(tamis_filter_create(store, "a", &small, NULL));
    assert_done(tamis_store_set_busy_timeout(store, 0));
    const int lock = fixture_lock_catalog(path);
    assert_refused(TAMIS_EBUSY, "", tamis_filter_create(store, "c", &small, NULL));
    assert_int_equal(tamis_filter_exists(store, "a"), 1);
    assert_int_equal(tamis_filter_exists(store, "b"), 0);
    (void)close(lock);
}

/* A look leaves the catalog's file open for the next one. */
STORE_CASE(exists_asks_the_catalog_that_the_path_leads_to)
{
    char older[1 << 16];
    const char *catalog = fixture_join(path, "catalog.mdb");
    assert_done(tamis_filter_create(store, "a", &small, NULL));
    FILE *file = fopen(catalog, "rb");
    const size_t bytes = fread(older, 1, sizeof older, file);
    (void)fclose(file);
    assert_done(tamis_filter_create(store, "b", &small, NULL));
    assert_int_equal(tamis_filter_exists(store, "b"), 1);
    assert_int_equal(unlink(catalog), 0);
    file = fopen(catalog, "wb");
    assert_int_equal(fwrite(older, 1, bytes, file), bytes);
    (void)fclose(file);
    assert_int_equal(tamis_filter_exists(store, "a"), 1);
    assert_int_equal(tamis_filter_exists(store, "b"), 0);
}

/* A look keeps pages for the next one. */
STORE_CASE(exists_follows_what_others_do_among_many)
{
    char texts[MANY][16], name[16];
    const char *names[MANY];
    tamis_store *other;
    assert_done(tamis_store_open(path, 0, &other));
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "host %u", i);
        names[i] = texts[i];
    }
    assert_int_equal(tamis_filter_create_many(store, names, MANY, &small, 0), MANY);
    for (unsigned i = 0; i < MANY; i += 3) {
        (void)snprintf(name, sizeof name, "host %u.5", i);
        assert_int_equal(tamis_filter_exists(store, name), 0);
        assert_int_equal(tamis_filter_exists(store, texts[MANY - 1 - i]), 1);
        assert_done(tamis_filter_create(other, name, &small, NULL));
        assert_int_equal(tamis_filter_exists(store, name), 1);
        assert_done(tamis_filter_drop(other, texts[i]));
        assert_int_equal(tamis_filter_exists(store, texts[i]), 0);
        assert_int_equal(tamis_filter_exists(store, texts[i + 1]), 1);
    }
    tamis_store_close(other);
}
