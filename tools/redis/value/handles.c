/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handles.c: see handles.h.
 *
 * The ring of the handles that may be closed is a clock: a hand goes round, clears in_use, and
 * closes the first handle that nobody has used since it last came by.  So a use costs one store and
 * no lock.  The other ring is of the handles that stay open.  The mutex guards the rings and the
 * sums, and value->filter and value->known of those in the rings.
 */
#include "value/handles.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "server/clock.h"
#include "server/config.h"
#include "value/drafts.h"
#include "value/durable.h"

#define CHILD_TRIES_NS 60000000000
#define CHILD_PAUSE_US 10000
#define RENAMES_MOST 100 /* of a filter between a look for its name and the open */
#define LOOKS 128u       /* in handles_look(): each takes some 20 microseconds */

struct ring {
    struct value *hand;  /* NULL: the ring is empty */
    struct value *looks; /* handles_look() goes on with it; NULL: the ring is empty */
    uint64_t count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ring closable, staying;
static struct sums sums;
static unsigned holds;
static tamis_store *store;
static bool is_child;
static struct value *guest; /* in a child: the value that was opened last */

void handles_set_store(tamis_store *of)
{
    store = of;
}

bool handles_are_of_child(void)
{
    return is_child;
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

/* ---- The sums -------------------------------------------------------------------------------- */

static void add_known(const struct known *known)
{
    sums.segments += known->segments;
    sums.bytes += known->bytes;
    sums.items += known->items;
    sums.unclean += known->unclean;
    sums.degraded += known->degraded;
}

static void subtract_known(const struct known *known)
{
    sums.segments -= known->segments;
    sums.bytes -= known->bytes;
    sums.items -= known->items;
    sums.unclean -= known->unclean;
    sums.degraded -= known->degraded;
}

/* Takes in what an open filter has now. */
static void look_at(struct value *value)
{
    subtract_known(&value->known);
    value->known = value_known(value);
    add_known(&value->known);
    value->is_known = !value_counts(value);
}

/* The same before it is closed.  That looks at the catalog, so it is left out where no key has come
 * since the last look. */
static void look_before_close(struct value *value)
{
    if (!value->is_known || value_items(value) != (int64_t)value->known.items) look_at(value);
}

static unsigned look_round(struct ring *ring, unsigned most)
{
    const unsigned looks = ring->count < most ? (unsigned)ring->count : most;
    for (unsigned i = 0; i < looks; i++) {
        look_at(ring->looks);
        ring->looks = ring->looks->newer;
    }
    return most - looks;
}

void handles_look(void)
{
    lock();
    const unsigned left = look_round(&staying, LOOKS / 2);
    (void)look_round(&closable, LOOKS / 2 + left);
    unlock();
}

struct sums handles_sums(void)
{
    lock();
    const struct sums now = sums;
    unlock();
    return now;
}

/* ---- The rings ------------------------------------------------------------------------------- */

static struct ring *ring_of(const struct value *value)
{
    return value->durable ? &staying : &closable;
}

/* Puts the value behind the hand, which comes to it last. */
static void ring_put(struct value *value)
{
    struct ring *ring = ring_of(value);
    value->lit = LIGHT_UNKNOWN;
    value->in_ring = true;
    if (ring->hand == NULL) {
        value->newer = value->older = ring->hand = ring->looks = value;
    } else {
        value->newer = ring->hand;
        value->older = ring->hand->older;
        value->older->newer = value;
        ring->hand->older = value;
    }
    ring->count++;
}

static void ring_take(struct value *value)
{
    struct ring *ring = ring_of(value);
    if (!value->in_ring) return;
    struct value *next = value->newer == value ? NULL : value->newer;
    if (ring->hand == value) ring->hand = next;
    if (ring->looks == value) ring->looks = next;
    value->older->newer = value->newer;
    value->newer->older = value->older;
    value->in_ring = false;
    ring->count--;
}

/* Takes the value out whose handle is to be closed, not `but`; NULL: there is none. */
static struct value *ring_choose(const struct value *but)
{
    for (uint64_t steps = 2 * closable.count; steps > 0; steps--) {
        struct value *value = closable.hand;
        closable.hand = value->newer;
        if (value->in_use)
            value->in_use = false;
        else if (value != but && value->pins == 0 && !durable_is_busy(value)) {
            ring_take(value);
            return value;
        }
    }
    return NULL;
}

/* Makes the light handle of a filter that is about to be closed. */
static void keep_light(struct value *value)
{
    const bool made =
        value->type == TYPE_BLOOM && tamis_light_of(value->filter, &value->light) == 1;
    value->lit = made ? LIGHT_LIT : LIGHT_NONE;
}

/* Closes the handle of a value that is out of the ring.  The caller has the mutex. */
static void close_it(struct value *value)
{
    look_before_close(value);
    keep_light(value);
    tamis_filter_release(value->filter);
    value->filter = NULL;
    sums.open--;
}

/* Closes a handle, not that of `but`.  Returns false if there is none to close.  The caller has the
 * mutex. */
static bool close_one(const struct value *but)
{
    struct value *value = ring_choose(but);
    if (value != NULL) close_it(value);
    return value != NULL;
}

/* Closes handles until no more are open than the setting allows.  The caller has the mutex. */
static void trim(const struct value *but)
{
    if (is_child || holds > 0) return;
    while (sums.open > (uint64_t)config.max_open && close_one(but))
        continue;
}

void handles_trim(void)
{
    lock();
    trim(NULL);
    unlock();
}

void handles_close_those(bool (*is)(void *context, tamis_filter *filter), void *context)
{
    lock();
    struct value *value = closable.hand;
    for (uint64_t left = is_child || holds > 0 ? 0 : closable.count; left > 0; left--) {
        struct value *next = value->newer;
        if (is(context, value->filter) && !durable_is_busy(value)) {
            ring_take(value);
            close_it(value);
        }
        value = next;
    }
    unlock();
}

static void enter(struct value *value, tamis_filter *filter)
{
    lock();
    if (!value->is_entered) add_known(&value->known);
    value->is_entered = true;
    value->filter = filter;
    if (filter != NULL) {
        (void)tamis_filter_set_prepared(filter, 1); /* durable.c makes it ready for further keys */
        value->in_use = value->was_open = true;
        ring_put(value);
        sums.open++;
        trim(value);
    }
    unlock();
}

void handles_rename(struct value *value, const char *name)
{
    lock();
    value_set_name(value, name);
    unlock();
}

void handles_name(const struct value *value, char name[NAME_ROOM])
{
    lock();
    (void)strcpy(name, value->name);
    unlock();
}

void handles_enter(struct value *value)
{
    enter(value, value->filter);
}

void handles_leave(struct value *value)
{
    lock();
    if (value->is_entered) {
        if (value->filter != NULL) sums.open--;
        sums.broken -= value->is_broken;
        subtract_known(&value->known);
    }
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

/* ---- Opening --------------------------------------------------------------------------------- */

/* A filter that is sought by when it was created. */
struct sought {
    int64_t created_at;
    bool owned_too;
    char *name;
};

static int seek(void *context, const struct tamis_filter_stat *stat)
{
    const struct sought *sought = context;
    if (stat->created_at == sought->created_at &&
        (sought->owned_too || (stat->flags & TAMIS_FILTER_OWNED) == 0))
        (void)strcpy(sought->name, stat->name);
    return 0;
}

static bool is_sought(const struct sought *sought, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return tamis_filter_created_at(filter) == sought->created_at &&
           (sought->owned_too ||
            (tamis_filter_stat(filter, &stat) == 0 && (stat.flags & TAMIS_FILTER_OWNED) == 0));
}

int handles_open_created(int64_t created_at, bool owned_too, char name[NAME_ROOM], unsigned flags,
                         tamis_filter **filter)
{
    const struct sought sought = {.created_at = created_at, .owned_too = owned_too, .name = name};
    int rc = *name == '\0' ? TAMIS_ENOTFOUND : tamis_filter_open(store, name, flags, filter);
    if (rc == 0 && is_sought(&sought, *filter)) return 0;
    if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
    /* A child finds it here after its parent has renamed it, which may do so once more. */
    for (int tries = 0; tries < RENAMES_MOST && (rc == 0 || rc == TAMIS_ENOTFOUND); tries++) {
        tamis_filter_release(*filter); /* NULL, or that of another */
        *filter = NULL;
        *name = '\0';
        rc = tamis_store_list(store, NULL, seek, (void *)(uintptr_t)&sought);
        if (rc == 0 && *name == '\0') return TAMIS_EDROPPED;
        if (rc == 0) rc = tamis_filter_open(store, name, flags, filter);
        if (rc == 0 && is_sought(&sought, *filter)) return 0;
    }
    tamis_filter_release(*filter);
    *filter = NULL;
    return rc == 0 ? TAMIS_ENOTFOUND : rc;
}

/* Opens the filter of a value. */
static int open_stored(const struct value *value, unsigned flags, tamis_filter **filter)
{
    char name[NAME_ROOM];
    handles_name(value, name); /* a thread may be about to rename it */
    return handles_open_created(value->created_at, true, name, flags, filter);
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
    for (uint64_t count = closable.count / 8 + 1; count > 0; count--)
        close_one(but);
    unlock();
}

int value_open_alone(struct value *value)
{
    if (value->filter != NULL || !value_is_stored(value)) return 0;
    return open_stored(value, 0, &value->filter);
}

/* Notes for the sums whether the filter could be opened.  That the store is busy passes. */
static void note_outcome(struct value *value, int rc)
{
    lock();
    if (value->is_entered && rc != TAMIS_EBUSY) {
        sums.broken -= value->is_broken;
        value->is_broken = rc < 0;
        sums.broken += value->is_broken;
    }
    unlock();
}

/* In a child: may be tried again what found the catalog locked?  The process that it was born of
 * holds it while it waits for the disk.  A child has the time; without the filter its dump could
 * not be loaded. */
static bool may_try_again(int rc, int64_t *until_ns)
{
    if (!is_child || rc != TAMIS_EBUSY) return false;
    if (*until_ns == 0) *until_ns = clock_ns() + CHILD_TRIES_NS;
    if (clock_ns() >= *until_ns) return false;
    (void)usleep(CHILD_PAUSE_US);
    return true;
}

/* Has anything been written? */
struct written {
    const struct tamis_sink *to;
    bool any;
};

static int write_on(void *context, const void *buffer, size_t bytes)
{
    struct written *written = context;
    written->any = true;
    return written->to->write(written->to->context, buffer, bytes);
}

int handles_export(const struct value *value, const struct tamis_sink *to)
{
    struct written written = {.to = to};
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_on, .context = &written};
    int64_t until_ns = 0;
    int rc;
    do {
        rc = tamis_filter_export(value->filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
        if (rc == TAMIS_ELIMIT) rc = TAMIS_EBUSY; /* others changed the filter all the time */
    } while (!written.any && may_try_again(rc, &until_ns));
    return rc;
}

/* Brings the draft of the value into the store, with all others.  One that is held is wanted before
 * its time; another filter has its name. */
static int enter_draft(struct value *value)
{
    char apart[NAME_ROOM];
    if (draft_is_held(value)) {
        name_apart(NAME_LOADING, apart);
        draft_release(value, apart);
    }
    return drafts_enter();
}

int handles_open(struct value *value)
{
    int64_t until_ns = 0;
    tamis_filter *filter = NULL;
    const unsigned flags = is_child ? TAMIS_READ_ONLY : 0;
    int rc = value->draft != NULL && !is_child ? enter_draft(value) : 0;
    if (value->draft != NULL) return rc < 0 ? rc : TAMIS_EBUSY;
    if (value->filter != NULL) return 0; /* it was opened as it came into the store */
    do
        rc = open_stored(value, flags, &filter);
    while (may_try_again(rc, &until_ns));
    if ((rc == TAMIS_ELIMIT || rc == TAMIS_ENOMEM) && !is_child && holds == 0) {
        close_some(value);
        rc = open_stored(value, flags, &filter);
    }
    note_outcome(value, rc);
    if (rc < 0) return rc;
    if (is_child)
        receive(value, filter);
    else
        enter(value, filter);
    return 0;
}

void handles_made(struct value *value, bool opens)
{
    const bool opened = value->filter == NULL && opens && value_open(value) == 0;
    if (!opened) handles_enter(value);
}
