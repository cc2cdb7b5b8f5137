/* SPDX-License-Identifier: BSD-2-Clause */
/* rejoin.c: see rejoin.h. */
#include "kept/rejoin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/moves.h"
#include "kept/naming.h"
#include "kept/renames.h"
#include "kept/store.h"
#include "registry/registry.h"
#include "server/field.h"
#include "value/drafts.h"
#include "value/handles.h"
#include "value/head.h"
#include "value/light.h"

#define PAUSE_NS 2000000

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

/* The same for all segments of `from`.  The first segments of `to` must have the same shapes; `to`
 * may have more segments behind them.  TAMIS_EFOREIGN: a segment of `to` has another shape, or is
 * not there. */
static int each_segment(tamis_filter *from, tamis_filter *to, piece_fn *fn)
{
    struct tamis_segment_stat a = {.size = sizeof a}, b = {.size = sizeof b};
    struct tamis_filter_stat x = {.size = sizeof x}, y = {.size = sizeof y};
    int rc = tamis_filter_stat(from, &x);
    if (rc == 0) rc = tamis_filter_stat(to, &y);
    if (rc == 0 && strcmp(x.key_rule, y.key_rule) != 0) rc = TAMIS_EFOREIGN;
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

/* Has the other filter all bits of this one?  Filters of kind fuse must have the same fingerprints.
 */
static bool is_within(tamis_filter *one, tamis_filter *other)
{
    struct tamis_segment_stat first = {.size = sizeof first};
    if (each_segment(one, other, is_piece_within) != 0) return false;
    const bool is_static = tamis_filter_segment(one, 0, &first) == 0 &&
                           tamis_kind_has(first.kind, TAMIS_KIND_IS_STATIC);
    return !is_static || each_segment(other, one, is_piece_within) == 0;
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
static int join_bits(struct value *value, const struct leftover *before)
{
    tamis_filter *filter = NULL;
    int rc = value_open(value);
    if (rc == 0) rc = tamis_filter_open(registry_store(), before->name, 0, &filter);
    if (rc < 0) return rc;
    if (!is_within(value->filter, filter)) {
        rc =
            before->is_behind || has_grown(value->filter) || has_grown(filter) ? 0 : TAMIS_EFOREIGN;
        if (rc == 0) rc = each_segment(value->filter, filter, add_piece);
    }
    if (rc < 0) {
        (void)tamis_filter_close(filter);
        return rc;
    }
    naming_replace(value, before->name, filter);
    return 0;
}

/* ---- Whose name a leftover has --------------------------------------------------------------- */

/* The values whose filters have not the names of their keys, sorted by these. */
struct claim {
    char *name;
    struct value *value;
};
static struct claims {
    struct claim *list;
    size_t count, room;
} claims;

static void note_claim(void *context, struct value *value)
{
    char name[NAME_ROOM];
    (void)context;
    if (!renames_misnamed(value, name)) return;
    if (claims.count == claims.room) {
        claims.room = 2 * claims.room + 64;
        claims.list = RedisModule_Realloc(claims.list, claims.room * sizeof *claims.list);
    }
    claims.list[claims.count++] = (struct claim){.name = RedisModule_Strdup(name), .value = value};
}

static int compare_claims(const void *a, const void *b)
{
    return strcmp(((const struct claim *)a)->name, ((const struct claim *)b)->name);
}

static void note_claims(void)
{
    registry_each(note_claim, NULL);
    if (claims.count > 0) qsort(claims.list, claims.count, sizeof *claims.list, compare_claims);
}

/* Those that have not got their names meanwhile get them from the thread. */
static void settle_claims(void)
{
    for (size_t i = 0; i < claims.count; i++) {
        naming_settle(claims.list[i].value);
        RedisModule_Free(claims.list[i].name);
    }
    RedisModule_Free(claims.list);
    claims = (struct claims){.list = NULL};
}

/* The value whose key has the name. */
static struct value *find_claim(const char *name)
{
    const struct claim key = {.name = (char *)(uintptr_t)name};
    const struct claim *claim =
        claims.count == 0 ? NULL
                          : bsearch(&key, claims.list, claims.count, sizeof key, compare_claims);
    if (claim != NULL) return claim->value;
    /* A leftover that is about to be another key's may have the name of a draft, too. */
    char of_key[NAME_ROOM];
    registry_lock();
    struct value *value = NULL;
    while ((value = registry_find_next(name, value)) != NULL) {
        name_of_key(value->db, value->key, value->key_bytes, of_key);
        if (strcmp(of_key, name) == 0) break;
    }
    registry_unlock();
    return value;
}

/* The value whose key has the name that the leftover had, or was about to get (moves.h), if it has
 * another filter. */
static struct value *claimant(const struct leftover *l)
{
    if (l->gone != STAYS) return NULL;
    struct value *value = find_claim(l->to != NULL ? l->to : l->was);
    /* If no key has that name, what was loaded has the last commands. */
    if (value == NULL && l->perhaps != NULL) value = find_claim(l->perhaps);
    const bool is_same = value != NULL && value->draft == NULL && strcmp(value->name, l->name) == 0;
    return is_same ? NULL : value;
}

/* ---- Drafts ---------------------------------------------------------------------------------- */

/* Could a filter of this spec be the leftover, of which that is the first segment?  With a hash
 * set, RedisBloom's, m and k are given, and the rate of a layer is not that of the filter. */
static bool is_like(const struct leftover *l, const struct tamis_segment_stat *first,
                    const struct tamis_filter_spec *spec)
{
    const bool exact = spec->hash_set != NULL;
    if (l->kind != spec->kind || l->durable || l->has_rule || l->exact != exact ||
        l->refuses != (spec->on_full == TAMIS_ON_FULL_REFUSE) ||
        (l->known.segments == 1 && l->capacity != spec->capacity))
        return false;
    return exact ? first->m_bits == spec->m_bits && first->k == spec->k
                 : l->fp_rate == spec->fp_rate;
}

/* Has the leftover, which is not opened if it is small, all these keys?  `first` becomes its first
 * segment. */
static bool has_keys(const struct leftover *l, const struct tamis_key *keys, size_t count,
                     struct tamis_segment_stat *first)
{
    tamis_filter *filter = NULL;
    const int told = light_has(l->name, l->created_at, keys, count, first);
    if (told >= 0) return told > 0;
    if (tamis_filter_open(registry_store(), l->name, TAMIS_READ_ONLY, &filter) < 0) return false;
    bool has = tamis_filter_segment(filter, 0, first) == 0;
    for (size_t i = 0; has && i < count; i++)
        has = tamis_filter_contains(filter, keys[i].data, keys[i].bytes) == 1;
    tamis_filter_release(filter);
    return has;
}

/* A stream that was loaded: has the leftover, which is small, its bits, and is it of one origin? */
static bool has_content(const struct leftover *l, const struct value *value,
                        const struct draft_stream *content)
{
    size_t stored_bytes;
    struct stream_told told;
    if (content->is_redisbloom) return false; /* it is compared when it is in the store */
    void *stored = light_stream(l->name, l->created_at, &stored_bytes);
    if (stored == NULL) return false;
    stream_tell(stored, &told);
    const bool has = told.origin == value->origin &&
                     stream_is_within(content->data, content->bytes, stored, stored_bytes);
    RedisModule_Free(stored);
    return has;
}

/* Has the leftover all that the draft of the value has?  `origin` becomes the time at which its
 * first segment was made. */
static bool has_draft(const struct leftover *l, const struct value *value, int64_t *origin)
{
    struct tamis_segment_stat first = {.size = sizeof first};
    size_t count;
    const struct tamis_key *keys = draft_keys(value, &count);
    const struct draft_stream *content = draft_content(value);
    if (content != NULL && !has_content(l, value, content)) return false;
    *origin = value->origin;
    if (content != NULL && count == 0) return true;
    const bool has = has_keys(l, keys, count, &first);
    *origin = first.created_at;
    return has && (content != NULL || is_like(l, &first, draft_spec(value)));
}

/* Makes the leftover the filter of a value with a draft, if the draft has nothing that it lacks:
 * then no filter is made.  What was loaded, and cannot be compared so, comes into the store. */
static bool join_draft(struct value *value, const struct leftover *l)
{
    char apart[NAME_ROOM];
    int64_t origin;
    if (has_draft(l, value, &origin)) {
        naming_replace_draft(value, l, origin);
        return true;
    }
    if (draft_content(value) == NULL) return false;
    name_apart(NAME_LOADING, apart);
    if (draft_is_held(value)) draft_release(value, apart);
    (void)value_open(value);
    naming_settle(value);
    return false;
}

/* ---- By name --------------------------------------------------------------------------------- */

/* Drops a leftover, or makes it the filter of the key that has its name.  Returns whether it did.
 */
static bool supersede(struct leftover *l)
{
    struct value *value = claimant(l);
    if (value == NULL || l->kind != value->kind || !value_is_ours(value) ||
        value->life == LIFE_FOUND)
        return false;
    if (value->draft != NULL && join_draft(value, l)) return true;
    if (value->draft != NULL ||
        (value->life == LIFE_LOADED && leftovers_origin(l) != value->origin))
        return false;
    if (!value_counts(value)) return join_bits(value, l) == 0;
    kept_drop(l->name, l->created_at, l->kind); /* the AOF has the counts of its commands */
    return true;
}

/* Makes a leftover the filter of a value that has another name, if the leftover has all bits of the
 * value's filter.  Returns whether it did. */
static bool take_over(const struct leftover *l, struct value *value)
{
    tamis_filter *filter = NULL;
    if (value == NULL || l->kind != value->kind || value_counts(value)) return false;
    if (value->draft != NULL && join_draft(value, l)) return true;
    if (value->draft != NULL || value_open(value) < 0 ||
        tamis_filter_open(registry_store(), l->name, 0, &filter) < 0)
        return false;
    if (is_within(value->filter, filter)) {
        naming_replace(value, l->name, filter);
        return true;
    }
    (void)tamis_filter_close(filter);
    return false;
}

/* The value that was made under the name of the leftover while all was loaded, and that has another
 * name by now: the server was killed before it renamed the filter. */
static struct value *heir_of(const struct leftover *l)
{
    registry_lock();
    struct value *value = l->heir != 0 ? registry_find_time(l->heir) : NULL;
    registry_unlock();
    return value != NULL && value_is_ours(value) && value->life == LIFE_MADE ? value : NULL;
}

/* Returns true for a leftover that is not ours, and for one that is dropped or given to a key. */
static bool is_done_by_name(void *context, struct leftover *l)
{
    (void)context;
    if (!l->owned) return true;
    if (!name_is_apart(l->name, NAME_TRASH))
        return !l->is_of_load && supersede(l); /* is_of_earlier_start() */
    kept_drop(l->name, l->created_at, l->kind);
    return true;
}

/* Its key was gone when the server was killed. */
static bool is_gone(void *context, struct leftover *l)
{
    (void)context;
    if (!l->owned || l->gone != GONE) return false;
    kept_drop(l->name, l->created_at, l->kind);
    return true;
}

/* Was it made while an earlier start loaded what this one has loaded again?  Under the name of a
 * key it may have items of local processes.  The key gets it, if it has got no other one, and if no
 * other filter had that name while all was loaded: then it is not one of an earlier life. */
static bool is_of_earlier_start(void *context, struct leftover *l)
{
    (void)context;
    if (!l->owned) return false;
    if (!name_is_apart(l->name, NAME_LOADING)) {
        if (!l->is_of_load || l->heir == 0) return false; /* another server may have made it */
        const struct value *value = claimant(l);
        if (value != NULL && value->created_at == l->heir && supersede(l)) return true;
    }
    kept_drop(l->name, l->created_at, l->kind);
    return true;
}

/* Those that fit by their names are done. */
static bool is_done_by_heir(void *context, struct leftover *l)
{
    struct value *heir = l->gone < FLUSHED && !l->is_of_load ? heir_of(l) : NULL;
    (void)context;
    if (heir == NULL || l->kind != heir->kind || !value_counts(heir)) return take_over(l, heir);
    kept_drop(l->name, l->created_at, l->kind); /* the AOF has the counts of its commands */
    return true;
}

/* The origins of the values that were loaded, sorted: so most leftovers are compared with none. */
struct origins {
    int64_t *list;
    size_t count, room;
};

static void note_origin(void *context, struct value *value)
{
    struct origins *origins = context;
    if (value->life != LIFE_LOADED) return;
    if (origins->count == origins->room) {
        origins->room = 2 * origins->room + 64;
        origins->list = RedisModule_Realloc(origins->list, origins->room * sizeof *origins->list);
    }
    origins->list[origins->count++] = value->origin;
}

static int compare_origins(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool has_origin(const struct origins *origins, int64_t origin)
{
    return bsearch(&origin, origins->list, origins->count, sizeof origin, compare_origins) != NULL;
}

/* The key was renamed after the dump: a value that was loaded has the same origin. */
static bool is_done_by_origin(void *context, struct leftover *l)
{
    const int64_t origin = l->gone < FLUSHED && !l->is_of_load ? leftovers_origin(l) : -1;
    return has_origin(context, origin) && take_over(l, registry_find_loaded(origin));
}

static void take_off_by_origin(void)
{
    struct origins origins = {.count = 0};
    registry_each(note_origin, &origins);
    if (origins.count > 0) {
        qsort(origins.list, origins.count, sizeof *origins.list, compare_origins);
        leftovers_take_off(is_done_by_origin, &origins);
    }
    RedisModule_Free(origins.list);
}

/* Leftovers that have the names of keys are no keys'. */
static bool makes_way(void *context, struct leftover *l)
{
    (void)context;
    if (find_claim(l->name) != NULL) (void)leftovers_make_way(l->name);
    return false;
}

static bool tell_orphan(void *context, struct leftover *l)
{
    leftovers_tell_orphan(context, l);
    return false;
}

static bool mark_unwanted(void *context, struct leftover *l)
{
    (void)context;
    l->unwanted = true;
    return false;
}

/* What an AOF has made and flushed must not get filters while another thread releases it; and what
 * has gone holds no names. */
static void wait_for_what_goes(RedisModuleCtx *ctx)
{
    while (server_releases(ctx))
        (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    (void)kept_finish();
}

void rejoin_finish(RedisModuleCtx *ctx, bool has_loaded, bool has_aof, bool drop_orphans)
{
    if (store_open() == NULL || !leftovers_close()) return;
    moves_begin();
    wait_for_what_goes(ctx);
    note_claims();
    leftovers_take_off(is_done_by_name, NULL);
    leftovers_take_off(is_done_by_heir, NULL);
    take_off_by_origin();
    if (has_loaded) leftovers_take_off(is_of_earlier_start, NULL);
    if (has_aof) leftovers_take_off(is_gone, NULL);
    (void)kept_finish(); /* what is dropped here holds no names of keys either */
    leftovers_take_off(makes_way, NULL);
    naming_wait(NULL);     /* else those that are about to get other names have those of drafts */
    drafts_release_held(); /* they have got no leftover, and are to come into the store */
    settle_claims();
    leftovers_take_off(drop_orphans ? mark_unwanted : tell_orphan, ctx);
    moves_are_dealt_with();
}
