/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.c: see budget.h.  A file that cannot be read, or is not understood, sets no limit. */
#include "build/budget.h"

#include "os/io.h"

#define TEXT_BYTES 8192
#define UNKNOWN_BYTES ((uint64_t)1 << 30) /* assumed to be free if the system does not say */

uint64_t tamis__meminfo_available(const char *text)
{
    const char *line = strstr(text, "MemAvailable:");
    if (line == NULL) return 0;
    return strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024;
}

bool tamis__cgroup_path(const char *text, char *path, size_t path_bytes, bool *is_v1)
{
    bool found = false;
    while (*text != '\0') { /* "4:memory:/group" or, of version 2, "0::/group" */
        const size_t length = strcspn(text, "\n");
        const char *controllers = memchr(text, ':', length);
        const char *group =
            controllers ? memchr(controllers + 1, ':', length - (size_t)(controllers + 1 - text))
                        : NULL;
        if (group != NULL) {
            const int name_bytes = (int)(group - controllers - 1);
            const bool v1 = name_bytes == 6 && memcmp(controllers + 1, "memory", 6) == 0;
            if (v1 || (name_bytes == 0 && !found)) {
                const int bytes = (int)(length - (size_t)(group + 1 - text));
                found = snprintf(path, path_bytes, "%.*s", bytes, group + 1) < (int)path_bytes;
                *is_v1 = v1;
            }
        }
        text += length + (text[length] == '\n');
    }
    return found;
}

/* The smallest limit of the group and of the groups that contain it. */
static uint64_t cgroup_limit(void)
{
    char text[TEXT_BYTES], path[2048], file[2304];
    bool is_v1;
    uint64_t least = UINT64_MAX;
    if (tamis__read_text("/proc/self/cgroup", text, sizeof text) < 0) return least;
    if (!tamis__cgroup_path(text, path, sizeof path, &is_v1)) return least;
    for (;;) {
        (void)snprintf(file, sizeof file, "/sys/fs/cgroup%s%s/%s", is_v1 ? "/memory" : "",
                       strcmp(path, "/") == 0 ? "" : path,
                       is_v1 ? "memory.limit_in_bytes" : "memory.max");
        if (tamis__read_text(file, text, sizeof text) == 0 && *text >= '0' && *text <= '9') {
            const uint64_t limit = strtoull(text, NULL, 10);
            if (limit < least) least = limit;
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL || strcmp(path, "/") == 0) return least;
        slash[slash == path] = '\0';
    }
}

#ifdef TAMIS_TEST_POINTS
uint64_t tamis__budget_available;
#define TEST_AVAILABLE tamis__budget_available
#else
#define TEST_AVAILABLE 0
#endif

/* What is free, in the machine or in the control group. */
static uint64_t available_bytes(void)
{
    char text[TEXT_BYTES];
    uint64_t available = 0;
    if (TEST_AVAILABLE > 0) return TEST_AVAILABLE;
    if (tamis__read_text("/proc/meminfo", text, sizeof text) == 0)
        available = tamis__meminfo_available(text);
    if (available == 0) available = UNKNOWN_BYTES;
    const uint64_t limit = cgroup_limit();
    return available < limit ? available : limit;
}

uint64_t tamis__budget(void)
{
    const uint64_t budget = available_bytes() / 4;
    return budget > TAMIS__BUDGET_MIN ? budget : TAMIS__BUDGET_MIN;
}

unsigned tamis__budget_threads(unsigned threads, uint64_t thread_bytes)
{
    const uint64_t fit = available_bytes() / 2 / (thread_bytes > 0 ? thread_bytes : 1);
    if (fit < 1) return 1;
    return fit < threads ? (unsigned)fit : threads;
}
