/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.c: see limits.h. */
#include "server/limits.h"

#include <stdio.h>
#include <sys/resource.h>

#include "tamis.h"

/* Descriptors beside those of filters and clients: files of the server, of the store, of dumps. */
#define OTHER_DESCRIPTORS 64
/* Mappings of the server and of its threads. */
#define OTHER_MAPPINGS 4096
/* What a filter may need: it may grow, and one whose keys are removed has two descriptors. */
#define DESCRIPTORS_EACH 2
#define MAPPINGS_EACH 2
#define MAX_OPEN_LEAST 8
#define MAX_OPEN_MOST 100000
/* No more descriptors than this are asked for, as a child of fork() has a table of all. */
#define DESCRIPTORS_MOST ((rlim_t)1 << 18)

static long long mappings_allowed(void)
{
    long long count = 65530; /* the kernel's own default */
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file == NULL) return count;
    if (fscanf(file, "%lld", &count) != 1) count = 65530;
    (void)fclose(file);
    return count;
}

/* Raises the soft limit of descriptors, and returns it. */
static long long descriptors_allowed(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    const rlim_t wanted = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
    if (limit.rlim_cur < wanted) {
        const struct rlimit raised = {.rlim_cur = wanted, .rlim_max = limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = wanted;
    }
    return limit.rlim_cur < DESCRIPTORS_MOST ? (long long)limit.rlim_cur
                                             : (long long)DESCRIPTORS_MOST;
}

static long long at_least(long long number, long long least)
{
    return number < least ? least : number;
}

long long limits_prepare(long long clients)
{
    /* The server has a table of clients by descriptor, with 128 places more than clients.  So the
     * descriptors of filters begin behind it, and a part of what is left is for more clients. */
    const long long allowed = descriptors_allowed(), table = clients + 128;
    const long long first = table + (allowed - table) / 4;
    long long room = allowed - clients - OTHER_DESCRIPTORS;
    if (allowed > table && first < allowed - OTHER_DESCRIPTORS &&
        tamis_descriptors_set_least((int)first) == 0)
        room = allowed - first;
    long long most = room / DESCRIPTORS_EACH;
    const long long mappings = (mappings_allowed() - OTHER_MAPPINGS) / MAPPINGS_EACH;
    if (mappings < most) most = mappings;
    if (most > MAX_OPEN_MOST) most = MAX_OPEN_MOST;
    return at_least(most, MAX_OPEN_LEAST);
}
