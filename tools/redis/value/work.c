/* SPDX-License-Identifier: BSD-2-Clause */
/* work.c: see work.h. */
#include "value/work.h"

#include <pthread.h>

#include "server/thread.h"
#include "server/waiting.h"

/* Threads begin as they are needed.  Each waits for a disk nearly always. */
#define THREADS_MAX 12
/* If jobs hold more than this, the server waits: a replica may get keys faster than its disk takes
 * them. */
#define WAITING_BYTES_MAX ((size_t)64 << 20)

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t work; /* a line is ready */
    pthread_cond_t news; /* a thread has ended its work for a line */
    struct line *ready, **ready_last;
    struct job *done, **done_last; /* jobs that the main thread is to end */
    unsigned threads, idle;
    size_t bytes, before_fork; /* of jobs that are not done */
    bool is_child;             /* it has none of the threads */
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .news = PTHREAD_COND_INITIALIZER,
          .ready_last = &pool.ready,
          .done_last = &pool.done};

void work_lock(void)
{
    (void)pthread_mutex_lock(&pool.mutex);
}

void work_unlock(void)
{
    (void)pthread_mutex_unlock(&pool.mutex);
}

void work_sleep(void)
{
    (void)pthread_cond_wait(&pool.news, &pool.mutex);
}

void work_tell_news(void)
{
    (void)pthread_cond_broadcast(&pool.news);
}

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

/* Hands jobs over to the main thread. */
static void leave_done(struct job *jobs)
{
    *pool.done_last = jobs;
    for (; jobs != NULL; jobs = jobs->next) {
        jobs->done = true;
        pool.done_last = &jobs->next;
    }
}

/* Takes the first line that is ready and works for it.  The caller has the lock, which is given
 * back meanwhile. */
static void work_once(void)
{
    struct line *line = pool.ready;
    size_t bytes, before_fork;
    pool.ready = line->next;
    if (pool.ready == NULL) pool.ready_last = &pool.ready;
    struct job *jobs = take_jobs(line, &bytes, &before_fork);
    const bool have_end = jobs->end != NULL;
    work_unlock();
    jobs->run(jobs);
    work_lock();
    if (have_end) leave_done(jobs);
    pool.bytes -= bytes;
    pool.before_fork -= before_fork;
    if (line->first != NULL)
        make_ready(line); /* the jobs of other lines come first */
    else
        line->busy = false;
    if (line->alone && !line->busy) RedisModule_Free(line);
    work_tell_news();
    if (!have_end) return;
    work_unlock();
    waiting_wake();
    work_lock();
}

static void *thread_main(void *unused)
{
    work_lock();
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
    work_lock();
    while (pool.bytes > WAITING_BYTES_MAX)
        work_sleep();
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
    work_unlock();
}

bool work_is_busy(const struct line *line)
{
    work_lock();
    const bool busy = line->busy;
    work_unlock();
    return busy;
}

void work_wait(const struct line *line)
{
    if (pool.is_child) return;
    work_lock();
    while (line->busy)
        work_sleep();
    work_unlock();
}

void work_await(const struct job *job)
{
    work_lock();
    while (!job->done)
        work_sleep();
    work_unlock();
}

void work_finish(RedisModuleCtx *ctx, struct job *job)
{
    work_await(job);
    work_lock();
    struct job **at = &pool.done;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (job->next == NULL) pool.done_last = at;
    work_unlock();
    job->end(ctx, job);
}

void work_pass(RedisModuleCtx *ctx)
{
    work_lock();
    struct job *job = pool.done;
    pool.done = NULL;
    pool.done_last = &pool.done;
    work_unlock();
    for (struct job *next; job != NULL; job = next) {
        next = job->next;
        job->end(ctx, job);
    }
}

/* Locks when no line has jobs that fork() waits for. */
static void lock_when_idle(void)
{
    work_lock();
    while (pool.before_fork > 0)
        work_sleep();
}

void work_idle(void)
{
    lock_when_idle();
    work_unlock();
}

bool work_is_child(void)
{
    return pool.is_child;
}

static void after_fork_in_child(void)
{
    pool.threads = pool.idle = 0;
    pool.bytes = pool.before_fork = 0;
    pool.is_child = true;
    work_unlock();
}

void work_prepare(void)
{
    /* Handlers run in the reverse order of their registration: this one is registered last (the
     * library's are when it is loaded), and waits before the library takes its locks, which
     * the jobs need. */
    (void)pthread_atfork(lock_when_idle, work_unlock, after_fork_in_child);
}
