/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists_down_test.c: what a filter with several lists says and keeps when the machine goes down.
 *
 * Broken to see it fail: a checkpoint of a stale segment that raised clean_until; a sync that went
 * on with the list it had while somebody held the catalog; a recovery that did not say that its
 * sync had failed.
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "editions.h"
#include "os/io.h"
#include "points.h"
#include "txn/store.h"

#define KEYS 1000

static const uint8_t other_boot[16] = "another boot...";

static void add(tamis_filter *filter, uint64_t key)
{
    assert_int_equal(assert_done(tamis_filter_add(filter, &key, sizeof key)), 1);
}

static tamis_filter *open_list(tamis_store *store, unsigned flags)
{
    return fixture_opened(store, "list", flags);
}

/* The sync of the list that comes back does not move the time since when keys may be missing from
 * it. */
CASE(rollback_after_a_power_cut_says_since_when)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    assert_done(editions_publish(store, "list", 0, KEYS, NULL, NULL));
    tamis_filter *filter = open_list(store, TAMIS_OPEN_NO_SYNC);
    add(filter, 5000);
    assert_done(tamis_filter_close(filter));
    assert_done(editions_publish(store, "list", KEYS, KEYS, NULL, NULL));
    tamis_store_close(store);
    const int64_t down = tamis__now_ns();
    tamis__boot_hook = other_boot;
    store = fixture_open(path, 0);
    assert_done(tamis_filter_rollback(store, "list", 0));
    filter = open_list(store, TAMIS_OPEN_READ_ONLY);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.state & TAMIS_STATE_UNCLEAN, TAMIS_STATE_UNCLEAN);
    assert_true(stat.unclean_since != 0 && stat.unclean_since < down);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    tamis__boot_hook = NULL;
}

static bool epoch_raised;

static void die_after_the_commit(unsigned point)
{
    if (point == TAMIS__POINT_PUBLISH_EPOCH) epoch_raised = true;
    if (point == TAMIS__POINT_COMMITTED && epoch_raised) _exit(3);
}

static void publish_and_die(void *context)
{
    tamis_store *store = fixture_open(context, 0);
    tamis__point_hook = die_after_the_commit;
    (void)editions_publish(store, "list", KEYS, KEYS, NULL, NULL);
    _exit(1);
}

/* Holds the catalog for a while from when this returns. */
static pid_t hold_catalog(const char *path)
{
    int ends[2];
    char byte = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct tamis__catalog_txn *txn;
        tamis_store *store = fixture_open(path, 0);
        assert_done(tamis__catalog_begin(&store->catalog, TAMIS__LOCK_EXCLUSIVE, &txn));
        assert_int_equal(write(ends[1], &byte, 1), 1);
        (void)usleep(300000);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return child;
}

/* Whose maker died before it told others of it: keys that others have added there are synced too.
 * */
STORE_CASE(sync_is_of_the_list_in_force)
{
    uint64_t syncs_done = 0;
    int status;
    assert_done(editions_publish(store, "list", 0, KEYS, NULL, NULL));
    AUTO_FILTER *early = open_list(store, 0);
    add(early, 5000);
    assert_int_equal(fixture_child(publish_and_die, path), 3);
    AUTO_FILTER *late = open_list(store, 0);
    add(late, 6000);
    struct tamis_filter_stat stat = fixture_stat(late);
    struct tamis_segment_stat segment =
        fixture_segment_stat(late, stat.segment_count - 1); /* it has grown */
    const pid_t child = hold_catalog(path);
    assert_done(tamis_filter_sync(early));
    fixture_peek(fixture_segment_path(path, segment.number), 1632, &syncs_done, sizeof syncs_done);
    assert_int_equal(syncs_done, 1);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static const char *stopped_at;
static int stopped_fd = -1;

static int sweep_and_stop(const char *verb, const char *what)
{
    if (stopped_fd >= 0 || strcmp(verb, "lock") != 0 || strstr(what, stopped_at) == NULL) return 0;
    stopped_fd = open(what, O_RDWR);
    assert_int_equal(flock(stopped_fd, LOCK_EX), 0);
    return 0;
}

/* One that was stopped as it swept has the lock of a segment or a log that is being made.  Seen to
 * hang while that waited. */
STORE_CASE(nobody_waits_for_a_sweeper_that_is_stopped)
{
    tamis__io_hook = sweep_and_stop;
    (void)alarm(60);
    stopped_at = "/staging/";
    AUTO_FILTER *filter = fixture_create(
        store, "list", SPEC(.capacity = KEYS, .fp_rate = 0.01, .flags = TAMIS_FILTER_DURABLE));
    assert_true(stopped_fd >= 0);
    (void)close(stopped_fd);
    stopped_fd = -1;
    stopped_at = ".new";
    add(filter, 1);
    (void)alarm(0);
    tamis__io_hook = NULL;
    assert_true(stopped_fd >= 0);
    (void)close(stopped_fd);
}

static bool refused;

static int refuse_one_msync(const char *verb, const char *what)
{
    (void)what;
    if (refused || strcmp(verb, "msync") != 0) return 0;
    refused = true;
    return EIO;
}

/* What was brought in order and could not be synced is found in order by the next one: it was not
 * told then that the kernel takes those pages for clean. */
CASE(recovery_whose_sync_failed_leaves_it_degraded)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter =
        fixture_create(store, "list", SPEC(.capacity = 1000, .kind = TAMIS_KIND_COUNTING));
    assert_done(tamis_filter_close(filter));
    filter = open_list(store, TAMIS_OPEN_NO_SYNC);
    add(filter, 1);
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = other_boot;
    tamis__io_hook = refuse_one_msync;
    filter =
        open_list(store, 0); /* the second try, by the filter's own opening, found nothing to do */
    tamis__io_hook = NULL;
    assert_true(refused);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.state & TAMIS_STATE_DEGRADED, TAMIS_STATE_DEGRADED);
    assert_done(tamis_filter_sync(filter));
    stat = fixture_stat(filter);
    assert_int_equal(stat.state & TAMIS_STATE_DEGRADED, 0);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    tamis__boot_hook = NULL;
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
