/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_locked_test.c: a filter is opened, and tells what it has, while somebody else has the
 * catalog's lock ("Without the lock" of docs/concurrency.md).
 *
 * Broken to see it fail: tamis__catalog_begin() in open_by_name() and look_up() of stat.c (the
 * calls waited, and gave up); a find_record_named() that does not look whether the record is there;
 * a view that is made as under the lock, with an epoch that counts as seen (a handle went on in a
 * filter that had been dropped meanwhile).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catalogs.h"
#include "fixture.h"
#include "handle/view.h"
#include "points.h"
#include "spawn.h"
#include "txn/spares.h"
#include "txn/write.h"

STORE_CASE(open_waits_for_nobody_who_has_the_lock)
{
    tamis_filter *filter = fixture_create(store, "a", SPEC(.capacity = 1000));
    struct tamis_filter_stat stat;
    assert_int_equal(tamis_filter_add(filter, "old", 3), 1);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_store_set_busy_timeout(store, 0));
    const int lock = fixture_lock_catalog(path);
    assert_refused(TAMIS_ENOTFOUND, "no such filter", tamis_filter_open(store, "b", 0, &filter));
    for (unsigned flags = 0; flags <= TAMIS_OPEN_READ_ONLY; flags += TAMIS_OPEN_READ_ONLY) {
        assert_done(tamis_filter_open(store, "a", flags, &filter));
        stat = fixture_stat(filter);
        assert_string_equal(stat.name, "a");
        assert_int_equal(stat.items, 1);
        assert_int_equal(stat.unclean_since, 0);
        assert_int_equal(tamis_filter_contains(filter, "old", 3), 1);
        assert_int_equal(tamis_filter_contains(filter, "new", 3), 0);
        tamis_filter_release(filter);
    }
    assert_done(tamis_filter_open(store, "a", 0, &filter));
    assert_int_equal(tamis_filter_add(filter, "new", 3), 1);
    assert_int_equal(tamis_filter_add(filter, "new", 3), 0);
    assert_int_equal(fixture_stat(filter).items, 2);
    (void)close(lock);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(fixture_problems(path), 0);
}

STORE_CASE(open_of_a_small_filter_waits_for_nobody_either)
{
    const struct tamis_filter_spec small = {.size = sizeof small, .capacity = 100, .fp_rate = 0.01};
    tamis_filter *filter;
    assert_done(tamis_filter_create(store, "a", &small, NULL));
    assert_done(tamis_store_set_busy_timeout(store, 0));
    const int lock = fixture_lock_catalog(path);
    assert_done(tamis_filter_open(store, "a", 0, &filter));
    assert_int_equal(tamis_filter_contains(filter, "x", 1), 0);
    (void)close(lock);
    assert_int_equal(tamis_filter_add(filter, "x", 1), 1);
    assert_done(tamis_filter_close(filter));
}

/* The list of a filter that has grown, and its spare. */
STORE_CASE(open_of_a_filter_that_has_grown_has_all_of_it)
{
    tamis_filter *filter = fixture_create(store, "a", SPEC(.capacity = 1000));
    char key[16];
    for (unsigned i = 0; i < 20000; i++) {
        const int bytes = snprintf(key, sizeof key, "%u", i);
        assert_true(tamis_filter_add(filter, key, (size_t)bytes) >= 0);
    }
    const uint32_t segments = fixture_stat(filter).segment_count;
    assert_true(segments > 1);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_store_set_busy_timeout(store, 0));
    const int lock = fixture_lock_catalog(path);
    assert_done(tamis_filter_open(store, "a", 0, &filter));
    assert_int_equal(fixture_stat(filter).segment_count, segments);
    for (unsigned i = 0; i < 20000; i++) {
        const int bytes = snprintf(key, sizeof key, "%u", i);
        assert_int_equal(tamis_filter_contains(filter, key, (size_t)bytes), 1);
    }
    (void)close(lock);
    assert_done(tamis_filter_close(filter));
}

static tamis_store *dropper;
static int lock_fd;
static const char *store_path;

/* Who has the lock drops the filter after the opener has read its record. */
static void drop_meanwhile(unsigned point)
{
    static unsigned opens;
    if (point != TAMIS__POINT_PEEK_META || opens++ > 0) return;
    (void)close(lock_fd);
    assert_done(tamis_filter_drop(dropper, "a"));
    lock_fd = fixture_lock_catalog(store_path);
}

STORE_CASE(open_of_a_filter_that_is_dropped_meanwhile_finds_none)
{
    tamis_filter *filter = NULL;
    assert_done(tamis_filter_create(store, "a", SPEC(.capacity = 1000), NULL));
    assert_done(tamis_store_set_busy_timeout(store, 0));
    store_path = path;
    dropper = fixture_open(path, 0);
    lock_fd = fixture_lock_catalog(path);
    tamis__point_hook = drop_meanwhile;
    assert_refused(TAMIS_ENOTFOUND, "no such filter", tamis_filter_open(store, "a", 0, &filter));
    tamis__point_hook = NULL;
    (void)close(lock_fd);
    tamis_store_close(dropper);
}

/* Opened when a writer has raised the epoch, and has committed nothing yet.  Of a change of the
 * pages a handle learns by the epoch alone. */
STORE_CASE(open_without_the_lock_takes_no_epoch_for_seen)
{
    struct tamis__record record;
    tamis_filter *early;
    assert_done(tamis_filter_create(store, "a", SPEC(.capacity = 1000), NULL));
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__store_get(store, txn, "a", &record));
    record.policy.pages = TAMIS_PAGES_SMALL;
    assert_done(tamis__raise_epochs(store, &record));
    assert_done(tamis__catalog_put(txn, &record));
    assert_done(tamis_filter_open(store, "a", 0, &early));
    catalogs_commit(txn);
    assert_int_equal(tamis_filter_contains(early, "x", 1), 0);
    assert_int_equal(early->view->policy.pages, TAMIS_PAGES_SMALL);
    assert_done(tamis_filter_close(early));
}

/* ---- Beside a writer that never pauses ------------------------------------------------------- */

#define ROUNDS (FIXTURE_SANITIZED ? 300u : 2000u)

/* Makes the filter with its key in it, and drops it, again and again. */
static void make_and_drop(void *context, unsigned index)
{
    tamis_store *store;
    tamis_filter *source;
    (void)index;
    SPAWN_CHECK(tamis_store_open(context, 0, &store) == 0);
    SPAWN_CHECK(tamis_filter_create(store, "source", SPEC(.capacity = 1000), &source) == 0);
    SPAWN_CHECK(tamis_filter_add(source, "key", 3) == 1);
    const struct tamis_merge merge = {.size = sizeof merge, .sources = &source, .count = 1};
    for (;;) {
        SPAWN_CHECK(tamis_filter_create_merged(store, "a", &merge, NULL) == 0);
        SPAWN_CHECK(tamis_filter_drop(store, "a") == 0);
    }
}

STORE_CASE(open_beside_a_writer_has_a_whole_filter_or_none)
{
    const pid_t child = spawn_one(make_and_drop, path, 0);
    unsigned opened = 0, none = 0;
    assert_done(tamis_store_set_busy_timeout(store, 20000));
    for (unsigned i = 0; i < ROUNDS || opened == 0 || none == 0; i++) {
        tamis_filter *filter = NULL;
        const int rc = tamis_filter_open(store, "a", 0, &filter);
        if (rc == TAMIS_ENOTFOUND) {
            none++;
            continue;
        }
        assert_done(rc);
        opened++;
        const int there = tamis_filter_contains(filter, "key", 3);
        if (there != TAMIS_EDROPPED) assert_int_equal(there, 1);
        tamis_filter_release(filter);
    }
    print_message("opened %u times, not there %u times\n", opened, none);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(spawn_end(child), SPAWN_KILLED);
    assert_int_equal(fixture_problems(path), 0);
}

CASES_PREPARE
{
    scratch_in_memory();
}
