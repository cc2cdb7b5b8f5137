/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * standing.h: a filter that a helper of another program asks for weeks: --answer A,B,UNREADABLE.
 *
 * The filter is opened at the first question, and anew each second.  So the command starts without
 * a store, and finds one that comes, that is mended, or that takes the place of another.
 */
#pragma once

#include "command.h"

struct standing;

struct standing *standing_new(const struct invocation *call); /* NULL after a message */
void standing_free(struct standing *standing);                /* NULL is allowed */

/* As tamis_filter_contains_batch().  Below 0: the filter cannot be read now, which has been told
 * unless it was told before. */
int64_t standing_ask(struct standing *standing, const struct tamis_key *keys, size_t count,
                     uint8_t *answers);
