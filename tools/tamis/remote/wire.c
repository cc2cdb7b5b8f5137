/* SPDX-License-Identifier: BSD-2-Clause */
/* wire.c: bytes to and from a Redis server; see wire.h. */
#include "wire.h"

#include <errno.h>
#include <fcntl.h>

#include "command.h"

/* The longest array that is taken.  The longest that is asked for has some 16,000 elements. */
#define ELEMENTS_MAX 1048576
/* The longest reply that is taken.  The longest that is asked for is a piece of a filter, 16 MiB. A
 * string of Redis may have 512 MB, and hiredis would keep all of it. */
#define REPLY_BYTES_MAX ((size_t)64 << 20)

#if HIREDIS_MAJOR > 0
typedef size_t element_count;
#else
typedef int element_count;
#endif

static redisReplyObjectFunctions replies;
static void *(*create_array)(const redisReadTask *task, element_count count);

static void *create_bounded_array(const redisReadTask *task, element_count count)
{
    return count > ELEMENTS_MAX ? NULL : create_array(task, count);
}

/* hiredis makes room for an array when it reads its length, and looks at all of it when it frees
 * it: 16 GB and 10 s for what some damaged bytes say. */
static void bound_replies(redisReader *reader)
{
    if (reader->fn == &replies) return;
    replies = *reader->fn;
    create_array = replies.createArray;
    replies.createArray = create_bounded_array;
    reader->fn = &replies;
}

static bool fail_wire(struct wire *wire, const char *why)
{
    wire->error = why;
    return false;
}

const char *wire_error(const struct wire *wire)
{
    if (wire->error != NULL) return wire->error;
    return wire->context->err ? wire->context->errstr : NULL;
}

/* ---- Coming and going ------------------------------------------------------------------------ */

static const char *setting(const char *option, const char *name)
{
    const char *value = option != NULL ? option : getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

struct tls_settings tls_settings_of(const struct options *options)
{
    const char *insecure = setting(NULL, "TAMIS_TLS_INSECURE");
    const bool cacert = options_have(options, TAKES(CACERT));
    const bool cert = options_have(options, TAKES(CERT)), key = options_have(options, TAKES(KEY));
    return (struct tls_settings){
        .cacert = setting(cacert ? options->cacert : NULL, "TAMIS_TLS_CACERT"),
        .cert = setting(cert ? options->cert : NULL, "TAMIS_TLS_CERT"),
        .key = setting(key ? options->key : NULL, "TAMIS_TLS_KEY"),
        .insecure = options_have(options, TAKES(INSECURE)) ||
                    (insecure != NULL && strcmp(insecure, "1") == 0),
    };
}

/* The handshake, if the build has TLS. */
static bool open_tls(struct wire *wire, const struct wire_target *target, int64_t limit_ms,
                     char *trouble, size_t trouble_bytes, bool *fatal)
{
    if (tls_open == NULL) {
        (void)snprintf(trouble, trouble_bytes,
                       "this tamis was built without OpenSSL, so it has no TLS; build it with "
                       "TAMIS_WITH_OPENSSL (libssl-dev)");
        *fatal = true;
        return false;
    }
    wire->tls = tls_open(wire->context->fd, target->host, target->tls, limit_ms, trouble,
                         trouble_bytes, fatal);
    return wire->tls != NULL;
}

bool wire_connect(struct wire *wire, const struct wire_target *target, int64_t limit_ms,
                  char *trouble, size_t trouble_bytes, bool *fatal, bool *late)
{
    const struct timeval limit = {.tv_sec = limit_ms / 1000, .tv_usec = limit_ms % 1000 * 1000};
    *fatal = *late = false;
    *wire = (struct wire){
        .context = target->port == 0 ? redisConnectUnixWithTimeout(target->host, limit)
                                     : redisConnectWithTimeout(target->host, target->port, limit)};
    redisContext *context = wire->context;
    if (context == NULL) cli_no_memory();
    bool good = context->err == 0;
    if (!good) {
        *late = errno == ETIMEDOUT;
        (void)snprintf(trouble, trouble_bytes, "cannot connect: %s", context->errstr);
    } else {
        bound_replies(context->reader);
        context->flags &= ~REDIS_BLOCK;
        (void)fcntl(context->fd, F_SETFL, fcntl(context->fd, F_GETFL) | O_NONBLOCK);
    }
    if (good && target->tls != NULL && target->port != 0)
        good = open_tls(wire, target, limit_ms, trouble, trouble_bytes, fatal);
    if (!good) wire_disconnect(wire);
    return good;
}

void wire_disconnect(struct wire *wire)
{
    if (wire->tls != NULL) tls_close(wire->tls);
    if (wire->context != NULL) redisFree(wire->context);
    *wire = (struct wire){.context = NULL};
}

/* ---- To and fro ------------------------------------------------------------------------------ */

void wire_append(struct wire *wire, int argc, const char **argv, const size_t *bytes)
{
    if (redisAppendCommandArgv(wire->context, argc, argv, bytes) != REDIS_OK) cli_no_memory();
}

bool wire_has_unsent(const struct wire *wire)
{
    return sdslen(wire->context->obuf) > 0;
}

bool wire_flush(struct wire *wire)
{
    redisContext *context = wire->context;
    int done = 0;
    if (wire->tls == NULL) return redisBufferWrite(context, &done) == REDIS_OK;
    size_t unsent = sdslen(context->obuf), sent = 0;
    while (sent < unsent) {
        const long now = tls_write(wire->tls, context->obuf + sent, unsent - sent);
        if (now < 0) return fail_wire(wire, "the TLS connection is gone");
        if (now == 0) break;
        sent += (size_t)now;
    }
    if (sent == unsent)
        sdsclear(context->obuf);
    else if (sent > 0)
        sdsrange(context->obuf, (int)sent, -1);
    return true;
}

/* Reads once, and of TLS all that the library has read already, as poll() knows nothing of that. */
static bool read_some(struct wire *wire)
{
    char piece[16384];
    long bytes;
    if (wire->tls == NULL) return redisBufferRead(wire->context) == REDIS_OK;
    do {
        bytes = tls_read(wire->tls, piece, sizeof piece);
        if (bytes > 0 && redisReaderFeed(wire->context->reader, piece, (size_t)bytes) != REDIS_OK)
            return fail_wire(wire, wire->context->reader->errstr);
    } while (bytes > 0 && tls_has_read(wire->tls));
    return bytes >= 0 || fail_wire(wire, "the server closed the TLS connection");
}

static size_t unread_bytes(const struct wire *wire)
{
    return wire->context->reader->len - wire->context->reader->pos;
}

bool wire_receive(struct wire *wire)
{
    const size_t before = unread_bytes(wire);
    if (!read_some(wire)) return false;
    wire->reply_bytes += unread_bytes(wire) - before;
    return true;
}

bool wire_reply(struct wire *wire, redisReply **reply)
{
    void *next = NULL;
    if (redisGetReplyFromReader(wire->context, &next) != REDIS_OK) return false;
    *reply = next;
    if (next != NULL)
        wire->reply_bytes = unread_bytes(wire); /* of the next one */
    else if (wire->reply_bytes > REPLY_BYTES_MAX)
        return fail_wire(wire, "its answer is longer than any that is asked for, and was not read");
    return true;
}
