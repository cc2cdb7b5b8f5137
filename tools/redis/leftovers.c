/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leftovers.c: what the store had when the server began (keeper.h).
 *
 * The last server did not drop its filters when it ended.  So the store has, of most keys that are
 * now loaded, the filter with all that was acknowledged, also what the dump or the AOF lacks after
 * a crash.
 *
 *     a dump refers to it, or has it, by the time   that filter is taken, and nothing is copied
 *     at which it was made
 *     a dump or the AOF makes the key anew          it is taken when all is loaded, if it has all
 *                                                   bits of the new one; else they are merged, if
 *                                                   it may be the same filter, grown another way
 *     its key was gone already (NAME_TRASH)         it is dropped
 *     no key has it                                 an orphan: it stays, and is told
 *
 * A filter of kind counting would count twice by the second way: the AOF alone says what it has,
 * and what the store had of it is dropped.
 *
 * What was loaded may be behind the store: a key was deleted or renamed since.  Then the filter of
 * its name in the store is another one.  It is known by its origin, if what was loaded has that (a
 * dump, RESTORE), or as it lacks bits of the new one though neither has grown.  Filters that are
 * copies of each other have one origin.
 */
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
    value->taken = true;
    value->attached = !l->owned; /* whatever a dump says: only what is ours is dropped */
    if (l->owned) forget(link);
    return true;
}

bool leftovers_take(int64_t created_at, struct value *value)
{
    for (struct leftover **link = &leftovers; *link != NULL; link = &(*link)->next)
        if ((*link)->created_at == created_at) return take(link, value);
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
    if (tamis_store_list(keeper_store(), NULL, seek_one, &sought) < 0 || *sought.name == '\0' ||
        tamis_filter_open(keeper_store(), sought.name, 0, &value->filter) < 0)
        return false;
    (void)strcpy(value->name, sought.name);
    value->taken = true;
    value->attached = true;
    return true;
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

bool leftovers_take_counts(const char *name, int64_t origin, struct value *value)
{
    for (struct leftover **link = &leftovers; *link != NULL; link = &(*link)->next)
        if ((*link)->owned && strcmp((*link)->name, name) == 0)
            return origin_of(*link) == origin && take(link, value);
    return false;
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

/* Calls fn for pieces of segment `index` of both filters, until it returns something else than 0.
 */
typedef int piece_fn(tamis_filter *to, uint32_t index, uint64_t at, const uint64_t *a,
                     const uint64_t *b, size_t bytes);
static int each_piece(tamis_filter *from, tamis_filter *to, uint32_t index, uint64_t data_bytes,
                      piece_fn *fn)
{
    enum { PIECE = 1 << 16 };
    uint64_t *a = RedisModule_Alloc(PIECE), *b = RedisModule_Alloc(PIECE);
    int rc = 0;
    for (uint64_t at = 0; rc == 0 && at < data_bytes; at += PIECE) {
        const uint64_t left = data_bytes - at; /* a multiple of 8 */
        const size_t now = left < PIECE ? (size_t)left : PIECE;
        rc = tamis_filter_read_data(from, index, at, a, now);
        if (rc == 0) rc = tamis_filter_read_data(to, index, at, b, now);
        if (rc == 0) rc = fn(to, index, at, a, b, now);
    }
    RedisModule_Free(a);
    RedisModule_Free(b);
    return rc;
}

/* The same for all segments of the first filter, which must be the first segments of the other one.
 * Its last keys may be in segments of its own.  TAMIS_EFOREIGN: they are not. */
static int each_segment(tamis_filter *from, tamis_filter *to, piece_fn *fn)
{
    struct tamis_segment_stat a = {.size = sizeof a}, b = {.size = sizeof b};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && tamis_filter_segment(from, i, &a) == 0; i++) {
        if (tamis_filter_segment(to, i, &b) < 0 || a.kind != b.kind || a.m_bits != b.m_bits ||
            a.k != b.k || a.seed != b.seed || strcmp(a.hash_set, b.hash_set) != 0)
            return TAMIS_EFOREIGN;
        rc = each_piece(from, to, i, a.data_bytes, fn);
    }
    return rc;
}

static int is_piece_within(tamis_filter *to, uint32_t index, uint64_t at, const uint64_t *a,
                           const uint64_t *b, size_t bytes)
{
    uint64_t more = 0;
    (void)to;
    (void)index;
    (void)at;
    for (size_t i = 0; i < bytes / 8; i++)
        more |= a[i] & ~b[i];
    return more != 0;
}

static int add_piece(tamis_filter *to, uint32_t index, uint64_t at, const uint64_t *a,
                     const uint64_t *b, size_t bytes)
{
    if (is_piece_within(to, index, at, a, b, bytes) == 0) return 0;
    return tamis_filter_write_data(to, index, at, a, bytes);
}

/* Has the other filter all that this one has?  Of kind fuse only the same fingerprints do. */
static bool is_within(tamis_filter *one, tamis_filter *other)
{
    struct tamis_segment_stat first = {.size = sizeof first};
    if (each_segment(one, other, is_piece_within) != 0) return false;
    const bool is_fuse = tamis_filter_segment(one, 0, &first) == 0 && first.kind == TAMIS_KIND_FUSE;
    return !is_fuse || each_segment(other, one, is_piece_within) == 0;
}

static bool has_grown(tamis_filter *filter)
{
    struct tamis_segment_stat second = {.size = sizeof second};
    return tamis_filter_segment(filter, 1, &second) == 0;
}

/*
 * Gives the value the filter that the store had of its key before, with the bits of both: that
 * filter stays, as it is the one that the next dump or AOF to be loaded may know.  If it has grown,
 * keys of local processes may have filled its first segments, and other keys lie further on there
 * than in the value's filter: so bits are set segment by segment.  (A merge would refuse filters of
 * so many segments and of another number.)
 *
 * Returns 0, or an error: TAMIS_EFOREIGN if it was a filter of another life of the key.
 */
static int join(tamis_store *store, struct value *value, const struct leftover *before)
{
    tamis_filter *filter = NULL;
    int rc = tamis_filter_open(store, before->name, 0, &filter);
    if (rc < 0) return rc;
    if (!is_within(value->filter, filter)) {
        rc = has_grown(value->filter) || has_grown(filter) ? 0 : TAMIS_EFOREIGN;
        if (rc == 0) rc = each_segment(value->filter, filter, add_piece);
    }
    if (rc < 0) {
        (void)tamis_filter_close(filter);
        return rc;
    }
    keeper_replace(value, before->name, filter);
    value->taken = true;
    return 0;
}

/* Is the leftover dealt with?  It is dropped, or has become the filter of the key of its name. */
static bool supersede(tamis_store *store, struct leftover *l)
{
    struct value *value = keeper_find(l->was);
    if (value == NULL || strcmp(l->was, l->name) == 0 || l->kind != value->kind || value->taken ||
        (value->from_dump && origin_of(l) != value->origin))
        return false;
    if (l->kind != TAMIS_KIND_COUNTING) return join(store, value, l) == 0;
    (void)keeper_drop_filter(l->name); /* the AOF has the counts that go with its commands */
    return true;
}

/* Its key was renamed, and what was loaded does not know that: it is a copy of a filter that was
 * loaded, and has all of its bits. */
static bool supersede_renamed(tamis_store *store, struct leftover *l)
{
    struct value *value = keeper_find_loaded(origin_of(l));
    tamis_filter *filter = NULL;
    if (value == NULL || l->kind != value->kind || l->kind == TAMIS_KIND_COUNTING ||
        tamis_filter_open(store, l->name, 0, &filter) < 0)
        return false;
    if (is_within(value->filter, filter)) {
        keeper_replace(value, l->name, filter);
        value->taken = true;
        return true;
    }
    (void)tamis_filter_close(filter);
    return false;
}

static void tell_orphan(RedisModuleCtx *ctx, tamis_store *store, struct leftover *l)
{
    if (strcmp(l->was, l->name) != 0 && tamis_filter_rename(store, l->name, l->was) == 0)
        (void)strcpy(l->name, l->was);
    RedisModule_Log(ctx, "warning",
                    "the filter '%s' was made for a key, and no key has it now; it stays until "
                    "TAMIS.ORPHANS DROP, or TAMIS.ATTACH makes it a key's again",
                    l->name);
}

/* Takes off the list what is not ours, what was trash, and what a key has now. */
static bool is_done(tamis_store *store, struct leftover *l, bool by_name)
{
    if (!by_name) return supersede_renamed(store, l);
    if (!l->owned) return true;
    if (!name_is_apart(l->name, NAME_TRASH)) return supersede(store, l);
    (void)keeper_drop_filter(l->name);
    return true;
}

static void finish_all(tamis_store *store, bool by_name)
{
    for (struct leftover **link = &leftovers; *link != NULL;) {
        if (is_done(store, *link, by_name))
            forget(link);
        else
            link = &(*link)->next;
    }
}

void leftovers_finish(RedisModuleCtx *ctx)
{
    if (finished) return;
    tamis_store *store = keeper_store();
    if (store == NULL) return; /* nothing is known yet */
    finished = true;
    finish_all(store, true);
    finish_all(store, false);
    for (struct leftover *l = leftovers; l != NULL; l = l->next)
        tell_orphan(ctx, store, l);
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
