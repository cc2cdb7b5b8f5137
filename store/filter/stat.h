/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h: tells what is known of a filter (stat.c). */
#ifndef TAMIS_FILTER_STAT_H
#define TAMIS_FILTER_STAT_H

#include "catalog/record.h"
#include "txn/store.h"

void tamis__stat_set_trouble(struct tamis_filter_stat *stat, struct tamis__trouble trouble);

/* Fills in the public struct with what the catalog knows of a filter. */
void tamis__stat_from_record(const struct tamis__record *record, struct tamis_filter_stat *stat);
/* Fills in the fields that follow from the item count. */
void tamis__stat_set_items(struct tamis_filter_stat *stat, const struct tamis__record *record,
                           const uint64_t *segment_items);

#endif
