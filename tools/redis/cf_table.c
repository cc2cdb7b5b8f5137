/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_table.c: the commands CF.*, as COMMAND INFO and COMMAND DOCS tell them. */
#include "table.h"

static const RedisModuleCommandArg key_args[] = {KEY, END};
static const RedisModuleCommandArg item_args[] = {KEY, ITEM, END};
static const RedisModuleCommandArg items_args[] = {KEY, ITEMS, END};
static const RedisModuleCommandArg reserve_args[] = {
    KEY,
    {.name = "capacity", .type = INTEGER},
    OPTION("bucketsize", "BUCKETSIZE", INTEGER),
    OPTION("maxiterations", "MAXITERATIONS", INTEGER),
    OPTION("expansion", "EXPANSION", INTEGER),
    END};
static const RedisModuleCommandArg insert_args[] = {
    KEY,
    OPTION("capacity", "CAPACITY", INTEGER),
    OPTION("nocreate", "NOCREATE", WORD),
    {.name = "items", .type = WORD, .token = "ITEMS"},
    ITEMS,
    END};
static const RedisModuleCommandArg scandump_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, END};
static const RedisModuleCommandArg loadchunk_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, {.name = "data", .type = STRING}, END};

#define DELETES "write fast"
#define UPDATES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE)

#define CF(word, fn, how, categories, n, on, tips_, says, costs, takes)                            \
    {                                                                                              \
        .name = word, .run = fn, .flags = how, .acl = categories, .arity = n, .key = on,           \
        .since = "1.0.0", .tips = tips_, .summary = says, .complexity = costs, .args = takes       \
    }

const struct command cf_commands[] = {
    CF("cf.reserve", cf_reserve, ADDS, "write fast", -3, ADDS_KEY, NULL, "Makes an empty filter",
       "O(1)", reserve_args),
    CF("cf.add", cf_add, ADDS, "write", 3, ADDS_KEY, NULL, "Adds an item, once more if it is there",
       "O(k), k counters", item_args),
    CF("cf.addnx", cf_addnx, ADDS, "write", 3, ADDS_KEY, NULL, "Adds an item if it is not there",
       "O(k), k counters", item_args),
    CF("cf.insert", cf_insert, ADDS, "write", -4, ADDS_KEY, NULL,
       "Adds items to a filter, which it makes if there is none", "O(k n), k counters, n items",
       insert_args),
    CF("cf.insertnx", cf_insertnx, ADDS, "write", -4, ADDS_KEY, NULL,
       "Adds those items that are not there to a filter, which it makes if there is none",
       "O(k n), k counters, n items", insert_args),
    CF("cf.exists", cf_exists, ASKS, "read", 3, READS_KEY, NULL,
       "Tells whether an item is in a filter", "O(k), k counters", item_args),
    CF("cf.mexists", cf_mexists, ASKS, "read", -3, READS_KEY, NULL,
       "Tells of each item whether it is in a filter", "O(k n), k counters, n items", items_args),
    CF("cf.count", cf_count, ASKS, "read", 3, READS_KEY, NULL, "Tells how often an item is there",
       "O(k), k counters", item_args),
    CF("cf.del", cf_del, DELETES, "write", 3, DELETES_KEY, NULL, "Takes an item off once",
       "O(k), k counters", item_args),
    CF("cf.compact", cf_compact, DELETES, "write", 2, UPDATES_KEY, NULL,
       "Gives up sub-filters that the others have the room for", "O(1)", key_args),
    CF("cf.info", cf_info, ASKS, "read", 2, READS_KEY, "dont_cache",
       "Tells the size, buckets and items of a filter", "O(1)", key_args),
    CF("cf.debug", cf_debug, ASKS, "read", 2, READS_KEY, "dont_cache",
       "Tells the size, buckets and items of a filter in a line", "O(1)", key_args),
    CF("cf.scandump", cf_scandump, ASKS, "read", 3, READS_KEY, "dont_cache",
       "Begins or goes on to save a filter", "O(n), n bytes", scandump_args),
    CF("cf.loadchunk", cf_loadchunk, ADDS, "write", 4, ADDS_KEY, NULL,
       "Restores what CF.SCANDUMP has saved", "O(n), n bytes", loadchunk_args),
    {.name = NULL},
};
