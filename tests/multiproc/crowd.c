/* SPDX-License-Identifier: BSD-2-Clause */
#include "crowd.h"

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"

static const size_t batches[CROWD_MAX] = {1, 1024, 16, BOUND_BATCH_MAX};

/* ---- An adder -------------------------------------------------------------------------------- */

/* An adder that waits for a short time only may meet a lock at its close too: the item count does
 * not go to the catalog then, and the next close makes up for it. */
static void close_adder(const struct crowd_plan *plan, tamis_filter *filter, tamis_store *store)
{
    const int rc = tamis_filter_close(filter);
    if (rc == TAMIS_EBUSY && plan->may_close_busy)
        printf("    closed without its count: %s\n", tamis_last_error());
    else if (rc != 0)
        errx(1, "close a filter: %s", tamis_last_error());
    tamis_store_close(store);
}

static struct crowd *own;

static void count_or_stop(unsigned point)
{
    const uint64_t pass = __atomic_add_fetch(&own->passes[point], 1, __ATOMIC_RELAXED);
    if (point != own->stop_at || pass != own->stop_pass) return;
    __atomic_store_n(&own->stopped, getpid(), __ATOMIC_RELEASE);
    (void)raise(SIGSTOP);
}

static void adder(void *context, unsigned index)
{
    struct crowd *crowd = own = context;
    const struct crowd_plan *plan = &crowd->plan;
    const uint64_t width = (plan->keys + plan->adders - 1) / plan->adders;
    tamis_store *store;
    tamis_filter *filter;
    SPAWN_CHECK(tamis_store_open(crowd->store_path, 0, &store) == 0);
    if (plan->timeout_ms > 0)
        SPAWN_CHECK(tamis_store_set_busy_timeout(store, plan->timeout_ms) == 0);
    SPAWN_CHECK(tamis_filter_open(store, plan->name, 0, &filter) == 0);
    tamis__point_hook = count_or_stop;
    spawn_wait(&crowd->barrier);
    /* A durable filter syncs for each batch: single keys would take all day. */
    size_t batch = plan->durable ? 16 * batches[index] : batches[index];
    if (batch < plan->batch_min) batch = plan->batch_min;
    bound_add_range(crowd->keys, filter, index * width, width + width / 2,
                    batch < BOUND_BATCH_MAX ? batch : BOUND_BATCH_MAX, index % 2 == 1);
    close_adder(plan, filter, store);
}

/* ---- The parent ------------------------------------------------------------------------------ */

struct crowd *crowd_new(const char *store_path, const struct crowd_plan *plan)
{
    static uint64_t random;
    struct crowd *crowd = spawn_shared(sizeof *crowd);
    struct crowd_plan *p = &crowd->plan;
    if (random == 0) random = random_seed();
    *p = *plan;
    if (p->capacity == 0) p->capacity = 1000;
    if (p->keys == 0) p->keys = 80 * p->capacity;
    if (p->rate <= 0) p->rate = 0.01;
    if (p->adders == 0) p->adders = CROWD_MAX;
    const struct tamis_filter_spec spec = {.size = sizeof spec,
                                           .capacity = p->window_items > 0 ? 0 : p->capacity,
                                           .fp_rate = p->rate,
                                           .kind = p->kind,
                                           .window_items = p->window_items,
                                           .seed = random_next(&random),
                                           .flags = p->durable ? TAMIS_FILTER_DURABLE : 0};
    (void)snprintf(crowd->store_path, sizeof crowd->store_path, "%s", store_path);
    SPAWN_CHECK(tamis_store_open(store_path, TAMIS_OPEN_CREATE, &crowd->store) == 0);
    SPAWN_CHECK(tamis_filter_create(crowd->store, p->name, &spec, &crowd->filter) == 0);
    crowd->keys = bound_keys_new(random_next(&random) >> 8, p->keys);
    crowd->barrier.count = p->adders + 1;
    return crowd;
}

void crowd_start(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->plan.adders; i++)
        crowd->pids[i] = spawn_one(adder, crowd, i);
    while (__atomic_load_n(&crowd->barrier.arrived, __ATOMIC_ACQUIRE) < crowd->plan.adders) {
        SPAWN_CHECK(!crowd_is_over(crowd)); /* they failed before they began */
        (void)usleep(200);
    }
}

void crowd_go(struct crowd *crowd)
{
    spawn_wait(&crowd->barrier);
}

uint64_t crowd_items(const struct crowd *crowd)
{
    const int64_t items = tamis_filter_items(crowd->filter);
    SPAWN_CHECK(items >= 0);
    return (uint64_t)items;
}

bool crowd_is_over(const struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->plan.adders; i++) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_PID, (id_t)crowd->pids[i], &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == 0)
            return false;
    }
    return true;
}

void crowd_measure(struct crowd *crowd, const struct bound_demand *demand,
                   struct bound_outcome *outcome)
{
    bool failed = false;
    for (unsigned i = 0; i < crowd->plan.adders; i++) {
        int status;
        failed |= waitpid(crowd->pids[i], &status, 0) != crowd->pids[i] || status != 0;
    }
    bound_measure(crowd->store_path, crowd->plan.name, crowd->filter, crowd->keys, demand, outcome);
    if (failed) bound_fail(outcome, "process");
}

void crowd_free(struct crowd *crowd)
{
    SPAWN_CHECK(tamis_filter_close(crowd->filter) == 0);
    tamis_store_close(crowd->store);
    bound_keys_free(crowd->keys);
    (void)munmap(crowd, sizeof *crowd);
}

unsigned crowd_report(struct crowd *crowd, const char *what, const struct bound_outcome *outcome)
{
    const bool failed = outcome->failures[0] != '\0';
    printf("%s: ", what);
    bound_print(outcome);
    printf("; busy %" PRIu64 ", no space %" PRIu64 ", longest call %.2f s\n", crowd->keys->busy,
           crowd->keys->no_space, (double)crowd->keys->longest_ns / 1e9);
    crowd_free(crowd);
    return failed;
}

unsigned crowd_end(struct crowd *crowd, const char *what, const struct bound_demand *demand)
{
    struct bound_outcome outcome;
    crowd_measure(crowd, demand, &outcome);
    return crowd_report(crowd, what, &outcome);
}
