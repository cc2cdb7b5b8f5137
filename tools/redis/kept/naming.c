/* SPDX-License-Identifier: BSD-2-Clause */
/* naming.c: see naming.h. */
#include "kept/naming.h"

#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/making.h"
#include "kept/moves.h"
#include "kept/renames.h"
#include "registry/registry.h"
#include "server/clock.h"
#include "server/config.h"
#include "value/drafts.h"
#include "value/durable.h"
#include "value/handles.h"

/* What one call of naming_try_again() does at most. */
#define TRIES_AT_ONCE 64
#define NS_AT_ONCE 3000000

/* If a filter of ours has the name, renames it apart.  Returns whether one had it. */
static bool make_way(const char *name)
{
    char apart[NAME_ROOM];
    struct value *owner = registry_find(name);
    if (owner == NULL)
        return kept_makes_way(name) || making_makes_way(name) || leftovers_make_way(name);
    if (!value_is_ours(owner) || owner->keeps_name > 0 || owner->draft != NULL) return false;
    name_apart(NAME_ASIDE, apart);
    if (registry_rename(owner, apart) < 0) return false;
    moves_note_name(owner);
    renames_leave(owner);
    return true;
}

/* Gives the filter the name of its key.  What cannot be done now is left for later. */
static void settle_now(struct value *value)
{
    char name[NAME_ROOM];
    renames_wait_for_thread();
    int rc = renames_misnamed(value, name) ? registry_rename(value, name) : 0;
    if (rc == TAMIS_EEXIST) leftovers_set_renamed(name, value->created_at);
    if (rc == TAMIS_EEXIST && make_way(name)) rc = registry_rename(value, name);
    if (rc < 0)
        renames_leave(value);
    else if (value->keeps_name == 0)
        moves_forget(value);
}

/* Has no value a filter of that name, and nobody else one in the store?  One that is held stays out
 * of the store while a leftover has the name. */
static bool is_free(const struct value *value, const char *name)
{
    return registry_find(name) == NULL && ((draft_is_held(value) && leftovers_keep_name(name)) ||
                                           tamis_filter_exists(registry_store(), name) == 0);
}

/* Renames a draft in memory, if nobody has the name, and the thread that makes filters has not the
 * draft.  Else its filter is renamed when it is made. */
static void settle_draft(struct value *value)
{
    char name[NAME_ROOM];
    const bool misnamed = renames_misnamed(value, name);
    if (misnamed || moves_has_name_of(value)) moves_note_name(value);
    if (!misnamed) return;
    leftovers_set_renamed(name, value->created_at);
    if (!is_free(value, name) || !draft_rename(value, name))
        renames_put_draft(value);
    else
        moves_forget(value); /* a filter of an earlier name is never made */
}

/* Lets the thread do that.  While the server loads what it had, all is done at once. */
static void settle(struct value *value)
{
    char name[NAME_ROOM];
    if (value->draft != NULL) {
        settle_draft(value);
        return;
    }
    if (leftovers_are_open()) {
        settle_now(value);
        return;
    }
    const bool moves = renames_misnamed(value, name) || renames_have(value);
    if (moves || value->keeps_name > 0) moves_note_name(value);
    if (moves) {
        renames_put(value);
        kept_wake();
    }
}

void naming_make_way(const char *name)
{
    naming_go_on(); /* the threads that are waited for may wait for a rename */
    making_wait(name);
    naming_hold();
    (void)kept_give_up_name(name, false);
    registry_lock();
    renames_wait_for_thread();
    (void)make_way(name);
    registry_unlock();
}

void naming_moves_orphan(const char *name)
{
    registry_lock();
    (void)leftovers_make_way(name);
    registry_unlock();
}

void naming_hold(void)
{
    registry_lock();
    renames_hold(true);
    registry_unlock();
}

void naming_go_on(void)
{
    registry_lock();
    renames_hold(false);
    if (renames_are_wanted()) kept_wake();
    registry_unlock();
}

void naming_adopt(struct value *value, int db, const char *key, size_t key_bytes)
{
    registry_lock();
    registry_set_key(value, db, key, key_bytes);
    registry_enter(value);
    moves_note_key(value);
    settle(value);
    registry_unlock();
}

/* Must drafts come into the store before they are renamed? */
static bool enters_drafts(void)
{
    return config.make == MAKE_SYNC || leftovers_are_open();
}

void naming_follow(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value->link == NULL) return; /* it is in memory: exact.h */
    if (value->draft != NULL && enters_drafts()) (void)drafts_enter();
    registry_lock();
    registry_set_key(value, db, key, key_bytes);
    moves_note_key(value); /* its database may be one that was emptied just before */
    settle(value);
    registry_unlock();
}

void naming_replace(struct value *value, const char *name, tamis_filter *filter)
{
    const uint32_t expansion = value->expansion;
    char before[NAME_ROOM];
    durable_wait(value);
    registry_lock();
    renames_wait_for_thread();
    registry_leave(value);
    (void)strcpy(before, value->name);
    const int64_t created_at = value->created_at;
    tamis_filter_release(value->filter); /* a close would bring it to the disk */
    value->filter = filter;
    value->life = LIFE_FOUND;
    value_set_name(value, name);
    if (value_describe(value) == 0) value->expansion = expansion;
    registry_enter(value);
    settle(value);
    registry_unlock();
    kept_drop(before, created_at, value->kind);
}

void naming_replace_draft(struct value *value, const struct leftover *l, int64_t origin)
{
    registry_lock();
    registry_leave(value);
    (void)draft_forget(value);
    value_set_name(value, l->name);
    value->life = LIFE_FOUND;
    value->created_at = l->created_at;
    value->origin = origin;
    value->known = l->known;
    registry_enter(value);
    settle(value);
    registry_unlock();
}

void naming_settle(struct value *value)
{
    registry_lock();
    settle(value);
    registry_unlock();
}

void naming_swap(int a, int b)
{
    if (enters_drafts()) (void)drafts_enter();
    registry_lock();
    if (leftovers_are_open()) renames_wait_for_thread();
    for (struct value *v = registry_first(); v != NULL; v = v->next)
        if (v->db == a || v->db == b) v->db = v->db == a ? b : a;
    moves_note_swap(a, b);
    for (struct value *v = registry_first(); v != NULL; v = v->next)
        if ((v->db == a || v->db == b) && !value_is_over(v)) settle(v);
    registry_unlock();
}

/* Drafts that came into the store under names apart get those of their keys. */
static void settle_apart(void)
{
    int64_t created_at;
    while ((created_at = drafts_next_apart()) != 0) {
        struct value *value = registry_find_time(created_at);
        if (value != NULL && value->draft == NULL) settle(value);
    }
}

void naming_try_again(void)
{
    const int64_t end_ns = clock_ns() + NS_AT_ONCE;
    registry_lock();
    settle_apart();
    renames_take_made();
    renames_try_again();
    kept_wake();
    if (renames_have_left()) renames_wait_for_thread(); /* then the mutex is not given back below */
    for (int tries = TRIES_AT_ONCE; tries > 0 && clock_ns() < end_ns; tries--) {
        struct value *value = renames_take_left();
        if (value == NULL) break;
        settle_now(value); /* which may leave it again, behind the others */
    }
    registry_unlock();
}

/* The caller has the mutex, which is given back meanwhile. */
static void wait_for(const struct value *value)
{
    renames_take_made();
    kept_wake();
    while (renames_are_awaited(value))
        registry_wait();
}

void naming_wait(const struct value *value)
{
    registry_lock();
    wait_for(value);
    registry_unlock();
}

void naming_keep(struct value *value)
{
    registry_lock();
    wait_for(value);
    value->pins++;
    value->keeps_name++;
    registry_unlock();
}
