/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rename.c: a filter of a remote store gets another name.
 *
 * The shards of a sharded filter are renamed one by one, between a descriptor under the old name
 * that says so and one under the new name that says "making".  Whoever is killed in between leaves
 * both, and the same command goes on where it was cut short.
 */
#include "command.h"
#include "filter.h"

#define FIELDS_MAX 40 /* of a descriptor, which has fewer */

/* The shards have the slots of their numbers, whatever the filter's name is: each stays where it
 * is.  One that has gone on before, in a rename that was cut short, is no error. */
static bool move_shards(struct remote_filter *from, struct remote_filter *to, bool again)
{
    const uint32_t count = filter_keys(from);
    struct request *requests = cli_alloc(count * sizeof *requests);
    const char **argv = cli_alloc(count * 3 * sizeof *argv);
    for (uint32_t i = 0; i < count; i++) {
        argv[3 * i] = "RENAMENX";
        argv[3 * i + 1] = filter_key(from, i);
        argv[3 * i + 2] = filter_key(to, i);
        requests[i] = request_of(argv[3 * i + 1], 3, argv + 3 * i, true);
    }
    bool good = requests_complete_gently(from->store, requests, count);
    for (uint32_t i = 0; good && i < count; i++) {
        const redisReply *reply = requests[i].reply;
        const bool gone =
            reply_is_error(reply, "ERR no such key") && (again || requests[i].lost > 0);
        good = gone || (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1);
        if (!good && reply->type == REDIS_REPLY_INTEGER)
            (void)change_fail_exists(filter_key(to, i));
        else if (!good)
            (void)requests_fail(from->store, "RENAMENX", reply);
    }
    requests_clear(requests, count);
    free(argv);
    free(requests);
    return good;
}

/* The new descriptor is the old one, but for its state. */
static bool copy_descriptor(struct remote *store, const char *name, const char *new_name)
{
    const char *words[2 * FIELDS_MAX + 5] = {"HSET", new_name};
    size_t count = 2;
    redisReply *all = ASK_ONE(store, name, REDIS_REPLY_ARRAY, NULL, false, "HGETALL", name);
    if (all == NULL) return false;
    for (size_t i = 0; i + 1 < all->elements && i < (size_t)2 * FIELDS_MAX; i += 2) {
        if (all->element[i]->str == NULL || all->element[i + 1]->str == NULL) continue;
        words[count++] = all->element[i]->str;
        words[count++] = all->element[i + 1]->str;
    }
    words[count++] = "state";
    words[count] = "making";
    redisReply *reply = ask_one(store, new_name, REDIS_REPLY_INTEGER, NULL, true, words);
    freeReplyObject(all);
    if (reply != NULL) freeReplyObject(reply);
    return reply != NULL;
}

static bool rename_sharded(struct remote_filter *from, const char *new_name, const char *state,
                           bool again)
{
    struct remote *store = from->store;
    if (!again && failures_look(from) < 0) return false; /* in the middle it could not go back */
    const int claimed = change_claim(store, new_name);
    if (claimed < 0) return false;
    if (claimed == 0 && !again) return change_fail_exists(new_name) == 0;
    struct remote_filter *to = filter_new(store, new_name, from->shards);
    filter_set_rule(to, from->key_rule);
    const bool good = copy_descriptor(store, from->name, new_name) &&
                      change_set_state(store, from->name, state) && move_shards(from, to, again) &&
                      change_set_state(store, new_name, "ready") &&
                      change_remove_key(store, from->name);
    remote_filter_close(to);
    return good;
}

/* A filter of one key.  If the new name is in another slot of a cluster, the filter is copied. */
static bool rename_key(struct remote_filter *filter, const char *new_name)
{
    struct remote *store = filter->store;
    const char *name = filter->name;
    bool has = false;
    if (!store->is_cluster ||
        shard_slot(name, strlen(name)) == shard_slot(new_name, strlen(new_name))) {
        struct remote_filter *to = filter_new(store, new_name, 0);
        const bool good = move_shards(filter, to, false);
        remote_filter_close(to);
        return good;
    }
    if (!store_has(store, new_name, &has)) return false;
    if (has) return change_fail_exists(new_name) == 0;
    return transfer_copy(store, name, new_name) == 0 && change_remove_key(store, name);
}

int remote_rename(struct remote *store, const char *name, const char *new_name)
{
    if (!filter_name_is_good(new_name)) return -1;
    char *state = cli_format("renaming %s", new_name);
    struct remote_filter *filter = filter_find(store, name, state);
    bool good = filter != NULL;
    if (good && strcmp(name, new_name) == 0) {
        good = true; /* as in a directory */
    } else if (good && filter->shards > 0) {
        redisReply *now =
            ASK_ONE(store, name, REDIS_REPLY_STRING, NULL, false, "HGET", name, "state");
        good = now != NULL;
        const bool again = good && strcmp(now->str, state) == 0;
        if (good) freeReplyObject(now);
        good = good && rename_sharded(filter, new_name, state, again);
    } else if (good) {
        good = rename_key(filter, new_name);
    }
    remote_filter_close(filter);
    free(state);
    return good ? 0 : -1;
}
