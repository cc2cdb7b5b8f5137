/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish_kill_test.c: kill -9 at every step of what changes a filter that is in use.
 *
 * A step is a named point (base/point.h) or a system call of the library (the hook of os/io.c).
 * Each operation is run by a child on a fresh copy of one store and dies at its first step, then at
 * its second, and so on until it is done; meanwhile handles that were opened before, one to read
 * and one to write, are open in the parent.  After each death
 *     all of them, and a fresh one, answer from the list before or from the one after, all from the
 *     same; the next build is published, and all of them answer from it;
 *     no file is left that no record names, after that build (even steps) or after a repair (odd
 *     steps).
 *
 * Another test stops the child at each named point instead: the handles answer, without the lock.
 *
 * Seen to fail: with the garbage of number_one() in txn/commit.c not noted (a file leaks); with the
 * epochs raised behind the commit (an old handle goes on with the old list); with staging/ not
 * swept by the next maker; with the catalog put aside by a rename (a store without a catalog); with
 * tell() before the commit (a handle answers from a list that is not in force while the publisher
 * is stopped); with in_force left out of view.c's publication_of() (a handle waits for one that is
 * stopped in a rollback).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builds.h"
#include "fixture.h"
#include "os/io.h"
#include "points.h"
#include "publish_operations.h"
#include "spawn.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STRIDE 7u /* of system calls; named points are all tried */
#else
#define STRIDE 1u
#endif

/* ---- What a filter answers ------------------------------------------------------------------- */

static struct seen ask(tamis_filter *filter)
{
    uint64_t numbers[FIXED + GENERATIONS];
    struct tamis_key keys[FIXED + GENERATIONS];
    uint8_t answers[FIXED + GENERATIONS];
    struct seen seen = {.gone = false};
    for (size_t i = 0; i < FIXED + GENERATIONS; i++) {
        numbers[i] = i < FIXED ? i : mark_of(i - FIXED);
        keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
    }
    const int64_t rc = tamis_filter_contains_batch(filter, keys, FIXED + GENERATIONS, answers);
    if (rc == TAMIS_EDROPPED) return (struct seen){.gone = true};
    if (rc < 0) fail_msg("%s", tamis_last_error());
    for (size_t i = 0; i < FIXED; i++) {
        if (i < 2)
            seen.excepted[i] = answers[i] == 0;
        else
            assert_int_equal(answers[i], 1);
    }
    for (size_t g = 0; g < GENERATIONS; g++) {
        if (answers[FIXED + g] == 0) continue;
        assert_int_equal(seen.generation, 0); /* else two at once */
        seen.generation = g;
    }
    assert_true(seen.generation != 0);
    return seen;
}

static bool same(const struct seen *a, const struct seen *b)
{
    return a->gone == b->gone && a->generation == b->generation &&
           a->excepted[0] == b->excepted[0] && a->excepted[1] == b->excepted[1];
}

static struct seen ask_by_name(tamis_store *store, const char *name)
{
    tamis_filter *filter;
    const int rc = tamis_filter_open(store, name, TAMIS_OPEN_READ_ONLY, &filter);
    if (rc == TAMIS_ENOTFOUND) return (struct seen){.gone = true};
    if (rc < 0) fail_msg("%s", tamis_last_error());
    const struct seen seen = ask(filter);
    assert_int_equal(tamis_filter_close(filter), 0);
    return seen;
}

/* ---- Death ----------------------------------------------------------------------------------- */

struct deaths {
    uint64_t at_point[TAMIS__POINT_COUNT_OF], at_call;
    uint64_t steps; /* of the child that is on its way */
    unsigned stopped_at;
};
static struct deaths *deaths;
static uint64_t dies_at;

/* What every key that is added passes is for kill_storm_test.c. */
static bool is_step(unsigned point)
{
    return !point_is_of_a_key(point) && !point_is_of_room(point) &&
           point != TAMIS__POINT_MERGE_RESERVED && point != TAMIS__POINT_MERGE_DONE;
}

static void die_if_due(uint64_t *count)
{
    if (__atomic_add_fetch(&deaths->steps, 1, __ATOMIC_RELAXED) != dies_at) return;
    (void)__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
    (void)raise(SIGKILL);
}

static void die_at_point(unsigned point)
{
    if (is_step(point)) die_if_due(&deaths->at_point[point]);
}

static int die_at_call(const char *verb, const char *what)
{
    (void)verb, (void)what;
    die_if_due(&deaths->at_call);
    return 0;
}

struct scene {
    const struct operation *operation;
    bool at_calls; /* not at points */
    char *path;
    tamis_store *store; /* the parent's */
    tamis_filter *handles[2];
};

static void run_operation(void *context, unsigned index)
{
    const struct scene *scene = context;
    (void)index;
    deaths->steps = 0;
    if (scene->at_calls)
        tamis__io_hook = die_at_call;
    else
        tamis__point_hook = die_at_point;
    SPAWN_CHECK(scene->operation->run(scene->store, scene->path) >= 0);
}

/* ---- After it -------------------------------------------------------------------------------- */

static struct seen ask_afresh(const struct scene *scene)
{
    const struct seen seen = ask_by_name(scene->store, "list");
    return seen.gone ? ask_by_name(scene->store, scene->operation->filter) : seen;
}

/* Before or after, by each handle the same, and by a fresh one. */
static void check_answers(const struct scene *scene, bool done)
{
    const struct seen before = IN_FORCE;
    const struct seen first = ask(scene->handles[0]), second = ask(scene->handles[1]);
    assert_true(same(&first, &second));
    assert_true(same(&first, &scene->operation->after) || (!done && same(&first, &before)));
    if (scene->operation->no_catalog && !done) return;
    const struct seen fresh = ask_afresh(scene);
    assert_true(same(&first, &fresh));
}

/* The handles of a filter that goes on follow. */
static void check_next_build(struct scene *scene)
{
    const struct seen old = ask_afresh(scene);
    const char *name = ask_by_name(scene->store, "list").gone ? scene->operation->filter : "list";
    assert_int_equal(operations_publish(scene->store, name, 9, &operations_fuse), 1);
    struct seen wanted = old;
    wanted.generation = 9;
    wanted.gone = false;
    const struct seen fresh = ask_by_name(scene->store, name);
    assert_true(same(&fresh, &wanted));
    for (size_t i = 0; i < 2; i++) {
        const struct seen seen = ask(scene->handles[i]);
        assert_true(same(&seen, old.gone ? &old : &wanted));
    }
}

static int64_t repair_now(const struct scene *scene)
{
    const int64_t rc = tamis_store_repair(scene->path, 0, NULL, NULL);
    if (rc < 0) fail_msg("repair: %s", tamis_last_error());
    return rc;
}

static void open_scene(struct scene *scene, const char *model)
{
    scratch_copy(model, scene->path);
    scene->store = fixture_open(scene->path, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tamis_filter_open(scene->store, "list", i ? 0 : TAMIS_OPEN_READ_ONLY,
                                           &scene->handles[i]),
                         0);
    if (scene->operation->prepare != NULL) scene->operation->prepare(scene->store, scene->path);
}

static void close_scene(struct scene *scene)
{
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tamis_filter_close(scene->handles[i]), 0);
    tamis_store_close(scene->store);
    scratch_remove(scene->path);
    free(scene->path);
}

/* One death: true; or the operation was done before it. */
static bool die_once(const struct operation *operation, bool at_calls, const char *model,
                     uint64_t step)
{
    struct scene scene = {
        .operation = operation, .at_calls = at_calls, .path = scratch_path("killed")};
    open_scene(&scene, model);
    dies_at = step;
    const int status = spawn_end(spawn_one(run_operation, &scene, 0));
    const bool died = status == SPAWN_KILLED;
    assert_true(died || status == 0);
    check_answers(&scene, !died);
    if (step % 2 == 1 || operation->no_catalog) {
        (void)repair_now(&scene);
        builds_check_no_stray(scene.store, scene.path);
        check_answers(&scene, !died || operation->no_catalog);
    }
    check_next_build(&scene);
    operations_check_others(scene.store);
    builds_check_no_leak(scene.store, scene.path);
    close_scene(&scene);
    return died;
}

static char *make_model(void)
{
    char *path = scratch_path("model");
    operations_make_model(path, false);
    return path;
}

/* Returns how often the operation was killed. */
static uint64_t die_at_each(const struct operation *operation, bool at_calls, const char *model)
{
    const uint64_t stride = at_calls ? STRIDE : 1;
    uint64_t step = 1;
    while (die_once(operation, at_calls, model, step))
        step += stride;
    return (step - 1) / stride;
}

CASE(kill_at_every_step_leaves_old_or_new_and_no_file)
{
    static const unsigned points[] = {
        TAMIS__POINT_STAGED,          TAMIS__POINT_RENAMED,        TAMIS__POINT_COMMITTED,
        TAMIS__POINT_PUBLISH_EPOCH,   TAMIS__POINT_PUBLISH_TOLD,   TAMIS__POINT_DROP_EPOCH,
        TAMIS__POINT_DROP_UNLINK,     TAMIS__POINT_RENAME_LABEL,   TAMIS__POINT_BUILD_SORTED,
        TAMIS__POINT_BUILD_MADE,      TAMIS__POINT_BUILD_VERIFIED, TAMIS__POINT_REPAIR_SCANNED,
        TAMIS__POINT_CATALOG_WRITTEN, TAMIS__POINT_REPAIR_RENAMED, TAMIS__POINT_REPAIR_CLEANED,
        TAMIS__POINT_GROW_AHEAD,      TAMIS__POINT_GROW_LEFT,
    };
    AUTO_FREE char *model = make_model();
    deaths = spawn_shared(sizeof *deaths);
    for (size_t i = 0; i < operations_count; i++) {
        const uint64_t at_points = die_at_each(&operations_all[i], false, model);
        const uint64_t at_calls = die_at_each(&operations_all[i], true, model);
        printf("%-18s killed at %2" PRIu64 " points, %3" PRIu64 " system calls\n",
               operations_all[i].name, at_points, at_calls);
    }
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        if (deaths->at_point[points[i]] == 0) fail_msg("nobody died at point %u", points[i]);
}

/* ---- Stopped, not dead ----------------------------------------------------------------------- */

static void stop_at_point(unsigned point)
{
    if (!is_step(point)) return;
    deaths->stopped_at = point;
    (void)raise(SIGSTOP);
}

static void run_with_stops(void *context, unsigned index)
{
    const struct scene *scene = context;
    (void)index;
    tamis__point_hook = stop_at_point;
    SPAWN_CHECK(scene->operation->run(scene->store, scene->path) >= 0);
}

/* Before the commit the list before answers; once it is told, the list after, though the lock is
 * held. */
static void check_while_stopped(const struct scene *scene)
{
    const struct seen before = IN_FORCE, after = scene->operation->after;
    const unsigned at = deaths->stopped_at;
    const bool is_old = at == TAMIS__POINT_PUBLISH_EPOCH || at == TAMIS__POINT_DROP_EPOCH;
    const bool is_new = at == TAMIS__POINT_PUBLISH_TOLD || at == TAMIS__POINT_DROP_UNLINK;
    for (size_t i = 0; i < 2; i++) {
        const struct seen seen = ask(scene->handles[i]);
        assert_true(is_old   ? same(&seen, &before)
                    : is_new ? same(&seen, &after)
                             : same(&seen, &before) || same(&seen, &after));
    }
}

CASE(stop_at_every_point_keeps_no_reader_waiting)
{
    AUTO_FREE char *model = make_model();
    deaths = spawn_shared(sizeof *deaths);
    (void)alarm(120); /* who waits for a lock that a stopped process holds waits for ever */
    for (size_t i = 0; i < operations_count; i++) {
        struct scene scene = {.operation = &operations_all[i], .path = scratch_path("stopped")};
        int status;
        open_scene(&scene, model);
        const pid_t child = spawn_one(run_with_stops, &scene, 0);
        while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
            check_while_stopped(&scene);
            assert_int_equal(kill(child, SIGCONT), 0);
        }
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        check_answers(&scene, true);
        close_scene(&scene);
    }
    (void)alarm(0);
}

CASES_PREPARE
{
    scratch_in_memory();
}
