/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_lanes8.h: see counting_lanes8.c. */
#ifndef TAMIS_UNIT_COUNTING_LANES8_H
#define TAMIS_UNIT_COUNTING_LANES8_H

#include "kind/counting.h"

tamis__counting_run_fn counting_run_lanes8;

#endif
