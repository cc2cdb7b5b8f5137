/* SPDX-License-Identifier: BSD-2-Clause */
/* name_list.h: names of new filters, read from files or standard input: --names. */
#pragma once

#include "names.h"

/* Reads the names of all files of --names, one a line; "-" is standard input.  Checks that none
 * comes twice.  Returns CLI_DONE, or another status after a message; either way the caller clears
 * *names. */
int name_list_read(struct names *names, const struct invocation *call);

/* Sees to it that the store has no filter of any of the names.  CLI_ERROR after a message, which
 * says that nothing was made. */
int name_list_check_absent(const struct names *names, tamis_store *store);

/* How many of the names are those of filters?  CLI_ERROR after a message. */
int name_list_count(const struct names *names, tamis_store *store, size_t *count);
