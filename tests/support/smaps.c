/* SPDX-License-Identifier: BSD-2-Clause */
#include "smaps.h"

#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls fn for each line about a mapping of a segment. */
static void each_line(void (*fn)(const char *line, const char *what, uint64_t *sum),
                      const char *what, uint64_t *sum)
{
    char line[4400];
    bool ours = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    if (file == NULL) err(1, "/proc/self/smaps");
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            ours = strstr(line, ".seg") != NULL;
        else if (ours)
            fn(line, what, sum);
    }
    (void)fclose(file);
}

static void add_field(const char *line, const char *field, uint64_t *sum)
{
    const size_t length = strlen(field);
    if (strncmp(line, field, length) == 0 && line[length] == ':')
        *sum += strtoull(line + length + 1, NULL, 10);
}

static void count_flag(const char *line, const char *flag, uint64_t *sum)
{
    char word[8];
    (void)snprintf(word, sizeof word, " %s", flag);
    *sum += strncmp(line, "VmFlags:", 8) == 0 && strstr(line, word) != NULL;
}

uint64_t smaps_kib(const char *field)
{
    uint64_t sum = 0;
    each_line(add_field, field, &sum);
    return sum;
}

unsigned smaps_flagged(const char *flag)
{
    uint64_t sum = 0;
    each_line(count_flag, flag, &sum);
    return (unsigned)sum;
}
