/* SPDX-License-Identifier: BSD-2-Clause */
/* task.c: see task.h. */
#include "value/task.h"

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
        work(task);
        waiting_end(task->waiting);
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
    task->forget(ctx, task);
}

void task_changes(const struct task *task, struct stored *stored)
{
    stored->changed_by = task;
}

bool task_holds(RedisModuleCtx *ctx, const struct stored *stored, RedisModuleReplyFunc *again)
{
    if (stored->changed_by == NULL || stored->changed_by == task_of(ctx) || !args_can_wait(ctx))
        return false;
    waiting_put(&held, ctx, again, stored);
    return true;
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
