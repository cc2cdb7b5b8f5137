/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drafts_clients.c: the clients that wait for a draft (drafts.h).
 *
 * Some have their answer, which goes out when the store has the filter.  They wait for a bounded
 * time in all, as a client that waits for each of its commands sends few of them
 * (docs/decisions/0036-nobody-else-waits.md).  They are not run anew, and nothing is replicated, so
 * they are unblocked at once, also while writes are paused (waiting.h).  The commands of the others
 * are run when the filter is there.
 */
#include "server/clock.h"
#include "server/waiting.h"
#include "value/draft_parts.h"

/* All waits for answers together take so much, in a period that ends so long after the last of
 * them. */
#define WAITS_NS ((int64_t)100 * 1000 * 1000)
#define PERIOD_NS ((int64_t)5 * 1000 * 1000 * 1000)

struct draft_client {
    struct draft_client *next;
    struct waiting *waiting; /* NULL: it has its answer */
    RedisModuleBlockedClient *answered;
    int64_t began_ns; /* of one that has */
};

static int64_t left_ns, period_ends_ns;

bool draft_may_hold_back(void)
{
    const int64_t now_ns = clock_ns();
    if (now_ns >= period_ends_ns) {
        left_ns = WAITS_NS;
        period_ends_ns = now_ns + PERIOD_NS;
    }
    return left_ns > 0;
}

static void add(struct draft *draft, const struct draft_client *client)
{
    struct draft_client *c = RedisModule_Alloc(sizeof *c);
    *c = *client;
    c->next = draft->clients;
    draft->clients = c;
}

void draft_add_answered(struct draft *draft, RedisModuleBlockedClient *client)
{
    add(draft, &(struct draft_client){.answered = client, .began_ns = clock_ns()});
}

void draft_add_waiting(struct draft *draft, struct waiting *waiting)
{
    add(draft, &(struct draft_client){.waiting = waiting});
}

/* A wait for an answer has ended. */
static void count_wait(int64_t began_ns, int64_t now_ns)
{
    left_ns -= now_ns - began_ns;
    if (left_ns <= 0) period_ends_ns = now_ns + PERIOD_NS;
}

void draft_let_go(struct draft *draft)
{
    if (draft->clients == NULL) return;
    const int64_t now_ns = clock_ns();
    struct draft_client *c = draft->clients, *in_order = NULL;
    for (struct draft_client *next; c != NULL; c = next) { /* the last one is the first */
        next = c->next;
        c->next = in_order;
        in_order = c;
    }
    while ((c = in_order) != NULL) {
        in_order = c->next;
        if (c->waiting != NULL) {
            waiting_end(c->waiting);
        } else {
            count_wait(c->began_ns, now_ns);
            (void)RedisModule_UnblockClient(c->answered, NULL);
        }
        RedisModule_Free(c);
    }
    draft->clients = NULL;
}
