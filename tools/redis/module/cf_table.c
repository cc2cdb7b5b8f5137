/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_table.c: the commands CF.*, as COMMAND INFO and COMMAND DOCS tell them. */
#include "module/table_parts.h"

static const RedisModuleCommandArg cf_reserve_args[] = {
    KEY,
    {.name = "capacity", .type = INTEGER},
    OPTION("bucketsize", "BUCKETSIZE", INTEGER),
    OPTION("maxiterations", "MAXITERATIONS", INTEGER),
    OPTION("expansion", "EXPANSION", INTEGER),
    END};
static const RedisModuleCommandArg cf_insert_args[] = {
    KEY,
    OPTION("capacity", "CAPACITY", INTEGER),
    OPTION("nocreate", "NOCREATE", WORD),
    {.name = "items", .type = WORD, .token = "ITEMS"},
    ITEMS,
    END};

const struct command cf_commands[] = {
    COMMAND("cf.reserve", cf_reserve, ADDS, "write fast", -3, ADDS_KEY, "1.0.0",
            "Makes an empty filter", "O(1)", .args = cf_reserve_args),
    COMMAND("cf.add", cf_add, ADDS, "write", 3, ADDS_KEY, "1.0.0",
            "Adds an item, once more if it is there", "O(k), k counters", .args = item_args),
    COMMAND("cf.addnx", cf_addnx, ADDS, "write", 3, ADDS_KEY, "1.0.0",
            "Adds an item if it is not there", "O(k), k counters", .args = item_args),
    COMMAND("cf.insert", cf_insert, ADDS, "write", -4, ADDS_KEY, "1.0.0",
            "Adds items to a filter, which it makes if there is none",
            "O(k n), k counters, n items", .args = cf_insert_args),
    COMMAND("cf.insertnx", cf_insertnx, ADDS, "write", -4, ADDS_KEY, "1.0.0",
            "Adds those items that are not there to a filter, which it makes if there is none",
            "O(k n), k counters, n items", .args = cf_insert_args),
    COMMAND("cf.exists", cf_exists, ASKS, "read", 3, READS_KEY, "1.0.0",
            "Tells whether an item is in a filter", "O(k), k counters", .args = item_args),
    COMMAND("cf.mexists", cf_mexists, ASKS, "read", -3, READS_KEY, "1.0.0",
            "Tells of each item whether it is in a filter", "O(k n), k counters, n items",
            .args = items_args),
    COMMAND("cf.count", cf_count, ASKS, "read", 3, READS_KEY, "1.0.0",
            "Tells how often an item is there", "O(k), k counters", .args = item_args),
    COMMAND("cf.del", cf_del, "write fast", "write", 3, DELETES_KEY, "1.0.0",
            "Takes an item off once", "O(k), k counters", .args = item_args),
    COMMAND("cf.compact", cf_compact, "write fast", "write", 2, CHANGES_KEY, "1.0.0",
            "Gives up sub-filters that the others have the room for", "O(1)", .args = key_args),
    COMMAND("cf.info", cf_info, ASKS, "read", 2, READS_KEY, "1.0.0",
            "Tells the size, buckets and items of a filter", "O(1)", .args = key_args,
            .tips = "dont_cache"),
    COMMAND("cf.debug", cf_debug, ASKS, "read", 2, READS_KEY, "1.0.0",
            "Tells the size, buckets and items of a filter in a line", "O(1)", .args = key_args,
            .tips = "dont_cache"),
    COMMAND("cf.scandump", cf_scandump, ASKS, "read", 3, READS_KEY, "1.0.0",
            "Begins or goes on to save a filter", "O(n), n bytes", .args = scandump_args,
            .tips = "dont_cache"),
    COMMAND("cf.loadchunk", cf_loadchunk, ADDS, "write", 4, ADDS_KEY, "1.0.0",
            "Restores what CF.SCANDUMP has saved", "O(n), n bytes", .args = loadchunk_args),
    {.name = NULL},
};
