/* SPDX-License-Identifier: BSD-2-Clause */
/* renames.c: see renames.h. */
#include "kept/renames.h"

#include <string.h>

#include "registry/registry.h"
#include "value/handles.h"

/* Values whose filters wait for the thread, and the one whose filter it renames just now.  Here and
 * below, the registry's mutex guards what is static. */
static struct value *first, **last = &first;
static const struct value *in_work;
static bool is_held; /* the thread renames nothing */
static bool stuck;   /* the catalog was busy, or the disk failed */
static bool left;    /* the main thread must look at all filters that do not wait */

/* ---- Waiting for the thread ------------------------------------------------------------------ */

bool renames_misnamed(const struct value *value, char name[NAME_ROOM])
{
    if (!value_is_ours(value)) return false;
    name_of_key(value->db, value->key, value->key_bytes, name);
    return strcmp(name, value->name) != 0;
}

static void put_first(struct value *value)
{
    value->later = first;
    value->later_link = &first;
    if (first != NULL)
        first->later_link = &value->later;
    else
        last = &value->later;
    first = value;
}

void renames_put(struct value *value)
{
    if (value->later_link != NULL) return;
    value->later = NULL;
    value->later_link = last;
    *last = value;
    last = &value->later;
}

void renames_forget(struct value *value)
{
    if (value->later_link == NULL) return;
    *value->later_link = value->later;
    if (value->later != NULL)
        value->later->later_link = value->later_link;
    else
        last = value->later_link;
    value->later_link = NULL;
}

bool renames_are_wanted(void)
{
    return first != NULL && !stuck && !is_held;
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
    return (value->later_link != NULL && !stuck) || in_work == value;
}

bool renames_have(const struct value *value)
{
    return value->later_link != NULL || in_work == value;
}

bool renames_try_again(void)
{
    const bool was_left = left;
    stuck = left = false;
    return was_left;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Gives the filter another name.  The mutex is given back meanwhile.  Until it is given back the
 * next time, the value exists. */
static int rename_unlocked(struct value *value, const char *to)
{
    char from[NAME_ROOM];
    (void)strcpy(from, value->name);
    in_work = value;
    registry_unlock();
    const int rc = tamis_filter_rename(registry_store(), from, to);
    registry_lock();
    if (rc == 0) handles_rename(value, to);
    in_work = NULL;
    registry_tell();
    return rc;
}

/* If a filter of ours has the name, renames it apart.  Leftovers are up to the main thread. */
static bool make_way_unlocked(const char *name, find_fn *find_gone)
{
    char apart[NAME_ROOM];
    struct value *owner = registry_find(name), *gone = NULL;
    if (owner != NULL && !value_is_ours(owner)) return false;
    if (owner == NULL) gone = find_gone(name);
    if (owner == NULL && gone == NULL) return false;
    if (owner != NULL) renames_put(owner);
    name_apart(owner != NULL ? NAME_ASIDE : NAME_TRASH, apart);
    return rename_unlocked(owner != NULL ? owner : gone, apart) == 0;
}

/* The value may be gone by now. */
static void leave_to_main(const struct value *value)
{
    struct value *v = first;
    while (v != NULL && v != value)
        v = v->later;
    if (v != NULL) renames_forget(v);
    left = true;
}

void renames_work_once(find_fn *find_gone)
{
    struct value *value = first;
    char name[NAME_ROOM];
    renames_forget(value);
    if (!renames_misnamed(value, name)) return;
    const int rc = rename_unlocked(value, name);
    if (rc == 0 || value->link == NULL) return; /* its key is gone */
    if (rc == TAMIS_EEXIST) {
        if (value->later_link == NULL) put_first(value);
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
