/* SPDX-License-Identifier: BSD-2-Clause */
/* bits_table.c: what SETBIT, GETBIT, BITCOUNT and STRLEN are turned into (bits.c). */
#include "bits/bits.h"
#include "module/table_parts.h"

const struct command bits_commands[] = {
    COMMAND("tamis.setbit", bits_setbit, ADDS, "write", 4,
            REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_ACCESS | REDISMODULE_CMD_KEY_UPDATE, SINCE,
            "SETBIT on a filter, or on another key", "O(1)", .args = NULL),
    COMMAND("tamis.getbit", bits_getbit, ASKS, "read", 3, READS_KEY, SINCE,
            "GETBIT on a filter, or on another key", "O(1)", .args = NULL),
    COMMAND("tamis.bitcount", bits_bitcount, "readonly", "read", 2, READS_KEY, SINCE,
            "BITCOUNT of a whole filter, or another key", "O(1)", .args = NULL),
    COMMAND("tamis.strlen", bits_strlen, ASKS, "read", 2, READS_KEY, SINCE,
            "STRLEN of a filter, or of another key", "O(1)", .args = NULL),
    {.name = NULL},
};
