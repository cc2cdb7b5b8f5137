/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h: the filters that a command is about: those named, or all of the store. */
#pragma once

#include "command.h"

struct names {
    char **names; /* each once */
    size_t count;
    size_t room;
};

/* The arguments of the call, each once; without arguments all names of the store.  CLI_DONE, or
 * CLI_ERROR after a message; either way *names is to be cleared. */
int names_of_call(struct names *names, const struct invocation *call, tamis_store *store);

void names_add(struct names *names, const char *name);

bool names_have(const struct names *names, const char *name);

void names_clear(struct names *names);
