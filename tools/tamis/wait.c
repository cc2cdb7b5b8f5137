/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.c: what is told on standard error while a command waits for another process. */
#include "command.h"

#define TELL_EVERY_MS 10000 /* after the first time */
#define COMM_BYTES 32       /* the kernel keeps 15 of a name, and a newline */

/* What the kernel calls a process; "" where it does not say. */
static void process_name(int64_t pid, char name[COMM_BYTES])
{
    char path[64];
    name[0] = '\0';
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    if (fgets(name, COMM_BYTES, file) == NULL) name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    (void)fclose(file);
}

static void tell_holder(int64_t waited_ms, int64_t holder)
{
    char name[COMM_BYTES];
    const int64_t seconds = waited_ms / 1000;
    process_name(holder, name);
    char who[COMM_BYTES + 32];
    if (holder == 0)
        (void)snprintf(who, sizeof who, "another process");
    else if (name[0] == '\0')
        (void)snprintf(who, sizeof who, "process %" PRId64, holder);
    else
        (void)snprintf(who, sizeof who, "process %" PRId64 " (%s)", holder, name);
    cli_tell("waiting for the store's lock, held by %s, for %" PRId64 " s", who, seconds);
}

int wait_tell(void *context, int64_t waited_ms, int64_t holder)
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
