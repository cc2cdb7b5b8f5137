/* SPDX-License-Identifier: BSD-2-Clause */
/* form.h: the form of a key by the key rule of its filter, the shard that it is in, its parents. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* The form of a key by a rule.  A short one is in the struct itself, so do not copy the struct. */
struct form {
    struct tamis_key key;
    char small[256];
};

/* NULL is the rule `bytes`.  form_clear() frees what form_init() has taken. */
void form_init(struct form *form, const char *key_rule, const struct tamis_key *key);
void form_clear(const struct form *form);

/* The shard of the form that the key has by the rule. */
uint32_t form_shard(const char *key_rule, const struct tamis_key *key, uint32_t shards);

/* A name of at most 253 bytes has no more labels. */
#define FORM_LABELS_MAX 127u

/* Sets starts[i] to where a form begins without its first i labels: what
 * tamis_filter_contains_name() asks for.  Returns how many there are; 1 where the form is no name,
 * or an address. */
size_t form_suffixes(const struct tamis_key *form, uint8_t starts[FORM_LABELS_MAX]);
