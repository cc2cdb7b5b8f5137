/* SPDX-License-Identifier: BSD-2-Clause */
/* verify.h: what verify and doctor share. */
#ifndef TAMIS_TOOLS_VERIFY_H
#define TAMIS_TOOLS_VERIFY_H

#include "command.h"
#include "names.h"

/* The store, open for writing where the caller may write, so that it remembers what is damaged;
 * else to read. NULL after a message. */
tamis_store *verify_open(const struct invocation *call);

/* Verify the filters that the call names, or the whole store.  The number of problems told to `fn`,
 * or below 0 after a message. */
int64_t verify_named(const struct invocation *call, tamis_store *store, const struct names *names,
                     tamis_problem_fn *fn, void *context);

#endif
