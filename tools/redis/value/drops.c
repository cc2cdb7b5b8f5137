/* SPDX-License-Identifier: BSD-2-Clause */
/* drops.c: see drops.h. */
#include "value/drops.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/config.h"
#include "server/system.h"
#include "value/store.h"
#include "value/work.h"

#define AT_ONCE ((size_t)1000) /* one change of the store */
#define PATH_ROOM 4096
#define AGAIN_NS INT64_C(1000000000)

struct drop {
    struct drop *next;
    struct id id;
    uint64_t dump; /* the dump that was begun last when the value went */
};

/* Under the mutex. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    struct drop *waiting; /* for the AOF's buffer */
    struct drop *written; /* the AOF has what allows them */
    struct id *now;       /* in work by the thread */
    size_t now_count;
    uint64_t count, done;
    uint64_t dumps_begun, dump_whole;
    bool busy;        /* the thread has a job */
    bool held;        /* what is left of `written` waits for a dump */
    bool dumps;       /* a dump that refers to filters is there, or was made */
    int64_t again_ns; /* after a failure */
} drops = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

void drops_push(const struct id *id, uint64_t dump)
{
    struct drop *drop = RedisModule_Alloc(sizeof *drop);
    drop->id = *id;
    (void)pthread_mutex_lock(&drops.mutex);
    drop->dump = dump;
    drop->next = drops.waiting;
    drops.waiting = drop;
    drops.count++;
    (void)pthread_mutex_unlock(&drops.mutex);
}

static bool is_in(const struct drop *list, const struct id *id)
{
    while (list != NULL && !id_is(&list->id, id))
        list = list->next;
    return list != NULL;
}

static bool is_now(const struct id *id)
{
    for (size_t i = 0; i < drops.now_count; i++)
        if (id_is(&drops.now[i], id)) return true;
    return false;
}

bool drops_have(const struct id *id)
{
    (void)pthread_mutex_lock(&drops.mutex);
    const bool have =
        drops.count > 0 && (is_in(drops.waiting, id) || is_in(drops.written, id) || is_now(id));
    (void)pthread_mutex_unlock(&drops.mutex);
    return have;
}

static void take_off(struct drop **at, const struct id *id)
{
    while (*at != NULL && !id_is(&(*at)->id, id))
        at = &(*at)->next;
    struct drop *drop = *at;
    if (drop == NULL) return;
    *at = drop->next;
    drops.count--;
    RedisModule_Free(drop);
}

void drops_take_back(const struct id *id)
{
    (void)pthread_mutex_lock(&drops.mutex);
    if (drops.count > 0) {
        take_off(&drops.waiting, id);
        take_off(&drops.written, id);
        while (is_now(id))
            (void)pthread_cond_wait(&drops.ended, &drops.mutex);
    }
    (void)pthread_mutex_unlock(&drops.mutex);
}

/* ---- The thread ------------------------------------------------------------------------------ */

struct dropping {
    struct job job;
    has_fn *has;
    char directory[PATH_ROOM]; /* of the AOF; "": there is none */
};

/* Syncs the files of the AOF.  Those that are synced already cost next to nothing. */
static bool sync_aof(const char *directory)
{
    DIR *dir = opendir(directory);
    bool synced = dir != NULL;
    for (const struct dirent *e; synced && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        const int fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        /* A file that is gone was one of before a rewrite. */
        synced = fd >= 0 ? fdatasync(fd) == 0 : errno == ENOENT;
        if (fd >= 0) (void)close(fd);
    }
    if (dir != NULL) (void)closedir(dir);
    return synced;
}

/* Takes the next ids that no value has. */
static size_t take_some(has_fn *has, uint8_t (*ids)[TAMIS_ID_BYTES])
{
    size_t count = 0;
    (void)pthread_mutex_lock(&drops.mutex);
    for (struct drop **at = &drops.written, *drop; (drop = *at) != NULL && count < AT_ONCE;) {
        if (drops.dumps && drop->dump != NO_DUMP && drop->dump >= drops.dump_whole) {
            at = &drop->next;
            continue;
        }
        if (!has(&drop->id)) memcpy(ids[count++], drop->id.bytes, sizeof *ids);
        *at = drop->next;
        drops.count--;
        RedisModule_Free(drop);
    }
    drops.now = (struct id *)(void *)ids;
    drops.now_count = count;
    drops.count += count;
    (void)pthread_mutex_unlock(&drops.mutex);
    return count;
}

static void end_some(size_t count, bool dropped)
{
    (void)pthread_mutex_lock(&drops.mutex);
    for (size_t i = 0; !dropped && i < count; i++) { /* tried again */
        struct drop *drop = RedisModule_Alloc(sizeof *drop);
        *drop = (struct drop){.next = drops.written, .id = drops.now[i]};
        drops.written = drop;
    }
    if (dropped) drops.count -= count;
    if (dropped) drops.done += count;
    if (!dropped) drops.again_ns = clock_ns() + AGAIN_NS;
    drops.now_count = 0;
    (void)pthread_cond_broadcast(&drops.ended);
    (void)pthread_mutex_unlock(&drops.mutex);
}

static void run(struct job *job)
{
    struct dropping *dropping = (struct dropping *)(void *)job;
    uint8_t(*ids)[TAMIS_ID_BYTES] = RedisModule_Alloc(AT_ONCE * sizeof *ids);
    tamis_store *store = store_is_open();
    bool good = store != NULL && (*dropping->directory == '\0' || sync_aof(dropping->directory));
    for (size_t count; good && (count = take_some(dropping->has, ids)) > 0;) {
        good = tamis_filter_drop_ids(store, (const uint8_t(*)[TAMIS_ID_BYTES])ids, count) >= 0;
        if (!good)
            RedisModule_Log(NULL, "warning", "%zu filters whose keys are gone stay for now: %s",
                            count, tamis_last_error());
        end_some(count, good);
    }
    (void)pthread_mutex_lock(&drops.mutex);
    drops.now = NULL;
    drops.busy = false;
    drops.held = good;
    (void)pthread_mutex_unlock(&drops.mutex);
    RedisModule_Free(ids);
    RedisModule_Free(dropping);
}

/* ---- The server's side ----------------------------------------------------------------------- */

/* Is all that was told the AOF before now with the system? */
static bool is_written(RedisModuleCtx *ctx)
{
    char bytes[FIELD_ROOM];
    return server_field(ctx, "persistence", "aof_buffer_length", bytes) &&
           strtoull(bytes, NULL, 10) == 0;
}

/* Is there a dump, which may refer to what has gone since? */
static bool is_dumped(RedisModuleCtx *ctx)
{
    char path[PATH_ROOM];
    return drops.dump_whole > 0 ||
           (config_of_server(ctx, "dbfilename", path, sizeof path) > 0 && access(path, F_OK) == 0);
}

void drops_pass(RedisModuleCtx *ctx, has_fn *has)
{
    const int flags = RedisModule_GetContextFlags(ctx);
    const int hinder = REDISMODULE_CTX_FLAGS_ACTIVE_CHILD | REDISMODULE_CTX_FLAGS_LOADING |
                       REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    const bool aof = (flags & REDISMODULE_CTX_FLAGS_AOF) != 0;
    if (drops_waiting() == 0 || (flags & hinder) != 0 || store_is_of_another()) return;
    if (aof && !is_written(ctx)) return;
    const bool dumps = config.rdb == RDB_REFERENCE && is_dumped(ctx);
    (void)pthread_mutex_lock(&drops.mutex);
    drops.dumps = dumps;
    struct drop **end = &drops.written;
    while (*end != NULL)
        end = &(*end)->next;
    *end = drops.waiting;
    drops.held = drops.held && drops.waiting == NULL && dumps;
    drops.waiting = NULL;
    const bool starts =
        !drops.busy && drops.written != NULL && !drops.held && clock_ns() >= drops.again_ns;
    drops.busy |= starts;
    (void)pthread_mutex_unlock(&drops.mutex);
    if (!starts) return;
    struct dropping *dropping = RedisModule_Calloc(1, sizeof *dropping);
    dropping->job.run = run;
    dropping->has = has;
    if (aof)
        (void)config_of_server(ctx, "appenddirname", dropping->directory,
                               sizeof dropping->directory);
    work_submit(NULL, &dropping->job);
}

void drops_dump_begins(void)
{
    (void)pthread_mutex_lock(&drops.mutex);
    drops.dumps_begun++;
    (void)pthread_mutex_unlock(&drops.mutex);
}

void drops_dump_is_whole(void)
{
    (void)pthread_mutex_lock(&drops.mutex);
    drops.dump_whole = drops.dumps_begun;
    drops.held = false;
    (void)pthread_mutex_unlock(&drops.mutex);
}

uint64_t drops_dumps(void)
{
    (void)pthread_mutex_lock(&drops.mutex);
    const uint64_t begun = drops.dumps_begun;
    (void)pthread_mutex_unlock(&drops.mutex);
    return begun;
}

uint64_t drops_waiting(void)
{
    (void)pthread_mutex_lock(&drops.mutex);
    const uint64_t count = drops.count;
    (void)pthread_mutex_unlock(&drops.mutex);
    return count;
}

void drops_note(void)
{
    (void)pthread_mutex_lock(&drops.mutex);
    drops.done++;
    (void)pthread_mutex_unlock(&drops.mutex);
}

uint64_t drops_done(void)
{
    (void)pthread_mutex_lock(&drops.mutex);
    const uint64_t done = drops.done;
    (void)pthread_mutex_unlock(&drops.mutex);
    return done;
}

static void lock(void)
{
    (void)pthread_mutex_lock(&drops.mutex);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&drops.mutex);
}

void drops_prepare(void)
{
    (void)pthread_atfork(lock, unlock, unlock);
}
