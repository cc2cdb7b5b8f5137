/* SPDX-License-Identifier: BSD-2-Clause */
/* kept.c: see kept.h.  The registry's mutex guards the list and the numbers.  No caller holds it
 * while a large filter is dropped, as that takes long. */
#include "kept/kept.h"

#include <string.h>

#include "registry/registry.h"
#include "value/durable.h"

/* kept_release() drops a filter of fewer bytes at once; kept_drop_due() drops a larger one later.
 */
#define LARGE_BYTES ((uint64_t)64 << 20)

/* A filter whose key is gone, under its name apart. */
struct kept {
    struct kept *next;
    char name[NAME_ROOM];
    int64_t created_at;
    uint64_t number;      /* how many filters went before it */
    tamis_filter *filter; /* open: closing it before the drop would bring it to the disk */
};

static struct kept *kept;
static bool child, dumps;                    /* kept_hold() */
static uint64_t gone, gone_before, released; /* how many filters went; before the dump that is being
                                                made; before one that is whole */

/* ---- Going ----------------------------------------------------------------------------------- */

/* Puts the filter of a value on the list of those that are kept, under the name that it has. */
static void put_aside(struct value *value)
{
    struct kept *k = RedisModule_Alloc(sizeof *k);
    *k = (struct kept){
        .next = kept, .created_at = value->created_at, .number = gone++, .filter = value->filter};
    (void)strcpy(k->name, value->name);
    value->filter = NULL; /* *k owns it now */
    kept = k;
}

/* Keeps the filter under a name apart; if the catalog is busy, under the name that it has.  Returns
 * false if the store has lost it already. */
static bool keep(struct value *value)
{
    char apart[NAME_ROOM];
    name_apart(NAME_TRASH, apart);
    const int rc = registry_rename(value, apart);
    if (rc < 0 && rc != TAMIS_EBUSY) return false;
    put_aside(value);
    return true;
}

/* May a dump that is being made, or one that may yet be loaded, need the filter?  Dumps never refer
 * to filters of kind counting. */
static bool must_stay(const struct value *value)
{
    return child || (dumps && !value_counts(value));
}

/* Has a local process dropped it?  Another filter may have its name by now. */
static bool is_lost(const struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return tamis_filter_stat(value->filter, &stat) == TAMIS_EDROPPED;
}

/* Drops a filter of ours, or puts it on the list of those that are kept. */
static void drop_or_keep(struct value *value)
{
    if (must_stay(value) || value_size_bytes(value) >= LARGE_BYTES)
        (void)keep(value);
    else if (registry_drop_filter(value->name) == TAMIS_EBUSY)
        put_aside(value); /* kept_drop_due() drops it later */
}

void kept_release(struct value *value)
{
    durable_wait(value);
    registry_lock();
    registry_leave(value);
    if (value_is_ours(value) && value->filter != NULL && !is_lost(value)) drop_or_keep(value);
    registry_unlock();
    (void)tamis_filter_close(value->filter); /* before a drop, this would bring it to the disk */
    value_free(value);
}

/* ---- Kept ------------------------------------------------------------------------------------ */

void kept_hold(bool child_is_active, bool dumps_refer)
{
    registry_lock();
    child = child_is_active;
    dumps = dumps_refer;
    registry_unlock();
}

void kept_dump_begins(void)
{
    registry_lock();
    gone_before = gone;
    registry_unlock();
}

void kept_dump_ends(bool well)
{
    registry_lock();
    if (well) released = gone_before;
    registry_unlock();
}

/* Takes a filter off the list that need not be kept any more.  Returns NULL if there is none. */
static struct kept *next_kept(void)
{
    registry_lock();
    struct kept **link = &kept;
    while (*link != NULL && (child || (dumps && (*link)->number >= released)))
        link = &(*link)->next;
    struct kept *k = *link;
    if (k != NULL) *link = k->next;
    registry_unlock();
    return k;
}

bool kept_drop_due(void)
{
    struct kept *k;
    while ((k = next_kept()) != NULL) {
        if (registry_drop_filter(k->name) == TAMIS_EBUSY) {
            registry_lock();
            k->next = kept;
            kept = k;
            registry_unlock();
            return false;
        }
        (void)tamis_filter_close(k->filter);
        RedisModule_Free(k);
    }
    return true;
}

bool kept_makes_way(const char *name)
{
    char apart[NAME_ROOM];
    struct kept *k = kept;
    while (k != NULL && strcmp(k->name, name) != 0)
        k = k->next;
    name_apart(NAME_TRASH, apart);
    if (k == NULL || tamis_filter_rename(registry_store(), k->name, apart) < 0) return false;
    (void)strcpy(k->name, apart);
    return true;
}

/* ---- Back again ------------------------------------------------------------------------------ */

/* Opens the filter of another value, which another thread will free.  From now on that value does
 * not drop the filter. */
static bool open_beside(int64_t created_at, struct value *value)
{
    struct value *v = registry_first();
    while (v != NULL && v->created_at != created_at)
        v = v->next;
    if (v == NULL || tamis_filter_open(registry_store(), v->name, 0, &value->filter) < 0)
        return false;
    (void)strcpy(value->name, v->name);
    if (!value_is_ours(v)) value->life = LIFE_OTHERS;
    v->life = LIFE_LEFT;
    return true;
}

bool kept_take_back(int64_t created_at, bool about_to_go, struct value *value)
{
    registry_lock();
    struct kept **link = &kept;
    while (*link != NULL && (*link)->created_at != created_at)
        link = &(*link)->next;
    struct kept *found = *link;
    if (found != NULL) {
        *link = found->next;
        value->filter = found->filter;
        (void)strcpy(value->name, found->name);
    }
    const bool taken = found != NULL || (about_to_go && open_beside(created_at, value));
    registry_unlock();
    RedisModule_Free(found);
    return taken;
}
