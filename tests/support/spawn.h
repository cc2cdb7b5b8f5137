/* SPDX-License-Identifier: BSD-2-Clause */
/* spawn.h: real processes that start together and share memory, for the multi-process tests. */
#ifndef TAMIS_TESTS_SPAWN_H
#define TAMIS_TESTS_SPAWN_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroed memory that children share with their parent; never freed.  Exits on failure. */
void *spawn_shared(size_t bytes);

/* A barrier for `count` processes or threads, in shared memory; reusable.  Yields while it waits,
 * and sleeps once that has taken long, as others have the processors then. */
struct spawn_barrier {
    unsigned count, arrived, round, asleep;
};
void spawn_wait(struct spawn_barrier *barrier);

/*
 * Let another process at what this one has read, and has not written yet: sched_yield().  On a busy
 * machine each lasts until strangers have had their turns, and a race of millions of them takes
 * minutes in place of seconds; so after one that has taken long, none is made for as long again.
 */
void spawn_yield(void);

/* Wait for what another process does: for (int64_t since = 0; !condition; spawn_idle(&since)).
 * Yields for a millisecond, then sleeps for a moment at a time. */
void spawn_idle(int64_t *since);

/* Run body(context, index) in `count` children and wait for all.  Returns how many did not exit 0.
 */
typedef void spawn_body(void *context, unsigned index);
unsigned spawn_all(unsigned count, spawn_body *body, void *context);

/*
 * In a child, first thing.  A crash is its end; with cmocka's handlers it would go on as a second
 * parent.  The end of the thread that forked it is its end too: a test that fails leaves nobody
 * behind, who would keep the pipe that ctest reads from.  `parent` is getpid() of before the
 * fork().
 */
void spawn_settle(pid_t parent);

/* Start one child; it exits 0 after body. */
pid_t spawn_one(spawn_body *body, void *context, unsigned index);
/* Wait for its end: its exit status, or 256 + the signal that ended it. */
int spawn_end(pid_t pid);
#define SPAWN_KILLED (256 + SIGKILL)
/* Start one that stops itself, and wait until it has. */
pid_t spawn_until_stopped(spawn_body *body, void *context, unsigned index);

/* For checks inside children, where cmocka's longjmp has nowhere to go: print and _exit(1). */
#define SPAWN_CHECK(condition) spawn_check((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
void spawn_check(int holds, const char *condition, const char *file, int line);

#endif
