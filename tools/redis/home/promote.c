/* SPDX-License-Identifier: BSD-2-Clause */
/* promote.c: see promote.h. */
#include "home/promote.h"

#include "home/bind.h"
#include "home/labels.h"
#include "server/args.h"
#include "server/config.h"
#include "server/system.h"
#include "server/waiting.h"
#include "value/memory.h"
#include "value/store.h"
#include "value/work.h"

#define TRIED_AGAIN_NS ((int64_t)10000000000)
#define PIECE ((uint64_t)16 << 20)

struct promotion {
    struct job job;
    struct memory *memory; /* a reference; NULL: it has failed, and the memory owns this */
    struct stored *stored; /* what the value will have: its id, and the name of its key */
    uint32_t count;
    struct layer *layers; /* as they were; the data are those of `memory` */
    unsigned char *head;
    int64_t head_bytes;
    struct waiting_list clients;
    tamis_filter *filter;
    int rc;
    int64_t failed_ns;
    char sentence[512];
};

static uint64_t count; /* main thread: of those under way */

static struct promotion *find(const struct value *value)
{
    return value->home == HOME_MEMORY ? value->memory->promotion : NULL;
}

static bool is_under_way(const struct promotion *p)
{
    return p != NULL && p->memory != NULL;
}

static void note_failure(struct promotion *p, int rc)
{
    p->rc = rc;
    if (rc < 0) (void)strncpy(p->sentence, tamis_last_error(), sizeof p->sentence - 1);
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
static void run(struct job *job)
{
    struct promotion *p = (struct promotion *)(void *)job;
    char name[TAMIS_ID_NAME_BYTES];
    tamis_id_name(p->stored->id.bytes, name);
    int rc = store_import_head(name, p->memory->exact, false, p->head, (size_t)p->head_bytes,
                               &p->filter);
    if (rc == 0) rc = fill(p);
    if (rc == 0) rc = tamis_filter_sync(p->filter);
    note_failure(p, rc);
}

/* ---- The end --------------------------------------------------------------------------------- */

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
    const int db = RedisModule_GetSelectedDb(ctx);
    if (RedisModule_SelectDb(ctx, p->stored->db) != REDISMODULE_OK) return NULL;
    RedisModuleString *name = RedisModule_CreateString(NULL, p->stored->key, p->stored->key_bytes);
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH);
    const RedisModuleType *type = key == NULL ? NULL : RedisModule_ModuleTypeGetType(key);
    if (type != NULL && (type == value_types[TYPE_BLOOM] || type == value_type_of_valkey))
        value = RedisModule_ModuleTypeGetValue(key);
    RedisModule_CloseKey(key);
    RedisModule_FreeString(NULL, name);
    (void)RedisModule_SelectDb(ctx, db);
    return value != NULL && value->home == HOME_MEMORY && value->memory == p->memory ? value : NULL;
}

/* The value is the filter from now on. */
static void settle(RedisModuleCtx *ctx, struct promotion *p, struct value *value)
{
    struct stored *stored = p->stored;
    const int db = RedisModule_GetSelectedDb(ctx);
    memory_release(value->memory); /* the promotion has it still */
    stored_settle(stored, value, p->filter);
    if (stored_describe(stored) < 0) stored->is_broken = true;
    bind_tell_now(ctx, stored->db, stored->key, stored->key_bytes, value);
    labels_want(stored, stored->db, stored->key, stored->key_bytes);
    (void)RedisModule_SelectDb(ctx, db);
}

/* Nobody gets the filter, if there is one. */
static void abandon(struct promotion *p)
{
    p->stored->is_lost = p->filter == NULL;
    tamis_filter_release(p->filter);
    stored_let_go(p->stored);
}

/* The thread is done.  A promotion that has failed is kept for a while, to tell of that. */
static void end(RedisModuleCtx *ctx, struct job *job)
{
    struct promotion *p = (struct promotion *)(void *)job;
    struct memory *memory = p->memory;
    struct value *value = value_of(ctx, p);
    if (value != NULL && p->rc == 0) note_failure(p, add_noted(p));
    RedisModule_Free(memory->log->bytes);
    RedisModule_Free(memory->log);
    memory->log = NULL;
    if (value != NULL && p->rc == 0) {
        settle(ctx, p, value);
        labels_take_clients(&p->clients); /* the filter is there when its name is */
    } else
        abandon(p);
    const bool failed = value != NULL && p->rc < 0;
    if (failed)
        RedisModule_Log(ctx, "warning",
                        "a filter stays in memory, as it cannot come to the store: %s",
                        p->sentence);
    waiting_let_go(&p->clients, NULL);
    RedisModule_Free(p->head);
    RedisModule_Free(p->layers);
    p->failed_ns = clock_ns();
    p->memory = NULL;
    memory->promotion = failed ? p : NULL;
    if (!failed) RedisModule_Free(p);
    memory_release(memory);
    count--;
}

/* ---- The beginning --------------------------------------------------------------------------- */

static struct promotion *new_promotion(struct value *value, int db, const char *key,
                                       size_t key_bytes)
{
    struct promotion *p = RedisModule_Calloc(1, sizeof *p);
    struct memory *memory = value->memory;
    const struct id id = id_draw(); /* no dump and no log tells that of a file which is not whole */
    unsigned char head[HEAD_ROOM];
    p->job.run = run;
    p->job.end = end;
    p->memory = memory;
    (void)__atomic_fetch_add(&memory->references, 1, __ATOMIC_RELAXED);
    p->stored = stored_begin(&id);
    labels_want(p->stored, db, key, key_bytes);
    p->count = memory->count;
    p->layers = RedisModule_Alloc(p->count * sizeof *p->layers);
    memcpy(p->layers, memory->layers, p->count * sizeof *p->layers);
    struct memory empty = *memory; /* items are told when their bits are there */
    empty.layers = p->layers;
    for (uint32_t i = 0; i < p->count; i++)
        p->layers[i].bits.items = 0;
    p->head_bytes = memory_head(&empty, value->expansion, head);
    const size_t room = p->head_bytes > 0 ? (size_t)p->head_bytes : 0;
    p->head = memcpy(RedisModule_Alloc(room + 1), head, room);
    memory->log = RedisModule_Calloc(1, sizeof *memory->log);
    memory->promotion = p;
    count++;
    return p;
}

void promote_begin(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value->home != HOME_MEMORY || is_under_way(find(value)) || work_is_child()) return;
    if (promote_failure(value) != NULL || store_open() == NULL || store_is_of_another()) return;
    RedisModule_Free(find(value)); /* it has failed long ago */
    struct promotion *p = new_promotion(value, db, key, key_bytes);
    work_submit(&p->stored->line, &p->job);
}

void promote_if_large(struct value *value, int db, const char *key, size_t key_bytes)
{
    if (value->home == HOME_MEMORY && value->memory->log == NULL &&
        memory_data_bytes(value->memory) > (uint64_t)config.share_from)
        promote_begin(value, db, key, key_bytes);
}

bool promote_holds(const struct value *value)
{
    return value->memory->log != NULL &&
           memory_data_bytes(value->memory) > (uint64_t)config.memory_max;
}

const char *promote_failure(const struct value *value)
{
    const struct promotion *p = find(value);
    const bool failed = p != NULL && !is_under_way(p) && clock_ns() - p->failed_ns < TRIED_AGAIN_NS;
    return failed ? p->sentence : NULL;
}

bool promote_wait(RedisModuleCtx *ctx, const struct value *value, RedisModuleReplyFunc *again)
{
    struct promotion *p = find(value);
    if (!is_under_way(p) || !args_can_wait(ctx)) return false;
    waiting_put(&p->clients, ctx, again, p);
    return true;
}

int promote_now(RedisModuleCtx *ctx, struct value *value, int db, const char *key, size_t key_bytes)
{
    promote_begin(value, db, key, key_bytes);
    if (!is_under_way(find(value))) return TAMIS_ENOSTORE;
    work_finish(ctx, &find(value)->job);
    return value_is_stored(value) ? 0 : find(value)->rc;
}

void promote_follow(const struct value *value, int db, const char *key, size_t key_bytes)
{
    const struct promotion *p = find(value);
    if (is_under_way(p)) labels_want(p->stored, db, key, key_bytes);
}

uint64_t promote_count(void)
{
    return count;
}
