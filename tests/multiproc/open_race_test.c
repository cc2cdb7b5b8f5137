/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_race_test.c: several processes open, and so make, a store for the first time, and some are
 * killed at it.
 *
 * Each round has a directory of its own.  All openers begin together; each opens the store, makes a
 * filter of its own and then notes that it was told so.  One in two rounds somebody dies: from
 * outside, after a random pause, or by its own hand at one of the first system calls or points that
 * it passes.  After that the store must open, have every filter that was told, and (in one round of
 * four) take another.
 *
 * Before that, without chance: one opener is held at its first step (a system call or a point),
 * then in another store at its second, and so on, while another opener goes all the way or is told
 * that the store is busy.  The control is the same with flock() that locks nothing.  It must lose a
 * filter, and does so on any number of processors: who is held inside its change of the catalog
 * takes the filter of the other away when it goes on.
 *
 * The disk is left out (nosync.c, and tmpfs where there is one): it is the race that is looked at.
 */
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "auto.h"
#include "cases.h"
#include "killer.h"
#include "os/io.h"
#include "random.h"
#include "rounds.h"
#include "scratch.h"
#include "specs.h"
#include "tamis.h"

#define OPENERS 3u
/* A loss in one of 500 rounds is seen in 98 of 100 runs. */
#define ROUNDS 2000u
#define LONG_ROUNDS 20000u
#define NAP_NS 200000
#define KILL_NS_MAX 2000000u /* longer than all of it takes */
#define STEPS_MAX 120u       /* system calls and points of an opener, about */
#define STEPS_LEAST 40u      /* fewer than it has: else the steps are not counted any more */

struct opener {
    uint32_t round; /* that it is done with, or has failed in */
    uint32_t told;  /* the round in which its filter was made */
    uint32_t failed;
};

struct arena {
    struct killer killer;
    uint32_t round; /* that is on; openers wait for it */
    uint32_t ended; /* raised by each that is done; the parent waits for it */
    unsigned dies;  /* this opener by its own hand, at step `dies_at`; OPENERS: none */
    uint64_t dies_at;
    struct opener openers[OPENERS];
};

/* The library's locks, switched off in the control. */
static bool no_locks;

int flock(int fd, int operation)
{
    return no_locks ? 0 : (int)syscall(SYS_flock, fd, operation);
}

/* Until *word is no more `value`, or for so long. */
static void sleep_on(uint32_t *word, uint32_t value, int64_t most_ns)
{
    const struct timespec most = {.tv_nsec = (long)most_ns};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

static void wake_all(uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void path_of(uint32_t round, char path[256])
{
    (void)snprintf(path, 256, "%s/%" PRIu32, scratch_directory(), round);
}

/* ---- An opener ------------------------------------------------------------------------------- */

static uint64_t steps_left; /* until at_step() is called; 0: it is not */
static void (*at_step)(void) = killer_die;

static void take_step(void)
{
    if (steps_left > 0 && --steps_left == 0) at_step();
}

static void step_at_point(unsigned point)
{
    (void)point;
    take_step();
}

static int step_at_call(const char *verb, const char *what)
{
    (void)verb, (void)what;
    take_step();
    return 0;
}

static int open_and_make(uint32_t round, unsigned index, int64_t busy_timeout_ms)
{
    const struct tamis_store_options options = {
        .size = sizeof options, .flags = TAMIS_OPEN_CREATE, .busy_timeout_ms = busy_timeout_ms};
    char path[256], name[16];
    tamis_store *store;
    path_of(round, path);
    (void)snprintf(name, sizeof name, "of-%u", index);
    int rc = tamis_store_open_with(path, &options, &store);
    if (rc < 0) return rc;
    rc = tamis_filter_create(store, name, SPEC(.capacity = 10), NULL);
    tamis_store_close(store);
    return rc;
}

static void opener(void *context, unsigned index)
{
    struct arena *arena = context;
    struct opener *own = &arena->openers[index];
    (void)killer_arm(&arena->killer, index, 1);
    tamis__point_hook = step_at_point;
    tamis__io_hook = step_at_call;
    for (;;) {
        uint32_t round;
        while ((round = __atomic_load_n(&arena->round, __ATOMIC_ACQUIRE)) == own->round)
            sleep_on(&arena->round, round, NAP_NS);
        steps_left = arena->dies == index ? arena->dies_at : 0;
        if (open_and_make(round, index, 0) == 0) {
            __atomic_store_n(&own->told, round, __ATOMIC_RELEASE);
        } else {
            (void)fprintf(stderr, "opener: %s\n", tamis_last_error());
            own->failed++;
        }
        steps_left = 0;
        __atomic_store_n(&own->round, round, __ATOMIC_RELEASE);
        (void)__atomic_add_fetch(&arena->ended, 1, __ATOMIC_RELEASE);
        wake_all(&arena->ended);
    }
}

/* ---- The rounds ------------------------------------------------------------------------------ */

struct outcome {
    uint64_t told, lost, errors, busy;
};

/* Until all have done the round; the dead count as done, and others take their place. */
static void await_all(struct arena *arena, unsigned victim, int64_t kill_at)
{
    struct killer *killer = &arena->killer;
    for (unsigned done = 0; done < OPENERS;) {
        const uint32_t ended = __atomic_load_n(&arena->ended, __ATOMIC_ACQUIRE);
        if (victim < OPENERS && killer_clock() >= kill_at) {
            killer_kill(killer, victim);
            victim = OPENERS;
        }
        for (int dead; (dead = killer_reap(killer)) >= 0; killer_start(killer, (unsigned)dead))
            arena->openers[dead].round = arena->round;
        done = 0;
        for (unsigned i = 0; i < OPENERS; i++)
            done += __atomic_load_n(&arena->openers[i].round, __ATOMIC_ACQUIRE) == arena->round;
        if (done < OPENERS) sleep_on(&arena->ended, ended, NAP_NS);
    }
}

/* Opens the store of a round, which must have the filter of each of `count` openers that was told.
 */
static void count_lost(uint32_t round, const struct opener *openers, unsigned count,
                       struct outcome *outcome)
{
    tamis_store *store = NULL;
    char path[256];
    path_of(round, path);
    if (tamis_store_open(path, TAMIS_OPEN_CREATE, &store) < 0 ||
        (round % 4 == 0 && tamis_filter_create(store, "another", SPEC(.capacity = 10), NULL) < 0)) {
        if (!no_locks) printf("%s: %s\n", path, tamis_last_error());
        outcome->errors++;
    }
    for (unsigned i = 0; i < count; i++) {
        char name[16];
        tamis_filter *filter = NULL;
        outcome->errors += openers[i].failed;
        if (openers[i].told != round) continue;
        outcome->told++;
        (void)snprintf(name, sizeof name, "of-%u", i);
        if (store == NULL || tamis_filter_open(store, name, 0, &filter) < 0) outcome->lost++;
        close_anyhow(filter);
    }
    tamis_store_close(store);
    scratch_remove(path);
}

CASE(open_race_loses_no_commit)
{
    struct arena *arena = spawn_shared(sizeof *arena);
    struct outcome outcome = {0};
    uint64_t random = random_seed();
    const unsigned count = rounds(ROUNDS, LONG_ROUNDS);
    (void)scratch_directory();
    arena->dies = OPENERS;
    killer_begin(&arena->killer, random, OPENERS, opener, arena);
    for (uint32_t round = 1; round <= count; round++) {
        const uint64_t fate = random_below(&random, 4);
        const unsigned victim = (unsigned)random_below(&random, OPENERS);
        arena->dies = fate == 0 ? victim : OPENERS;
        arena->dies_at = 1 + random_below(&random, STEPS_MAX);
        const int64_t kill_at = killer_clock() + (int64_t)random_below(&random, KILL_NS_MAX);
        __atomic_store_n(&arena->round, round, __ATOMIC_RELEASE);
        wake_all(&arena->round);
        await_all(arena, fate == 1 ? victim : OPENERS, kill_at);
        count_lost(round, arena->openers, OPENERS, &outcome);
        for (unsigned i = 0; i < OPENERS; i++)
            arena->openers[i].failed = 0;
    }
    killer_end(&arena->killer);
    printf("open-race: %u rounds, %" PRIu64 " kills, %" PRIu64 " filters told: lost %" PRIu64
           ", errors %" PRIu64 "\n",
           count, arena->killer.kills - OPENERS, outcome.told, outcome.lost, outcome.errors);
    assert_true(arena->killer.kills > count / 10 && outcome.told > count);
    assert_int_equal(outcome.lost, 0);
    assert_int_equal(outcome.errors, 0);
}

/* ---- One is held at each step --------------------------------------------------------------- */

enum { RUNS, IS_HELD, GOES_ON, HAS_ENDED };

struct duel {
    uint32_t round, state; /* of the one that is held */
    int rcs[2];            /* what they were told */
};
static struct duel *duel;

static void set_state(uint32_t state)
{
    __atomic_store_n(&duel->state, state, __ATOMIC_RELEASE);
    wake_all(&duel->state);
}

static uint32_t await_other_state(uint32_t state)
{
    uint32_t now;
    while ((now = __atomic_load_n(&duel->state, __ATOMIC_ACQUIRE)) == state)
        sleep_on(&duel->state, state, NAP_NS);
    return now;
}

static void be_held(void)
{
    set_state(IS_HELD);
    (void)await_other_state(IS_HELD);
}

static void first_of_two(void *context, unsigned index)
{
    tamis__point_hook = step_at_point;
    tamis__io_hook = step_at_call;
    at_step = be_held;
    steps_left = *(uint64_t *)context;
    duel->rcs[index] = open_and_make(duel->round, index, 0);
    set_state(HAS_ENDED);
}

/* While the first is held: a store that is busy says so soon.  Then again, without it. */
static void second_of_two(void *context, unsigned index)
{
    const bool is_again = *(bool *)context;
    duel->rcs[1 + index] = open_and_make(duel->round, 1 + index, is_again ? 0 : 1);
}

/* Returns false when the first was through before its step `step`. */
static bool hold_one_at(uint64_t step, struct outcome *outcome)
{
    struct opener openers[2] = {{0}};
    bool is_again = false;
    *duel = (struct duel){.round = (uint32_t)step, .rcs = {TAMIS_EIO, TAMIS_EIO}};
    const pid_t first = spawn_one(first_of_two, &step, 0);
    const uint32_t state = await_other_state(RUNS);
    outcome->errors += spawn_all(1, second_of_two, &is_again);
    if (state == IS_HELD) set_state(GOES_ON);
    int status;
    const bool has_ended = waitpid(first, &status, 0) == first && status == 0;
    outcome->errors += !has_ended;
    if (duel->rcs[1] == TAMIS_EBUSY) {
        is_again = true;
        outcome->busy++;
        outcome->errors += spawn_all(1, second_of_two, &is_again);
    }
    for (unsigned i = 0; i < 2; i++)
        openers[i] = (struct opener){.told = duel->rcs[i] == 0 ? duel->round : 0,
                                     .failed = duel->rcs[i] < 0};
    count_lost(duel->round, openers, 2, outcome);
    return state == IS_HELD;
}

static struct outcome hold_at_each_step(const char *how)
{
    struct outcome outcome = {0};
    uint64_t step = 1;
    (void)scratch_directory();
    duel = spawn_shared(sizeof *duel);
    while (hold_one_at(step, &outcome))
        step++;
    printf("held at each of %" PRIu64 " steps, %s: %" PRIu64 " times busy, %" PRIu64
           " filters told: lost %" PRIu64 ", errors %" PRIu64 "\n",
           step - 1, how, outcome.busy, outcome.told, outcome.lost, outcome.errors);
    assert_true(step > STEPS_LEAST);
    return outcome;
}

CASE(open_beside_one_held_anywhere_loses_no_commit)
{
    const struct outcome outcome = hold_at_each_step("under flock");
    assert_true(outcome.busy > 0);
    assert_int_equal(outcome.lost, 0);
    assert_int_equal(outcome.errors, 0);
}

CASE(open_beside_one_held_without_flock_loses)
{
    no_locks = true;
    const struct outcome outcome = hold_at_each_step("control without flock");
    no_locks = false;
    assert_int_equal(outcome.busy, 0);
    assert_true(outcome.lost > 0);
}

CASES_PREPARE
{
    scratch_in_memory();
}
