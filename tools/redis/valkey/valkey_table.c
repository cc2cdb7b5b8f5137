/* SPDX-License-Identifier: BSD-2-Clause */
/* valkey_table.c: the command of valkey-bloom that RedisBloom does not have. */
#include "module/register.h"
#include "valkey/guest_parts.h"

const struct command valkey_commands[] = {
    COMMAND("bf.load", bf_load, ADDS, "write", ADDS_KEY, "1.0.0", "key data",
            "Restores a filter from an AOF of valkey-bloom", "O(n), n bytes"),
    {.name = NULL},
};
