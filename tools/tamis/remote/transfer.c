/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transfer.c: filters as streams, from a server and to one.
 *
 * Out: TAMIS.EXPORT tells the stream in pieces of 16 MiB.  Each answer has a mark, which changes if
 * the filter's segments do; then the pieces do not fit together.  Keys that are added in between
 * are in it or not, so the digest that ends a stream of format tamis is computed here.
 *
 * In: pieces go into strings of their own, `{n}:tamis-piece:KEY:i`, where n is chosen so that they
 * are in the slot of KEY; SET brings a piece again where its answer was lost, and each expires in
 * an hour by itself.  TAMIS.LOAD makes the filter of them then, in one step.
 */
#include <xxhash.h>

#include "command.h"
#include "filter.h"

#define PIECE_BYTES ((size_t)16 << 20)
#define PIECE_SECONDS "3600"
#define DIGEST_BYTES sizeof(XXH128_canonical_t)

/* ---- Out ------------------------------------------------------------------------------------- */

struct out_state {
    XXH3_state_t *digest; /* of a stream of format tamis */
    uint64_t position, all, mark;
};

/* Writes a piece; the digest at the end of the stream is that of what was written. */
static int write_piece(struct out_state *state, const char *data, size_t bytes,
                       const struct tamis_sink *sink)
{
    XXH128_canonical_t canonical;
    const uint64_t body = state->digest != NULL ? state->all - DIGEST_BYTES : state->all;
    size_t now = bytes;
    if (state->position + bytes > body)
        now = state->position < body ? (size_t)(body - state->position) : 0;
    if (state->digest != NULL) (void)XXH3_128bits_update(state->digest, data, now);
    int rc = now > 0 ? sink->write(sink->context, data, now) : 0;
    state->position += bytes;
    if (rc < 0 || state->digest == NULL || state->position < state->all) return rc;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state->digest));
    return sink->write(sink->context, canonical.digest, DIGEST_BYTES);
}

static bool is_piece(const redisReply *reply)
{
    return reply->elements == 3 && reply->element[0]->type == REDIS_REPLY_INTEGER &&
           reply->element[1]->type == REDIS_REPLY_INTEGER &&
           reply->element[2]->type == REDIS_REPLY_STRING && reply->element[0]->integer >= 0;
}

static int take_piece(struct remote *store, struct out_state *state, const redisReply *reply,
                      const struct tamis_sink *sink, uint64_t *all_bytes)
{
    if (!is_piece(reply)) return requests_fail(store, "TAMIS.EXPORT", reply);
    const uint64_t all = (uint64_t)reply->element[0]->integer;
    const uint64_t mark = (uint64_t)reply->element[1]->integer;
    const size_t bytes = reply->element[2]->len;
    if (state->position == 0) {
        state->all = all;
        state->mark = mark;
        if (all_bytes != NULL) *all_bytes = all;
    }
    if (mark != state->mark || all != state->all || bytes > all - state->position ||
        (bytes == 0 && all > 0) || (state->digest != NULL && all < DIGEST_BYTES)) {
        cli_tell("the filter got other segments while it was read; run the command again");
        return -1;
    }
    return write_piece(state, reply->element[2]->str, bytes, sink);
}

static int export_key(struct remote *store, const char *key, const char *format, bool with_key,
                      const struct tamis_sink *sink, uint64_t *all_bytes)
{
    struct out_state state = {.digest = NULL};
    int rc = 0;
    if (strcmp(format, "tamis") == 0) {
        state.digest = XXH3_createState();
        if (state.digest == NULL) cli_no_memory();
        (void)XXH3_128bits_reset(state.digest);
    }
    do {
        char position[24];
        (void)snprintf(position, sizeof position, "%" PRIu64, state.position);
        redisReply *reply = ASK_ONE(store, key, REDIS_REPLY_ARRAY, NULL, false, "TAMIS.EXPORT", key,
                                    format, position, with_key ? "WITHKEY" : NULL);
        rc = reply != NULL ? take_piece(store, &state, reply, sink, all_bytes) : -1;
        if (reply != NULL) freeReplyObject(reply);
    } while (rc == 0 && state.position < state.all);
    (void)XXH3_freeState(state.digest);
    return rc;
}

int remote_export(struct remote_filter *filter, uint32_t shard, const char *format, bool with_key,
                  const struct tamis_sink *sink, uint64_t *all_bytes)
{
    return export_key(filter->store, filter_key(filter, shard), format, with_key, sink, all_bytes);
}

/* ---- In -------------------------------------------------------------------------------------- */

struct in_state {
    struct remote *store;
    const char *key;
    uint32_t tag; /* n */
    char *piece;
    size_t bytes; /* of the piece in hand */
    size_t count; /* of pieces that were brought */
};

static char *piece_key(const struct in_state *state, size_t index)
{
    return cli_format("{%u}:tamis-piece:%s:%zu", state->tag, state->key, index);
}

/* The first number whose slot is that of the key. */
static uint32_t tag_of(const char *key)
{
    const uint32_t slot = shard_slot(key, strlen(key));
    char text[16];
    for (uint32_t n = 0;; n++) {
        const int bytes = snprintf(text, sizeof text, "%u", n);
        if (shard_slot(text, (size_t)bytes) == slot) return n;
    }
}

char *transfer_aside(const char *key, size_t index)
{
    return cli_format("{%u}:tamis-copy:%s:%zu", tag_of(key), key, index);
}

static void begin_transfer(struct in_state *state, struct remote *store, const char *key)
{
    *state = (struct in_state){
        .store = store, .key = key, .tag = tag_of(key), .piece = cli_alloc(PIECE_BYTES)};
}

static int send_piece(struct in_state *state)
{
    if (state->bytes == 0) return 0;
    char *key = piece_key(state, state->count);
    const char *argv[] = {"SET", key, state->piece, "EX", PIECE_SECONDS};
    const size_t bytes[] = {3, strlen(key), state->bytes, 2, strlen(PIECE_SECONDS)};
    struct request request = request_of(key, 5, argv, true);
    request.bytes = bytes;
    int rc = requests_complete(state->store, &request, 1) ? 0 : -1;
    if (rc == 0 && request.reply->type != REDIS_REPLY_STATUS)
        rc = reply_fail(state->store, "SET", request.reply);
    requests_clear(&request, 1);
    free(key);
    state->bytes = 0;
    state->count++;
    return rc;
}

static int take_in(void *context, const void *data, size_t bytes)
{
    struct in_state *state = context;
    while (bytes > 0) {
        const size_t room = PIECE_BYTES - state->bytes, now = bytes < room ? bytes : room;
        memcpy(state->piece + state->bytes, data, now);
        state->bytes += now;
        data = (const char *)data + now;
        bytes -= now;
        if (state->bytes == PIECE_BYTES && send_piece(state) < 0) return TAMIS_EIO;
    }
    return 0;
}

/* TAMIS.LOAD key [DURABLE] KEYS piece...; a lost answer is asked again, and may find its work. */
static int send_load(struct in_state *state, bool durable)
{
    const char **words = cli_alloc((state->count + 5) * sizeof *words);
    size_t count = 0;
    words[count++] = "TAMIS.LOAD";
    words[count++] = state->key;
    if (durable) words[count++] = "DURABLE";
    words[count++] = "KEYS";
    const size_t first = count;
    for (size_t i = 0; i < state->count; i++)
        words[count++] = piece_key(state, i);
    struct request request = request_of(state->key, (int)count, words, true);
    int rc = requests_complete(state->store, &request, 1) ? 0 : -1;
    const redisReply *reply = request.reply;
    if (rc == 0 && reply_is_error(reply, "ERR item"))
        rc = request.lost > 0 ? 0 : change_fail_exists(state->key);
    else if (rc == 0 && reply->type != REDIS_REPLY_STATUS)
        rc = reply_fail(state->store, "TAMIS.LOAD", reply);
    requests_clear(&request, 1);
    for (size_t i = first; i < count; i++) {
        if (!change_remove_key(state->store, words[i])) rc = -1;
        free((char *)(uintptr_t)words[i]);
    }
    free(words);
    return rc;
}

/* The end of a stream: `rc` is what bringing it gave. */
static int end(struct in_state *state, int rc, bool durable)
{
    if (rc == 0) rc = send_piece(state);
    if (rc == 0) rc = send_load(state, durable);
    free(state->piece);
    return rc < 0 ? -1 : 0;
}

int remote_import(struct remote *store, const char *name, tamis_filter *filter, bool durable)
{
    struct in_state state;
    begin_transfer(&state, store, name);
    const struct tamis_sink sink = {.size = sizeof sink, .write = take_in, .context = &state};
    const int rc = tamis_filter_export(filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
    if (rc < 0 && rc != TAMIS_EIO) (void)cli_fail_library();
    return end(&state, rc, durable);
}

int transfer_copy(struct remote *store, const char *from, const char *to)
{
    struct in_state state;
    struct tamis_filter_stat stat;
    struct remote_filter *filter = filter_new(store, from, 0);
    begin_transfer(&state, store, to);
    const struct tamis_sink sink = {.size = sizeof sink, .write = take_in, .context = &state};
    int rc = remote_stat(filter, &stat);
    remote_filter_close(filter);
    if (rc == 0) rc = export_key(store, from, "tamis", true, &sink, NULL);
    return end(&state, rc, rc == 0 && (stat.flags & TAMIS_FILTER_DURABLE));
}

/* ---- Sharded filters ------------------------------------------------------------------------- */

static void take_shards(struct remote_filter *filter, const struct remote_shards *shards)
{
    filter->capacity = shards->capacity;
    filter->fp_rate = shards->fp_rate;
    filter->kind = shards->kind;
    filter->seed = shards->seed;
    filter_set_rule(filter, shards->key_rule[0] != '\0' ? shards->key_rule : NULL);
}

/* The filter that is there, whose shards are to be replaced; NULL after a message. */
static struct remote_filter *find_replaced(struct remote *store, const char *name,
                                           const struct remote_shards *shards)
{
    struct remote_filter *filter = filter_find(store, name, NULL);
    if (filter == NULL) return NULL;
    if (filter->shards == shards->shards) {
        filter->replaces = true;
        take_shards(filter, shards);
        return filter;
    }
    cli_tell("the filter '%s' exists with %u shards, and what is imported has %u; only as many can "
             "take their place, so choose another name, or drop the filter first",
             name, filter_keys(filter), shards->shards);
    remote_filter_close(filter);
    return NULL;
}

struct remote_filter *remote_import_begin(struct remote *store, const char *name,
                                          const struct remote_shards *shards, bool replace)
{
    bool has = false;
    if (!filter_name_is_good(name)) return NULL;
    if (replace && !store_has(store, name, &has)) return NULL;
    if (has) return find_replaced(store, name, shards);
    struct remote_filter *filter = filter_new(store, name, shards->shards);
    take_shards(filter, shards);
    if (change_describe(filter, shards->capacity, shards->fp_rate, shards->kind, shards->seed))
        return filter;
    remote_filter_close(filter);
    return NULL;
}

int remote_import_end(struct remote_filter *filter)
{
    return (filter->replaces ? change_describe_anew(filter) : change_ready(filter)) ? 0 : -1;
}

static int bring_shard(struct remote_filter *filter, const char *key,
                       const struct tamis_source *source, bool durable)
{
    struct in_state state;
    begin_transfer(&state, filter->store, key);
    int64_t got;
    int rc = 0;
    do {
        got = source->read(source->context, state.piece + state.bytes, PIECE_BYTES - state.bytes);
        if (got > 0) state.bytes += (size_t)got;
        if (got < 0) rc = -1;
        if (rc == 0 && state.bytes == PIECE_BYTES) rc = send_piece(&state);
    } while (rc == 0 && got > 0);
    return end(&state, rc, durable);
}

/* One step: whoever asks has the answers of the old shard before it, and those of the new one
 * after it.  A lost answer is asked again, and may find its work. */
static int put_in_place(struct remote *store, const char *aside, const char *key)
{
    const char *argv[] = {"RENAME", aside, key};
    struct request request = request_of(key, 3, argv, true);
    int rc = requests_complete(store, &request, 1) ? 0 : -1;
    const bool done =
        rc == 0 && (request.reply->type == REDIS_REPLY_STATUS ||
                    (request.lost > 0 && reply_is_error(request.reply, "ERR no such key")));
    if (rc == 0 && !done) rc = reply_fail(store, argv[0], request.reply);
    requests_clear(&request, 1);
    return rc;
}

int remote_import_shard(struct remote_filter *filter, uint32_t shard,
                        const struct tamis_source *source, bool durable)
{
    const char *key = filter_key(filter, shard);
    if (!filter->replaces) return bring_shard(filter, key, source, durable);
    char *aside = transfer_aside(key, 0);
    /* What a command that was cut short has left goes first. */
    int rc = change_remove_key(filter->store, aside) ? 0 : -1;
    if (rc == 0) rc = bring_shard(filter, aside, source, durable);
    if (rc == 0) rc = put_in_place(filter->store, aside, key);
    if (rc < 0 && !filter->store->gave_up) (void)change_remove_key(filter->store, aside);
    free(aside);
    return rc;
}
