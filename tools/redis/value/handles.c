/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handles.c: see handles.h.
 *
 * The ring is a clock: a hand goes round, clears in_use, and closes the first handle that nobody
 * has used since it last came by.  So a use costs one store and no lock.  The mutex guards the ring
 * and the count, and value->filter of those in the ring.
 */
#include "value/handles.h"

#include <pthread.h>
#include <string.h>

#include "server/config.h"
#include "value/drafts.h"
#include "value/durable.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct value *hand; /* in the ring; NULL: the ring is empty */
static uint64_t open_count, ring_count;
static unsigned holds;
static tamis_store *store;
static bool is_child;
static struct value *guest; /* in a child: the value that was opened last */

void handles_set_store(tamis_store *of)
{
    store = of;
}

/* ---- fork() ---------------------------------------------------------------------------------- */

static void lock(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

static void unlock_in_child(void)
{
    is_child = true;
    unlock();
}

void handles_prepare_for_fork(void)
{
    (void)pthread_atfork(lock, unlock, unlock_in_child);
}

/* ---- The ring -------------------------------------------------------------------------------- */

/* Puts the value behind the hand, which comes to it last. */
static void ring_put(struct value *value)
{
    if (hand == NULL) {
        value->newer = value->older = hand = value;
    } else {
        value->newer = hand;
        value->older = hand->older;
        value->older->newer = value;
        hand->older = value;
    }
    ring_count++;
}

static void ring_take(struct value *value)
{
    if (value->newer == NULL) return;
    if (hand == value) hand = value->newer == value ? NULL : value->newer;
    value->older->newer = value->newer;
    value->newer->older = value->older;
    value->newer = value->older = NULL;
    ring_count--;
}

/* Takes the value out whose handle is to be closed, not `but`; NULL: there is none. */
static struct value *ring_choose(const struct value *but)
{
    for (uint64_t steps = 2 * ring_count; steps > 0; steps--) {
        struct value *value = hand;
        hand = value->newer;
        if (value->in_use)
            value->in_use = false;
        else if (value != but && !durable_is_busy(value)) {
            ring_take(value);
            return value;
        }
    }
    return NULL;
}

/* Closes a handle, not that of `but`.  Returns false if there is none to close.  The caller has the
 * mutex. */
static bool close_one(const struct value *but)
{
    struct value *value = ring_choose(but);
    if (value == NULL) return false;
    value->known = value_known(value);
    tamis_filter_release(value->filter);
    value->filter = NULL;
    open_count--;
    return true;
}

/* Closes handles until no more are open than the setting allows.  The caller has the mutex. */
static void trim(const struct value *but)
{
    if (is_child || holds > 0) return;
    while (open_count > (uint64_t)config.max_open && close_one(but))
        continue;
}

void handles_trim(void)
{
    lock();
    trim(NULL);
    unlock();
}

static void enter(struct value *value, tamis_filter *filter)
{
    lock();
    value->filter = filter;
    value->is_entered = value->in_use = true;
    (void)tamis_filter_set_prepared(filter, 1); /* durable.c makes it ready for further keys */
    if (!value->durable) ring_put(value);
    open_count++;
    trim(value);
    unlock();
}

void handles_rename(struct value *value, const char *name)
{
    lock();
    (void)strcpy(value->name, name);
    unlock();
}

void handles_enter(struct value *value)
{
    enter(value, value->filter);
}

void handles_leave(struct value *value)
{
    lock();
    if (value->is_entered && value->filter != NULL) open_count--;
    value->is_entered = false;
    ring_take(value);
    unlock();
}

void handles_hold(void)
{
    holds++;
}

void handles_let_go(void)
{
    if (--holds == 0) handles_trim();
}

uint64_t handles_open(void)
{
    lock();
    const uint64_t count = open_count;
    unlock();
    return count;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The name of the filter that was made at that time. */
struct sought {
    int64_t created_at;
    char name[NAME_ROOM];
};

static int seek(void *context, const struct tamis_filter_stat *stat)
{
    struct sought *sought = context;
    if (stat->created_at == sought->created_at) (void)strcpy(sought->name, stat->name);
    return 0;
}

/* Is it the filter that the value had? */
static bool is_of(const struct value *value, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return tamis_filter_stat(filter, &stat) == 0 && stat.created_at == value->created_at;
}

/* Opens the filter under the name that the value knows; if a local process has renamed it
 * meanwhile, under the name that it has. */
static int open_stored(const struct value *value, unsigned flags, tamis_filter **filter)
{
    struct sought sought = {.created_at = value->created_at};
    char name[NAME_ROOM];
    lock(); /* a thread may be about to rename it */
    (void)strcpy(name, value->name);
    unlock();
    int rc = tamis_filter_open(store, name, flags, filter);
    if (rc == 0 && is_of(value, *filter)) return 0;
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    tamis_filter_release(*filter); /* NULL, or that of another */
    *filter = NULL;
    rc = tamis_store_list(store, NULL, seek, &sought);
    if (rc == 0 && *sought.name == '\0') return TAMIS_EDROPPED;
    return rc < 0 ? rc : tamis_filter_open(store, sought.name, flags, filter);
}

/* In a child the handles of the parent stay as they are.  One more is opened, for reading, so that
 * nothing of the child is left in the store. */
static void receive(struct value *value, tamis_filter *filter)
{
    if (guest != NULL) {
        tamis_filter_release(guest->filter);
        guest->filter = NULL;
    }
    value->filter = filter;
    guest = value;
}

/* Closes a part of what is open, as the system has no more. */
static void close_some(const struct value *but)
{
    lock();
    for (uint64_t count = ring_count / 8 + 1; count > 0; count--)
        close_one(but);
    unlock();
}

int value_open_alone(struct value *value)
{
    if (value->filter != NULL || *value->name == '\0') return 0;
    return open_stored(value, 0, &value->filter);
}

int value_open(struct value *value)
{
    tamis_filter *filter = NULL;
    value->in_use = true;
    if (value->filter != NULL || *value->name == '\0') return 0;
    const unsigned flags = is_child ? TAMIS_READ_ONLY : 0;
    int rc = value->draft != NULL && !is_child ? drafts_enter() : 0;
    if (value->draft != NULL) return rc < 0 ? rc : TAMIS_EBUSY;
    if (value->filter != NULL) return 0; /* it was opened as it came into the store */
    rc = open_stored(value, flags, &filter);
    if ((rc == TAMIS_ELIMIT || rc == TAMIS_ENOMEM) && !is_child && holds == 0) {
        close_some(value);
        rc = open_stored(value, flags, &filter);
    }
    if (rc < 0) return rc;
    if (is_child)
        receive(value, filter);
    else
        enter(value, filter);
    return 0;
}

void handles_open_made(struct value *value)
{
    if (value->filter != NULL)
        handles_enter(value);
    else
        (void)value_open(value);
}
