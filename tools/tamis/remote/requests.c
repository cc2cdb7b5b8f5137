/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requests.c: requests to all nodes at once, and their replies; see requests.h.
 *
 * It goes in rounds.  A round sends each request that has no reply to the node that has its slot,
 * all of them before it waits for any, and takes the replies as they come.  What was redirected,
 * refused for now, or lost with its connection goes out again in the next round, after a look at
 * the slots.  A node that is silent for a second is doubted: if the other nodes say that its slots
 * are elsewhere now, its connection is given up; if not, it may only be slow.
 */
#include "requests.h"

#include <errno.h>
#include <poll.h>

#include "command.h"

#define SILENCE_MS 1000 /* then the others are asked about a node */
#define PAUSE_MS 50     /* before a round, while the cluster changes: the first pause, and */
#define PAUSE_DOUBLED 4 /* how often it is doubled, up to 800 ms */
#define REDIRECTIONS 4  /* of a request, which are followed at once */
#define CONNECT_MS 2000
#define GRACE_MS 1000 /* after a signal */
#define AT_A_TIME 4   /* requests to a node of requests_complete_gently() */
#define WAIT_MS "500" /* of one WAIT, less than SILENCE_MS; it is sent again until it is over */

struct completion {
    struct remote *store;
    struct request *requests;
    size_t count, left;
    int64_t heard_ns; /* when something was done last */
    bool stale;       /* the slots have changed */
    bool pause;       /* trying again at once is useless */
    bool failed;
    unsigned pauses; /* since something was done */
};

static int64_t now_ns(void)
{
    return (int64_t)(progress_clock() * 1e9);
}

static void note_trouble(struct completion *x, const struct node *node, const char *text)
{
    (void)snprintf(x->store->trouble, TROUBLE_BYTES, "%s: %s", node_name(node), text);
}

static bool is_over(const struct completion *x)
{
    const int64_t limit_ms = interrupt_signal() ? GRACE_MS : x->store->timeout_ms;
    return now_ns() - x->heard_ns >= limit_ms * 1000000;
}

/* Keeps the reply of a request that is done again; a key that was new before stays so in it. */
static void keep_reply(struct request *request)
{
    redisReply *old = request->before, *last = request->reply;
    for (size_t i = 0; old != NULL && i < old->elements && i < last->elements; i++)
        if (old->element[i]->type == REDIS_REPLY_INTEGER && old->element[i]->integer == 1 &&
            last->element[i]->type == REDIS_REPLY_INTEGER)
            last->element[i]->integer = 1;
    if (old != NULL) freeReplyObject(old);
    request->before = last;
    request->reply = NULL;
    request->state = REQUEST_UNSENT;
}

/* Notes that a request was done: the pauses begin anew. */
static void note_progress(struct completion *x)
{
    x->heard_ns = now_ns();
    x->pauses = 0;
}

/* What the node has answered may be in none of its replicas: it is done again, if it may be. */
static void distrust(struct completion *x, const struct node *node)
{
    for (size_t i = 0; i < x->count; i++) {
        struct request *request = &x->requests[i];
        if (request->state != REQUEST_ANSWERED || request->node != node) continue;
        if (!request->once) {
            keep_reply(request);
            continue;
        }
        request->state = REQUEST_DONE;
        x->left--;
    }
    x->stale = x->pause = true;
}

/* The connection is gone, and with it all answers that have not come. */
static void lose(struct completion *x, struct node *node)
{
    while (!node_is_idle(node)) {
        struct request *request = node_next(node).request;
        if (request == NULL) continue;
        request->lost++;
        request->state = request->once ? REQUEST_DONE : REQUEST_UNSENT;
        x->left -= request->once;
    }
    distrust(x, node);
    node_disconnect(node);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static bool is_connected(struct completion *x, struct node *node)
{
    bool fatal = false;
    if (node_is_connected(node)) return true;
    if (node->heard_ns < 0) return false; /* it was tried in this round */
    if (node_connect(node, &x->store->address, &x->store->tls, CONNECT_MS, x->store->trouble,
                     &fatal))
        return true;
    node->heard_ns = -1;
    x->stale = x->pause = true;
    if (fatal) {
        x->failed = true;
        cli_tell("%s: %s", x->store->shown, x->store->trouble);
    }
    return false;
}

static void send_one(struct completion *x, struct request *request)
{
    struct node *node = request->ask != NULL  ? request->ask
                        : request->at != NULL ? request->at
                                              : x->store->slots[request->slot];
    if (node == NULL) {
        (void)snprintf(x->store->trouble, TROUBLE_BYTES, "no node of the cluster has slot %u",
                       request->slot);
        x->stale = x->pause = true;
        return;
    }
    if (!is_connected(x, node)) {
        request->ask = NULL;
        return;
    }
    if (request->ask != NULL) {
        const char *asking[] = {"ASKING"};
        node_send(node, EXPECT_ASKING, NULL, 1, asking, NULL);
    }
    request->ask = NULL;
    node_send(node, EXPECT_REPLY, request, request->argc, request->argv, request->bytes);
    request->state = REQUEST_SENT;
    request->node = node;
    node->writes |= request->writes;
}

static void send_all(struct completion *x)
{
    char replicas[16];
    const char *wait[] = {"WAIT", replicas, WAIT_MS};
    (void)snprintf(replicas, sizeof replicas, "%u", x->store->replicas);
    for (size_t i = 0; i < x->store->node_count; i++) {
        x->store->nodes[i]->writes = false;
        x->store->nodes[i]->heard_ns = 0;
    }
    for (size_t i = 0; i < x->count && !x->failed; i++) {
        struct request *request = &x->requests[i];
        if (request->state == REQUEST_UNSENT) send_one(x, request);
        if (request->state == REQUEST_ANSWERED) request->node->writes = true;
    }
    for (size_t i = 0; i < x->store->node_count; i++) {
        struct node *node = x->store->nodes[i];
        if (x->store->replicas > 0 && node->writes && node_is_connected(node))
            node_send(node, EXPECT_WAIT, NULL, 3, wait, NULL);
        node->heard_ns = now_ns();
    }
}

/* ---- Replies --------------------------------------------------------------------------------- */

/* Errors that pass: the request goes out again, perhaps elsewhere. */
static bool passes(const struct completion *x, const redisReply *reply)
{
    static const char *const words[] = {"TRYAGAIN",   "CLUSTERDOWN", "LOADING",
                                        "MASTERDOWN", "NOREPLICAS",  "BUSY "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (reply_is_error(reply, words[i])) return true;
    /* A master that has become a replica; of a server alone it is its configuration. */
    return x->store->is_cluster && reply_is_error(reply, "READONLY");
}

/* The request is done elsewhere, or later.  false: the reply is the one that is wanted. */
static bool put_off(struct completion *x, struct request *request, const redisReply *reply)
{
    if (reply_is_error(reply, "MOVED ") || reply_is_error(reply, "ASK ")) {
        const char *space = strrchr(reply->str, ' ');
        struct node *node = cluster_redirect(x->store, request->node, space + 1);
        if (node == NULL) return false;
        if (++request->redirected > REDIRECTIONS) x->pause = true; /* nodes disagree */
        if (reply->str[0] == 'A') {
            request->ask = node;
        } else {
            x->store->slots[request->slot] = node;
            x->stale = true;
        }
        return true;
    }
    if (!passes(x, reply)) return false;
    x->stale = x->pause = true;
    return true;
}

static void take_answer(struct completion *x, struct node *node, struct request *request,
                        redisReply *reply)
{
    if (put_off(x, request, reply)) {
        note_trouble(x, node, reply->str);
        request->state = REQUEST_UNSENT;
        freeReplyObject(reply);
        return;
    }
    request->reply = reply;
    request->state = x->store->replicas > 0 && request->writes && reply->type != REDIS_REPLY_ERROR
                         ? REQUEST_ANSWERED
                         : REQUEST_DONE;
    x->left -= request->state == REQUEST_DONE;
    note_progress(x);
}

/* Asking for replicas again would not help: the user has no right to, or the server has no such
 * command. */
static bool fails_for_good(struct completion *x, const struct node *node, const redisReply *reply)
{
    if (!reply_is_error(reply, "NOPERM") && !reply_is_error(reply, "ERR unknown command"))
        return false;
    if (!x->failed)
        cli_tell("%s: --replicas asks the server by WAIT how many replicas have the keys, and "
                 "%s says: %s; give the user that right (ACL SETUSER ... +wait), or leave out "
                 "--replicas",
                 x->store->shown, node_name(node), reply->str);
    x->failed = true;
    return true;
}

/* Enough replicas have what was answered before it on this connection, or not. */
static void take_wait(struct completion *x, struct node *node, redisReply *reply)
{
    const bool counted = reply->type == REDIS_REPLY_INTEGER;
    const bool enough = counted && reply->integer >= (long long)x->store->replicas;
    char text[160];
    if (fails_for_good(x, node, reply)) {
        freeReplyObject(reply);
        return;
    }
    if (!counted) {
        note_trouble(x, node,
                     reply->type == REDIS_REPLY_ERROR ? reply->str : "WAIT: a strange answer");
    } else if (!enough) {
        (void)snprintf(text, sizeof text,
                       "%lld of its replicas have what was added, and --replicas asks "
                       "for %u",
                       reply->integer, x->store->replicas);
        note_trouble(x, node, text);
    }
    for (size_t i = 0; enough && i < x->count; i++) {
        struct request *request = &x->requests[i];
        if (request->state != REQUEST_ANSWERED || request->node != node) continue;
        request->state = REQUEST_DONE;
        x->left--;
        note_progress(x);
    }
    if (!enough) x->stale = x->pause = true;
    /* It was a master when it answered, and is a replica now. */
    if (reply_is_error(reply, "ERR WAIT cannot be used with replica")) distrust(x, node);
    freeReplyObject(reply);
}

/* All replies that are whole.  false: what came is no reply. */
static bool take_replies(struct completion *x, struct node *node)
{
    redisReply *reply = NULL;
    while (wire_reply(&node->wire, &reply)) {
        if (reply == NULL) return true;
        if (node_is_idle(node)) { /* nobody asked */
            freeReplyObject(reply);
            return false;
        }
        const struct expected next = node_next(node);
        node->heard_ns = now_ns();
        if (next.what == EXPECT_REPLY)
            take_answer(x, node, next.request, reply);
        else if (next.what == EXPECT_WAIT)
            take_wait(x, node, reply);
        else
            freeReplyObject(reply); /* of ASKING; if it was refused, the next one is too */
    }
    return false;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void serve(struct completion *x, struct node *node, short events)
{
    bool good = true;
    if (events & POLLOUT) good = wire_flush(&node->wire);
    if (good && (events & (POLLIN | POLLHUP | POLLERR)))
        good = wire_receive(&node->wire) && take_replies(x, node);
    if (good) return;
    note_trouble(x, node, node_error(node));
    lose(x, node);
}

/* Asks the other nodes whether the slots of a silent node have gone elsewhere. */
static void doubt(struct completion *x, struct node *node)
{
    bool fatal;
    note_trouble(x, node, "it does not answer");
    node->heard_ns = now_ns();
    if (!x->store->is_cluster || !cluster_map(x->store, SILENCE_MS / 2, &fatal)) return;
    for (size_t i = 0; i < x->count; i++) {
        const struct request *request = &x->requests[i];
        const bool open = request->state == REQUEST_SENT || request->state == REQUEST_ANSWERED;
        if (!open || request->node != node || request->at != NULL ||
            x->store->slots[request->slot] == node)
            continue;
        lose(x, node);
        return;
    }
}

/* Nodes that owe a reply, and what is waited for at each. */
static size_t gather_nodes(const struct completion *x, struct pollfd *fds, struct node **nodes)
{
    size_t count = 0;
    for (size_t i = 0; i < x->store->node_count; i++) {
        struct node *node = x->store->nodes[i];
        if (!node_is_connected(node) || node_is_idle(node)) continue;
        const bool unsent = wire_has_unsent(&node->wire);
        fds[count] = (struct pollfd){.fd = node->wire.context->fd,
                                     .events = (short)(unsent ? POLLIN | POLLOUT : POLLIN)};
        nodes[count++] = node;
    }
    return count;
}

static void receive_all(struct completion *x)
{
    struct pollfd *fds = cli_alloc(x->store->node_count * sizeof *fds);
    struct node **nodes = cli_alloc(x->store->node_count * sizeof(struct node *));
    const size_t room = x->store->node_count; /* doubt() may add nodes */
    size_t count;
    while (!x->failed && x->store->node_count <= room &&
           (count = gather_nodes(x, fds, nodes)) > 0) {
        if (poll(fds, count, SILENCE_MS / 4) < 0 && errno != EINTR) break;
        for (size_t i = 0; i < count; i++) {
            if (fds[i].revents != 0) serve(x, nodes[i], fds[i].revents);
            if (node_is_connected(nodes[i]) &&
                now_ns() - nodes[i]->heard_ns > SILENCE_MS * INT64_C(1000000) &&
                !node_is_idle(nodes[i]))
                doubt(x, nodes[i]);
        }
        if (is_over(x)) break;
    }
    free(fds);
    free(nodes);
}

/* A cluster that mends itself is left alone more and more.  Clients that were thrown back together
 * do not come again together: each takes a part of the pause by chance. */
static void pause_for_a_while(struct completion *x)
{
    const int most = PAUSE_MS << (x->pauses < PAUSE_DOUBLED ? x->pauses : PAUSE_DOUBLED);
    const int64_t chance = now_ns() / 1000;
    x->pauses++;
    (void)poll(NULL, 0, (int)(most / 2 + chance % (most / 2 + 1)));
}

/* What a round has left is tried again, after a look at the slots.  false: that was enough. */
static bool settle(struct completion *x)
{
    bool fatal = false;
    if (is_over(x)) {
        if (interrupt_signal()) {
            cli_tell("stopped by %s before the server had answered", interrupt_name());
            return false;
        }
        cli_tell("%s: nothing was answered for %.3g s; what was heard last: %s", x->store->shown,
                 (double)x->store->timeout_ms / 1000, x->store->trouble);
        return false;
    }
    if (x->pause) {
        pause_for_a_while(x);
        if (x->stale && x->store->is_cluster) (void)cluster_map(x->store, CONNECT_MS / 2, &fatal);
    } else if (x->stale && now_ns() - x->store->mapped_ns > INT64_C(100000000)) {
        (void)cluster_map(x->store, CONNECT_MS / 2, &fatal);
    }
    if (fatal) cli_tell("%s: %s", x->store->shown, x->store->trouble);
    return !fatal;
}

bool requests_complete(struct remote *store, struct request *requests, size_t count)
{
    struct completion x = {
        .store = store, .requests = requests, .count = count, .left = count, .heard_ns = now_ns()};
    for (;;) {
        x.stale = x.pause = false;
        send_all(&x);
        receive_all(&x);
        if (x.left == 0) return true;
        if (x.failed || !settle(&x)) break;
    }
    store->gave_up = true;
    /* Answers that are still to come belong to nobody. */
    for (size_t i = 0; i < store->node_count; i++)
        if (node_is_connected(store->nodes[i]) && !node_is_idle(store->nodes[i]))
            lose(&x, store->nodes[i]);
    return false;
}

/* Chooses requests that are not done, at most AT_A_TIME for each node.  Returns their number. */
static size_t choose_some(struct remote *store, const struct request *requests, size_t count,
                          size_t *chosen)
{
    size_t some = 0, unknown = 0;
    for (size_t i = 0; i < store->node_count; i++)
        store->nodes[i]->chosen = 0;
    for (size_t i = 0; i < count; i++) {
        if (requests[i].state == REQUEST_DONE) continue;
        struct node *node = store->slots[requests[i].slot];
        size_t *taken = node != NULL ? &node->chosen : &unknown;
        if (*taken < AT_A_TIME) chosen[some++] = i;
        *taken += *taken < AT_A_TIME;
    }
    return some;
}

bool requests_complete_gently(struct remote *store, struct request *requests, size_t count)
{
    struct request *some = cli_alloc(count * sizeof *some);
    size_t *chosen = cli_alloc(count * sizeof *chosen), next;
    bool good = true;
    while (good && (next = choose_some(store, requests, count, chosen)) > 0) {
        for (size_t i = 0; i < next; i++)
            some[i] = requests[chosen[i]];
        good = requests_complete(store, some, next);
        for (size_t i = 0; i < next; i++)
            requests[chosen[i]] = some[i];
    }
    free(chosen);
    free(some);
    return good;
}

struct request request_of(const char *key, int argc, const char **argv, bool writes)
{
    return (struct request){
        .slot = shard_slot(key, strlen(key)), .argc = argc, .argv = argv, .writes = writes};
}

void requests_clear(struct request *requests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (requests[i].reply != NULL) freeReplyObject(requests[i].reply);
        if (requests[i].before != NULL) freeReplyObject(requests[i].before);
        requests[i].reply = requests[i].before = NULL;
    }
}

char *requests_trouble(const struct remote *store, const char *what, const redisReply *reply)
{
    const char *mend = "";
    if (reply->type != REDIS_REPLY_ERROR)
        return cli_format("%s: %s: the server's answer is not what Redis with the module tamis.so "
                          "answers",
                          store->shown, what);
    if (reply_is_error(reply, "NOAUTH"))
        mend = "; put the password into the URL, or into $REDISCLI_AUTH";
    else if (reply_is_error(reply, "NOPERM"))
        mend = "; docs/cluster.md has the commands that the user needs (ACL SETUSER)";
    else if (reply_is_error(reply, "ERR unknown command"))
        mend = "; load the module tamis.so into it (docs/redis.md)";
    else if (reply_is_error(reply, "READONLY"))
        mend = "; it is a replica, so name its master";
    else if (reply_is_error(reply, "ERR not found"))
        mend = "; the filter, or a shard of it, is gone";
    return cli_format("%s: %s: the server says: %s%s", store->shown, what, reply->str, mend);
}

int requests_fail(const struct remote *store, const char *what, const redisReply *reply)
{
    char *trouble = requests_trouble(store, what, reply);
    cli_tell("%s", trouble);
    free(trouble);
    return -1;
}
