/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change.c: filters of a remote store are made, dropped and rotated.
 *
 * A sharded filter is many keys on many nodes, and no transaction spans them.  So its descriptor is
 * written first, with a state that says what is going on, and "ready" is written last: whoever is
 * killed in between leaves a descriptor that opens for nobody, says what to do, and drops.
 *
 * A command whose answer was lost is sent again, and may then find its own work: a key that exists
 * already, or is gone already, is what was wanted.
 */
#include "command.h"
#include "filter.h"

#define WORDS_MAX 40

/* TAMIS.RESERVE's words, with room for their numbers. */
struct words {
    const char *word[WORDS_MAX];
    size_t count;
    char numbers[12][32];
    size_t numbers_used;
};

static void add_reserve_word(struct words *words, const char *word)
{
    words->word[words->count++] = word;
}

static void add_number(struct words *words, const char *name, uint64_t number)
{
    char *text = words->numbers[words->numbers_used++];
    if (name != NULL) add_reserve_word(words, name);
    (void)snprintf(text, sizeof words->numbers[0], "%" PRIu64, number);
    add_reserve_word(words, text);
}

static void add_rate(struct words *words, const char *name, double rate)
{
    char *text = words->numbers[words->numbers_used++];
    if (name != NULL) add_reserve_word(words, name);
    (void)snprintf(text, sizeof words->numbers[0], "%.17g", rate);
    add_reserve_word(words, text);
}

static void add_number_if(struct words *words, const char *name, uint64_t number)
{
    if (number != 0) add_number(words, name, number);
}

/*
 * RATE CAPACITY and the options of TAMIS.RESERVE.
 *
 * Twin of tamis_spec.c: the module tells a filter in the words that this end sends.  The two are
 * separate programs, and each leaves out other words: this one, what the user left open.
 */
static void add_shape(struct words *words, const struct tamis_filter_spec *spec, uint32_t shards,
                      bool if_missing)
{
    add_rate(words, NULL, spec->fp_rate);
    add_number(words, NULL, shards > 1 ? shard_capacity(spec->capacity, shards) : spec->capacity);
    if (spec->kind != 0) {
        add_reserve_word(words, "KIND");
        add_reserve_word(words, tamis_kind_name(spec->kind));
    }
    if (spec->hash_set != NULL) {
        add_reserve_word(words, "HASHSET");
        add_reserve_word(words, spec->hash_set);
    }
    add_number_if(words, "SEED", spec->seed);
    add_number_if(words, "BITS", spec->m_bits);
    add_number_if(words, "HASHES", spec->k);
    add_number_if(words, "COUNTERBITS", spec->counter_bits);
    add_number_if(words, "WINDOWNS", (uint64_t)spec->window_ns);
    add_number_if(words, "WINDOWITEMS", spec->window_items);
    add_number_if(words, "SLICES", spec->slices);
    if (spec->flags & TAMIS_FILTER_FROM_FIRST) {
        add_reserve_word(words, "WINDOWFROM");
        add_reserve_word(words, "first");
    }
    if (spec->on_full != 0) {
        add_reserve_word(words, "ONFULL");
        add_reserve_word(words, tamis_on_full_name(spec->on_full));
    }
    if (spec->pages != TAMIS_PAGES_AUTO) {
        add_reserve_word(words, "PAGES");
        add_reserve_word(words, tamis_pages_name(spec->pages));
    }
    if (spec->key_rule != NULL) {
        add_reserve_word(words, "KEYRULE");
        add_reserve_word(words, spec->key_rule);
    }
    if (spec->flags & TAMIS_FILTER_DURABLE) add_reserve_word(words, "DURABLE");
    if (if_missing) add_reserve_word(words, "IFMISSING");
}

int change_fail_exists(const char *name)
{
    cli_tell("a filter '%s' exists already; choose another name, or drop it", name);
    return -1;
}

bool change_set_state(struct remote *store, const char *name, const char *state)
{
    redisReply *reply =
        ASK_ONE(store, name, REDIS_REPLY_INTEGER, NULL, true, "HSET", name, "state", state);
    if (reply != NULL) freeReplyObject(reply);
    return reply != NULL;
}

bool change_remove_key(struct remote *store, const char *name)
{
    redisReply *reply = ASK_ONE(store, name, REDIS_REPLY_INTEGER, NULL, true, "UNLINK", name);
    if (reply != NULL) freeReplyObject(reply);
    return reply != NULL;
}

/* ---- Making one ------------------------------------------------------------------------------ */

/* The answers to TAMIS.RESERVE of each shard. */
static int take_made(struct remote_filter *filter, const struct request *requests)
{
    struct failures failures = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < filter_keys(filter); i++) {
        const redisReply *reply = requests[i].reply;
        const bool exists =
            reply_is_error(reply, "ERR item exists") || reply_is_error(reply, "WRONGTYPE");
        const bool mine = requests[i].lost > 0 && reply_is_error(reply, "ERR item exists");
        if (reply->type == REDIS_REPLY_STATUS || mine) continue;
        if (exists)
            rc = change_fail_exists(filter_key(filter, i));
        else
            failures_add(&failures, &requests[i], reply);
    }
    return failures_tell(&failures, filter, "TAMIS.RESERVE") < 0 ? -1 : rc;
}

static int make_shards(struct remote_filter *filter, const struct tamis_filter_spec *spec,
                       bool if_missing)
{
    struct words words = {0};
    add_reserve_word(&words, "TAMIS.RESERVE");
    add_shape(&words, spec, filter_keys(filter), if_missing);
    struct request *requests = ask_each(filter, true, words.word);
    const int rc = requests != NULL ? take_made(filter, requests) : -1;
    each_free(filter, requests);
    return rc;
}

int change_claim(struct remote *store, const char *name)
{
    unsigned lost;
    redisReply *reply = ASK_ONE(store, name, REDIS_REPLY_INTEGER, &lost, true, "HSETNX", name,
                                "tamis", DESCRIPTOR_VERSION);
    if (reply == NULL) return -1;
    const int claimed = reply->integer == 1 || lost > 0;
    freeReplyObject(reply);
    return claimed;
}

static bool describe_state(struct remote_filter *filter, const char *state)
{
    struct words words = {0};
    add_reserve_word(&words, "HSET");
    add_reserve_word(&words, filter->name);
    add_reserve_word(&words, "state");
    add_reserve_word(&words, state);
    add_number(&words, "shards", filter->shards);
    add_number(&words, "capacity", filter->capacity);
    add_rate(&words, "rate", filter->fp_rate);
    add_number(&words, "seed", filter->seed);
    add_reserve_word(&words, "kind");
    add_reserve_word(&words, tamis_kind_name(filter->kind));
    if (filter->key_rule != NULL) { /* a client that does not know it would choose other shards */
        add_reserve_word(&words, "key_rule");
        add_reserve_word(&words, filter->key_rule);
        add_reserve_word(&words, "tamis");
        add_reserve_word(&words, DESCRIPTOR_VERSION_KEY_RULE);
    }
    redisReply *reply =
        ask_one(filter->store, filter->name, REDIS_REPLY_INTEGER, NULL, true, words.word);
    if (reply != NULL) freeReplyObject(reply);
    return reply != NULL;
}

/* Tells that `left` of the filter's shards are there, but not the key that describes them. */
static void tell_leftovers(const struct remote_filter *filter, uint32_t left)
{
    if (left == filter->shards)
        cli_tell(
            "all %u shards of a filter '%s' are there ('%s:{0}' to '%s:{%u}'), but the key '%s' "
            "that describes them is gone; 'tamis create %s --shards %u --if-missing', with the "
            "-n and -p that it was made with, describes them anew and keeps their keys",
            left, filter->name, filter->name, filter->name, left - 1, filter->name, filter->name,
            left);
    else
        cli_tell("%u of %u shards of a filter '%s' are there ('%s:{...}'), but the key '%s' that "
                 "describes them is gone; choose another name or number of shards, or drop each of "
                 "them by its name, which forgets its keys",
                 left, filter->shards, filter->name, filter->name, filter->name);
}

/* How many shards of a filter without a description are there; below 0 after a message. */
static int64_t count_leftovers(struct remote_filter *filter)
{
    struct request *requests = ASK_EACH(filter, false, "TYPE");
    struct failures failures = {0};
    int64_t left = 0;
    if (requests == NULL) return -1;
    for (uint32_t i = 0; i < filter_keys(filter); i++) {
        const redisReply *reply = requests[i].reply;
        if (reply->type != REDIS_REPLY_STATUS)
            failures_add(&failures, &requests[i], reply);
        else
            left += strcmp(reply->str, "none") != 0;
    }
    if (failures_tell(&failures, filter, "TYPE") < 0) left = -1;
    each_free(filter, requests);
    return left;
}

static bool describe_as(struct remote_filter *filter, uint64_t capacity, double fp_rate,
                        uint32_t kind, uint64_t seed)
{
    filter->capacity = capacity;
    filter->fp_rate = fp_rate;
    filter->kind = kind;
    filter->seed = seed;
    const int claimed = change_claim(filter->store, filter->name);
    if (claimed == 0) return change_fail_exists(filter->name) == 0;
    return claimed > 0 && describe_state(filter, "making");
}

bool change_describe(struct remote_filter *filter, uint64_t capacity, double fp_rate, uint32_t kind,
                     uint64_t seed)
{
    bool has = false;
    if (!store_has(filter->store, filter->name, &has)) return false;
    if (has) return change_fail_exists(filter->name) == 0;
    const int64_t left = count_leftovers(filter);
    if (left > 0) tell_leftovers(filter, (uint32_t)left);
    return left == 0 && describe_as(filter, capacity, fp_rate, kind, seed);
}

bool change_describe_anew(struct remote_filter *filter)
{
    return describe_state(filter, "ready");
}

bool change_ready(struct remote_filter *filter)
{
    return change_set_state(filter->store, filter->name, "ready");
}

/* What was made of a sharded filter stays, as a kill would leave it. */
static int finish_change(struct remote_filter *filter, int rc)
{
    if (rc == 0) return change_ready(filter) ? 0 : -1;
    cli_tell("'tamis drop %s' takes away the shards that were made", filter->name);
    return -1;
}

/* --if-missing, where all shards are there, but not the key that describes them: it is made anew,
 * if the shards are as the user says.  Nothing is made before that is known. */
static int adopt_shards(struct remote_filter *filter, const struct tamis_filter_spec *spec,
                        uint32_t kind)
{
    if (make_shards(filter, spec, true) < 0) return -1;
    if (!describe_as(filter, spec->capacity, spec->fp_rate, kind, spec->seed) ||
        !change_ready(filter))
        return -1;
    cli_tell("all %u shards of filter '%s' were there, but not the key that describes them; it was "
             "made anew, and they keep their keys",
             filter->shards, filter->name);
    return 0;
}

static int make_sharded(struct remote_filter *filter, const struct tamis_filter_spec *spec,
                        bool if_missing)
{
    const uint32_t kind = spec->kind ? spec->kind : TAMIS_KIND_BLOCKED;
    const int64_t left = if_missing ? count_leftovers(filter) : 0;
    if (left < 0) return -1;
    if (left == filter->shards) return adopt_shards(filter, spec, kind);
    if (!change_describe(filter, spec->capacity, spec->fp_rate, kind, spec->seed)) return -1;
    return finish_change(filter, make_shards(filter, spec, false));
}

bool store_has(struct remote *store, const char *name, bool *has)
{
    redisReply *type = ASK_ONE(store, name, REDIS_REPLY_STATUS, NULL, false, "TYPE", name);
    if (type == NULL) return false;
    *has = strcmp(type->str, "none") != 0;
    freeReplyObject(type);
    return true;
}

/* --if-missing.  1: it is there in shards, and the same; 0: no filter in shards is there; -1 after
 * a message, also where a shard of it is gone: made anew here, it would tell its keys as new. */
static int is_sharded_there(struct remote *store, const char *name,
                            const struct tamis_filter_spec *spec, uint32_t shards)
{
    bool has = false;
    if (!store_has(store, name, &has)) return -1;
    if (!has) return 0;
    struct remote_filter *filter = filter_find(store, name, NULL);
    if (filter == NULL) return -1;
    int rc = -1;
    if (filter->shards == 0 && shards == 1)
        rc = 0; /* the server compares it */
    else if (filter->shards != shards)
        cli_tell("the filter '%s' exists with %u shards, not %u; ask for the same, or choose "
                 "another name",
                 name, filter_keys(filter), shards);
    else if (filter_has_other_rule(filter, spec->key_rule))
        cli_tell(
            "the filter '%s' exists with key rule %s; ask for the same, or choose another name",
            name, filter->key_rule != NULL ? filter->key_rule : "bytes");
    else if (filter->capacity != spec->capacity)
        cli_tell("the filter '%s' exists with capacity %" PRIu64 ", not %" PRIu64
                 "; ask for the same, or choose another name",
                 name, filter->capacity, spec->capacity);
    else if (failures_look(filter) == 0)
        rc = make_shards(filter, spec, true) == 0 ? 1 : -1;
    remote_filter_close(filter);
    return rc;
}

/* A shard's filter, or the whole one, is made like another: TAMIS.SPEC tells the words. */
int change_make_like(struct remote_filter *to, struct remote_filter *from)
{
    struct request *specs = ASK_EACH(from, false, "TAMIS.SPEC");
    int rc = specs != NULL ? 0 : -1;
    for (uint32_t i = 0; rc == 0 && i < filter_keys(from); i++) {
        const redisReply *spec = specs[i].reply;
        const char *words[WORDS_MAX] = {"TAMIS.RESERVE", filter_key(to, i)};
        size_t count = 2;
        if (spec->type != REDIS_REPLY_ARRAY || spec->elements > WORDS_MAX - 3) {
            rc = reply_fail(to->store, "TAMIS.SPEC", spec);
            break;
        }
        for (size_t j = 0; j < spec->elements; j++)
            words[count++] = spec->element[j]->str != NULL ? spec->element[j]->str : "";
        struct request made = request_of(words[1], (int)count, words, true);
        rc = requests_complete(to->store, &made, 1) ? 0 : -1;
        struct remote_filter one = {.store = to->store, .name = (char *)(uintptr_t)words[1]};
        if (rc == 0) rc = take_made(&one, &made);
        requests_clear(&made, 1);
    }
    each_free(from, specs);
    return rc;
}

static int create_like(struct remote *store, const char *name, const struct remote_spec *wanted)
{
    bool has = false;
    struct remote_filter *from = filter_find(store, wanted->like, NULL);
    if (from == NULL) return -1;
    struct remote_filter *to = filter_new(store, name, from->shards);
    filter_set_rule(to, from->key_rule);
    int rc = store_has(store, name, &has) ? 0 : -1;
    if (rc == 0 && !has && from->shards > 0) rc = failures_look(from);
    if (rc == 0 && has && !wanted->if_missing) rc = change_fail_exists(name);
    if (rc == 0 && !has && to->shards == 0)
        rc = change_make_like(to, from);
    else if (rc == 0 && !has)
        rc = change_describe(to, from->capacity, from->fp_rate, from->kind, from->seed)
                 ? finish_change(to, change_make_like(to, from))
                 : -1;
    remote_filter_close(to);
    remote_filter_close(from);
    return rc;
}

/* How many shards; 0 after a message. */
static uint32_t count_shards(const struct tamis_filter_spec *spec, uint32_t shards)
{
    const bool divides = spec->m_bits == 0 && spec->window_items == 0;
    if (!divides && shards > 1) {
        cli_tell("a filter in shards takes -n, -p and a window in time only; leave out --shards, "
                 "or the other option");
        return 0;
    }
    if (!divides) return 1;
    if (shards != 0) return shards;
    shards = shard_count_for(spec);
    if (shards == 0)
        cli_tell("for so many keys at that rate, %u shards would be larger than 128 MiB; give "
                 "--shards, a smaller -n or a greater -p",
                 SHARDS_MAX);
    return shards;
}

/* Has a key rule the option idn without a version?  That of the client would be meant, and that of
 * the server. */
static bool lacks_version(const char *rule)
{
    const char *option = rule != NULL ? strchr(rule, ':') : NULL;
    for (; option != NULL; option = strchr(option + 1, ','))
        if (strncmp(option + 1, "idn", 3) == 0 && (option[4] == '\0' || option[4] == ','))
            return true;
    return false;
}

int remote_create(struct remote *store, const char *name, const struct remote_spec *wanted)
{
    struct tamis_filter_spec spec = wanted->spec;
    if (!filter_name_is_good(name)) return -1;
    if (wanted->like != NULL) return create_like(store, name, wanted);
    if (tamis_filter_check(NULL, name, &spec) < 0) {
        (void)cli_fail_library();
        return -1;
    }
    if (spec.fp_rate == 0 && spec.m_bits == 0) spec.fp_rate = TAMIS_FP_RATE_DEFAULT;
    const uint32_t shards = count_shards(&spec, wanted->shards);
    if (shards == 0) return -1;
    if (shards > 1 && lacks_version(spec.key_rule)) {
        cli_tell("the clients of a filter in shards make the forms of keys, so its key rule needs "
                 "the version of idn; give it, such as name:idn=14.0 (tamis info shows it of a "
                 "filter in a directory)");
        return -1;
    }
    const bool has_seed = spec.hash_set == NULL || strcmp(spec.hash_set, "xxh3") == 0;
    if (shards > 1 && spec.seed == 0 && has_seed) spec.seed = TAMIS_SHARD_SEED;
    const int there = wanted->if_missing ? is_sharded_there(store, name, &spec, shards) : 0;
    if (there != 0) return there > 0 ? 0 : -1;
    struct remote_filter *filter = filter_new(store, name, shards);
    filter_set_rule(filter, spec.key_rule);
    const int rc = shards > 1 ? make_sharded(filter, &spec, wanted->if_missing)
                              : make_shards(filter, &spec, wanted->if_missing);
    remote_filter_close(filter);
    return rc;
}

/* ---- Dropping, rotating --------------------------------------------------------------------- */

/* A command to each shard, which answers by a reply of that type. */
static int tell_each(struct remote_filter *filter, const char *command, int type)
{
    struct request *requests = ASK_EACH(filter, true, command);
    int rc = requests != NULL ? 0 : -1;
    struct failures failures = {0};
    for (uint32_t i = 0; rc == 0 && i < filter_keys(filter); i++)
        if (requests[i].reply->type != type)
            failures_add(&failures, &requests[i], requests[i].reply);
    if (rc == 0) rc = failures_tell(&failures, filter, command);
    each_free(filter, requests);
    return rc;
}

static bool drop_shards(struct remote_filter *filter)
{
    return change_set_state(filter->store, filter->name, "dropping") &&
           tell_each(filter, "UNLINK", REDIS_REPLY_INTEGER) == 0;
}

int remote_drop(struct remote *store, const char *name, struct tamis_filter_stat *stat)
{
    struct remote_filter *filter = filter_find(store, name, FILTER_ANY_STATE);
    *stat = (struct tamis_filter_stat){.size = sizeof *stat};
    if (filter == NULL) return -1;
    if (!filter->whole || remote_stat(filter, stat) < 0) stat->size = 0;
    const bool good =
        (filter->shards == 0 || drop_shards(filter)) && change_remove_key(store, name);
    remote_filter_close(filter);
    return good ? 0 : -1;
}

int remote_rotate(struct remote_filter *filter)
{
    return tell_each(filter, "TAMIS.ROTATE", REDIS_REPLY_STATUS);
}

int remote_sync(struct remote_filter *filter)
{
    return tell_each(filter, "TAMIS.SYNC", REDIS_REPLY_STATUS);
}
