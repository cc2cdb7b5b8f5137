/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leftovers.c: what the store had when the server began (keeper.h).
 *
 * The last server did not drop its filters when it ended.  So the store has, of most keys that are
 * now loaded, the filter with all that was acknowledged, also what the dump or the AOF lacks after
 * a crash.
 *
 *     a dump refers to it, or has it, by its times  that filter is taken, and nothing is copied
 *     a command of the AOF makes the key anew       it is taken when all is loaded, if it has all
 *                                                   bits of the new one; else they are merged
 *     its key was gone already (NAME_TRASH)         it is dropped
 *     no key has it                                 an orphan: it stays, and is told
 *
 * A filter of kind counting would count twice by the second way: the AOF alone says what it has,
 * and what the store had of it is dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "keeper.h"

struct leftover {
    struct leftover *next;
    char was[NAME_ROOM]; /* its name at the start */
    char name[NAME_ROOM];
    int64_t created_at;
    int64_t origin; /* when its first segment was made; 0: not looked at yet */
    uint32_t kind;
    bool owned;
};

static struct leftover *leftovers;
static bool finished;

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

static void forget(struct leftover **link)
{
    struct leftover *l = *link;
    *link = l->next;
    RedisModule_Free(l);
}

void leftovers_read(tamis_store *store)
{
    struct leftover **end = &leftovers;
    if (tamis_store_list(store, NULL, read_one, &end) < 0)
        RedisModule_Log(NULL, "warning", "the store's filters cannot be listed: %s",
                        tamis_last_error());
}

bool leftovers_are_open(void)
{
    return !finished;
}

/* Opens a leftover for a value.  One of others stays on the list: it may have several keys. */
static bool take(struct leftover **link, struct value *value)
{
    const struct leftover *l = *link;
    if (tamis_filter_open(keeper_store(), l->name, 0, &value->filter) < 0) return false;
    (void)strcpy(value->name, l->name);
    if (l->owned) forget(link);
    return true;
}

bool leftovers_take(int64_t created_at, struct value *value)
{
    for (struct leftover **link = &leftovers; *link != NULL; link = &(*link)->next)
        if ((*link)->created_at == created_at) return take(link, value);
    return false;
}

/* When the first segment was made; -1: it cannot be opened. */
static int64_t origin_of(struct leftover *l)
{
    struct tamis_segment_stat first = {.size = sizeof first};
    tamis_filter *filter = NULL;
    if (l->origin != 0) return l->origin;
    const bool known = tamis_filter_open(keeper_store(), l->name, TAMIS_READ_ONLY, &filter) == 0 &&
                       tamis_filter_segment(filter, 0, &first) == 0;
    (void)tamis_filter_close(filter);
    l->origin = known ? first.created_at : -1;
    return l->origin;
}

bool leftovers_take_key(const char *name, int64_t origin, struct value *value)
{
    struct leftover **found = NULL;
    for (struct leftover **link = &leftovers; *link != NULL; link = &(*link)->next) {
        if (!(*link)->owned || origin_of(*link) != origin) continue;
        if (strcmp((*link)->name, name) == 0) return take(link, value);
        if (found != NULL) return false; /* COPY has made a second one */
        found = link;
    }
    return found != NULL && take(found, value); /* RENAME came after the dump */
}

bool leftovers_make_way(tamis_store *store, const char *name)
{
    char apart[NAME_ROOM];
    for (struct leftover *l = leftovers; l != NULL; l = l->next) {
        if (!l->owned || strcmp(l->name, name) != 0) continue;
        name_apart(NAME_ORPHAN, apart);
        if (tamis_filter_rename(store, l->name, apart) < 0) return false;
        (void)strcpy(l->name, apart);
        return true;
    }
    return false;
}

/* Are all bits of segment `index` of one filter set in the same segment of the other? */
static bool is_segment_within(tamis_filter *one, tamis_filter *other, uint32_t index,
                              const struct tamis_segment_stat *stat)
{
    enum { PIECE = 1 << 16 };
    uint64_t *a = RedisModule_Alloc(PIECE), *b = RedisModule_Alloc(PIECE);
    bool within = true;
    for (uint64_t at = 0; within && at < stat->data_bytes; at += PIECE) {
        const uint64_t left = stat->data_bytes - at; /* a multiple of 8 */
        const size_t now = left < PIECE ? (size_t)left : PIECE;
        within = tamis_filter_read_data(one, index, at, a, now) == 0 &&
                 tamis_filter_read_data(other, index, at, b, now) == 0;
        for (size_t i = 0; within && i < now / 8; i++)
            within = (a[i] & ~b[i]) == 0;
    }
    RedisModule_Free(a);
    RedisModule_Free(b);
    return within;
}

/* Has the other filter all that this one has?  Its last keys may be in segments of its own. */
static bool is_within(tamis_filter *one, tamis_filter *other)
{
    struct tamis_segment_stat a = {.size = sizeof a}, b = {.size = sizeof b};
    for (uint32_t i = 0; tamis_filter_segment(one, i, &a) == 0; i++) {
        if (tamis_filter_segment(other, i, &b) < 0 || a.kind != b.kind || a.m_bits != b.m_bits ||
            a.k != b.k || a.seed != b.seed || strcmp(a.hash_set, b.hash_set) != 0 ||
            !is_segment_within(one, other, i, &a))
            return false;
        a.size = sizeof a;
        b.size = sizeof b;
    }
    return true;
}

/* Brings the value what the store had of its key before.  Returns 1 if the filter itself was taken,
 * 0 if its keys were merged, or an error. */
static int join(tamis_store *store, struct value *value, const struct leftover *before)
{
    tamis_filter *filter = NULL;
    int rc = tamis_filter_open(store, before->name, 0, &filter);
    if (rc < 0) return rc;
    if (is_within(value->filter, filter)) {
        keeper_replace(value, before->name, filter);
        return 1;
    }
    const struct tamis_merge merge = {.size = sizeof merge, .sources = &filter, .count = 1};
    rc = tamis_filter_merge(value->filter, &merge);
    (void)tamis_filter_close(filter);
    return rc;
}

/* Is the leftover dealt with?  It is dropped, or has become the filter of a key. */
static bool supersede(tamis_store *store, struct leftover *l)
{
    struct value *value = keeper_find(l->was);
    if (value == NULL || strcmp(l->was, l->name) == 0 || l->kind != value->kind) return false;
    /* The AOF has the counts that go with its commands. */
    const bool counts = l->kind == TAMIS_KIND_COUNTING;
    if (value->from_dump && !(counts && origin_of(l) == value->origin)) return false;
    const int rc = counts ? 0 : join(store, value, l);
    if (rc == 0) keeper_drop_filter(l->name);
    return rc >= 0;
}

static void finish_one(RedisModuleCtx *ctx, tamis_store *store, struct leftover **link)
{
    struct leftover *l = *link;
    const bool trash = name_is_apart(l->name, NAME_TRASH);
    if (trash) keeper_drop_filter(l->name);
    if (trash || supersede(store, l)) {
        forget(link);
        return;
    }
    if (strcmp(l->was, l->name) != 0 && tamis_filter_rename(store, l->name, l->was) == 0)
        (void)strcpy(l->name, l->was);
    RedisModule_Log(ctx, "warning",
                    "the filter '%s' was made for a key, and no key has it now; it stays until "
                    "TAMIS.ORPHANS DROP, or TAMIS.ATTACH makes it a key's again",
                    l->name);
}

void leftovers_finish(RedisModuleCtx *ctx)
{
    if (finished) return;
    tamis_store *store = keeper_store();
    if (store == NULL) return; /* nothing is known yet */
    finished = true;
    for (struct leftover **link = &leftovers; *link != NULL;) {
        struct leftover *l = *link;
        if (l->owned)
            finish_one(ctx, store, link);
        else
            forget(link);
        if (*link == l) link = &l->next;
    }
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
        forget(link);
        return;
    }
}

int orphans_drop(const char *name)
{
    for (struct leftover **link = &leftovers; finished && *link != NULL; link = &(*link)->next) {
        if (strcmp((*link)->name, name) != 0) continue;
        const int rc = tamis_filter_drop(keeper_store(), name);
        if (rc == 0 || rc == TAMIS_ENOTFOUND) forget(link);
        return rc == TAMIS_ENOTFOUND ? 0 : rc;
    }
    return TAMIS_ENOTFOUND;
}
