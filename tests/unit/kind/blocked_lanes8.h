/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_lanes8.h: see blocked_lanes8.c. */
#ifndef TAMIS_UNIT_BLOCKED_LANES8_H
#define TAMIS_UNIT_BLOCKED_LANES8_H

#include "kind/blocked.h"

tamis__blocked_run_fn blocked_run_lanes8;
tamis__blocked_together_fn blocked_together_lanes8;

#endif
