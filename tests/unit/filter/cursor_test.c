/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cursor_test.c: the filters of a store one after the other, and what is known of the store
 * (store/filter/list.c).
 *
 * Seen to fail: a page that begins with the last name of the one before; a stat that does not add
 * the items up.
 */
#include "fixture.h"

#include <unistd.h>

static char *name_of(unsigned i, char name[16])
{
    (void)snprintf(name, 16, "%s%03u", i % 2 ? "odd" : "even", i);
    return name;
}

static void make_many(tamis_store *store, unsigned count)
{
    char texts[200][16];
    const char *names[200];
    assert_true(count <= 200);
    for (unsigned i = 0; i < count; i++)
        names[i] = name_of(i, texts[i]);
    assert_int_equal(tamis_filter_create_many(store, names, count, SPEC(.capacity = 100), 0),
                     count);
}

/* How many names a cursor gives; they must be in order, and begin with the prefix. */
static unsigned walk(tamis_store *store, const char *prefix, const char *drops)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    char before[TAMIS_NAME_MAX + 1] = "";
    tamis_cursor *cursor;
    unsigned count = 0;
    int rc;
    assert_done(tamis_cursor_open(store, prefix, &cursor));
    while ((rc = tamis_cursor_next(cursor, &stat)) == 1) {
        assert_true(strcmp(before, stat.name) < 0);
        assert_int_equal(strncmp(stat.name, prefix ? prefix : "", strlen(prefix ? prefix : "")), 0);
        assert_int_equal(stat.capacity, 100);
        (void)snprintf(before, sizeof before, "%s", stat.name);
        if (count++ == 0 && drops != NULL) assert_done(tamis_filter_drop(store, drops));
    }
    assert_int_equal(rc, 0);
    assert_int_equal(tamis_cursor_next(cursor, &stat), 0); /* and stays at the end */
    tamis_cursor_close(cursor);
    return count;
}

STORE_CASE(cursor_gives_each_filter_once_in_order)
{
    static const unsigned counts[] = {0, 1, 31, 32, 33, 64, 100};
    unsigned made = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        AUTO_STORE *one = fixture_store(NULL);
        make_many(one, counts[i]);
        assert_int_equal(walk(one, NULL, NULL), counts[i]);
        made += counts[i];
    }
    assert_true(made > 0);
    make_many(store, 130);
    assert_int_equal(walk(store, "even", NULL), 65);
    assert_int_equal(walk(store, "odd", NULL), 65);
    assert_int_equal(walk(store, "odd001", NULL), 1);
    assert_int_equal(walk(store, "none", NULL), 0);
    char longer[TAMIS_NAME_MAX + 2];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(walk(store, longer, NULL), 0);
}

/* The name where a page ended is gone when the next one begins. */
STORE_CASE(cursor_goes_on_behind_a_filter_that_is_dropped)
{
    char name[16];
    make_many(store, 130);
    assert_int_equal(walk(store, "even", name_of(62, name)), 65); /* the last of the first page */
    assert_int_equal(walk(store, "even", name_of(126, name)), 63);
}

STORE_CASE(cursor_and_stat_refuse_what_they_cannot_fill)
{
    struct tamis_filter_stat stat = {.size = 0};
    struct tamis_store_stat of_store = {.size = 0};
    tamis_cursor *cursor;
    assert_refused(TAMIS_EINVAL, "'store' is NULL", tamis_cursor_open(NULL, NULL, &cursor));
    assert_refused(TAMIS_EINVAL, "'cursor' is NULL", tamis_cursor_open(store, NULL, NULL));
    assert_done(tamis_cursor_open(store, NULL, &cursor));
    assert_refused(TAMIS_EINVAL, "size", tamis_cursor_next(cursor, &stat));
    tamis_cursor_close(cursor);
    tamis_cursor_close(NULL);
    assert_refused(TAMIS_EINVAL, "'cursor' is NULL", tamis_cursor_next(NULL, &stat));
    assert_refused(TAMIS_EINVAL, "size", tamis_store_stat(store, &of_store));
    assert_refused(TAMIS_EINVAL, "'store' is NULL", tamis_store_stat(NULL, &of_store));
}

STORE_CASE(stat_of_a_store_is_the_sum_of_its_filters)
{
    struct tamis_store_stat stat = TAMIS_INIT(struct tamis_store_stat);
    assert_done(tamis_store_stat(store, &stat));
    assert_int_equal(stat.filters, 0);
    make_many(store, 3);
    AUTO_FILTER *filter = fixture_opened(store, "odd001", 0);
    for (unsigned i = 0; i < 120; i++)
        assert_done(tamis_filter_add(filter, &i, sizeof i));
    assert_done(tamis_filter_sync(filter));
    assert_done(tamis_store_stat(store, &stat));
    const struct tamis_filter_stat one = fixture_stat(filter);
    assert_int_equal(stat.filters, 3);
    assert_int_equal(stat.segments, 2 + one.segment_count);
    assert_int_equal(stat.items, one.items);
    assert_true(stat.size_bytes > one.size_bytes && stat.catalog_bytes > 0 && stat.free_bytes > 0);
    assert_int_equal(stat.state, one.state);
    assert_true(stat.id != 0 && stat.created_at != 0 && stat.mode != 0);
    assert_int_equal(stat.read_only, 0);
    assert_int_equal(access(stat.path, F_OK), 0);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
