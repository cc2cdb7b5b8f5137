/* SPDX-License-Identifier: BSD-2-Clause */
#include "spawn.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tamis.h"

void *spawn_shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap of shared memory");
        exit(1);
    }
    return memory;
}

/* A yield to the other processes of a test takes microseconds, one to strangers milliseconds. */
#define LONG_NS 1000000

static int64_t steady_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void spawn_yield(void)
{
    static _Thread_local int64_t rests_until;
    const int64_t begun = steady_ns();
    if (begun < rests_until) return;
    (void)sched_yield();
    const int64_t ended = steady_ns();
    if (ended - begun > LONG_NS) rests_until = ended + (ended - begun);
}

static bool is_long_since(int64_t *since)
{
    const int64_t now = steady_ns();
    if (*since == 0) *since = now;
    return now - *since > LONG_NS;
}

void spawn_idle(int64_t *since)
{
    if (is_long_since(since))
        (void)usleep(100);
    else
        (void)sched_yield();
}

static void sleep_through(struct spawn_barrier *barrier, unsigned round)
{
    (void)__atomic_add_fetch(&barrier->asleep, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&barrier->round, __ATOMIC_SEQ_CST) == round)
        (void)syscall(SYS_futex, &barrier->round, FUTEX_WAIT, round, NULL, NULL, 0);
    (void)__atomic_sub_fetch(&barrier->asleep, 1, __ATOMIC_SEQ_CST);
}

void spawn_wait(struct spawn_barrier *barrier)
{
    const unsigned round = __atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == barrier->count) {
        __atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&barrier->round, round + 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&barrier->asleep, __ATOMIC_SEQ_CST) > 0)
            (void)syscall(SYS_futex, &barrier->round, FUTEX_WAKE, barrier->count, NULL, NULL, 0);
        return;
    }
    int64_t since = 0;
    while (__atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE) == round)
        if (is_long_since(&since))
            sleep_through(barrier, round);
        else
            (void)sched_yield();
}

void spawn_settle(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* it ended before that */
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        (void)signal(fatal[i], SIG_DFL);
}

pid_t spawn_one(spawn_body *body, void *context, unsigned index)
{
    (void)fflush(NULL);
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(1);
    }
    if (pid > 0) return pid;
    spawn_settle(parent);
    body(context, index);
    (void)fflush(NULL);
    _exit(0); /* no atexit handlers: they are the parent's */
}

int spawn_end(pid_t pid)
{
    int status;
    SPAWN_CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

pid_t spawn_until_stopped(spawn_body *body, void *context, unsigned index)
{
    int status;
    const pid_t pid = spawn_one(body, context, index);
    SPAWN_CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    return pid;
}

unsigned spawn_all(unsigned count, spawn_body *body, void *context)
{
    unsigned failed = 0;
    pid_t pids[64];
    for (unsigned i = 0; i < count; i++)
        pids[i] = spawn_one(body, context, i);
    for (unsigned i = 0; i < count; i++)
        failed += spawn_end(pids[i]) != 0;
    return failed;
}

void spawn_check(int holds, const char *condition, const char *file, int line)
{
    if (holds) return;
    (void)fprintf(stderr, "%s:%d: in process %d: %s does not hold; last error: %s\n", file, line,
                  (int)getpid(), condition, tamis_last_error());
    (void)fflush(NULL);
    _exit(1);
}
