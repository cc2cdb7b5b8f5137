/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_attach.c: TAMIS.ATTACH, TAMIS.DETACH and TAMIS.ORPHANS: filters of the store without a key.
 *
 * A filter of others gets an id, if it has none, and stays in the store when its key goes.  An
 * orphan is one of ours, and its key owns it again.
 */
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "home/labels.h"
#include "server/names.h"
#include "value/drops.h"
#include "value/homes.h"
#include "value/store.h"

/* ---- TAMIS.ATTACH ---------------------------------------------------------------------------- */

struct attaching {
    struct task task; /* first: it is one */
    struct id id;
    tamis_filter *filter; /* open, and not taken yet */
    bool claimed;
    char name[TAMIS_NAME_MAX + 1];
};

static int attach_there(struct task *task)
{
    struct attaching *a = (struct attaching *)(void *)task;
    const struct id drawn = a->id;
    int rc = tamis_filter_id(store_is_open(), a->name, NULL, a->id.bytes);
    if (rc == 0) rc = tamis_filter_id(store_is_open(), a->name, drawn.bytes, a->id.bytes);
    if (rc < 0) return rc;
    drops_take_back(&a->id);
    store_claim(&a->id); /* it is no orphan meanwhile */
    a->claimed = true;
    rc = tamis_filter_open(store_is_open(), a->name, 0, &a->filter);
    return rc;
}

static void forget_attaching(struct task *task)
{
    const struct attaching *a = (const struct attaching *)(const void *)task;
    tamis_filter_release(a->filter);
    if (a->claimed) store_unclaim(&a->id);
    RedisModule_Free(task);
}

static void give_to_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                        struct attaching *a)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    struct value *value = value_new(TYPE_BLOOM);
    value->expansion = 2;
    struct stored *stored = stored_new(value, &a->id, a->filter);
    a->filter = NULL;
    (void)stored_describe(stored);
    labels_want(stored, RedisModule_GetSelectedDb(ctx), text, bytes);
    key_set(ctx, key, name, value);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    if (stored->attached)
        (void)RedisModule_Replicate(ctx, "TAMIS.ATTACH", "sc", name, a->name);
    else /* the AOF knows it by its id; replicas do not have it */
        bind_tell(ctx, text, bytes, value);
    if (!stored->attached) (void)RedisModule_Replicate(ctx, "TAMIS.ATTACH", "scR", name, a->name);
}

/* Has a key the filter?  One that was unlinked may have a value yet, which a thread is to free. */
static bool is_of_key(RedisModuleCtx *ctx, const struct id *id)
{
    struct stored *stored = stored_find(id);
    struct value *value = NULL;
    if (stored == NULL || stored->value == NULL) return stored != NULL; /* it is on its way */
    const int db = RedisModule_GetSelectedDb(ctx);
    (void)RedisModule_SelectDb(ctx, stored->db);
    RedisModuleString *name = RedisModule_CreateString(NULL, stored->key, stored->key_bytes);
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH);
    const bool has = key_look(key, TYPE_ANY, &value) == HELD_VALUE && value_is_stored(value) &&
                     value->stored == stored;
    RedisModule_CloseKey(key);
    RedisModule_FreeString(NULL, name);
    (void)RedisModule_SelectDb(ctx, db);
    if (!has) stored_outdate(stored);
    return has;
}

/* The AOF says which filter it was: it may be called otherwise by now. */
static bool attach_bound(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name)
{
    struct id id;
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    const int db = RedisModule_GetSelectedDb(ctx);
    if (!bind_take(db, text, bytes, &id)) return false;
    struct value *value = value_new(TYPE_BLOOM);
    value->expansion = 2;
    const bool found = bind_to_store(value, &id, db, text, bytes);
    if (found)
        key_set(ctx, key, name, value);
    else
        value_free(value);
    return found;
}

static void attach_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       const char *filter)
{
    struct attaching *a = (struct attaching *)(void *)task_of(ctx);
    if (a == NULL && attach_bound(ctx, key, name)) return;
    if (a == NULL && store_open() == NULL) {
        (void)reply_failure(ctx, "the filter cannot be attached");
        return;
    }
    if (a == NULL) {
        a = RedisModule_Calloc(1, sizeof *a);
        a->task.work = attach_there;
        a->task.forget = forget_attaching;
        a->id = id_draw();
        (void)snprintf(a->name, sizeof a->name, "%s", filter);
        if (task_begin(ctx, tamis_attach, &a->task)) return;
    }
    if (a->task.rc < 0)
        (void)task_reply_failure(ctx, &a->task, "the filter cannot be attached");
    else if (is_of_key(ctx, &a->id))
        (void)RedisModule_ReplyWithError(ctx, "ERR a key of this server has that filter");
    else
        give_to_key(ctx, key, name, a);
    task_end(ctx, &a->task);
}

int tamis_attach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    size_t bytes;
    char own[NAME_ROOM];
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    const char *filter = RedisModule_StringPtrLen(argv[argc - 1], &bytes);
    if (argc == 2) {
        name_of_key(RedisModule_GetSelectedDb(ctx), filter, bytes, own);
        filter = own;
    }
    if (bytes > TAMIS_NAME_MAX || (argc == 3 && strlen(filter) != bytes))
        return RedisModule_ReplyWithError(ctx, "ERR no filter can have that name");
    RedisModuleKey *key = key_open_free(ctx, argv[1], TYPE_BLOOM);
    if (key == NULL) return REDISMODULE_OK;
    attach_key(ctx, key, argv[1], filter);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- TAMIS.DETACH ---------------------------------------------------------------------------- */

struct detaching {
    struct task task; /* first: it is one */
    struct id id;
    bool was_attached;
    char name[TAMIS_NAME_MAX + 1];
};

static int disown(void *context, tamis_store *store, const char *name)
{
    struct detaching *d = context;
    (void)snprintf(d->name, sizeof d->name, "%s", name);
    return tamis_filter_set_owned(store, name, 0);
}

/* The filter is one of others from now on. */
static int detach_there(struct task *task)
{
    struct detaching *d = (struct detaching *)(void *)task;
    struct tamis_label label = {.size = sizeof label, .name = d->name};
    memcpy(label.id, d->id.bytes, sizeof label.id);
    const int rc = *d->name == '\0' ? 0 : tamis_filters_label(store_is_open(), &label, 1);
    return rc < 0 ? rc : store_by_name(&d->id, disown, d);
}

/* The key has kept the filter: its client is gone, or the key is called otherwise by now. */
struct owning {
    struct job job;
    struct id id;
};

static int own(void *context, tamis_store *store, const char *name)
{
    (void)context;
    return tamis_filter_set_owned(store, name, 1);
}

static void own_again(struct job *job)
{
    for (struct job *next; job != NULL; job = next) {
        next = job->next;
        if (store_by_name(&((struct owning *)(void *)job)->id, own, NULL) < 0)
            RedisModule_Log(NULL, "warning", "a filter is none of the server's now: %s",
                            tamis_last_error());
        RedisModule_Free(job);
    }
}

static void forget_detaching(struct task *task)
{
    const struct detaching *d = (const struct detaching *)(const void *)task;
    if (task->job.done && task->rc == 0 && !task->taken && !d->was_attached) {
        struct owning *owning = RedisModule_Calloc(1, sizeof *owning);
        struct stored *stored = task->pinned[0];
        owning->job.run = own_again;
        owning->id = d->id;
        work_submit(&stored->line, &owning->job); /* before the next that detaches it */
        /* The detaching thread may have written the old name after a RENAME. */
        if (stored->key != NULL) labels_want(stored, stored->db, stored->key, stored->key_bytes);
    }
    RedisModule_Free(task);
}

/* An AOF is repeated: the store has had the filter since, whatever has become of it.  A filter that
 * the load has made goes with its key; a filter of others stays. */
static int detach_loading(RedisModuleCtx *ctx, RedisModuleString *name)
{
    struct value *value;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, READ_WRITE);
    const bool has = key_look(key, TYPE_BLOOM, &value) == HELD_VALUE;
    if (has && value_is_stored(value)) value->stored->attached |= value->stored->found;
    if (has) (void)RedisModule_DeleteKey(key);
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

int tamis_detach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    size_t bytes;
    struct detaching *d = (struct detaching *)(void *)task_of(ctx);
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING) != 0)
        return detach_loading(ctx, argv[1]);
    struct value *value = key_open_stored(ctx, argv[1], READ_WRITE, tamis_detach, &key);
    if (value == NULL) return REDISMODULE_OK;
    if (d == NULL) {
        d = RedisModule_Calloc(1, sizeof *d);
        d->task.work = detach_there;
        d->task.forget = forget_detaching;
        d->id = value->stored->id;
        const char *text = RedisModule_StringPtrLen(argv[1], &bytes);
        d->was_attached = value->stored->attached;
        if (!d->was_attached) name_of_key(RedisModule_GetSelectedDb(ctx), text, bytes, d->name);
        (void)task_pin(&d->task, value->stored);
        d->task.changed = value->stored; /* one after the other */
        d->task.told = true;             /* below */
        if (task_begin(ctx, tamis_detach, &d->task)) {
            RedisModule_CloseKey(key);
            return REDISMODULE_OK;
        }
    }
    if (d->task.rc < 0)
        (void)task_reply_failure(ctx, &d->task, "the filter cannot be detached");
    else if (!id_is(&d->id, &value->stored->id))
        (void)RedisModule_ReplyWithError(ctx, OTHER_FILTER);
    else {
        value->stored->attached = d->task.taken = true;
        d->task.pinned[0]->attached = true; /* that of before a reload, which goes later */
        (void)RedisModule_ReplyWithCString(ctx, d->name);
        (void)RedisModule_DeleteKey(key);
        (void)RedisModule_ReplicateVerbatim(ctx);
    }
    RedisModule_CloseKey(key);
    task_end(ctx, &d->task);
    return REDISMODULE_OK;
}

/* ---- TAMIS.ORPHANS --------------------------------------------------------------------------- */

struct listing {
    struct task task; /* first: it is one */
    char *wanted;     /* the name that is looked for; NULL: all are listed */
    struct id id;     /* of that one */
    bool in_use;      /* another process has it open */
    long count;
    char *names; /* behind each other */
    size_t bytes;
};

static void note_orphan(void *context, const char *name, const struct id *id)
{
    struct listing *l = context;
    const size_t bytes = strlen(name) + 1;
    if (l->wanted != NULL && strcmp(name, l->wanted) != 0) return;
    l->id = *id;
    l->count++;
    l->names = RedisModule_Realloc(l->names, l->bytes + bytes);
    memcpy(l->names + l->bytes, name, bytes);
    l->bytes += bytes;
}

static int list_there(struct task *task)
{
    struct listing *l = (struct listing *)(void *)task;
    const int64_t rc = orphans_each(note_orphan, l);
    if (rc < 0 || l->wanted == NULL || l->count == 0) return rc < 0 ? (int)rc : 0;
    l->in_use = orphan_is_in_use(&l->id);
    if (l->in_use) return 0;
    const int64_t dropped =
        tamis_filter_drop_ids(store_is_open(), (const uint8_t(*)[TAMIS_ID_BYTES]) & l->id.bytes, 1);
    if (dropped > 0) drops_note();
    return dropped < 0 ? (int)dropped : 0;
}

static void forget_listing(struct task *task)
{
    struct listing *l = (struct listing *)(void *)task;
    RedisModule_Free(l->names);
    RedisModule_Free(l->wanted);
    RedisModule_Free(l);
}

static void reply_orphans(RedisModuleCtx *ctx, const struct listing *l)
{
    const char *name = l->names;
    (void)RedisModule_ReplyWithArray(ctx, l->count);
    for (long i = 0; i < l->count; i++, name += strlen(name) + 1) {
        (void)RedisModule_ReplyWithArray(ctx, 2);
        (void)RedisModule_ReplyWithCString(ctx, name);
        (void)RedisModule_ReplyWithCString(ctx, name);
    }
}

int tamis_orphans(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const bool drops = argc == 3 && arg_is(argv[1], "DROP");
    struct listing *l = (struct listing *)(void *)task_of(ctx);
    if (!drops && (argc != 2 || !arg_is(argv[1], "LIST"))) return RedisModule_WrongArity(ctx);
    if (l == NULL) {
        l = RedisModule_Calloc(1, sizeof *l);
        l->task.work = list_there;
        l->task.forget = forget_listing;
        if (drops) l->wanted = RedisModule_Strdup(RedisModule_StringPtrLen(argv[2], NULL));
        if (task_begin(ctx, tamis_orphans, &l->task)) return REDISMODULE_OK;
    }
    if (l->task.rc < 0)
        (void)task_reply_failure(
            ctx, &l->task, drops ? "the orphan cannot be dropped" : "the orphans cannot be listed");
    else if (!drops)
        reply_orphans(ctx, l);
    else if (l->count == 0)
        (void)RedisModule_ReplyWithError(ctx, "ERR no orphan has that name");
    else if (l->in_use)
        (void)RedisModule_ReplyWithError(
            ctx, "ERR another process has the filter open; end it, and drop the filter then");
    else
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    task_end(ctx, &l->task);
    return REDISMODULE_OK;
}
