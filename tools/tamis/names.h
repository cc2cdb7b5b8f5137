/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h: a list of names of filters; cli_names() of command.h makes that of a command. */
#pragma once

#include "command.h"

struct names {
    char **names;
    size_t count;
    size_t room;
};

void names_add(struct names *names, const char *name);

bool names_have(const struct names *names, const char *name);

void names_clear(struct names *names);
