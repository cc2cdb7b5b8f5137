/* SPDX-License-Identifier: BSD-2-Clause */
/* valkey_table.c: the command of valkey-bloom that RedisBloom does not have. */
#include "module/table_parts.h"
#include "valkey/guest_parts.h"

static const RedisModuleCommandArg bf_load_args[] = {KEY, {.name = "data", .type = STRING}, END};

const struct command valkey_commands[] = {
    COMMAND("bf.load", bf_load, ADDS, "write", 3, ADDS_KEY, "1.0.0",
            "Restores a filter from an AOF of valkey-bloom", "O(n), n bytes", .args = bf_load_args),
    {.name = NULL},
};
