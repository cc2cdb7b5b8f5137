/* SPDX-License-Identifier: BSD-2-Clause */
/* stored.c: see stored.h. */
#include "value/stored.h"

#include <pthread.h>

#include "server/config.h"
#include "value/drops.h"
#include "value/store.h"

#define BUCKETS ((size_t)1 << 16)

/* The table and the lists, under the mutex. */
static struct {
    pthread_mutex_t mutex;
    struct stored *buckets[BUCKETS];
    struct stored *all, *gone;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};
/* The ring of those that are open: main thread. */
static struct {
    struct stored *hand; /* looked at next */
    uint64_t count;
} ring;

static struct stored **bucket_of(const struct id *id)
{
    uint64_t hash; /* an id is random */
    memcpy(&hash, id, sizeof hash);
    return &table.buckets[hash & (BUCKETS - 1)];
}

/* ---- The ring -------------------------------------------------------------------------------- */

static void enter_ring(struct stored *stored)
{
    if (ring.hand == NULL) {
        ring.hand = stored->newer = stored->older = stored;
    } else {
        stored->newer = ring.hand;
        stored->older = ring.hand->older;
        stored->older->newer = stored->newer->older = stored;
    }
    ring.count++;
}

static void leave_ring(struct stored *stored)
{
    if (ring.hand == stored) ring.hand = stored->newer == stored ? NULL : stored->newer;
    stored->newer->older = stored->older;
    stored->older->newer = stored->newer;
    stored->newer = stored->older = NULL;
    ring.count--;
}

/* ---- The table ------------------------------------------------------------------------------- */

struct stored *stored_new(struct value *value, const struct id *id, tamis_filter *filter)
{
    struct stored *stored = RedisModule_Calloc(1, sizeof *stored);
    stored->id = *id;
    stored->value = value;
    (void)pthread_mutex_lock(&table.mutex);
    struct stored **bucket = bucket_of(&stored->id);
    stored->same = *bucket;
    *bucket = stored;
    stored->next = table.all;
    stored->link = &table.all;
    if (stored->next != NULL) stored->next->link = &stored->next;
    table.all = stored;
    (void)pthread_mutex_unlock(&table.mutex);
    value_settle(value, HOME_STORE, stored);
    if (filter == NULL) return stored;
    stored->filter = filter;
    enter_ring(stored);
    stored->in_use = true;
    return stored;
}

/* Under the mutex. */
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
    (void)pthread_mutex_lock(&table.mutex);
    take_out(stored);
    (void)pthread_mutex_unlock(&table.mutex);
}

void stored_outdate_all(void)
{
    (void)pthread_mutex_lock(&table.mutex);
    while (table.all != NULL)
        take_out(table.all);
    (void)pthread_mutex_unlock(&table.mutex);
}

void stored_let_go(struct stored *stored)
{
    const uint64_t dump = drops_dumps(); /* the mutex of drops.c comes before this one */
    (void)pthread_mutex_lock(&table.mutex);
    take_out(stored);
    stored->value = NULL;
    stored->dump = dump;
    stored->next_gone = table.gone;
    table.gone = stored;
    (void)pthread_mutex_unlock(&table.mutex);
}

struct stored *stored_find(const struct id *id)
{
    (void)pthread_mutex_lock(&table.mutex);
    struct stored *stored = *bucket_of(id);
    while (stored != NULL && !id_is(&stored->id, id))
        stored = stored->same;
    (void)pthread_mutex_unlock(&table.mutex);
    return stored;
}

bool stored_has(const struct id *id)
{
    return stored_find(id) != NULL;
}

struct stored *stored_first(void)
{
    (void)pthread_mutex_lock(&table.mutex);
    struct stored *first = table.all;
    (void)pthread_mutex_unlock(&table.mutex);
    return first;
}

struct stored *stored_next(const struct stored *stored)
{
    (void)pthread_mutex_lock(&table.mutex);
    struct stored *next = stored->next;
    (void)pthread_mutex_unlock(&table.mutex);
    return next;
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&table.mutex);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&table.mutex);
}

void stored_prepare(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork);
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
    leave_ring(stored);
    tamis_filter_release(stored->filter);
    stored->filter = NULL;
}

void stored_trim(void)
{
    uint64_t looks = 2 * ring.count;
    while (ring.count > (uint64_t)config.max_open && looks-- > 0) {
        struct stored *stored = ring.hand;
        ring.hand = stored->newer;
        const bool stays = stored->in_use || stored->pins > 0 || stored->durable;
        stored->in_use = false;
        if (!stays && !work_is_busy(&stored->line)) close_handle(stored);
    }
}

/* Makes room for one that was opened, which stays. */
static void trim_beside(struct stored *stored)
{
    stored_pin(stored);
    stored_trim();
    stored_unpin(stored);
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
    enter_ring(stored);
    if (!work_is_child()) stored_mark(stored->filter);
    rc = stored_describe(stored);
    trim_beside(stored);
    return rc;
}

void stored_reap(void)
{
    (void)pthread_mutex_lock(&table.mutex);
    struct stored *gone = table.gone;
    table.gone = NULL;
    (void)pthread_mutex_unlock(&table.mutex);
    for (struct stored *next; gone != NULL; gone = next) {
        next = gone->next_gone;
        if (gone->pins > 0 || work_is_busy(&gone->line)) { /* the next time */
            (void)pthread_mutex_lock(&table.mutex);
            gone->next_gone = table.gone;
            table.gone = gone;
            (void)pthread_mutex_unlock(&table.mutex);
            continue;
        }
        if (gone->filter != NULL) close_handle(gone);
        /* One that a load has bound anew is not gone: between two loads a thread would drop it. */
        if (!gone->attached && gone->store_id == 0 && !stored_has(&gone->id))
            drops_push(&gone->id, gone->dump);
        RedisModule_Free(gone->key);
        RedisModule_Free(gone);
    }
}

uint64_t stored_open_count(void)
{
    return ring.count;
}

uint64_t stored_size_bytes(const struct stored *stored)
{
    return stored->filter != NULL ? data_bytes_of(stored->filter) : stored->known.data_bytes;
}
