/* SPDX-License-Identifier: BSD-2-Clause */
/* busy.c: see busy.h. */
#include "server/busy.h"

#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "server/redis_api.h"

#define IMPATIENT_S 5

static struct {
    int64_t stuck_at; /* when a call gave up last, in seconds; 0: never, or long ago */
    bool impatient;
    pid_t server; /* also in a child that saves */
} state;

static int64_t now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1;
}

/* Called after a second of waiting, in the thread that waits. */
static int give_up(void *context, int64_t waited_ms, int64_t holder)
{
    const int loading = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    (void)context;
    (void)waited_ms;
    /* A thread of this server, whose disk is slow.  0: the lock is given back just now, perhaps to
     * the next one of them. */
    if (holder == state.server || holder == 0) return 0;
    if ((RedisModule_GetContextFlags(NULL) & loading) != 0) return 0;
    /* ORDER relaxed: a mark that one thread sets, and that nothing else goes with. */
    if (__atomic_exchange_n(&state.stuck_at, now_s(), __ATOMIC_RELAXED) == 0)
        RedisModule_Log(NULL, "warning",
                        "process %lld has the lock of the store for more than a second, and may be "
                        "stopped; commands that need it fail until it goes on, or ends",
                        (long long)holder);
    return 1;
}

void busy_watch(tamis_store *store)
{
    state.server = getpid();
    if (tamis_store_set_busy_callback(store, give_up, NULL) < 0)
        RedisModule_Log(NULL, "warning", "%s", tamis_last_error());
}

void busy_pass(tamis_store *store)
{
    const int64_t since = __atomic_load_n(&state.stuck_at, __ATOMIC_RELAXED);
    const bool wanted = since != 0 && now_s() - since < IMPATIENT_S;
    if (since != 0 && !wanted) __atomic_store_n(&state.stuck_at, 0, __ATOMIC_RELAXED);
    if (wanted == state.impatient) return;
    state.impatient = wanted;
    if (tamis_store_set_busy_timeout(store, state.impatient ? 0 : TAMIS_BUSY_TIMEOUT_DEFAULT) < 0)
        RedisModule_Log(NULL, "warning", "%s", tamis_last_error());
}
