/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * making.c: see making.h.
 *
 *     making_put_off() --> queue --> work --> done --> run anew: claimed, or released
 *
 * Who waits in the queue for another one to be over (is_over()) is passed by those that need not.
 *
 * The mutex guards the list, the names in it and what is done.  Filters are made without it.
 */
#include "kept/making.h"

#include <pthread.h>
#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/replicate.h"
#include "registry/registry.h"
#include "server/args.h"
#include "server/busy.h"
#include "server/resync.h"
#include "server/thread.h"
#include "server/waiting.h"

/* Threads begin as they are needed.  Each waits for a disk nearly always. */
#define THREADS_MAX 4

struct making {
    struct making *next, **link; /* in the list */
    enum { WAITS, IN_WORK, DONE } state;
    struct waiting *client;
    struct maker maker;
    struct value *value; /* gets the filter; NULL once it is claimed */
    char name[NAME_ROOM];
    bool adds;
    bool is_spoiled;    /* what it has made is worth nothing: making_settle() */
    bool is_replicated; /* that it has changed a filter */
    bool has_let_go;    /* of the values that it has pinned */
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
static bool are_held; /* is_held() */

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

/* ---- Who waits for whom ---------------------------------------------------------------------- */

enum use { USE_NONE, USE_READS, USE_CHANGES };

static enum use use_of(const struct making *m, const struct value *value)
{
    enum use use = USE_NONE;
    bool changes = false;
    if (m->maker.uses == NULL || m->has_let_go) return use;
    for (size_t i = 0; use != USE_CHANGES; i++) {
        const struct value *used = m->maker.uses(m->maker.context, i, &changes);
        if (used == NULL) break;
        if (used == value) use = changes ? USE_CHANGES : USE_READS;
    }
    return use;
}

/* Does one of them change what the other one uses? */
static bool are_in_conflict(const struct making *a, const struct making *b)
{
    bool found = false, changes = false;
    if (a->maker.uses == NULL || b->maker.uses == NULL || b->has_let_go) return false;
    for (size_t i = 0; !found; i++) {
        const struct value *used = b->maker.uses(b->maker.context, i, &changes);
        if (used == NULL) break;
        const enum use use = use_of(a, used);
        found = use == USE_CHANGES || (use == USE_READS && changes);
    }
    return found;
}

/* Need nobody wait for it any more?  It has come to nothing, or is claimed, or is replicated. */
static bool is_over(const struct making *m)
{
    return m->is_spoiled || m->is_replicated ||
           (m->state == DONE && (m->rc < 0 || m->value == NULL));
}

/* The one before `m`, from `from` on, that it must wait for; NULL: there is none. */
static struct making *find_obstacle(struct making *from, const struct making *m)
{
    if (m->maker.uses == NULL) return NULL;
    while (from != m && (is_over(from) || !are_in_conflict(from, m)))
        from = from->next;
    return from == m ? NULL : from;
}

/* Has it not begun to change a filter, which it may not while writes are paused?  FAILOVER may make
 * the server a replica meanwhile, and then no other server would know of the change. */
static bool is_held(const struct making *m)
{
    return are_held && m->state == WAITS && m->maker.follow != NULL;
}

/* The first one that can be begun; NULL: there is none. */
static struct making *find_waiting(void)
{
    struct making *m = first;
    while (m != NULL && (m->state != WAITS || is_held(m) || find_obstacle(first, m) != NULL))
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
    waiting_end(m->client); /* from now on the main thread may free it */
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

/* Others may ask meanwhile what it uses. */
static void let_go(struct making *m)
{
    if (m->has_let_go) return;
    lock();
    m->has_let_go = true;
    unlock();
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
    lock();
    m->is_replicated = true;
    unlock();
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
    lock();
    *m->link = m->next;
    if (m->next != NULL)
        m->next->link = m->link;
    else
        last = m->link;
    struct value *value = take_value(m);
    if (first != NULL) wake(); /* one of them may have waited for it */
    unlock();
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
        return false;
    struct making *m = RedisModule_Calloc(1, sizeof *m);
    m->maker = *maker;
    m->maker.context = maker->keep(maker->context);
    m->value = value_new(type);
    (void)strcpy(m->name, name);
    m->adds = running.adds;
    if (*name == '\0') keep_command(m);
    m->client = waiting_begin(running.ctx, running.again, m, end_making);
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
    value_take_filter(value, from);
    value_free(from);
    return true;
}

const void *making_context(void)
{
    const struct making *m = made();
    return m == NULL ? NULL : m->maker.context;
}

int making_replicate(RedisModuleCtx *ctx)
{
    struct making *m = made();
    if (m != NULL && m->argv != NULL && replicate_is_prepared()) {
        replicate(m);
        return REDISMODULE_OK;
    }
    if (m != NULL) m->is_replicated = true;
    return RedisModule_ReplicateVerbatim(ctx);
}

/* ---- Settling -------------------------------------------------------------------------------- */

/* Waits until it is done, or does it.  The caller has the mutex. */
static void wait_for(struct making *m)
{
    while (m->state != DONE)
        if (m->state == WAITS)
            work_once(m); /* all threads may be waiting for what the caller holds */
        else
            (void)pthread_cond_wait(&done, &mutex);
}

/* What it makes is worth nothing, or what it changes is done and replicated, and before that all
 * that it waits for.  The caller has the mutex, which is given back meanwhile; the main thread
 * alone takes any off the list. */
static void settle(struct making *m)
{
    if (m->argv == NULL) m->is_spoiled = true;
    for (struct making *before = first; !is_over(m) && (before = find_obstacle(before, m)) != NULL;
         before = before->next)
        settle(before); /* which is one of a shorter list */
    if (is_over(m)) return;
    wait_for(m);
    unlock();
    replicate(m);
    lock();
}

void making_settle(const struct value *value, bool changes)
{
    lock();
    for (struct making *m = first; m != NULL; m = m->next) {
        const enum use use = use_of(m, value);
        if ((use == USE_CHANGES || (use == USE_READS && changes)) && !is_over(m) && !is_held(m))
            settle(m);
    }
    wake();
    unlock();
}

void making_go_on(void)
{
    const bool paused = first != NULL && waiting_is_paused();
    if (paused == are_held) return;
    lock();
    are_held = paused;
    wake();
    unlock();
}

/* Its command, if that has a client yet, fails.  The caller has the mutex. */
static void give_up_waiting(struct making *m)
{
    m->rc = TAMIS_EREADONLY;
    (void)strcpy(m->sentence,
                 "writes were paused, or the server became a replica, before it began");
    m->state = DONE;
    waiting_end(m->client);
}

void making_give_up_changes(void)
{
    lock();
    for (struct making *m = first; m != NULL; m = m->next)
        if (m->state == WAITS && m->maker.follow != NULL) give_up_waiting(m);
    unlock();
}

void making_settle_all(void)
{
    struct making *settled = NULL;
    if (waiting_is_paused()) return;
    lock();
    for (struct making *m = first; m != NULL; m = m->next) {
        if (m->argv == NULL || m->maker.follow == NULL || is_over(m)) continue;
        settle(m);
        settled = m;
    }
    wake();
    unlock();
    if (settled != NULL) replicate_now(settled->argv[1]);
}

bool making_holds_still(const struct value *value)
{
    lock();
    const struct making *m = first;
    while (m != NULL && !(m->maker.holds_still && use_of(m, value) != USE_NONE))
        m = m->next;
    unlock();
    return m != NULL;
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
    while ((m = find_undone(name)) != NULL) {
        for (struct making *before = first; (before = find_obstacle(before, m)) != NULL;
             before = before->next)
            settle(before);
        wait_for(m);
    }
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

/* The first one that must still be finished; NULL: there is none. */
static struct making *find_unfinished(void)
{
    struct making *m = first;
    while (m != NULL && (m->value == NULL || m->has_let_go))
        m = m->next;
    return m;
}

/* Finishes one that changes a filter: its command is told what came of it. */
static void finish_change(struct making *m)
{
    lock();
    if (is_held(m)) give_up_waiting(m);
    if (!is_over(m)) settle(m);
    wait_for(m);
    unlock();
    let_go(m);
}

/* Finishes one that makes a filter, which nobody has claimed: its command makes it once more. */
static void finish_made(struct making *m)
{
    lock();
    wait_for(m);
    struct value *value = take_value(m);
    unlock();
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
