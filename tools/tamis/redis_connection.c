/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis_connection.c: commands to a Redis server; see redis_connection.h.
 *
 * remote/wire.c makes the connection and speaks the protocol; all other waiting is done here, where
 * a signal ends it.
 */
#include "redis_connection.h"

#include <poll.h>

#include "command.h"
#include "redis_url.h"

#define CONNECT_MS 10000
#define REPLY_SECONDS 120 /* a server may be busy writing its own files */
#define GRACE_MS 1000     /* after a signal */
#define REDIRECTIONS 4    /* from node to node of a cluster that changes */

struct redis_command redis_words(int type, const char *const *words)
{
    struct redis_command command = {.type = type};
    for (; words[command.count] != NULL; command.count++) {
        command.data[command.count] = words[command.count];
        command.bytes[command.count] = strlen(words[command.count]);
    }
    return command;
}

struct redis_command redis_bytes(int type, const char *const *words, const void *data, size_t bytes)
{
    struct redis_command command = redis_words(type, words);
    command.data[command.count] = data;
    command.bytes[command.count++] = bytes;
    return command;
}

/* ---- To and fro ------------------------------------------------------------------------------ */

static bool wait_for(const struct redis_connection *connection, short events)
{
    const int fd = connection->wire.context->fd;
    if (!interrupt_signal() && interrupt_wait(fd, events, connection->seconds)) return true;
    struct pollfd pfd = {.fd = fd, .events = events};
    return interrupt_signal() && poll(&pfd, 1, GRACE_MS) > 0;
}

static void tell_lost(const struct redis_connection *connection)
{
    const char *why = wire_error(&connection->wire);
    if (interrupt_signal()) return; /* the caller says so */
    if (why == NULL)
        cli_tell("%s: the server has not answered for %d s", connection->what, connection->seconds);
    else
        cli_tell("%s: the connection failed: %s", connection->what, why);
}

static void send_later(struct redis_connection *connection, const struct redis_command *command)
{
    const char *data[REDIS_ARGUMENTS_MAX];
    memcpy(data, command->data, sizeof data); /* hiredis wants them writable */
    wire_append(&connection->wire, command->count, data, command->bytes);
}

static bool flush(struct redis_connection *connection)
{
    struct wire *wire = &connection->wire;
    while (wire_has_unsent(wire)) {
        if (!wait_for(connection, POLLOUT) || !wire_flush(wire)) return false;
    }
    return true;
}

/* The next reply; NULL, and the connection lost, where none comes. */
static redisReply *receive(struct redis_connection *connection)
{
    struct wire *wire = &connection->wire;
    redisReply *reply = NULL;
    bool good = !connection->lost && flush(connection);
    while (good && reply == NULL) {
        good = wire_reply(wire, &reply);
        if (good && reply == NULL) good = wait_for(connection, POLLIN) && wire_receive(wire);
    }
    if (reply == NULL && !connection->lost) {
        tell_lost(connection);
        connection->lost = true;
    }
    return reply;
}

bool redis_fail_answer(const struct redis_connection *connection, const char *verb)
{
    cli_tell("%s: %s: the server's answer is not what Redis answers", connection->what, verb);
    return false;
}

/* Is the reply to `verb` of that type?  false after a message. */
static bool reply_is(const struct redis_connection *connection, const char *verb, int type,
                     const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        const bool locked = strncmp(reply->str, "NOAUTH", 6) == 0;
        const bool barred = strncmp(reply->str, "NOPERM", 6) == 0;
        cli_tell("%s: %s: the server says: %s%s", connection->what, verb, reply->str,
                 locked   ? " Put the password into the URL, or into $REDISCLI_AUTH."
                 : barred ? "; allow it to the user (ACL SETUSER), or name another user in the URL"
                          : "");
        return false;
    }
    return reply->type == type || redis_fail_answer(connection, verb);
}

redisReply *redis_ask(struct redis_connection *connection, const struct redis_command *command)
{
    if (!connection->lost) send_later(connection, command);
    redisReply *reply = receive(connection);
    if (reply == NULL || reply_is(connection, command->data[0], command->type, reply)) return reply;
    freeReplyObject(reply);
    return NULL;
}

bool redis_do(struct redis_connection *connection, const struct redis_command *command,
              long long *number)
{
    redisReply *reply = redis_ask(connection, command);
    if (reply == NULL) return false;
    if (number != NULL) *number = reply->integer;
    freeReplyObject(reply);
    return true;
}

/* The reply to EXEC: one reply for each command. */
static bool take_both(const struct redis_connection *connection,
                      const struct redis_command commands[2], const redisReply *reply,
                      long long numbers[2])
{
    if (!reply_is(connection, "EXEC", REDIS_REPLY_ARRAY, reply)) return false;
    if (reply->elements != 2) return redis_fail_answer(connection, "EXEC");
    for (size_t i = 0; i < 2; i++) {
        if (!reply_is(connection, commands[i].data[0], commands[i].type, reply->element[i]))
            return false;
        numbers[i] = reply->element[i]->integer;
    }
    return true;
}

/* All four commands are sent at once. If one of them is refused, EXEC is refused too, and only the
 * first refusal is told. */
bool redis_do_both(struct redis_connection *connection, const struct redis_command commands[2],
                   long long numbers[2])
{
    const struct redis_command begin = REDIS_WORDS(0, "MULTI"), end = REDIS_WORDS(0, "EXEC");
    const struct redis_command *const all[] = {&begin, &commands[0], &commands[1], &end};
    bool good = true;
    if (connection->lost) return false;
    for (size_t i = 0; i < 4; i++)
        send_later(connection, all[i]);
    for (size_t i = 0; i < 4; i++) {
        redisReply *reply = receive(connection);
        if (reply == NULL) return false;
        if (good && i < 3) good = reply_is(connection, all[i]->data[0], REDIS_REPLY_STATUS, reply);
        if (good && i == 3) good = take_both(connection, commands, reply, numbers);
        freeReplyObject(reply);
    }
    return good;
}

/* ---- Coming and going ------------------------------------------------------------------------ */

static bool log_in(struct redis_connection *connection, const struct redis_url *address)
{
    char database[16];
    const char *password = address->password != NULL ? address->password : getenv("REDISCLI_AUTH");
    if (password != NULL) {
        const bool named = address->user != NULL && address->password != NULL;
        const struct redis_command auth =
            named ? REDIS_WORDS(REDIS_REPLY_STATUS, "AUTH", address->user, password)
                  : REDIS_WORDS(REDIS_REPLY_STATUS, "AUTH", password);
        if (!redis_do(connection, &auth, NULL)) return false;
    }
    if (address->database == 0) return true;
    (void)snprintf(database, sizeof database, "%u", address->database);
    const struct redis_command select = REDIS_WORDS(REDIS_REPLY_STATUS, "SELECT", database);
    return redis_do(connection, &select, NULL);
}

static bool connect_to(struct redis_connection *connection, const struct redis_url *address,
                       const struct options *options)
{
    char why[300];
    bool fatal, late;
    const struct tls_settings tls = tls_settings_of(options);
    const struct wire_target target = {
        .host = address->host, .port = address->port, .tls = address->tls ? &tls : NULL};
    const bool limited = options_have(options, TAKES(TIMEOUT));
    connection->seconds = limited ? (int)((options->timeout_ms + 999) / 1000) : REPLY_SECONDS;
    const int64_t limit_ms = limited ? options->timeout_ms : CONNECT_MS;
    if (wire_connect(&connection->wire, &target, limit_ms, why, sizeof why, &fatal, &late))
        return log_in(connection, address);
    connection->lost = true;
    if (interrupt_signal()) return false;
    if (address->port == 0)
        cli_tell("%s: %s: %s", connection->what, address->host, why);
    else
        cli_tell("%s: %s port %d: %s", connection->what, address->host, address->port, why);
    return false;
}

bool redis_connect(struct redis_connection *connection, const struct options *options)
{
    struct redis_url address;
    bool good = redis_url_parse(options->peer, &address) && address.other_count == 0;
    if (!good)
        cli_tell("the URL of the server is not redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], the "
                 "same with rediss:// (TLS), or unix://[[USER]:PASSWORD@]/PATH, with special "
                 "characters in the password as %%40 for @");
    good = good && connect_to(connection, &address, options);
    redis_url_clear(&address);
    return good;
}

void redis_disconnect(struct redis_connection *connection)
{
    wire_disconnect(&connection->wire);
    connection->lost = true;
}

/* Takes the host and the port of "MOVED SLOT HOST:PORT".  A node that does not know its own name
 * leaves the host out: then it is the same one.  false: it says something else. */
static bool take_moved(struct redis_url *address, const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ERROR || strncmp(reply->str, "MOVED ", 6) != 0) return false;
    const char *host = strrchr(reply->str, ' ') + 1, *colon = strrchr(host, ':');
    const int port = colon != NULL ? atoi(colon + 1) : 0;
    if (port <= 0) return false;
    address->port = port;
    if (colon == host) return true;
    free(address->host);
    address->host = cli_copy(host, (size_t)(colon - host));
    return true;
}

bool redis_follow(struct redis_connection *connection, const struct options *options,
                  const char *key)
{
    const struct redis_command type = REDIS_WORDS(REDIS_REPLY_STATUS, "TYPE", key);
    struct redis_url address;
    bool good = redis_url_parse(options->peer, &address);
    for (int i = 0; good && i < REDIRECTIONS; i++) {
        send_later(connection, &type);
        redisReply *reply = receive(connection);
        const bool moved = reply != NULL && take_moved(&address, reply);
        good = reply != NULL;
        if (reply != NULL) freeReplyObject(reply);
        if (!moved) break;
        redis_disconnect(connection);
        connection->lost = false;
        good = connect_to(connection, &address, options);
    }
    redis_url_clear(&address);
    return good;
}
