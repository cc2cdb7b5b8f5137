/* SPDX-License-Identifier: BSD-2-Clause */
/* several.h: several filters that are asked for the same keys: check --in A --in B, check 'blk-*'.
 */
#pragma once

#include "command.h"

struct several;

/* Does the call name several filters: --in, or a pattern that is the name of none? */
bool several_are_named(const struct invocation *call);

/* Opens the filters of --in, or those that fit the pattern of the first argument.  The store, a
 * directory or a server, is open.  NULL after a message. */
struct several *several_open(const struct invocation *call);
int several_close(struct several *several, int status); /* NULL is allowed; as cli_filter_close() */

/* Asks for keys.  An answer is 1 if all filters have the key, or with `any` if one of them has it.
 * Returns the number of ones; below 0: as tamis_filter_contains_batch(), or after a
 * message, where the store is a server. */
int64_t several_ask(struct several *several, bool any, const struct tamis_key *keys, size_t count,
                    uint8_t *answers);

/* The names of the filters that have one of the keys [first, end) of those that were asked for
 * last, with `between` between two.  The caller frees the text; "" if there is none. */
char *several_which(const struct several *several, size_t first, size_t end, const char *between);
