/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * covered.h: the names of a list that are covered: a parent of the name is in the list too, so
 * `check --parents` finds the name without it.
 *
 * All names are read first; then covered_each() goes over them.  A name takes about 16 bytes of
 * memory.  Its text goes to a temporary file.
 */
#pragma once

#include <stdbool.h>

#include "tamis.h"

struct covered;

/* `directory` gets the temporary file.  On the heap; NULL after a message. */
struct covered *covered_new(const char *directory);
void covered_free(struct covered *covered);

/* Keys of the list, by their forms.  false after a message. */
bool covered_add(struct covered *covered, const char *key_rule, const struct tamis_key *keys,
                 size_t count);

/* Keys that are exceptions, or may become exceptions.  A name below one of these is not covered by
 * what is above it. */
void covered_except(struct covered *covered, const char *key_rule, const struct tamis_key *keys,
                    size_t count);

struct covered_counts {
    uint64_t names; /* distinct names and other keys */
    uint64_t covered;
};

/* Takes keys that are not covered; returns CLI_DONE, or what ends the walk. */
typedef int covered_fn(void *context, struct tamis_key *keys, size_t count);

/* Goes over all keys, in the order in which they were added.  take: NULL, or gets the forms of
 * the keys that are not covered.  Returns CLI_DONE, CLI_ERROR after a message or a signal, or what
 * take returned. */
int covered_each(struct covered *covered, covered_fn *take, void *context,
                 struct covered_counts *counts);
