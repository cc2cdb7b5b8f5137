/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spawn_test.c: what tests/support/spawn.h promises of children.
 *
 * A child that outlives its parent keeps the pipe that ctest reads from: two children of a test
 * that had failed once held ctest for 600 seconds.
 */
#include <poll.h>
#include <stddef.h>
#include <unistd.h>

#include "cases.h"
#include "spawn.h"

#define DEADLINE_MS 60000

struct scene {
    int ends[2]; /* of a pipe */
    struct spawn_barrier *barrier;
};

static void wait_for_ever(void *context, unsigned index)
{
    const struct scene *scene = context;
    (void)index;
    spawn_wait(scene->barrier);
    (void)alarm(2 * DEADLINE_MS / 1000); /* should the test fail */
    for (;;)
        pause();
}

/* As a test that fails does: it exits, and nobody has ended its child. */
static void leave_a_child(void *context, unsigned index)
{
    const struct scene *scene = context;
    (void)index;
    (void)close(scene->ends[0]);
    (void)spawn_one(wait_for_ever, context, 0);
    spawn_wait(scene->barrier);
    _exit(1);
}

/* Only the children have the pipe's end to write, so it is closed when both are gone.  Seen to fail
 * without prctl() in spawn_settle(): the poll() went on to its deadline. */
CASE(spawn_child_ends_with_its_parent)
{
    struct scene scene = {.barrier = spawn_shared(sizeof *scene.barrier)};
    scene.barrier->count = 2;
    assert_int_equal(pipe(scene.ends), 0);
    const pid_t pid = spawn_one(leave_a_child, &scene, 0);
    (void)close(scene.ends[1]);
    assert_int_equal(spawn_end(pid), 1);
    struct pollfd end = {.fd = scene.ends[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, DEADLINE_MS), 1);
    assert_true((end.revents & POLLHUP) != 0);
    (void)close(scene.ends[0]);
}
