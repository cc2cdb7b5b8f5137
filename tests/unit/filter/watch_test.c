/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_test.c: a list that is looked at again and again (store/filter/list_live.c): what it tells
 * while adders, makers and droppers go on, and that it waits for nobody.
 */
#include "keys.h"

#include <unistd.h>

/* All that a look told: the names in order, and the items of all. */
struct seen {
    char names[64];
    uint64_t items;
    uint32_t state;
};

static int note(void *context, const struct tamis_filter_stat *stat)
{
    struct seen *seen = context;
    strcat(strcat(seen->names, stat->name), " ");
    seen->items += stat->items;
    seen->state |= stat->state;
    return 0;
}

static struct seen look(tamis_watch *watch)
{
    struct seen seen = {.names = ""};
    assert_done(tamis_watch_look(watch, note, &seen));
    return seen;
}

static tamis_watch *watch_of(tamis_store *store, const char *prefix)
{
    tamis_watch *watch;
    assert_done(tamis_watch_new(store, prefix, &watch));
    return watch;
}

static void make(tamis_store *store, const char *name)
{
    assert_done(tamis_filter_close(fixture_filter(store, name, 10)));
}

STORE_CASE(watch_tells_what_an_adder_does)
{
    tamis_watch *watch = watch_of(store, NULL);
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(look(watch).items, 0);
    for (uint64_t keys = 500; keys <= 4000; keys += 500) { /* it grows meanwhile */
        texts_add(filter, keys - 500, keys);
        assert_int_equal(look(watch).items, tamis_filter_items(filter));
    }
    tamis_watch_free(watch);
}

STORE_CASE(watch_tells_filters_that_come_and_go)
{
    tamis_watch *watch = watch_of(store, NULL), *some = watch_of(store, "b");
    assert_string_equal(look(watch).names, "");
    make(store, "b");
    assert_string_equal(look(watch).names, "b ");
    make(store, "a");
    assert_string_equal(look(watch).names, "a b ");
    assert_string_equal(look(some).names, "b ");
    assert_done(tamis_filter_rename(store, "a", "bb"));
    assert_string_equal(look(watch).names, "b bb ");
    assert_string_equal(look(some).names, "b bb ");
    assert_done(tamis_filter_drop(store, "b"));
    assert_string_equal(look(watch).names, "bb ");
    assert_int_equal(look(watch).state, 0);
    tamis_watch_free(watch);
    tamis_watch_free(some);
}

/* (Broken: each look takes the lock: TAMIS_EBUSY; each look takes it if it is free, and tells
 * nothing otherwise.) */
STORE_CASE(watch_waits_for_nobody)
{
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    tamis_watch *watch = watch_of(store, NULL);
    assert_done(tamis_store_set_busy_timeout(store, 0));
    assert_string_equal(look(watch).names, "x ");
    const int lock = fixture_lock_catalog(path);
    texts_add(filter, 0, 300);
    struct seen seen = look(watch);
    assert_string_equal(seen.names, "x ");
    assert_int_equal(seen.items, tamis_filter_items(filter));
    /* Its first look does need the catalog. */
    tamis_watch *late = watch_of(store, NULL);
    assert_refused(TAMIS_EBUSY, "lock", tamis_watch_look(late, note, &seen));
    close(lock);
    assert_string_equal(look(late).names, "x ");
    tamis_watch_free(late);
    tamis_watch_free(watch);
}

/* Whoever has the lock may be changing the catalog.  What was there before is told meanwhile. */
STORE_CASE(watch_tells_the_list_before_while_the_catalog_is_locked)
{
    tamis_watch *watch = watch_of(store, NULL);
    make(store, "a");
    assert_string_equal(look(watch).names, "a ");
    make(store, "b");
    const int lock = fixture_lock_catalog(path);
    assert_string_equal(look(watch).names, "a ");
    close(lock);
    assert_string_equal(look(watch).names, "a b ");
    tamis_watch_free(watch);
}

/* A filter that is gone, but that the watch still knows of, is not damaged. */
STORE_CASE(watch_of_a_dropped_filter_tells_no_damage)
{
    tamis_watch *watch = watch_of(store, NULL);
    make(store, "a");
    assert_string_equal(look(watch).names, "a ");
    assert_done(tamis_filter_drop(store, "a"));
    const int lock = fixture_lock_catalog(path);
    const struct seen seen = look(watch);
    assert_string_equal(seen.names, "a ");
    assert_int_equal(seen.state, 0);
    close(lock);
    assert_string_equal(look(watch).names, "");
    tamis_watch_free(watch);
}

static int stop(void *context, const struct tamis_filter_stat *stat)
{
    (void)stat;
    ++*(int *)context;
    return 42;
}

STORE_CASE(watch_ends_as_fn_says)
{
    int calls = 0;
    tamis_watch *watch = watch_of(store, NULL);
    make(store, "a");
    make(store, "b");
    assert_int_equal(tamis_watch_look(watch, stop, &calls), 42);
    assert_int_equal(calls, 1);
    assert_string_equal(look(watch).names, "a b ");
    tamis_watch_free(watch);
    tamis_watch_free(NULL);
    assert_refused(TAMIS_EINVAL, "watch", tamis_watch_look(NULL, note, NULL));
    assert_refused(TAMIS_EINVAL, "store", tamis_watch_new(NULL, NULL, &watch));
}

/* The store stays open for it. */
CASE(watch_outlives_the_handle_of_its_store)
{
    AUTO_FREE char *path = NULL;
    tamis_store *store = fixture_store(&path);
    make(store, "a");
    tamis_watch *watch = watch_of(store, NULL);
    tamis_store_close(store);
    assert_string_equal(look(watch).names, "a ");
    tamis_watch_free(watch);
}
