/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.c: see kept.h.
 *
 *     kept_release()          the thread takes up to BATCH of them
 *          |                        |
 *          v   take_in()            v           the child is dead, or the dump whole: look_again()
 *        going ---> queue --------> work ------> kept ------.
 *                    ^               | |                    |
 *                    | the catalog   | | dropped, closed    |
 *                    | is busy       | |                    |
 *                    '---------------'-+--------------------'
 *                                      v
 *                                   freed
 *
 * What cannot be dropped, as the disk has an error say, is in `failed` for a while, from which it
 * goes to the queue again: a few times, and then it stays in the store.
 *
 * FLUSHALL releases a million values, one call after the other, and the server answers nobody
 * meanwhile.  So kept_release() takes no mutex: it puts the value on `going`, and the thread does
 * the rest.  From then on the value is one whose key is gone (value_is_gone()).
 *
 * The registry's mutex guards the other lists and the numbers.  The thread does not
 * hold it while it works.  What is in `work` belongs to the thread: others wait until that is over.
 */
#include "kept/kept.h"

#include <string.h>
#include <time.h>

#include "kept/entry.h"
#include "kept/moves.h"
#include "kept/renames.h"
#include "registry/registry.h"
#include "server/clock.h"
#include "server/thread.h"
#include "value/drafts.h"
#include "value/durable.h"
#include "value/handles.h"
#include "value/recent.h"

/* How many filters are dropped in one change of the store. */
#define BATCH TAMIS_DROP_MAX
/* For so many values at most the thread holds the mutex, and then lets others have it. */
#define AT_ONCE 64
/* A value without a filter, an exact cuckoo filter, is freed at once if it has fewer bytes. */
#define SMALL_BYTES ((size_t)1 << 20)
#define PAUSE_NS 1000000
/* What cannot be dropped is tried again after a second, and each time after twice as long: for a
 * minute. */
#define TRIES_MAX 7
#define AGAIN_NS 1000000000

static struct kept queue = {.next = &queue, .before = &queue},
                   work = {.next = &work, .before = &work}, kept = {.next = &kept, .before = &kept},
                   failed = {.next = &failed, .before = &failed};
static struct kept *going;    /* a stack; atomic, without the mutex */
static bool running, at_work; /* is there a thread, and does it work */
static bool taking_in;
static bool stuck;                     /* the catalog was busy */
static bool dumps;                     /* kept_hold() */
static uint64_t child;                 /* atomic: the number of the child that is alive; or 0 */
static uint64_t children;              /* how many there were */
static uint64_t gone;                  /* atomic: how many filters went */
static uint64_t gone_before, released; /* the same before the dump that is being made; before one
                                          that is whole */

/* ---- Lists ----------------------------------------------------------------------------------- */

static void append(struct kept *list, struct kept *k)
{
    entry_append(list, k);
    k->in_work = list == &work;
}

/* Does it drop the filter, and is the thread at work for it or not, as asked? */
static bool is_wanted(const struct kept *k, bool in_work)
{
    return k->in_work == in_work && !k->is_nowhere && value_is_ours(k->value);
}

/* Looks for a filter by its name. */
static struct kept *find(const char *name, bool in_work)
{
    const struct value *v = registry_find_kept(name, NULL);
    while (v != NULL && !is_wanted(v->kept, in_work))
        v = registry_find_kept(name, v);
    return v != NULL ? v->kept : NULL;
}

/* The same by its time of creation. */
static struct kept *find_time(int64_t created_at, bool in_work)
{
    const struct value *v = registry_find_kept_time(created_at, NULL);
    while (v != NULL && !is_wanted(v->kept, in_work))
        v = registry_find_kept_time(created_at, v);
    return v != NULL ? v->kept : NULL;
}

/* The value without a key whose filter has the name, and which the thread is not at work for. */
static struct value *find_gone(const char *name)
{
    const struct kept *k = find(name, false);
    while (k != NULL && k->value->draft != NULL) { /* it may have got another name */
        draft_wait(k->value);
        k = find(name, false);
    }
    return k != NULL && k->value->keeps_name == 0 ? k->value : NULL;
}

/* The thread looks at the filters that are kept: some need not be kept any more. */
static void look_again(void)
{
    if (entry_is_alone(&kept)) return;
    kept.next->before = queue.before; /* all of them go behind the last one in the queue */
    queue.before->next = kept.next;
    kept.before->next = &queue;
    queue.before = kept.before;
    kept.next = kept.before = &kept;
    registry_tell();
}

/* ---- Taking in ------------------------------------------------------------------------------- */

/* The filter has no key's name any more, or is a key's again. */
static void end_move(struct kept *k)
{
    if (k->is_noted) moves_end();
    k->is_noted = false;
}

/* Takes a value into the queue, or frees it, if nothing of it is in the store. */
static void take_in_one(struct kept *k)
{
    struct value *value = k->value;
    recent_forget(value);
    k->is_nowhere |= draft_forget(value);
    renames_forget(value);
    moves_forget(value); /* SWAPDB may have noted it meanwhile */
    if (k->is_nowhere) {
        end_move(k);
        registry_leave(value);
        value_free(value);
        RedisModule_Free(k);
    } else {
        registry_keep(value, k);
        append(&queue, k);
    }
}

/* Takes in what is going.  The caller has the mutex, which is given back now and then. */
static void take_in(void)
{
    struct kept *list = __atomic_exchange_n(&going, NULL, __ATOMIC_ACQUIRE);
    if (list == NULL) return;
    taking_in = true;
    registry_unlock();
    for (struct kept *k = list; k != NULL; k = k->next)
        k->created_at = k->value->created_at;
    list = entries_sort(list);
    registry_lock();
    for (unsigned count = 1; list != NULL; count++) {
        struct kept *next = list->next;
        take_in_one(list);
        list = next;
        if (count % AT_ONCE == 0) registry_let_others();
    }
    taking_in = false;
    registry_tell();
}

static bool is_going(void)
{
    return taking_in || __atomic_load_n(&going, __ATOMIC_RELAXED) != NULL;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* May a dump that is being made, or one that may yet be loaded, need the filter?  Dumps never refer
 * to filters of kind counting. */
static bool must_stay(const struct kept *k)
{
    if (k->has_no_key) return false;
    return (child != 0 && k->child == child) ||
           (dumps && !value_counts(k->value) && k->number >= released);
}

/* Takes the first ones off the queue, and says what is to be done with each. */
static void take_work(void)
{
    for (size_t i = 0; i < BATCH && !entry_is_alone(&queue); i++) {
        struct kept *k = entry_take(queue.next);
        const struct value *v = k->value;
        if (v->pins > 0) {
            append(&kept, k); /* until kept_unpin() */
            continue;
        }
        const bool stays = must_stay(k);
        if (!value_is_stored(v) || !value_is_ours(v))
            k->what = CLOSE;
        else
            k->what = stays ? PUT_APART : DROP;
        append(stays && name_is_apart(v->name, NAME_TRASH) ? &kept : &work, k);
    }
}

/* Has a local process dropped it?  Another filter may have its name by now. */
static bool is_lost(struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const int rc = value_open_alone(value);
    if (rc < 0) return rc == TAMIS_EDROPPED;
    return tamis_filter_stat(value->filter, &stat) == TAMIS_EDROPPED;
}

/* Drops a filter by itself.  If that fails, the log says so the first time, and the last. */
static int drop_one(struct kept *k)
{
    const struct value *value = k->value;
    const int rc = tamis_filter_drop_many(registry_store(), &value->name, &value->created_at, 1);
    if (rc >= 0 || rc == TAMIS_EBUSY) return rc;
    if (++k->tries == 1)
        RedisModule_Log(NULL, "warning",
                        "the filter '%s' cannot be dropped, which is tried again: %s", value->name,
                        tamis_last_error());
    else if (k->tries == TRIES_MAX)
        RedisModule_Log(
            NULL, "warning",
            "the filter '%s' stays in the store, and is an orphan at the next start: %s",
            value->name, tamis_last_error());
    return rc;
}

static bool is_tried_again(const struct kept *k)
{
    return k->what == DROP && k->rc < 0 && k->rc != TAMIS_EBUSY && k->tries < TRIES_MAX;
}

/* Drops all filters of `work` that are to be dropped, without a look at each: a local process may
 * have dropped one, and another filter may have its name by now.  What is wrong with one must not
 * keep the others: then each is dropped by itself. */
static void drop_all(void)
{
    static const char *dropped[BATCH]; /* one thread at a time does the work */
    static int64_t created_at[BATCH];
    size_t count = 0;
    for (struct kept *k = work.next; k != &work; k = k->next) {
        if (k->what != DROP) continue;
        dropped[count] = k->value->name;
        created_at[count++] = k->value->created_at;
    }
    const int rc = tamis_filter_drop_many(registry_store(), dropped, created_at, count);
    if (rc >= 0) return;
    for (struct kept *k = work.next; k != &work; k = k->next)
        if (k->what == DROP) k->rc = rc == TAMIS_EBUSY ? rc : drop_one(k);
}

/* Renames a filter apart.  If the store has lost it, it is to be closed. */
static void put_apart(struct kept *k)
{
    char apart[NAME_ROOM];
    name_apart(NAME_TRASH, apart);
    k->rc = tamis_filter_rename(registry_store(), k->value->name, apart);
    if (k->rc < 0 && k->rc != TAMIS_EBUSY) k->what = CLOSE;
    if (k->rc < 0) return;
    registry_lock(); /* others look for names */
    registry_set_name(k->value, apart);
    registry_unlock();
    tamis_filter_release(k->value->filter); /* a close would bring it to the disk */
    k->value->filter = NULL;
}

/* Does the work, without the mutex. */
static void do_work(void)
{
    for (struct kept *k = work.next; k != &work; k = k->next) {
        k->rc = 0;
        draft_wait(k->value);
        durable_wait(k->value);
        if (k->what == PUT_APART && is_lost(k->value)) k->what = CLOSE;
        if (k->what == PUT_APART) put_apart(k);
    }
    drop_all();
    for (struct kept *k = work.next; k != &work; k = k->next)
        if (k->what == CLOSE || (k->what == DROP && k->rc != TAMIS_EBUSY))
            (void)tamis_filter_close(k->value->filter); /* before a drop, this would bring it to the
                                                           disk */
}

/* Empties `work`.  Returns a list of what is to be freed. */
static struct kept *end_work(void)
{
    struct kept *done = NULL;
    for (unsigned count = 1; !entry_is_alone(&work); count++) {
        if (count % AT_ONCE == 0) registry_let_others();
        struct kept *k = entry_take(work.next);
        if (k->what != CLOSE && k->rc == TAMIS_EBUSY) {
            stuck = true;
            append(&queue, k);
        } else if (k->what == PUT_APART) {
            end_move(k);
            append(must_stay(k) ? &kept : &queue, k);
        } else if (is_tried_again(k)) {
            k->again_at = clock_ns() + ((int64_t)AGAIN_NS << (k->tries - 1));
            k->value->filter = NULL; /* do_work() has closed it */
            append(&failed, k);
        } else {
            end_move(k);
            registry_leave(k->value);
            k->next = done;
            done = k;
        }
    }
    return done;
}

/* Works for the first ones in the queue.  The caller has the mutex, which is given back meanwhile.
 */
static void work_once(void)
{
    at_work = true;
    take_in();
    if (!stuck) take_work();
    registry_unlock();
    do_work();
    registry_lock();
    struct kept *done = end_work();
    registry_tell();
    registry_unlock();
    while (done != NULL) {
        struct kept *next = done->next;
        value_free(done->value);
        RedisModule_Free(done);
        done = next;
    }
    registry_lock();
    at_work = false;
    registry_tell();
}

static bool has_work(void)
{
    return is_going() || (!stuck && !entry_is_alone(&queue));
}

static void *thread_main(void *unused)
{
    registry_lock();
    for (;;) {
        while (!has_work() && !renames_are_wanted())
            registry_wait();
        if (has_work())
            work_once(); /* first, as who goes may have the name that another one wants */
        else
            renames_work_once(find_gone);
        registry_unlock();
        /* The lock of the store goes to who asks first.  A command that waits for it asks every
         * half millisecond. */
        (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        registry_lock();
    }
    return unused;
}

/* Without a thread, does its work. */
void kept_wake(void)
{
    if (!running) running = thread_start(thread_main, NULL);
    while (!running && !at_work && has_work())
        work_once();
    while (!running && renames_are_wanted())
        renames_work_once(find_gone);
    registry_tell();
}

/* Puts those into the queue that failed, if it is time, or at once. */
static void try_failed_again(bool at_once)
{
    const int64_t now = entry_is_alone(&failed) ? 0 : clock_ns();
    for (struct kept *k = failed.next, *next; k != &failed; k = next) {
        next = k->next;
        if (at_once || k->again_at <= now) append(&queue, entry_take(k));
    }
}

void kept_try_again(void)
{
    registry_lock();
    stuck = false;
    try_failed_again(false);
    kept_wake();
    registry_unlock();
}

size_t kept_finish(void)
{
    size_t left = 0;
    registry_lock();
    try_failed_again(true);
    kept_wake();
    while (at_work || has_work() || renames_are_wanted() || renames_are_at_work())
        registry_wait();
    for (const struct kept *k = queue.next; k != &queue; k = k->next)
        left++;
    for (const struct kept *k = failed.next; k != &failed; k = k->next)
        left++;
    registry_unlock();
    return left;
}

/* ---- Going ----------------------------------------------------------------------------------- */

/* Puts it on the stack, and wakes the thread if that may have seen the stack empty. */
static void push(struct kept *k)
{
    struct kept *top = __atomic_load_n(&going, __ATOMIC_RELAXED);
    do
        k->next = top;
    /* ORDER release: take_in() sees the whole of it. */
    while (!__atomic_compare_exchange_n(&going, &top, k, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    if (top != NULL) return;
    registry_lock();
    kept_wake();
    registry_unlock();
}

void kept_release(struct value *value)
{
    /* ORDER relaxed: the main thread makes drafts.  If another one that frees a value does not see
     * that the draft is gone, or sees it too late, take_in_one() deals with it. */
    const bool has_draft = __atomic_load_n(&value->draft, __ATOMIC_RELAXED) != NULL;
    if (!value_is_stored(value) &&
        cuckoo_size_bytes(&value->cuckoo) + value->arrived < SMALL_BYTES) {
        recent_forget(value);
        value_free(value);
        return;
    }
    struct kept *k = entry_new(value);
    /* A draft of a database that is emptied is forgotten before.  The store may have another filter
     * of its name. */
    k->is_nowhere = (has_draft && draft_forget(value)) || value->is_nowhere;
    k->is_noted = !k->is_nowhere && value_is_stored(value) && value_is_ours(value) &&
                  moves_note_gone(value->created_at);
    moves_forget(value);
    /* ORDER relaxed: a dump that begins, or a child that is born, while another thread frees what
     * went before it may count as earlier: then the filter is kept for longer. */
    k->number = __atomic_fetch_add(&gone, 1, __ATOMIC_RELAXED);
    k->child = __atomic_load_n(&child, __ATOMIC_RELAXED);
    registry_goes(value, k);
    push(k);
}

void kept_drop(const char *name, int64_t created_at, uint32_t kind)
{
    struct value *value =
        value_new(tamis_kind_has(kind, TAMIS_KIND_COUNTS) ? TYPE_CUCKOO : TYPE_BLOOM);
    value_set_name(value, name);
    value->life = LIFE_FOUND;
    value->kind = kind;
    value->created_at = created_at;
    struct kept *k = entry_new(value);
    k->has_no_key = true;
    registry_goes(value, k);
    push(k);
}

void kept_pin(struct value *value)
{
    registry_lock();
    value->pins++;
    registry_unlock();
}

void kept_unpin(struct value *value)
{
    registry_lock();
    if (--value->pins == 0) {
        look_again();
        kept_wake();
    }
    registry_unlock();
}

void kept_pin_named(struct value *value)
{
    registry_lock();
    value->pins++;
    value->keeps_name++;
    registry_unlock();
}

void kept_unpin_named(struct value *value)
{
    char name[NAME_ROOM];
    registry_lock();
    if (--value->keeps_name == 0 && value->link != NULL) {
        if (renames_misnamed(value, name))
            renames_put(value);
        else if (!renames_have(value))
            moves_forget(value);
        kept_wake();
    }
    registry_unlock();
    kept_unpin(value);
}

void kept_hold(bool child_is_active, bool dumps_refer)
{
    registry_lock();
    const bool fewer = (child != 0 && !child_is_active) || (dumps && !dumps_refer);
    children += child == 0 && child_is_active;
    __atomic_store_n(&child, child_is_active ? children : 0, __ATOMIC_RELAXED);
    dumps = dumps_refer;
    if (fewer) look_again();
    registry_unlock();
}

void kept_dump_begins(void)
{
    registry_lock();
    gone_before = __atomic_load_n(&gone, __ATOMIC_RELAXED);
    registry_unlock();
}

void kept_dump_ends(bool well)
{
    registry_lock();
    if (well && released != gone_before) {
        released = gone_before;
        look_again();
    }
    registry_unlock();
}

bool kept_makes_way(const char *name)
{
    char apart[NAME_ROOM];
    struct value *found = find_gone(name);
    name_apart(NAME_TRASH, apart);
    return found != NULL && registry_rename(found, apart) == 0;
}

bool kept_give_up_name(const char *name, bool waits)
{
    registry_lock();
    renames_wait_for_thread();
    while (find(name, true) != NULL ||
           (waits && find(name, false) != NULL && (at_work || has_work())))
        registry_wait();
    const bool gives_up = find(name, false) == NULL || kept_makes_way(name);
    registry_unlock();
    return gives_up;
}

/* ---- Back again ------------------------------------------------------------------------------ */

/* Opens the filter of another value, which another thread will free.  From now on that value does
 * not drop the filter. */
static bool open_beside(int64_t created_at, struct value *value)
{
    struct value *v = registry_find_time(created_at);
    if (v == NULL || tamis_filter_open(registry_store(), v->name, 0, &value->filter) < 0)
        return false;
    value_set_name(value, v->name);
    if (!value_is_ours(v)) value->life = LIFE_OTHERS;
    registry_set_life(v, LIFE_LEFT);
    return true;
}

/* Takes a filter off the lists.  Returns what had it, which is to be freed, or NULL. */
static struct kept *take_back(int64_t created_at, struct value *value)
{
    renames_wait_for_thread();
    kept_wake();
    while (is_going() || find_time(created_at, true) != NULL)
        registry_wait();
    struct kept *found = find_time(created_at, false);
    if (found != NULL) draft_wait(found->value);
    if (found == NULL || value_open_alone(found->value) < 0 || is_lost(found->value)) return NULL;
    registry_leave(found->value);
    durable_wait(found->value);
    end_move(found);
    value->filter = found->value->filter;
    value_set_name(value, found->value->name);
    return entry_take(found);
}

bool kept_take_back(int64_t created_at, bool about_to_go, struct value *value)
{
    registry_lock();
    struct kept *found = take_back(created_at, value);
    const bool taken = found != NULL || (about_to_go && open_beside(created_at, value));
    registry_unlock();
    if (found != NULL) value_free(found->value);
    RedisModule_Free(found);
    return taken;
}
