/* SPDX-License-Identifier: BSD-2-Clause */
/* durable.h: adds keys to durable filters (durable.c). */
#pragma once

#include "handle/hashed.h"

/* As tamis_filter_add() and tamis_filter_add_batch(), in a view that the caller has entered.
 * `answers` may be NULL. */
int tamis__durable_add(struct tamis_filter *filter, struct tamis__view **view,
                       struct tamis__hashed_key *key);
int64_t tamis__durable_add_batch(struct tamis_filter *filter, struct tamis__view **view,
                                 const struct tamis_key *keys, size_t count, uint8_t *answers);

/* A merge into a durable filter has no log: its end brings it to the disk.  Between begin and end
 * nobody is told SEEN because of its bits. */
void tamis__durable_begin_merge(const struct tamis__view *view);
int tamis__durable_end_merge(const struct tamis__view *view, int rc);
