/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c: see check.h. */
#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char *tamis__check_file(uint64_t number, char file[TAMIS__FILE_BYTES])
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_name(number, name);
    (void)snprintf(file, TAMIS__FILE_BYTES, "segments/%s", name);
    return file;
}

const char *tamis__check_reason(const char *file, uint64_t *offset)
{
    const char *sentence = tamis_last_error(), *at = strstr(sentence, "(at byte ");
    const char *reason = strstr(sentence, file);
    unsigned long long byte = 0;
    if (at != NULL) (void)sscanf(at, "(at byte %llu)", &byte);
    if (offset != NULL) *offset = byte;
    if (reason == NULL) return sentence;
    reason += strlen(file);
    return reason + strspn(reason, ": ");
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool tamis__numbers_have(const struct tamis__numbers *numbers, uint64_t number)
{
    return numbers->count > 0 &&
           bsearch(&number, numbers->list, numbers->count, sizeof number, by_number) != NULL;
}

void tamis__numbers_sort(struct tamis__numbers *numbers)
{
    if (numbers->count > 0)
        qsort(numbers->list, numbers->count, sizeof numbers->list[0], by_number);
}
