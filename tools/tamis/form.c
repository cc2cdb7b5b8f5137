/* SPDX-License-Identifier: BSD-2-Clause */
/* form.c: see form.h. */
#include "form.h"

#include <stdlib.h>

#include "command.h"

uint32_t form_shard(const char *key_rule, const struct tamis_key *key, uint32_t shards)
{
    char small[512];
    if (key_rule == NULL) return tamis_shard(key->data, key->bytes, shards);
    int64_t bytes = tamis_key_form(key_rule, key->data, key->bytes, small, sizeof small);
    if (bytes <= (int64_t)sizeof small)
        return tamis_shard(small, bytes > 0 ? (size_t)bytes : 0, shards);
    char *large = cli_alloc((size_t)bytes);
    bytes = tamis_key_form(key_rule, key->data, key->bytes, large, (size_t)bytes);
    const uint32_t shard = tamis_shard(large, bytes > 0 ? (size_t)bytes : 0, shards);
    free(large);
    return shard;
}
