/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events_test.c: what a program is told of its filters (store/txn/event.c).
 *
 * Seen to fail: growth that is told as rotation; a sync that is slow only after 100 seconds.
 */
#include "keys.h"
#include "numbers.h"

#include <time.h>

#include "base/point.h"

struct told {
    unsigned grew, rotated, unclean, slow;
    uint32_t segments;
    int64_t ns;
};

static void note(void *context, const struct tamis_event *event)
{
    struct told *told = context;
    told->grew += event->type == TAMIS_EVENT_GREW;
    told->rotated += event->type == TAMIS_EVENT_ROTATED;
    told->unclean += event->type == TAMIS_EVENT_UNCLEAN;
    told->slow += event->type == TAMIS_EVENT_SLOW_SYNC;
    told->segments = event->segments;
    told->ns = event->ns;
    assert_string_equal(event->filter, "x");
    assert_int_equal(event->size, sizeof *event);
}

CASE(event_of_growth_is_told_once_to_each_handle)
{
    struct told told = {0}, other = {0};
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    AUTO_STORE *beside = fixture_open(path, 0);
    assert_done(tamis_store_set_event_callback(store, note, &told));
    assert_done(tamis_store_set_event_callback(beside, note, &other));
    AUTO_FILTER *filter = fixture_create(store, "x", SPEC(.capacity = 1000, .fp_rate = 0.01));
    AUTO_FILTER *reader = fixture_opened(beside, "x", 0);
    keys_add(filter, 0, 900);
    assert_int_equal(told.grew, 0);
    keys_add(filter, 900, 1100);
    assert_int_equal(told.grew, 1);
    assert_int_equal(told.segments, 2);
    assert_int_equal(keys_found(reader, 0, 1100), 1100);
    assert_int_equal(keys_found(reader, 0, 1100), 1100);
    assert_int_equal(other.grew, 1);
    assert_int_equal(told.rotated + told.unclean + told.slow, 0);
    assert_done(tamis_store_set_event_callback(store, NULL, NULL));
    keys_add(filter, 1100, 9000);
    assert_int_equal(told.grew, 1);
    assert_refused(TAMIS_EINVAL, "NULL", tamis_store_set_event_callback(NULL, note, &told));
}

SOUND_CASE(event_of_rotation_is_told)
{
    struct told told = {0};
    assert_done(tamis_store_set_event_callback(store, note, &told));
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.capacity = 1000, .window_items = 1000, .slices = 2));
    keys_add(filter, 0, 10);
    assert_done(tamis_filter_rotate(filter));
    assert_int_equal(told.rotated, 1);
    assert_int_equal(told.grew, 0);
}

static int delay_sync(const char *verb, const char *what)
{
    const struct timespec time = {1, 1000000}; /* TAMIS_SLOW_SYNC_NS and a little */
    (void)what;
    if (strcmp(verb, "msync") == 0) (void)nanosleep(&time, NULL);
    return 0;
}

SOUND_CASE(event_of_a_slow_sync_has_its_time)
{
    struct told told = {0};
    assert_done(tamis_store_set_event_callback(store, note, &told));
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    keys_add(filter, 0, 10);
    tamis__io_hook = delay_sync;
    const int rc = tamis_filter_sync(filter);
    tamis__io_hook = NULL;
    assert_done(rc);
    assert_int_equal(told.slow, 1);
    assert_true(told.ns >= TAMIS_SLOW_SYNC_NS);
}

static const uint8_t other_boot[16] = {1, 2, 3};

CASE(event_of_an_unclean_filter_is_told_when_it_is_opened)
{
    struct told told = {0};
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    keys_add(filter, 0, 10);
    AUTO_FREE char *copy = scratch_path("copy"); /* as the disk may be after a power cut */
    scratch_copy(path, copy);
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = other_boot;
    tamis_store *after = fixture_open(copy, 0);
    assert_done(tamis_store_set_event_callback(after, note, &told));
    filter = fixture_opened(after, "x", 0);
    const int64_t since = fixture_stat(filter).unclean_since;
    assert_done(tamis_filter_close(filter));
    tamis_store_close(after);
    tamis__boot_hook = NULL;
    assert_int_equal(told.unclean, 1);
    assert_int_equal(told.ns, since);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
