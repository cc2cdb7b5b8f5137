/* SPDX-License-Identifier: BSD-2-Clause */
/* leftovers.c: see leftovers.h. */
#include "kept/leftovers.h"

#include <string.h>

#include "registry/registry.h"

static struct leftover *leftovers;
static bool finished; /* leftovers_close() */

static int read_one(void *context, const struct tamis_filter_stat *stat)
{
    struct leftover ***end = context;
    struct leftover *l = RedisModule_Calloc(1, sizeof *l);
    (void)strcpy(l->was, stat->name);
    (void)strcpy(l->name, stat->name);
    l->created_at = stat->created_at;
    l->kind = stat->kind;
    l->owned = (stat->flags & TAMIS_FILTER_OWNED) != 0;
    **end = l;
    *end = &l->next;
    return 0;
}

static void forget_leftover(struct leftover **link)
{
    struct leftover *l = *link;
    *link = l->next;
    RedisModule_Free(l);
}

void leftovers_read(void)
{
    struct leftover **end = &leftovers;
    if (tamis_store_list(registry_store(), NULL, read_one, &end) < 0)
        RedisModule_Log(NULL, "warning", "the store's filters cannot be listed: %s",
                        tamis_last_error());
}

bool leftovers_are_open(void)
{
    return !finished;
}

/* Opens a leftover for a value.  One of others stays on the list: it may have several keys. */
static bool take_leftover(struct leftover **link, struct value *value)
{
    const struct leftover *l = *link;
    if (tamis_filter_open(registry_store(), l->name, 0, &value->filter) < 0) return false;
    (void)strcpy(value->name, l->name);
    /* The store says whose filter this is, whatever a dump says: only what is ours is dropped. */
    value->life = l->owned ? LIFE_FOUND : LIFE_OTHERS;
    if (l->owned) forget_leftover(link);
    return true;
}

bool leftovers_take(int64_t created_at, struct value *value)
{
    for (struct leftover **link = &leftovers; *link != NULL; link = &(*link)->next)
        if ((*link)->created_at == created_at) return take_leftover(link, value);
    return false;
}

/* The name of the filter of others that was made at that time. */
struct sought {
    int64_t created_at;
    char name[NAME_ROOM];
};

static int seek_one(void *context, const struct tamis_filter_stat *stat)
{
    struct sought *sought = context;
    if (stat->created_at == sought->created_at && (stat->flags & TAMIS_FILTER_OWNED) == 0)
        (void)strcpy(sought->name, stat->name);
    return 0;
}

bool leftovers_take_others(int64_t created_at, struct value *value)
{
    struct sought sought = {.created_at = created_at};
    if (tamis_store_list(registry_store(), NULL, seek_one, &sought) < 0 || *sought.name == '\0' ||
        tamis_filter_open(registry_store(), sought.name, 0, &value->filter) < 0)
        return false;
    (void)strcpy(value->name, sought.name);
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
    for (struct leftover **link = &leftovers; *link != NULL; link = &(*link)->next)
        if ((*link)->owned && strcmp((*link)->name, name) == 0)
            return leftovers_origin(*link) == origin && take_leftover(link, value);
    return false;
}

bool leftovers_make_way(const char *name)
{
    char apart[NAME_ROOM];
    for (struct leftover *l = leftovers; l != NULL; l = l->next) {
        if (!l->owned || strcmp(l->name, name) != 0) continue;
        name_apart(NAME_ORPHAN, apart);
        if (tamis_filter_rename(registry_store(), l->name, apart) < 0) return false;
        (void)strcpy(l->name, apart);
        return true;
    }
    return false;
}

void leftovers_set_heir(const char *was, int64_t created_at)
{
    for (struct leftover *l = leftovers; l != NULL; l = l->next)
        if (l->owned && l->heir == 0 && strcmp(l->was, was) == 0) l->heir = created_at;
}

void leftovers_take_off(bool (*is_done)(void *context, struct leftover *), void *context)
{
    for (struct leftover **link = &leftovers; *link != NULL;) {
        if (is_done(context, *link))
            forget_leftover(link);
        else
            link = &(*link)->next;
    }
}

bool leftovers_close(void)
{
    if (finished) return false;
    finished = true;
    return true;
}

void leftovers_tell_orphan(RedisModuleCtx *ctx, struct leftover *l)
{
    if (strcmp(l->was, l->name) != 0 && tamis_filter_rename(registry_store(), l->name, l->was) == 0)
        (void)strcpy(l->name, l->was);
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

void leftovers_forget(const char *name)
{
    for (struct leftover **link = &leftovers; *link != NULL; link = &(*link)->next) {
        if (strcmp((*link)->name, name) != 0) continue;
        forget_leftover(link);
        return;
    }
}

int orphans_drop(const char *name)
{
    for (struct leftover **link = &leftovers; finished && *link != NULL; link = &(*link)->next) {
        if (strcmp((*link)->name, name) != 0) continue;
        const int rc = tamis_filter_drop(registry_store(), name);
        if (rc == 0 || rc == TAMIS_ENOTFOUND) forget_leftover(link);
        return rc == TAMIS_ENOTFOUND ? 0 : rc;
    }
    return TAMIS_ENOTFOUND;
}
