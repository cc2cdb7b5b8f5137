/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c: what happens in the server, and what follows from it.
 *
 *     a key is renamed, moved, copied, restored   its filter's label follows
 *     SWAPDB                                      so do those of both databases
 *     a dump is made                              whether ids and references are saved
 *     data are loaded                             whether they are a master's
 *     all is loaded                               orphans are told, or dropped
 *     a turn of the event loop ends               promotions end; clients that waited go on
 *     now and then                                labels, drops, handles that are closed
 *     the server ends                             the filters come to the disk
 */
#include "module/register.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "home/bind.h"
#include "home/labels.h"
#include "home/promote.h"
#include "keys/keys.h"
#include "persist/rdb.h"
#include "server/busy.h"
#include "server/config.h"
#include "server/system.h"
#include "server/waiting.h"
#include "value/drops.h"
#include "value/memory.h"
#include "value/store.h"
#include "value/task.h"

/* How many filters are brought to the disk when the server ends, and for how long more are. */
#define SYNCS_ALWAYS 1000
#define SYNC_NS 5000000000

static struct {
    bool loaded;                     /* a dump or an AOF, when the server began */
    bool finished;                   /* what follows from that is done */
    unsigned long long saved_before; /* when the last dump was made, before the child that lives */
} state;

/* When the last whole dump was made, as the server tells it. */
static unsigned long long last_save(RedisModuleCtx *ctx)
{
    char time[FIELD_ROOM];
    (void)server_field(ctx, "persistence", "rdb_last_save_time", time);
    return strtoull(time, NULL, 10);
}

/* Does a replica wait for the dump that is made now?  It may be on another machine. */
static bool replica_waits(RedisModuleCtx *ctx)
{
    char name[16], replica[FIELD_ROOM] = "";
    bool waits = false, told = true;
    for (int i = 0; told && !waits; i++) {
        (void)snprintf(name, sizeof name, "slave%d", i);
        told = server_field(ctx, "replication", name, replica);
        waits = strstr(replica, "state=wait_bgsave") != NULL;
    }
    return waits;
}

/* Comes in the child that saves, or in the server for SAVE. */
static void on_persistence(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)data;
    switch (what) {
    case REDISMODULE_SUBEVENT_PERSISTENCE_RDB_START:
    case REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START:
        /* SAVE and DEBUG RELOAD are for no replica. */
        rdb_saving(work_is_child() && replica_waits(ctx) ? SAVING_WHOLE : SAVING_FILE);
        if (!work_is_child()) (void)stored_dumps(true);
        break;
    case REDISMODULE_SUBEVENT_PERSISTENCE_AOF_START:
    case REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_AOF_START:
        rdb_saving(SAVING_WHOLE);
        break;
    default:
        rdb_saving(SAVING_PAYLOAD);
        if (!work_is_child() && what == REDISMODULE_SUBEVENT_PERSISTENCE_ENDED)
            drops_dump_is_whole();
    }
}

static void on_child(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)data;
    if (what == REDISMODULE_SUBEVENT_FORK_CHILD_BORN) {
        state.saved_before = last_save(ctx);
        (void)stored_dumps(true);
    } else if (last_save(ctx) != state.saved_before) {
        drops_dump_is_whole();
    }
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Does the server keep its data nowhere?  It has loaded nothing when it began, saves nothing, and
 * has no AOF, nor the directory of one. */
static bool keeps_nothing(RedisModuleCtx *ctx)
{
    char directory[256];
    const int keeping = REDISMODULE_CTX_FLAGS_AOF | REDISMODULE_CTX_FLAGS_RDB;
    return !state.loaded && (RedisModule_GetContextFlags(ctx) & keeping) == 0 &&
           (config_of_server(ctx, "appenddirname", directory, sizeof directory) == 0 ||
            access(directory, F_OK) != 0);
}

static void finish_loading(RedisModuleCtx *ctx)
{
    if (state.finished || store_is_open() == NULL) return;
    state.finished = true;
    if (config.drop_orphans == ORPHANS_YES ||
        (config.drop_orphans == ORPHANS_AUTO && keeps_nothing(ctx))) {
        orphans_drop_all();
        return;
    }
    const int64_t orphans = orphans_each(NULL, NULL);
    if (orphans > 0)
        RedisModule_Log(ctx, "notice",
                        "%" PRId64 " filters of the store have no key: TAMIS.ORPHANS lists them, "
                        "and drops them one by one",
                        orphans);
}

static void on_loading(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)data;
    rdb_loading_of_master(what == REDISMODULE_SUBEVENT_LOADING_REPL_START);
    if (what == REDISMODULE_SUBEVENT_LOADING_RDB_START ||
        what == REDISMODULE_SUBEVENT_LOADING_AOF_START)
        stored_outdate_all();
    state.loaded |= what == REDISMODULE_SUBEVENT_LOADING_RDB_START ||
                    what == REDISMODULE_SUBEVENT_LOADING_AOF_START;
    if (what != REDISMODULE_SUBEVENT_LOADING_ENDED) return;
    int64_t found = 0;
    for (struct stored *s = stored_first(); s != NULL; s = stored_next(s)) {
        if (s->filter != NULL) work_wait(&s->line); /* durable adds: who asks finds all keys */
        found += s->found;
        s->found = false;
    }
    if (found > 0)
        RedisModule_Log(ctx, "notice",
                        "%" PRId64 " filters are those of the store, with what came after the dump "
                        "or AOF; 'restore replace' behind loadmodule makes the dump win",
                        found);
    finish_loading(ctx);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void on_cron(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)what;
    (void)data;
    const int flags = RedisModule_GetContextFlags(ctx);
    if ((flags & (REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING)) != 0)
        return;
    finish_loading(ctx); /* if nothing was loaded, this is the first call */
    if (store_is_open() != NULL) busy_pass(store_is_open());
    stored_trim(); /* the setting may have changed */
    drops_pass(ctx);
}

static void on_turn(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)data;
    if (what != REDISMODULE_SUBEVENT_EVENTLOOP_BEFORE_SLEEP) return;
    stored_reap(drops_push);
    task_pass(ctx);
    labels_pass();
    waiting_go_on(); /* the server runs the commands of unblocked clients next */
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void on_swap(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    const struct RedisModuleSwapDbInfo *swap = data;
    (void)ctx;
    (void)event;
    (void)what;
    labels_swap(swap->dbnum_first, swap->dbnum_second);
}

/* A value that begins in the store without a command of ours, by COPY or RESTORE, is told the AOF
 * before that command. */
static void follow(RedisModuleCtx *ctx, struct value *value, const char *key, size_t bytes,
                   bool is_new)
{
    const int db = RedisModule_GetSelectedDb(ctx);
    if (value->home == HOME_MEMORY) promote_follow(value, db, key, bytes);
    if (value->home != HOME_STORE) return;
    labels_want(value->stored, db, key, bytes);
    if (is_new) bind_tell(ctx, key, bytes, value);
}

/* Called when a key has come to a name.  Its value may be one of ours. */
static int on_key(RedisModuleCtx *ctx, int type, const char *event, RedisModuleString *name)
{
    const bool is_new = strcmp(event, "copy_to") == 0 || strcmp(event, "restore") == 0;
    (void)type;
    if (strcmp(event, "del") == 0) { /* what was told for it is no other value's */
        struct id id;
        size_t length;
        const char *gone = RedisModule_StringPtrLen(name, &length);
        (void)bind_take(RedisModule_GetSelectedDb(ctx), gone, length, &id);
        return REDISMODULE_OK;
    }
    if (!is_new && strcmp(event, "rename_to") != 0 && strcmp(event, "move_to") != 0)
        return REDISMODULE_OK;
    struct value *value;
    size_t bytes;
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH);
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    if (key_look(key, TYPE_BLOOM, &value) == HELD_VALUE) follow(ctx, value, text, bytes, is_new);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- The end --------------------------------------------------------------------------------- */

/* The server waits for this, and who waits for its end may lose patience.  So of very many filters
 * some are left to the system, which writes the files within half a minute. */
static void on_shutdown(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    const int64_t end_ns = clock_ns() + SYNC_NS;
    uint64_t done = 0, left = 0;
    (void)event;
    (void)what;
    (void)data;
    work_idle();
    for (struct stored *s = stored_first(); s != NULL; s = stored_next(s)) {
        if (!waiting_is_paused()) task_settle(ctx, s); /* replicas hear of what is done */
        if (s->filter == NULL) continue;
        if (done++ >= SYNCS_ALWAYS && clock_ns() >= end_ns) {
            left++;
            continue;
        }
        const int rc = tamis_filter_sync(s->filter);
        if (rc < 0 && rc != TAMIS_EREADONLY && rc != TAMIS_EDROPPED)
            RedisModule_Log(ctx, "warning", "a filter is not on the disk: %s", tamis_last_error());
    }
    if (left > 0)
        RedisModule_Log(ctx, "notice", "%" PRIu64 " filters are left to the system to be written",
                        left);
}

static bool is_valkey(RedisModuleCtx *ctx)
{
    char version[FIELD_ROOM];
    return server_field(ctx, "server", "valkey_version", version);
}

int events_subscribe(RedisModuleCtx *ctx)
{
    static const struct {
        uint64_t event;
        RedisModuleEventCallback *call;
    } wanted[] = {{REDISMODULE_EVENT_PERSISTENCE, on_persistence},
                  {REDISMODULE_EVENT_FORK_CHILD, on_child},
                  {REDISMODULE_EVENT_LOADING, on_loading},
                  {REDISMODULE_EVENT_CRON_LOOP, on_cron},
                  {REDISMODULE_EVENT_SWAPDB, on_swap},
                  {REDISMODULE_EVENT_SHUTDOWN, on_shutdown},
                  {REDISMODULE_EVENT_EVENTLOOP, on_turn}};
    work_prepare();
    RedisModule_SetModuleOptions(
        ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS | REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD |
                 (is_valkey(ctx) ? VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION : 0));
    int rc = RedisModule_SubscribeToKeyspaceEvents(ctx, REDISMODULE_NOTIFY_GENERIC, on_key);
    for (size_t i = 0; rc == REDISMODULE_OK && i < sizeof wanted / sizeof wanted[0]; i++) {
        const RedisModuleEvent event = {.id = wanted[i].event, .dataver = 1};
        rc = RedisModule_SubscribeToServerEvent(ctx, event, wanted[i].call);
    }
    return rc;
}
