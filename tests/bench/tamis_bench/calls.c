/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

const char *const call_names[CALLS] = {"batch", "single"};
const char *const operation_names[OPERATIONS] = {"add", "re-add", "hit", "miss", "remove"};

void check(int64_t rc)
{
    if (rc < 0) errx(1, "%s", tamis_last_error());
}

static void draw_keys(struct worker *worker, const struct order *order, uint64_t first,
                      size_t count)
{
    if (order->range > 0)
        keys_at_random(&worker->stream, order->key_set, order->seed, &worker->random, order->range,
                       count);
    else
        keys_in_order(&worker->stream, order->key_set, order->seed, first, count);
}

/* ---- What is timed --------------------------------------------------------------------------- */

typedef int64_t batch_call(tamis_filter *filter, const struct tamis_key *keys, size_t count,
                           uint8_t *answers);
typedef int single_call(tamis_filter *filter, const void *key, size_t key_bytes);

static inline int64_t run_batches(struct worker *worker, const struct order *order, size_t count,
                                  batch_call *call)
{
    int64_t yes = 0;
    for (size_t at = 0; at < count; at += order->batch) {
        const size_t keys = count - at < order->batch ? count - at : order->batch;
        const int64_t rc =
            call(worker->desk->filter, worker->stream.keys + at, keys, worker->stream.answers + at);
        if (rc < 0) return rc;
        yes += rc;
    }
    return yes;
}

static inline int64_t run_singles(struct worker *worker, size_t count, single_call *call)
{
    int64_t yes = 0;
    for (size_t i = 0; i < count; i++) {
        const int rc =
            call(worker->desk->filter, worker->stream.keys[i].data, worker->stream.keys[i].bytes);
        if (rc < 0) return rc;
        yes += rc;
    }
    return yes;
}

static int64_t add_batches(struct worker *worker, const struct order *order, size_t count)
{
    return run_batches(worker, order, count, tamis_filter_add_batch);
}

static int64_t ask_batches(struct worker *worker, const struct order *order, size_t count)
{
    return run_batches(worker, order, count, tamis_filter_contains_batch);
}

static int64_t remove_batches(struct worker *worker, const struct order *order, size_t count)
{
    return run_batches(worker, order, count, tamis_filter_remove_batch);
}

static int64_t add_singly(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    return run_singles(worker, count, tamis_filter_add);
}

static int64_t ask_singly(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    return run_singles(worker, count, tamis_filter_contains);
}

static int64_t remove_singly(struct worker *worker, const struct order *order, size_t count)
{
    (void)order;
    return run_singles(worker, count, tamis_filter_remove);
}

struct order call_order(enum call call, enum operation operation)
{
    static int64_t (*const runs[CALLS][OPERATIONS])(struct worker *, const struct order *,
                                                    size_t) = {
        [CALL_BATCH] = {add_batches, add_batches, ask_batches, ask_batches, remove_batches},
        [CALL_SINGLE] = {add_singly, add_singly, ask_singly, ask_singly, remove_singly}};
    return (struct order){.prepare = draw_keys, .run = runs[call][operation]};
}

/* ---- The filter ------------------------------------------------------------------------------ */

static int64_t open_filter(struct worker *worker, const struct order *order, size_t count)
{
    struct desk *desk = worker->desk;
    (void)count;
    const int rc = tamis_store_open(order->path, 0, &desk->store);
    return rc < 0 ? rc : tamis_filter_open(desk->store, "bench", TAMIS_OPEN_NO_SYNC, &desk->filter);
}

static int64_t close_filter(struct worker *worker, const struct order *order, size_t count)
{
    struct desk *desk = worker->desk;
    (void)order;
    (void)count;
    const int rc = tamis_filter_close(desk->filter);
    tamis_store_close(desk->store);
    return rc;
}

void filter_open(const char *store, unsigned processes)
{
    struct order order = {.run = open_filter};
    (void)snprintf(order.path, sizeof order.path, "%s", store);
    (void)crew_each(&order, processes);
}

void filter_close(unsigned processes)
{
    (void)crew_each(&(struct order){.run = close_filter}, processes);
}
