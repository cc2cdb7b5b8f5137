/* SPDX-License-Identifier: BSD-2-Clause */
/* waiting.c: see waiting.h.  While the server is paused, its cron ends a turn ten times a second.
 */
#include "server/waiting.h"

#include <pthread.h>

struct waiting {
    struct waiting *next; /* in the queue below, or before that in a list of its owner's */
    RedisModuleBlockedClient *client;
    RedisModuleReplyFunc *again;
    void *data;
    void (*end)(RedisModuleCtx *ctx, void *data);
    const void *what;
};

/* In the order of waiting_end(). */
static struct {
    pthread_mutex_t mutex;
    struct waiting *first, **last;
    bool are_some; /* atomic: a hint for each turn of the server, most of which have none */
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Running anew ---------------------------------------------------------------------------- */

/* Has the command a key?  Then that is its first argument. */
static bool has_key(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    int count = 0;
    RedisModule_Free(RedisModule_GetCommandKeys(ctx, argv, argc, &count));
    return count > 0;
}

static bool slot_is_here(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_CLUSTER) == 0) return true;
    if (!has_key(ctx, argv, argc)) return true;
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "EXISTS", "s", argv[1]);
    if (reply != NULL) RedisModule_FreeCallReply(reply);
    return reply != NULL;
}

static bool user_may(RedisModuleString *name, RedisModuleString **argv, int argc)
{
    RedisModuleUser *user = name == NULL ? NULL : RedisModule_GetModuleUserFromUserName(name);
    const bool may =
        user == NULL || RedisModule_ACLCheckCommandPermissions(user, argv, argc) == REDISMODULE_OK;
    if (user != NULL) (void)RedisModule_FreeModuleUser(user);
    return may;
}

static int run_anew(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct waiting *waiting = RedisModule_GetBlockedClientPrivateData(ctx);
    if (!slot_is_here(ctx, argv, argc))
        return RedisModule_ReplyWithError(
            ctx, "TRYAGAIN the slot of the key has moved while the command was under way");
    RedisModuleString *user = RedisModule_GetCurrentUserName(ctx);
    const bool may_run = user_may(user, argv, argc);
    if (user != NULL) RedisModule_FreeString(ctx, user);
    if (!may_run)
        return RedisModule_ReplyWithError(
            ctx, "NOPERM the user has lost the permission while the command was under way");
    return waiting->again(ctx, argv, argc);
}

static void end(RedisModuleCtx *ctx, void *context)
{
    struct waiting *waiting = context;
    if (waiting->end != NULL) waiting->end(ctx, waiting->data);
    RedisModule_Free(waiting);
}

struct waiting *waiting_begin(RedisModuleCtx *ctx, RedisModuleReplyFunc *again, void *data,
                              void (*call)(RedisModuleCtx *ctx, void *data))
{
    struct waiting *waiting = RedisModule_Alloc(sizeof *waiting);
    *waiting = (struct waiting){.again = again, .data = data, .end = call};
    waiting->client = RedisModule_BlockClient(ctx, run_anew, NULL, end, 0);
    return waiting;
}

void *waiting_data(RedisModuleCtx *ctx)
{
    if (!RedisModule_IsBlockedReplyRequest(ctx)) return NULL;
    const struct waiting *waiting = RedisModule_GetBlockedClientPrivateData(ctx);
    return waiting == NULL ? NULL : waiting->data;
}

/* ---- Unblocking ------------------------------------------------------------------------------ */

/* The turn that this wakes the server for ends in waiting_go_on(). */
static void wake(void *unused)
{
    (void)unused;
}

void waiting_wake(void)
{
    (void)RedisModule_EventLoopAddOneShot(wake, NULL);
}

void waiting_end(struct waiting *waiting)
{
    waiting->next = NULL;
    (void)pthread_mutex_lock(&queue.mutex);
    if (queue.first == NULL) queue.last = &queue.first;
    *queue.last = waiting;
    queue.last = &waiting->next;
    /* ORDER relaxed, of all: the turn that comes of the call below sees it. */
    __atomic_store_n(&queue.are_some, true, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&queue.mutex);
    waiting_wake();
}

static struct waiting *take_all(void)
{
    (void)pthread_mutex_lock(&queue.mutex);
    struct waiting *all = queue.first;
    queue.first = NULL;
    queue.last = NULL;
    __atomic_store_n(&queue.are_some, false, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&queue.mutex);
    return all;
}

bool waiting_is_paused(void)
{
    return RedisModule_AvoidReplicaTraffic();
}

void waiting_go_on(void)
{
    if (!__atomic_load_n(&queue.are_some, __ATOMIC_RELAXED) || waiting_is_paused()) return;
    for (struct waiting *w = take_all(), *next; w != NULL; w = next) {
        next = w->next;
        (void)RedisModule_UnblockClient(w->client, w);
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

void waiting_put(struct waiting_list *list, RedisModuleCtx *ctx, RedisModuleReplyFunc *again,
                 const void *what)
{
    struct waiting *waiting = waiting_begin(ctx, again, NULL, NULL);
    waiting->what = what;
    if (list->first == NULL) list->last = &list->first;
    *list->last = waiting;
    list->last = &waiting->next;
}

void waiting_let_go(struct waiting_list *list, const void *what)
{
    struct waiting **link = &list->first;
    for (struct waiting *w; (w = *link) != NULL;) {
        if (what != NULL && w->what != what) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        waiting_end(w);
    }
    list->last = link;
}

void waiting_move(struct waiting_list *from, struct waiting_list *to)
{
    if (from->first == NULL) return;
    if (to->first == NULL) to->last = &to->first;
    *to->last = from->first;
    to->last = from->last;
    *from = (struct waiting_list){NULL, NULL};
}
