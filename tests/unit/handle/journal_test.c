/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal_test.c: what the log of a durable filter rests on: a checkpoint before it begins anew, a
 * sync that covers each frame, and the order of the two looks of an adder.
 *
 * Broken to see it fail, as each case says, and as the mutants journal_*, log_* and durable_* of
 * tests/mutants do.
 */
#include "keys.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "hooks.h"
#include "os/io.h"
#include "points.h"

static const struct tamis_filter_spec durable = {
    .size = sizeof durable, .capacity = 100000, .fp_rate = 0.01, .flags = TAMIS_FILTER_DURABLE};
static const uint8_t other_boot[16] = "another boot...";

static int64_t add_range(tamis_filter *filter, uint64_t first, size_t count, uint8_t *answers)
{
    static struct tamis_key keys[1000];
    static char texts[1000][RANDOM_KEY_BYTES];
    assert_true(count <= 1000);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tamis_key){texts[i], random_key(first + i, texts[i])};
    return tamis_filter_add_batch(filter, keys, count, answers);
}

/* ---- A full log ------------------------------------------------------------------------------ */

static const char *live_store, *disk;
static unsigned retired; /* how often the log has begun anew */

static void copy_to_disk(const char *directory)
{
    char from[4096], to[4096];
    (void)snprintf(from, sizeof from, "%s/%s", live_store, directory);
    (void)snprintf(to, sizeof to, "%s/%s", disk, directory);
    scratch_remove(to);
    scratch_copy(from, to);
}

/* The disk gets the segments when they are synced, and never without that. */
static int keep_what_is_synced(const char *verb, const char *what)
{
    (void)what;
    if (strcmp(verb, "msync") == 0) copy_to_disk("segments");
    return 0;
}

static void count_retired(unsigned point)
{
    retired += point == TAMIS__POINT_LOG_RETIRED;
}

/* The frames of a full log are overwritten, so its keys must be in the segments on the disk before.
 * (Broken: begin_anew() makes no checkpoint; 4,000 and more keys were missing.) */
STORE_CASE(full_log_begins_anew_after_a_checkpoint)
{
    const uint64_t limit = tamis__point_log_limit;
    AUTO_FILTER *filter = fixture_create(store, "x", &durable);
    AUTO_FREE char *copy = scratch_path("disk");
    assert_int_equal(text_add(filter, 0), 1); /* marks it, and makes the log */
    scratch_copy(path, copy);
    live_store = path;
    disk = copy;
    retired = 0;
    tamis__point_log_limit = 0;
    tamis__io_hook = keep_what_is_synced;
    tamis__point_hook = count_retired;
    for (uint64_t first = 1; first < 20000; first += 1000)
        assert_done(add_range(filter, first, 1000, NULL));
    tamis__io_hook = NULL;
    tamis__point_hook = NULL;
    tamis__point_log_limit = limit;
    assert_true(retired >= 2);

    copy_to_disk("logs"); /* each frame was synced */
    tamis__boot_hook = other_boot;
    tamis_store *again = fixture_open(copy, 0);
    tamis_filter *back = fixture_opened(again, "x", 0);
    assert_int_equal(texts_found(back, 0, 20001), 20001);
    assert_done(tamis_filter_close(back));
    tamis_store_close(again);
    tamis__boot_hook = NULL;
}

/* ---- A frame beside a sync ------------------------------------------------------------------- */

static tamis_filter *shared;
static unsigned data_syncs, waits; /* atomic */
static pthread_t second;

static void *add_second(void *context)
{
    return text_add(shared, 2) == 1 ? context : NULL;
}

static void note_wait(unsigned point)
{
    if (point == TAMIS__POINT_LOG_AWAITED) (void)__atomic_add_fetch(&waits, 1, __ATOMIC_SEQ_CST);
}

/* In the middle of the first sync: another thread writes a frame, and waits. */
static int add_beside(const char *verb, const char *what)
{
    if (strcmp(verb, "fdatasync") != 0 || strstr(what, "/logs/") == NULL) return 0;
    if (__atomic_add_fetch(&data_syncs, 1, __ATOMIC_SEQ_CST) > 1) return 0;
    if (pthread_create(&second, NULL, add_second, &shared) != 0) return 1;
    while (__atomic_load_n(&waits, __ATOMIC_SEQ_CST) == 0)
        (void)sched_yield();
    return 0;
}

/* A frame that is written while a sync is under way may not be on the disk after it.  (Broken:
 * sync_written() takes the count of frames after the sync; the second thread answered NEW without a
 * sync of its own.) */
STORE_CASE(frame_that_is_written_during_a_sync_waits_for_the_next)
{
    void *added = NULL;
    AUTO_FILTER *filter = fixture_create(store, "x", &durable);
    assert_int_equal(text_add(filter, 0), 1);
    shared = filter;
    data_syncs = waits = 0;
    tamis__point_hook = note_wait;
    tamis__io_hook = add_beside;
    assert_int_equal(text_add(filter, 1), 1);
    assert_int_equal(pthread_join(second, &added), 0);
    tamis__io_hook = NULL;
    tamis__point_hook = NULL;
    assert_non_null(added);
    assert_int_equal(data_syncs, 2);
}

/* ---- An adder between two looks -------------------------------------------------------------- */

static int count_data_syncs(const char *verb, const char *what)
{
    (void)what;
    data_syncs += strcmp(verb, "fdatasync") == 0;
    return 0;
}

static void add_and_die(void *context)
{
    tamis_store *store = fixture_open(context, 0);
    tamis_filter *filter = fixture_opened(store, "x", 0);
    hooks_signal_at(TAMIS__POINT_DURABLE_SET, SIGKILL, 0);
    (void)text_add(filter, 1);
}

/* After the first of the two looks, another process sets the key's bits and gets no further. */
static void add_between(unsigned point)
{
    static char path[4096];
    if (point != TAMIS__POINT_DURABLE_ASKED) return;
    tamis__point_hook = NULL;
    (void)snprintf(path, sizeof path, "%s", live_store);
    assert_int_equal(fixture_child(add_and_die, path), SPAWN_KILLED);
}

/* Only a key that was found before nobody was found in flight is on the disk.  (Broken:
 * take_lacking() looks for flights first; the key was answered SEEN, and no log had it.) */
STORE_CASE(adder_that_begins_between_the_two_looks_is_noticed)
{
    uint8_t answer = TAMIS_ANSWER_REFUSED;
    AUTO_FILTER *filter = fixture_create(store, "x", &durable);
    assert_int_equal(text_add(filter, 0), 1);
    live_store = path;
    data_syncs = 0;
    tamis__io_hook = count_data_syncs;
    tamis__point_hook = add_between;
    assert_int_equal(add_range(filter, 1, 1, &answer), 0);
    tamis__io_hook = NULL;
    assert_true(tamis__point_hook == NULL); /* it was passed */
    assert_int_equal(answer, 0);
    assert_int_equal(data_syncs, 1);
}

/* ---- A log that another is making ------------------------------------------------------------ */

/* What a dead maker has left is removed by the next one; what somebody is making is not.  (Broken:
 * sweep_one() removes what is locked, too; its maker had no log then, and said that all was
 * well.) */
STORE_CASE(log_that_is_being_made_is_left_alone)
{
    AUTO_FREE char *file = strdup(fixture_join(path, "logs/0000000000000001-0123456789abcdef.new"));
    tamis_filter *filter = fixture_create(store, "x", &durable);
    assert_int_equal(text_add(filter, 0), 1); /* makes logs/ */
    assert_done(tamis_filter_close(filter));
    const int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    for (int locked = 1; locked >= 0; locked--) {
        filter = fixture_opened(store, "x", 0);
        assert_int_equal(text_add(filter, locked ? 1 : 2), 1);
        assert_int_equal(access(file, F_OK), locked ? 0 : -1);
        assert_done(tamis_filter_close(filter));
        if (locked) (void)close(fd);
    }
}
