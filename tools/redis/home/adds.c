/* SPDX-License-Identifier: BSD-2-Clause */
/* adds.c: see adds.h. */
#include "home/adds.h"

#include <stdlib.h>

/* One allocation: the job, its keys, their answers, and their bytes. */
struct adding {
    struct job job;
    struct stored *stored;
    RedisModuleBlockedClient *client; /* NULL: nobody waits */
    answer_fn *answer;
    size_t count; /* 0: the filter is made ready for further keys */
    bool exact;
    struct tamis_key *keys;
    uint8_t *answers;
    int64_t rc;
    char sentence[1024];
};

static struct adds_counts counted; /* atomic, relaxed: numbers by themselves */

static struct adding *adding_of(struct job *job)
{
    return (struct adding *)(void *)job;
}

/* ---- The threads ----------------------------------------------------------------------------- */

static bool has_refused(const struct adding *a)
{
    return memchr(a->answers, TAMIS_ANSWER_REFUSED, a->count) != NULL;
}

static void note_failure(struct adding *a, int64_t rc)
{
    a->rc = rc;
    (void)strncpy(a->sentence, tamis_last_error(), sizeof a->sentence - 1);
}

/* Adds the keys of one job, from the first on that was refused before. */
static void add_alone(struct adding *a)
{
    const uint8_t *from = memchr(a->answers, TAMIS_ANSWER_REFUSED, a->count);
    const size_t at = from == NULL ? 0 : (size_t)(from - a->answers);
    const int64_t rc =
        tamis_filter_add_batch(a->stored->filter, a->keys + at, a->count - at, a->answers + at);
    a->rc = 0;
    if (rc < 0) note_failure(a, rc);
}

/* Adds the keys of all jobs at once; false: there is no memory for that. */
static bool add_together(struct job *jobs, size_t count, int64_t *rc)
{
    struct tamis_key *keys = malloc(count * (sizeof *keys + 1));
    if (keys == NULL) return false;
    uint8_t *answers = (uint8_t *)(keys + count);
    size_t at = 0;
    for (struct job *j = jobs; j != NULL; at += adding_of(j)->count, j = j->next)
        memcpy(keys + at, adding_of(j)->keys, adding_of(j)->count * sizeof *keys);
    *rc = tamis_filter_add_batch(adding_of(jobs)->stored->filter, keys, count, answers);
    at = 0;
    for (struct job *j = jobs; j != NULL; j = j->next) {
        struct adding *a = adding_of(j);
        memcpy(a->answers, answers + at, a->count);
        a->rc = 0;
        if (*rc < 0 && has_refused(a)) note_failure(a, *rc);
        at += a->count;
    }
    free(keys);
    return true;
}

/* Adds the keys of all jobs.  An error other than that of a full filter may be the fault of one
 * job, such as a key that is too long.  The other jobs must not suffer from it, so each is added
 * alone then. */
static void add_all(struct job *jobs)
{
    const struct stored *stored = adding_of(jobs)->stored;
    size_t count = 0;
    int64_t rc = 0;
    for (struct job *j = jobs; j != NULL; j = j->next)
        count += adding_of(j)->count;
    /* What goes wrong here meets the adds, too. */
    if (!stored->durable) (void)tamis_filter_prepare(stored->filter, 0);
    const bool together = jobs->next != NULL && add_together(jobs, count, &rc);
    if (together && (rc >= 0 || rc == TAMIS_EFULL)) return;
    for (struct job *j = jobs; j != NULL; j = j->next)
        if (!together || has_refused(adding_of(j))) add_alone(adding_of(j));
}

static void run(struct job *jobs)
{
    const bool durable = adding_of(jobs)->stored->durable;
    bool failed = false;
    add_all(jobs);
    for (struct job *next; jobs != NULL; jobs = next) {
        struct adding *a = adding_of(jobs);
        next = jobs->next;
        failed |= a->rc < 0 && a->rc != TAMIS_EFULL;
        if (a->client != NULL) {
            (void)RedisModule_UnblockClient(a->client, a);
            continue;
        }
        if (a->rc < 0 && a->rc != TAMIS_EFULL)
            RedisModule_Log(NULL, "warning",
                            "keys from the master, or from the AOF, are not added: %s",
                            a->sentence);
        RedisModule_Free(a);
    }
    (void)__atomic_fetch_add(&counted.batches, durable, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&counted.failures, failed, __ATOMIC_RELAXED);
}

/* ---- The server's side ----------------------------------------------------------------------- */

static struct adding *new_adding(struct stored *stored, RedisModuleString **items, size_t count)
{
    size_t bytes = sizeof(struct adding) + count * (sizeof(struct tamis_key) + 1), length;
    for (size_t i = 0; i < count; i++) {
        (void)RedisModule_StringPtrLen(items[i], &length);
        bytes += length;
    }
    struct adding *a = RedisModule_Alloc(bytes);
    *a = (struct adding){.job = {.run = run, .bytes = bytes, .before_fork = count > 0},
                         .stored = stored,
                         .count = count,
                         .keys = (struct tamis_key *)(a + 1)};
    a->answers = (uint8_t *)(a->keys + count);
    memset(a->answers, TAMIS_ANSWER_REFUSED, count);
    char *at = (char *)a->answers + count;
    for (size_t i = 0; i < count; i++) {
        const char *text = RedisModule_StringPtrLen(items[i], &length);
        memcpy(at, text, length);
        a->keys[i] = (struct tamis_key){.data = at, .bytes = length};
        at += length;
    }
    return a;
}

static int reply_added(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct adding *a = RedisModule_GetBlockedClientPrivateData(ctx);
    const struct outcome outcome = {.rc = a->rc,
                                    .sentence = a->sentence,
                                    .answers = a->answers,
                                    .count = a->count,
                                    .exact = a->exact};
    (void)argc;
    a->answer(ctx, argv, &outcome);
    return REDISMODULE_OK;
}

static void free_adding(RedisModuleCtx *ctx, void *adding)
{
    (void)ctx;
    RedisModule_Free(adding);
}

bool adds_begin(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **items,
                size_t count, answer_fn *answer)
{
    struct stored *stored = value->stored;
    const int flags = RedisModule_GetContextFlags(ctx);
    const bool unasked =
        (flags & (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING)) != 0;
    /* Whoever knows by WAIT that a replica has the command may ask the replica at once. */
    if (unasked && !stored->durable) return false;
    /* Its client has waited for another thread, and cannot be blocked once more. */
    if (RedisModule_IsBlockedReplyRequest(ctx)) return false;
    if (!unasked && (flags & REDISMODULE_CTX_FLAGS_DENY_BLOCKING) != 0) return false;
    struct adding *a = new_adding(stored, items, count);
    a->answer = answer;
    a->exact = value->exact;
    if (!unasked) a->client = RedisModule_BlockClient(ctx, reply_added, NULL, free_adding, 0);
    work_submit(&stored->line, &a->job);
    return true;
}

bool adds_wait(struct stored *stored, size_t count)
{
    if (stored->durable) return true;
    const int may = tamis_filter_may_wait(stored->filter, count);
    if (may == TAMIS_ADD_WANTS_PREPARE && !work_is_busy(&stored->line))
        work_submit(&stored->line, &new_adding(stored, NULL, 0)->job);
    return may == TAMIS_ADD_MAY_WAIT;
}

struct adds_counts adds_count(void)
{
    return (struct adds_counts){.batches = __atomic_load_n(&counted.batches, __ATOMIC_RELAXED),
                                .failures = __atomic_load_n(&counted.failures, __ATOMIC_RELAXED)};
}
