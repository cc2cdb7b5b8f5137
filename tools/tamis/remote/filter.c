/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c: a filter of a remote store; see filter.h.
 *
 * A filter is one key, as BF.RESERVE makes it, or it is sharded: then the hash `name` describes it,
 * and `name:{0}` to `name:{N-1}` are its shards.  docs/cluster.md has the fields of the hash.
 */
#include "filter.h"

#include "command.h"
#include "form.h"

char *reply_trouble(const struct remote *store, const char *what, const redisReply *reply)
{
    /* What the module puts before the library's sentence. */
    static const char *const heads[] = {
        "ERR tamis: ", "ERR could not create filter: ", "ERR the window cannot be moved: ",
        "ERR the filter cannot be asked: ", "ERR the filters cannot be merged: "};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (reply_is_error(reply, heads[i])) return cli_strdup(reply->str + strlen(heads[i]));
    return requests_trouble(store, what, reply);
}

int reply_fail(const struct remote *store, const char *what, const redisReply *reply)
{
    char *trouble = reply_trouble(store, what, reply);
    cli_tell("%s", trouble);
    free(trouble);
    return -1;
}

int filter_fail_absent(struct remote *store, const char *name, const char *sentence)
{
    char nearest[TAMIS_NAME_MAX + 1];
    char *own = NULL;
    if (!store_has_module(store, name)) return -1;
    store_nearest(store, name, nearest);
    if (sentence == NULL)
        own = cli_format("no such filter: '%s' in the store %s; 'tamis list' shows what is there",
                         name, store->shown);
    cli_tell(nearest[0] != '\0' ? "%s; did you mean '%s'?" : "%s", own != NULL ? own : sentence,
             nearest);
    free(own);
    return -1;
}

bool filter_name_is_good(const char *name)
{
    const struct tamis_filter_spec any = {.size = sizeof any, .capacity = 1};
    if (tamis_filter_check(NULL, name, &any) == 0) return true;
    (void)cli_fail_library();
    return false;
}

static int count_words(const char *const *words)
{
    int count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

redisReply *ask_one(struct remote *store, const char *key, int type, unsigned *lost, bool writes,
                    const char *const *words)
{
    const int argc = count_words(words);
    const char **argv = cli_alloc((size_t)argc * sizeof *argv);
    memcpy(argv, words, (size_t)argc * sizeof *argv);
    struct request request = request_of(key, argc, argv, writes);
    const bool good = requests_complete(store, &request, 1);
    redisReply *reply = request.reply;
    request.reply = NULL;
    requests_clear(&request, 1);
    free(argv);
    if (lost != NULL) *lost = request.lost;
    if (good && reply->type == type) return reply;
    if (good) (void)reply_fail(store, words[0], reply);
    if (reply != NULL) freeReplyObject(reply);
    return NULL;
}

/* ---- Shards ---------------------------------------------------------------------------------- */

const char *filter_key(struct remote_filter *filter, uint32_t shard)
{
    if (filter->shards == 0) return filter->name;
    if (filter->shard_keys == NULL) {
        filter->shard_keys = cli_alloc(filter->shards * sizeof(char *));
        for (uint32_t i = 0; i < filter->shards; i++)
            filter->shard_keys[i] = cli_format("%s:{%u}", filter->name, i);
    }
    return filter->shard_keys[shard];
}

struct request *ask_each(struct remote_filter *filter, bool writes, const char *const *words)
{
    const uint32_t count = filter_keys(filter);
    const int argc = count_words(words) + 1;
    struct request *requests = cli_alloc(count * sizeof *requests);
    const char **argv = cli_alloc(count * (size_t)argc * sizeof *argv);
    for (uint32_t i = 0; i < count; i++) {
        const char **own = argv + (size_t)i * (size_t)argc;
        const char *key = filter_key(filter, i);
        own[0] = words[0];
        own[1] = key;
        for (int j = 2; j < argc; j++)
            own[j] = words[j - 1];
        requests[i] = request_of(key, argc, own, writes);
    }
    if ((writes ? requests_complete_gently : requests_complete)(filter->store, requests, count))
        return requests;
    each_free(filter, requests);
    return NULL;
}

void each_free(const struct remote_filter *filter, struct request *requests)
{
    if (requests == NULL) return;
    requests_clear(requests, filter_keys(filter));
    free(requests[0].argv);
    free(requests);
}

struct remote_filter *filter_new(struct remote *store, const char *name, uint32_t shards)
{
    struct remote_filter *filter = cli_alloc(sizeof *filter);
    *filter = (struct remote_filter){
        .store = store, .name = cli_strdup(name), .shards = shards > 1 ? shards : 0};
    return filter;
}

void remote_filter_close(struct remote_filter *filter)
{
    if (filter == NULL) return;
    for (uint32_t i = 0; filter->shard_keys != NULL && i < filter->shards; i++)
        free(filter->shard_keys[i]);
    free(filter->shard_keys);
    free(filter->shard);
    free(filter->order);
    free(filter->requests);
    free(filter->argv);
    free(filter->bytes);
    free(filter->key_rule);
    free(filter->name);
    free(filter);
}

void filter_set_rule(struct remote_filter *filter, const char *key_rule)
{
    const bool is_bytes = key_rule == NULL || strcmp(key_rule, "bytes") == 0;
    free(filter->key_rule);
    filter->key_rule = is_bytes ? NULL : cli_strdup(key_rule);
}

uint32_t filter_shard(const struct remote_filter *filter, const struct tamis_key *key)
{
    return filter->shards > 0 ? form_shard(filter->key_rule, key, filter->shards) : 0;
}

bool filter_knows_shards(const struct remote_filter *filter)
{
    if (filter->shards == 0 || filter->key_rule == NULL ||
        tamis_key_form(filter->key_rule, "", 0, NULL, 0) >= 0)
        return true;
    cli_tell("filter '%s' is in shards by the forms of its keys, and these cannot be made here: %s",
             filter->name, tamis_last_error());
    return false;
}

/* ---- Finding one ----------------------------------------------------------------------------- */

/* The fields of a descriptor that are looked at; a hash of somebody else may have millions. */
enum { VERSION, STATE, SHARDS, CAPACITY, RATE, SEED, KIND, KEY_RULE };
#define FIELD_NAMES "tamis", "state", "shards", "capacity", "rate", "seed", "kind", "key_rule"

/* The value of a field of HMGET; NULL: there is no such field. */
static const char *field_of(const redisReply *all, size_t field)
{
    return field < all->elements && all->element[field]->type == REDIS_REPLY_STRING
               ? all->element[field]->str
               : NULL;
}

static uint64_t number_at(const redisReply *all, size_t field)
{
    const char *text = field_of(all, field);
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* What `drop` takes: all that is left of a filter, too. */
static const char any_state[] = FILTER_ANY_STATE;

static bool is_state(const char *state, const char *other)
{
    if (other != NULL && strcmp(other, any_state) == 0) return true;
    return state != NULL &&
           (strcmp(state, "ready") == 0 || (other != NULL && strcmp(state, other) == 0));
}

static bool is_usable(const struct remote_filter *filter, const redisReply *all, const char *other)
{
    const char *name = filter->name, *state = field_of(all, STATE);
    const char *version = field_of(all, VERSION);
    const uint64_t shards = number_at(all, SHARDS);
    if (version == NULL)
        cli_tell("key '%s' is a hash, but none that describes a filter", name);
    else if (strcmp(version, DESCRIPTOR_VERSION) != 0 &&
             strcmp(version, DESCRIPTOR_VERSION_KEY_RULE) != 0)
        cli_tell("filter '%s' was made by a newer version of Tamis (descriptor %s)", name, version);
    else if (is_state(state, other) && shards <= SHARDS_MAX &&
             (shards >= 2 || (other != NULL && strcmp(other, any_state) == 0)))
        return true;
    else if (state != NULL && strncmp(state, "renaming ", 9) == 0)
        cli_tell(
            "a rename of filter '%s' was stopped in the middle; run 'tamis rename %s %s' again",
            name, name, state + 9);
    else
        cli_tell("filter '%s' is not whole: a command that makes, renames or drops it still runs, "
                 "or was stopped in the middle (state '%s'); 'tamis drop %s' removes what is there",
                 name, state != NULL ? state : "?", name);
    return false;
}

static struct remote_filter *find_sharded(struct remote *store, const char *name, const char *other)
{
    redisReply *all =
        ASK_ONE(store, name, REDIS_REPLY_ARRAY, NULL, false, "HMGET", name, FIELD_NAMES);
    if (all == NULL) return NULL;
    const uint64_t shards = number_at(all, SHARDS);
    struct remote_filter *filter =
        filter_new(store, name, shards <= SHARDS_MAX ? (uint32_t)shards : 0);
    const char *rate = field_of(all, RATE);
    filter->capacity = number_at(all, CAPACITY);
    filter->fp_rate = rate != NULL ? strtod(rate, NULL) : 0;
    filter->seed = number_at(all, SEED);
    filter_set_rule(filter, field_of(all, KEY_RULE));
    const char *kind = field_of(all, KIND);
    if (kind == NULL || tamis_kind_from_name(kind, &filter->kind) < 0) filter->kind = 0;
    filter->whole = is_state(field_of(all, STATE), NULL);
    if (!is_usable(filter, all, other)) {
        remote_filter_close(filter);
        filter = NULL;
    }
    freeReplyObject(all);
    return filter;
}

struct remote_filter *filter_find(struct remote *store, const char *name, const char *other)
{
    struct remote_filter *filter = NULL;
    if (!filter_name_is_good(name)) return NULL;
    redisReply *type = ASK_ONE(store, name, REDIS_REPLY_STATUS, NULL, false, "TYPE", name);
    if (type == NULL) return NULL;
    if (strcmp(type->str, "MBbloom--") == 0 || strcmp(type->str, "bloomfltr") == 0 ||
        strcmp(type->str, "MBbloomCF") == 0)
        filter = filter_new(store, name, 0);
    else if (strcmp(type->str, "hash") == 0)
        filter = find_sharded(store, name, other);
    else if (strcmp(type->str, "none") == 0)
        (void)filter_fail_absent(store, name, NULL);
    else
        cli_tell("key '%s' is no filter, but a %s", name, type->str);
    if (filter != NULL && filter->shards == 0) filter->whole = true;
    freeReplyObject(type);
    return filter;
}
