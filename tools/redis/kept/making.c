/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * making.c: see making.h.
 *
 *     making_put_off() --> queue --> work --> done --> run anew: claimed, or released
 *
 * A maker that tells replicas before it is done (making_tells_first()) goes these ways in work:
 *
 *     IN_WORK --> ASKS --> ADDS --> done
 *                   \----> IN_WORK, as it is refused: nothing is changed
 *
 * Who waits in the queue for another one to be over (making_is_over()) is passed by those that need
 * not.
 *
 * The mutex guards the list, the names in it and what is done.  Filters are made without it.
 */
#include "kept/making.h"

#include <pthread.h>
#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/making_parts.h"
#include "kept/replicate.h"
#include "registry/registry.h"
#include "server/args.h"
#include "server/busy.h"
#include "server/resync.h"
#include "server/thread.h"
#include "server/waiting.h"

/* Threads begin as they are needed.  Each waits for a disk nearly always. */
#define THREADS_MAX 4

#define REFUSED "a key was renamed or deleted before it began, or the server became a replica"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* one more waits for a thread */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a thread has made one */
struct making *making_first;
static struct making **last = &making_first;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER; /* one that asked has its answer */
static unsigned threads, idle;
static unsigned asking; /* atomic: changed with the mutex; a hint for each turn of the server */
static _Thread_local struct making *at_work;
static pthread_t main_thread;
static bool is_child;
static bool are_held; /* is_held() */

/* The command that is run. */
static struct {
    RedisModuleCtx *ctx; /* NULL: none, or one that makes nothing */
    RedisModuleReplyFunc *again;
    RedisModuleString **argv;
    int argc;
    bool adds;
} running;

void making_lock(void)
{
    (void)pthread_mutex_lock(&mutex);
}

void making_unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

/* ---- The threads ----------------------------------------------------------------------------- */

bool making_is_of_others(const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    tamis_filter *filter = NULL;
    int rc = tamis_filter_open(registry_store(), name, TAMIS_READ_ONLY, &filter);
    if (rc == 0) rc = tamis_filter_stat(filter, &stat);
    tamis_filter_release(filter);
    return rc == 0 && (stat.flags & TAMIS_FILTER_OWNED) == 0;
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
    if (rc == TAMIS_EEXIST && !making_is_of_others(value->name)) {
        name_apart(NAME_ASIDE, apart); /* the key will make the other one give way */
        value_set_name(value, apart);
        rc = try_to_make(m);
    }
    if (rc < 0) {
        if (rc != TAMIS_EEXIST) note_failure(m);
        if (m->is_refused) (void)strcpy(m->sentence, REFUSED);
        value_set_name(value, "");
        return rc;
    }
    if (value->filter == NULL) return rc; /* a filter that was there has been changed */
    rc = value_describe(value);
    if (rc < 0)
        note_failure(m);
    else if (m->adds)
        value_mark(value->filter);
    return rc;
}

/* ---- What can be begun ----------------------------------------------------------------------- */

/* Has it not begun to change a filter, which it may not while writes are paused?  FAILOVER may make
 * the server a replica meanwhile, and then no other server would know of the change. */
static bool is_held(const struct making *m)
{
    return are_held && (m->state == WAITS || m->state == ASKS) && m->maker.follow != NULL;
}

/* The first one that can be begun; NULL: there is none. */
static struct making *find_waiting(void)
{
    struct making *m = making_first;
    while (m != NULL &&
           (m->state != WAITS || is_held(m) || making_find_obstacle(making_first, m) != NULL))
        m = m->next;
    return m;
}

/* Makes one filter.  The caller has the mutex, which is given back meanwhile. */
static void work_once(struct making *m)
{
    m->state = IN_WORK;
    making_unlock();
    at_work = m;
    m->rc = make_unlocked(m);
    at_work = NULL;
    making_lock();
    (void)strcpy(m->name, m->value->name);
    m->state = DONE;
    (void)pthread_cond_broadcast(&done);
    waiting_end(m->client); /* from now on the main thread may free it */
}

static void *thread_main(void *unused)
{
    struct making *m;
    making_lock();
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

/* Others may ask meanwhile what it uses. */
static void let_go(struct making *m)
{
    if (m->has_let_go) return;
    making_lock();
    m->has_let_go = true;
    making_unlock();
    if (m->maker.let_go != NULL) m->maker.let_go(m->maker.context);
}

static void forget_context(struct making *m)
{
    void *context = m->maker.context;
    let_go(m);
    m->maker.context = NULL;
    if (context != NULL) (m->maker.forget != NULL ? m->maker.forget : RedisModule_Free)(context);
}

/* ---- A command that has changed a filter ----------------------------------------------------- */

static void keep_command(struct making *m)
{
    m->argc = running.argc;
    m->argv = RedisModule_Calloc((size_t)m->argc + FOLLOW_ROOM, sizeof(RedisModuleString *));
    for (int i = 0; i < m->argc; i++) {
        m->argv[i] = running.argv[i];
        RedisModule_RetainString(NULL, m->argv[i]);
    }
    replicate_prepare(running.ctx);
}

static void forget_command(struct making *m)
{
    for (int i = 0; m->argv != NULL && i < m->argc; i++)
        RedisModule_FreeString(NULL, m->argv[i]);
    RedisModule_Free(m->argv);
}

/* Replicates what was changed, whatever the keys are called now. */
static void replicate(struct making *m)
{
    if (m->rc < 0 || m->is_replicated || m->has_let_go || m->maker.follow == NULL) return;
    replicate_change(m->maker.follow, m->maker.context, m->argv, &m->argc);
    making_lock();
    m->is_replicated = true;
    making_unlock();
}

/* ---- Telling replicas first ------------------------------------------------------------------ */

static void end_asking(struct making *m, bool may)
{
    m->state = may ? ADDS : IN_WORK;
    m->is_refused = !may;
    __atomic_store_n(&asking, asking - 1, __ATOMIC_RELAXED);
    (void)pthread_cond_broadcast(&told);
}

/* Answers a maker that asks, in the main thread.  The caller has the mutex, which is given back
 * meanwhile; the one that asks waits. */
static void tell_first(struct making *m)
{
    making_unlock();
    const bool may =
        !server_is_replica() && m->maker.follow(m->maker.context, m->argv, &m->argc) >= 0;
    if (may) (void)m->maker.may_tell(true);
    if (may) replicate(m);
    making_lock();
    end_asking(m, may);
}

bool making_tells_first(void)
{
    struct making *m = at_work;
    if (m == NULL) return true; /* the main thread does it, and replicates it directly after */
    making_lock();
    m->state = ASKS;
    /* ORDER relaxed: the turn that comes of waiting_wake() sees it. */
    __atomic_store_n(&asking, asking + 1, __ATOMIC_RELAXED);
    if (pthread_equal(pthread_self(), main_thread) != 0) tell_first(m);
    (void)pthread_cond_broadcast(&done); /* the main thread may wait for this one */
    making_unlock();                     /* which the main thread wants when it wakes */
    waiting_wake();
    making_lock();
    while (m->state == ASKS)
        (void)pthread_cond_wait(&told, &mutex);
    const bool may = m->state == ADDS;
    making_unlock();
    return may;
}

/* Tells replicas of those that ask, if they may know by now. */
static void tell_all(void)
{
    struct making *last_told = NULL;
    making_lock();
    for (struct making *m = making_first; m != NULL; m = m->next) {
        if (m->state != ASKS || !m->maker.may_tell(false)) continue;
        tell_first(m);
        if (m->is_replicated) last_told = m;
    }
    making_unlock();
    if (last_told != NULL) replicate_now(last_told->argv[1]);
}

/* A child must not save a part of what is added, nor what replicas and the AOF have been told. */
static void wait_before_fork(void)
{
    if (pthread_equal(pthread_self(), main_thread) == 0) return;
    making_lock();
    for (const struct making *m = making_first; m != NULL; m = m->next)
        while (m->state == ADDS)
            (void)pthread_cond_wait(&done, &mutex);
    making_unlock();
}

static void note_child(void)
{
    is_child = true;
}

/* Handlers run in the reverse order of their registration: this one waits before the library and
 * the registry take their locks. */
static void prepare_to_tell(void)
{
    static bool prepared;
    if (!prepared) (void)pthread_atfork(wait_before_fork, NULL, note_child);
    prepared = true;
}

bool making_has_told(int *rc)
{
    const struct making *m = running.ctx == NULL ? NULL : waiting_data(running.ctx);
    return m != NULL && m->maker.may_tell != NULL && m->is_replicated && making_is_done(rc);
}

void making_wait_for_told(const struct value *value)
{
    if (!value->is_still || is_child) return;
    making_lock();
    for (const struct making *m = making_first; m != NULL; m = m->next)
        while (m->state == ADDS && making_use_of(m, value) == USE_CHANGES)
            (void)pthread_cond_wait(&done, &mutex);
    making_unlock();
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Sees to it that a thread works for the queue. */
static void wake(void)
{
    struct making *m = find_waiting();
    if (m != NULL && idle == 0 && threads < THREADS_MAX && thread_start(thread_main, NULL))
        threads++;
    (void)pthread_cond_signal(&work);
    for (; threads == 0 && m != NULL; m = find_waiting())
        work_once(m); /* no thread can be had: the server does the work */
}

/* Called when the command has been run anew, or its client is gone. */
static void end_making(RedisModuleCtx *ctx, void *data)
{
    struct making *m = data;
    (void)ctx;
    if (m->argv != NULL) replicate(m);
    making_lock();
    *m->link = m->next;
    if (m->next != NULL)
        m->next->link = m->link;
    else
        last = m->link;
    struct value *value = take_value(m);
    if (making_first != NULL) wake(); /* one of them may have waited for it */
    making_unlock();
    give_up(value);
    forget_context(m);
    forget_command(m);
    RedisModule_Free(m);
}

/* What was made for the command that is run; NULL: nothing. */
static struct making *made(void)
{
    struct making *m = running.ctx == NULL ? NULL : waiting_data(running.ctx);
    return m != NULL && m->value != NULL && !m->is_spoiled ? m : NULL;
}

int making_run(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, RedisModuleCmdFunc *run,
               RedisModuleReplyFunc *again, bool adds)
{
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

bool making_put_off(enum type type, const char *name, const struct maker *maker)
{
    if (maker->keep == NULL || leftovers_are_open() || running.ctx == NULL ||
        !args_can_wait(running.ctx) || (maker->follow != NULL && server_is_replica()))
        return waiting_is_behind(); /* then it is run anew, and comes here once more */
    struct making *m = RedisModule_Calloc(1, sizeof *m);
    main_thread = pthread_self();
    if (maker->may_tell != NULL) prepare_to_tell();
    m->maker = *maker;
    m->maker.context = maker->keep(maker->context);
    m->value = value_new(type);
    (void)strcpy(m->name, name);
    m->adds = running.adds;
    if (*name == '\0') keep_command(m);
    m->client = waiting_begin(running.ctx, running.again, m, end_making);
    making_lock();
    m->link = last;
    *last = m;
    last = &m->next;
    wake();
    making_unlock();
    return true;
}

bool making_is_done(int *rc)
{
    struct making *m = made();
    if (m == NULL) return false;
    *rc = m->rc;
    if (m->rc < 0) args_set_failure(m->sentence);
    return true;
}

bool making_claim(struct value *value, int *rc)
{
    struct making *m = made();
    if (!making_is_done(rc)) return false;
    if (*rc == 0 && m->argv != NULL) { /* it has changed a filter, and made none */
        *rc = TAMIS_EDROPPED;
        args_set_failure("the key lost its filter while the command was under way; give it again");
    }
    if (*rc < 0) return true;
    making_lock();
    struct value *from = take_value(m);
    making_unlock();
    value_take_filter(value, from);
    value_free(from);
    return true;
}

void *making_context(void)
{
    const struct making *m = made();
    return m == NULL ? NULL : m->maker.context;
}

int making_replicate(RedisModuleCtx *ctx)
{
    if (waiting_is_behind()) return REDISMODULE_OK; /* nothing is done yet */
    struct making *m = made();
    if (m != NULL && m->argv != NULL && replicate_is_prepared()) {
        replicate(m);
        return REDISMODULE_OK;
    }
    if (m != NULL) m->is_replicated = true;
    return RedisModule_ReplicateVerbatim(ctx);
}

/* ---- Settling -------------------------------------------------------------------------------- */

void making_wait_for(struct making *m)
{
    while (m->state != DONE)
        if (m->state == WAITS)
            work_once(m); /* all threads may be waiting for what the caller holds */
        else if (m->state == ASKS)
            tell_first(m);
        else
            (void)pthread_cond_wait(&done, &mutex);
}

void making_settle_one(struct making *m)
{
    if (m->argv == NULL) m->is_spoiled = true;
    for (struct making *before = making_first;
         !making_is_over(m) && (before = making_find_obstacle(before, m)) != NULL;
         before = before->next)
        making_settle_one(before); /* which is one of a shorter list */
    if (making_is_over(m)) return;
    making_wait_for(m);
    making_unlock();
    replicate(m);
    making_lock();
}

void making_settle(const struct value *value, bool changes)
{
    making_lock();
    for (struct making *m = making_first; m != NULL; m = m->next) {
        const enum use use = making_use_of(m, value);
        if ((use == USE_CHANGES || (use == USE_READS && changes)) && !making_is_over(m) &&
            !is_held(m))
            making_settle_one(m);
    }
    wake();
    making_unlock();
}

void making_go_on(void)
{
    const bool paused = making_first != NULL && waiting_is_paused();
    if (!paused && __atomic_load_n(&asking, __ATOMIC_RELAXED) > 0) tell_all();
    if (paused == are_held) return;
    making_lock();
    are_held = paused;
    wake();
    making_unlock();
}

/* Its command, if that has a client yet, fails.  The caller has the mutex. */
static void give_up_waiting(struct making *m)
{
    if (m->state == ASKS) {
        end_asking(m, false);
        return;
    }
    m->rc = TAMIS_EREADONLY;
    (void)strcpy(m->sentence,
                 "writes were paused, or the server became a replica, before it began");
    m->state = DONE;
    waiting_end(m->client);
}

void making_give_up_changes(void)
{
    making_lock();
    for (struct making *m = making_first; m != NULL; m = m->next)
        if ((m->state == WAITS || m->state == ASKS) && m->maker.follow != NULL) give_up_waiting(m);
    making_unlock();
}

void making_settle_all(void)
{
    struct making *settled = NULL;
    if (waiting_is_paused()) return;
    making_lock();
    for (struct making *m = making_first; m != NULL; m = m->next) {
        if (m->argv == NULL || m->maker.follow == NULL || making_is_over(m)) continue;
        making_settle_one(m);
        settled = m;
    }
    wake();
    making_unlock();
    if (settled != NULL) replicate_now(settled->argv[1]);
}

bool making_holds_still(const struct value *value)
{
    making_lock();
    const struct making *m = making_first;
    while (m != NULL && !(m->maker.holds_still && making_use_of(m, value) != USE_NONE))
        m = m->next;
    making_unlock();
    return m != NULL;
}

/* The first one that must still be finished; NULL: there is none. */
static struct making *find_unfinished(void)
{
    struct making *m = making_first;
    while (m != NULL && (m->value == NULL || m->has_let_go))
        m = m->next;
    return m;
}

/* Finishes one that changes a filter: its command is told what came of it. */
static void finish_change(struct making *m)
{
    making_lock();
    if (is_held(m)) give_up_waiting(m);
    if (!making_is_over(m)) making_settle_one(m);
    making_wait_for(m);
    making_unlock();
    let_go(m);
}

/* Finishes one that makes a filter, which nobody has claimed: its command makes it once more. */
static void finish_made(struct making *m)
{
    making_lock();
    making_wait_for(m);
    struct value *value = take_value(m);
    making_unlock();
    give_up(value);
    forget_context(m);
}

void making_finish(void)
{
    struct making *m;
    while ((m = find_unfinished()) != NULL)
        if (m->argv != NULL)
            finish_change(m);
        else
            finish_made(m);
}
