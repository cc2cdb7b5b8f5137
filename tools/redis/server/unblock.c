/* SPDX-License-Identifier: BSD-2-Clause */
/* unblock.c: see unblock.h.  While the server is paused, its cron ends a turn ten times a second.
 */
#include "server/unblock.h"

#include <pthread.h>
#include <stdbool.h>

struct waiting {
    struct waiting *next;
    RedisModuleBlockedClient *client;
    void *data;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *first, **last = &first; /* in the order of their calls */
static bool allowed;                           /* set before there are threads */
static bool are_some; /* atomic: a hint for each turn of the server, most of which have none */

/* The turn that this wakes the server for ends in unblock_go_on(). */
static void wake(void *unused)
{
    (void)unused;
}

void unblock_allow(void)
{
    allowed = RedisModule_EventLoopAddOneShot != NULL && RedisModule_AvoidReplicaTraffic != NULL;
}

void unblock(RedisModuleBlockedClient *client, void *data)
{
    if (!allowed) {
        (void)RedisModule_UnblockClient(client, data);
        return;
    }
    struct waiting *w = RedisModule_Alloc(sizeof *w);
    *w = (struct waiting){.client = client, .data = data};
    (void)pthread_mutex_lock(&mutex);
    *last = w;
    last = &w->next;
    /* ORDER relaxed, of all: the turn that comes of the call below sees it. */
    __atomic_store_n(&are_some, true, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&mutex);
    (void)RedisModule_EventLoopAddOneShot(wake, NULL);
}

static struct waiting *take_all(void)
{
    (void)pthread_mutex_lock(&mutex);
    struct waiting *all = first;
    first = NULL;
    last = &first;
    __atomic_store_n(&are_some, false, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&mutex);
    return all;
}

void unblock_go_on(void)
{
    if (!__atomic_load_n(&are_some, __ATOMIC_RELAXED) || RedisModule_AvoidReplicaTraffic()) return;
    for (struct waiting *w = take_all(), *next; w != NULL; w = next) {
        next = w->next;
        (void)RedisModule_UnblockClient(w->client, w->data);
        RedisModule_Free(w);
    }
}
