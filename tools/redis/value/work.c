/* SPDX-License-Identifier: BSD-2-Clause */
/* work.c: see work.h.  The mutex guards the lines and the list; no thread has it while it works. */
#include "value/work.h"

#include <pthread.h>

#include "server/redis_api.h"
#include "server/thread.h"

/* Threads begin as they are needed.  Each waits for a disk nearly always. */
#define THREADS_MAX 12
/* If jobs hold more than this, the server waits: a replica may get keys faster than its disk takes
 * them. */
#define WAITING_BYTES_MAX ((size_t)64 << 20)

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t work; /* a line is ready */
    pthread_cond_t done; /* a thread has ended its work for a line */
    struct line *ready, **ready_last;
    unsigned threads, idle;
    size_t bytes, before_fork; /* of jobs that are not done */
    bool is_child;             /* it has none of the threads */
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER,
          .ready_last = &pool.ready};

/* Takes the first jobs of a line that have one function. */
static struct job *take_jobs(struct line *line, size_t *bytes, size_t *before_fork)
{
    struct job *first = line->first, *last = first;
    *bytes = first->bytes;
    *before_fork = first->before_fork;
    while (last->next != NULL && last->next->run == first->run) {
        last = last->next;
        *bytes += last->bytes;
        *before_fork += last->before_fork;
    }
    line->first = last->next;
    if (line->first == NULL) line->last = &line->first;
    last->next = NULL;
    return first;
}

static void make_ready(struct line *line)
{
    line->next = NULL;
    *pool.ready_last = line;
    pool.ready_last = &line->next;
    (void)pthread_cond_signal(&pool.work);
}

/* Takes the first line that is pool.ready and works for it.  The caller has the mutex, which is
 * given back meanwhile. */
static void work_once(void)
{
    struct line *line = pool.ready;
    size_t bytes, before_fork;
    pool.ready = line->next;
    if (pool.ready == NULL) pool.ready_last = &pool.ready;
    struct job *jobs = take_jobs(line, &bytes, &before_fork);
    (void)pthread_mutex_unlock(&pool.mutex);
    jobs->run(jobs);
    (void)pthread_mutex_lock(&pool.mutex);
    pool.bytes -= bytes;
    pool.before_fork -= before_fork;
    if (line->first != NULL)
        make_ready(line); /* the jobs of other lines come first */
    else
        line->busy = false;
    if (line->alone && !line->busy) RedisModule_Free(line);
    (void)pthread_cond_broadcast(&pool.done);
}

static void *thread_main(void *unused)
{
    (void)pthread_mutex_lock(&pool.mutex);
    for (;;) {
        pool.idle++;
        while (pool.ready == NULL)
            (void)pthread_cond_wait(&pool.work, &pool.mutex);
        pool.idle--;
        work_once();
    }
    return unused;
}

void work_submit(struct line *line, struct job *job)
{
    if (line == NULL) {
        line = RedisModule_Calloc(1, sizeof *line);
        line->alone = true;
    }
    (void)pthread_mutex_lock(&pool.mutex);
    while (pool.bytes > WAITING_BYTES_MAX)
        (void)pthread_cond_wait(&pool.done, &pool.mutex);
    pool.bytes += job->bytes;
    pool.before_fork += job->before_fork;
    job->next = NULL;
    if (line->last == NULL) line->last = &line->first;
    *line->last = job;
    line->last = &job->next;
    if (!line->busy) make_ready(line);
    line->busy = true;
    if (pool.idle == 0 && pool.threads < THREADS_MAX && thread_start(thread_main, NULL))
        pool.threads++;
    while (pool.threads == 0 &&
           pool.ready != NULL) /* no thread can be had: the server does the work */
        work_once();
    (void)pthread_mutex_unlock(&pool.mutex);
}

bool work_is_busy(const struct line *line)
{
    (void)pthread_mutex_lock(&pool.mutex);
    const bool busy = line->busy;
    (void)pthread_mutex_unlock(&pool.mutex);
    return busy;
}

void work_wait(const struct line *line)
{
    if (pool.is_child) return;
    (void)pthread_mutex_lock(&pool.mutex);
    while (line->busy)
        (void)pthread_cond_wait(&pool.done, &pool.mutex);
    (void)pthread_mutex_unlock(&pool.mutex);
}

/* Locks the mutex when no line has jobs that fork() waits for. */
static void lock_when_idle(void)
{
    (void)pthread_mutex_lock(&pool.mutex);
    while (pool.before_fork > 0)
        (void)pthread_cond_wait(&pool.done, &pool.mutex);
}

void work_idle(void)
{
    lock_when_idle();
    (void)pthread_mutex_unlock(&pool.mutex);
}

bool work_is_child(void)
{
    return pool.is_child;
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&pool.mutex);
}

static void after_fork_in_child(void)
{
    pool.threads = pool.idle = 0;
    pool.bytes = pool.before_fork = 0;
    pool.is_child = true;
    (void)pthread_mutex_unlock(&pool.mutex);
}

void work_prepare(void)
{
    /* Handlers run in the reverse order of their registration: this one is registered last (the
     * library's are when it is loaded), and waits before the library and stored.c take their
     * locks, which the jobs need. */
    (void)pthread_atfork(lock_when_idle, after_fork, after_fork_in_child);
}
