/* SPDX-License-Identifier: BSD-2-Clause */
/* state.h: the state of a filter in words. */
#pragma once

#include "tamis.h"

/* "ok", or "full" or "over", "damaged", "degraded" and "unclean" with commas between, from
 * stat.state. */
#define STATE_BYTES 128
const char *state_name(uint32_t state, char text[STATE_BYTES]);
/* The same with the times: "unclean since 2026-11-21T23:49:26Z". */
void state_text(const struct tamis_filter_stat *stat, char text[STATE_BYTES]);
