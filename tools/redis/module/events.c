/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c: what happens in the server, and what follows for the store.
 *
 *     a key is renamed, moved, restored, loaded   its filter gets the name of the key
 *     SWAPDB                                      so do those of both databases
 *     FLUSHALL, FLUSHDB                           filters that are not in the store stay out of it
 *     a child is born                             filters that go are kept until it is dead
 *     a dump is made                              what is saved: content, or references
 *     all is loaded                               what the store had beside it is dealt with
 *     a turn of the event loop ends               new filters come into the store
 *     now and then                                what was put off is done
 *     the server becomes a replica                what has not begun to change a filter is given up
 *     the server ends                             the filters come to the disk
 */
#include "module/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/making.h"
#include "kept/moves.h"
#include "kept/naming.h"
#include "kept/others.h"
#include "kept/rejoin.h"
#include "kept/store.h"
#include "kept/unwanted.h"
#include "keys/keys.h"
#include "module/flush.h"
#include "persist/freeze.h"
#include "persist/rdb.h"
#include "registry/registry.h"
#include "server/busy.h"
#include "server/clock.h"
#include "server/config.h"
#include "server/field.h"
#include "server/resync.h"
#include "server/waiting.h"
#include "value/drafts.h"
#include "value/durable.h"
#include "value/handles.h"
#include "value/light.h"

/* How many filters are brought to the disk when the server ends, and for how long more are. */
#define SYNCS_ALWAYS 1000
#define SYNC_NS 5000000000

static bool loaded;   /* a dump or an AOF, when the server began */
static bool has_aof;  /* it was an AOF */
static bool had_dump; /* has_dump() */

/* When the last whole dump was made, as the server tells it, in seconds. */
static unsigned long long last_save(RedisModuleCtx *ctx)
{
    char time[FIELD_ROOM];
    (void)server_field(ctx, "persistence", "rdb_last_save_time", time);
    return strtoull(time, NULL, 10);
}

/* Is there a dump, or has there been one in this run?  Somebody may have moved it, or make one at
 * any time, also if the server saves none by itself. */
static bool has_dump(RedisModuleCtx *ctx)
{
    char name[256];
    if (!had_dump && config_of_server(ctx, "dbfilename", name, sizeof name) > 0)
        had_dump = access(name, F_OK) == 0;
    return had_dump;
}

/* Says which filters are to be kept when their key goes. */
static void hold(RedisModuleCtx *ctx, bool child)
{
    kept_hold(child, config.rdb == RDB_REFERENCE &&
                         ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RDB) != 0 ||
                          has_dump(ctx)));
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

static void on_persistence(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)data;
    const bool dump = what == REDISMODULE_SUBEVENT_PERSISTENCE_RDB_START ||
                      what == REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START;
    const bool ends = what == REDISMODULE_SUBEVENT_PERSISTENCE_ENDED ||
                      what == REDISMODULE_SUBEVENT_PERSISTENCE_FAILED;
    if (what == REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START)
        making_settle_all(); /* DEBUG RELOAD loads it, and replicas have what it has */
    rdb_saving(!ends, dump && !replica_waits(ctx));
    if (what == REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START) {
        had_dump |= config.rdb == RDB_REFERENCE;
        hold(ctx, (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_ACTIVE_CHILD) != 0);
        kept_dump_begins();
    }
    if (ends) kept_dump_ends(what == REDISMODULE_SUBEVENT_PERSISTENCE_ENDED);
}

static void on_child(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    static unsigned long long saved_before;
    (void)event;
    (void)data;
    const bool born = what == REDISMODULE_SUBEVENT_FORK_CHILD_BORN;
    hold(ctx, born);
    if (born) {
        freeze_begin();
        saved_before = last_save(ctx);
        kept_dump_begins();
    } else {
        freeze_end();
        kept_dump_ends(last_save(ctx) != saved_before);
    }
}

/* Does the server keep its data nowhere?  It has loaded nothing when it began, saves nothing, and
 * has no AOF, nor the directory of one. */
static bool keeps_nothing(RedisModuleCtx *ctx)
{
    char directory[256];
    const int keeping = REDISMODULE_CTX_FLAGS_AOF | REDISMODULE_CTX_FLAGS_RDB;
    return !loaded && (RedisModule_GetContextFlags(ctx) & keeping) == 0 &&
           (config_of_server(ctx, "appenddirname", directory, sizeof directory) == 0 ||
            access(directory, F_OK) != 0);
}

static void finish_loading(RedisModuleCtx *ctx)
{
    static bool finished;
    if (finished || store_open() == NULL) return;
    finished = true;
    rejoin_finish(ctx, loaded, has_aof,
                  config.drop_orphans == ORPHANS_YES ||
                      (config.drop_orphans == ORPHANS_AUTO && keeps_nothing(ctx)));
}

static void on_loading(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)data;
    (void)drafts_enter();
    rdb_loading(what == REDISMODULE_SUBEVENT_LOADING_AOF_START);
    durable_wait_all();
    making_finish();
    loaded |= what == REDISMODULE_SUBEVENT_LOADING_RDB_START ||
              what == REDISMODULE_SUBEVENT_LOADING_AOF_START;
    if (what == REDISMODULE_SUBEVENT_LOADING_RDB_START ||
        what == REDISMODULE_SUBEVENT_LOADING_AOF_START)
        leftovers_loading();
    /* What the replica had before is on its way out, and has the names of what comes. */
    if (what == REDISMODULE_SUBEVENT_LOADING_REPL_START) (void)kept_finish();
    has_aof |= what == REDISMODULE_SUBEVENT_LOADING_AOF_START;
    if (what == REDISMODULE_SUBEVENT_LOADING_ENDED) finish_loading(ctx);
}

/* Does what was put off. */
static void tidy(void)
{
    if (registry_store() != NULL) busy_pass(registry_store());
    handles_trim(); /* the setting may have changed */
    light_tidy();
    if (busy_is_stuck()) return;
    drafts_try_again();
    kept_try_again();
    naming_try_again();
}

static void on_cron(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)what;
    (void)data;
    const int flags = RedisModule_GetContextFlags(ctx);
    if ((flags & (REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING)) != 0)
        return;
    finish_loading(ctx); /* if nothing was loaded, this is the first call */
    others_see_us();
    resync_try(ctx);
    flush_watch(ctx);
    flush_tidy();
    moves_watch_flushes(ctx);
    if (!busy_is_stuck()) unwanted_drop_some(ctx);
    hold(ctx, (flags & REDISMODULE_CTX_FLAGS_ACTIVE_CHILD) != 0);
    tidy();
}

/* The server runs the commands of unblocked clients next. */
static void end_turn(void)
{
    drafts_before_sleep();
    drafts_go_on();
    making_go_on();
    waiting_go_on();
    moves_before_sleep();
}

static void begin_turn(void)
{
    drafts_after_sleep();
    moves_after_sleep();
}

static void on_turn(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    if (what == REDISMODULE_SUBEVENT_EVENTLOOP_BEFORE_SLEEP)
        end_turn();
    else
        begin_turn();
}

/* With ASYNC another thread frees the values, and keys of the same names may be made before. */
static void on_flush(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    const struct RedisModuleFlushInfo *flush = data;
    (void)event;
    if (what != REDISMODULE_SUBEVENT_FLUSHDB_START) {
        moves_flush_ends(flush->sync == 0);
        return;
    }
    moves_note_flush(flush->dbnum);
    drafts_forget_database(flush->dbnum);
    if (flush->dbnum < 0) flush_begins(ctx);
}

static void on_swap(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    const struct RedisModuleSwapDbInfo *swap = data;
    (void)ctx;
    (void)event;
    (void)what;
    naming_swap(swap->dbnum_first, swap->dbnum_second);
}

static void on_role(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    if (what == REDISMODULE_EVENT_REPLROLECHANGED_NOW_REPLICA) making_give_up_changes();
}

/* The filters that are brought to the disk at the end. */
struct syncing {
    RedisModuleCtx *ctx;
    int64_t end_ns;
    uint64_t done, left;
};

static void sync_one(void *context, struct value *value)
{
    struct syncing *syncing = context;
    if (!value->was_open) return;
    if (syncing->done >= SYNCS_ALWAYS && clock_ns() >= syncing->end_ns) {
        syncing->left++;
        return;
    }
    syncing->done++;
    int rc = value_open(value);
    if (rc == TAMIS_EDROPPED) return;
    if (rc == 0) rc = tamis_filter_sync(value->filter);
    if (rc < 0 && rc != TAMIS_EREADONLY) /* a static filter is on the disk already */
        RedisModule_Log(syncing->ctx, "warning", "the filter '%s' is not on the disk: %s",
                        value->name, tamis_last_error());
}

/* The server waits for this, and who waits for its end may lose patience.  So of very many filters
 * some are left to the system, which writes the files within half a minute. */
static void sync_all(RedisModuleCtx *ctx)
{
    struct syncing syncing = {.ctx = ctx, .end_ns = clock_ns() + SYNC_NS};
    registry_each(sync_one, &syncing);
    if (syncing.left > 0)
        RedisModule_Log(ctx, "notice",
                        "%" PRIu64 " filters were brought to the disk, and %" PRIu64
                        " are left to the system; if the machine loses its power before it has "
                        "written them, they are unclean",
                        syncing.done, syncing.left);
}

static void on_shutdown(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what, void *data)
{
    (void)event;
    (void)what;
    (void)data;
    durable_wait_all();
    (void)drafts_enter();
    making_finish();
    const size_t left = kept_finish();
    if (left > 0)
        RedisModule_Log(ctx, "warning",
                        "%zu filters whose keys are gone stay in the store, as its catalog is "
                        "locked; those with the names of keys are orphans at the next start",
                        left);
    moves_close();
    sync_all(ctx);
}

/* Called when a key has come to a name.  Its value may be one of ours. */
static int on_key(RedisModuleCtx *ctx, int type, const char *event, RedisModuleString *name)
{
    (void)type;
    if (strcmp(event, "rename_to") != 0 && strcmp(event, "move_to") != 0 &&
        strcmp(event, "restore") != 0)
        return REDISMODULE_OK;
    struct value *value;
    size_t bytes;
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH);
    if (key_look(key, TYPE_ANY, &value) == HELD_VALUE) {
        const char *text = RedisModule_StringPtrLen(name, &bytes);
        naming_follow(value, RedisModule_GetSelectedDb(ctx), text, bytes);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
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
                  {REDISMODULE_EVENT_FLUSHDB, on_flush},
                  {REDISMODULE_EVENT_SWAPDB, on_swap},
                  {REDISMODULE_EVENT_SHUTDOWN, on_shutdown},
                  {REDISMODULE_EVENT_REPLICATION_ROLE_CHANGED, on_role}};
    freeze_prepare();
    RedisModule_SetModuleOptions(
        ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS | REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD |
                 (is_valkey(ctx) ? VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION : 0));
    int rc = RedisModule_SubscribeToKeyspaceEvents(ctx, REDISMODULE_NOTIFY_GENERIC, on_key);
    for (size_t i = 0; rc == REDISMODULE_OK && i < sizeof wanted / sizeof wanted[0]; i++) {
        const RedisModuleEvent event = {.id = wanted[i].event, .dataver = 1};
        rc = RedisModule_SubscribeToServerEvent(ctx, event, wanted[i].call);
    }
    const RedisModuleEvent turn = {.id = REDISMODULE_EVENT_EVENTLOOP, .dataver = 1};
    if (rc == REDISMODULE_OK &&
        RedisModule_SubscribeToServerEvent(ctx, turn, on_turn) == REDISMODULE_OK) {
        drafts_allow();
        waiting_allow();
    }
    return rc;
}
