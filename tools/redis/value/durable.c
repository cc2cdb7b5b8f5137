/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * durable.c: see durable.h.
 *
 * The jobs of one filter form a line.  A line that has jobs is in the list `ready`, or a thread is
 * at work for it, never both, so the jobs of a line are done in their order.  The mutex guards the
 * lines, the list and the counts; no thread has it while it adds.
 */
#include "value/durable.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/thread.h"

/* Threads begin as they are needed.  Each waits for a disk nearly always. */
#define THREADS_MAX 8
/* If jobs hold more than this, the server waits: a replica may get keys faster than its disk takes
 * them. */
#define WAITING_BYTES_MAX ((size_t)64 << 20)

/* One allocation: the job, its keys, their answers, and their bytes. */
struct job {
    struct job *next;
    RedisModuleBlockedClient *client; /* NULL: nobody waits */
    answer_fn *answer;
    size_t bytes; /* of the allocation */
    size_t count; /* 0: the filter is made ready for further keys */
    bool exact;
    bool is_watched; /* durable_watch() */
    struct tamis_key *keys;
    uint8_t *answers;
    int64_t rc;
    char sentence[1024];
};

struct line {
    struct line *next; /* in `ready` */
    const struct value *value;
    struct job *first, **last;
    bool busy; /* ready, or in work */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* a line is ready */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a thread has ended its work for a line */
static struct line *ready, **ready_last = &ready;
static unsigned threads, idle;
static size_t waiting_bytes, jobs_with_keys;
static bool is_child; /* it has none of the threads */
static struct durable_counts counted;
static bool (*adds_begin)(const struct value *value);
static void (*adds_end)(void);

void durable_watch(bool (*begins)(const struct value *value), void (*ends)(void))
{
    adds_begin = begins;
    adds_end = ends;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static bool has_refused(const struct job *job)
{
    return memchr(job->answers, TAMIS_ANSWER_REFUSED, job->count) != NULL;
}

static void note_failure(struct job *job, int64_t rc)
{
    job->rc = rc;
    (void)strncpy(job->sentence, tamis_last_error(), sizeof job->sentence - 1);
}

/* Adds the keys of one job, from the first on that was refused before. */
static void add_alone(const struct line *line, struct job *job)
{
    const uint8_t *from = memchr(job->answers, TAMIS_ANSWER_REFUSED, job->count);
    const size_t at = from == NULL ? 0 : (size_t)(from - job->answers);
    const int64_t rc = tamis_filter_add_batch(line->value->filter, job->keys + at, job->count - at,
                                              job->answers + at);
    job->rc = 0;
    if (rc < 0) note_failure(job, rc);
}

/* Adds the keys of all jobs at once; false: there is no memory for that. */
static bool add_together(const struct line *line, struct job *jobs, size_t count, int64_t *rc)
{
    struct tamis_key *keys = malloc(count * (sizeof *keys + 1));
    if (keys == NULL) return false;
    uint8_t *answers = (uint8_t *)(keys + count);
    size_t at = 0;
    for (const struct job *job = jobs; job != NULL; at += job->count, job = job->next)
        memcpy(keys + at, job->keys, job->count * sizeof *keys);
    *rc = tamis_filter_add_batch(line->value->filter, keys, count, answers);
    at = 0;
    for (struct job *job = jobs; job != NULL; at += job->count, job = job->next) {
        memcpy(job->answers, answers + at, job->count);
        job->rc = 0;
        if (*rc < 0 && has_refused(job)) note_failure(job, *rc);
    }
    free(keys);
    return true;
}

/* Adds the keys of all jobs.  An error other than that of a full filter may be the fault of one
 * job, such as a key that is too long.  The other jobs must not suffer from it, so each is added
 * alone then. */
static void add_jobs(const struct line *line, struct job *jobs)
{
    size_t count = jobs->count; /* there is one job at least */
    int64_t rc = 0;
    for (const struct job *job = jobs->next; job != NULL; job = job->next)
        count += job->count;
    /* What goes wrong here meets the adds, too. */
    if (!line->value->durable) (void)tamis_filter_prepare(line->value->filter);
    const bool together = jobs->next != NULL && add_together(line, jobs, count, &rc);
    if (together && (rc >= 0 || rc == TAMIS_EFULL)) return;
    for (struct job *job = jobs; job != NULL; job = job->next)
        if (!together || has_refused(job)) add_alone(line, job);
}

/* ---- The threads ----------------------------------------------------------------------------- */

static void end_job(struct job *job)
{
    if (job->is_watched) adds_end();
    if (job->client != NULL) {
        (void)RedisModule_UnblockClient(job->client, job);
        return;
    }
    if (job->rc < 0 && job->rc != TAMIS_EFULL)
        RedisModule_Log(NULL, "warning", "keys from the master, or from the AOF, are not added: %s",
                        job->sentence);
    RedisModule_Free(job);
}

/* Does all jobs that a line has now.  The caller has the mutex, which is given back meanwhile. */
static void do_line(struct line *line)
{
    struct job *jobs = line->first;
    size_t bytes = 0, with_keys = 0;
    bool failed = false;
    line->first = NULL;
    line->last = &line->first;
    (void)pthread_mutex_unlock(&mutex);
    add_jobs(line, jobs);
    for (struct job *job = jobs, *next; job != NULL; job = next) {
        next = job->next;
        bytes += job->bytes;
        with_keys += job->count > 0;
        failed |= job->rc < 0 && job->rc != TAMIS_EFULL;
        end_job(job);
    }
    (void)pthread_mutex_lock(&mutex);
    waiting_bytes -= bytes;
    jobs_with_keys -= with_keys;
    counted.batches += line->value->durable;
    counted.failures += failed;
}

static void make_ready(struct line *line)
{
    line->next = NULL;
    *ready_last = line;
    ready_last = &line->next;
    (void)pthread_cond_signal(&work);
}

/* Takes the first line that is ready and works for it.  The caller has the mutex. */
static void work_once(void)
{
    struct line *line = ready;
    ready = line->next;
    if (ready == NULL) ready_last = &ready;
    do_line(line);
    if (line->first != NULL)
        make_ready(line); /* the jobs of other lines come first */
    else
        line->busy = false;
    (void)pthread_cond_broadcast(&done);
}

static void *thread_main(void *unused)
{
    (void)pthread_mutex_lock(&mutex);
    for (;;) {
        idle++;
        while (ready == NULL)
            (void)pthread_cond_wait(&work, &mutex);
        idle--;
        work_once();
    }
    return unused;
}

/* Locks the mutex when no line has jobs with keys. */
static void lock_when_idle(void)
{
    (void)pthread_mutex_lock(&mutex);
    while (jobs_with_keys > 0)
        (void)pthread_cond_wait(&done, &mutex);
}

/* ---- fork() ---------------------------------------------------------------------------------- */

/* A child saves what the commands before it have made, and has none of the threads. */
static void after_fork(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

static void after_fork_in_child(void)
{
    threads = idle = 0;
    is_child = true;
    (void)pthread_mutex_unlock(&mutex);
}

/* ---- The server's side ----------------------------------------------------------------------- */

static struct job *make_job(RedisModuleString **items, size_t count)
{
    size_t bytes = sizeof(struct job) + count * (sizeof(struct tamis_key) + 1), length;
    for (size_t i = 0; i < count; i++) {
        (void)RedisModule_StringPtrLen(items[i], &length);
        bytes += length;
    }
    struct job *job = RedisModule_Alloc(bytes);
    *job = (struct job){.bytes = bytes, .count = count, .keys = (struct tamis_key *)(job + 1)};
    job->answers = (uint8_t *)(job->keys + count);
    memset(job->answers, TAMIS_ANSWER_REFUSED, count);
    char *at = (char *)job->answers + count;
    for (size_t i = 0; i < count; i++) {
        const char *text = RedisModule_StringPtrLen(items[i], &length);
        memcpy(at, text, length);
        job->keys[i] = (struct tamis_key){.data = at, .bytes = length};
        at += length;
    }
    return job;
}

static struct line *line_of(struct value *value)
{
    static bool prepared;
    if (value->line != NULL) return value->line;
    /* Handlers run in the reverse order of their registration: this one waits before the library
     * and the registry take their locks. */
    if (!prepared) (void)pthread_atfork(lock_when_idle, after_fork, after_fork_in_child);
    prepared = true;
    struct line *line = RedisModule_Calloc(1, sizeof *line);
    line->value = value;
    line->last = &line->first;
    value->line = line;
    return line;
}

static void submit(struct line *line, struct job *job)
{
    (void)pthread_mutex_lock(&mutex);
    while (waiting_bytes > WAITING_BYTES_MAX)
        (void)pthread_cond_wait(&done, &mutex);
    waiting_bytes += job->bytes;
    jobs_with_keys += job->count > 0;
    *line->last = job;
    line->last = &job->next;
    if (!line->busy) make_ready(line);
    line->busy = true;
    if (idle == 0 && threads < THREADS_MAX && thread_start(thread_main, NULL)) threads++;
    while (threads == 0 && ready != NULL) /* no thread can be had: the server does the work */
        work_once();
    (void)pthread_mutex_unlock(&mutex);
}

static int reply_added(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct job *job = RedisModule_GetBlockedClientPrivateData(ctx);
    const struct outcome outcome = {.rc = job->rc,
                                    .sentence = job->sentence,
                                    .answers = job->answers,
                                    .count = job->count,
                                    .exact = job->exact};
    (void)argc;
    job->answer(ctx, argv, &outcome);
    return REDISMODULE_OK;
}

static void free_job(RedisModuleCtx *ctx, void *job)
{
    (void)ctx;
    RedisModule_Free(job);
}

bool durable_add(RedisModuleCtx *ctx, struct value *value, RedisModuleString **items, size_t count,
                 answer_fn *answer)
{
    const int flags = RedisModule_GetContextFlags(ctx);
    const bool unasked =
        (flags & (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING)) != 0;
    /* Whoever knows by WAIT that a replica has the command may ask the replica at once. */
    if (unasked && !value->durable) return false;
    /* Its client has waited for another thread, and cannot be blocked once more. */
    if (RedisModule_IsBlockedReplyRequest(ctx)) return false;
    if (!unasked && (flags & REDISMODULE_CTX_FLAGS_DENY_BLOCKING) != 0) return false;
    struct line *line = line_of(value);
    struct job *job = make_job(items, count);
    job->answer = answer;
    job->exact = value->exact;
    job->is_watched = adds_begin != NULL && adds_begin(value);
    if (!unasked) job->client = RedisModule_BlockClient(ctx, reply_added, NULL, free_job, 0);
    submit(line, job);
    return true;
}

bool durable_is_wanted(struct value *value, size_t count)
{
    if (value->durable) return true;
    const int may = tamis_filter_may_wait(value->filter, count);
    if (may == TAMIS_ADD_WANTS_PREPARE && !durable_is_busy(value))
        submit(line_of(value), make_job(NULL, 0));
    return may == TAMIS_ADD_MAY_WAIT;
}

bool durable_is_busy(const struct value *value)
{
    if (value->line == NULL) return false;
    (void)pthread_mutex_lock(&mutex);
    const bool busy = value->line->busy;
    (void)pthread_mutex_unlock(&mutex);
    return busy;
}

void durable_wait(const struct value *value)
{
    if (value->line == NULL || is_child) return;
    (void)pthread_mutex_lock(&mutex);
    while (value->line->busy)
        (void)pthread_cond_wait(&done, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

void durable_wait_all(void)
{
    lock_when_idle();
    (void)pthread_mutex_unlock(&mutex);
}

void durable_forget(struct value *value)
{
    RedisModule_Free(value->line);
    value->line = NULL;
}

struct durable_counts durable_count(void)
{
    (void)pthread_mutex_lock(&mutex);
    const struct durable_counts now = counted;
    (void)pthread_mutex_unlock(&mutex);
    return now;
}
