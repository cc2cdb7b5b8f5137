/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rollback.c: all shards of a filter go back to one generation.
 *
 * No transaction spans the nodes, so a shard may fail when others have gone back.  The generation
 * is chosen before the first shard is changed, and shards that are in it already are left alone: so
 * the same command, with that generation, goes on where it was stopped.
 */
#include "command.h"
#include "filter.h"

/* Generations in force: of the shard that is newest, of the one that is oldest, and of each. */
struct in_force {
    uint64_t newest, oldest;
    uint64_t *of;
};

static uint64_t generation_of_reply(const redisReply *info)
{
    const redisReply *generation = info_value(info, "generation");
    return generation != NULL ? (uint64_t)generation->integer : 0;
}

static int look_at_generations(struct remote_filter *filter, struct in_force *in_force)
{
    struct failures failures = {0};
    struct request *requests = failures_ask(filter, &failures);
    if (requests == NULL) return -1;
    *in_force = (struct in_force){.oldest = UINT64_MAX,
                                  .of = cli_alloc(filter_keys(filter) * sizeof(uint64_t))};
    for (uint32_t i = 0; i < filter_keys(filter); i++) {
        const redisReply *info = requests[i].reply;
        if (info->type != REDIS_REPLY_ARRAY) continue; /* it is among the failures */
        const uint64_t generation = in_force->of[i] = generation_of_reply(info);
        if (generation > in_force->newest) in_force->newest = generation;
        if (generation < in_force->oldest) in_force->oldest = generation;
    }
    const int rc = failures_tell(&failures, filter, "TAMIS.INFO");
    each_free(filter, requests);
    return rc;
}

/* It is not sent twice, which could go back twice. */
static int go_back_once(struct remote_filter *filter)
{
    const char *words[] = {"TAMIS.ROLLBACK", filter_key(filter, 0)};
    struct request request = request_of(words[1], 2, words, true);
    request.once = true;
    int rc = requests_complete(filter->store, &request, 1) ? 0 : -1;
    if (rc == 0 && request.reply != NULL && request.reply->type != REDIS_REPLY_STATUS)
        rc = reply_fail(filter->store, words[0], request.reply);
    requests_clear(&request, 1);
    return rc;
}

/* The first shard goes back alone, so that it says which generation is the one before. */
static int choose_generation(struct remote_filter *filter, const struct in_force *in_force,
                             uint64_t *wanted)
{
    if (in_force->newest != in_force->oldest) {
        cli_tell("the shards of filter '%s' are in generations %" PRIu64 " to %" PRIu64
                 ", as a build or a rollback leaves them that was stopped in the middle; say which "
                 "one is wanted: 'tamis rollback %s %" PRIu64 "'",
                 filter->name, in_force->oldest, in_force->newest, filter->name, in_force->oldest);
        return -1;
    }
    if (go_back_once(filter) < 0) return -1;
    redisReply *info = ASK_ONE(filter->store, filter_key(filter, 0), REDIS_REPLY_ARRAY, NULL, false,
                               "TAMIS.INFO", filter_key(filter, 0));
    if (info == NULL) return -1;
    *wanted = in_force->of[0] = generation_of_reply(info);
    freeReplyObject(info);
    if (*wanted != in_force->newest) return 0;
    cli_tell("filter '%s': the connection was lost before its first shard went back; nothing was "
             "changed, so run the command again",
             filter->name);
    return -1;
}

/* Each shard that is in another generation goes back.  *back: how many are in it at the end. */
static int go_back(struct remote_filter *filter, const struct in_force *in_force, uint64_t wanted,
                   uint32_t *back)
{
    struct failures failures = {0};
    const uint32_t count = filter_keys(filter);
    struct request *requests = cli_alloc(count * sizeof *requests);
    const char **argv = cli_alloc(count * 3 * sizeof *argv);
    char number[24];
    size_t asked = 0;
    (void)snprintf(number, sizeof number, "%" PRIu64, wanted);
    for (uint32_t i = 0; i < count; i++) {
        const char **words = argv + 3 * asked;
        if (filter->shards > 0 && in_force->of[i] == wanted) continue;
        words[0] = "TAMIS.ROLLBACK";
        words[1] = filter_key(filter, i);
        words[2] = number;
        requests[asked++] = request_of(words[1], 3, words, true);
    }
    const bool good = requests_complete_gently(filter->store, requests, asked);
    *back = count - (uint32_t)asked;
    for (size_t i = 0; i < asked; i++) {
        const redisReply *reply = requests[i].reply;
        if (reply != NULL && reply->type == REDIS_REPLY_STATUS)
            ++*back;
        else if (reply != NULL)
            failures_add(&failures, &requests[i], reply);
    }
    int rc = failures_tell(&failures, filter, "TAMIS.ROLLBACK");
    if (!good) rc = -1;
    requests_clear(requests, asked);
    free(argv);
    free(requests);
    return rc;
}

int remote_rollback(struct remote_filter *filter, uint64_t generation, uint64_t *before,
                    uint64_t *after)
{
    struct in_force in_force = {0};
    uint64_t wanted = generation;
    uint32_t back;
    int rc = look_at_generations(filter, &in_force);
    *before = in_force.newest;
    if (rc == 0 && wanted == 0) rc = choose_generation(filter, &in_force, &wanted);
    if (rc == 0) {
        rc = go_back(filter, &in_force, wanted, &back);
        if (rc < 0 && filter->shards > 0)
            cli_tell("%u of the %u shards of filter '%s' are in generation %" PRIu64
                     "; when the others can be changed, 'tamis rollback %s %" PRIu64 "' goes on",
                     back, filter->shards, filter->name, wanted, filter->name, wanted);
    }
    free(in_force.of);
    *after = wanted;
    return rc;
}
