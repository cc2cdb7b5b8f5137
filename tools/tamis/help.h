/* SPDX-License-Identifier: BSD-2-Clause */
/* help.h: which commands there are, and what is printed of them. */
#pragma once

#include "command.h"

/* Finds a command by its name, or by another name that it has ("ls"); NULL: there is none. */
const struct command *help_find(const char *name);

/* Tells that there is no such command, and which was meant.  Returns CLI_ERROR. */
int help_fail_unknown(const char *name);

/* Prints how the command line is built and the commands in their groups. */
void help_print_overview(struct out *out);

/* Prints the same, and what all commands have in common. */
void help_print_all(struct out *out);

/* Prints the help of a command: all of it, or its usage and the first words of each option. */
void help_print_command(struct out *out, const struct command *command, bool brief);
