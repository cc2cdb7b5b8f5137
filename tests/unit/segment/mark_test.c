/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mark of a segment, its checkpoints, and what another boot makes of it (docs/durability.md).
 *
 * Seen to fail: with the lock question or the count taken out (the control tests); without
 * degrade() in sync_all(); without the recovery in tamis_filter_open(); with copies that keep the
 * mark; where a child of fork() or a merge does not mark.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "hooks.h"
#include "os/io.h"
#include "points.h"
#include "segment/mark.h"
#include "tamis.h"

#define MARKED (TAMIS__MARK_DIRTY | TAMIS__MARK_ON_DISK)

static const uint8_t other_boot[16] = {1, 2, 3}, third_boot[16] = {4, 5, 6};

/* ---- What the tests look at ------------------------------------------------------------------ */

static struct tamis__segment_header header_of(const char *path, uint64_t number)
{
    return fixture_header_of(fixture_segment_path(path, number));
}

static uint64_t mark_of(const char *path)
{
    return header_of(path, 1).live.mark & TAMIS__MARK_BITS;
}

static tamis_filter *opened(tamis_store *store, unsigned flags)
{
    return fixture_opened(store, "x", flags);
}

static void add(tamis_filter *filter, uint64_t number)
{
    char key[RANDOM_KEY_BYTES];
    assert_int_equal(tamis_filter_add(filter, key, random_key(number, key)), 1);
}

static int keep_stat(void *context, const struct tamis_filter_stat *stat)
{
    *(struct tamis_filter_stat *)context = *stat;
    return 0;
}

static struct tamis_filter_stat listed(tamis_store *store)
{
    struct tamis_filter_stat stat = {.size = sizeof stat, .capacity = 0};
    assert_done(tamis_store_list(store, NULL, keep_stat, &stat));
    return stat;
}

static unsigned syncs;   /* of mappings */
static int sync_failure; /* what they fail with; 0: they do not */

static int count_syncs(const char *verb, const char *what)
{
    (void)what;
    if (strcmp(verb, "msync") != 0) return 0;
    syncs++;
    return sync_failure;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

STORE_CASE(mark_is_set_before_the_first_write_and_cleared_at_the_last_close)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(mark_of(path), 0);
    const int64_t before = tamis__now_ns();
    add(filter, 1);
    assert_int_equal(mark_of(path), MARKED);
    assert_true(header_of(path, 1).live.clean_until >= before);
    const int64_t clean = header_of(path, 1).live.clean_until;
    assert_done(tamis_filter_sync(filter)); /* its other threads may be writing */
    assert_int_equal(mark_of(path), MARKED);
    assert_true(header_of(path, 1).live.clean_until > clean);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(path), 0);
}

STORE_CASE(mark_is_left_alone_by_who_only_reads)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    add(filter, 1);
    assert_done(tamis_filter_close(filter));
    const struct tamis__segment_header was = header_of(path, 1);
    filter = opened(store, 0);
    assert_int_equal(tamis_filter_contains(filter, "x", 1), 0);
    char key[RANDOM_KEY_BYTES];
    assert_int_equal(tamis_filter_add(filter, key, random_key(1, key)), 0); /* it is in */
    syncs = 0;
    tamis__io_hook = count_syncs;
    assert_done(tamis_filter_close(filter));
    tamis__io_hook = NULL;
    assert_int_equal(syncs, 0);
    const struct tamis__segment_header is = header_of(path, 1);
    assert_memory_equal(&is, &was, sizeof is);
}

STORE_CASE(mark_stays_while_another_handle_writes)
{
    tamis_filter *first = fixture_filter(store, "x", 1000), *second = opened(store, 0),
                 *third = opened(store, 0);
    add(first, 1);
    add(second, 2);
    assert_done(tamis_filter_sync(third));
    assert_int_equal(mark_of(path), MARKED);
    syncs = 0;
    tamis__io_hook = count_syncs;
    assert_done(tamis_filter_close(first));
    assert_int_equal(syncs, 0); /* the second's to do */
    assert_int_equal(mark_of(path), MARKED);
    assert_done(tamis_filter_close(second));
    tamis__io_hook = NULL;
    assert_true(syncs > 0);
    assert_int_equal(mark_of(path), 0);
    assert_done(tamis_filter_close(third));
}

STORE_CASE(mark_of_a_handle_without_sync_is_cleared_by_the_next_sync)
{
    tamis_filter *none = fixture_filter(store, "x", 1000),
                 *filter = opened(store, TAMIS_OPEN_NO_SYNC);
    add(filter, 1);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(path), MARKED);
    assert_done(tamis_filter_sync(none));
    assert_int_equal(mark_of(path), 0);
    assert_done(tamis_filter_close(none));
}

STORE_CASE(mark_of_a_writer_without_a_lock_is_cleared_by_a_recovery_alone)
{
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    hooks_fail_calls("lock", ENOLCK);
    add(filter, 1);
    tamis__io_hook = NULL;
    assert_int_equal(mark_of(path), MARKED | TAMIS__MARK_UNWATCHED);
    assert_done(tamis_filter_sync(filter));
    assert_done(tamis_filter_close(filter));
    filter = opened(store, 0);
    assert_done(tamis_filter_sync(filter));
    assert_int_equal(mark_of(path), MARKED | TAMIS__MARK_UNWATCHED);
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = other_boot;
    filter = opened(store, 0);
    tamis__boot_hook = NULL;
    assert_int_equal(mark_of(path), 0);
}

STORE_CASE(mark_is_set_anew_in_a_child_of_fork)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    add(filter, 1);
    const uint64_t writers = header_of(path, 1).live.mark / TAMIS__MARK_WRITER;
    const pid_t child = fork();
    if (child == 0) {
        char key[RANDOM_KEY_BYTES];
        const int added = tamis_filter_add(filter, key, random_key(2, key));
        _exit(added == 1 && header_of(path, 1).live.mark / TAMIS__MARK_WRITER == writers + 1 &&
                      tamis_filter_close(filter) == 0 && mark_of(path) == MARKED
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(path), 0);
}

/* ---- A checkpoint beside a writer ------------------------------------------------------------ */

static tamis_filter *late; /* writes in the middle of a checkpoint */

static void write_late(unsigned point)
{
    if (point != TAMIS__POINT_SYNC_DONE || late == NULL) return;
    tamis_filter *filter = late;
    late = NULL;
    add(filter, 2);
}

/* The mark after a checkpoint in the middle of which a writer comes, its bits behind the sync. */
static uint64_t mark_with_late_writer(void)
{
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    tamis_filter *first = fixture_filter(store, "x", 1000), *second = opened(store, 0),
                 *third = opened(store, 0);
    add(first, 1);
    assert_done(tamis_filter_close(first));
    first = opened(store, TAMIS_OPEN_NO_SYNC);
    add(first, 3);
    assert_done(tamis_filter_close(first));
    late = second;
    tamis__point_hook = write_late;
    assert_done(tamis_filter_sync(third));
    tamis__point_hook = NULL;
    const uint64_t mark = mark_of(path);
    assert_done(tamis_filter_close(second));
    assert_done(tamis_filter_close(third));
    return mark;
}

CASE(mark_stays_where_a_writer_comes_behind_the_sync)
{
    assert_int_equal(mark_with_late_writer(), MARKED);
    tamis__point_no_mark_count =
        1; /* control: without the count the disk would be taken for whole */
    assert_int_equal(mark_with_late_writer(), 0);
    tamis__point_no_mark_count = 0;
}

STORE_CASE(mark_control_without_the_lock_is_cleared_under_a_writer)
{
    AUTO_FILTER *writer = fixture_filter(store, "x", 1000), *other = opened(store, 0);
    add(writer, 1);
    assert_done(tamis_filter_sync(other));
    assert_int_equal(mark_of(path), MARKED); /* it may write at any time, and marks no more */
    tamis__point_no_mark_lock = 1;
    assert_done(tamis_filter_sync(other));
    tamis__point_no_mark_lock = 0;
    assert_int_equal(mark_of(path), 0);
}

/* ---- Every way to write ---------------------------------------------------------------------- */

STORE_CASE(mark_is_set_by_growth_in_the_segment_that_is_written_to)
{
    tamis_filter *filter =
        fixture_create(store, "x", SPEC(.capacity = 100, .on_full = TAMIS_ON_FULL_GROW));
    for (uint64_t i = 0; i < 150; i++) {
        char key[RANDOM_KEY_BYTES];
        assert_done(tamis_filter_add(filter, key, random_key(i, key)));
    }
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_int_equal(header_of(path, 1).live.mark & TAMIS__MARK_BITS, MARKED);
    assert_int_equal(header_of(path, 2).live.mark & TAMIS__MARK_BITS, MARKED);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(header_of(path, 1).live.mark & TAMIS__MARK_BITS, 0);
    assert_int_equal(header_of(path, 2).live.mark & TAMIS__MARK_BITS, 0);
}

STORE_CASE(mark_is_set_by_batches_merges_and_removes)
{
    const struct tamis_key key = {"key", 3};
    tamis_filter *filter = fixture_filter(store, "x", 1000),
                 *into = fixture_filter(store, "y", 1000);
    assert_int_equal(tamis_filter_add_batch(filter, &key, 1, NULL), 1);
    assert_int_equal(header_of(path, 1).live.mark & TAMIS__MARK_BITS, MARKED);
    assert_done(tamis_filter_merge(into, MERGE(.sources = &filter, .count = 1)));
    assert_int_equal(header_of(path, 2).live.mark & TAMIS__MARK_BITS, MARKED);
    tamis_filter *counting =
        fixture_create(store, "z", SPEC(.capacity = 1000, .kind = TAMIS_KIND_COUNTING));
    assert_int_equal(tamis_filter_add(counting, "key", 3), 1);
    assert_done(tamis_filter_close(counting));
    assert_done(tamis_filter_open(store, "z", 0, &counting));
    assert_int_equal(tamis_filter_remove(counting, "other", 5), 0); /* nothing is written */
    assert_int_equal(header_of(path, 3).live.mark & TAMIS__MARK_BITS, 0);
    assert_int_equal(tamis_filter_remove(counting, "key", 3), 1);
    assert_int_equal(header_of(path, 3).live.mark & TAMIS__MARK_BITS, MARKED);
    assert_done(tamis_filter_close(counting));
    assert_done(tamis_filter_close(into));
    assert_done(tamis_filter_close(filter));
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(header_of(path, i).live.mark & TAMIS__MARK_BITS, 0);
}

STORE_CASE(mark_that_cannot_be_synced_is_an_error_of_the_add)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    tamis__io_hook = count_syncs;
    sync_failure = EIO;
    for (int i = 0; i < 2; i++)
        assert_refused(TAMIS_EIO, "cannot write to the disk", tamis_filter_add(filter, "key", 3));
    sync_failure = 0;
    tamis__io_hook = NULL;
    assert_int_equal(tamis_filter_contains(filter, "key", 3), 0);
    assert_int_equal(fixture_stat(filter).state, TAMIS_STATE_DEGRADED);
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(listed(store).state, 0);
}

/* ---- Another boot ---------------------------------------------------------------------------- */

CASE(filter_is_unclean_after_the_machine_went_down_under_a_writer)
{
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    add(filter, 1);
    assert_done(tamis_filter_sync(filter));
    const int64_t since = header_of(path, 1).live.clean_until;
    add(filter, 2);
    AUTO_FREE char *copy = scratch_path("copy"); /* as the disk may be after a power cut */
    scratch_copy(path, copy);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);

    tamis__boot_hook = other_boot;
    store = fixture_open(copy, 0);
    filter = opened(store, TAMIS_OPEN_READ_ONLY);
    assert_int_equal(fixture_stat(filter).unclean_since, since);
    assert_int_equal(fixture_stat(filter).state, TAMIS_STATE_UNCLEAN);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(copy), MARKED); /* who only reads changes nothing */
    filter = opened(store, 0);
    assert_int_equal(mark_of(copy), 0);
    assert_int_equal(fixture_stat(filter).unclean_since, since);
    assert_int_equal(listed(store).unclean_since, since);
    add(filter, 3);
    assert_done(tamis_filter_sync(filter)); /* brings nothing back */
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = third_boot; /* an orderly one */
    filter = opened(store, 0);
    assert_int_equal(fixture_stat(filter).unclean_since, since);
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = NULL;
}

static char *dirty_copy(void)
{
    char *path, *copy = scratch_path("copy");
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    add(filter, 1);
    scratch_copy(path, copy); /* as the disk may be after a power cut */
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    free(path);
    return copy;
}

static int ignore_step(void *context, const struct tamis_repair_step *step)
{
    (void)context;
    (void)step;
    return 0;
}

CASE(filter_is_unclean_until_it_is_accepted)
{
    AUTO_FREE char *copy = dirty_copy();
    const int64_t since = header_of(copy, 1).live.clean_until;
    tamis__boot_hook = other_boot;
    tamis_store *store = fixture_open(copy, TAMIS_OPEN_READ_ONLY);
    assert_int_equal(listed(store).unclean_since, since); /* as the header says */
    tamis_store_close(store);
    store = fixture_open(copy, 0);
    tamis_filter *filter = fixture_filter(store, "y", 1000); /* the first writer looks at all */
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(copy), 0);
    assert_int_equal(header_of(copy, 1).live.unclean_since, since);
    tamis_store_close(store);
    assert_done(tamis_store_repair(copy, TAMIS_REPAIR_REBUILD, ignore_step, NULL));
    store = fixture_open(copy, 0);
    filter = opened(store, 0);
    assert_int_equal(fixture_stat(filter).unclean_since, since);
    assert_done(tamis_filter_accept(filter));
    assert_int_equal(fixture_stat(filter).state, 0);
    assert_int_equal(header_of(copy, 1).live.unclean_since, 0);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(listed(store).state, 0);
    tamis_store_close(store);
    tamis__boot_hook = NULL;
}

CASE(filter_is_clean_in_a_backup_of_a_store_that_is_written_to)
{
    AUTO_FREE char *path, *copy = scratch_path("backup");
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    add(filter, 1);
    assert_done(tamis_store_backup(store, copy, NULL, NULL));
    assert_int_equal(mark_of(path), MARKED);
    assert_int_equal(header_of(copy, 1).live.mark, TAMIS__MARK_WRITER); /* one has written */
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    tamis__boot_hook = other_boot;
    store = fixture_open(copy, 0);
    assert_int_equal(listed(store).state, 0);
    tamis_store_close(store);
    tamis__boot_hook = NULL;
    free(copy);
    free(path);
    copy = dirty_copy(); /* one of what may lack keys may lack them too */
    path = scratch_path("backup");
    tamis__boot_hook = other_boot;
    store = fixture_open(copy, TAMIS_OPEN_READ_ONLY);
    assert_done(tamis_store_backup(store, path, NULL, NULL));
    tamis_store_close(store);
    store = fixture_open(path, 0);
    assert_int_equal(listed(store).state, TAMIS_STATE_UNCLEAN);
    tamis_store_close(store);
    tamis__boot_hook = NULL;
}

/* ---- Failed syncs ---------------------------------------------------------------------------- */

STORE_CASE(filter_is_degraded_from_a_failed_sync_to_the_next_good_one)
{
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000), *other = opened(store, 0);
    add(filter, 1);
    const int64_t before = tamis__now_ns();
    tamis__io_hook = count_syncs;
    sync_failure = EIO;
    assert_refused(TAMIS_EIO, "cannot write to the disk", tamis_filter_sync(filter));
    sync_failure = 0;
    tamis__io_hook = NULL;
    assert_int_equal(fixture_stat(other).state, TAMIS_STATE_DEGRADED);
    assert_true(fixture_stat(other).degraded_since >= before);
    assert_int_equal(listed(store).state, TAMIS_STATE_DEGRADED);
    assert_int_equal(listed(store).checkpointed_at, 0);
    assert_int_equal(mark_of(path), MARKED);
    assert_done(tamis_filter_sync(other));
    assert_int_equal(fixture_stat(filter).state, 0);
    assert_int_equal(listed(store).state, 0);
    assert_true(listed(store).checkpointed_at > before);
}

STORE_CASE(filter_on_a_disk_that_fails_for_ever_stays_degraded)
{
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    add(filter, 1);
    tamis__io_hook = count_syncs;
    sync_failure = EIO;
    for (int i = 0; i < 3; i++)
        assert_refused(TAMIS_EIO, "cannot write to the disk", tamis_filter_sync(filter));
    assert_refused(TAMIS_EIO, "cannot write to the disk", tamis_filter_close(filter));
    sync_failure = 0;
    tamis__io_hook = NULL;
    assert_int_equal(mark_of(path), MARKED);
    assert_int_equal(listed(store).state, TAMIS_STATE_DEGRADED);
    assert_int_equal(listed(store).checkpointed_at, 0);
    assert_int_equal(header_of(path, 1).live.syncs_done, 0);
    filter = opened(store, 0);
    assert_int_equal(fixture_stat(filter).state, TAMIS_STATE_DEGRADED);
    assert_done(tamis_filter_sync(filter));
    assert_int_equal(fixture_stat(filter).state, 0);
    assert_int_equal(mark_of(path), 0); /* its writer is gone */
}

/* ---- By itself ------------------------------------------------------------------------------- */

STORE_CASE(filter_with_an_interval_is_synced_by_itself)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    assert_refused(TAMIS_EINVAL, "at least a millisecond",
                   tamis_filter_set_sync_interval(filter, 5));
    add(filter, 1);
    assert_done(tamis_filter_set_sync_interval(filter, 2000000));
    while (header_of(path, 1).live.syncs_done < 3)
        tamis__pause_us(1000);
    const pid_t child = fork(); /* has no thread to wait for */
    if (child == 0) _exit(tamis_filter_close(filter) == 0 ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_done(tamis_filter_set_sync_interval(filter, 0));
    const uint64_t done = header_of(path, 1).live.syncs_done;
    tamis__pause_us(20000);
    assert_int_equal(header_of(path, 1).live.syncs_done, done);
    assert_done(tamis_filter_set_sync_interval(filter, 3600000000000));
    assert_done(tamis_filter_close(filter)); /* does not wait for an hour */
    assert_int_equal(mark_of(path), 0);
}
