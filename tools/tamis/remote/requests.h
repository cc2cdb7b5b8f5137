/* SPDX-License-Identifier: BSD-2-Clause */
/* requests.h: requests to the nodes of a store, all at once, until each has its reply. */
#pragma once

#include "cluster.h"

enum request_state {
    REQUEST_UNSENT,
    REQUEST_SENT,
    REQUEST_ANSWERED, /* the replicas do not have it yet (--replicas) */
    REQUEST_DONE,
};

struct request {
    uint32_t slot;
    struct node *at; /* goes to this node and no other; NULL: to the one that has the slot */
    int argc;
    const char **argv;
    const size_t *bytes; /* of each argument; NULL: they end with NUL */
    bool writes;
    bool once; /* it is not sent again when its answer was lost: done, without a reply */

    enum request_state state;
    struct node *node;   /* it was sent to */
    struct node *ask;    /* the slot is being moved: this one has the key */
    redisReply *reply;   /* when it is done; it may be an error */
    redisReply *before;  /* what was answered by nodes that were lost with it */
    unsigned lost;       /* how often it was sent and no answer came */
    unsigned redirected; /* how often a node sent it to another */
};

/* A request about `key` whose arguments end with NUL.  argv stays the caller's. */
struct request request_of(const char *key, int argc, const char **argv, bool writes);

/* true: each request is done.  false after a message: nothing was heard for store->timeout_ms, a
 * signal came in a wait, or the store cannot be used.  Replies that came are there in any case. */
bool requests_complete(struct remote *store, struct request *requests, size_t count);

/* The same, but each node has only a few of them at a time: those that each take a server
 * milliseconds would together keep it from answering others, and the other nodes would take it for
 * dead. */
bool requests_complete_gently(struct remote *store, struct request *requests, size_t count);

/* Frees the replies. */
void requests_clear(struct request *requests, size_t count);

/* A sentence: the reply is an error, with what can be done about it, or has an unexpected shape.
 * The caller frees it. */
char *requests_trouble(const struct remote *store, const char *what, const redisReply *reply);
/* Tells it.  Always -1. */
int requests_fail(const struct remote *store, const char *what, const redisReply *reply);
