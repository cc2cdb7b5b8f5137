/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cluster.c: which node has which slot; see cluster.h.
 *
 * A server that is no cluster has all slots.  CLUSTER SLOTS is asked over a connection of its own,
 * with a short limit, because the usual ones may be full of requests, or hang.
 */
#include "cluster.h"

#include "command.h"

struct node *cluster_node(struct remote *store, const char *host, size_t host_bytes, int port)
{
    for (size_t i = 0; i < store->node_count; i++) {
        struct node *node = store->nodes[i];
        if (node->port == port && strlen(node->host) == host_bytes &&
            memcmp(node->host, host, host_bytes) == 0)
            return node;
    }
    struct node *node = cli_alloc(sizeof *node);
    *node = (struct node){.host = cli_copy(host, host_bytes), .port = port};
    store->nodes = cli_realloc(store->nodes, (store->node_count + 1) * sizeof(struct node *));
    store->nodes[store->node_count++] = node;
    return node;
}

struct node *cluster_redirect(struct remote *store, const struct node *from, const char *text)
{
    const char *colon = strrchr(text, ':');
    char *end;
    if (colon == NULL) return NULL;
    const long port = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end != '\0' || port < 1 || port > 65535) return NULL;
    /* An empty host is that of the node which answered. */
    if (colon == text) return cluster_node(store, from->host, strlen(from->host), (int)port);
    return cluster_node(store, text, (size_t)(colon - text), (int)port);
}

/* One line of CLUSTER SLOTS: first, last, [host, port, ...] of the master, and of replicas. */
static bool take_range(struct remote *store, const struct node *from, const redisReply *range)
{
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3) return false;
    const redisReply *first = range->element[0], *last = range->element[1];
    const redisReply *master = range->element[2];
    if (first->type != REDIS_REPLY_INTEGER || last->type != REDIS_REPLY_INTEGER ||
        master->type != REDIS_REPLY_ARRAY || master->elements < 2)
        return false;
    const redisReply *host = master->element[0], *port = master->element[1];
    if (first->integer < 0 || last->integer >= (long long)SLOTS ||
        port->type != REDIS_REPLY_INTEGER || port->integer < 1 || port->integer > 65535)
        return false;
    const bool named = host->type == REDIS_REPLY_STRING && host->len > 0 && host->str[0] != '?';
    const char *name = named ? host->str : from->host;
    struct node *node = cluster_node(store, name, strlen(name), (int)port->integer);
    for (long long slot = first->integer; slot <= last->integer; slot++)
        store->slots[slot] = node;
    return true;
}

static bool take_slots(struct remote *store, struct node *from, const redisReply *reply)
{
    bool good = reply->type == REDIS_REPLY_ARRAY;
    if (reply->type == REDIS_REPLY_ERROR) {
        /* It is no cluster, or the user may not ask.  If it is one all the same, MOVED tells. */
        for (size_t i = 0; i < SLOTS; i++)
            if (store->slots[i] == NULL) store->slots[i] = from;
        return true;
    }
    store->is_cluster = true;
    memset(store->slots, 0, sizeof store->slots);
    for (size_t i = 0; good && i < reply->elements; i++)
        good = take_range(store, from, reply->element[i]);
    if (!good)
        (void)snprintf(store->trouble, TROUBLE_BYTES,
                       "%s: CLUSTER SLOTS: the answer is not what Redis "
                       "answers",
                       node_name(from));
    return good;
}

static bool ask_node(struct remote *store, struct node *node, int64_t limit_ms, bool *fatal)
{
    struct node asked = {.host = node->host, .port = node->port};
    if (!node_connect(&asked, &store->address, &store->tls, limit_ms, store->trouble, fatal)) {
        store->may_pass |= asked.may_pass;
        return false;
    }
    const char *words[2] = {"CLUSTER", "SLOTS"};
    redisReply *reply = node_ask(&asked, limit_ms, 2, words);
    if (reply == NULL)
        (void)snprintf(store->trouble, TROUBLE_BYTES, "%s: CLUSTER SLOTS: %s", node_name(node),
                       node_error(&asked));
    const bool loading = reply != NULL && reply_is_error(reply, "LOADING");
    store->may_pass |= asked.may_pass || loading;
    if (loading)
        (void)snprintf(store->trouble, TROUBLE_BYTES, "%s: %s", node_name(node), reply->str);
    const bool good = reply != NULL && !loading && take_slots(store, node, reply);
    if (reply != NULL) freeReplyObject(reply);
    node_disconnect(&asked);
    return good;
}

bool cluster_map(struct remote *store, int64_t limit_ms, bool *fatal)
{
    *fatal = store->may_pass = false;
    store->mapped_ns = (int64_t)(progress_clock() * 1e9);
    const size_t count = store->node_count; /* asking adds nodes */
    for (size_t i = 0; i < count && !*fatal; i++)
        if (ask_node(store, store->nodes[i], limit_ms, fatal)) return true;
    return false;
}
