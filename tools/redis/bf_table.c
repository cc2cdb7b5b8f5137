/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_table.c: the commands BF.*, as COMMAND INFO and COMMAND DOCS tell them. */
#include "table.h"

static const RedisModuleCommandArg key_args[] = {KEY, END};
static const RedisModuleCommandArg item_args[] = {KEY, ITEM, END};
static const RedisModuleCommandArg items_args[] = {KEY, ITEMS, END};
static const RedisModuleCommandArg reserve_args[] = {KEY,
                                                     {.name = "error_rate", .type = DOUBLE},
                                                     {.name = "capacity", .type = INTEGER},
                                                     OPTION("expansion", "EXPANSION", INTEGER),
                                                     OPTION("nonscaling", "NONSCALING", WORD),
                                                     END};
static const RedisModuleCommandArg insert_args[] = {
    KEY,
    OPTION("capacity", "CAPACITY", INTEGER),
    OPTION("error", "ERROR", DOUBLE),
    OPTION("expansion", "EXPANSION", INTEGER),
    OPTION("nocreate", "NOCREATE", WORD),
    OPTION("nonscaling", "NONSCALING", WORD),
    {.name = "items", .type = WORD, .token = "ITEMS"},
    ITEMS,
    END};
static RedisModuleCommandArg info_fields[] = {
    {.name = "capacity", .type = WORD, .token = "CAPACITY"},
    {.name = "size", .type = WORD, .token = "SIZE"},
    {.name = "filters", .type = WORD, .token = "FILTERS"},
    {.name = "items", .type = WORD, .token = "ITEMS"},
    {.name = "expansion", .type = WORD, .token = "EXPANSION"},
    END};
static const RedisModuleCommandArg info_args[] = {KEY,
                                                  {.name = "single_value",
                                                   .type = REDISMODULE_ARG_TYPE_ONEOF,
                                                   .flags = REDISMODULE_CMD_ARG_OPTIONAL,
                                                   .subargs = info_fields},
                                                  END};
static const RedisModuleCommandArg scandump_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, END};
static const RedisModuleCommandArg loadchunk_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, {.name = "data", .type = STRING}, END};

#define BF(word, fn, how, categories, n, on, since_, tips_, says, costs, takes)                    \
    {                                                                                              \
        .name = word, .run = fn, .flags = how, .acl = categories, .arity = n, .key = on,           \
        .since = since_, .tips = tips_, .summary = says, .complexity = costs, .args = takes        \
    }

const struct command bf_commands[] = {
    BF("bf.reserve", bf_reserve, ADDS, "write fast", -4, ADDS_KEY, "1.0.0", NULL,
       "Makes an empty filter", "O(1)", reserve_args),
    BF("bf.add", bf_add, ADDS, "write", 3, ADDS_KEY, "1.0.0", NULL,
       "Adds an item, and tells whether it is new", "O(k), k hashes", item_args),
    BF("bf.madd", bf_madd, ADDS, "write", -3, ADDS_KEY, "1.0.0", NULL,
       "Adds items, and tells of each whether it is new", "O(k n), k hashes, n items", items_args),
    BF("bf.insert", bf_insert, ADDS, "write", -4, ADDS_KEY, "1.0.0", NULL,
       "Adds items to a filter, which it makes if there is none", "O(k n), k hashes, n items",
       insert_args),
    BF("bf.exists", bf_exists, ASKS, "read", 3, READS_KEY, "1.0.0", NULL,
       "Tells whether an item is in a filter", "O(k), k hashes", item_args),
    BF("bf.mexists", bf_mexists, ASKS, "read", -3, READS_KEY, "1.0.0", NULL,
       "Tells of each item whether it is in a filter", "O(k n), k hashes, n items", items_args),
    BF("bf.info", bf_info, ASKS, "read fast", -2, READS_KEY, "1.0.0", "dont_cache",
       "Tells the capacity, size, layers, items and growth of a filter", "O(1)", info_args),
    BF("bf.card", bf_card, ASKS, "read fast", 2, READS_KEY, "2.4.4", NULL,
       "Tells how many items were new to a filter", "O(1)", key_args),
    BF("bf.debug", bf_debug, ASKS, "read", 2, READS_KEY, "1.0.0", "dont_cache",
       "Tells of the layers of a filter", "O(n), n layers", key_args),
    BF("bf.scandump", bf_scandump, ASKS, "read", 3, READS_KEY, "1.0.0", "dont_cache",
       "Begins or goes on to save a filter", "O(n), n bytes", scandump_args),
    BF("bf.loadchunk", bf_loadchunk, ADDS, "write", -4, ADDS_KEY, "1.0.0", NULL,
       "Restores what BF.SCANDUMP has saved", "O(n), n bytes", loadchunk_args),
    {.name = NULL},
};
