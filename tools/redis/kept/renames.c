/* SPDX-License-Identifier: BSD-2-Clause */
/* renames.c: see renames.h. */
#include "kept/renames.h"

#include <string.h>

#include "kept/moves.h"
#include "registry/registry.h"
#include "value/handles.h"

/* Here and below, the registry's mutex guards what is static. */
struct queue {
    struct value *first, **last;
};
/* Values whose filters wait for the thread, those that it has left to the main thread, and those of
 * drafts, which have no filter yet. */
enum { WAITING, LEFT, DRAFTS, QUEUES };
static struct queue queues[QUEUES] = {[WAITING] = {.last = &queues[WAITING].first},
                                      [LEFT] = {.last = &queues[LEFT].first},
                                      [DRAFTS] = {.last = &queues[DRAFTS].first}};
static const struct value *in_work; /* the thread renames its filter just now */
static bool is_held;                /* the thread renames nothing */
static bool stuck;                  /* the catalog was busy, or the disk failed */

/* ---- The queues ------------------------------------------------------------------------------ */

static void append(unsigned number, struct value *value)
{
    struct queue *queue = &queues[number];
    value->later = NULL;
    value->later_link = queue->last;
    *queue->last = value;
    queue->last = &value->later;
    value->queue = (uint8_t)number;
}

static void put_first(struct value *value)
{
    value->later = queues[WAITING].first;
    value->later_link = &queues[WAITING].first;
    if (queues[WAITING].first != NULL)
        queues[WAITING].first->later_link = &value->later;
    else
        queues[WAITING].last = &value->later;
    queues[WAITING].first = value;
    value->queue = WAITING;
}

void renames_forget(struct value *value)
{
    if (value->later_link == NULL) return;
    *value->later_link = value->later;
    if (value->later != NULL)
        value->later->later_link = value->later_link;
    else
        queues[value->queue].last = value->later_link;
    value->later_link = NULL;
}

static bool is_waiting(const struct value *value)
{
    return value->later_link != NULL && value->queue == WAITING;
}

void renames_put(struct value *value)
{
    if (is_waiting(value)) return;
    renames_forget(value);
    append(WAITING, value);
}

void renames_leave(struct value *value)
{
    if (value->later_link == NULL && value->link != NULL) append(LEFT, value);
}

void renames_put_draft(struct value *value)
{
    renames_forget(value);
    append(DRAFTS, value);
}

/* ORDER relaxed: the main thread makes and ends drafts, and renames_take_made() looks again. */
static bool has_draft(const struct value *value)
{
    return __atomic_load_n(&value->draft, __ATOMIC_RELAXED) != NULL;
}

void renames_take_made(void)
{
    for (struct value *v = queues[DRAFTS].first, *next; v != NULL; v = next) {
        next = v->later;
        if (!has_draft(v)) renames_put(v);
    }
}

bool renames_have_left(void)
{
    return queues[LEFT].first != NULL;
}

struct value *renames_take_left(void)
{
    struct value *value = queues[LEFT].first;
    if (value != NULL) renames_forget(value);
    return value;
}

/* ---- Waiting for the thread ------------------------------------------------------------------ */

bool renames_misnamed(const struct value *value, char name[NAME_ROOM])
{
    char has[NAME_ROOM];
    if (!value_is_ours(value) || value_is_over(value)) return false;
    if (value->keeps_name > 0) return false; /* later: kept_unpin_named() */
    name_of_key(value->db, value->key, value->key_bytes, name);
    handles_name(value, has); /* drafts.c may be about to change it */
    return strcmp(name, has) != 0;
}

bool renames_are_wanted(void)
{
    return queues[WAITING].first != NULL && !stuck && !is_held;
}

void renames_hold(bool held)
{
    is_held = held;
    if (held) renames_wait_for_thread();
}

bool renames_are_at_work(void)
{
    return in_work != NULL;
}

void renames_wait_for_thread(void)
{
    while (in_work != NULL)
        registry_wait();
}

bool renames_are_awaited(const struct value *value)
{
    if (value == NULL) return renames_are_wanted() || in_work != NULL;
    return (is_waiting(value) && !stuck) || in_work == value;
}

bool renames_have(const struct value *value)
{
    return is_waiting(value) || in_work == value;
}

void renames_try_again(void)
{
    stuck = false;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Gives the filter another name.  The mutex is given back meanwhile.  Until it is given back the
 * next time, the value exists. */
static int rename_unlocked(struct value *value, const char *to)
{
    char from[NAME_ROOM];
    handles_name(value, from);
    in_work = value;
    registry_unlock();
    const int rc = tamis_filter_rename(registry_store(), from, to);
    registry_lock();
    if (rc == 0) registry_set_name(value, to);
    in_work = NULL;
    registry_tell();
    return rc;
}

/* If a filter of ours has the name, renames it apart.  Leftovers are up to the main thread. */
static bool make_way_unlocked(const char *name, find_fn *find_gone)
{
    char apart[NAME_ROOM];
    struct value *owner = registry_find(name), *gone = NULL;
    if (owner != NULL && (!value_is_ours(owner) || owner->keeps_name > 0 || has_draft(owner)))
        return false;
    if (owner == NULL) gone = find_gone(name);
    if (owner == NULL && gone == NULL) return false;
    if (owner != NULL) renames_put(owner);
    name_apart(owner != NULL ? NAME_ASIDE : NAME_TRASH, apart);
    return rename_unlocked(owner != NULL ? owner : gone, apart) == 0;
}

/* The value may be gone by now. */
static void leave_to_main(const struct value *value)
{
    struct value *v = queues[WAITING].first;
    while (v != NULL && v != value)
        v = v->later;
    if (v == NULL) return;
    renames_forget(v);
    renames_leave(v);
}

void renames_work_once(find_fn *find_gone)
{
    struct value *value = queues[WAITING].first;
    char name[NAME_ROOM];
    renames_forget(value);
    if (!renames_misnamed(value, name)) {
        moves_forget(value);
        registry_tell(); /* who waits for the names waits for this one, too */
        return;
    }
    const int rc = rename_unlocked(value, name);
    if (rc == 0 && !is_waiting(value)) moves_forget(value);
    if (rc == 0 || value->link == NULL) return; /* its key is gone */
    if (rc == TAMIS_EEXIST) {
        if (!is_waiting(value)) {
            renames_forget(value);
            put_first(value);
        }
        if (make_way_unlocked(name, find_gone)) return;
        leave_to_main(value);
        return;
    }
    if (rc != TAMIS_EBUSY)
        RedisModule_Log(NULL, "warning", "the filter '%s' does not get the name '%s' now: %s",
                        value->name, name, tamis_last_error());
    renames_put(value);
    stuck = true; /* until renames_try_again() */
}
