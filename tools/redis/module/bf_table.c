/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_table.c: the commands BF.*, as COMMAND INFO and COMMAND DOCS tell them. */
#include "module/table_parts.h"

static const RedisModuleCommandArg bf_reserve_args[] = {KEY,
                                                        {.name = "error_rate", .type = DOUBLE},
                                                        {.name = "capacity", .type = INTEGER},
                                                        OPTION("expansion", "EXPANSION", INTEGER),
                                                        OPTION("nonscaling", "NONSCALING", WORD),
                                                        END};
static const RedisModuleCommandArg bf_insert_args[] = {
    KEY,
    OPTION("capacity", "CAPACITY", INTEGER),
    OPTION("error", "ERROR", DOUBLE),
    OPTION("expansion", "EXPANSION", INTEGER),
    OPTION("nocreate", "NOCREATE", WORD),
    OPTION("nonscaling", "NONSCALING", WORD),
    OPTION("tightening", "TIGHTENING", DOUBLE),
    OPTION("seed", "SEED", STRING),
    OPTION("validatescaleto", "VALIDATESCALETO", INTEGER),
    {.name = "items", .type = WORD, .token = "ITEMS"},
    ITEMS,
    END};
static const RedisModuleCommandArg bf_info_fields[] = {
    {.name = "capacity", .type = WORD, .token = "CAPACITY"},
    {.name = "size", .type = WORD, .token = "SIZE"},
    {.name = "filters", .type = WORD, .token = "FILTERS"},
    {.name = "items", .type = WORD, .token = "ITEMS"},
    {.name = "expansion", .type = WORD, .token = "EXPANSION"},
    {.name = "error", .type = WORD, .token = "ERROR"},
    {.name = "tightening", .type = WORD, .token = "TIGHTENING"},
    {.name = "maxscaledcapacity", .type = WORD, .token = "MAXSCALEDCAPACITY"},
    END};
static const RedisModuleCommandArg bf_info_args[] = {
    KEY,
    {.name = "single_value",
     .type = REDISMODULE_ARG_TYPE_ONEOF,
     .flags = REDISMODULE_CMD_ARG_OPTIONAL,
     .subargs = (RedisModuleCommandArg *)(uintptr_t)bf_info_fields},
    END};

const struct command bf_commands[] = {
    COMMAND("bf.reserve", bf_reserve, ADDS, "write fast", -4, ADDS_KEY, "1.0.0",
            "Makes an empty filter", "O(1)", .args = bf_reserve_args),
    COMMAND("bf.add", bf_add, ADDS, "write", 3, ADDS_KEY, "1.0.0",
            "Adds an item, and tells whether it is new", "O(k), k hashes", .args = item_args),
    COMMAND("bf.madd", bf_madd, ADDS, "write", -3, ADDS_KEY, "1.0.0",
            "Adds items, and tells of each whether it is new", "O(k n), k hashes, n items",
            .args = items_args),
    COMMAND("bf.insert", bf_insert, ADDS, "write", -4, ADDS_KEY, "1.0.0",
            "Adds items to a filter, which it makes if there is none", "O(k n), k hashes, n items",
            .args = bf_insert_args),
    COMMAND("bf.exists", bf_exists, ASKS, "read", 3, READS_KEY, "1.0.0",
            "Tells whether an item is in a filter", "O(k), k hashes", .args = item_args),
    COMMAND("bf.mexists", bf_mexists, ASKS, "read", -3, READS_KEY, "1.0.0",
            "Tells of each item whether it is in a filter", "O(k n), k hashes, n items",
            .args = items_args),
    COMMAND("bf.info", bf_info, ASKS, "read fast", -2, READS_KEY, "1.0.0",
            "Tells the capacity, size, layers, items and growth of a filter", "O(1)",
            .args = bf_info_args, .tips = "dont_cache"),
    COMMAND("bf.card", bf_card, ASKS, "read fast", 2, READS_KEY, "2.4.4",
            "Tells how many items were new to a filter", "O(1)", .args = key_args),
    COMMAND("bf.debug", bf_debug, ASKS, "read", 2, READS_KEY, "1.0.0",
            "Tells of the layers of a filter", "O(n), n layers", .args = key_args,
            .tips = "dont_cache"),
    COMMAND("bf.scandump", bf_scandump, ASKS, "read", 3, READS_KEY, "1.0.0",
            "Begins or goes on to save a filter", "O(n), n bytes", .args = scandump_args,
            .tips = "dont_cache"),
    COMMAND("bf.loadchunk", bf_loadchunk, ADDS, "write", -4, ADDS_KEY, "1.0.0",
            "Restores what BF.SCANDUMP has saved", "O(n), n bytes", .args = loadchunk_args),
    {.name = NULL},
};
