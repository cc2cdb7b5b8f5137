/* SPDX-License-Identifier: BSD-2-Clause */
#include "killer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "points.h"
#include "random.h"

#define ANY TAMIS__POINT_COUNT_OF

/* Of this process. */
static struct killer *own;
static unsigned own_index;
static uint64_t random_state;
static unsigned dies_at;
static uint64_t dies_in; /* passes until then; 0: it lives */

int64_t killer_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void killer_die(void)
{
    __atomic_store_n(&own->died_at[own_index], killer_clock(), __ATOMIC_RELAXED);
    (void)raise(SIGKILL);
}

static void yield_or_die(unsigned point)
{
    if (dies_in > 0 && (dies_at == ANY || dies_at == point) && --dies_in == 0) {
        (void)__atomic_add_fetch(&own->deaths_at[point], 1, __ATOMIC_RELAXED);
        killer_die();
    }
    if (random_next(&random_state) % 16 == 0) spawn_yield();
}

uint64_t killer_arm(struct killer *killer, unsigned index, uint64_t passes)
{
    own = killer;
    own_index = index;
    random_state = killer->seed + __atomic_add_fetch(&killer->births, 1, __ATOMIC_RELAXED);
    dies_at = ANY;
    dies_in = random_next(&random_state) % 2 ? 1 + random_below(&random_state, passes) : 0;
    tamis__point_hook = yield_or_die;
    return random_next(&random_state);
}

void killer_arm_at(unsigned point, uint64_t passes)
{
    dies_at = point;
    dies_in = passes + 1;
}

void killer_start(struct killer *killer, unsigned index)
{
    killer->died_at[index] = 0;
    killer->pids[index] = spawn_one(killer->body, killer->context, index);
}

void killer_begin(struct killer *killer, uint64_t seed, unsigned count, spawn_body *body,
                  void *context)
{
    killer->seed = seed;
    killer->count = count;
    killer->body = body;
    killer->context = context;
    for (unsigned i = 0; i < count; i++)
        killer_start(killer, i);
}

void killer_kill(const struct killer *killer, unsigned index)
{
    if (killer->pids[index] > 0) (void)kill(killer->pids[index], SIGKILL);
}

static void end_all(struct killer *killer)
{
    for (unsigned i = 0; i < killer->count; i++)
        killer_kill(killer, i);
    for (unsigned i = 0; i < killer->count; i++)
        if (killer->pids[i] > 0) (void)waitpid(killer->pids[i], NULL, 0);
}

int killer_reap(struct killer *killer)
{
    for (unsigned i = 0; i < killer->count; i++) {
        int status;
        if (killer->pids[i] <= 0 || waitpid(killer->pids[i], &status, WNOHANG) != killer->pids[i])
            continue;
        killer->pids[i] = 0;
        const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (!is_killed) {
            (void)fprintf(stderr, "process %u ended by itself, with status %#x\n", i,
                          (unsigned)status);
            end_all(killer);
            exit(1);
        }
        killer->kills++;
        return (int)i;
    }
    return -1;
}

void killer_replace(struct killer *killer)
{
    for (int index; (index = killer_reap(killer)) >= 0;)
        killer_start(killer, (unsigned)index);
}

void killer_end(struct killer *killer)
{
    for (unsigned i = 0; i < killer->count; i++)
        killer->kills += killer->pids[i] > 0;
    end_all(killer);
}
