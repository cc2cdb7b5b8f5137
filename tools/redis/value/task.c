/* SPDX-License-Identifier: BSD-2-Clause */
/* task.c: see task.h. */
#include "value/task.h"

#include "server/args.h"
#include "server/resync.h"
#include "server/waiting.h"

/* So many are in work at most.  A thread that waits for the line of a filter finds another thread
 * that does the jobs of that line: the pool has more threads. */
#define AT_ONCE 8

/* Main thread. */
static struct {
    struct waiting_list held; /* commands on a filter that another one changes */
    struct job *begun,
        **last; /* their work has not begun; last is NULL as long as there was none */
    unsigned in_work;
    struct task *changing[AT_ONCE]; /* those of them that change a filter, until it is told */
} state;

static struct task *task_in(struct job *job)
{
    return (struct task *)(void *)job;
}

static void append(struct task *task)
{
    if (state.begun == NULL) state.last = &state.begun;
    task->job.next = NULL;
    *state.last = &task->job;
    state.last = &task->job.next;
}

bool task_pin(struct task *task, struct stored *stored)
{
    if (task->pin_count == PINS_MAX) return false;
    stored->pins++;
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
    if (task->rc >= 0 && task->changed != NULL) stored_mark(task->changed->filter);
    if (task->rc < 0) (void)strncpy(task->sentence, tamis_last_error(), sizeof task->sentence - 1);
}

static void run(struct job *job)
{
    work(task_in(job));
}

/* A load has bound the filter to another value meanwhile, which commands find: that one's. */
static struct stored *live(struct stored *stored)
{
    struct stored *bound = stored->value == NULL ? stored_find(&stored->id) : NULL;
    return bound == NULL ? stored : bound;
}

/* The task that changes the filter, or NULL. */
static struct task *changer_of(const struct stored *stored)
{
    for (unsigned i = 0; i < AT_ONCE; i++)
        if (state.changing[i] != NULL && id_is(&state.changing[i]->changed->id, &stored->id))
            return state.changing[i];
    return NULL;
}

static void replace_changing(const struct task *task, struct task *by)
{
    unsigned i = 0;
    while (state.changing[i] != task)
        i++;
    state.changing[i] = by;
}

/* ---- Changes --------------------------------------------------------------------------------- */

void task_changes(struct task *task, struct stored *stored, RedisModuleString **argv, int argc)
{
    task->changed = stored;
    task->argv = RedisModule_Alloc((size_t)argc * sizeof(RedisModuleString *));
    for (task->argc = 0; task->argc < argc; task->argc++) {
        RedisModule_RetainString(NULL, argv[task->argc]);
        task->argv[task->argc] = argv[task->argc];
    }
}

void task_tell(RedisModuleCtx *ctx, struct task *task)
{
    if (task->told || task->rc < 0 || task->changed == NULL) return;
    const struct stored *changed = live(task->changed);
    task->told = true;
    if (changed->value == NULL) return; /* its key is gone */
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

/* The change is over: what was held by it goes on. */
static void release(struct task *task)
{
    if (task->changed == NULL || changer_of(task->changed) != task) return;
    replace_changing(task, NULL);
    waiting_let_go(&state.held, task->changed);
    waiting_let_go(&state.held, live(task->changed));
}

void task_settle(RedisModuleCtx *ctx, struct stored *stored)
{
    struct task *task = changer_of(stored);
    if (task == NULL) return;
    work_await(&task->job);
    RedisModuleCtx *own = ctx == NULL ? RedisModule_GetThreadSafeContext(NULL) : NULL;
    task_tell(ctx == NULL ? own : ctx, task);
    if (own != NULL) RedisModule_FreeThreadSafeContext(own);
    release(task);
}

bool task_holds(RedisModuleCtx *ctx, struct stored *stored, RedisModuleReplyFunc *again)
{
    if (changer_of(stored) == NULL) return false;
    if (args_can_wait(ctx)) {
        waiting_put(&state.held, ctx, again, stored);
        return true;
    }
    task_settle(ctx, stored);
    return false;
}

/* ---- The main thread ------------------------------------------------------------------------- */

/* Does another task change a filter that this one uses? */
static bool is_held(const struct task *task)
{
    for (unsigned i = 0; i < task->pin_count; i++)
        if (changer_of(task->pinned[i]) != NULL) return true;
    return false;
}

/* What a master has changed, and cannot tell as a replica, its new master does not know. */
static void tell_or_sync(RedisModuleCtx *ctx, struct task *task, bool is_replica)
{
    if (!is_replica || task->of_replica) {
        task_tell(ctx, task);
        return;
    }
    if (task->changed == NULL || task->rc < 0 || task->told) return;
    RedisModule_Log(ctx, "warning", "%s has changed a filter when the server was a replica already",
                    RedisModule_StringPtrLen(task->argv[0], NULL));
    resync_want();
}

/* The work has ended, or is not to be done. */
static void end(RedisModuleCtx *ctx, struct job *job)
{
    struct task *task = task_in(job);
    const int flags = RedisModule_GetContextFlags(ctx);
    tell_or_sync(ctx, task, (flags & REDISMODULE_CTX_FLAGS_SLAVE) != 0);
    state.in_work--;
    release(task);
    waiting_end(task->waiting);
    if (state.begun != NULL) waiting_wake(); /* for the next turn */
}

/* Ends a task whose work is not to be done: the server has become a replica. */
static void give_up(RedisModuleCtx *ctx, struct task *task)
{
    task->rc = TAMIS_EREADONLY;
    (void)strcpy(task->sentence, "the server has become a replica");
    state.in_work++;
    end(ctx, &task->job);
}

void task_pass(RedisModuleCtx *ctx)
{
    const int flags = RedisModule_GetContextFlags(ctx);
    const int loads = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    const bool is_replica = (flags & REDISMODULE_CTX_FLAGS_SLAVE) != 0;
    if ((flags & loads) != 0 || waiting_is_paused()) return;
    struct job *first = state.begun;
    state.begun = NULL;
    for (struct job *next; first != NULL; first = next) {
        struct task *task = task_in(first);
        next = first->next;
        if (is_replica && !task->of_replica && task->changed != NULL) {
            give_up(ctx, task);
        } else if (state.in_work == AT_ONCE || is_held(task)) {
            append(task);
        } else {
            if (task->changed != NULL) replace_changing(NULL, task);
            state.in_work++;
            work_submit(NULL, &task->job);
        }
    }
    work_pass(ctx);
    resync_try(ctx);
}

static void forget(RedisModuleCtx *ctx, void *context)
{
    struct task *task = context;
    (void)ctx;
    release(task);
    for (unsigned i = 0; i < task->pin_count; i++)
        task->pinned[i]->pins--;
    for (int i = 0; i < task->argc; i++)
        RedisModule_FreeString(NULL, task->argv[i]);
    RedisModule_Free(task->argv);
    if (task->forget != NULL)
        task->forget(task);
    else
        RedisModule_Free(task);
}

bool task_begin(RedisModuleCtx *ctx, RedisModuleReplyFunc *again, struct task *task)
{
    task->of_replica = (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE) != 0;
    if (!args_can_wait(ctx)) {
        for (unsigned i = 0; i < task->pin_count; i++)
            task_settle(ctx, task->pinned[i]);
        work(task);
        return false;
    }
    task->job.run = run;
    task->job.end = end;
    task->waiting = waiting_begin(ctx, again, task, forget);
    append(task);
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
