/* SPDX-License-Identifier: BSD-2-Clause */
/* leftovers.c: see leftovers.h. */
#include "kept/leftovers.h"

#include <string.h>

#include "registry/registry.h"
#include "value/durable.h"
#include "value/handles.h"

#define TOLD_MAX 100

static struct leftover *leftovers, **last = &leftovers;
static struct table names, times;
static struct leftover *taken; /* orphan_take() */
static bool finished;          /* leftovers_close() */
static int64_t newest;         /* created_at, of all */

/* ---- The list -------------------------------------------------------------------------------- */

static void append(struct leftover *l)
{
    l->next = NULL;
    l->link = last;
    *last = l;
    last = &l->next;
}

static void take_off(const struct leftover *l)
{
    *l->link = l->next;
    if (l->next != NULL)
        l->next->link = l->link;
    else
        last = l->link;
}

static void put_name(struct leftover *l)
{
    table_put(&names, &l->by_name, hash_of_bytes(l->name, strlen(l->name)));
}

/* The caller has renamed the filter. */
static void set_name(struct leftover *l, const char *name)
{
    table_take(&names, &l->by_name);
    if (l->name != l->was) RedisModule_Free(l->name);
    l->name = strcmp(name, l->was) == 0 ? l->was : RedisModule_Strdup(name);
    put_name(l);
}

/* Takes it off the list and the tables. */
static void leave(struct leftover *l)
{
    take_off(l);
    table_take(&names, &l->by_name);
    table_take(&times, &l->by_time);
}

static void free_one(struct leftover *l)
{
    if (l->name != l->was) RedisModule_Free(l->name);
    RedisModule_Free(l->to);
    RedisModule_Free(l->perhaps);
    RedisModule_Free(l->was);
    RedisModule_Free(l);
}

void leftovers_forget_one(struct leftover *l)
{
    leave(l);
    free_one(l);
}

void leftovers_put_last(struct leftover *l)
{
    take_off(l);
    append(l);
}

struct leftover *leftovers_first(void)
{
    return leftovers;
}

static struct leftover *find(const char *name)
{
    const struct node *node = table_find(&names, hash_of_bytes(name, strlen(name)));
    for (; node != NULL; node = table_find_next(node)) {
        struct leftover *l = NODE_OF(struct leftover, by_name, node);
        if (strcmp(l->name, name) == 0) return l;
    }
    return NULL;
}

/* The same by its time of creation. */
static struct leftover *find_time(int64_t created_at)
{
    const struct node *node = table_find(&times, hash_of_time(created_at));
    for (; node != NULL; node = table_find_next(node)) {
        struct leftover *l = NODE_OF(struct leftover, by_time, node);
        if (l->created_at == created_at) return l;
    }
    return NULL;
}

static int read_one(void *context, const struct tamis_filter_stat *stat)
{
    struct leftover *l = RedisModule_Calloc(1, sizeof *l);
    (void)context;
    l->was = l->name = RedisModule_Strdup(stat->name);
    l->created_at = stat->created_at;
    l->kind = stat->kind;
    l->owned = (stat->flags & TAMIS_FILTER_OWNED) != 0;
    l->durable = (stat->flags & TAMIS_FILTER_DURABLE) != 0;
    l->exact = value_is_of_redisbloom(stat);
    l->has_rule = strcmp(stat->key_rule, "bytes") != 0;
    l->refuses = stat->on_full == TAMIS_ON_FULL_REFUSE;
    l->known = known_from(stat);
    l->capacity = stat->capacity;
    l->fp_rate = stat->fp_rate;
    const struct moved moved = moves_of(l->created_at, l->name);
    l->gone = moved.gone;
    l->is_behind = moved.is_behind;
    l->is_of_load = moved.is_of_load;
    if (l->created_at > newest) newest = l->created_at;
    l->to = moved.to != NULL ? RedisModule_Strdup(moved.to) : NULL;
    l->perhaps = moved.perhaps != NULL ? RedisModule_Strdup(moved.perhaps) : NULL;
    append(l);
    put_name(l);
    table_put(&times, &l->by_time, hash_of_time(l->created_at));
    return 0;
}

void leftovers_read(void)
{
    moves_open();
    durable_watch(moves_note_adds, moves_end);
    if (tamis_store_list(registry_store(), NULL, read_one, NULL) < 0)
        RedisModule_Log(NULL, "warning", "the store's filters cannot be listed: %s",
                        tamis_last_error());
    moves_let_go();
}

void leftovers_loading(void)
{
    static bool noted;
    if (noted || finished) return;
    noted = true;
    names_while_loading(true);
    if (registry_store() != NULL) moves_note_load(newest);
}

bool leftovers_are_open(void)
{
    return !finished;
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* Gives a leftover to a value.  One of others stays on the list: it may have several keys. */
static bool take(struct leftover *l, struct value *value)
{
    value_set_name(value, l->name);
    /* The store says whose filter this is, whatever a dump says: only what is ours is dropped. */
    value->life = l->owned ? LIFE_FOUND : LIFE_OTHERS;
    value->created_at = l->created_at;
    value->kind = l->kind;
    value->durable = l->durable;
    value->exact = l->exact;
    value->expansion = l->refuses ? 0 : 2;
    value->known = l->known;
    if (l->owned) leftovers_forget_one(l);
    return true;
}

bool leftovers_take(int64_t created_at, struct value *value)
{
    struct leftover *l = find_time(created_at);
    return l != NULL && take(l, value);
}

bool leftovers_take_others(int64_t created_at, struct value *value)
{
    const struct leftover *l = find_time(created_at);
    char name[NAME_ROOM];
    (void)strcpy(name, l != NULL ? l->name : "");
    if (handles_open_created(created_at, false, name, 0, &value->filter) < 0) return false;
    value_set_name(value, name);
    value->life = LIFE_OTHERS;
    return true;
}

int64_t leftovers_origin(struct leftover *l)
{
    struct tamis_segment_stat first = {.size = sizeof first};
    tamis_filter *filter = NULL;
    if (l->origin != 0) return l->origin;
    const bool known =
        tamis_filter_open(registry_store(), l->name, TAMIS_READ_ONLY, &filter) == 0 &&
        tamis_filter_segment(filter, 0, &first) == 0;
    (void)tamis_filter_close(filter);
    l->origin = known ? first.created_at : -1;
    return l->origin;
}

bool leftovers_take_counts(const char *name, int64_t origin, struct value *value)
{
    struct leftover *l = find(name);
    return l != NULL && l->owned && leftovers_origin(l) == origin && take(l, value);
}

bool leftovers_keep_name(const char *name)
{
    const struct leftover *l = finished ? NULL : find(name);
    return l != NULL && l->owned;
}

bool leftovers_make_way(const char *name)
{
    char apart[NAME_ROOM];
    struct leftover *l = finished ? find(name) : NULL;
    if (l == NULL || !l->owned) return false;
    name_apart(NAME_ORPHAN, apart);
    if (tamis_filter_rename(registry_store(), l->name, apart) < 0) return false;
    set_name(l, apart);
    return true;
}

void leftovers_set_heir(const char *name, int64_t created_at)
{
    struct leftover *l = find(name);
    if (l != NULL && l->owned && l->heir == 0) l->heir = created_at;
}

void leftovers_set_renamed(const char *name, int64_t created_at)
{
    struct leftover *l = finished ? NULL : find(name);
    if (l != NULL && l->owned && l->is_of_load && l->heir == 0) l->heir = created_at;
}

void leftovers_take_off(bool (*is_done)(void *context, struct leftover *), void *context)
{
    for (struct leftover *l = leftovers, *next; l != NULL; l = next) {
        next = l->next;
        if (is_done(context, l)) leftovers_forget_one(l);
    }
}

bool leftovers_close(void)
{
    if (finished) return false;
    finished = true;
    names_while_loading(false);
    return true;
}

/* ---- Orphans --------------------------------------------------------------------------------- */

void leftovers_tell_orphan(RedisModuleCtx *ctx, struct leftover *l)
{
    static unsigned told;
    if (++told > TOLD_MAX + 1) return;
    if (told > TOLD_MAX)
        RedisModule_Log(ctx, "warning", "there are more; TAMIS.ORPHANS LIST tells all of them");
    else
        RedisModule_Log(ctx, "warning",
                        "the filter '%s' was made for a key, and no key has it now; it stays until "
                        "TAMIS.ORPHANS DROP, or TAMIS.ATTACH makes it a key's again",
                        l->name);
}

void orphans_each(orphan_fn *fn, void *context)
{
    for (const struct leftover *l = leftovers; finished && l != NULL; l = l->next)
        fn(context, l->name, l->was);
}

uint64_t orphans_count(void)
{
    return finished ? names.count : 0;
}

void leftovers_forget(const char *name)
{
    struct leftover *l = find(name);
    if (l != NULL) leftovers_forget_one(l);
}

struct leftover *orphan_take(const char *name)
{
    struct leftover *l = finished ? find(name) : NULL;
    if (l == NULL) return NULL;
    leave(l);
    l->next = taken;
    l->link = &taken;
    if (taken != NULL) taken->link = &l->next;
    taken = l;
    return l;
}

bool orphan_is_taken(const char *name)
{
    const struct leftover *l = taken;
    while (l != NULL && strcmp(l->name, name) != 0)
        l = l->next;
    return l != NULL;
}

/* Takes it off those that are taken. */
static void give_back(const struct leftover *l)
{
    *l->link = l->next;
    if (l->next != NULL) l->next->link = l->link;
}

void orphan_put_back(struct leftover *l, const char *name)
{
    give_back(l);
    append(l);
    put_name(l);
    table_put(&times, &l->by_time, hash_of_time(l->created_at));
    if (strcmp(l->name, name) != 0) set_name(l, name);
}

void orphan_free(struct leftover *l)
{
    give_back(l);
    free_one(l);
}
