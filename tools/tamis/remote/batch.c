/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch.c: keys of a batch go to their shards, and their answers come back in order.
 *
 *     keys    k0 k1 k2 k3 k4 k5         filter_shard() each
 *     order   k1 k4 | k0 k3 k5 | k2     sorted by shard, in their old order within one
 *     pieces  TAMIS.ADD s:{0} k1 k4, TAMIS.ADD s:{7} k0 k3 k5, ...
 *
 * All pieces are on their way at once (requests.c).  Nothing is copied but into hiredis' buffers,
 * so memory is that of one batch.
 *
 * An add whose answer was lost is asked again.  If the answer is NEW now, the key is new.  If it is
 * SEEN, the first asking may have added the key, so the key is in doubt.  A key is in doubt, too,
 * if its answer NEW came and its node was lost before the replicas had the key (--replicas):
 * somebody else may have added it since.  So is a key that was sent and not answered when the
 * client gives up: it may be there, and then nobody would be told of it.  A crawler would rather
 * fetch a page twice than never.  So a key in doubt is answered as new, or as seen with
 * --no-retry-new.  Keys in doubt are counted.
 *
 * A remove is not asked again: it could take the key off twice, which others may have added.  The
 * keys of such a piece are in doubt, and are answered as refused.
 */
#include "filter.h"

#include "command.h"

#define HEAD_WORDS 2 /* TAMIS.ADD key */

/* What is asked of the keys. */
struct question {
    const char *command;
    bool writes, once;
    bool offsets; /* an answer is where in the key something begins, or -1 */
    uint8_t *answers;
    uint64_t *counts; /* in place of answers */
    struct failures failures;
};

static void make_room_for_requests(struct remote_filter *filter, size_t keys)
{
    if (keys <= filter->keys_room) return;
    filter->keys_room = keys;
    filter->words_room = keys * (1 + HEAD_WORDS);
    filter->shard = cli_realloc(filter->shard, keys * sizeof *filter->shard);
    filter->order = cli_realloc(filter->order, keys * sizeof *filter->order);
    filter->requests = cli_realloc(filter->requests, keys * sizeof *filter->requests);
    filter->argv = cli_realloc(filter->argv, filter->words_room * sizeof *filter->argv);
    filter->bytes = cli_realloc(filter->bytes, filter->words_room * sizeof *filter->bytes);
}

static int compare_places(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the batch by shard; a key's place breaks ties, so that of two equal ones the first is asked
 * first. */
static void sort_keys(struct remote_filter *filter, const struct tamis_key *keys, size_t count)
{
    uint64_t *places = cli_alloc(count * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        filter->shard[i] = filter_shard(filter, &keys[i]);
        places[i] = (uint64_t)filter->shard[i] << 32 | i;
    }
    if (filter->shards > 0) qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++)
        filter->order[i] = (uint32_t)places[i];
    free(places);
}

/* A piece for each shard that has keys.  Returns their number. */
static size_t make_pieces(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                          const struct question *question)
{
    size_t pieces = 0, words = 0;
    for (size_t i = 0; i < count;) {
        const uint32_t shard = filter->shard[filter->order[i]];
        const char *key = filter_key(filter, shard);
        const char **argv = filter->argv + words;
        size_t *bytes = filter->bytes + words, argc = HEAD_WORDS;
        argv[0] = question->command;
        argv[1] = key;
        for (size_t j = 0; j < HEAD_WORDS; j++)
            bytes[j] = strlen(argv[j]);
        for (; i < count && filter->shard[filter->order[i]] == shard; i++, argc++) {
            const struct tamis_key *item = &keys[filter->order[i]];
            argv[argc] = item->bytes > 0 ? item->data : "";
            bytes[argc] = item->bytes;
        }
        filter->requests[pieces] = request_of(key, (int)argc, argv, question->writes);
        filter->requests[pieces].once = question->once;
        filter->requests[pieces++].bytes = bytes;
        words += argc;
    }
    return pieces;
}

/* Does an earlier key of the piece equal this one? */
static bool is_repeated(const struct request *request, size_t at)
{
    const size_t me = HEAD_WORDS + at;
    for (size_t i = HEAD_WORDS; i < me; i++)
        if (request->bytes[i] == request->bytes[me] &&
            memcmp(request->argv[i], request->argv[me], request->bytes[me]) == 0)
            return true;
    return false;
}

/* An answer to a key that was added: 1 new, 0 seen. */
static uint8_t judge_answer(struct remote_filter *filter, const struct request *request, size_t at,
                            bool is_new)
{
    const redisReply *before = request->before;
    if (is_new || !request->writes) return is_new;
    const bool was_new =
        before != NULL && before->type == REDIS_REPLY_ARRAY && at < before->elements &&
        before->element[at]->type == REDIS_REPLY_INTEGER && before->element[at]->integer == 1;
    if (!was_new && (request->lost == 0 || is_repeated(request, at))) return 0;
    filter->doubts++;
    return !filter->store->doubts_are_seen;
}

/* Keys that were sent, and whose answer is lost for good. */
static int64_t take_lost(struct remote_filter *filter, size_t count)
{
    filter->doubts += count;
    return -1;
}

/* The requests ended before the piece was done.  Keys of it that may have been added are in
 * doubt; the others stay refused. */
static int64_t abandon(struct remote_filter *filter, const struct request *request,
                       const uint32_t *order, const struct question *question)
{
    const redisReply *told = request->reply != NULL ? request->reply : request->before;
    if (question->answers == NULL || !request->writes) return -1;
    if (told == NULL && request->lost == 0) return -1;
    for (size_t i = 0; i < (size_t)request->argc - HEAD_WORDS; i++) {
        const bool known = told != NULL && told->type == REDIS_REPLY_ARRAY && i < told->elements &&
                           told->element[i]->type == REDIS_REPLY_INTEGER;
        const long long answer = known ? told->element[i]->integer : 0;
        uint8_t *to = &question->answers[order[i]];
        if (answer < 0) continue;
        *to = 0;
        if (answer == 0 && (request->lost == 0 || is_repeated(request, i))) continue;
        filter->doubts++;
        *to = !filter->store->doubts_are_seen;
    }
    return -1;
}

static int64_t take_failure(struct question *question, const struct request *request,
                            const redisReply *reply)
{
    failures_add(&question->failures, request, reply);
    return -1;
}

/* Takes the answers of one piece; `order` has the places of its keys.  Returns how many are 1, or
 * below 0 if one of them is no answer; then it is among the failures. */
static int64_t take_piece(struct remote_filter *filter, const struct request *request,
                          const uint32_t *order, struct question *question)
{
    const redisReply *reply = request->reply;
    const size_t count = (size_t)request->argc - HEAD_WORDS;
    int64_t ones = 0;
    if (request->state != REQUEST_DONE) return abandon(filter, request, order, question);
    if (reply == NULL) return request->once ? take_lost(filter, count) : -1; /* told before */
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < count)
        return take_failure(question, request, reply);
    for (size_t i = 0; i < count; i++) {
        const redisReply *answer = reply->element[i];
        if (answer->type != REDIS_REPLY_INTEGER) return take_failure(question, request, answer);
        const long long told = question->offsets ? answer->integer >= 0 : answer->integer;
        if (question->counts != NULL)
            question->counts[order[i]] = (uint64_t)told;
        else if (told >= 0 && question->answers != NULL)
            question->answers[order[i]] = judge_answer(filter, request, i, told == 1);
        ones += told >= 0 && question->answers != NULL && question->answers[order[i]] == 1;
    }
    /* Behind the answers the reply says why keys were refused. */
    if (reply->elements > count) return take_failure(question, request, reply->element[count]);
    return ones;
}

static int64_t ask_keys(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                        struct question *question)
{
    int64_t ones = 0;
    size_t taken = 0;
    if (question->answers != NULL) memset(question->answers, TAMIS_ANSWER_REFUSED, count);
    if (!filter_knows_shards(filter)) return -1;
    make_room_for_requests(filter, count);
    sort_keys(filter, keys, count);
    const size_t pieces = make_pieces(filter, keys, count, question);
    bool good = requests_complete(filter->store, filter->requests, pieces);
    for (size_t i = 0; i < pieces; i++) {
        const struct request *request = &filter->requests[i];
        const int64_t found = take_piece(filter, request, filter->order + taken, question);
        taken += (size_t)request->argc - HEAD_WORDS;
        good = good && found >= 0;
        ones += found > 0 ? found : 0;
    }
    (void)failures_tell(&question->failures, filter, question->command);
    requests_clear(filter->requests, pieces);
    return good ? ones : -1;
}

int64_t remote_add(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                   uint8_t *answers)
{
    return ask_keys(filter, keys, count,
                    &(struct question){.command = "TAMIS.ADD", .writes = true, .answers = answers});
}

int64_t remote_contains(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                        uint8_t *answers)
{
    return ask_keys(filter, keys, count,
                    &(struct question){.command = "TAMIS.CHECK", .answers = answers});
}

int64_t batch_parents(struct remote_filter *filter, const struct tamis_key *names, size_t count,
                      uint8_t *answers)
{
    return ask_keys(
        filter, names, count,
        &(struct question){.command = "TAMIS.PARENTS", .offsets = true, .answers = answers});
}

int64_t remote_remove(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                      uint8_t *answers)
{
    return ask_keys(
        filter, keys, count,
        &(struct question){
            .command = "TAMIS.REMOVE", .writes = true, .once = true, .answers = answers});
}

int64_t remote_count(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                     uint64_t *counts)
{
    return ask_keys(filter, keys, count,
                    &(struct question){.command = "TAMIS.COUNT", .counts = counts});
}

int remote_can(struct remote_filter *filter, const char *command)
{
    redisReply *reply = ask_one(filter->store, filter_key(filter, 0), REDIS_REPLY_ARRAY, NULL,
                                false, (const char *const[]){command, filter_key(filter, 0), NULL});
    if (reply != NULL) freeReplyObject(reply);
    return reply != NULL ? 0 : -1;
}

/* ---- Explaining ------------------------------------------------------------------------------ */

static int explain_segment(struct remote_filter *filter, const redisReply *told,
                           const struct tamis_key *key, uint32_t segment, uint32_t segments,
                           remote_explain_fn *each, void *context)
{
    struct tamis_explanation explanation = {.size = sizeof explanation};
    if (told->type != REDIS_REPLY_ARRAY || told->elements == 0 ||
        told->element[0]->type != REDIS_REPLY_STRING)
        return reply_fail(filter->store, "TAMIS.EXPLAIN", told);
    explanation.positions_count = told->elements - 1;
    explanation.positions = cli_alloc(told->elements * sizeof *explanation.positions);
    for (size_t i = 1; i < told->elements; i++)
        explanation.positions[i - 1] = (uint64_t)told->element[i]->integer;
    explanation.hashes = told->element[0]->str;
    const int rc = each(context, key, segment, segments, &explanation);
    free(explanation.positions);
    return rc;
}

int remote_explain(struct remote_filter *filter, const struct tamis_key *keys, size_t count,
                   remote_explain_fn *each, void *context)
{
    int rc = filter_knows_shards(filter) ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct failures failures = {0};
        const uint32_t shard = filter_shard(filter, &keys[i]);
        const char *key = filter_key(filter, shard);
        const char *argv[] = {"TAMIS.EXPLAIN", key, keys[i].bytes > 0 ? keys[i].data : ""};
        const size_t bytes[] = {strlen(argv[0]), strlen(key), keys[i].bytes};
        struct request request = request_of(key, 3, argv, false);
        request.bytes = bytes;
        if (!requests_complete(filter->store, &request, 1)) return -1;
        const redisReply *all = request.reply;
        if (all->type != REDIS_REPLY_ARRAY || all->elements != 1 ||
            all->element[0]->type != REDIS_REPLY_ARRAY)
            failures_add(&failures, &request, all);
        rc = failures_tell(&failures, filter, "TAMIS.EXPLAIN");
        const redisReply *segments = rc == 0 ? all->element[0] : NULL;
        for (uint32_t j = 0; rc == 0 && j < segments->elements; j++)
            rc = explain_segment(filter, segments->element[j], &keys[i], j,
                                 (uint32_t)segments->elements, each, context);
        requests_clear(&request, 1);
    }
    return rc;
}
