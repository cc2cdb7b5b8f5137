/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.c: `merge` on a remote store: TAMIS.COMBINE of each shard, on the node that has it.
 *
 * Shard i of every filter has the same slot, so all sources of it are on one node.  A filter that
 * is one key may be elsewhere in a cluster: it is copied beside the destination first.  As no
 * transaction spans the shards, it is made sure that all of them can be merged before any is.
 */
#include "command.h"
#include "filter.h"

struct merging {
    struct remote *store;
    struct remote_filter *to; /* NULL: it is to be made */
    struct remote_filter **from;
    size_t count;
    const char **keys; /* of the sources of one shard */
    bool intersect;
    bool to_shards;
};

/* A field of TAMIS.INFO that two filters must have in common, and what messages call it. */
static const struct {
    const char *field, *says;
} alike[] = {{"kind", "kind"},
             {"hash set", "hash set"},
             {"key rule", "key rule"},
             {"seed", "seed"},
             {"bits", "m"},
             {"hashes", "k"},
             {"counter bits", "bits per counter"},
             {"segments", "number of segments"}};

static const char *text_of(const redisReply *info, const char *field, char number[24])
{
    const redisReply *value = info_value(info, field);
    if (value == NULL) return "?";
    if (value->str != NULL) return value->str;
    (void)snprintf(number, 24, "%lld", value->integer);
    return number;
}

/* Do two shards have all in common that a merge needs?  false after a message. */
static bool is_alike(const redisReply *a, const redisReply *b, const char *a_key, const char *b_key)
{
    char x[24], y[24];
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        const char *in_a = text_of(a, alike[i].field, x), *in_b = text_of(b, alike[i].field, y);
        if (strcmp(in_a, in_b) == 0) continue;
        cli_tell("the filters '%s' and '%s' differ in %s (%s and %s); make one like the other "
                 "(--like), and add its keys again",
                 a_key, b_key, alike[i].says, in_a, in_b);
        return false;
    }
    return true;
}

/* Compares all shards of two filters. */
static bool shards_agree(struct remote_filter *a, struct remote_filter *b)
{
    if (a->shards != b->shards) {
        cli_tell(
            "the filters '%s' and '%s' differ in the number of shards (%u and %u); make one like "
            "the other (--like), and add its keys again",
            a->name, b->name, filter_keys(a), filter_keys(b));
        return false;
    }
    if (a->shards == 0) return true; /* the server compares the two, in one step */
    struct request *of_a = ASK_EACH(a, false, "TAMIS.INFO");
    struct request *of_b = of_a != NULL ? ASK_EACH(b, false, "TAMIS.INFO") : NULL;
    bool good = of_b != NULL;
    for (uint32_t i = 0; good && i < a->shards; i++) {
        const redisReply *x = of_a[i].reply, *y = of_b[i].reply;
        const bool bad = x->type != REDIS_REPLY_ARRAY || y->type != REDIS_REPLY_ARRAY;
        good = !bad && is_alike(x, y, filter_key(a, i), filter_key(b, i));
        if (bad) (void)reply_fail(a->store, "TAMIS.INFO", x->type != REDIS_REPLY_ARRAY ? x : y);
    }
    each_free(a, of_a);
    each_free(b, of_b);
    return good;
}

/* The server's sentence, with the names of filters in place of those of their copies. */
static int tell_refusal(const struct merging *m, const redisReply *reply)
{
    char *text = cli_strdup(reply->str != NULL ? reply->str : "");
    for (size_t i = 0; i < m->count; i++) {
        const char *copy = m->keys[i], *name = m->from[i]->name;
        char *at;
        if (m->to_shards || strcmp(copy, name) == 0) continue;
        while ((at = strstr(text, copy)) != NULL) {
            *at = '\0';
            char *longer = cli_format("%s%s%s", text, name, at + strlen(copy));
            free(text);
            text = longer;
        }
    }
    redisReply told = *reply;
    told.str = text;
    const int rc = reply_fail(m->store, "TAMIS.COMBINE", &told);
    free(text);
    return rc;
}

static int combine(struct merging *m, const char *to)
{
    const char **words = cli_alloc((m->count + 4) * sizeof *words);
    words[0] = "TAMIS.COMBINE";
    words[1] = to;
    words[2] = m->intersect ? "INTERSECT" : "UNION";
    memcpy(words + 3, m->keys, m->count * sizeof *words);
    struct request request = request_of(to, (int)m->count + 3, words, true);
    /* Counters would be added twice. */
    request.once = true;
    int rc = requests_complete(m->store, &request, 1) ? 0 : -1;
    if (rc == 0 && request.reply == NULL) {
        cli_tell("the server was lost before it answered, so the filters may have been merged into "
                 "'%s' or not; unless it is of kind counting, merge again",
                 to);
        rc = -1;
    } else if (rc == 0 && request.reply->type != REDIS_REPLY_STATUS) {
        const bool exists =
            strcmp(request.reply->str != NULL ? request.reply->str : "", "ERR item exists") == 0;
        rc = exists ? change_fail_exists(to) : tell_refusal(m, request.reply);
    }
    requests_clear(&request, 1);
    free(words);
    return rc;
}

static bool is_elsewhere(const struct remote *store, const char *a, const char *b)
{
    return store->is_cluster && shard_slot(a, strlen(a)) != shard_slot(b, strlen(b));
}

/* One key: sources in other slots are copied beside the destination, and the copies dropped. */
static int combine_keys(struct merging *m, const char *name)
{
    char **copies = cli_alloc(m->count * sizeof *copies);
    int rc = 0;
    memset(copies, 0, m->count * sizeof *copies);
    for (size_t i = 0; rc == 0 && i < m->count; i++) {
        m->keys[i] = m->from[i]->name;
        if (!is_elsewhere(m->store, m->keys[i], name)) continue;
        copies[i] = transfer_aside(name, i);
        /* What a command that was cut short has left. */
        rc = change_remove_key(m->store, copies[i]) ? transfer_copy(m->store, m->keys[i], copies[i])
                                                    : -1;
        m->keys[i] = copies[i];
    }
    if (rc == 0) rc = combine(m, name);
    for (size_t i = 0; i < m->count; i++) {
        if (copies[i] != NULL && !change_remove_key(m->store, copies[i])) rc = -1;
        free(copies[i]);
    }
    free(copies);
    return rc;
}

static int combine_shards(struct merging *m, struct remote_filter *to)
{
    int rc = 0;
    m->to_shards = true;
    for (uint32_t i = 0; rc == 0 && i < to->shards && !interrupt_signal(); i++) {
        for (size_t j = 0; j < m->count; j++)
            m->keys[j] = filter_key(m->from[j], i);
        rc = combine(m, filter_key(to, i));
    }
    return interrupt_signal() ? -1 : rc;
}

static int merge_shards(struct merging *m, const char *name)
{
    struct remote_filter *first = m->from[0];
    if (m->to != NULL && m->intersect) return change_fail_exists(name);
    if (m->to != NULL) return combine_shards(m, m->to);
    struct remote_filter *to = filter_new(m->store, name, first->shards);
    filter_set_rule(to, first->key_rule);
    int rc =
        change_describe(to, first->capacity, first->fp_rate, first->kind, first->seed) ? 0 : -1;
    if (rc == 0 && (rc = combine_shards(m, to)) < 0)
        cli_tell("'tamis drop %s' takes away the shards that were made", name);
    if (rc == 0 && !change_ready(to)) rc = -1;
    remote_filter_close(to);
    return rc;
}

/* Are all shards there, of the sources and of the destination?  Called before anything is
 * made or changed. */
static bool are_whole(const struct merging *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->from[i]->shards > 0 && failures_look(m->from[i]) < 0) return false;
    return m->to == NULL || m->to->shards == 0 || failures_look(m->to) == 0;
}

static int merge(struct merging *m, const char *name)
{
    if (!are_whole(m)) return -1;
    for (size_t i = m->to != NULL ? 0 : 1; i < m->count; i++) {
        struct remote_filter *other = m->to != NULL ? m->to : m->from[0];
        if (strcmp(other->name, m->from[i]->name) == 0 && m->to != NULL && other->shards > 0) {
            cli_tell("the filter '%s' would be merged into itself; leave it out of the sources",
                     other->name);
            return -1;
        }
        if (!shards_agree(m->from[i], other)) return -1;
    }
    return m->from[0]->shards > 0 ? merge_shards(m, name) : combine_keys(m, name);
}

int remote_merge(struct remote *store, const char *name, const char *const *sources, size_t count,
                 bool intersect)
{
    struct merging m = {.store = store, .intersect = intersect};
    bool has = false, good = filter_name_is_good(name);
    m.from = cli_alloc(count * sizeof(struct remote_filter *));
    m.keys = cli_alloc(count * sizeof *m.keys);
    while (good && m.count < count) {
        m.from[m.count] = filter_find(store, sources[m.count], NULL);
        good = m.from[m.count] != NULL;
        m.count += good;
    }
    good = good && store_has(store, name, &has);
    if (good && has) m.to = filter_find(store, name, NULL);
    const int rc = good && (!has || m.to != NULL) ? merge(&m, name) : -1;
    for (size_t i = 0; i < m.count; i++)
        remote_filter_close(m.from[i]);
    remote_filter_close(m.to);
    free(m.from);
    free(m.keys);
    return rc;
}
