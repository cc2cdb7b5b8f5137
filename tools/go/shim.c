// SPDX-License-Identifier: BSD-2-Clause
/* shim.c: see shim.h. */
#include "shim.h"

#include <string.h>

#include "_cgo_export.h"

static struct tamis_go_answer answer(int64_t rc)
{
    return (struct tamis_go_answer){.rc = rc,
                                    .sentence = rc < 0 ? strdup(tamis_last_error()) : NULL};
}

struct tamis_go_answer tamis_go_add(tamis_filter *filter, const char *key, size_t bytes)
{
    return answer(tamis_filter_add(filter, key, bytes));
}

struct tamis_go_answer tamis_go_contains(tamis_filter *filter, const char *key, size_t bytes)
{
    return answer(tamis_filter_contains(filter, key, bytes));
}

struct tamis_go_answer tamis_go_contains_name(tamis_filter *filter, const char *name, size_t bytes)
{
    size_t offset = 0;
    const int rc = tamis_filter_contains_name(filter, name, bytes, &offset);
    return answer(rc > 0 ? 1 + (int64_t)offset : rc);
}

struct tamis_go_answer tamis_go_remove(tamis_filter *filter, const char *key, size_t bytes)
{
    return answer(tamis_filter_remove(filter, key, bytes));
}

struct tamis_go_answer tamis_go_count(tamis_filter *filter, const char *key, size_t bytes)
{
    return answer(tamis_filter_count(filter, key, bytes));
}

static int64_t batch(tamis_filter *filter, enum tamis_go_batch which, const struct tamis_key *keys,
                     size_t count, void *answers)
{
    switch (which) {
    case TAMIS_GO_ADD:
        return tamis_filter_add_batch(filter, keys, count, answers);
    case TAMIS_GO_CONTAINS:
        return tamis_filter_contains_batch(filter, keys, count, answers);
    case TAMIS_GO_REMOVE:
        return tamis_filter_remove_batch(filter, keys, count, answers);
    default:
        return tamis_filter_count_batch(filter, keys, count, answers);
    }
}

struct tamis_go_answer tamis_go_batch(tamis_filter *filter, enum tamis_go_batch which,
                                      const struct tamis_key *keys, size_t count, void *answers,
                                      const int32_t *given_up)
{
    const int32_t *before = tamis_go_enter(given_up);
    const struct tamis_go_answer result = answer(batch(filter, which, keys, count, answers));
    (void)tamis_go_enter(before);
    return result;
}

static _Thread_local const int32_t *current;

const int32_t *tamis_go_enter(const int32_t *given_up)
{
    const int32_t *before = current;
    current = given_up;
    return before;
}

int tamis_go_busy(void *context, int64_t waited_ms, int64_t holder)
{
    (void)context, (void)waited_ms, (void)holder;
    return current != NULL && __atomic_load_n(current, __ATOMIC_RELAXED) != 0;
}

/* How many functions of Go this thread is in that C has called. */
static _Thread_local unsigned depth;

int tamis_go_is_called(void)
{
    return depth > 0;
}

static int item(void *context, const void *of, uint64_t generation)
{
    depth++;
    const int rc = tamisGoItem(context, (void *)of, generation);
    depth--;
    return rc;
}

static int progress(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    depth++;
    const int rc = tamisGoProgress(context, phase, done, all);
    depth--;
    return rc;
}

int tamis_go_each_stat(void *context, const struct tamis_filter_stat *stat)
{
    return item(context, stat, 0);
}

int tamis_go_each_problem(void *context, const struct tamis_problem *problem)
{
    return item(context, problem, 0);
}

int tamis_go_each_generation(void *context, const struct tamis_generation_stat *stat)
{
    return item(context, stat, 0);
}

int tamis_go_each_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    return item(context, key, generation);
}

int tamis_go_each_step(void *context, const struct tamis_repair_step *step)
{
    return item(context, step, 0);
}

int tamis_go_progress(void *context, uint64_t done, uint64_t all)
{
    return progress(context, 0, done, all);
}

int tamis_go_build_progress(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    return progress(context, phase, done, all);
}

int64_t tamis_go_read(void *context, void *buffer, size_t bytes)
{
    depth++;
    const int64_t rc = tamisGoRead(context, buffer, bytes);
    depth--;
    return rc;
}

int tamis_go_write(void *context, const void *buffer, size_t bytes)
{
    depth++;
    const int rc = tamisGoWrite(context, (void *)buffer, bytes);
    depth--;
    return rc;
}
