/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_order_test.c: what is on the disk before what: names before the catalog that has them,
 * contents before names, lists before they come into force again.
 *
 * power_cut_test shows what a power cut leaves of all this, where it cuts at the right place.  Here
 * the order of the calls is looked at itself, so no chance is in it.  Broken to see it fail: each
 * of the syncs left out, as the mutants *_not_synced of tests/mutants do.
 */
#include "keys.h"

#include <stdio.h>
#include <unistd.h>

#include "editions.h"
#include "os/io.h"
#include "points.h"
#include "spawn.h"

/* ---- What was called, in its order ----------------------------------------------------------- */

#define CALLS_MAX 4000
static struct call {
    char verb[16], what[200];
} calls[CALLS_MAX];
static int call_count;

static void note(const char *verb, const char *what)
{
    if (call_count == CALLS_MAX) return;
    const size_t bytes = strlen(what), most = sizeof calls[0].what - 1;
    (void)snprintf(calls[call_count].verb, sizeof calls[0].verb, "%s", verb);
    (void)snprintf(calls[call_count].what, sizeof calls[0].what, "%s",
                   bytes > most ? what + bytes - most : what);
    call_count++;
}

static int note_call(const char *verb, const char *what)
{
    note(verb, what);
    return 0;
}

static void note_commit(unsigned point)
{
    if (point == TAMIS__POINT_COMMITTED) note("commit", "");
}

static void watch_begin(void)
{
    call_count = 0;
    tamis__io_hook = note_call;
    tamis__point_hook = note_commit;
}

static void watch_end(void)
{
    tamis__io_hook = NULL;
    tamis__point_hook = NULL;
    assert_true(call_count < CALLS_MAX);
}

/* The first call of that verb from `from` on, on a path with that word in it; call_count: none. */
static int next(int from, const char *verb, const char *word)
{
    for (; from < call_count; from++)
        if (strcmp(calls[from].verb, verb) == 0 && strstr(calls[from].what, word) != NULL) break;
    return from;
}

static int last(const char *verb, const char *word)
{
    int found = call_count;
    for (int at = 0; (at = next(at, verb, word)) < call_count; at++)
        found = at;
    return found;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

STORE_CASE(segment_is_on_the_disk_then_its_name_then_the_catalog)
{
    watch_begin();
    assert_done(tamis_filter_create(store, "x", SPEC(.capacity = 1000), NULL));
    watch_end();
    const int written = next(0, "write", "/segments/"),
              synced = next(written, "fsync", "/segments/"),
              renamed = next(synced, "rename", "/segments/"),
              named = next(renamed, "fsync", "/segments/"), committed = next(named, "commit", "");
    assert_true(committed < call_count);
    assert_int_equal(next(0, "rename", "/segments/"), renamed);
    assert_int_equal(next(0, "commit", ""), committed);
}

STORE_CASE(log_is_on_the_disk_then_its_name_then_a_frame_counts)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.capacity = 100000, .flags = TAMIS_FILTER_DURABLE));
    watch_begin();
    assert_int_equal(text_add(filter, 1), 1);
    watch_end();
    const int renamed = next(0, "rename", "/logs/"), zeros = next(0, "allocate", "/logs/"),
              grown = next(zeros, "fsync", "/logs/"), named = next(renamed, "fsync", "/logs/"),
              frame = next(0, "fdatasync", "/logs/");
    assert_true(zeros < grown && grown < renamed && renamed < named && named < frame);
    assert_true(frame < call_count);
}

STORE_CASE(log_that_grows_is_on_the_disk_before_frames_are_in_it)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.capacity = 100000, .flags = TAMIS_FILTER_DURABLE));
    assert_int_equal(text_add(filter, 0), 1);
    watch_begin();
    for (uint64_t n = 1; next(0, "allocate", "/logs/") == call_count; n++) {
        call_count = 0;
        assert_true(text_add(filter, n) >= 0);
    }
    watch_end();
    const int grown = next(0, "allocate", "/logs/"), synced = next(grown, "fsync", "/logs/"),
              frame = next(grown, "fdatasync", "/logs/");
    assert_true(synced < frame && frame < call_count);
}

STORE_CASE(list_is_on_the_disk_before_it_comes_into_force_again)
{
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    assert_done(editions_publish(store, "list", 100, 100, NULL, NULL));
    watch_begin();
    assert_done(tamis_filter_rollback(store, "list", 0));
    watch_end();
    assert_true(next(0, "msync", "/segments/") < next(0, "commit", ""));
    assert_true(last("commit", "") < call_count);
}

STORE_CASE(removal_is_on_the_disk_before_the_catalog_forgets_it)
{
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    assert_done(tamis_filter_drop(store, "x")); /* the file is noted, and removed */
    watch_begin();
    assert_done(tamis_filter_create(store, "y", SPEC(.capacity = 1000), NULL));
    watch_end();
    const int removed = next(0, "unlink", "/segments/");
    int synced = next(removed, "fsync", path); /* of the directory: the path is the store's own */
    while (synced < call_count && strcmp(calls[synced].what, path) != 0)
        synced = next(synced + 1, "fsync", path);
    assert_true(removed < synced && synced < next(0, "rename", "/segments/"));
}

STORE_CASE(built_data_are_on_the_disk_before_their_name)
{
    tamis_build *build = NULL;
    const struct tamis_key keys[] = {{"a", 1}, {"b", 1}, {"c", 1}};
    watch_begin();
    assert_done(tamis_build_begin(store, "list", BUILD_SPEC(.threads = 1), &build));
    assert_done(tamis_build_add(build, keys, 3));
    assert_int_equal(tamis_build_publish(build, NULL), 1);
    watch_end();
    tamis_build_close(build);
    const int synced = next(0, "fsync", "/staging/"), renamed = next(0, "rename", "/segments/");
    assert_true(next(0, "write", "/staging/") < synced && synced < renamed);
    assert_true(renamed < call_count);
}

static void add_and_die(void *context)
{
    tamis_filter *filter = fixture_opened(fixture_open(context, 0), "x", 0);
    SPAWN_CHECK(text_add(filter, 2) == 1);
    _exit(7);
}

/* Also where another process writes to the segment, and so keeps its mark. */
STORE_CASE(replayed_keys_are_on_the_disk_before_their_log_goes)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.capacity = 100000, .flags = TAMIS_FILTER_DURABLE));
    assert_int_equal(text_add(filter, 1), 1);
    assert_int_equal(fixture_child(add_and_die, path), 7);
    watch_begin();
    AUTO_FILTER *next_one = fixture_opened(store, "x", 0);
    watch_end();
    assert_true(last("msync", "/segments/") < next(0, "unlink", "/logs/"));
    assert_true(next(0, "unlink", "/logs/") < call_count);
}
