/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.h: an open filter of a remote store: its descriptor, if it has one, and its shards. */
#pragma once

#include <string.h>

#include "requests.h"

struct remote_filter {
    struct remote *store;
    char *name;
    uint32_t shards; /* 0: the filter is one key, `name` */
    uint64_t capacity;
    double fp_rate;
    uint32_t kind; /* of a sharded one, by its descriptor */
    uint64_t seed;
    bool whole;     /* no command that makes, renames or drops it was stopped in the middle */
    char *key_rule; /* of a sharded one, by its descriptor; NULL: bytes */
    uint64_t doubts;
    bool lacks_exceptions; /* its shards have been asked whether they have some */
    bool replaces; /* its shards come by an import, each in the place of one that may be there */

    /* These belong to the batch in hand (batch.c) and are kept for the next one. */
    uint32_t *shard, *order;
    struct request *requests;
    const char **argv;
    size_t *bytes;
    size_t keys_room, words_room;
    char **shard_keys; /* made when they are first needed */
};

#define DESCRIPTOR_VERSION "1"
/* Of a filter with a key rule: its keys are in the shards of their forms. */
#define DESCRIPTOR_VERSION_KEY_RULE "2"

/* Sets the key rule of a filter; NULL is bytes. */
void filter_set_rule(struct remote_filter *filter, const char *key_rule);
/* Which of its Redis keys a key belongs to. */
struct tamis_key;
uint32_t filter_shard(const struct remote_filter *filter, const struct tamis_key *key);

/* false after a message: this build cannot make the forms of keys that decide on the shard. */
bool filter_knows_shards(const struct remote_filter *filter);

/* Has the filter another rule than that? */
static inline bool filter_has_other_rule(const struct remote_filter *filter, const char *key_rule)
{
    const char *has = filter->key_rule != NULL ? filter->key_rule : "bytes";
    return strcmp(has, key_rule != NULL ? key_rule : "bytes") != 0;
}

/* The number of Redis keys that the filter has. */
static inline uint32_t filter_keys(const struct remote_filter *filter)
{
    return filter->shards > 0 ? filter->shards : 1;
}

/* "name:{i}", or the name if there are no shards.  It belongs to the filter. */
const char *filter_key(struct remote_filter *filter, uint32_t shard);

/* The reply to one such request, which the caller frees; NULL after a message, also where the reply
 * is of another type (REDIS_REPLY_...) than wanted.  *lost, if not NULL: how often the answer was
 * lost before. */
redisReply *ask_one(struct remote *store, const char *key, int type, unsigned *lost, bool writes,
                    const char *const *words);
#define ASK_ONE(store, key, type, lost, writes, ...)                                               \
    ask_one(store, key, type, lost, writes, (const char *const[]){__VA_ARGS__, NULL})

/* The same command for each shard: argv[0], the shard's key, the other words.  Returns the
 * requests, with their replies, for filter_keys() shards; NULL after a message.  The caller gives
 * them to each_free(). */
struct request *ask_each(struct remote_filter *filter, bool writes, const char *const *words);
#define ASK_EACH(filter, writes, ...)                                                              \
    ask_each(filter, writes, (const char *const[]){__VA_ARGS__, NULL})
void each_free(const struct remote_filter *filter, struct request *requests);

/* A filter that is not looked at. */
struct remote_filter *filter_new(struct remote *store, const char *name, uint32_t shards);
/* One that is there; its state must be "ready", or `other` (NULL: nothing else). */
#define FILTER_ANY_STATE "*"
struct remote_filter *filter_find(struct remote *store, const char *name, const char *other);

/* A sentence of an answer that is an error: the library's sentence alone where the module passes it
 * on, else as requests_trouble().  The caller frees it. */
char *reply_trouble(const struct remote *store, const char *what, const redisReply *reply);
/* Tells it.  Always -1. */
int reply_fail(const struct remote *store, const char *what, const redisReply *reply);

/* Tells that there is no such filter, with the name that is nearest to it, or that the server has
 * no module.  Always -1. */
int filter_fail_absent(struct remote *store, const char *name, const char *sentence);

/* false after a message: no filter can have that name. */
bool filter_name_is_good(const char *name);

/* failures.c */
/* The shards that failed at one command, to be told in one sentence.  Zero at first. */
#define FAILURES_NAMED 4u
struct failures {
    struct failed {
        const struct request *named[FAILURES_NAMED];
        const redisReply *reply; /* of the first */
        uint32_t count;
    } lost, others; /* the shard's key is not there; all else */
};
/* The request, about the key that is its second word, has got this reply, which is not wanted. */
void failures_add(struct failures *failures, const struct request *request,
                  const redisReply *reply);
/* Tells them, if there are any, with their nodes and with what can be done.  0, or -1 if there
 * were. */
int failures_tell(const struct failures *failures, const struct remote_filter *filter,
                  const char *command);
/* Are all shards there?  0, or -1 after a message that names those which are not. */
int failures_look(struct remote_filter *filter);
/* TAMIS.INFO of each shard, for each_free(), with those that are gone in the failures; NULL after a
 * message, also where one fails for another reason. */
struct request *failures_ask(struct remote_filter *filter, struct failures *failures);

/* batch.c */
/* TAMIS.PARENTS, of a filter that is one key; for remote_contains_names(). */
int64_t batch_parents(struct remote_filter *filter, const struct tamis_key *names, size_t count,
                      uint8_t *answers);

/* stat.c */
/* The value of a name in an answer of names and values; NULL: it is not there. */
const redisReply *info_value(const redisReply *all, const char *name);

/* change.c */
bool store_has(struct remote *store, const char *name, bool *has);
/* The steps of making a sharded filter, for those that fill it by themselves: its descriptor, which
 * says "making", and the state at the end. */
bool change_describe(struct remote_filter *filter, uint64_t capacity, double fp_rate, uint32_t kind,
                     uint64_t seed);
bool change_ready(struct remote_filter *filter);
/* All of the descriptor, of a filter that is ready. */
bool change_describe_anew(struct remote_filter *filter);
/* Claims the name of a sharded filter by a descriptor that says "making".  1: it is ours; 0: the
 * name is taken; -1 after a message. */
int change_claim(struct remote *store, const char *name);
bool change_set_state(struct remote *store, const char *name, const char *state);
/* Makes each shard of `to`, or its one key, like that of `from`. */
int change_make_like(struct remote_filter *to, struct remote_filter *from);
int change_fail_exists(const char *name);
bool change_remove_key(struct remote *store, const char *key);

/* transfer.c */
/* The key becomes a copy of another, wherever that one is. */
int transfer_copy(struct remote *store, const char *from, const char *to);
/* The name of a copy for a while, in the slot of the key.  The caller frees it. */
char *transfer_aside(const char *key, size_t index);

/* list.c */
/* Does the server have the module?  false after a message.  The name is that of any key. */
bool store_has_module(struct remote *store, const char *name);
/* The name nearest to `wanted` among the first that a scan meets; "" if none resembles it. */
void store_nearest(struct remote *store, const char *wanted, char nearest[TAMIS_NAME_MAX + 1]);
/* The name of each filter that the pattern fits, sorted, until one returns another value than 0. */
int store_each_name(struct remote *store, const char *pattern,
                    int (*each)(void *context, const char *name), void *context);
