/* SPDX-License-Identifier: BSD-2-Clause */
/* cluster.h: the nodes of a store, and which of them has which slot. */
#pragma once

#include "node.h"
#include "remote.h"
#include "shard.h"

struct remote {
    const struct invocation *call;
    struct redis_url address;
    char *shown; /* the URL without a password, for messages */
    struct tls_settings tls;
    int64_t timeout_ms; /* for any answer */
    uint32_t replicas;  /* that must have what was added before it is answered */
    bool doubts_are_seen;
    bool is_cluster;
    struct node **nodes;
    size_t node_count;
    struct node *slots[SLOTS];   /* which node has a slot; NULL: not known */
    int64_t mapped_ns;           /* when the slots were last asked for */
    char trouble[TROUBLE_BYTES]; /* what went wrong last */
    bool gave_up;                /* requests have ended without all replies */
    bool may_pass;               /* a node that did not tell its slots may do so later */
};

/* The node of that address, which is made if it is not there. */
struct node *cluster_node(struct remote *store, const char *host, size_t host_bytes, int port);

/* Asks the nodes, one after the other, which slots they have, until one tells.  false: none did,
 * and store->trouble says why; *fatal: asking again is useless. */
bool cluster_map(struct remote *store, int64_t limit_ms, bool *fatal);

/* "HOST:PORT" at the end of MOVED and ASK; `from` is who said so.  NULL: it is not one. */
struct node *cluster_redirect(struct remote *store, const struct node *from, const char *text);
