/* SPDX-License-Identifier: BSD-2-Clause */
/* specs.h: the description of a filter as an argument: SPEC(.capacity = 100, .fp_rate = 0.01). */
#ifndef TAMIS_SUPPORT_SPECS_H
#define TAMIS_SUPPORT_SPECS_H

#include "tamis.h"

/* It lives as long as the block in which it stands. */
#define SPEC(...)                                                                                  \
    (&(const struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec), __VA_ARGS__})

#endif
