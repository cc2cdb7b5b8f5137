/* SPDX-License-Identifier: BSD-2-Clause */
/* task.c: see task.h. */
#include "value/task.h"

#include <time.h>

#include "server/args.h"
#include "server/waiting.h"

static struct waiting_list held; /* commands on a filter that another one changes */
static struct job *untold;       /* tasks whose work is done, and that nobody has told */

bool task_pin(struct task *task, struct stored *stored)
{
    if (task->pin_count == PINS_MAX) return false;
    stored_pin(stored);
    task->pinned[task->pin_count++] = stored;
    return true;
}

struct task *task_of(RedisModuleCtx *ctx)
{
    return waiting_data(ctx);
}

static void work(struct task *task)
{
    for (unsigned i = 0; i < task->pin_count; i++)
        work_wait(&task->pinned[i]->line);
    task->rc = task->work(task);
    if (task->rc < 0) (void)strncpy(task->sentence, tamis_last_error(), sizeof task->sentence - 1);
}

static void run(struct job *job)
{
    for (struct job *next; job != NULL; job = next) {
        struct task *task = (struct task *)(void *)job;
        next = job->next;
        struct waiting *waiting = task->waiting;
        work(task);
        /* ORDER release: what the work has changed comes before. */
        __atomic_store_n(&task->done, true, __ATOMIC_RELEASE);
        waiting_end(waiting);
    }
}

static void end(RedisModuleCtx *ctx, struct task *task)
{
    for (unsigned i = 0; i < task->pin_count; i++) {
        struct stored *stored = task->pinned[i];
        if (stored->changed_by == task) {
            stored->changed_by = NULL;
            waiting_let_go(&held, stored);
        }
        stored_unpin(stored);
    }
    for (int i = 0; i < task->argc; i++)
        RedisModule_FreeString(NULL, task->argv[i]);
    RedisModule_Free(task->argv);
    task->forget(ctx, task);
}

/* The client is gone, or did not get what it had asked for; but the filter has changed. */
static bool is_to_tell(const struct task *task)
{
    return task->waiting != NULL && task->done && task->rc >= 0 && task->argc > 0 && !task->told;
}

static void forget(RedisModuleCtx *ctx, void *context)
{
    struct task *task = context;
    if (!is_to_tell(task)) {
        end(ctx, task);
        return;
    }
    task->job.next = untold; /* nothing can be told by this context */
    untold = &task->job;
}

void task_pass(RedisModuleCtx *ctx)
{
    const int flags = RedisModule_GetContextFlags(ctx);
    const int loads = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    if (untold == NULL || (flags & loads) != 0 || waiting_is_paused()) return;
    for (struct job *next; untold != NULL; untold = next) {
        struct task *task = (struct task *)(void *)untold;
        next = untold->next;
        if ((flags & REDISMODULE_CTX_FLAGS_SLAVE) == 0) task_tell(ctx, task);
        end(ctx, task);
    }
}

void task_changes(struct task *task, struct stored *stored, RedisModuleString **argv, int argc)
{
    stored->changed_by = task;
    task->argv = RedisModule_Alloc((size_t)argc * sizeof(RedisModuleString *));
    for (task->argc = 0; task->argc < argc; task->argc++) {
        RedisModule_RetainString(NULL, argv[task->argc]);
        task->argv[task->argc] = argv[task->argc];
    }
}

void task_tell(RedisModuleCtx *ctx, struct task *task)
{
    const struct stored *changed = NULL;
    if (task->told) return;
    task->told = true;
    for (unsigned i = 0; i < task->pin_count; i++)
        if (task->pinned[i]->changed_by == task) changed = task->pinned[i];
    if (changed == NULL || changed->value == NULL) return; /* its key is gone */
    const int db = RedisModule_GetSelectedDb(ctx);
    if (changed->key != NULL) { /* as it is called by now */
        RedisModule_FreeString(NULL, task->argv[1]);
        task->argv[1] = RedisModule_CreateString(NULL, changed->key, changed->key_bytes);
        (void)RedisModule_SelectDb(ctx, changed->db);
    }
    if (task->tell != NULL)
        task->tell(ctx, task);
    else
        (void)RedisModule_Replicate(ctx, RedisModule_StringPtrLen(task->argv[0], NULL), "v",
                                    task->argv + 1, (size_t)task->argc - 1);
    (void)RedisModule_SelectDb(ctx, db);
}

bool task_holds(RedisModuleCtx *ctx, struct stored *stored, RedisModuleReplyFunc *again)
{
    struct task *task = stored->changed_by;
    if (task == NULL || task == task_of(ctx)) return false;
    if (args_can_wait(ctx)) {
        waiting_put(&held, ctx, again, stored);
        return true;
    }
    /* ORDER acquire: pairs with run(). */
    while (!__atomic_load_n(&task->done, __ATOMIC_ACQUIRE))
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    if (task->rc >= 0) task_tell(ctx, task);
    stored->changed_by = NULL;
    return false;
}

bool task_begin(RedisModuleCtx *ctx, RedisModuleReplyFunc *again, struct task *task)
{
    if (!args_can_wait(ctx)) {
        work(task);
        return false;
    }
    task->job.run = run;
    task->waiting = waiting_begin(ctx, again, task, forget);
    work_submit(NULL, &task->job);
    return true;
}

void task_end(RedisModuleCtx *ctx, struct task *task)
{
    if (task->waiting == NULL) forget(ctx, task);
}

int task_reply_failure(RedisModuleCtx *ctx, const struct task *task, const char *what)
{
    return reply_sentence(ctx, what, task->sentence);
}
