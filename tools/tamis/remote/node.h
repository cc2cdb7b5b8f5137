/* SPDX-License-Identifier: BSD-2-Clause */
/* node.h: a server of the store, and a connection to it that does not block. */
#pragma once

#include "redis_url.h"
#include "wire.h"

struct request;

enum expect { EXPECT_REPLY, EXPECT_ASKING, EXPECT_WAIT };

/* A reply that is still to come; replies come in the order of what was sent. */
struct expected {
    enum expect what;
    struct request *request; /* of EXPECT_REPLY */
};

struct node {
    char *host; /* or the path of a socket, with port 0 */
    int port;
    struct wire wire;
    struct expected *expected;
    size_t first, end, room; /* of `expected` */
    size_t chosen;           /* requests that requests_complete_gently() gives it in this round */
    bool writes;             /* of this round: WAIT is to follow */
    int64_t heard_ns;        /* when something came, or the first of the round was sent */
    bool may_pass;           /* what failed last: no answer came in time, or it is loading */
};

#define TROUBLE_BYTES 600

/* Connects, logs in and chooses the database; waits at most limit_ms for each answer.  false: it
 * did not work, and `trouble` says why; *fatal: it never will. */
bool node_connect(struct node *node, const struct redis_url *address,
                  const struct tls_settings *tls, int64_t limit_ms, char trouble[TROUBLE_BYTES],
                  bool *fatal);
void node_disconnect(struct node *node);
static inline bool node_is_connected(const struct node *node)
{
    return node->wire.context != NULL;
}
void node_free(struct node *node);

/* One command and its reply, when nothing else is expected; NULL: none came in limit_ms, and
 * node_error() says why. */
redisReply *node_ask(struct node *node, int64_t limit_ms, int argc, const char **argv);

/* Is the reply an error whose text begins so? */
bool reply_is_error(const redisReply *reply, const char *beginning);

/* Puts a command into the buffer of what is to be sent. */
void node_send(struct node *node, enum expect what, struct request *request, int argc,
               const char **argv, const size_t *bytes);
bool node_is_idle(const struct node *node); /* nothing is expected */
struct expected node_next(struct node *node);

/* Why its connection failed, for messages. */
const char *node_error(const struct node *node);

/* "HOST:PORT", for messages; the text is valid until the next call. */
const char *node_name(const struct node *node);
