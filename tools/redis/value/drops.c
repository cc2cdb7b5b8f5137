/* SPDX-License-Identifier: BSD-2-Clause */
/* drops.c: see drops.h. */
#include "value/drops.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/config.h"
#include "server/system.h"
#include "tamis_exchange.h"
#include "value/head.h"
#include "value/store.h"
#include "value/stored.h"

#define AT_ONCE ((size_t)1000) /* one change of the store */
#define PATH_ROOM 4096
#define AGAIN_NS INT64_C(1000000000)

struct drop {
    struct drop *next;
    struct id id;
    uint64_t dump; /* the dump that was begun last when the value went */
};

/* Under the lock. */
static struct {
    struct drop *waiting;
    struct drop *chosen; /* by drops_pass(), for the thread; */
    size_t busy;         /* the first of them are in work */
    bool runs;           /* the thread does */
    uint64_t count, done;
    uint64_t dump_whole; /* the last of them */
    int64_t again_ns;    /* after a failure */
} drops;

void drops_push(const struct id *id, uint64_t dump)
{
    struct drop *drop = RedisModule_Alloc(sizeof *drop);
    *drop = (struct drop){.id = *id, .dump = dump};
    work_lock();
    drop->next = drops.waiting;
    drops.waiting = drop;
    drops.count++;
    work_unlock();
}

/* Where a list has the id: how many are before it, or at its end. */
static struct drop **find(struct drop **list, const struct id *id, size_t *before)
{
    for (*before = 0; *list != NULL && !id_is(&(*list)->id, id); ++*before)
        list = &(*list)->next;
    return list;
}

static void take_off(struct drop **at)
{
    struct drop *drop = *at;
    if (drop == NULL) return;
    *at = drop->next;
    drops.count--;
    RedisModule_Free(drop);
}

void drops_take_back(const struct id *id)
{
    size_t before;
    work_lock();
    take_off(find(&drops.waiting, id, &before));
    for (;;) {
        struct drop **at = find(&drops.chosen, id, &before);
        if (*at == NULL || before >= drops.busy) {
            take_off(at);
            break;
        }
        work_sleep();
    }
    work_unlock();
}

static bool is_about_to_go(const struct id *id)
{
    size_t before;
    work_lock();
    const bool is =
        *find(&drops.waiting, id, &before) != NULL || *find(&drops.chosen, id, &before) != NULL;
    work_unlock();
    return is;
}

/* ---- The thread ------------------------------------------------------------------------------ */

struct dropping {
    struct job job;
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

/* Takes the next ids. */
static size_t take_some(uint8_t (*ids)[TAMIS_ID_BYTES])
{
    work_lock();
    drops.busy = 0;
    for (const struct drop *drop = drops.chosen; drop != NULL && drops.busy < AT_ONCE;
         drop = drop->next)
        memcpy(ids[drops.busy++], drop->id.bytes, sizeof *ids);
    const size_t count = drops.busy;
    work_unlock();
    return count;
}

/* Leaves out those that a value has. */
static size_t leave_out(uint8_t (*ids)[TAMIS_ID_BYTES], size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        struct id id;
        memcpy(&id, ids[i], sizeof id);
        if (!stored_has(&id)) memcpy(ids[left++], id.bytes, sizeof id);
    }
    return left;
}

/* Those that were taken are done with; after a failure all are tried again. */
static void end_some(size_t dropped, bool good)
{
    work_lock();
    while (good && drops.busy > 0) {
        take_off(&drops.chosen);
        drops.busy--;
    }
    drops.busy = 0;
    drops.done += dropped;
    if (!good) drops.again_ns = clock_ns() + AGAIN_NS;
    work_tell_news();
    work_unlock();
}

static void run(struct job *job)
{
    struct dropping *dropping = (struct dropping *)(void *)job;
    uint8_t(*ids)[TAMIS_ID_BYTES] = RedisModule_Alloc(AT_ONCE * sizeof *ids);
    tamis_store *store = store_is_open();
    bool good = store != NULL && (*dropping->directory == '\0' || sync_aof(dropping->directory));
    for (size_t count; good && (count = take_some(ids)) > 0;) {
        const size_t left = leave_out(ids, count);
        good = left == 0 ||
               tamis_filter_drop_ids(store, (const uint8_t(*)[TAMIS_ID_BYTES])ids, left) >= 0;
        if (!good)
            RedisModule_Log(NULL, "warning", "%zu filters whose keys are gone stay for now: %s",
                            left, tamis_last_error());
        end_some(left, good);
    }
    work_lock();
    drops.runs = false;
    work_unlock();
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

/* Chooses those that no dump hinders.  Returns whether there are some. */
static bool choose(bool dumps)
{
    work_lock();
    struct drop **end = &drops.chosen, **at = &drops.waiting;
    while (*end != NULL)
        end = &(*end)->next;
    for (struct drop *drop; (drop = *at) != NULL;) {
        if (dumps && drop->dump != NO_DUMP && drop->dump >= drops.dump_whole) {
            at = &drop->next;
            continue;
        }
        *at = drop->next;
        drop->next = NULL;
        *end = drop;
        end = &drop->next;
    }
    drops.runs = drops.chosen != NULL;
    const bool runs = drops.runs;
    work_unlock();
    return runs;
}

void drops_pass(RedisModuleCtx *ctx)
{
    const int flags = RedisModule_GetContextFlags(ctx);
    const int hinder = REDISMODULE_CTX_FLAGS_ACTIVE_CHILD | REDISMODULE_CTX_FLAGS_LOADING |
                       REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    const bool aof = (flags & REDISMODULE_CTX_FLAGS_AOF) != 0;
    work_lock();
    const bool waits = drops.count > 0 && !drops.runs && clock_ns() >= drops.again_ns;
    work_unlock();
    if (!waits || (flags & hinder) != 0 || store_is_of_another()) return;
    if (aof && !is_written(ctx)) return;
    if (!choose(config.rdb == RDB_REFERENCE && is_dumped(ctx))) return;
    struct dropping *dropping = RedisModule_Calloc(1, sizeof *dropping);
    dropping->job.run = run;
    if (aof)
        (void)config_of_server(ctx, "appenddirname", dropping->directory,
                               sizeof dropping->directory);
    work_submit(NULL, &dropping->job);
}

void drops_dump_is_whole(void)
{
    drops.dump_whole = stored_dumps(false);
}

void drops_note(void)
{
    work_lock();
    drops.done++;
    work_unlock();
}

uint64_t drops_waiting(void)
{
    work_lock();
    const uint64_t count = drops.count;
    work_unlock();
    return count;
}

uint64_t drops_done(void)
{
    work_lock();
    const uint64_t done = drops.done;
    work_unlock();
    return done;
}

/* ---- Orphans --------------------------------------------------------------------------------- */

static int64_t there; /* atomic, relaxed: when somebody looked */

struct looking {
    orphan_fn *fn;
    void *context;
    int64_t count;
};

static int look(void *context, const char *name, const uint8_t *bytes, int owned)
{
    struct looking *looking = context;
    struct id id;
    if (!owned || bytes == NULL) return 0;
    memcpy(&id, bytes, sizeof id);
    if (stored_has(&id) || store_is_claimed(&id) || is_about_to_go(&id)) return 0;
    looking->count++;
    if (looking->fn != NULL) looking->fn(looking->context, name, &id);
    return 0;
}

int64_t orphans_each(orphan_fn *fn, void *context)
{
    struct looking looking = {.fn = fn, .context = context};
    tamis_store *store = store_is_open();
    if (store == NULL || store_is_of_another()) return 0;
    const int rc = tamis_store_list_ids(store, look, &looking);
    if (rc == 0) __atomic_store_n(&there, looking.count, __ATOMIC_RELAXED);
    return rc < 0 ? rc : looking.count;
}

int64_t orphans_count(void)
{
    return __atomic_load_n(&there, __ATOMIC_RELAXED);
}

/* The kernel gives a lease to write to nobody who is not alone with a file. */
static bool is_open(const char *file)
{
    char path[PATH_ROOM];
    (void)snprintf(path, sizeof path, "%s/%s", config.store, file);
    /* O_NONBLOCK: where another process has a lease, open() would wait for its end. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    /* Who opens the file just now makes the kernel send a signal, which would be SIGIO and end the
     * server.  SIGURG does nothing where nobody waits for it. */
    const bool alone =
        fd >= 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
    if (fd >= 0) (void)close(fd); /* which gives the lease back */
    return !alone;
}

bool orphan_is_in_use(const struct id *id)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    tamis_filter *filter = NULL;
    char files[LAYERS_MAX][TAMIS_SEGMENT_FILE_BYTES];
    uint32_t count = 0;
    bool in_use = false;
    const int rc = tamis_filter_open_id(store_is_open(), id->bytes, TAMIS_OPEN_READ_ONLY, &filter);
    if (rc < 0) return rc != TAMIS_ENOTFOUND;
    while (count < LAYERS_MAX && tamis_filter_segment(filter, count, &segment) == 0)
        (void)tamis_segment_file(segment.number, files[count++]);
    tamis_filter_release(filter);
    for (uint32_t i = 0; !in_use && i < count; i++)
        in_use = is_open(files[i]);
    return in_use;
}

static void drop_unused(void *context, const char *name, const struct id *id)
{
    int64_t *in_use = context;
    (void)name;
    if (orphan_is_in_use(id))
        ++*in_use;
    else
        drops_push(id, NO_DUMP);
}

static void run_orphans(struct job *job)
{
    int64_t in_use = 0;
    const int64_t count = orphans_each(drop_unused, &in_use);
    if (count > 0)
        RedisModule_Log(NULL, "notice",
                        "%" PRId64 " filters of the store have no key: they are dropped", count);
    if (in_use > 0)
        RedisModule_Log(NULL, "notice",
                        "%" PRId64 " of them stay, as other processes have them open; "
                        "TAMIS.ORPHANS lists them",
                        in_use);
    RedisModule_Free(job);
}

void orphans_drop_all(void)
{
    struct job *job = RedisModule_Calloc(1, sizeof *job);
    job->run = run_orphans;
    work_submit(NULL, job);
}
