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
 * The control is the same with flock() that locks nothing, and must lose.  The disk is left out
 * (nosync.c, and tmpfs where there is one): it is the race that is looked at.
 */
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "file/io.h"
#include "killer.h"
#include "random.h"
#include "scratch.h"
#include "tamis.h"

#define OPENERS 3u
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ROUNDS 1000u
#else
#define ROUNDS 20000u
#endif
#define CONTROL_ROUNDS 1000u
#define NAP_NS 200000
#define KILL_NS_MAX 2000000u /* longer than all of it takes */
#define STEPS_MAX 80u        /* system calls and points of an opener, about */

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

static uint64_t steps_left; /* until this process dies; 0: it lives */

static void take_step(void)
{
    if (steps_left > 0 && --steps_left == 0) killer_die();
}

static void step_at_point(enum tamis__point point)
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

static bool open_and_make(uint32_t round, unsigned index)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10};
    char path[256], name[16];
    tamis_store *store;
    path_of(round, path);
    (void)snprintf(name, sizeof name, "of-%u", index);
    if (tamis_store_open(path, TAMIS_CREATE, &store) < 0) return false;
    const int rc = tamis_filter_create(store, name, &spec, NULL);
    tamis_store_close(store);
    return rc == 0;
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
        if (open_and_make(round, index)) {
            __atomic_store_n(&own->told, round, __ATOMIC_RELEASE);
        } else {
            if (!no_locks) (void)fprintf(stderr, "opener: %s\n", tamis_last_error());
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
    uint64_t told, lost, errors;
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

static void count_lost(struct arena *arena, const char *path, struct outcome *outcome)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10};
    tamis_store *store = NULL;
    if (tamis_store_open(path, TAMIS_CREATE, &store) < 0 ||
        (arena->round % 4 == 0 && tamis_filter_create(store, "another", &spec, NULL) < 0)) {
        if (!no_locks) printf("%s: %s\n", path, tamis_last_error());
        outcome->errors++;
    }
    for (unsigned i = 0; i < OPENERS; i++) {
        char name[16];
        tamis_filter *filter = NULL;
        outcome->errors += arena->openers[i].failed;
        arena->openers[i].failed = 0;
        if (arena->openers[i].told != arena->round) continue;
        outcome->told++;
        (void)snprintf(name, sizeof name, "of-%u", i);
        if (store == NULL || tamis_filter_open(store, name, 0, &filter) < 0) outcome->lost++;
        (void)tamis_filter_close(filter);
    }
    tamis_store_close(store);
}

static struct outcome race_to_open(uint32_t rounds, const char *how)
{
    struct arena *arena = spawn_shared(sizeof *arena);
    struct outcome outcome = {0};
    uint64_t random = random_seed();
    char path[256];
    (void)scratch_directory();
    arena->dies = OPENERS;
    arena->killer.any_end = no_locks;
    killer_begin(&arena->killer, random, OPENERS, opener, arena);
    for (uint32_t round = 1; round <= rounds; round++) {
        const uint64_t fate = random_below(&random, 4);
        const unsigned victim = (unsigned)random_below(&random, OPENERS);
        arena->dies = fate == 0 ? victim : OPENERS;
        arena->dies_at = 1 + random_below(&random, STEPS_MAX);
        const int64_t kill_at = killer_clock() + (int64_t)random_below(&random, KILL_NS_MAX);
        __atomic_store_n(&arena->round, round, __ATOMIC_RELEASE);
        wake_all(&arena->round);
        await_all(arena, fate == 1 ? victim : OPENERS, kill_at);
        path_of(round, path);
        count_lost(arena, path, &outcome);
        scratch_remove(path);
    }
    killer_end(&arena->killer);
    printf("open-race, %s: %" PRIu32 " rounds, %" PRIu64 " kills, %" PRIu64
           " filters told: lost %" PRIu64 ", errors %" PRIu64 ", ended by themselves %" PRIu64 "\n",
           how, rounds, arena->killer.kills - OPENERS, outcome.told, outcome.lost, outcome.errors,
           arena->killer.failures);
    assert_true(arena->killer.kills > rounds / 10 && outcome.told > rounds);
    return outcome;
}

static void open_race_loses_no_commit(void **state)
{
    (void)state;
    const struct outcome outcome = race_to_open(ROUNDS, "under flock");
    assert_int_equal(outcome.lost, 0);
    assert_int_equal(outcome.errors, 0);
}

static void open_race_without_flock_loses(void **state)
{
    (void)state;
    no_locks = true;
    const struct outcome outcome = race_to_open(CONTROL_ROUNDS, "control without flock");
    no_locks = false;
    assert_true(outcome.lost > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_race_loses_no_commit),
        cmocka_unit_test(open_race_without_flock_loses),
    };
    scratch_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
