/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * making.c: see making.h.
 *
 *     making_put_off() --> queue --> work --> done --> run anew: claimed, or released
 *
 * The mutex guards the list, the names in it and what is done.  No thread has it while it makes a
 * filter.
 */
#include "kept/making.h"

#include <pthread.h>
#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "registry/registry.h"
#include "server/args.h"
#include "server/busy.h"
#include "server/thread.h"
#include "server/unblock.h"

/* Threads begin as they are needed.  Each waits for a disk nearly always. */
#define THREADS_MAX 4

struct making {
    struct making *next, **link; /* in the list */
    enum { WAITS, IN_WORK, DONE } state;
    RedisModuleBlockedClient *client;
    struct maker maker;
    struct value *value; /* gets the filter; NULL once it is claimed */
    char name[NAME_ROOM];
    bool adds;
    bool is_spoiled; /* making_spoil() */
    bool is_told;    /* what came of it, to the command that is run anew */
    /* The command, if it changes a filter that is there; else NULL */
    RedisModuleString **argv;
    int argc;
    int rc;
    char sentence[1024];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* one more waits for a thread */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a thread has made one */
static struct making *first, **last = &first;
static unsigned threads, idle;

/* The command that is run. */
static struct {
    RedisModuleCtx *ctx; /* NULL: none, or one that makes nothing */
    RedisModuleReplyFunc *again;
    RedisModuleString **argv;
    int argc;
    bool adds;
} running;

static void lock(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

/* ---- The threads ----------------------------------------------------------------------------- */

/* Has a filter the name that no server has made?  One of ours gives way, or is gone by now. */
static bool is_of_others(const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_filter *filter = NULL;
    int rc = tamis_filter_open(registry_store(), name, TAMIS_READ_ONLY, &filter);
    if (rc == 0) rc = tamis_filter_stat(filter, &stat);
    tamis_filter_release(filter);
    return rc == 0 && (stat.flags & TAMIS_FILTER_OWNED) == 0;
}

/* Marks all segments as written to, so that who writes into them does not wait for that. */
static void mark(tamis_filter *filter)
{
    static const uint64_t nothing;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    (void)tamis_filter_set_prepared(filter, 1);
    int rc = tamis_filter_prepare(filter); /* an error meets the adds, too */
    for (uint32_t i = 0; rc == 0 && tamis_filter_segment(filter, i, &segment) == 0; i++)
        if (segment.data_bytes >= sizeof nothing)
            rc = tamis_filter_write_data(filter, i, 0, &nothing, sizeof nothing);
}

static void note_failure(struct making *m)
{
    (void)strncpy(m->sentence, tamis_last_error(), sizeof m->sentence - 1);
}

/* Makes a filter under the name of the value.  Other threads of the server may hold the catalog for
 * longer than the library waits, as the disk is slow: then it is tried again. */
static int try_to_make(const struct making *m)
{
    struct value *value = m->value;
    int rc;
    do
        rc = m->maker.make(m->maker.context, registry_store(), value->name, &value->filter);
    while (rc == TAMIS_EBUSY && !busy_is_stuck());
    return rc;
}

static int make_unlocked(struct making *m)
{
    char apart[NAME_ROOM];
    struct value *value = m->value;
    value_set_name(value, m->name);
    int rc = try_to_make(m);
    if (rc == TAMIS_EEXIST) note_failure(m);
    if (rc == TAMIS_EEXIST && !is_of_others(value->name)) {
        name_apart(NAME_ASIDE, apart); /* the key will make the other one give way */
        value_set_name(value, apart);
        rc = try_to_make(m);
    }
    if (rc < 0) {
        if (rc != TAMIS_EEXIST) note_failure(m);
        value_set_name(value, "");
        return rc;
    }
    if (value->filter == NULL) return rc; /* a filter that was there has been changed */
    rc = value_describe(value);
    if (rc < 0)
        note_failure(m);
    else if (m->adds)
        mark(value->filter);
    return rc;
}

/* The first one that waits; NULL: there is none. */
static struct making *find_waiting(void)
{
    struct making *m = first;
    while (m != NULL && m->state != WAITS)
        m = m->next;
    return m;
}

/* Makes one filter.  The caller has the mutex, which is given back meanwhile. */
static void work_once(struct making *m)
{
    m->state = IN_WORK;
    unlock();
    m->rc = make_unlocked(m);
    lock();
    (void)strcpy(m->name, m->value->name);
    m->state = DONE;
    (void)pthread_cond_broadcast(&done);
    unblock(m->client, m); /* from now on the main thread may free it */
}

static void *thread_main(void *unused)
{
    struct making *m;
    lock();
    for (;;) {
        idle++;
        while ((m = find_waiting()) == NULL)
            (void)pthread_cond_wait(&work, &mutex);
        idle--;
        work_once(m);
    }
    return unused;
}

/* ---- The main thread ------------------------------------------------------------------------- */

/* Takes the value back.  NULL: it has been claimed. */
static struct value *take_value(struct making *m)
{
    struct value *value = m->value;
    m->value = NULL;
    return value;
}

static void give_up(struct value *value)
{
    if (value == NULL) return;
    if (value->filter != NULL)
        kept_release(value);
    else
        value_free(value);
}

static void forget_context(struct making *m)
{
    void *context = m->maker.context;
    m->maker.context = NULL;
    if (context != NULL) (m->maker.forget != NULL ? m->maker.forget : RedisModule_Free)(context);
}

/* ---- A command that nobody has run anew ------------------------------------------------------ */

static void keep_command(struct making *m)
{
    m->argc = running.argc;
    m->argv = RedisModule_Alloc((size_t)m->argc * sizeof(RedisModuleString *));
    for (int i = 0; i < m->argc; i++) {
        m->argv[i] = running.argv[i];
        RedisModule_RetainString(NULL, m->argv[i]);
    }
}

static void forget_command(struct making *m)
{
    if (m->argv == NULL) return;
    for (int i = 0; i < m->argc; i++)
        RedisModule_FreeString(NULL, m->argv[i]);
    RedisModule_Free(m->argv);
}

/* Of the module, with a database to choose; NULL: the server has none. */
static RedisModuleCtx *replicating(RedisModuleCtx *ctx)
{
    static RedisModuleCtx *detached;
    if (detached == NULL && RedisModule_GetDetachedThreadSafeContext != NULL &&
        RedisModule_SelectDb != NULL)
        detached = RedisModule_GetDetachedThreadSafeContext(ctx);
    return detached;
}

bool making_key_has(const struct value *value)
{
    RedisModuleCtx *own = replicating(NULL);
    if (value_is_gone(value)) return false;
    /* A flush takes all keys, and their values are freed later. */
    if (own == NULL || RedisModule_SelectDb(own, value->db) != REDISMODULE_OK) return false;
    RedisModuleString *name = RedisModule_CreateString(NULL, value->key, value->key_bytes);
    RedisModuleKey *key = RedisModule_OpenKey(own, name, REDISMODULE_READ);
    const bool has = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_MODULE &&
                     RedisModule_ModuleTypeGetValue(key) == value;
    RedisModule_CloseKey(key);
    RedisModule_FreeString(NULL, name);
    return has;
}

/* Replicates the command. */
static void replicate(RedisModuleCtx *ctx, struct making *m)
{
    RedisModuleCtx *own = replicating(ctx);
    const char *command = RedisModule_StringPtrLen(m->argv[0], NULL);
    const int db = own == NULL || m->maker.follow == NULL
                       ? FOLLOW_LOST
                       : m->maker.follow(m->maker.context, m->argv, m->argc);
    if (db >= 0 && RedisModule_SelectDb(own, db) == REDISMODULE_OK)
        (void)RedisModule_Replicate(own, command, "v", m->argv + 1, (size_t)m->argc - 1);
    else if (db != FOLLOW_GONE)
        RedisModule_Log(NULL, "warning",
                        "%s has changed a filter, and its client is gone, or was told an error; "
                        "replicas and the AOF lack that, as a filter that it read is gone",
                        command);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Called when the command has been run anew, or its client is gone. */
static void end_making(RedisModuleCtx *ctx, void *data)
{
    struct making *m = data;
    if (m->argv != NULL && !m->is_told && m->rc >= 0 && m->maker.context != NULL) replicate(ctx, m);
    lock();
    *m->link = m->next;
    if (m->next != NULL)
        m->next->link = m->link;
    else
        last = m->link;
    struct value *value = take_value(m);
    unlock();
    give_up(value);
    forget_context(m);
    forget_command(m);
    RedisModule_Free(m);
}

/* What was made for the command that is run; NULL: nothing. */
static struct making *made(void)
{
    if (running.ctx == NULL || !RedisModule_IsBlockedReplyRequest(running.ctx)) return NULL;
    struct making *m = RedisModule_GetBlockedClientPrivateData(running.ctx);
    return m != NULL && m->value != NULL && !m->is_spoiled ? m : NULL;
}

/*
 * The server has looked whether the key is here, and what the user may, when the command came, and
 * does not look again before it runs anew.  In a cluster the slot may have moved since: what a key
 * got now would be lost.  Its client is to ask once more, and is told where, or that it may not.
 * Replies and returns false.
 */
static bool is_still_right(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_CLUSTER) != 0) {
        RedisModuleCallReply *reply = RedisModule_Call(ctx, "EXISTS", "s", argv[1]);
        if (reply == NULL) {
            (void)RedisModule_ReplyWithError(
                ctx, "TRYAGAIN the slot of the key has moved while the command was under way");
            return false;
        }
        RedisModule_FreeCallReply(reply);
    }
    if (RedisModule_GetCurrentUserName == NULL || RedisModule_GetModuleUserFromUserName == NULL ||
        RedisModule_ACLCheckCommandPermissions == NULL || RedisModule_FreeModuleUser == NULL)
        return true;
    RedisModuleString *name = RedisModule_GetCurrentUserName(ctx);
    RedisModuleUser *user = name == NULL ? NULL : RedisModule_GetModuleUserFromUserName(name);
    const bool may =
        user == NULL || RedisModule_ACLCheckCommandPermissions(user, argv, argc) == REDISMODULE_OK;
    if (user != NULL) (void)RedisModule_FreeModuleUser(user);
    if (name != NULL) RedisModule_FreeString(ctx, name);
    if (!may)
        (void)RedisModule_ReplyWithError(
            ctx, "NOPERM the user has lost the permission while the command was under way");
    return may;
}

int making_run(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, RedisModuleCmdFunc *run,
               RedisModuleReplyFunc *again, bool adds)
{
    if (RedisModule_IsBlockedReplyRequest(ctx) && !is_still_right(ctx, argv, argc))
        return REDISMODULE_OK;
    args_set_failure(NULL); /* of a command before, which did not tell it */
    running.ctx = ctx;
    running.again = again;
    running.argv = argv;
    running.argc = argc;
    running.adds = adds;
    const int rc = run(ctx, argv, argc);
    running.ctx = NULL;
    return rc;
}

/* Sees to it that a thread works for the queue. */
static void wake(void)
{
    if (idle == 0 && threads < THREADS_MAX && thread_start(thread_main, NULL)) threads++;
    (void)pthread_cond_signal(&work);
    struct making *m;
    while (threads == 0 && (m = find_waiting()) != NULL)
        work_once(m); /* no thread can be had: the server does the work */
}

bool making_put_off(enum type type, const char *name, const struct maker *maker)
{
    if (maker->keep == NULL || leftovers_are_open() || running.ctx == NULL ||
        !args_can_wait(running.ctx))
        return false;
    struct making *m = RedisModule_Calloc(1, sizeof *m);
    m->maker = *maker;
    m->maker.context = maker->keep(maker->context);
    m->value = value_new(type);
    (void)strcpy(m->name, name);
    m->adds = running.adds;
    if (*name == '\0') keep_command(m);
    m->client = RedisModule_BlockClient(running.ctx, running.again, NULL, end_making, 0);
    lock();
    m->link = last;
    *last = m;
    last = &m->next;
    wake();
    unlock();
    return true;
}

bool making_is_done(int *rc)
{
    struct making *m = made();
    if (m == NULL) return false;
    m->is_told = true;
    *rc = m->rc;
    if (m->rc < 0) args_set_failure(m->sentence);
    return true;
}

bool making_claim(struct value *value, int *rc)
{
    struct making *m = made();
    if (!making_is_done(rc)) return false;
    if (*rc < 0) return true;
    lock();
    struct value *from = take_value(m);
    unlock();
    value->filter = from->filter;
    value_set_name(value, from->name);
    value_free(from);
    return true;
}

const void *making_context(void)
{
    const struct making *m = made();
    return m == NULL ? NULL : m->maker.context;
}

/* ---- What is read ---------------------------------------------------------------------------- */

static bool reads(const struct making *m, const struct value *value)
{
    return m->maker.reads != NULL && m->maker.context != NULL &&
           m->maker.reads(m->maker.context, value);
}

bool making_reads(const struct value *value)
{
    lock();
    const struct making *m = first;
    while (m != NULL && !reads(m, value))
        m = m->next;
    unlock();
    return m != NULL;
}

void making_spoil(const struct value *value)
{
    lock();
    for (struct making *m = first; m != NULL; m = m->next)
        m->is_spoiled |= reads(m, value);
    unlock();
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* The first one of that name from `m` on: there may be several.  The caller has the mutex. */
static struct making *next_named(struct making *m, const char *name)
{
    while (m != NULL && (m->value == NULL || strcmp(m->name, name) != 0))
        m = m->next;
    return m;
}

bool making_has(const char *name)
{
    lock();
    const bool has = next_named(first, name) != NULL;
    unlock();
    return has;
}

static struct making *find_undone(const char *name)
{
    struct making *m = next_named(first, name);
    while (m != NULL && m->state == DONE)
        m = next_named(m->next, name);
    return m;
}

void making_wait(const char *name)
{
    struct making *m;
    lock();
    while ((m = find_undone(name)) != NULL)
        if (m->state == WAITS)
            work_once(m); /* all threads may be waiting for what the caller holds */
        else
            (void)pthread_cond_wait(&done, &mutex);
    unlock();
}

/* The one that has made the filter of that name. */
static struct making *find_maker(const char *name)
{
    struct making *m = next_named(first, name);
    while (m != NULL && (m->state != DONE || m->rc != 0))
        m = next_named(m->next, name);
    return m;
}

bool making_makes_way(const char *name)
{
    char apart[NAME_ROOM];
    int rc = TAMIS_ENOTFOUND;
    lock();
    struct making *m = find_maker(name);
    if (m != NULL) {
        name_apart(NAME_ASIDE, apart);
        rc = tamis_filter_rename(registry_store(), name, apart);
        if (rc == 0) {
            (void)strcpy(m->name, apart);
            value_set_name(m->value, apart);
        }
    }
    unlock();
    return rc == 0;
}

/* Waits for the first one that is not claimed.  Returns its value, or NULL: there is none. */
static struct value *finish_one(void)
{
    lock();
    struct making *m = first;
    while (m != NULL && m->value == NULL)
        m = m->next;
    while (m != NULL && m->state != DONE)
        (void)pthread_cond_wait(&done, &mutex);
    struct value *value = m == NULL ? NULL : take_value(m);
    unlock();
    if (m != NULL) forget_context(m); /* the main thread, which runs here, frees it later */
    return value;
}

void making_finish(void)
{
    struct value *value;
    while ((value = finish_one()) != NULL)
        give_up(value);
}
