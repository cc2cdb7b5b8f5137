/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h: tells what is known of a filter (stat.c). */
#pragma once

#include "catalog/record.h"
#include "txn/store.h"

void tamis__stat_set_trouble(struct tamis_filter_stat *stat, struct tamis__trouble trouble);

/* Fills in the public struct with what the catalog knows of a filter.  `header`, of its newest
 * segment, tells whether it takes keys; NULL: that is not known. */
void tamis__stat_from_record(const struct tamis_store *store, const struct tamis__record *record,
                             const struct tamis__segment_header *header,
                             struct tamis_filter_stat *stat);

#ifdef TAMIS_TEST_POINTS
/* Set by tests: the bytes that the file system has free; below 0: what it says itself. */
extern int64_t tamis__stat_disk_room;
#endif
