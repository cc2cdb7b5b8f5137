/* SPDX-License-Identifier: BSD-2-Clause */
/* stored.c: see stored.h. */
#include "value/stored.h"

#include "server/config.h"
#include "value/store.h"

#define BUCKETS ((size_t)1 << 16)

/* Under the lock. */
static struct {
    struct stored *buckets[BUCKETS];
    struct stored *all, *gone;
    uint64_t dumps; /* that were begun */
} table;
/* Those that are open, in no order: main thread. */
static struct {
    struct stored **list;
    size_t count, room;
    size_t hand; /* the next that stored_trim() looks at */
} open;

static struct stored **bucket_of(const struct id *id)
{
    uint64_t hash; /* an id is random */
    memcpy(&hash, id, sizeof hash);
    return &table.buckets[hash & (BUCKETS - 1)];
}

static void enter_open(struct stored *stored)
{
    if (open.count == open.room) {
        open.room = 2 * open.room + 16;
        open.list = RedisModule_Realloc(open.list, open.room * sizeof(struct stored *));
    }
    stored->place = open.count;
    open.list[open.count++] = stored;
}

static void leave_open(struct stored *stored)
{
    open.list[stored->place] = open.list[--open.count];
    open.list[stored->place]->place = stored->place;
    if (open.count > 0) return;
    RedisModule_Free(open.list);
    open.list = NULL;
    open.room = 0;
}

/* ---- The table ------------------------------------------------------------------------------- */

struct stored *stored_begin(const struct id *id)
{
    struct stored *stored = RedisModule_Calloc(1, sizeof *stored);
    stored->id = *id;
    work_lock();
    struct stored **bucket = bucket_of(&stored->id);
    stored->same = *bucket;
    *bucket = stored;
    stored->next = table.all;
    stored->link = &table.all;
    if (stored->next != NULL) stored->next->link = &stored->next;
    table.all = stored;
    work_unlock();
    return stored;
}

void stored_settle(struct stored *stored, struct value *value, tamis_filter *filter)
{
    stored->value = value;
    value_settle(value, HOME_STORE, stored);
    if (filter == NULL) return;
    stored->filter = filter;
    enter_open(stored);
    stored->in_use = true;
}

struct stored *stored_new(struct value *value, const struct id *id, tamis_filter *filter)
{
    struct stored *stored = stored_begin(id);
    stored_settle(stored, value, filter);
    return stored;
}

/* Under the lock. */
static void take_out(struct stored *stored)
{
    struct stored **at = bucket_of(&stored->id);
    if (stored->link == NULL) return; /* it is out */
    while (*at != stored)
        at = &(*at)->same;
    *at = stored->same;
    *stored->link = stored->next;
    if (stored->next != NULL) stored->next->link = stored->link;
    stored->link = NULL;
}

void stored_outdate(struct stored *stored)
{
    work_lock();
    take_out(stored);
    work_unlock();
}

void stored_outdate_all(void)
{
    work_lock();
    while (table.all != NULL)
        take_out(table.all);
    work_unlock();
}

void stored_let_go(struct stored *stored)
{
    work_lock();
    take_out(stored);
    stored->dump = stored->value == NULL ? NO_DUMP : table.dumps; /* NULL: it never had one */
    stored->value = NULL;
    stored->next_gone = table.gone;
    table.gone = stored;
    work_unlock();
}

struct stored *stored_find(const struct id *id)
{
    work_lock();
    struct stored *stored = *bucket_of(id);
    while (stored != NULL && !id_is(&stored->id, id))
        stored = stored->same;
    work_unlock();
    return stored;
}

uint64_t stored_dumps(bool begins)
{
    work_lock();
    table.dumps += begins;
    const uint64_t dumps = table.dumps;
    work_unlock();
    return dumps;
}

bool stored_has(const struct id *id)
{
    return stored_find(id) != NULL;
}

struct stored *stored_first(void)
{
    work_lock();
    struct stored *first = table.all;
    work_unlock();
    return first;
}

struct stored *stored_next(const struct stored *stored)
{
    work_lock();
    struct stored *next = stored->next;
    work_unlock();
    return next;
}

/* ---- Handles --------------------------------------------------------------------------------- */

static uint64_t data_bytes_of(tamis_filter *filter)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    uint64_t bytes = 32;
    for (uint32_t i = 0; tamis_filter_segment(filter, i, &segment) == 0; i++)
        bytes += 64 + segment.data_bytes;
    return bytes;
}

static struct known known_from(const struct stored *stored, const struct tamis_filter_stat *stat)
{
    return (struct known){.capacity = stat->capacity,
                          .items = stat->items,
                          .size_bytes = stat->size_bytes,
                          .data_bytes = data_bytes_of(stored->filter),
                          .rate = stat->fp_rate,
                          .on_full = stat->on_full,
                          .segments = stat->segment_count,
                          .state = stat->state};
}

static bool is_plain(const struct tamis_filter_stat *stat)
{
    return !tamis_kind_has(stat->kind, TAMIS_KIND_IS_STATIC) &&
           !tamis_kind_has(stat->kind, TAMIS_KIND_COUNTS) && stat->slices == 0 &&
           stat->exceptions == 0 && (stat->flags & TAMIS_FILTER_DURABLE) == 0 &&
           strcmp(stat->key_rule, "bytes") == 0 && stat->on_full != TAMIS_ON_FULL_WARN &&
           (strcmp(stat->hash_set, "xxh3") == 0 || strcmp(stat->hash_set, "redisbloom") == 0);
}

int stored_describe(struct stored *stored)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const int rc = tamis_filter_stat(stored->filter, &stat);
    if (rc < 0) return rc;
    stored->kind = stat.kind;
    stored->durable = (stat.flags & TAMIS_FILTER_DURABLE) != 0;
    stored->attached = (stat.flags & TAMIS_FILTER_OWNED) == 0;
    stored->known = known_from(stored, &stat);
    if (stored->value != NULL)
        stored->value->exact =
            strcmp(stat.hash_set, "redisbloom") == 0 && strcmp(stat.key_rule, "bytes") == 0;
    return 0;
}

bool stored_is_plain(const struct stored *stored)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return tamis_filter_stat(stored->filter, &stat) == 0 && is_plain(&stat);
}

struct known stored_known(const struct stored *stored)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    return stored->filter != NULL && tamis_filter_stat(stored->filter, &stat) == 0
               ? known_from(stored, &stat)
               : stored->known;
}

void stored_mark(tamis_filter *filter)
{
    static const uint64_t nothing;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    int rc = tamis_filter_prepare(filter, 0); /* an error meets the adds, too */
    for (uint32_t i = 0; rc == 0 && tamis_filter_segment(filter, i, &segment) == 0; i++)
        if (segment.data_bytes >= sizeof nothing)
            rc = tamis_filter_write_data(filter, i, 0, &nothing, sizeof nothing);
}

static void close_handle(struct stored *stored)
{
    stored->known = stored_known(stored);
    leave_open(stored);
    tamis_filter_release(stored->filter);
    stored->filter = NULL;
}

void stored_trim(void)
{
    size_t looks = 2 * open.count;
    while (open.count > (size_t)config.max_open && looks-- > 0) {
        if (open.hand >= open.count) open.hand = 0;
        struct stored *stored = open.list[open.hand];
        const bool stays =
            stored->in_use || stored->pins > 0 || stored->durable || work_is_busy(&stored->line);
        stored->in_use = false;
        if (stays)
            open.hand++;
        else
            close_handle(stored);
    }
}

int stored_open(struct stored *stored)
{
    stored->in_use = true;
    if (stored->filter != NULL) return 0;
    work_wait(&stored->line);
    if (__atomic_load_n(&stored->is_lost, __ATOMIC_RELAXED) && stored->value != NULL) {
        stored->store_id = store_id();
        value_settle(stored->value, HOME_BROKEN, stored);
    }
    tamis_store *store = store_open();
    if (store == NULL) return TAMIS_ENOSTORE;
    int rc = tamis_filter_open_id(store, stored->id.bytes, 0, &stored->filter);
    stored->is_broken = rc < 0;
    if (rc < 0) return rc;
    enter_open(stored);
    if (!work_is_child()) stored_mark(stored->filter);
    rc = stored_describe(stored);
    stored->pins++;
    stored_trim();
    stored->pins--;
    return rc;
}

void stored_reap(void (*is_gone)(const struct id *id, uint64_t dump))
{
    struct stored *gone, **at = &gone;
    work_lock();
    gone = table.gone;
    table.gone = NULL;
    work_unlock();
    for (struct stored *one; (one = *at) != NULL;) {
        if (one->pins > 0 || work_is_busy(&one->line)) { /* the next time */
            at = &one->next_gone;
            continue;
        }
        *at = one->next_gone;
        if (one->filter != NULL) close_handle(one);
        /* One that a load has bound anew is not gone: between two loads a thread would drop it. */
        const bool is_ours = !one->attached && !one->is_lost && one->store_id == 0;
        if (is_ours && !stored_has(&one->id)) is_gone(&one->id, one->dump);
        RedisModule_Free(one->key);
        RedisModule_Free(one);
    }
    work_lock();
    *at = table.gone;
    table.gone = gone;
    work_unlock();
}

uint64_t stored_open_count(void)
{
    return open.count;
}

uint64_t stored_size_bytes(const struct stored *stored)
{
    return stored->filter != NULL ? data_bytes_of(stored->filter) : stored->known.data_bytes;
}
