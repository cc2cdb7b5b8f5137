/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_change.c: TAMIS.MERGE, TAMIS.COMBINE, TAMIS.ROTATE, TAMIS.ROLLBACK and TAMIS.SYNC.
 *
 * A thread changes the filter and syncs it, then the command is run anew, which logs it.  So a
 * change that the log has is in the store, and a load that finds the store's filter passes it over.
 */
#include <string.h>

#include "commands/command.h"
#include "home/labels.h"
#include "server/config.h"
#include "tamis.h"
#include "value/store.h"

/* What a thread changes, and by what: handles of filters that are pinned. */
struct change {
    struct task task; /* first: it is one */
    tamis_filter *sources[PINS_MAX];
    size_t count;
    tamis_filter *to; /* NULL: a filter is made */
    struct id id;     /* of `to` */
    uint32_t flags;   /* of struct tamis_merge */
    uint64_t generation;
    int64_t made_at; /* when the newest segment was made */
};

static struct change *new_change(int (*work)(struct task *task))
{
    struct change *change = RedisModule_Calloc(1, sizeof *change);
    change->task.work = work;
    return change;
}

/* Opens the filter of a key and pins it.  False: replied, or the command is put off. */
static bool take_source(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleReplyFunc *again,
                        struct change *change)
{
    RedisModuleKey *key;
    const struct value *value = key_open_stored(ctx, name, REDISMODULE_READ, again, &key);
    if (value == NULL) return false;
    RedisModule_CloseKey(key);
    if (!task_pin(&change->task, value->stored)) {
        (void)RedisModule_ReplyWithError(ctx, "ERR these are too many keys; combine some first");
        return false;
    }
    change->sources[change->count++] = value->stored->filter;
    return true;
}

/* Takes the sources from argument `first` on.  Frees the change if that fails. */
static bool take_sources(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int first,
                         RedisModuleReplyFunc *again, struct change *change)
{
    for (int i = first; i < argc; i++) {
        if (take_source(ctx, argv[i], again, change)) continue;
        task_end(ctx, &change->task);
        return false;
    }
    return true;
}

static bool has_filter(RedisModuleCtx *ctx, RedisModuleString *name, const struct id *id)
{
    struct value *value;
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH);
    const bool has = key_look(key, TYPE_BLOOM, &value) == HELD_VALUE && value_is_stored(value) &&
                     id_is(&value->stored->id, id);
    RedisModule_CloseKey(key);
    return has;
}

/* Is the key's filter the one that the thread has changed? */
static bool is_same(RedisModuleCtx *ctx, RedisModuleString *name, const struct change *change)
{
    const bool same = has_filter(ctx, name, &change->id);
    if (!same) (void)RedisModule_ReplyWithError(ctx, OTHER_FILTER);
    return same;
}

/* Have the keys still the filters that the thread has read?  Replicas read those of their keys.
 * The first pins are the sources, from argument `first` on. */
static bool has_sources(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int first,
                        const struct task *task)
{
    bool has = true;
    for (int i = first; has && i < argc; i++)
        has = has_filter(ctx, argv[i], &task->pinned[i - first]->id);
    return has;
}

/* Replies what became of a change, and logs it. */
static int end_change_of(RedisModuleCtx *ctx, RedisModuleString *name, struct change *change,
                         const char *what)
{
    const bool failed = change->task.rc < 0;
    if (failed)
        (void)task_reply_failure(ctx, &change->task, what);
    else if (is_same(ctx, name, change)) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        task_tell(ctx, &change->task);
    }
    task_end(ctx, &change->task);
    return REDISMODULE_OK;
}

static int sync_there(struct task *task)
{
    return tamis_filter_sync(((const struct change *)(const void *)task)->to);
}

/* Takes the filter that is changed.  False: replied; the change is freed. */
static bool take_target(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                        RedisModuleReplyFunc *again, struct change *change)
{
    RedisModuleKey *key;
    const struct value *value = key_open_stored(ctx, argv[1], READ_WRITE, again, &key);
    const bool done = value != NULL && key_has_done(ctx, value);
    if (value != NULL) RedisModule_CloseKey(key);
    if (done) (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    if (value == NULL || done || !task_pin(&change->task, value->stored)) {
        task_end(ctx, &change->task);
        return false;
    }
    if (change->task.work != sync_there) task_changes(&change->task, value->stored, argv, argc);
    change->to = value->stored->filter;
    change->id = value->stored->id;
    return true;
}

/* ---- TAMIS.MERGE and TAMIS.COMBINE ----------------------------------------------------------- */

static struct tamis_merge merge_of(const struct change *change)
{
    return (struct tamis_merge){.size = sizeof(struct tamis_merge),
                                .sources = change->sources,
                                .count = change->count,
                                .flags = change->flags};
}

static int merge_there(struct task *task)
{
    const struct change *change = (const struct change *)(const void *)task;
    const struct tamis_merge merge = merge_of(change);
    const int rc = tamis_filter_merge(change->to, &merge);
    return rc < 0 ? rc : tamis_filter_sync(change->to);
}

/* Replicas get what the filter has now: they cannot merge what is gone.  The store of this server
 * has it. */
static void tell_content(RedisModuleCtx *ctx, RedisModuleString *name)
{
    size_t bytes = 0;
    RedisModuleCallReply *dump = RedisModule_Call(ctx, "DUMP", "s", name);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ);
    const long long expires = key == NULL ? -1 : RedisModule_GetAbsExpire(key); /* -1: never */
    RedisModule_CloseKey(key);
    const char *data = dump == NULL ? NULL : RedisModule_CallReplyStringPtr(dump, &bytes);
    if (data != NULL)
        (void)RedisModule_Replicate(ctx, "RESTORE", "Aslbcc", name, expires < 0 ? 0 : expires, data,
                                    bytes, "REPLACE", "ABSTTL");
    if (dump != NULL) RedisModule_FreeCallReply(dump);
}

/* Of TAMIS.MERGE and TAMIS.COMBINE; the last pin is the filter that was changed. */
static void tell_merge(RedisModuleCtx *ctx, const struct task *task)
{
    const int first = task->argc - (int)task->pin_count + 1;
    if (has_sources(ctx, task->argv, task->argc, first, task))
        (void)RedisModule_Replicate(ctx, RedisModule_StringPtrLen(task->argv[0], NULL), "v",
                                    task->argv + 1, (size_t)task->argc - 1);
    else
        tell_content(ctx, task->argv[1]);
}

static int merge_into(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int first,
                      RedisModuleReplyFunc *again)
{
    struct change *change = (struct change *)(void *)task_of(ctx);
    if (change == NULL) {
        change = new_change(merge_there);
        change->task.tell = tell_merge;
        if (!take_sources(ctx, argv, argc, first, again, change) ||
            !take_target(ctx, argv, argc, again, change) || task_begin(ctx, again, &change->task))
            return REDISMODULE_OK;
    }
    return end_change_of(ctx, argv[1], change, "the filters cannot be merged");
}

int tamis_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return merge_into(ctx, argv, argc, 2, tamis_merge);
}

static int make_merged(struct making *making, tamis_store *store, const char *name)
{
    const struct tamis_merge merge = merge_of(making->context);
    const int rc = tamis_filter_create_merged(store, name, &merge, &making->filter);
    return rc < 0 ? rc : tamis_filter_set_owned(store, name, 1);
}

static int combine_anew(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString **argv,
                        int argc, uint32_t flags)
{
    struct making *making = making_of(ctx);
    if (making == NULL) {
        struct change *change = new_change(NULL);
        change->flags = flags;
        if (!take_sources(ctx, argv, argc, 3, tamis_combine, change)) return REDISMODULE_OK;
        making = making_new(make_merged, change, NULL); /* the pins are the making's */
        memcpy(making->task.pinned, change->task.pinned, sizeof making->task.pinned);
        making->task.pin_count = change->task.pin_count;
        making = making_begin(ctx, tamis_combine, argv[1], making);
    }
    if (making != NULL && !has_sources(ctx, argv, argc, 3, &making->task)) {
        (void)RedisModule_ReplyWithError(ctx, OTHER_FILTER);
        making_end(ctx, making);
    } else if (making_take(ctx, key, argv[1], making, "the filters cannot be merged") != NULL) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        (void)RedisModule_ReplicateVerbatim(ctx);
    }
    return REDISMODULE_OK;
}

/* TAMIS.COMBINE key UNION|INTERSECT source [source ...]: as `tamis merge`. */
int tamis_combine(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    const bool intersect = arg_is(argv[2], "INTERSECT");
    if (!intersect && !arg_is(argv[2], "UNION"))
        return RedisModule_ReplyWithError(ctx, "ERR give UNION or INTERSECT");
    const struct task *task = task_of(ctx);
    if (task != NULL && task->work == merge_there)
        return merge_into(ctx, argv, argc, 3, tamis_combine);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_look(key, TYPE_BLOOM, &value);
    if (held == HELD_NONE)
        (void)combine_anew(ctx, key, argv, argc, intersect ? TAMIS_MERGE_INTERSECT : 0);
    else if (task != NULL) /* the key was free when the thread began */
        (void)RedisModule_ReplyWithError(ctx, OTHER_FILTER);
    else if (held == HELD_OTHER || intersect)
        (void)RedisModule_ReplyWithError(ctx, held == HELD_OTHER ? WRONG_TYPE : "ERR item exists");
    RedisModule_CloseKey(key);
    return held == HELD_VALUE && !intersect && task == NULL
               ? merge_into(ctx, argv, argc, 3, tamis_combine)
               : REDISMODULE_OK;
}

/* ---- TAMIS.ROTATE and TAMIS.ROLLBACK --------------------------------------------------------- */

#define MADE "MADE"

static int64_t newest_of(tamis_filter *filter)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    int64_t made_at = 0;
    for (uint32_t i = 0; tamis_filter_segment(filter, i, &segment) == 0; i++)
        made_at = segment.created_at; /* the newest is the last one */
    return made_at;
}

static int rotate_there(struct task *task)
{
    struct change *change = (struct change *)(void *)task;
    int rc = tamis_filter_rotate(change->to);
    if (rc == 0) rc = tamis_filter_sync(change->to);
    if (rc == 0) change->made_at = newest_of(change->to);
    return rc;
}

/* Replicas get the command with the time at which the slice was made, so that one who has the slice
 * by a dump does not move its window once more. */
static bool has_slice(RedisModuleCtx *ctx, RedisModuleString *name, long long made_at)
{
    RedisModuleKey *key;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    bool found = false;
    const struct value *value = key_open_stored(ctx, name, READ_WRITE, tamis_rotate, &key);
    if (value == NULL) return true;
    for (uint32_t i = 0; !found && tamis_filter_segment(value->stored->filter, i, &segment) == 0;
         i++)
        found = segment.created_at == made_at;
    RedisModule_CloseKey(key);
    if (found) (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    if (found) (void)RedisModule_ReplicateVerbatim(ctx);
    return found;
}

static void tell_rotation(RedisModuleCtx *ctx, const struct task *task)
{
    const struct change *change = (const struct change *)(const void *)task;
    (void)RedisModule_Replicate(ctx, "TAMIS.ROTATE", "scl", task->argv[1], MADE,
                                (long long)change->made_at);
}

int tamis_rotate(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    long long made_at = 0;
    struct change *change = (struct change *)(void *)task_of(ctx);
    if (argc != 2 && argc != 4) return RedisModule_WrongArity(ctx);
    if (argc == 4 &&
        (!arg_is(argv[2], MADE) || !arg_integer(argv[3], INT64_MIN, INT64_MAX, &made_at)))
        return RedisModule_ReplyWithError(ctx, "ERR give MADE and a time in ns, or nothing");
    if (change == NULL && argc == 4 && has_slice(ctx, argv[1], made_at)) return REDISMODULE_OK;
    if (change == NULL) {
        change = new_change(rotate_there);
        change->task.tell = tell_rotation;
        if (!take_target(ctx, argv, argc, tamis_rotate, change) ||
            task_begin(ctx, tamis_rotate, &change->task))
            return REDISMODULE_OK;
    }
    return end_change_of(ctx, argv[1], change, "the window cannot be moved");
}

static int roll_back_there(struct task *task)
{
    const struct change *change = (const struct change *)(const void *)task;
    char name[TAMIS_NAME_MAX + 1];
    const int rc = tamis_filter_find_id(store_is_open(), change->id.bytes, name);
    if (rc <= 0) return rc < 0 ? rc : TAMIS_EDROPPED;
    return tamis_filter_rollback(store_is_open(), name, change->generation);
}

int tamis_rollback(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    long long generation = 0;
    struct change *change = (struct change *)(void *)task_of(ctx);
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    if (argc == 3 && !arg_integer(argv[2], 1, INT64_MAX, &generation))
        return RedisModule_ReplyWithError(ctx, "ERR bad generation");
    if (change == NULL) {
        change = new_change(roll_back_there);
        change->generation = (uint64_t)generation;
        if (!take_target(ctx, argv, argc, tamis_rollback, change) ||
            task_begin(ctx, tamis_rollback, &change->task))
            return REDISMODULE_OK;
    }
    return end_change_of(ctx, argv[1], change, "no other generation can be put in force");
}

/* ---- TAMIS.SYNC and TAMIS.SHARE -------------------------------------------------------------- */

/* A checkpoint of a filter, which changes nothing that replicas would have to know.  One in memory
 * has none. */
int tamis_sync(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct change *change = (struct change *)(void *)task_of(ctx);
    if (change == NULL) {
        change = new_change(sync_there);
        if (!take_target(ctx, argv, argc, tamis_sync, change) ||
            task_begin(ctx, tamis_sync, &change->task))
            return REDISMODULE_OK;
    }
    if (change->task.rc < 0)
        (void)task_reply_failure(ctx, &change->task, "the filter is not on the disk");
    else
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    task_end(ctx, &change->task);
    return REDISMODULE_OK;
}

/* TAMIS.SHARE key: brings a filter from the server's memory to the store, with the key's name. */
int tamis_share(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open_stored(ctx, argv[1], READ_WRITE, tamis_share, &key);
    if (value == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    if (labels_wait(ctx, value->stored, tamis_share)) return REDISMODULE_OK;
    if (value->stored->wants_label && labels_have_failed())
        return RedisModule_ReplyWithError(ctx, "ERR the filter is in the store, but its name could "
                                               "not be written; the server's log says why");
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}
