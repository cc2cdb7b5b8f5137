/* SPDX-License-Identifier: BSD-2-Clause */
/* form.h: the form of a key by the key rule of its filter, the shard that it is in, its parents. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tamis_key;

/* The form of a key by a rule; NULL is `bytes`.  The caller frees its bytes by form_free(). */
struct tamis_key form_of(const char *key_rule, const struct tamis_key *key);
void form_free(const struct tamis_key *form);

/* The shard of the form that the key has by the rule. */
uint32_t form_shard(const char *key_rule, const struct tamis_key *key, uint32_t shards);

/* A name of at most 253 bytes has no more labels. */
#define FORM_LABELS_MAX 127u

/* Sets starts[i] to where a form begins without its first i labels: what
 * tamis_filter_contains_name() asks for.  Returns how many there are; 1 where the form is no name,
 * or an address. */
size_t form_suffixes(const struct tamis_key *form, uint8_t starts[FORM_LABELS_MAX]);
