/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_table.c: the commands TAMIS.*, as COMMAND INFO and COMMAND DOCS tell them. */
#include "module/table_parts.h"

static const RedisModuleCommandArg no_args[] = {END};
static const RedisModuleCommandArg bind_args[] = {KEY, {.name = "id", .type = STRING}, END};
static const RedisModuleCommandArg reserve_args[] = {KEY,
                                                     {.name = "error_rate", .type = DOUBLE},
                                                     {.name = "capacity", .type = INTEGER},
                                                     OPTION_AS_WRITTEN("KIND", STRING),
                                                     OPTION_AS_WRITTEN("HASHSET", STRING),
                                                     OPTION_AS_WRITTEN("SECRET", STRING),
                                                     OPTION_AS_WRITTEN("SEED", STRING),
                                                     OPTION_AS_WRITTEN("BITS", INTEGER),
                                                     OPTION_AS_WRITTEN("HASHES", INTEGER),
                                                     OPTION_AS_WRITTEN("COUNTERBITS", INTEGER),
                                                     OPTION_AS_WRITTEN("WINDOW", DOUBLE),
                                                     OPTION_AS_WRITTEN("WINDOWNS", INTEGER),
                                                     OPTION_AS_WRITTEN("WINDOWITEMS", INTEGER),
                                                     OPTION_AS_WRITTEN("WINDOWFROM", STRING),
                                                     OPTION_AS_WRITTEN("SLICES", INTEGER),
                                                     OPTION_AS_WRITTEN("ONFULL", STRING),
                                                     OPTION_AS_WRITTEN("PAGES", STRING),
                                                     OPTION_AS_WRITTEN("KEYRULE", STRING),
                                                     OPTION_AS_WRITTEN("IFMISSING", WORD),
                                                     OPTION_AS_WRITTEN("DURABLE", WORD),
                                                     END};
static const RedisModuleCommandArg info_args[] = {KEY,
                                                  {.name = "detail",
                                                   .type = STRING,
                                                   .flags = REDISMODULE_CMD_ARG_OPTIONAL,
                                                   .summary = "SEGMENTS or FILL"},
                                                  END};
static const RedisModuleCommandArg some_items_args[] = {
    KEY,
    {.name = "item",
     .type = STRING,
     .flags = REDISMODULE_CMD_ARG_MULTIPLE | REDISMODULE_CMD_ARG_OPTIONAL},
    END};
static const RedisModuleCommandArg export_args[] = {KEY,
                                                    {.name = "format", .type = STRING},
                                                    {.name = "position", .type = INTEGER},
                                                    OPTION_AS_WRITTEN("WITHKEY", WORD),
                                                    END};
static const RedisModuleCommandArg combine_how_args[] = {
    {.name = "union", .type = WORD, .token = "UNION"},
    {.name = "intersect", .type = WORD, .token = "INTERSECT"},
    END};
static const RedisModuleCommandArg combine_args[] = {
    KEY,
    {.name = "how",
     .type = REDISMODULE_ARG_TYPE_ONEOF,
     .subargs = (RedisModuleCommandArg *)(uintptr_t)combine_how_args},
    {.name = "source",
     .type = REDISMODULE_ARG_TYPE_KEY,
     .key_spec_index = 1,
     .flags = REDISMODULE_CMD_ARG_MULTIPLE},
    END};
static const RedisModuleCommandArg merge_args[] = {
    KEY,
    {.name = "source", .type = REDISMODULE_ARG_TYPE_KEY, .flags = REDISMODULE_CMD_ARG_MULTIPLE},
    END};
static const RedisModuleCommandArg rotate_args[] = {KEY, OPTION_AS_WRITTEN("MADE", INTEGER), END};
static const RedisModuleCommandArg rollback_args[] = {
    KEY, {.name = "generation", .type = INTEGER, .flags = REDISMODULE_CMD_ARG_OPTIONAL}, END};
static const RedisModuleCommandArg attach_args[] = {
    KEY, {.name = "filter", .type = STRING, .flags = REDISMODULE_CMD_ARG_OPTIONAL}, END};
static const RedisModuleCommandArg orphans_args[] = {
    {.name = "action", .type = STRING, .summary = "LIST or DROP"},
    {.name = "filter", .type = STRING, .flags = REDISMODULE_CMD_ARG_OPTIONAL},
    END};
static const RedisModuleCommandArg except_action_args[] = {
    {.name = "add", .type = WORD, .token = "ADD"},
    {.name = "remove", .type = WORD, .token = "REMOVE"},
    END};
static const RedisModuleCommandArg except_args[] = {
    KEY,
    {.name = "action",
     .type = REDISMODULE_ARG_TYPE_ONEOF,
     .subargs = (RedisModuleCommandArg *)(uintptr_t)except_action_args},
    ITEMS,
    END};
static const RedisModuleCommandArg load_args[] = {
    KEY,
    OPTION_AS_WRITTEN("DURABLE", WORD),
    OPTION_AS_WRITTEN("EXPANSION", INTEGER),
    OPTION_AS_WRITTEN("KEYS", WORD),
    {.name = "stream", .type = STRING, .flags = REDISMODULE_CMD_ARG_MULTIPLE},
    END};

const struct command tamis_commands[] = {
    COMMAND("tamis.reserve", tamis_reserve, ADDS, "write", -4, ADDS_KEY, SINCE,
            "Makes an empty filter of any kind, hash set or window", "O(1)", .args = reserve_args),
    COMMAND("tamis.info", tamis_info, "readonly", "read", -2, READS_KEY, SINCE,
            "Tells all that is known of a filter", "O(1); with FILL O(n), n bytes of it",
            .args = info_args),
    COMMAND("tamis.spec", tamis_spec, "readonly", "read dangerous", 2, READS_KEY, SINCE,
            "Tells the words of TAMIS.RESERVE that make a filter like it", "O(1)",
            .args = key_args),
    COMMAND("tamis.add", tamis_add, ADDS, "write", -3, CHANGES_KEY, SINCE,
            "Adds items to a filter of any kind, and tells which were new", "O(n), n items",
            .args = items_args),
    COMMAND("tamis.check", tamis_check, ASKS, "read", -3, READS_KEY, SINCE,
            "Tells which items are in a filter of any kind", "O(n), n items", .args = items_args),
    COMMAND("tamis.parents", tamis_parents, ASKS, "read", -3, READS_KEY, SINCE,
            "Tells which names, or parents of them, are in a filter of any kind",
            "O(n), n labels of the names", .args = items_args),
    COMMAND("tamis.remove", tamis_remove, "write", "write", -2, CHANGES_KEY, SINCE,
            "Takes items off a filter that counts, and tells which were there", "O(n), n items",
            .args = some_items_args),
    COMMAND("tamis.count", tamis_count, "readonly", "read", -2, READS_KEY, SINCE,
            "Tells how often items are in a filter that counts", "O(n), n items",
            .args = some_items_args),
    COMMAND("tamis.explain", tamis_explain_items, "readonly", "read", -3, READS_KEY, SINCE,
            "Tells hash values and bit positions of items", "O(n), n items", .args = items_args),
    COMMAND("tamis.export", tamis_export, "readonly", "read dangerous", -4, READS_KEY, SINCE,
            "Tells a piece of what 'tamis export' writes", "O(n), n bytes of the filter",
            .args = export_args),
    COMMAND("tamis.combine", tamis_combine, ADDS, "write", -4, ADDS_KEY, SINCE,
            "Merges filters into one that is there, or makes it", "O(n), n bytes of them all",
            .args = combine_args, .other_keys_at = 3),
    COMMAND("tamis.merge", tamis_merge, ADDS, "write", -3, CHANGES_KEY, SINCE,
            "Brings the keys of filters into another of the same shape",
            "O(n), n bytes of them all", .args = merge_args, .more_keys = -1),
    COMMAND("tamis.rotate", tamis_rotate, "write", "write", -2, CHANGES_KEY, SINCE,
            "Begins a new slice of a window", "O(1)", .args = rotate_args),
    COMMAND("tamis.rollback", tamis_rollback, "write", "write", -2, CHANGES_KEY, SINCE,
            "Puts an older generation in force again", "O(1)", .args = rollback_args),
    COMMAND("tamis.except", tamis_except, ADDS, "write", -4, CHANGES_KEY, SINCE,
            "Makes items answer absent whatever the bits say, or no longer",
            "O(n log n), n exceptions of the filter", .args = except_args),
    COMMAND("tamis.exceptions", tamis_exceptions, "readonly", "read", 2, READS_KEY, SINCE,
            "Lists the items that answer absent whatever the bits say", "O(n), n exceptions",
            .args = key_args),
    COMMAND("tamis.load", tamis_load, ADDS, "write", -3, ADDS_KEY, SINCE,
            "Makes a filter from a stream of 'tamis export --to tamis'", "O(n), n bytes of it",
            .args = load_args, .keys_behind = "KEYS"),
    COMMAND("tamis.sync", tamis_sync, "readonly", "write", 2, READS_KEY, SINCE,
            "Brings a filter to the disk, and answers then", "O(n), n bytes of it",
            .args = key_args),
    COMMAND("tamis.attach", tamis_attach, ADDS, "write", -2, ADDS_KEY, SINCE,
            "Makes a key of a filter that the store has", "O(1)", .args = attach_args),
    COMMAND("tamis.detach", tamis_detach, "write", "write", 2, DELETES_KEY, SINCE,
            "Takes the key away and leaves the filter in the store", "O(1)", .args = key_args),
    COMMAND("tamis.orphans", tamis_orphans, "admin", "admin dangerous", -2, 0, SINCE,
            "Lists filters that were made for keys which are gone, or drops one", "O(n), n orphans",
            .args = orphans_args),
    COMMAND("tamis.stats", tamis_stats, "readonly", "read", 1, 0, SINCE,
            "Sums up all filters of the server", "O(n), n filters", .args = no_args),
    COMMAND("tamis.bind", tamis_bind, "write", "write", -3, CHANGES_KEY, "1.0.0",
            "Tells this server's own AOF which filter of the store a key has", "O(1)",
            .args = bind_args),
    COMMAND("tamis.share", tamis_share, "write", "write", 2, CHANGES_KEY, "1.0.0",
            "Brings a filter from the server's memory to the store", "O(n), n bytes",
            .args = key_args),
    {.name = NULL},
};
