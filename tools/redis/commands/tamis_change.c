/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_change.c: TAMIS.MERGE, TAMIS.COMBINE, TAMIS.ROTATE, TAMIS.ROLLBACK and TAMIS.SYNC. */
#include <string.h>

#include "commands/command.h"
#include "kept/kept.h"
#include "kept/naming.h"
#include "kept/still.h"
#include "kept/store.h"
#include "persist/freeze.h"
#include "server/waiting.h"
#include "tamis_build.h"
#include "value/durable.h"
#include "value/handles.h"

/* The filters of the keys that a command reads. */
struct sources {
    size_t count;
    tamis_filter **filters;
    struct value **values;
};

static void free_sources(struct sources *sources)
{
    RedisModule_Free(sources->filters);
    RedisModule_Free(sources->values);
    handles_let_go();
}

/* Opens the filters of the keys from argument `first` on, which stay open until free_sources().
 * Replies and returns false if a key has none.  `type` becomes that of the first key. */
static bool take_sources(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int first,
                         enum type *type, struct sources *sources)
{
    RedisModuleKey *key;
    const enum type wanted = *type;
    *sources = (struct sources){.filters = RedisModule_Calloc((size_t)argc, sizeof(tamis_filter *)),
                                .values = RedisModule_Calloc((size_t)argc, sizeof(struct value *))};
    handles_hold();
    for (int i = first; i < argc; i++) {
        struct value *value = key_open(ctx, argv[i], wanted, REDISMODULE_READ, &key);
        if (value == NULL) {
            free_sources(sources);
            return false;
        }
        if (i == first) *type = value->type;
        sources->values[sources->count] = value;
        sources->filters[sources->count++] =
            value->filter; /* this thread frees no value meanwhile */
        RedisModule_CloseKey(key);
    }
    return true;
}

/* Answers a change that is done, or has failed, and replicates it. */
static int answer_change(RedisModuleCtx *ctx, RedisModuleKey *key, int rc, const char *what)
{
    RedisModule_CloseKey(key);
    if (rc < 0) return reply_failure(ctx, what);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    return making_replicate(ctx);
}

/* ---- TAMIS.MERGE and TAMIS.COMBINE ----------------------------------------------------------- */

struct combining {
    struct sources sources;
    struct value *to;    /* NULL: a filter is made, or the thread has let go of it */
    uint32_t flags;      /* of struct tamis_merge */
    uint64_t generation; /* of TAMIS.ROLLBACK */
    int64_t made_at;     /* when the slice was made that TAMIS.ROTATE has brought */
    bool has_let_go;
};

/* What is to be merged, when all jobs of the filters are done.  In any thread. */
static struct tamis_merge merge_of(const struct combining *combining)
{
    const struct sources *sources = &combining->sources;
    if (combining->to != NULL) durable_wait(combining->to);
    for (size_t i = 0; i < sources->count; i++)
        durable_wait(sources->values[i]);
    return (struct tamis_merge){.size = sizeof(struct tamis_merge),
                                .sources = sources->filters,
                                .count = sources->count,
                                .flags = combining->flags};
}

static int merge_there(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    const struct combining *combining = context;
    const struct tamis_merge merge = merge_of(combining);
    (void)store;
    (void)name;
    (void)filter;
    return tamis_filter_merge(combining->to->filter, &merge);
}

/* The library reads all that is to be added before it adds anything.  Between the two it calls
 * this, with one half done, and if that fails nothing is changed. */
static int tell_when_read(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    bool *told = context;
    if (*told || done_bytes < all_bytes / 2) return 0;
    *told = true;
    return making_tells_first() ? 0 : TAMIS_EDROPPED;
}

static int add_there(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    const struct combining *combining = context;
    bool told = false;
    struct tamis_merge merge = merge_of(combining);
    merge.progress = tell_when_read;
    merge.context = &told;
    (void)store;
    (void)name;
    (void)filter;
    return tamis_filter_merge(combining->to->filter, &merge);
}

static int create_merged(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    const struct tamis_merge merge = merge_of(context);
    const int rc = tamis_filter_create_merged(store, name, &merge, filter);
    return rc < 0 ? rc : tamis_filter_set_owned(store, name, 1);
}

/* The copy has the filters and the values behind it, and pins the values. */
static void *keep_combining(const void *context)
{
    const struct combining *from = context;
    const size_t count = from->sources.count;
    struct combining *copy =
        RedisModule_Alloc(sizeof *copy + count * (sizeof(tamis_filter *) + sizeof(struct value *)));
    *copy = *from;
    copy->sources.filters = (tamis_filter **)(copy + 1);
    copy->sources.values = (struct value **)(copy->sources.filters + count);
    for (size_t i = 0; i < count; i++) {
        copy->sources.filters[i] = from->sources.filters[i];
        copy->sources.values[i] = from->sources.values[i];
        kept_pin(from->sources.values[i]);
        if (value_counts(from->sources.values[i])) still_begin(from->sources.values[i]);
    }
    if (from->to != NULL) kept_pin(from->to);
    return copy;
}

/* The same, and nobody is to write into the filter that is changed.  What is added while another
 * slice or generation comes into force would be in one of them here, and in another one on
 * replicas. */
static void *keep_still(const void *context)
{
    struct combining *copy = keep_combining(context);
    still_begin(copy->to);
    return copy;
}

static void let_combining_go(void *context)
{
    struct combining *combining = context;
    for (size_t i = 0; i < combining->sources.count; i++) {
        still_end(combining->sources.values[i]);
        kept_unpin(combining->sources.values[i]);
    }
    if (combining->to != NULL) still_end(combining->to);
    if (combining->to != NULL) kept_unpin(combining->to);
    combining->has_let_go = true;
    handles_trim(); /* more may be open than the setting allows */
}

static const struct value *use_combining(const void *kept, size_t i, bool *changes)
{
    const struct combining *combining = kept;
    *changes = i == combining->sources.count;
    if (i > combining->sources.count) return NULL;
    return *changes ? combining->to : combining->sources.values[i];
}

/* The main thread does the same itself. */
static void settle_combining(RedisModuleCtx *ctx, const struct combining *combining)
{
    if (args_can_wait(ctx) || making_context() != NULL) return;
    for (size_t i = 0; i < combining->sources.count; i++)
        making_settle(combining->sources.values[i], false);
    if (combining->to != NULL) making_settle(combining->to, true);
}

/* Puts the present name of the key of a value into an argument.  False: it is gone, or in another
 * database. */
static bool follow_value(const struct value *value, int db, RedisModuleString **word)
{
    if (!replicate_key_has(value) || value->db != db) return false;
    RedisModule_FreeString(NULL, *word);
    *word = RedisModule_CreateString(NULL, value->key, value->key_bytes);
    return true;
}

/* The sources are the last arguments. */
static int follow_combining(const void *kept, RedisModuleString **argv, int *argc)
{
    const struct combining *combining = kept;
    const int db = combining->to->db, first = *argc - (int)combining->sources.count;
    if (!follow_value(combining->to, db, &argv[1])) return FOLLOW_GONE;
    bool followed = true;
    for (int i = first; followed && i < *argc; i++)
        followed = follow_value(combining->sources.values[i - first], db, &argv[i]);
    return followed ? db : FOLLOW_LOST;
}

/* The thread has read what the keys had when the command began.  Have they something else by now?
 * Then replicas cannot do the same. */
static bool has_changed(RedisModuleCtx *ctx, const struct combining *now)
{
    const struct combining *done = making_context();
    const size_t bytes = now->sources.count * sizeof now->sources.values[0];
    if (done == NULL || done->has_let_go ||
        (done->to == now->to &&
         (bytes == 0 || memcmp(done->sources.values, now->sources.values, bytes) == 0)))
        return false;
    (void)RedisModule_ReplyWithError(
        ctx, "ERR a key got another filter while the command was under way; give it again");
    return true;
}

/* Into a filter of CF.* that is there.  Replicas and the AOF have the command before the counters
 * are added; a server that has no turns, in which they are told, waits itself. */
static struct maker adder_of(struct combining *combining)
{
    return (struct maker){.make = add_there,
                          .context = combining,
                          .keep = waiting_is_allowed() ? keep_still : NULL,
                          .let_go = let_combining_go,
                          .uses = use_combining,
                          .holds_still = true,
                          .follow = follow_combining,
                          .may_tell = freeze_is_over};
}

static struct maker maker_of(struct combining *combining, enum type type)
{
    if (type == TYPE_CUCKOO && combining->to != NULL) return adder_of(combining);
    return (struct maker){.make = combining->to != NULL ? merge_there : create_merged,
                          .context = combining,
                          .keep = keep_combining,
                          .let_go = let_combining_go,
                          .uses = use_combining,
                          .holds_still = type == TYPE_CUCKOO,
                          .follow = follow_combining};
}

static void combine_anew(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                         struct combining *combining, enum type type)
{
    const struct maker maker = maker_of(combining, type);
    settle_combining(ctx, combining);
    if (!has_changed(ctx, combining) &&
        key_make(ctx, key, name, value_new(type), &maker, TOLD) != NULL)
        (void)RedisModule_ReplicateVerbatim(ctx);
}

/* Merges into the filter of the key, which is open, and closes the key. */
static int merge_into(RedisModuleCtx *ctx, RedisModuleKey *key, struct combining *combining,
                      enum type type, const char *what)
{
    const struct maker maker = maker_of(combining, type);
    int rc = 0;
    const bool changed = has_changed(ctx, combining);
    const bool done = changed || making_is_done(&rc);
    if (changed || (!done && making_put_off(type, "", &maker))) {
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    if (!done && type == TYPE_CUCKOO &&
        (freeze_puts_off(ctx, tamis_combine) ||
         still_puts_off(ctx, combining->to, tamis_combine))) {
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    if (!done) settle_combining(ctx, combining);
    if (!done) rc = maker.make(combining, NULL, NULL, NULL);
    return answer_change(ctx, key, rc, what);
}

static int merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key = NULL;
    enum type type = TYPE_BLOOM;
    struct combining combining = {.flags = 0};
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (!take_sources(ctx, argv, argc, 2, &type, &combining.sources)) return REDISMODULE_OK;
    combining.to = key_open(ctx, argv[1], TYPE_BLOOM, READ_WRITE, &key);
    if (combining.to != NULL)
        (void)merge_into(ctx, key, &combining, type, "the filters cannot be merged");
    free_sources(&combining.sources);
    return REDISMODULE_OK;
}

int tamis_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return run_behind(ctx, argv, argc, merge, tamis_merge);
}

static int combine_into(RedisModuleCtx *ctx, RedisModuleString *name, struct combining *combining,
                        enum type type)
{
    struct value *value;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, READ_WRITE);
    const enum held held = key_look(key, type, &value);
    if (held == HELD_NONE) combine_anew(ctx, key, name, combining, type);
    RedisModule_CloseKey(key);
    if (held == HELD_NONE) return REDISMODULE_OK;
    if (combining->flags & TAMIS_MERGE_INTERSECT)
        return RedisModule_ReplyWithError(ctx, "ERR item exists");
    combining->to = key_open(ctx, name, TYPE_ANY, READ_WRITE, &key);
    if (combining->to == NULL) return REDISMODULE_OK;
    return merge_into(ctx, key, combining, type, TOLD);
}

static int combine(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    enum type type = TYPE_ANY;
    struct combining combining = {.flags = 0};
    int rc;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    if (making_has_told(&rc))
        return rc < 0 ? reply_failure(ctx, TOLD) : RedisModule_ReplyWithSimpleString(ctx, "OK");
    const bool intersect = arg_is(argv[2], "INTERSECT");
    if (!intersect && !arg_is(argv[2], "UNION"))
        return RedisModule_ReplyWithError(ctx, "ERR give UNION or INTERSECT");
    if (!take_sources(ctx, argv, argc, 3, &type, &combining.sources)) return REDISMODULE_OK;
    if (intersect) combining.flags = TAMIS_MERGE_INTERSECT;
    (void)combine_into(ctx, argv[1], &combining, type);
    free_sources(&combining.sources);
    return REDISMODULE_OK;
}

/* TAMIS.COMBINE key UNION|INTERSECT source [source ...]: as `tamis merge`. */
int tamis_combine(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return run_behind(ctx, argv, argc, combine, tamis_combine);
}

/* ---- TAMIS.ROTATE and TAMIS.ROLLBACK --------------------------------------------------------- */

/* Tells of each segment of the filter in turn; false: there is no further one. */
static bool next_segment(const struct value *value, uint32_t *i, struct tamis_segment_stat *segment)
{
    *segment = (struct tamis_segment_stat){.size = sizeof *segment};
    return tamis_filter_segment(value->filter, (*i)++, segment) == 0;
}

static int rotate_there(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    struct combining *combining = context;
    struct tamis_segment_stat segment;
    (void)store;
    (void)name;
    (void)filter;
    durable_wait(combining->to);
    const int rc = tamis_filter_rotate(combining->to->filter);
    for (uint32_t i = 0; rc == 0 && next_segment(combining->to, &i, &segment);)
        combining->made_at = segment.created_at; /* the newest is the last one */
    return rc;
}

/* Another filter may have the name, if a local process has dropped this one. */
static int roll_back_there(void *context, tamis_store *store, const char *name,
                           tamis_filter **filter)
{
    const struct combining *combining = context;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    char own[NAME_ROOM];
    (void)store;
    (void)name;
    (void)filter;
    durable_wait(combining->to);
    naming_wait(combining->to);
    const int rc = tamis_filter_stat(combining->to->filter, &stat);
    if (rc < 0) return rc;
    handles_name(combining->to, own);
    return tamis_filter_rollback(store_open(), own, combining->generation);
}

static void *keep_named(const void *context)
{
    struct combining *copy = keep_combining(context);
    kept_pin_named(copy->to);
    return copy;
}

static void let_named_go(void *context)
{
    kept_unpin_named(((struct combining *)context)->to);
    let_combining_go(context);
}

static void *keep_still_named(const void *context)
{
    struct combining *copy = keep_named(context);
    still_begin(copy->to);
    return copy;
}

/* Is the command one of an AOF that was done before, in a filter that the store has kept?  Once
 * more, it would take another slice, or put back what it took out of force. */
static bool is_done_before(RedisModuleCtx *ctx, const struct value *value)
{
    return (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING) != 0 &&
           !value_is_ours(value);
}

/* Runs a command that changes the filter of its key and reads no other one. */
static int change_alone(RedisModuleCtx *ctx, RedisModuleString **argv, struct maker maker,
                        const char *what)
{
    RedisModuleKey *key;
    struct combining *combining = maker.context;
    int rc = 0;
    combining->to = key_open(ctx, argv[1], TYPE_BLOOM, READ_WRITE, &key);
    if (combining->to == NULL) return REDISMODULE_OK;
    const bool changed = has_changed(ctx, combining);
    const bool done = changed || making_is_done(&rc) || is_done_before(ctx, combining->to);
    if (changed || (!done && making_put_off(TYPE_BLOOM, "", &maker))) {
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    if (!done) settle_combining(ctx, combining);
    if (!done) rc = maker.make(combining, NULL, NULL, NULL);
    return answer_change(ctx, key, rc, what);
}

/* A dump that is made after the thread has moved the window, and before the command is replicated,
 * has the new slice.  Who loads the dump gets the command, too, and must not move the window once
 * more.  So replicas and the AOF get the command with the time at which the slice was made, which
 * a dump keeps. */
#define MADE "MADE"

static void add_made(RedisModuleString **argv, int *argc, int64_t made_at)
{
    for (int i = 2; i < *argc; i++)
        RedisModule_FreeString(NULL, argv[i]);
    argv[2] = RedisModule_CreateString(NULL, MADE, sizeof MADE - 1);
    argv[3] = RedisModule_CreateStringPrintf(NULL, "%lld", (long long)made_at);
    *argc = 4;
}

static int follow_rotated(const void *kept, RedisModuleString **argv, int *argc)
{
    const int db = follow_combining(kept, argv, argc);
    add_made(argv, argc, ((const struct combining *)kept)->made_at);
    return db;
}

/* Has the filter of the key a slice of that time?  Then it is answered. */
static bool has_rotated(RedisModuleCtx *ctx, RedisModuleString **argv, long long made_at)
{
    RedisModuleKey *key;
    struct tamis_segment_stat segment;
    bool found = false;
    const struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, READ_WRITE, &key);
    if (value == NULL) return true;
    for (uint32_t i = 0; !found && next_segment(value, &i, &segment);)
        found = segment.created_at == made_at;
    if (found)
        (void)answer_change(ctx, key, 0, "");
    else
        RedisModule_CloseKey(key);
    return found;
}

static int rotate(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct combining combining = {.to = NULL};
    const struct maker maker = {.make = rotate_there,
                                .context = &combining,
                                .keep = keep_still,
                                .let_go = let_combining_go,
                                .uses = use_combining,
                                .holds_still = true,
                                .follow = follow_rotated};
    long long made_at;
    if (argc != 2 && argc != 4) return RedisModule_WrongArity(ctx);
    if (argc == 4 &&
        (!arg_is(argv[2], MADE) || !arg_integer(argv[3], INT64_MIN, INT64_MAX, &made_at)))
        return RedisModule_ReplyWithError(ctx, "ERR give MADE and a time in ns, or nothing");
    if (argc == 4 && making_context() == NULL && has_rotated(ctx, argv, made_at))
        return REDISMODULE_OK;
    return change_alone(ctx, argv, maker, "the window cannot be moved");
}

int tamis_rotate(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return run_behind(ctx, argv, argc, rotate, tamis_rotate);
}

static int roll_back(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct combining combining = {.to = NULL};
    const struct maker maker = {.make = roll_back_there,
                                .context = &combining,
                                .keep = keep_still_named,
                                .let_go = let_named_go,
                                .uses = use_combining,
                                .holds_still = true,
                                .follow = follow_combining};
    long long generation = 0;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    if (argc == 3 && !arg_integer(argv[2], 1, INT64_MAX, &generation))
        return RedisModule_ReplyWithError(ctx, "ERR bad generation");
    combining.generation = (uint64_t)generation;
    return change_alone(ctx, argv, maker, "no other generation can be put in force");
}

int tamis_rollback(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return run_behind(ctx, argv, argc, roll_back, tamis_rollback);
}

/* ---- TAMIS.SYNC ------------------------------------------------------------------------------ */

/* Local processes find the filter by the name of its key then. */
static int sync_there(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    const struct combining *combining = context;
    (void)store;
    (void)name;
    (void)filter;
    naming_wait(combining->to);
    return tamis_filter_sync(combining->to->filter);
}

/* A checkpoint of a filter, which changes nothing that replicas would have to know. */
static int sync_key(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct combining combining = {.to = NULL};
    const struct maker maker = {
        .make = sync_there, .context = &combining, .keep = keep_named, .let_go = let_named_go};
    int rc;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    combining.to = key_open(ctx, argv[1], TYPE_ANY, REDISMODULE_READ, &key);
    if (combining.to == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    if (!making_is_done(&rc)) {
        if (making_put_off(combining.to->type, "", &maker)) return REDISMODULE_OK;
        rc = sync_there(&combining, NULL, NULL, NULL);
    }
    return rc < 0 ? reply_failure(ctx, "the filter is not on the disk")
                  : RedisModule_ReplyWithSimpleString(ctx, "OK");
}

int tamis_sync(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return run_behind(ctx, argv, argc, sync_key, tamis_sync);
}
