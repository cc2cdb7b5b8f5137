/* SPDX-License-Identifier: BSD-2-Clause */
/* form.h: which shard a key belongs to, by the key rule of its filter. */
#pragma once

#include <stdint.h>

struct tamis_key;

/* The shard of the form that the key has by the rule; NULL is `bytes`. */
uint32_t form_shard(const char *key_rule, const struct tamis_key *key, uint32_t shards);
