/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_attach.c: TAMIS.ATTACH, TAMIS.DETACH and TAMIS.ORPHANS: filters that are in the store
 * without a key.
 *
 * A thread does what waits for the disk (kept/making.h):
 *
 *     TAMIS.ATTACH         The thread opens the filter, and gives an orphan the name of the key.
 *                          When the command is run anew, the key gets it, or it is closed.
 *     TAMIS.DETACH         The thread makes the filter one of others.  Then the key is deleted,
 *                          whatever it is called by now, and also if the client is gone.
 *     TAMIS.ORPHANS DROP   The thread drops the filter.
 *
 * An orphan is none while a thread is at work for it (orphan_take()).  If that fails, or the key
 * has got something else, it is one again.
 */
#include <string.h>
#include <time.h>

#include "commands/command.h"
#include "kept/kept.h"
#include "kept/leftovers.h"
#include "kept/naming.h"
#include "kept/replicate.h"
#include "kept/store.h"
#include "keys/cf_shape.h"
#include "persist/cuckoo_data.h"
#include "registry/registry.h"
#include "server/waiting.h"
#include "value/handles.h"
#include "value/pieces.h"

/* ---- TAMIS.ATTACH ---------------------------------------------------------------------------- */

#define IS_HELD "ERR a key of this server has that filter"
#define COUNTS                                                                                     \
    "ERR the filter counts and was not made by this server, whose AOF would count "                \
    "again what it has; copy it by 'tamis export' and TAMIS.LOAD"
/* So often the filter of a key tries to get its name, while others that have it give way. */
#define TRIES_MAX 3
/* A thread that finds the catalog busy, or its filter, tries it again then. */
#define AGAIN_NS 2000000

struct attaching {
    struct value *value;     /* that the key is to have; NULL: it has it */
    struct leftover *orphan; /* that the filter is; NULL: it is none */
    const char *filter;      /* its name, before the key has it */
    int db;
    const char *key;
    size_t key_bytes;
    const char *refusal; /* what the answer is, if it fails; NULL: what the library tells */
    char *data;          /* what a filter that counts has, as CF.SCANDUMP tells it; or NULL */
    size_t data_bytes;
};

/* Gives an orphan the name of the key, which the AOF and replicas are told.  One that cannot have
 * it now gets it later (naming.h). */
static void rename_orphan(const struct attaching *a)
{
    char own[NAME_ROOM];
    int rc = TAMIS_EEXIST;
    name_of_key(a->db, a->key, a->key_bytes, own);
    if (strcmp(own, a->filter) == 0) return;
    for (int tries = 0; rc == TAMIS_EEXIST && tries < TRIES_MAX; tries++) {
        if (tries > 0) naming_wait(NULL);
        (void)kept_give_up_name(own, true);
        rc = tamis_filter_rename(registry_store(), a->filter, own);
    }
    if (rc == 0) value_set_name(a->value, own);
}

/* In any thread. */
static int open_for_key(struct attaching *a)
{
    struct value *value = a->value;
    naming_wait(NULL);
    /* What is made for a key meanwhile gets another name than the orphan. */
    if (a->orphan == NULL && stored_is_held(a->filter, a->db, a->key, a->key_bytes)) {
        a->refusal = IS_HELD;
        return TAMIS_EINVAL;
    }
    int rc = open_stored(value, a->filter);
    if (rc == TAMIS_EINVAL) a->refusal = COUNTS;
    if (rc == 0 && value->type == TYPE_CUCKOO) rc = cuckoo_of_counts(value);
    if (rc == 0 && value->type == TYPE_CUCKOO) {
        a->data = cuckoo_data(value, &a->data_bytes);
        if (a->data == NULL) rc = TAMIS_EIO; /* or what the library tells */
    }
    if (rc == 0 && a->orphan != NULL && value_is_ours(a->value)) rename_orphan(a);
    return rc;
}

static int open_kept(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    struct attaching *a = context;
    (void)store;
    (void)name;
    (void)filter;
    const int rc = open_for_key(a);
    if (rc != TAMIS_EBUSY) return rc;
    tamis_filter_release(a->value->filter); /* it is tried again (making.c) */
    a->value->filter = NULL;
    (void)nanosleep(&(struct timespec){.tv_nsec = AGAIN_NS}, NULL);
    return rc;
}

/* The copy has the names behind it, and the orphan, which is none from now on. */
static void *keep_attaching(const void *context)
{
    const struct attaching *from = context;
    const size_t filter_bytes = strlen(from->filter) + 1;
    struct attaching *copy = RedisModule_Alloc(sizeof *copy + filter_bytes + from->key_bytes);
    *copy = *from;
    copy->filter = memcpy(copy + 1, from->filter, filter_bytes);
    copy->key = memcpy((char *)(copy + 1) + filter_bytes, from->key, from->key_bytes);
    copy->value = value_new(TYPE_BLOOM);
    copy->orphan = orphan_take(from->filter);
    return copy;
}

/* The key has got the filter, or does not get it: the thread that drops others closes it then. */
static void forget_attaching(void *context)
{
    struct attaching *a = context;
    struct value *value = a->value;
    if (a->orphan != NULL)
        orphan_put_back(a->orphan, value_is_stored(value) ? value->name : a->filter);
    if (value != NULL && value->filter != NULL) {
        value->life = LIFE_OTHERS;
        kept_release(value);
    } else if (value != NULL) {
        value_free(value);
    }
    RedisModule_Free(a->data);
    RedisModule_Free(a);
}

/*
 * Replicates what a filter of CF.* has, as CF.SCANDUMP would tell it.  Replicas need not have the
 * filter then.  And an AOF that is loaded makes the filter anew: behind a TAMIS.ATTACH, its
 * commands would count once more in the store's filter, which has counted them already.
 */
static void replicate_counts(RedisModuleCtx *ctx, RedisModuleString *name,
                             const struct attaching *a)
{
    unsigned char head[CUCKOO_HEAD_BYTES];
    cuckoo_write_head(&a->value->cuckoo, head);
    (void)RedisModule_Replicate(ctx, "CF.LOADCHUNK", "slb", name, 1LL, (const char *)head,
                                sizeof head);
    for (size_t at = 0; at < a->data_bytes;) {
        const size_t left = a->data_bytes - at,
                     now = left < PIECE_BYTES ? left : (size_t)PIECE_BYTES;
        at += now;
        (void)RedisModule_Replicate(ctx, "CF.LOADCHUNK", "slb", name, (long long)at + 1,
                                    a->data + at - now, now);
    }
}

/* The key, which is empty, gets the filter. */
static void give_to_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                        struct attaching *a)
{
    struct value *value = a->value;
    adopt_stored(value, a->db, a->key, a->key_bytes);
    key_set(ctx, key, name, value);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    /* One that another server has made, say, gets the name of the key only now. */
    if (a->orphan == NULL && value_is_ours(value)) naming_wait(value);
    if (a->data != NULL)
        replicate_counts(ctx, name, a);
    else
        (void)RedisModule_Replicate(ctx, "TAMIS.ATTACH", "sc", name, value->name);
    if (a->orphan != NULL) orphan_free(a->orphan);
    a->orphan = NULL;
    a->value = NULL;
}

/* Has another key got the filter since it was opened?  An orphan may have been found by the name
 * that a thread has just given it. */
static bool is_held_by_now(const struct attaching *a)
{
    const struct value *value = a->value;
    if (!value_is_ours(value)) return stored_is_held(value->name, a->db, a->key, a->key_bytes);
    registry_lock();
    const bool held = registry_find_time(value->created_at) != NULL;
    registry_unlock();
    return held;
}

/* Ends the command, whose filter is open if `rc` is 0. */
static void end_attach(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                       struct attaching *a, int rc)
{
    if (rc == 0 && is_held_by_now(a)) {
        a->refusal = IS_HELD;
        rc = TAMIS_EINVAL;
        if (a->orphan != NULL) orphan_free(a->orphan); /* it is none any more */
        a->orphan = NULL;
    }
    if (rc == 0)
        give_to_key(ctx, key, name, a);
    else if (a->refusal != NULL)
        (void)RedisModule_ReplyWithError(ctx, a->refusal);
    else
        (void)reply_failure(ctx, "the filter cannot be attached");
}

/* The key is empty. */
static void attach_to_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                          const char *filter)
{
    struct attaching now = {.filter = filter, .db = RedisModule_GetSelectedDb(ctx)},
                     *made = making_context();
    const struct maker maker = {
        .make = open_kept, .context = &now, .keep = keep_attaching, .forget = forget_attaching};
    int rc;
    now.key = RedisModule_StringPtrLen(name, &now.key_bytes);
    if (made != NULL && making_is_done(&rc)) {
        end_attach(ctx, key, name, made, rc);
    } else if (orphan_is_taken(filter) || making_has(filter)) { /* or it is being dropped */
        (void)RedisModule_ReplyWithError(ctx, IS_HELD);
    } else if (store_open() == NULL) {
        (void)reply_failure(ctx, "the filter cannot be attached");
    } else if (!making_put_off(TYPE_BLOOM, "", &maker)) {
        made = keep_attaching(&now);
        end_attach(ctx, key, name, made, open_for_key(made));
        forget_attaching(made);
    }
}

static int attach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
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
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_look(key, TYPE_BLOOM, &value);
    if (held == HELD_NONE)
        attach_to_key(ctx, key, argv[1], filter);
    else
        (void)RedisModule_ReplyWithError(ctx, held == HELD_OTHER ? WRONG_TYPE : "ERR item exists");
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int tamis_attach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return making_run(ctx, argv, argc, attach, tamis_attach, false);
}

/* ---- TAMIS.DETACH ---------------------------------------------------------------------------- */

struct detaching {
    struct value *value; /* pinned; NULL: the thread has let go of it */
    char name[NAME_ROOM];
    bool keeps_name;
    bool is_over; /* of that time: the key is deleted */
};

/* The filter is one of others from now on, for the store.  In any thread. */
static int give_away(struct detaching *d)
{
    /* Another filter may have the name, if a local process has dropped this one. */
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (!d->keeps_name) naming_keep(d->value); /* the filter stays under the name of the key */
    d->keeps_name = true;
    handles_name(d->value, d->name);
    const int rc = tamis_filter_stat(d->value->filter, &stat);
    return rc < 0 ? rc : tamis_filter_set_owned(registry_store(), d->name, 0);
}

static int give_kept_away(void *context, tamis_store *store, const char *name,
                          tamis_filter **filter)
{
    (void)store;
    (void)name;
    (void)filter;
    return give_away(context);
}

static void *keep_detaching(const void *context)
{
    struct detaching *copy = RedisModule_Alloc(sizeof *copy);
    *copy = *(const struct detaching *)context;
    kept_pin(copy->value);
    return copy;
}

static void let_name_go(struct detaching *d)
{
    if (d->keeps_name) kept_unpin_named(d->value);
    d->keeps_name = false;
}

static void let_detaching_go(void *context)
{
    struct detaching *d = context;
    d->is_over = !value_is_ours(d->value);
    let_name_go(d);
    kept_unpin(d->value);
    d->value = NULL;
    handles_trim(); /* more may be open than the setting allows */
}

/* Deletes the key, whatever it is called now: no command has it open when this is called, as
 * nobody who uses the filter waits for it (`uses` of struct maker). */
static int follow_detached(const void *kept, RedisModuleString **argv, int *argc)
{
    struct value *value = ((const struct detaching *)kept)->value;
    (void)argc;
    if (!replicate_key_has(value)) return FOLLOW_GONE;
    RedisModule_FreeString(NULL, argv[1]);
    argv[1] = RedisModule_CreateString(NULL, value->key, value->key_bytes);
    const int db = value->db;
    registry_give_away(value);
    replicate_take_key(value);
    return db;
}

/* A thread has made the filter one of others.  Returns whether the key that had it is deleted. */
static bool end_detach(RedisModuleCtx *ctx, const struct detaching *made)
{
    if (made->value != NULL) (void)making_replicate(ctx);
    return made->value != NULL ? !value_is_ours(made->value) : made->is_over;
}

/* Has the command come out of an AOF, behind those that made the filter, and does the store have
 * another one of its name?  That one is it, which was given away before. */
static bool is_rebuilt(RedisModuleCtx *ctx, const struct value *value)
{
    char own[NAME_ROOM], has[NAME_ROOM];
    if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING) == 0) return false;
    name_of_key(value->db, value->key, value->key_bytes, own);
    handles_name(value, has);
    return leftovers_are_open() && strcmp(own, has) != 0;
}

static int detach_now(RedisModuleCtx *ctx, RedisModuleKey *key, struct detaching *d)
{
    const bool stays = !is_rebuilt(ctx, d->value);
    const int rc = stays && value_is_ours(d->value) ? give_away(d) : 0;
    if (rc == 0 && stays) registry_give_away(d->value);
    handles_name(d->value, d->name);
    let_name_go(d);
    if (rc < 0) return reply_failure(ctx, "the filter cannot be detached");
    (void)RedisModule_ReplyWithCString(ctx, d->name);
    (void)RedisModule_DeleteKey(key);
    return RedisModule_ReplicateVerbatim(ctx);
}

static int detach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    const struct detaching *made = making_context();
    struct detaching now = {.is_over = false};
    const struct maker maker = {.make = give_kept_away,
                                .context = &now,
                                .keep = keep_detaching,
                                .let_go = let_detaching_go,
                                .follow = follow_detached};
    int rc = 0;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (made != NULL && making_is_done(&rc) && rc < 0)
        return reply_failure(ctx, "the filter cannot be detached");
    if (made != NULL && end_detach(ctx, made)) return RedisModule_ReplyWithCString(ctx, made->name);
    now.value = key_open(ctx, argv[1], TYPE_BLOOM, READ_WRITE, &key);
    if (now.value == NULL) return REDISMODULE_OK;
    replicate_prepare(ctx);
    if (made != NULL && made->value != NULL)
        (void)RedisModule_ReplyWithError(
            ctx, "ERR a key got another filter while the command was under way; give it again");
    else if (!value_is_ours(now.value) || !replicate_is_prepared() ||
             !making_put_off(TYPE_BLOOM, "", &maker))
        (void)detach_now(ctx, key, &now);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int tamis_detach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return run_behind(ctx, argv, argc, detach, tamis_detach);
}

/* ---- TAMIS.ORPHANS --------------------------------------------------------------------------- */

struct listing {
    RedisModuleCtx *ctx;
    long count;
};

static void list_orphan(void *context, const char *name, const char *was)
{
    struct listing *listing = context;
    (void)RedisModule_ReplyWithArray(listing->ctx, 2);
    (void)RedisModule_ReplyWithCString(listing->ctx, name);
    (void)RedisModule_ReplyWithCString(listing->ctx, was);
    listing->count++;
}

struct dropping {
    struct leftover *orphan;
    bool is_dropped;
};

static int drop_orphan(void *context, tamis_store *store, const char *unused, tamis_filter **filter)
{
    struct dropping *dropping = context;
    const struct leftover *l = dropping->orphan;
    const char *name = l->name;
    (void)unused;
    (void)filter;
    const int rc = tamis_filter_drop_many(store, &name, &l->created_at, 1);
    dropping->is_dropped = rc >= 0;
    return rc < 0 ? rc : 0;
}

static void *keep_dropping(const void *context)
{
    struct dropping *copy = RedisModule_Alloc(sizeof *copy);
    *copy = *(const struct dropping *)context;
    return copy;
}

static void end_dropping(const struct dropping *dropping)
{
    if (dropping->is_dropped)
        orphan_free(dropping->orphan);
    else
        orphan_put_back(dropping->orphan, dropping->orphan->name);
}

static void forget_dropping(void *context)
{
    end_dropping(context);
    RedisModule_Free(context);
}

static int answer_drop(RedisModuleCtx *ctx, int rc)
{
    return rc < 0 ? reply_failure(ctx, "the orphan cannot be dropped")
                  : RedisModule_ReplyWithSimpleString(ctx, "OK");
}

static int drop(RedisModuleCtx *ctx, const char *name)
{
    struct dropping now = {.is_dropped = false};
    const struct maker maker = {
        .make = drop_orphan, .context = &now, .keep = keep_dropping, .forget = forget_dropping};
    int rc;
    if (making_is_done(&rc)) return answer_drop(ctx, rc);
    now.orphan = orphan_take(name);
    if (now.orphan == NULL) return RedisModule_ReplyWithError(ctx, "ERR no orphan has that name");
    if (making_put_off(TYPE_BLOOM, "", &maker)) return REDISMODULE_OK;
    rc = drop_orphan(&now, registry_store(), NULL, NULL);
    end_dropping(&now);
    return answer_drop(ctx, rc);
}

static int orphans(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct listing listing = {.ctx = ctx};
    if (argc == 3 && arg_is(argv[1], "DROP"))
        return drop(ctx, RedisModule_StringPtrLen(argv[2], NULL));
    if (argc != 2 || !arg_is(argv[1], "LIST")) return RedisModule_WrongArity(ctx);
    (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
    orphans_each(list_orphan, &listing);
    RedisModule_ReplySetArrayLength(ctx, listing.count);
    return REDISMODULE_OK;
}

int tamis_orphans(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return making_run(ctx, argv, argc, orphans, tamis_orphans, false);
}
