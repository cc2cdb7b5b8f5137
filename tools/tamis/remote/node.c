/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c: a connection to one server; see node.h. */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "command.h"
#include "tls.h"

const char *node_name(const struct node *node)
{
    static char name[300];
    if (node->port == 0)
        snprintf(name, sizeof name, "%s", node->host);
    else
        snprintf(name, sizeof name, strchr(node->host, ':') ? "[%s]:%d" : "%s:%d", node->host,
                 node->port);
    return name;
}

const char *node_error(const struct node *node)
{
    const redisContext *context = node->context;
    return context->err ? context->errstr : "it answered what nobody asked";
}

/* ---- What a server may answer -----------------------------------------------------------------
 */

#define ELEMENTS_MAX 1048576 /* of an array; the longest that is asked for has some 16,000 */

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

/* ---- Coming and going -------------------------------------------------------------------------
 */

void node_disconnect(struct node *node)
{
    tls_close(node->tls);
    node->tls = NULL;
    if (node->context != NULL) redisFree(node->context);
    node->context = NULL;
}

void node_free(struct node *node)
{
    node_disconnect(node);
    free(node->expected);
    free(node->host);
    free(node);
}

static struct timeval timeval_of(int64_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

/* ---- To and fro -------------------------------------------------------------------------------
 */

static bool fail(struct node *node, const char *why)
{
    node->context->err = REDIS_ERR_OTHER;
    (void)snprintf(node->context->errstr, sizeof node->context->errstr, "%s", why);
    return false;
}

bool node_flush(struct node *node)
{
    redisContext *context = node->context;
    int done = 0;
    if (node->tls == NULL) return redisBufferWrite(context, &done) == REDIS_OK;
    size_t unsent = sdslen(context->obuf), sent = 0;
    while (sent < unsent) {
        const long now = tls_write(node->tls, context->obuf + sent, unsent - sent);
        if (now < 0) return fail(node, "the TLS connection is gone");
        if (now == 0) break;
        sent += (size_t)now;
    }
    if (sent == unsent)
        sdsclear(context->obuf);
    else if (sent > 0)
        sdsrange(context->obuf, (int)sent, -1);
    return true;
}

bool node_receive(struct node *node)
{
    char piece[16384];
    long bytes;
    if (node->tls == NULL) return redisBufferRead(node->context) == REDIS_OK;
    /* All of it: poll() knows nothing of what the TLS library has read already. */
    while ((bytes = tls_read(node->tls, piece, sizeof piece)) > 0)
        if (redisReaderFeed(node->context->reader, piece, (size_t)bytes) != REDIS_OK)
            return fail(node, node->context->reader->errstr);
    return bytes == 0 || fail(node, "the server closed the TLS connection");
}

redisReply *node_ask(struct node *node, int64_t limit_ms, int argc, const char **argv)
{
    const double end = progress_clock() + (double)limit_ms / 1000;
    redisContext *context = node->context;
    void *reply = NULL;
    if (redisAppendCommandArgv(context, argc, argv, NULL) != REDIS_OK) cli_no_memory();
    for (;;) {
        if (!node_flush(node) || redisGetReplyFromReader(context, &reply) != REDIS_OK) return NULL;
        if (reply != NULL) return reply;
        const double left = end - progress_clock();
        if (left <= 0) {
            node->may_pass = true;
            fail(node, "it does not answer");
            return NULL;
        }
        const short events = sdslen(context->obuf) > 0 ? POLLIN | POLLOUT : POLLIN;
        struct pollfd one = {.fd = context->fd, .events = events};
        if (poll(&one, 1, (int)(left * 1000) + 1) > 0 &&
            (one.revents & (POLLIN | POLLHUP | POLLERR)) && !node_receive(node))
            return NULL;
    }
}

/* ---- Logging in -------------------------------------------------------------------------------
 */

bool node_is_loading(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "LOADING", 7) == 0;
}

/* One command of the log-in. */
static bool ask(struct node *node, int64_t limit_ms, int argc, const char **argv,
                char trouble[TROUBLE_BYTES], bool *fatal)
{
    redisReply *reply = node_ask(node, limit_ms, argc, argv);
    const bool good = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    if (reply == NULL)
        snprintf(trouble, TROUBLE_BYTES, "%s: %s", node_name(node), node_error(node));
    else if (!good)
        snprintf(trouble, TROUBLE_BYTES, "%s: %s: %s", node_name(node), argv[0],
                 reply->type == REDIS_REPLY_ERROR ? reply->str
                                                  : "the answer is not what Redis answers");
    if (reply != NULL && !good) {
        node->may_pass = node_is_loading(reply);
        *fatal = !node->may_pass;
    }
    if (reply != NULL) freeReplyObject(reply);
    return good;
}

static bool log_in(struct node *node, const struct redis_url *address, int64_t limit_ms,
                   char trouble[TROUBLE_BYTES], bool *fatal)
{
    char database[16];
    const char *password = address->password ? address->password : getenv("REDISCLI_AUTH");
    if (password != NULL) {
        const bool named = address->user != NULL && address->password != NULL;
        const char *auth[3] = {"AUTH", named ? address->user : password, password};
        if (!ask(node, limit_ms, named ? 3 : 2, auth, trouble, fatal)) return false;
    }
    if (address->database == 0) return true;
    (void)snprintf(database, sizeof database, "%u", address->database);
    const char *select[2] = {"SELECT", database};
    return ask(node, limit_ms, 2, select, trouble, fatal);
}

bool node_connect(struct node *node, const struct redis_url *address,
                  const struct tls_settings *tls, int64_t limit_ms, char trouble[TROUBLE_BYTES],
                  bool *fatal)
{
    const struct timeval limit = timeval_of(limit_ms);
    *fatal = false;
    node->first = node->end = 0;
    node->context = node->port == 0 ? redisConnectUnixWithTimeout(node->host, limit)
                                    : redisConnectWithTimeout(node->host, node->port, limit);
    if (node->context == NULL) cli_no_memory();
    bool good = node->context->err == 0;
    node->may_pass = !good && errno == ETIMEDOUT;
    if (good) bound_replies(node->context->reader);
    if (!good)
        snprintf(trouble, TROUBLE_BYTES, "%s: cannot connect: %s", node_name(node),
                 node->context->errstr);
    if (good) {
        node->context->flags &= ~REDIS_BLOCK;
        (void)fcntl(node->context->fd, F_SETFL, fcntl(node->context->fd, F_GETFL) | O_NONBLOCK);
    }
    if (good && address->tls && node->port != 0) {
        const int named = snprintf(trouble, TROUBLE_BYTES, "%s: ", node_name(node));
        node->tls = tls_open(node->context->fd, node->host, tls, limit_ms, trouble + named,
                             TROUBLE_BYTES - (size_t)named, fatal);
        good = node->tls != NULL;
    }
    good = good && log_in(node, address, limit_ms, trouble, fatal);
    if (!good) node_disconnect(node);
    return good;
}

bool node_is_idle(const struct node *node)
{
    return node->first == node->end;
}

struct expected node_next(struct node *node)
{
    const struct expected next = node->expected[node->first++];
    if (node->first == node->end) node->first = node->end = 0;
    return next;
}

void node_send(struct node *node, enum expect what, struct request *request, int argc,
               const char **argv, const size_t *bytes)
{
    if (node->end == node->room) {
        node->room = node->room ? node->room * 2 : 64;
        node->expected = cli_realloc(node->expected, node->room * sizeof *node->expected);
    }
    node->expected[node->end++] = (struct expected){what, request};
    if (redisAppendCommandArgv(node->context, argc, argv, bytes) != REDIS_OK) cli_no_memory();
}
