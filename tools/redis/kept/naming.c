/* SPDX-License-Identifier: BSD-2-Clause */
/* naming.c: see naming.h. */
#include "kept/naming.h"

#include <string.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "registry/registry.h"
#include "value/drafts.h"
#include "value/durable.h"
#include "value/handles.h"

static bool unsettled; /* a filter may have another name than its key; guarded by the mutex */

/* If a filter of ours has the name, renames it apart.  Returns whether one had it. */
static bool make_way(const char *name)
{
    char apart[NAME_ROOM];
    struct value *owner = registry_find(name);
    if (owner == NULL) return kept_makes_way(name) || leftovers_make_way(name);
    if (!value_is_ours(owner)) return false;
    name_apart(NAME_ASIDE, apart);
    if (registry_rename(owner, apart) < 0) return false;
    unsettled = true;
    return true;
}

/* Gives the filter the name of its key. */
static void settle(struct value *value)
{
    char name[NAME_ROOM];
    if (!value_is_ours(value)) return;
    name_of_key(value->db, value->key, value->key_bytes, name);
    if (strcmp(name, value->name) == 0) return;
    int rc = registry_rename(value, name);
    if (rc == TAMIS_EEXIST && make_way(name)) rc = registry_rename(value, name);
    if (rc < 0) unsettled = true;
}

void naming_make_way(const char *name)
{
    kept_give_up_name(name);
    registry_lock();
    (void)make_way(name);
    registry_unlock();
}

void naming_adopt(struct value *value, int db, const char *key, size_t key_bytes)
{
    registry_lock();
    registry_set_key(value, db, key, key_bytes);
    registry_enter(value);
    settle(value);
    registry_unlock();
}

void naming_follow(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value->link == NULL) return; /* it is in memory: exact.h */
    if (value->draft != NULL) (void)drafts_enter();
    registry_lock();
    registry_set_key(value, db, key, key_bytes);
    settle(value);
    registry_unlock();
}

void naming_replace(struct value *value, const char *name, tamis_filter *filter)
{
    const uint32_t expansion = value->expansion;
    durable_wait(value);
    registry_lock();
    handles_leave(value);
    (void)registry_drop_filter(value->name);
    (void)tamis_filter_close(value->filter); /* before the drop, this would bring it to the disk */
    value->filter = filter;
    value->life = LIFE_FOUND;
    (void)strcpy(value->name, name);
    if (value_describe(value) == 0) value->expansion = expansion;
    handles_enter(value);
    settle(value);
    registry_unlock();
}

void naming_swap(int a, int b)
{
    (void)drafts_enter();
    registry_lock();
    for (struct value *v = registry_first(); v != NULL; v = v->next)
        if (v->db == a || v->db == b) v->db = v->db == a ? b : a;
    for (struct value *v = registry_first(); v != NULL; v = v->next)
        if (v->db == a || v->db == b) settle(v);
    registry_unlock();
}

void naming_try_again(void)
{
    registry_lock();
    if (unsettled) {
        unsettled = false;
        for (struct value *v = registry_first(); v != NULL; v = v->next)
            settle(v);
    }
    registry_unlock();
}
