/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sums_storm_test.c: 64 processes add to a filter that grows, with syncs in between, and many are
 * killed; others merge into the segments that are sealed meanwhile.  The parent verifies the store
 * beside them: nothing is ever called damaged (docs/decisions/0045).
 *
 * Seen to fail: with a checkpoint that does not ask whether others write (others_write() false).
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "hooks.h"
#include "numbers.h"
#include "points.h"
#include "segment/sums.h"
#include "spawn.h"
#include "told.h"

#define PROCESSES 64u
#define ROUNDS (FIXTURE_SANITIZED ? 2u : 40u)
#define ROUNDS_LONG 400u /* TAMIS_TEST_LONG=1: 25,600 processes */
#define KEYS_EACH 400u
#define BATCH 16u

/* A kill at each of these leaves another state of the table and the mark. */
static const unsigned points[] = {
    TAMIS__POINT_SUMS_LOCKED,  TAMIS__POINT_SUMS_MADE,    TAMIS__POINT_SYNC_DONE,
    TAMIS__POINT_SYNC_CLEARED, TAMIS__POINT_MARK_COUNTED, TAMIS__POINT_MARK_DIRTY,
    TAMIS__POINT_GROW_LEFT,    TAMIS__POINT_ADD_ORED,     TAMIS__POINT_COUNT,
};
#define POINTS (sizeof points / sizeof *points)

struct storm {
    const char *path;
    uint64_t seed, round;
};

static void add_some(tamis_filter *filter, uint64_t *random, uint64_t first)
{
    uint64_t numbers[BATCH];
    struct tamis_key keys[BATCH] = {0};
    const uint64_t count = 1 + random_below(random, BATCH);
    numbers_from(first, count, numbers, keys);
    if (random_below(random, 2) == 0) {
        SPAWN_CHECK(tamis_filter_add_batch(filter, keys, count, NULL) >= 0);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        SPAWN_CHECK(tamis_filter_add(filter, &numbers[i], sizeof numbers[i]) >= 0);
}

/* Sets bits in a segment that the list has left, as a merge does. */
static void write_to_old(tamis_filter *filter, uint64_t *random)
{
    const unsigned char bits = (unsigned char)(1u << random_below(random, 8));
    SPAWN_CHECK(tamis_filter_write_data(filter, 0, random_below(random, 64), &bits, 1) == 0);
}

static void add_in_storm(void *context, unsigned index)
{
    const struct storm *storm = context;
    uint64_t random = storm->seed + storm->round * PROCESSES + index;
    (void)random_next(&random);
    tamis_store *store = fixture_open(storm->path, 0);
    tamis_filter *filter = fixture_opened(store, "x", 0);
    if (random_below(&random, 2) == 0)
        hooks_signal_at(points[random_below(&random, POINTS)], SIGKILL,
                        (unsigned)random_below(&random, 4));
    const uint64_t first = (storm->round * PROCESSES + index) * KEYS_EACH;
    for (uint64_t at = 0; at + BATCH <= KEYS_EACH; at += BATCH) {
        add_some(filter, &random, first + at);
        if (random_below(&random, 16) == 0) SPAWN_CHECK(tamis_filter_sync(filter) == 0);
        if (random_below(&random, 32) == 0) write_to_old(filter, &random);
    }
    SPAWN_CHECK(tamis_filter_close(filter) == 0);
    tamis_store_close(store);
}

static void verify(const char *path)
{
    const struct told told = told_of(path, NULL);
    if (told.count != 0) fail_msg("%s at %u: %s", told.file, (unsigned)told.offset, told.reason);
}

/* Verifies beside the processes until all have ended.  Returns how many were killed. */
static unsigned watch(const char *path, const pid_t pids[PROCESSES])
{
    unsigned killed = 0;
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status;
        pid_t ended;
        while ((ended = waitpid(pids[i], &status, WNOHANG)) == 0)
            verify(path);
        assert_int_equal(ended, pids[i]);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    return killed;
}

static unsigned run_round(tamis_store *store, struct storm *storm)
{
    pid_t pids[PROCESSES];
    const struct tamis_filter_spec *spec =
        SPEC(.capacity = 1000, .fp_rate = 1e-3, .on_full = TAMIS_ON_FULL_GROW);
    assert_done(tamis_filter_create(store, "x", spec, NULL));
    for (unsigned i = 0; i < PROCESSES; i++)
        pids[i] = spawn_one(add_in_storm, storm, i);
    const unsigned killed = watch(storm->path, pids);
    verify(storm->path);
    assert_int_equal(tamis_store_sync(store, NULL, 0, NULL, NULL), 0);
    verify(storm->path);
    AUTO_FILTER *filter = fixture_opened(store, "x", TAMIS_OPEN_READ_ONLY);
    const uint32_t segments = fixture_stat(filter).segment_count;
    assert_true(segments > 1);
    for (uint32_t i = 0; i + 1 < segments; i++) {
        const uint64_t number = fixture_segment_stat(filter, i).number;
        const struct tamis__segment_header header =
            fixture_header_of(fixture_segment_path(storm->path, number));
        assert_true(tamis__mark_is_sealed(header.live.mark));
    }
    return killed;
}

CASE(segments_that_are_sealed_in_a_storm_are_never_called_damaged)
{
    scratch_in_memory();
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    struct storm storm = {.path = path, .seed = random_seed()};
    const unsigned rounds = getenv("TAMIS_TEST_LONG") != NULL ? ROUNDS_LONG : ROUNDS;
    unsigned killed = 0;
    for (; storm.round < rounds; storm.round++) {
        killed += run_round(store, &storm);
        assert_done(tamis_filter_drop(store, "x"));
    }
    printf("%u processes, %u of them killed\n", rounds * PROCESSES, killed);
    assert_true(killed > rounds * PROCESSES / 16);
}
