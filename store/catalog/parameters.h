/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parameters.h: the parameters of a segment, and those of a filter's policy, in one table each.
 *
 * Two things must often agree in some of them: a header with its record, two filters that are
 * merged, a filter with what is asked for.  Each such place says which parameters it means and
 * takes them from here, so that none of them forgets a new parameter.
 */
#pragma once

#include "catalog/record.h"

enum tamis__parameter_use {
    TAMIS__IN_HEADER = 1, /* the header of a segment and its record both have it */
    TAMIS__OF_BITS = 2    /* it decides which bits a key sets, and what a bit means */
};

/* How a sentence shows its value. */
enum tamis__parameter_shown {
    TAMIS__AS_NUMBER,
    TAMIS__AS_RATE,
    TAMIS__AS_KIND,
    TAMIS__AS_HASH_SET, /* its name, which says what belongs to the set */
    TAMIS__AS_BIT_ORDER,
    TAMIS__AS_ON_FULL,
    TAMIS__AS_ON_OFF,
    TAMIS__AS_FIRST_LAST,
    TAMIS__AS_KEY_RULE,
    TAMIS__AS_SECRET /* not at all */
};

struct tamis__parameter {
    const char *name; /* in sentences */
    size_t offset, bytes;
    unsigned uses; /* enum tamis__parameter_use */
    enum tamis__parameter_shown shown;
};

/* The parameters in struct tamis__listed_segment; the last entry has no name. */
extern const struct tamis__parameter tamis__segment_parameters[];
/* The parameters in struct tamis__policy; the last entry has no name. */
extern const struct tamis__parameter tamis__policy_parameters[];

/* Does the parameter differ between `a` and `b`?  Rates are compared by their bits. */
bool tamis__parameter_differs(const struct tamis__parameter *parameter, const void *a,
                              const void *b);
/* Returns the first parameter of a table that has that use and differs; NULL if none does. */
const struct tamis__parameter *tamis__first_difference(const struct tamis__parameter *table,
                                                       unsigned use, const void *a, const void *b);
/* Returns the value of a parameter of at most 8 bytes; that of a rate is its bits. */
uint64_t tamis__parameter_number(const struct tamis__parameter *parameter, const void *of);
