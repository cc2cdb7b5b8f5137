/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mark of a segment, its checkpoints, and what another boot makes of it (docs/durability.md).
 *
 * Seen to fail: with the lock question or the count taken out (the control tests); without the sticky state
 * in checkpoint(); without the recovery in tamis_filter_open().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/point.h"
#include "file/io.h"
#include "file/mark.h"
#include "fixture.h"

#define MARKED (TAMIS__MARK_DIRTY | TAMIS__MARK_ON_DISK)

static const uint8_t other_boot[16] = {1, 2, 3}, third_boot[16] = {4, 5, 6};

/* ---- What the tests look at ------------------------------------------------------------------ */

static struct tamis__segment_header header_of(const char *path, uint64_t number)
{
    struct tamis__segment_header header;
    fixture_peek(fixture_segment_path(path, number), 0, &header, sizeof header);
    return header;
}

static uint64_t mark_of(const char *path)
{
    return header_of(path, 1).mark & TAMIS__MARK_BITS;
}

static tamis_filter *opened(tamis_store *store, unsigned flags)
{
    tamis_filter *filter = NULL;
    assert_done(tamis_filter_open(store, "x", flags, &filter));
    return filter;
}

static void add(tamis_filter *filter, uint64_t number)
{
    char key[RANDOM_KEY_BYTES];
    assert_int_equal(tamis_filter_add(filter, key, random_key(number, key)), 1);
}

static struct tamis_filter_stat stat_of(tamis_filter *filter)
{
    struct tamis_filter_stat stat;
    assert_done(tamis_filter_stat(filter, &stat));
    return stat;
}

static int keep_stat(void *context, const struct tamis_filter_stat *stat)
{
    *(struct tamis_filter_stat *)context = *stat;
    return 0;
}

static struct tamis_filter_stat listed(tamis_store *store)
{
    struct tamis_filter_stat stat = {.capacity = 0};
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

static void mark_is_set_before_the_first_write_and_cleared_at_the_last_close(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    (void)state;
    assert_int_equal(mark_of(path), 0);
    const int64_t before = tamis__now_ns();
    add(filter, 1);
    assert_int_equal(mark_of(path), MARKED);
    assert_true(header_of(path, 1).clean_until >= before);
    const int64_t clean = header_of(path, 1).clean_until;
    assert_done(tamis_filter_sync(filter)); /* its other threads may be writing */
    assert_int_equal(mark_of(path), MARKED);
    assert_true(header_of(path, 1).clean_until > clean);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(path), 0);
    tamis_store_close(store);
    free(path);
}

static void mark_is_left_alone_by_who_only_reads(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    (void)state;
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
    tamis_store_close(store);
    free(path);
}

static void mark_stays_while_another_handle_writes(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *first = fixture_filter(store, "x", 1000), *second = opened(store, 0),
                 *third = opened(store, 0);
    (void)state;
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
    tamis_store_close(store);
    free(path);
}

static void mark_of_a_handle_without_sync_is_cleared_by_the_next_sync(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *none = fixture_filter(store, "x", 1000), *filter = opened(store, TAMIS_NO_SYNC);
    (void)state;
    add(filter, 1);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(path), MARKED);
    assert_done(tamis_filter_sync(none));
    assert_int_equal(mark_of(path), 0);
    assert_done(tamis_filter_close(none));
    tamis_store_close(store);
    free(path);
}

static int refuse_locks(const char *verb, const char *what)
{
    (void)what;
    return strcmp(verb, "lock") == 0 ? ENOLCK : 0;
}

static void mark_of_a_writer_without_a_lock_is_cleared_by_a_recovery_alone(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    (void)state;
    tamis__io_hook = refuse_locks;
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
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    free(path);
}

static void mark_is_set_anew_in_a_child_of_fork(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    (void)state;
    add(filter, 1);
    const uint64_t writers = header_of(path, 1).mark / TAMIS__MARK_WRITER;
    const pid_t child = fork();
    if (child == 0) {
        char key[RANDOM_KEY_BYTES];
        const int added = tamis_filter_add(filter, key, random_key(2, key));
        _exit(added == 1 && header_of(path, 1).mark / TAMIS__MARK_WRITER == writers + 1 &&
                      tamis_filter_close(filter) == 0 && mark_of(path) == MARKED
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(path), 0);
    tamis_store_close(store);
    free(path);
}

/* ---- Another boot ---------------------------------------------------------------------------- */

static void filter_is_unclean_after_the_machine_went_down_under_a_writer(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    (void)state;
    add(filter, 1);
    assert_done(tamis_filter_sync(filter));
    const int64_t since = header_of(path, 1).clean_until;
    add(filter, 2);
    char *copy = scratch_path("copy"); /* as the disk may be after a power cut */
    scratch_copy(path, copy);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);

    tamis__boot_hook = other_boot;
    store = fixture_open(copy, 0);
    filter = opened(store, TAMIS_READ_ONLY);
    assert_int_equal(stat_of(filter).unclean_since, since);
    assert_int_equal(stat_of(filter).state, TAMIS_STATE_UNCLEAN);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(mark_of(copy), MARKED); /* who only reads changes nothing */
    filter = opened(store, 0);
    assert_int_equal(mark_of(copy), 0);
    assert_int_equal(stat_of(filter).unclean_since, since);
    assert_int_equal(listed(store).unclean_since, since);
    add(filter, 3);
    assert_done(tamis_filter_sync(filter)); /* brings nothing back */
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = third_boot; /* an orderly one */
    filter = opened(store, 0);
    assert_int_equal(stat_of(filter).unclean_since, since);
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = NULL;
    tamis_store_close(store);
    free(copy);
    free(path);
}

/* ---- Failed syncs ---------------------------------------------------------------------------- */

static void filter_is_degraded_from_a_failed_sync_to_the_next_good_one(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000), *other = opened(store, 0);
    (void)state;
    add(filter, 1);
    const int64_t before = tamis__now_ns();
    tamis__io_hook = count_syncs;
    sync_failure = EIO;
    assert_refused(TAMIS_EIO, "cannot write to the disk", tamis_filter_sync(filter));
    sync_failure = 0;
    tamis__io_hook = NULL;
    assert_int_equal(stat_of(other).state, TAMIS_STATE_DEGRADED);
    assert_true(stat_of(other).degraded_since >= before);
    assert_int_equal(listed(store).state, TAMIS_STATE_DEGRADED);
    assert_int_equal(listed(store).checkpointed_at, 0);
    assert_int_equal(mark_of(path), MARKED);
    assert_done(tamis_filter_sync(other));
    assert_int_equal(stat_of(filter).state, 0);
    assert_int_equal(listed(store).state, 0);
    assert_true(listed(store).checkpointed_at > before);
    assert_done(tamis_filter_close(other));
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mark_is_set_before_the_first_write_and_cleared_at_the_last_close),
        cmocka_unit_test(mark_is_left_alone_by_who_only_reads),
        cmocka_unit_test(mark_stays_while_another_handle_writes),
        cmocka_unit_test(mark_of_a_handle_without_sync_is_cleared_by_the_next_sync),
        cmocka_unit_test(mark_of_a_writer_without_a_lock_is_cleared_by_a_recovery_alone),
        cmocka_unit_test(mark_is_set_anew_in_a_child_of_fork),
        cmocka_unit_test(filter_is_unclean_after_the_machine_went_down_under_a_writer),
        cmocka_unit_test(filter_is_degraded_from_a_failed_sync_to_the_next_good_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
