/* SPDX-License-Identifier: BSD-2-Clause */
/* task.c: see task.h. */
#include "value/task.h"

#include <time.h>

#include "server/args.h"
#include "server/waiting.h"

static struct waiting_list held; /* commands on a filter that another one changes */

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

static void forget(RedisModuleCtx *ctx, void *context)
{
    struct task *task = context;
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
    if (task->told) return;
    task->told = true;
    if (task->tell != NULL)
        task->tell(ctx, task);
    else
        (void)RedisModule_Replicate(ctx, RedisModule_StringPtrLen(task->argv[0], NULL), "v",
                                    task->argv + 1, (size_t)task->argc - 1);
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
