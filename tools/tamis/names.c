/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c: see names.h. */
#include "names.h"

void names_add(struct names *names, const char *name)
{
    names->names = cli_grow(names->names, names->count + 1, &names->room, sizeof *names->names);
    names->names[names->count++] = cli_strdup(name);
}

bool names_have(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0) return true;
    return false;
}

void names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct names){0};
}
