/* SPDX-License-Identifier: BSD-2-Clause */
#include "told.h"

#include <stdio.h>

int told_problem(void *context, const struct tamis_problem *problem)
{
    struct told *told = context;
    told->error = problem->error;
    told->offset = problem->offset;
    (void)snprintf(told->filter, sizeof told->filter, "%s", problem->filter);
    (void)snprintf(told->file, sizeof told->file, "%s", problem->file);
    (void)snprintf(told->reason, sizeof told->reason, "%s", problem->reason);
    told->odd += problem->error == 0;
    told->count += problem->error != 0;
    return told->count > 0 && told->count == told->stop_after ? 42 : 0;
}

struct told told_of(const char *path, const char *name)
{
    struct told told = {.count = 0};
    tamis_store *store;
    int64_t rc = tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &store);
    if (rc == 0) {
        rc = tamis_store_verify(store, name, told_problem, &told);
        tamis_store_close(store);
        if (rc >= 0) assert_int_equal(rc, told.count);
    }
    if (rc < 0) {
        told.count = rc;
        (void)snprintf(told.reason, sizeof told.reason, "%s", tamis_last_error());
    }
    return told;
}

void told_assert_words(const struct told *told, const char *words)
{
    if (strstr(told->reason, words) == NULL) fail_msg("no '%s' in: %s", words, told->reason);
}
