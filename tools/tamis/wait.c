/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.c: --wait, and what is told on standard error while a command waits for another process. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

#define TELL_EVERY_MS 10000 /* after the first time */
#define COMM_BYTES 32       /* the kernel keeps 15 of a name, and a newline */

/* What the kernel calls a process; "" where it does not say. */
static void name_of(int64_t pid, char name[COMM_BYTES])
{
    char path[64];
    name[0] = '\0';
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (!fgets(name, COMM_BYTES, file)) name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    fclose(file);
}

static void tell_holder(int64_t waited_ms, int64_t holder)
{
    char name[COMM_BYTES];
    const int64_t seconds = waited_ms / 1000;
    name_of(holder, name);
    if (holder == 0)
        cli_tell("waiting for the store's lock, held by another process, for %" PRId64 " s",
                 seconds);
    else if (name[0] == '\0')
        cli_tell("waiting for the store's lock, held by process %" PRId64 ", for %" PRId64 " s",
                 holder, seconds);
    else
        cli_tell("waiting for the store's lock, held by process %" PRId64 " (%s), for %" PRId64
                 " s",
                 holder, name, seconds);
}

/* Called once a second: tells at the first time, when another process has the lock, and now and
 * then. */
static int tell_waiting(void *context, int64_t waited_ms, int64_t holder)
{
    static int64_t told_ms, told_holder;
    (void)context;
    if (waited_ms >= told_ms && waited_ms - told_ms < TELL_EVERY_MS && holder == told_holder &&
        told_ms > 0)
        return 0;
    told_ms = waited_ms;
    told_holder = holder;
    tell_holder(waited_ms, holder);
    return 0;
}

struct tamis_store_options cli_store_options(const struct invocation *call, unsigned flags)
{
    struct tamis_store_options options = {
        .size = sizeof options, .flags = cli_store_flags(call, flags), .busy_fn = tell_waiting};
    if (options_have(&call->options, TAKES(WAIT)))
        options.busy_timeout_ms = call->options.wait_ms > 0 ? call->options.wait_ms : -1;
    return options;
}
