/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h: a list of names of filters; cli_names() of command.h makes that of a command. */
#pragma once

#include "command.h"

struct names {
    char **names; /* in the order of names_add(), or sorted */
    size_t count;
    size_t room;
    size_t *slots; /* a hash table over the names: 1 and the index of a name; 0: free */
    size_t slot_count;
};

void names_add(struct names *names, const char *name);

/* Returns the index of the name, or the count if it is not in the list.  Takes the same time
 * however long the list is. */
size_t names_index(const struct names *names, const char *name);

bool names_have(const struct names *names, const char *name);

/* Sorts the names in byte order, and keeps each name once. */
void names_sort(struct names *names);

void names_clear(struct names *names);
