/* SPDX-License-Identifier: BSD-2-Clause */
/* parents.h: names that are asked for with their parents: check --parents. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* As tamis_filter_contains_batch(), by tamis_filter_contains_name(). */
int64_t parents_ask(tamis_filter *filter, const struct tamis_key *names, size_t count,
                    uint8_t *answers);
