/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h: tells what is known of a filter (stat.c). */
#pragma once

#include "catalog/record.h"
#include "txn/store.h"

void tamis__stat_set_trouble(struct tamis_filter_stat *stat, struct tamis__trouble trouble);

/* Fills in the public struct with what the catalog knows of a filter. */
void tamis__stat_from_record(const struct tamis__record *record, struct tamis_filter_stat *stat);
