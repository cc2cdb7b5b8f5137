/* SPDX-License-Identifier: BSD-2-Clause */
/* bits_table.c: what SETBIT, GETBIT, BITCOUNT and STRLEN are turned into (bits.c). */
#include "bits/bits.h"
#include "module/register.h"

const struct command bits_commands[] = {
    COMMAND("tamis.setbit", bits_setbit, ADDS, "write",
            REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_ACCESS | REDISMODULE_CMD_KEY_UPDATE, SINCE,
            "key offset:integer bit:integer", "SETBIT on a filter, or on another key", "O(1)"),
    COMMAND("tamis.getbit", bits_getbit, ASKS, "read", READS_KEY, SINCE, "key offset:integer",
            "GETBIT on a filter, or on another key", "O(1)"),
    COMMAND("tamis.bitcount", bits_bitcount, "readonly", "read", READS_KEY, SINCE, "key",
            "BITCOUNT of a whole filter, or another key", "O(1)"),
    COMMAND("tamis.strlen", bits_strlen, ASKS, "read", READS_KEY, SINCE, "key",
            "STRLEN of a filter, or of another key", "O(1)"),
    {.name = NULL},
};
