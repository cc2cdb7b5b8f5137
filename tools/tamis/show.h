/* SPDX-License-Identifier: BSD-2-Clause */
/* show.h: what is known of a filter, as text. */
#pragma once

#include "fields.h"

/* Prints "field: value (human form)" lines with three digits of each rate: those that matter, or
 * all; generation only if the filter was published. */
void view_print(const struct filter_view *view, bool all, struct out *out);

/* Prints the line "field: value (human form)" of one field. */
void view_print_labelled(const struct filter_view *view, const struct field *field,
                         struct out *out);

/* Prints one value alone with all of its digits, as text or as JSON. */
void view_print_field(const struct filter_view *view, const struct field *field, bool json,
                      struct out *out);
