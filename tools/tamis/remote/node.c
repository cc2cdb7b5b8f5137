/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c: a connection to one server; see node.h. */
#include "node.h"

#include <poll.h>

#include "command.h"

const char *node_name(const struct node *node)
{
    static char name[300];
    if (node->port == 0)
        (void)snprintf(name, sizeof name, "%s", node->host);
    else
        (void)snprintf(name, sizeof name, strchr(node->host, ':') != NULL ? "[%s]:%d" : "%s:%d",
                       node->host, node->port);
    return name;
}

const char *node_error(const struct node *node)
{
    if (node->may_pass) return "it does not answer";
    const char *why = wire_error(&node->wire);
    return why != NULL ? why : "it answered what nobody asked";
}

/* ---- Coming and going ------------------------------------------------------------------------ */

void node_disconnect(struct node *node)
{
    wire_disconnect(&node->wire);
}

void node_free(struct node *node)
{
    node_disconnect(node);
    free(node->expected);
    free(node->host);
    free(node);
}

/* ---- To and fro ------------------------------------------------------------------------------ */

redisReply *node_ask(struct node *node, int64_t limit_ms, int argc, const char **argv)
{
    const double end = progress_clock() + (double)limit_ms / 1000;
    struct wire *wire = &node->wire;
    redisReply *reply = NULL;
    wire_append(wire, argc, argv, NULL);
    for (;;) {
        if (!wire_flush(wire) || !wire_reply(wire, &reply)) return NULL;
        if (reply != NULL) return reply;
        const double left = end - progress_clock();
        node->may_pass = left <= 0;
        if (node->may_pass) return NULL;
        const short events = wire_has_unsent(wire) ? POLLIN | POLLOUT : POLLIN;
        struct pollfd one = {.fd = wire->context->fd, .events = events};
        if (poll(&one, 1, (int)(left * 1000) + 1) > 0 &&
            (one.revents & (POLLIN | POLLHUP | POLLERR)) && !wire_receive(wire))
            return NULL;
    }
}

/* ---- Logging in ------------------------------------------------------------------------------ */

bool reply_is_error(const redisReply *reply, const char *beginning)
{
    return reply->type == REDIS_REPLY_ERROR &&
           strncmp(reply->str, beginning, strlen(beginning)) == 0;
}

/* One command of the log-in. */
static bool ask(struct node *node, int64_t limit_ms, int argc, const char **argv,
                char trouble[TROUBLE_BYTES], bool *fatal)
{
    redisReply *reply = node_ask(node, limit_ms, argc, argv);
    const bool good = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    if (reply == NULL)
        (void)snprintf(trouble, TROUBLE_BYTES, "%s: %s", node_name(node), node_error(node));
    else if (!good)
        (void)snprintf(trouble, TROUBLE_BYTES, "%s: %s: %s", node_name(node), argv[0],
                       reply->type == REDIS_REPLY_ERROR ? reply->str
                                                        : "the answer is not what Redis answers");
    if (reply != NULL && !good) {
        node->may_pass = reply_is_error(reply, "LOADING");
        *fatal = !node->may_pass;
    }
    if (reply != NULL) freeReplyObject(reply);
    return good;
}

static bool log_in(struct node *node, const struct redis_url *address, int64_t limit_ms,
                   char trouble[TROUBLE_BYTES], bool *fatal)
{
    char database[16];
    const char *password = address->password != NULL ? address->password : getenv("REDISCLI_AUTH");
    if (password != NULL) {
        const bool named = address->user != NULL && address->password != NULL;
        const char *auth[3] = {"AUTH", named ? address->user : password, password};
        if (!ask(node, limit_ms, named ? 3 : 2, auth, trouble, fatal)) {
            const size_t used = strlen(trouble);
            if (*fatal)
                (void)snprintf(trouble + used, TROUBLE_BYTES - used,
                               " (the password is that of %s)",
                               address->password != NULL ? "the URL" : "$REDISCLI_AUTH");
            return false;
        }
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
    const struct wire_target target = {
        .host = node->host, .port = node->port, .tls = address->tls ? tls : NULL};
    char why[TROUBLE_BYTES / 2 - 8];
    node->first = node->end = 0;
    if (!wire_connect(&node->wire, &target, limit_ms, why, sizeof why, fatal, &node->may_pass)) {
        (void)snprintf(trouble, TROUBLE_BYTES, "%s: %s", node_name(node), why);
        return false;
    }
    if (log_in(node, address, limit_ms, trouble, fatal)) return true;
    node_disconnect(node);
    return false;
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
    node->expected = cli_grow(node->expected, node->end + 1, &node->room, sizeof *node->expected);
    node->expected[node->end++] = (struct expected){what, request};
    wire_append(&node->wire, argc, argv, bytes);
}
