/* SPDX-License-Identifier: BSD-2-Clause */
/* told.h: what tamis_store_verify() tells. */
#ifndef TAMIS_UNIT_TOLD_H
#define TAMIS_UNIT_TOLD_H

#include "fixture.h"

struct told {
    int64_t count;
    int64_t odd;        /* of what only looks odd */
    int64_t stop_after; /* so many: the verify ends, with 42; 0: never */
    int error;          /* this and the rest are of the last one */
    uint64_t offset;
    char filter[TAMIS_NAME_MAX + 1], file[64], reason[1024];
};

/* For tamis_store_verify(), with a struct told as its context. */
int told_problem(void *context, const struct tamis_problem *problem);

/* What is told of the store, which is opened read-only, or of one filter of it.  The count is below
 * 0 where it cannot be opened, or not be checked; `reason` is the library's sentence then. */
struct told told_of(const char *path, const char *name);

/* The reason must have these words in it. */
void told_assert_words(const struct told *told, const char *words);

#endif
