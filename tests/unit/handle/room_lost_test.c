/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room_lost_test.c: a filter that takes no more keys says so, and why, also where its items do not
 * tell: room was lost with an adder that was killed, or the disk is full (store/filter/stat.c).
 * What was lost comes back when nobody writes (tamis__recover_room() in store/txn/recover.c).
 *
 * Seen to fail: with a state that looks at the items alone, as it was ("ok" in each of the first
 * three cases), or at room for segments alone ("ok" for durable filters); without
 * tamis__recover_room(); with one that does not ask whether others write.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "filter/stat.h"
#include "handle/view.h"
#include "keys.h"
#include "numbers.h"
#include "os/io.h"
#include "points.h"
#include "segment/room.h"
#include "spawn.h"

enum { CAPACITY = 20000, BATCH = 1024 };

static const char *store_path;

static void die_with_room(unsigned point)
{
    if (point == TAMIS__POINT_ROOM_TAKEN) (void)kill(getpid(), SIGKILL);
}

static int add_batch(tamis_filter *filter, uint64_t from)
{
    static uint64_t numbers[BATCH];
    static struct tamis_key keys[BATCH];
    numbers_from(from, BATCH, numbers, keys);
    const int64_t rc = tamis_filter_add_batch(filter, keys, BATCH, NULL);
    return rc < 0 ? (int)rc : 0;
}

/* Takes the room of a batch, and is killed. */
static void be_killed(void *context)
{
    (void)context;
    tamis_store *store = fixture_open(store_path, 0);
    tamis_filter *filter = fixture_opened(store, "x", 0);
    (void)key_add(filter, 1000000); /* so that the stripe has room */
    tamis__point_hook = die_with_room;
    (void)add_batch(filter, 2000000);
}

/* What a batch holds depends on the processor that it runs on: so many are killed until much is
 * lost.  Returns how much. */
static uint64_t lose_room(tamis_store *store)
{
    uint64_t lost = 0;
    while (lost < (uint64_t)2 * BATCH) {
        assert_int_equal(fixture_child(be_killed, NULL), SPAWN_KILLED);
        AUTO_FILTER *filter = fixture_opened(store, "x", TAMIS_OPEN_READ_ONLY);
        const struct tamis_filter_stat stat = fixture_stat(filter);
        lost = CAPACITY - stat.items - stat.room;
    }
    return lost;
}

static tamis_filter *refusing(tamis_store *store)
{
    return fixture_create(
        store, "x", SPEC(.capacity = CAPACITY, .fp_rate = 0.01, .on_full = TAMIS_ON_FULL_REFUSE));
}

/* Adds batches from key `from` on, until the filter refuses one. */
static void fill(tamis_filter *filter, uint64_t from)
{
    int rc = 0;
    for (; rc == 0; from += BATCH)
        rc = add_batch(filter, from);
    assert_int_equal(rc, TAMIS_EFULL);
}

static int keep_stat(void *context, const struct tamis_filter_stat *stat)
{
    *(struct tamis_filter_stat *)context = *stat;
    return 0;
}

static struct tamis_filter_stat listed(tamis_store *store)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    assert_done(tamis_store_list_live(store, NULL, keep_stat, &stat));
    return stat;
}

STORE_CASE(filter_whose_room_was_lost_is_full_and_says_why)
{
    store_path = path;
    assert_done(tamis_filter_close(refusing(store)));
    const uint64_t lost = lose_room(store);
    AUTO_FILTER *filter = fixture_opened(store, "x", 0);
    assert_int_equal(fixture_stat(filter).state, 0);
    fill(filter, 0);
    assert_refused(TAMIS_EFULL,
                   "of the 20000 keys that it was made for and refuses more: adders that were "
                   "killed, or are stopped, have taken room for",
                   add_batch(filter, 500000));
    const struct tamis_filter_stat own = fixture_stat(filter), list = listed(store);
    assert_int_equal(own.items, CAPACITY - lost);
    assert_true(own.state == TAMIS_STATE_FULL && own.room == 0);
    assert_true(list.state == TAMIS_STATE_FULL && list.room == 0);
}

STORE_CASE(room_that_was_lost_comes_back_when_nobody_writes)
{
    store_path = path;
    assert_done(tamis_filter_close(refusing(store)));
    const uint64_t lost = lose_room(store);
    tamis_filter *filter = fixture_opened(store, "x", 0), *other;
    fill(filter, 0);
    other = fixture_opened(store, "x", 0); /* the first one still writes: it could be its room */
    assert_int_equal(fixture_stat(other).state, TAMIS_STATE_FULL);
    assert_done(tamis_filter_close(filter));
    filter = fixture_opened(store, "x", 0);
    assert_int_equal(fixture_stat(filter).state, 0);
    assert_in_range(fixture_stat(filter).room, lost - BATCH, lost);
    assert_int_equal(add_batch(other, 500000), 0); /* and those that are open see it */
    fill(filter, 600000);
    assert_in_range(fixture_stat(filter).items, CAPACITY - BATCH, CAPACITY);
    assert_done(tamis_filter_close(other));
    assert_done(tamis_filter_close(filter));
    filter = fixture_opened(store, "x", 0); /* there is no more to be had */
    assert_int_equal(fixture_stat(filter).state, TAMIS_STATE_FULL);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(fixture_problems(path), 0);
}

/* All that is left was lost, and no add has been refused yet: the state is full already, and what
 * doctor prints for it, `tamis sync`, is to help.  (Broken, and seen to fail so: the room came back
 * only after an add was refused.) */
STORE_CASE(room_that_was_lost_comes_back_before_an_add_is_refused)
{
    tamis_filter *filter = refusing(store);
    assert_int_equal(add_batch(filter, 0), 0);
    tamis__newest(filter->view)->segment.live->granted = CAPACITY; /* by adders that died */
    assert_int_equal(fixture_stat(filter).state, TAMIS_STATE_FULL);
    assert_done(tamis_filter_close(filter));
    filter = fixture_opened(store, "x", 0);
    assert_int_equal(fixture_stat(filter).state, 0);
    assert_in_range(fixture_stat(filter).room, CAPACITY - 2 * BATCH, CAPACITY - BATCH);
    fill(filter, 600000);
    assert_done(tamis_filter_close(filter));
}

/* An adder that was only stopped gives its room back after the filter was found full. */
STORE_CASE(room_that_comes_back_late_is_used)
{
    struct tamis__hold hold;
    bool half;
    tamis_filter *filter = refusing(store);
    assert_int_equal(key_add(filter, 1000000), 1);
    AUTO_FILTER *holder = fixture_opened(store, "x", 0); /* makes no call, so it keeps its view */
    const struct tamis__segment *segment = &tamis__newest(holder->view)->segment;
    tamis__room_take(segment, CAPACITY, BATCH, &hold, &half);
    assert_int_equal(hold.keys, BATCH);
    fill(filter, 0);
    tamis__room_return(segment, hold);
    assert_int_equal(fixture_stat(filter).state, TAMIS_STATE_FULL); /* it refuses still */
    AUTO_FILTER *again = fixture_opened(store, "x", 0);
    assert_int_equal(fixture_stat(again).state, 0);
    fill(again, 600000);
    assert_int_equal(fixture_stat(filter).items, CAPACITY);
    assert_done(tamis_filter_close(filter));
}

static int no_room_on_disk(const char *verb, const char *what)
{
    (void)what;
    return strcmp(verb, "allocate") == 0 ? ENOSPC : 0;
}

/* Where the disk has no room for the next segment. */
STORE_CASE(filter_that_cannot_grow_is_full_and_says_what_it_lacks)
{
    AUTO_FILTER *filter = fixture_create(store, "x", SPEC(.capacity = 1000, .fp_rate = 0.01));
    int rc = 0;
    tamis__io_hook = no_room_on_disk;
    for (uint64_t i = 0; rc >= 0 && i < 2000; i++)
        rc = key_add(filter, i);
    assert_int_equal(rc, TAMIS_ENOSPACE);
    assert_int_equal(fixture_stat(filter).state, 0); /* the next add can make one */
    tamis__stat_disk_room = 4096;
    const struct tamis_filter_stat own = fixture_stat(filter), list = listed(store);
    assert_true(own.state == TAMIS_STATE_FULL && own.room == 0 && own.lacks_bytes > 10000);
    assert_true(list.state == TAMIS_STATE_FULL && list.lacks_bytes == own.lacks_bytes);
    tamis__stat_disk_room = -1;
    tamis__io_hook = NULL;
    assert_int_equal(key_add(filter, 5000), 1);
    assert_int_equal(fixture_stat(filter).state, 0);
}

/* Where the disk has no room for the log of a durable filter. */
STORE_CASE(durable_filter_whose_log_has_no_room_is_full)
{
    tamis_filter *filter = fixture_create(
        store, "x", SPEC(.capacity = 1000, .fp_rate = 0.01, .flags = TAMIS_FILTER_DURABLE));
    tamis__stat_disk_room = 4096;
    const struct tamis_filter_stat own = fixture_stat(filter), list = listed(store);
    assert_true(own.state == TAMIS_STATE_FULL && own.room > 0 && own.lacks_bytes == 61440);
    assert_true(list.state == TAMIS_STATE_FULL && list.lacks_bytes == own.lacks_bytes);
    assert_int_equal(key_add(filter, 1), 1);
    assert_int_equal(fixture_stat(filter).state, 0); /* it has a log, with room */
    assert_done(tamis_filter_close(filter));
    assert_int_equal(listed(store).state, TAMIS_STATE_FULL);
    tamis__stat_disk_room = -1;
    assert_int_equal(listed(store).state, 0);
}

/* A filter that takes any number of keys, and one that is listed from the catalog alone. */
STORE_CASE(filter_without_a_limit_has_no_room_to_tell)
{
    AUTO_FILTER *filter = fixture_create(
        store, "x", SPEC(.capacity = 100, .fp_rate = 0.01, .on_full = TAMIS_ON_FULL_WARN));
    struct tamis_filter_stat stat = {.size = sizeof stat};
    assert_true(fixture_stat(filter).room == UINT64_MAX);
    assert_done(tamis_store_list(store, NULL, keep_stat, &stat));
    assert_true(stat.room == UINT64_MAX);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
