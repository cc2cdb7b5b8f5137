/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_live_test.c: the list with what the segments say now (store/filter/list_live.c).
 *
 * Seen to fail while `tamis list` told what the catalog has: the first size of a counting filter,
 * and of a window the bits of the slices so far by the capacity of all.
 */
#include "keys.h"

#include <math.h>
#include <unistd.h>

#include "segment/header.h"

static int keep(void *context, const struct tamis_filter_stat *stat)
{
    *(struct tamis_filter_stat *)context = *stat;
    return 0;
}

static struct tamis_filter_stat listed(tamis_store *store, const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat, .name = ""};
    assert_done(tamis_store_list_live(store, name, keep, &stat));
    assert_string_equal(stat.name, name);
    return stat;
}

static void add_keys(tamis_filter *filter, uint64_t from, uint64_t to)
{
    texts_add(filter, from, to);
}

static int keep_b(void *context, const struct tamis_filter_stat *stat)
{
    if (strcmp(stat->name, "b") == 0) *(struct tamis_filter_stat *)context = *stat;
    return 0;
}

/* The spare of `b` is not yet a part of it, whatever `a`, which is listed before, has in its place.
 * Seen to fail while the list kept a record's segments without its spares: `b` had a second segment
 * then, that of `a`; and one that was entered was not seen. */
STORE_CASE(list_live_tells_a_spare_from_a_segment)
{
    struct tamis_filter_stat stat = {.size = sizeof stat, .name = ""};
    AUTO_FILTER *a = fixture_create(store, "a", SPEC(.capacity = 1000));
    AUTO_FILTER *b = fixture_create(store, "b", SPEC(.capacity = 1000));
    add_keys(a, 0, 1900);
    add_keys(b, 0, 900);
    assert_int_equal(fixture_stat(a).segment_count, 2);
    assert_done(tamis_filter_sync(a)); /* so that the catalog knows of both */
    assert_done(tamis_store_list_live(store, NULL, keep_b, &stat));
    assert_int_equal(stat.segment_count, 1);
    assert_int_equal(stat.items, tamis_filter_items(b));
    add_keys(b, 900, 1900); /* enters the spare without the catalog */
    assert_done(tamis_store_list_live(store, NULL, keep_b, &stat));
    assert_int_equal(stat.segment_count, 2);
    assert_int_equal(stat.items, tamis_filter_items(b));
}

STORE_CASE(list_live_tells_the_size_of_counters_that_overflowed)
{
    tamis_filter *filter =
        fixture_create(store, "x", SPEC(.capacity = 1000, .kind = TAMIS_KIND_COUNTING));
    const uint64_t before = listed(store, "x").size_bytes;
    for (int i = 0; i < 20; i++)
        add_keys(filter, 0, 900);
    assert_done(tamis_filter_close(filter));
    const uint64_t bytes = fixture_size(fixture_segment_path(path, 1));
    assert_true(bytes > before);
    assert_int_equal(listed(store, "x").size_bytes, bytes);
}

STORE_CASE(list_live_of_segments_that_cannot_be_read_tells_what_the_catalog_has)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    const uint64_t other = 77;
    add_keys(filter, 0, 100);
    assert_done(tamis_filter_close(filter));
    const uint64_t items = listed(store, "x").items;
    fixture_poke(fixture_segment_path(path, 1), offsetof(struct tamis__segment_header, filter_id),
                 &other, sizeof other);
    assert_int_equal(listed(store, "x").items, items);
    assert_int_equal(truncate(fixture_segment_path(path, 1), 100), 0);
    assert_int_equal(listed(store, "x").items, items);
    assert_int_equal(unlink(fixture_segment_path(path, 1)), 0);
    assert_int_equal(listed(store, "x").items, items);
}

static int stop(void *context, const struct tamis_filter_stat *stat)
{
    (void)stat;
    return ++*(int *)context == 2 ? 17 : 0;
}

STORE_CASE(list_live_ends_where_its_function_says_so)
{
    int calls = 0;
    for (const char *name = "a\0b\0c\0"; *name != '\0'; name += 2)
        assert_done(tamis_filter_close(fixture_filter(store, name, 10)));
    assert_int_equal(tamis_store_list_live(store, NULL, stop, &calls), 17);
    assert_int_equal(calls, 2);
    assert_refused(TAMIS_EINVAL, "needs a store", tamis_store_list_live(NULL, NULL, stop, &calls));
    assert_refused(TAMIS_EINVAL, "needs a store", tamis_store_list_live(store, NULL, NULL, NULL));
}

STORE_CASE(list_bits_per_key_of_a_window_are_those_of_its_slices)
{
    AUTO_FILTER *filter = fixture_create(
        store, "w", SPEC(.capacity = 10000, .window_ns = 3600000000000, .slices = 5));
    const double one = listed(store, "w").bits_per_key;
    assert_true(one > 10 && one < 40); /* it was 2 */
    for (int i = 0; i < 3; i++)
        assert_done(tamis_filter_rotate(filter));
    assert_true(listed(store, "w").segment_count > 1);
    assert_true(fabs(listed(store, "w").bits_per_key - one) < 1e-9);
}
