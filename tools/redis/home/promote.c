/* SPDX-License-Identifier: BSD-2-Clause */
/* promote.c: see promote.h. */
#include "home/promote.h"

#include <pthread.h>
#include <time.h>

#include "home/bind.h"
#include "home/labels.h"
#include "server/args.h"
#include "server/config.h"
#include "server/system.h"
#include "server/waiting.h"
#include "value/drops.h"
#include "value/memory.h"
#include "value/store.h"
#include "value/work.h"

#define TRIED_AGAIN_NS ((int64_t)10000000000)
#define PIECE ((uint64_t)16 << 20)

struct promotion {
    struct job job;
    struct promotion *next, **link; /* all; main thread */
    struct memory *memory;          /* a reference */
    struct id id;
    uint32_t expansion, count;
    struct layer *layers; /* as they were; the data are those of `memory` */
    unsigned char *head;
    int64_t head_bytes;
    int db;
    char *key;
    size_t key_bytes;
    struct waiting_list clients;
    bool done; /* atomic: the thread is */
    tamis_filter *filter;
    int rc;
    int64_t failed_ns; /* 0: it has not failed */
    char sentence[512];
};

static struct {
    struct promotion *all;
    uint64_t count, failures; /* of all, and of those that have failed */
    struct job *done;         /* under the mutex: their threads are */
    pthread_mutex_t mutex;
} promotions = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct promotion *find(const struct value *value)
{
    return value->home == HOME_MEMORY ? value->memory->promotion : NULL;
}

/* ---- The thread ------------------------------------------------------------------------------ */

static int fill(const struct promotion *p)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < p->count; i++)
        for (uint64_t at = 0, now; rc == 0 && at < layer_bytes(p->memory, &p->layers[i]);
             at += now) {
            now = layer_bytes(p->memory, &p->layers[i]) - at;
            if (now > PIECE) now = PIECE;
            rc = tamis_filter_write_data(p->filter, i, at,
                                         (const char *)p->layers[i].bits.data + at, (size_t)now);
        }
    return rc;
}

/* Makes the file, with the bits of this moment.  Those that are set later are noted as keys. */
static int make(struct promotion *p)
{
    char name[TAMIS_ID_NAME_BYTES];
    tamis_id_name(p->id.bytes, name);
    int rc = store_import_head(name, p->memory->exact, false, p->head, (size_t)p->head_bytes,
                               &p->filter);
    if (rc == 0) rc = fill(p);
    if (rc == 0) rc = tamis_filter_sync(p->filter);
    return rc;
}

static void work(struct promotion *p)
{
    p->rc = make(p);
    if (p->rc < 0) (void)strncpy(p->sentence, tamis_last_error(), sizeof p->sentence - 1);
}

static void end_work(struct promotion *p)
{
    (void)pthread_mutex_lock(&promotions.mutex);
    p->job.next = promotions.done;
    promotions.done = &p->job;
    /* ORDER release: what the thread has made comes before. */
    __atomic_store_n(&p->done, true, __ATOMIC_RELEASE);
    (void)pthread_mutex_unlock(&promotions.mutex);
}

static void run(struct job *job)
{
    for (struct job *next; job != NULL; job = next) {
        next = job->next;
        work((struct promotion *)(void *)job);
        end_work((struct promotion *)(void *)job);
        waiting_wake();
    }
}

/* ---- The main thread ------------------------------------------------------------------------- */

static struct promotion *new_promotion(struct value *value, int db, const char *key,
                                       size_t key_bytes)
{
    struct promotion *p = RedisModule_Calloc(1, sizeof *p);
    struct memory *memory = value->memory;
    p->job.run = run;
    p->memory = memory;
    (void)__atomic_fetch_add(&memory->references, 1, __ATOMIC_RELAXED);
    p->id = id_draw(); /* a file that is not whole yet has an id that no dump and no log tells */
    p->expansion = value->expansion;
    p->count = memory->count;
    p->layers = RedisModule_Alloc(p->count * sizeof *p->layers);
    memcpy(p->layers, memory->layers, p->count * sizeof *p->layers);
    struct memory empty = *memory; /* items are told when their bits are there */
    empty.layers = p->layers;
    for (uint32_t i = 0; i < p->count; i++)
        p->layers[i].bits.items = 0;
    unsigned char head[HEAD_ROOM];
    p->head_bytes = memory_head(&empty, value->expansion, head);
    const size_t room = p->head_bytes > 0 ? (size_t)p->head_bytes : 0;
    p->head = memcpy(RedisModule_Alloc(room + 1), head, room);
    p->db = db;
    p->key = RedisModule_Alloc(key_bytes + 1);
    memcpy(p->key, key, key_bytes);
    p->key_bytes = key_bytes;
    p->next = promotions.all;
    p->link = &promotions.all;
    if (promotions.all != NULL) promotions.all->link = &p->next;
    promotions.all = p;
    promotions.count++;
    memory->log = RedisModule_Calloc(1, sizeof *memory->log);
    memory->promotion = p;
    store_claim(&p->id);
    return p;
}

static void forget(struct promotion *p)
{
    *p->link = p->next;
    if (p->next != NULL) p->next->link = p->link;
    promotions.count--;
    promotions.failures -= p->failed_ns != 0;
    waiting_let_go(&p->clients, NULL);
    p->memory->promotion = NULL;
    memory_release(p->memory);
    RedisModule_Free(p->head);
    RedisModule_Free(p->layers);
    RedisModule_Free(p->key);
    RedisModule_Free(p);
}

static void end_log(struct memory *memory)
{
    if (memory->log == NULL) return;
    RedisModule_Free(memory->log->bytes);
    RedisModule_Free(memory->log);
    memory->log = NULL;
}

static int tell_items(const struct promotion *p)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < p->count; i++)
        rc = tamis_filter_write_items(p->filter, i, p->memory->layers[i].bits.items);
    return rc;
}

/* Brings what was added since the thread began, which has copied some of it: the bits once more, if
 * they are few, and the keys for which there is a further layer by now. */
static int add_noted(const struct promotion *p)
{
    const struct key_log *log = p->memory->log;
    const bool few = memory_data_bytes(p->memory) <= 2 * (uint64_t)config.memory_max;
    int rc = log->dirty || (few && log->count > 0) ? fill(p) : 0;
    if (rc == 0 && few) rc = tell_items(p);
    for (size_t at = 0; rc >= 0 && at < log->count;) {
        uint32_t bytes;
        memcpy(&bytes, log->bytes + at, sizeof bytes);
        rc = tamis_filter_add(p->filter, log->bytes + at + sizeof bytes, bytes);
        at += sizeof bytes + bytes;
    }
    if (rc >= 0 && !few) rc = tell_items(p);
    return rc < 0 ? rc : 0;
}

/* The value of the key, if that is the one: another thread may be freeing it, so it is looked for
 * and not remembered. */
static struct value *value_of(RedisModuleCtx *ctx, const struct promotion *p)
{
    struct value *value = NULL;
    if (RedisModule_SelectDb(ctx, p->db) != REDISMODULE_OK) return NULL;
    RedisModuleString *name = RedisModule_CreateString(NULL, p->key, p->key_bytes);
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH);
    const RedisModuleType *type = key == NULL ? NULL : RedisModule_ModuleTypeGetType(key);
    if (type != NULL && (type == value_types[TYPE_BLOOM] || type == value_type_of_valkey))
        value = RedisModule_ModuleTypeGetValue(key);
    RedisModule_CloseKey(key);
    RedisModule_FreeString(NULL, name);
    return value != NULL && value->home == HOME_MEMORY && value->memory == p->memory ? value : NULL;
}

/* Nobody gets the filter, if there is one. */
static void abandon(struct promotion *p)
{
    if (p->filter == NULL) return;
    tamis_filter_release(p->filter);
    drops_push(&p->id, NO_DUMP);
    p->filter = NULL;
}

/* The value is the filter from now on. */
static void settle(RedisModuleCtx *ctx, struct promotion *p, struct value *value)
{
    end_log(p->memory);
    memory_release(value->memory); /* the promotion has it still */
    struct stored *stored = stored_new(value, &p->id, p->filter);
    p->filter = NULL;
    if (stored_describe(stored) < 0) stored->is_broken = true;
    bind_tell_now(ctx, p->db, p->key, p->key_bytes, value);
    labels_want(stored, p->db, p->key, p->key_bytes);
}

/* Ends one whose thread is done; `value`: NULL if it is gone.  One that has failed is kept for a
 * while, to tell of that. */
static void end(RedisModuleCtx *ctx, struct promotion *p, struct value *value)
{
    const bool is_old = p->failed_ns != 0 && clock_ns() - p->failed_ns >= TRIED_AGAIN_NS;
    if (p->failed_ns != 0 && !is_old && value != NULL) return;
    if (value != NULL && !is_old && p->rc == 0) p->rc = add_noted(p);
    if (value != NULL && !is_old && p->rc == 0) settle(ctx, p, value);
    end_log(p->memory);
    if (p->rc < 0 && value != NULL && !is_old) {
        if (p->sentence[0] == '\0')
            (void)strncpy(p->sentence, tamis_last_error(), sizeof p->sentence - 1);
        RedisModule_Log(ctx, "warning",
                        "a filter stays in memory, as it cannot come to the store: %s",
                        p->sentence);
        abandon(p);
        p->failed_ns = clock_ns();
        promotions.failures++;
        waiting_let_go(&p->clients, NULL);
        return;
    }
    abandon(p);
    store_unclaim(&p->id);
    forget(p);
}

void promote_begin(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value->home != HOME_MEMORY || find(value) != NULL || work_is_child()) return;
    if (store_open() == NULL || store_is_of_another()) return;
    work_submit(NULL, &new_promotion(value, db, key, key_bytes)->job);
}

void promote_if_large(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value->home == HOME_MEMORY && value->memory->log == NULL &&
        memory_data_bytes(value->memory) > (uint64_t)config.share_from)
        promote_begin(value, db, key, key_bytes);
}

bool promote_is_under_way(const struct value *value)
{
    const struct promotion *p = find(value);
    return p != NULL && p->failed_ns == 0;
}

bool promote_holds(const struct value *value)
{
    return value->memory->log != NULL &&
           memory_data_bytes(value->memory) > (uint64_t)config.memory_max &&
           promote_is_under_way(value);
}

const char *promote_failure(const struct value *value)
{
    const struct promotion *p = find(value);
    return p != NULL && p->failed_ns != 0 ? p->sentence : NULL;
}

bool promote_wait(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again)
{
    struct promotion *p = find(value);
    if (p == NULL || p->failed_ns != 0 || !args_can_wait(ctx)) return false;
    waiting_put(&p->clients, ctx, again, p);
    return true;
}

/* Ends those whose threads are done. */
static void end_done(RedisModuleCtx *ctx)
{
    const int db = RedisModule_GetSelectedDb(ctx);
    (void)pthread_mutex_lock(&promotions.mutex);
    struct job *job = promotions.done;
    promotions.done = NULL;
    (void)pthread_mutex_unlock(&promotions.mutex);
    for (struct job *next; job != NULL; job = next) {
        struct promotion *p = (struct promotion *)(void *)job;
        next = job->next;
        end(ctx, p, value_of(ctx, p));
    }
    (void)RedisModule_SelectDb(ctx, db);
}

int promote_now(RedisModuleCtx *ctx, struct value *value, int db, const char *key, size_t key_bytes)
{
    struct promotion *p = find(value);
    if (p == NULL && store_open() == NULL) return TAMIS_ENOSTORE;
    if (p == NULL) {
        p = new_promotion(value, db, key, key_bytes);
        work(p);
        end_work(p);
    }
    while (!__atomic_load_n(&p->done, __ATOMIC_ACQUIRE)) /* its thread is at work */
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    end_done(ctx);
    if (value_is_stored(value)) return 0;
    p = find(value);
    return p != NULL && p->rc < 0 ? p->rc : TAMIS_EIO;
}

void promote_follow(const struct value *value, int db, const char *key, size_t key_bytes)
{
    struct promotion *p = find(value);
    if (p == NULL) return;
    p->db = db;
    p->key = RedisModule_Realloc(p->key, key_bytes + 1);
    memcpy(p->key, key, key_bytes);
    p->key_bytes = key_bytes;
}

void promote_swap(int first, int second)
{
    for (struct promotion *p = promotions.all; p != NULL; p = p->next)
        if (p->db == first || p->db == second) p->db = p->db == first ? second : first;
}

void promote_pass(RedisModuleCtx *ctx)
{
    const int loads = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    if (promotions.all == NULL || waiting_is_paused() ||
        (RedisModule_GetContextFlags(ctx) & loads) != 0)
        return;
    end_done(ctx);
    for (struct promotion *p = promotions.all, *next; promotions.failures > 0 && p != NULL;
         p = next) {
        next = p->next;
        if (p->failed_ns != 0) end(ctx, p, value_of(ctx, p));
    }
}

uint64_t promote_count(void)
{
    return promotions.count;
}
