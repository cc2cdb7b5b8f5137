/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * url_query.h: the options `sort` and `drop` of the rule `url`, for the query of a URL that is in
 * its normal form.
 *
 * The parameters of a query have an ampersand between two; the name of one ends before its first =.
 * Either option leaves out empty parameters, and a query that is empty.
 */
#pragma once

#include "key/rule.h"

struct tamis__url_parameter {
    uint32_t at, bytes, name_bytes;
};

/* Is it as the two options have it?  `query` is behind the question mark. */
bool tamis__url_query_is_form(const struct tamis__key_rule *rule, const unsigned char *query,
                              size_t bytes);

/* Changes the query in place.  Returns its new length.
 *
 * parameters  room for twice as many as there are.
 * copy        room for as many bytes as the query has. */
size_t tamis__url_query_write(const struct tamis__key_rule *rule, unsigned char *query,
                              size_t bytes, struct tamis__url_parameter *parameters,
                              unsigned char *copy);
