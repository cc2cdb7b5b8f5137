/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis.c: keys of a Redis server as streams; see stream.h.
 *
 * A string is read by GETRANGE and written by SETRANGE, a RedisBloom filter by BF.SCANDUMP and
 * BF.LOADCHUNK, piece by piece, so that neither side holds the whole in a buffer.  Of a RedisBloom
 * filter the stream is the library's container of the answers of BF.SCANDUMP (docs/exchange.md).
 *
 * What is written goes to a key of its own and gets its name in one step when it is whole (RENAME,
 * or RENAMENX where nothing may be replaced): no reader sees half a filter, and what fails or is
 * stopped leaves the old key.  From its first byte on the temporary key has a time to live, so that
 * the server removes what a killed export or a broken connection has left.
 */
#include <errno.h>
#include <sys/random.h>

#include "command.h"
#include "redis_connection.h"
#include "stream.h"

#define ORPHAN_SECONDS "86400" /* time to live of the temporary key */
#define PIECE_BYTES ((size_t)1 << 20)
#define FRAME_BYTES 16u
#define CHAIN_BYTES 20u /* of RedisBloom's header, before its layers */
#define LAYER_BYTES 53u
#define HEADER_BYTES_MAX (CHAIN_BYTES + 64 * LAYER_BYTES)
#define STRING_BYTES_MAX ((uint64_t)1 << 29) /* of Redis; also 2^32 bits */
#define BLOCK_BYTES ((size_t)4096)           /* of zeros that are not sent */

static const char MAGIC[8] = {'S', 'C', 'A', 'N', 'D', 'U', 'M', 'P'};

struct redis_stream {
    struct stream stream;
    struct redis_connection connection;
    char *key;
    bool force;
    char *temporary; /* the key that is written to; NULL when reading, and once it has its name */
    uint64_t offset; /* string: next byte; filter: iterator */

    /* A filter on its way in: what is left of a frame and of the reply that holds its data. */
    unsigned char frame[sizeof MAGIC + FRAME_BYTES];
    size_t frame_at, frame_end;
    redisReply *reply;
    size_t reply_at;
    bool at_end;

    /* A filter on its way out: the frame that is being taken apart. */
    unsigned char head[HEADER_BYTES_MAX];
    size_t head_bytes; /* of magic, frame or header so far */
    bool in_frame, after_magic, wrote;
    uint64_t frame_iterator, frame_left;
};

static struct redis_stream *redis_of(struct stream *stream)
{
    return (struct redis_stream *)stream; /* its first member */
}

/* Notes that the stream failed, unless a signal has ended it.  The user was told why. */
static int fail_stream(struct stream *stream)
{
    stream->failed = interrupt_signal() == 0;
    return TAMIS_EIO;
}

static const struct stream_kind STRING_KIND, FILTER_KIND;

/* It could not be opened, after a message or a signal. */
static struct stream *give_up(struct redis_stream *redis)
{
    if (interrupt_signal())
        (void)cli_interrupted(" before the server had answered; nothing was done");
    stream_close(&redis->stream);
    return NULL;
}

/* Connected and logged in; NULL after a message. */
static struct redis_stream *open_redis_stream(const struct options *options, const char *key)
{
    struct redis_stream *redis = cli_alloc(sizeof *redis);
    *redis = (struct redis_stream){.key = cli_strdup(key)};
    redis->stream.kind = &STRING_KIND;
    redis->stream.name = cli_format("key '%s'", key);
    redis->connection.what = redis->stream.name;
    if (redis_connect(&redis->connection, options)) return redis;
    (void)give_up(redis);
    return NULL;
}

static void remove_temporary(struct redis_stream *redis)
{
    const struct redis_command drop = REDIS_WORDS(REDIS_REPLY_INTEGER, "DEL", redis->temporary);
    if (!redis->connection.lost) (void)redis_do(&redis->connection, &drop, NULL);
    if (redis->connection.lost)
        cli_tell("%s: a part of it may be left on the server as key '%s'; the server removes it "
                 "within a day",
                 redis->stream.name, redis->temporary);
}

static void redis_close(struct stream *stream)
{
    struct redis_stream *redis = redis_of(stream);
    if (redis->temporary != NULL && redis->wrote) remove_temporary(redis);
    if (redis->reply != NULL) freeReplyObject(redis->reply);
    redis_disconnect(&redis->connection);
    free(redis->temporary);
    free(redis->key);
    free(stream->name);
    free(redis);
}

/* A piece goes to the temporary key.  The first one makes the key, and its time to live with it. */
static bool put_piece(struct stream *stream, const struct redis_command *piece)
{
    long long numbers[2];
    struct redis_stream *redis = redis_of(stream);
    const struct redis_command first[2] = {
        *piece, REDIS_WORDS(REDIS_REPLY_INTEGER, "EXPIRE", redis->temporary, ORPHAN_SECONDS)};
    if (redis->wrote) return redis_do(&redis->connection, piece, NULL);
    const bool good = redis_do_both(&redis->connection, first, numbers);
    redis->wrote = good || redis->connection.lost;
    return good;
}

/* ---- Strings --------------------------------------------------------------------------------- */

static int64_t string_read(struct stream *stream, void *buffer, size_t bytes)
{
    char first[24], last[24];
    struct redis_stream *redis = redis_of(stream);
    if (bytes > PIECE_BYTES) bytes = PIECE_BYTES;
    (void)snprintf(first, sizeof first, "%" PRIu64, redis->offset);
    (void)snprintf(last, sizeof last, "%" PRIu64, redis->offset + bytes - 1);
    const struct redis_command range =
        REDIS_WORDS(REDIS_REPLY_STRING, "GETRANGE", redis->key, first, last);
    redisReply *reply = redis_ask(&redis->connection, &range);
    if (reply == NULL) return fail_stream(stream);
    const size_t got = reply->len;
    if (got <= bytes) memcpy(buffer, reply->str, got);
    freeReplyObject(reply);
    redis->offset += got;
    if (got > 0 || redis->offset >= stream->all_bytes) return (int64_t)got;
    cli_tell("%s was removed or cut short while it was read; import it when nothing writes to it",
             stream->name);
    return fail_stream(stream);
}

static bool set_range(struct stream *stream, uint64_t offset, const void *data, size_t bytes)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, offset);
    const struct redis_command piece = redis_bytes(
        REDIS_REPLY_INTEGER,
        (const char *const[]){"SETRANGE", redis_of(stream)->temporary, text, NULL}, data, bytes);
    return put_piece(stream, &piece);
}

static bool is_zero(const unsigned char *data, size_t bytes)
{
    return data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Runs of blocks that are not all zero are sent; SETRANGE fills what is left out with zeros.  The
 * last byte of the stream is not zero, so the length comes out right. */
static int string_write(struct stream *stream, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t *offset = &redis_of(stream)->offset;
    if (*offset + bytes > STRING_BYTES_MAX) {
        cli_tell("%s: a string of Redis holds 2^32 bits at most; the filter has more",
                 stream->name);
        stream->failed = true;
        return TAMIS_EUNSUPPORTED;
    }
    for (size_t begin = 0, end; begin < bytes; begin = end) {
        bool zero = true;
        for (end = begin; end < bytes;) {
            const size_t now = bytes - end < BLOCK_BYTES ? bytes - end : BLOCK_BYTES;
            const bool block_zero = is_zero(at + end, now);
            if (end > begin && block_zero != zero) break;
            zero = block_zero;
            end += now;
        }
        if (!zero && !set_range(stream, *offset + begin, at + begin, end - begin))
            return fail_stream(stream);
    }
    *offset += bytes;
    return 0;
}

/* ---- RedisBloom filters ---------------------------------------------------------------------- */

static uint64_t get64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* The length of the container, from the header: so the progress is right. */
static uint64_t container_bytes(const unsigned char *header, size_t bytes)
{
    uint64_t all = sizeof MAGIC + FRAME_BYTES + bytes + FRAME_BYTES;
    for (size_t at = CHAIN_BYTES; at + LAYER_BYTES <= bytes; at += LAYER_BYTES) {
        const uint64_t layer = get64(header + at);
        const uint64_t chunks = layer / (16 * PIECE_BYTES) + (layer % (16 * PIECE_BYTES) != 0);
        all += layer + chunks * FRAME_BYTES;
    }
    return all;
}

/* The module for Redis has filters of its own under RedisBloom's types.  Its BF.SCANDUMP gives
 * their head in format tamis, and what follows is no whole stream. */
static bool is_of_module(const char *head, size_t bytes)
{
    static const char tamis[8] = {'T', 'A', 'M', 'I', 'S', 'X', '\r', '\n'};
    return bytes >= sizeof tamis && memcmp(head, tamis, sizeof tamis) == 0;
}

/* Says how to get a filter of the module.  Always false. */
static bool tell_export(const struct redis_stream *redis)
{
    cli_tell("%s is a filter of the Tamis module, which its server exports itself: 'tamis --store "
             "URL export %s --to tamis FILE', then 'tamis import NAME --from tamis FILE'",
             redis->stream.name, redis->key);
    return false;
}

/* Asks for the next answer and makes its frame. */
static bool next_chunk(struct stream *stream)
{
    char text[24];
    struct redis_stream *redis = redis_of(stream);
    const bool first = redis->offset == 0;
    if (redis->reply != NULL) freeReplyObject(redis->reply);
    redis->reply = NULL;
    (void)snprintf(text, sizeof text, "%" PRIu64, redis->offset);
    const struct redis_command scan =
        REDIS_WORDS(REDIS_REPLY_ARRAY, "BF.SCANDUMP", redis->key, text);
    redisReply *reply = redis_ask(&redis->connection, &scan);
    if (reply == NULL) return false;
    if (reply->elements != 2 || reply->element[0]->type != REDIS_REPLY_INTEGER ||
        (reply->element[1]->type != REDIS_REPLY_STRING &&
         reply->element[1]->type != REDIS_REPLY_NIL)) {
        freeReplyObject(reply);
        return redis_fail_answer(&redis->connection, "BF.SCANDUMP");
    }
    const uint64_t frame[2] = {(uint64_t)reply->element[0]->integer, reply->element[1]->len};
    if (first && is_of_module(reply->element[1]->str, frame[1])) {
        freeReplyObject(reply);
        return tell_export(redis);
    }
    redis->frame_at = redis->frame_end = 0;
    if (first) {
        memcpy(redis->frame, MAGIC, sizeof MAGIC);
        redis->frame_end = sizeof MAGIC;
        stream->all_bytes =
            container_bytes((const unsigned char *)reply->element[1]->str, frame[1]);
    }
    memcpy(redis->frame + redis->frame_end, frame, sizeof frame);
    redis->frame_end += sizeof frame;
    redis->reply = reply;
    redis->reply_at = 0;
    redis->offset = frame[0];
    redis->at_end = frame[0] == 0;
    return true;
}

/* Copies what there is from `*at` on, up to `bytes` bytes. */
static int64_t hand_out(void *to, size_t bytes, const void *from, size_t end, size_t *at)
{
    const size_t left = end - *at, now = left < bytes ? left : bytes;
    memcpy(to, (const char *)from + *at, now);
    *at += now;
    return (int64_t)now;
}

static int64_t filter_read(struct stream *stream, void *buffer, size_t bytes)
{
    struct redis_stream *redis = redis_of(stream);
    for (;;) {
        const redisReply *data = redis->reply != NULL ? redis->reply->element[1] : NULL;
        if (redis->frame_at < redis->frame_end)
            return hand_out(buffer, bytes, redis->frame, redis->frame_end, &redis->frame_at);
        if (data != NULL && redis->reply_at < data->len)
            return hand_out(buffer, bytes, data->str, data->len, &redis->reply_at);
        if (redis->at_end) return 0;
        if (!next_chunk(stream)) return fail_stream(stream);
    }
}

static bool load_chunk(struct stream *stream, uint64_t iterator, const void *data, size_t bytes)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, iterator);
    const struct redis_command piece =
        redis_bytes(REDIS_REPLY_STATUS,
                    (const char *const[]){"BF.LOADCHUNK", redis_of(stream)->temporary, text, NULL},
                    data, bytes);
    return put_piece(stream, &piece);
}

/* Collects `wanted` bytes in head.  Returns true when they are all there. */
static bool collect_head(struct redis_stream *redis, size_t wanted, const unsigned char **data,
                         size_t *bytes)
{
    size_t now = wanted - redis->head_bytes;
    if (now > *bytes) now = *bytes;
    memcpy(redis->head + redis->head_bytes, *data, now);
    redis->head_bytes += now;
    *data += now;
    *bytes -= now;
    return redis->head_bytes == wanted;
}

/* Takes a step through the container: magic, frame, header, data.  The library wrote it, so it is
 * sound.  Chunks of data go out in the pieces that they come in: BF.LOADCHUNK takes any length. */
static bool step(struct stream *stream, const unsigned char **data, size_t *bytes)
{
    struct redis_stream *redis = redis_of(stream);
    if (!redis->after_magic) {
        redis->after_magic = collect_head(redis, sizeof MAGIC, data, bytes);
        if (redis->after_magic) redis->head_bytes = 0;
        return true;
    }
    if (!redis->in_frame) {
        if (!collect_head(redis, FRAME_BYTES, data, bytes)) return true;
        redis->frame_iterator = get64(redis->head);
        redis->frame_left = get64(redis->head + 8);
        redis->head_bytes = 0;
        redis->in_frame = redis->frame_left > 0;
        return true;
    }
    if (redis->frame_iterator == 1) { /* the header goes whole */
        if (!collect_head(redis, (size_t)redis->frame_left, data, bytes)) return true;
        redis->in_frame = false;
        redis->head_bytes = 0;
        return load_chunk(stream, 1, redis->head, (size_t)redis->frame_left);
    }
    const size_t now = redis->frame_left < *bytes ? (size_t)redis->frame_left : *bytes;
    redis->frame_left -= now;
    redis->in_frame = redis->frame_left > 0;
    const bool good = load_chunk(stream, redis->frame_iterator - redis->frame_left, *data, now);
    *data += now;
    *bytes -= now;
    return good;
}

static int filter_write(struct stream *stream, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    while (bytes > 0)
        if (!step(stream, &at, &bytes)) return fail_stream(stream);
    return 0;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* An empty string is a key that is not there. */
static bool keep_nothing(struct redis_stream *redis)
{
    const struct redis_command drop = REDIS_WORDS(REDIS_REPLY_INTEGER, "DEL", redis->key);
    return !redis->force || redis_do(&redis->connection, &drop, NULL);
}

/* A server that is short of memory may have removed the temporary key, and the pieces since then
 * have made it again, without a time to live. */
static bool is_whole(struct redis_stream *redis)
{
    long long seconds = 0;
    const struct redis_command left = REDIS_WORDS(REDIS_REPLY_INTEGER, "TTL", redis->temporary);
    if (!redis_do(&redis->connection, &left, &seconds)) return false;
    if (seconds >= 0) return true;
    cli_tell("%s: the server removed a part of it while it was written (is it short of memory?); "
             "nothing was replaced",
             redis->stream.name);
    return false;
}

/* What was written gets its name. */
static bool redis_keep(struct stream *stream)
{
    long long numbers[2] = {0, 0};
    struct redis_stream *redis = redis_of(stream);
    if (!redis->wrote) return keep_nothing(redis);
    if (!is_whole(redis)) return false;
    const char *const replace[] = {"RENAME", redis->temporary, redis->key, NULL};
    const char *const give[] = {"RENAMENX", redis->temporary, redis->key, NULL};
    const struct redis_command last[2] = {
        REDIS_WORDS(REDIS_REPLY_INTEGER, "PERSIST", redis->temporary),
        redis->force ? redis_words(REDIS_REPLY_STATUS, replace)
                     : redis_words(REDIS_REPLY_INTEGER, give)};
    const bool good = redis_do_both(&redis->connection, last, numbers);
    if (good && !redis->force && numbers[1] == 0) { /* somebody made it meanwhile */
        (void)stream_fail_exists(stream->name);
        return false;
    }
    if (!good && !redis->connection.lost) return false;
    if (!good) {
        cli_tell("%s: all of it was written, but the server did not say whether it has its name "
                 "now; look at it",
                 stream->name);
        stream->failed = true;
    }
    free(redis->temporary);
    redis->temporary = NULL;
    return good;
}

static const struct stream_kind STRING_KIND = {
    .read = string_read,
    .write = string_write,
    .keep = redis_keep,
    .close = redis_close,
};

static const struct stream_kind FILTER_KIND = {
    .read = filter_read,
    .write = filter_write,
    .keep = redis_keep,
    .close = redis_close,
};

static bool take_type(struct redis_stream *redis)
{
    struct stream *stream = &redis->stream;
    const struct redis_command type = REDIS_WORDS(REDIS_REPLY_STATUS, "TYPE", redis->key);
    redisReply *reply = redis_ask(&redis->connection, &type);
    if (reply == NULL) return false;
    if (strcmp(reply->str, "string") == 0) {
        stream->format = "redis-bitmap";
    } else if (strcmp(reply->str, "MBbloom--") == 0) {
        stream->format = "redisbloom";
        stream->kind = &FILTER_KIND;
    } else if (strcmp(reply->str, "none") == 0) {
        cli_tell("%s is not there; is it in another database of the server?", stream->name);
    } else {
        cli_tell("%s is of type %s; a string (SETBIT) or a filter of RedisBloom can be imported%s",
                 stream->name, reply->str,
                 strcmp(reply->str, "MBbloomCF") == 0 || strcmp(reply->str, "bloomfltr") == 0
                     ? "; if it is a filter of the Tamis module, use 'tamis --store URL export'"
                     : "");
    }
    freeReplyObject(reply);
    return stream->format != NULL;
}

struct stream *redis_read(const struct options *options, const char *key)
{
    long long bytes = 0;
    struct redis_stream *redis = open_redis_stream(options, key);
    if (redis == NULL) return NULL;
    const struct redis_command length = REDIS_WORDS(REDIS_REPLY_INTEGER, "STRLEN", redis->key);
    if (redis_follow(&redis->connection, options, key) && take_type(redis)) {
        if (redis->stream.kind == &FILTER_KIND) return &redis->stream;
        if (redis_do(&redis->connection, &length, &bytes)) {
            redis->stream.all_bytes = (uint64_t)bytes;
            return &redis->stream;
        }
    }
    return give_up(redis);
}

static void name_temporary(struct redis_stream *redis)
{
    uint64_t random = 0;
    while (getrandom(&random, sizeof random, 0) < 0 && errno == EINTR)
        continue;
    redis->temporary = cli_format("%s:tamis-export-%016" PRIx64, redis->key, random);
}

struct stream *redis_write(const struct options *options, const char *key, const char *format,
                           bool force)
{
    long long there = 0;
    struct redis_stream *redis = open_redis_stream(options, key);
    if (redis == NULL) return NULL;
    const struct redis_command exists = REDIS_WORDS(REDIS_REPLY_INTEGER, "EXISTS", redis->key);
    redis->force = force;
    redis->stream.format = format;
    if (strcmp(format, "redisbloom") == 0) redis->stream.kind = &FILTER_KIND;
    if (redis_do(&redis->connection, &exists, &there)) {
        if (there == 0 || force) {
            name_temporary(redis);
            return &redis->stream;
        }
        (void)stream_fail_exists(redis->stream.name);
    }
    return give_up(redis);
}
