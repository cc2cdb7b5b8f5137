/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_table.c: the commands TAMIS.*, as COMMAND INFO and COMMAND DOCS tell them. */
#include "table.h"

#define SINCE "0.1.0"
/* An option whose name for COMMAND DOCS is the word itself. */
#define NAMED(word, of) OPTION(word, word, of)

static const RedisModuleCommandArg key_args[] = {KEY, END};
static const RedisModuleCommandArg reserve_args[] = {KEY,
                                                     {.name = "error_rate", .type = DOUBLE},
                                                     {.name = "capacity", .type = INTEGER},
                                                     NAMED("KIND", STRING),
                                                     NAMED("HASHSET", STRING),
                                                     NAMED("SECRET", STRING),
                                                     NAMED("SEED", STRING),
                                                     NAMED("BITS", INTEGER),
                                                     NAMED("HASHES", INTEGER),
                                                     NAMED("COUNTERBITS", INTEGER),
                                                     NAMED("WINDOW", DOUBLE),
                                                     NAMED("WINDOWNS", INTEGER),
                                                     NAMED("WINDOWITEMS", INTEGER),
                                                     NAMED("SLICES", INTEGER),
                                                     NAMED("ONFULL", STRING),
                                                     NAMED("IFMISSING", WORD),
                                                     NAMED("DURABLE", WORD),
                                                     END};
static const RedisModuleCommandArg info_args[] = {KEY,
                                                  {.name = "detail",
                                                   .type = STRING,
                                                   .flags = REDISMODULE_CMD_ARG_OPTIONAL,
                                                   .summary = "SEGMENTS or FILL"},
                                                  END};
static const RedisModuleCommandArg items_args[] = {KEY, ITEMS, END};
static const RedisModuleCommandArg some_items_args[] = {
    KEY,
    {.name = "item",
     .type = STRING,
     .flags = REDISMODULE_CMD_ARG_MULTIPLE | REDISMODULE_CMD_ARG_OPTIONAL},
    END};
static const RedisModuleCommandArg export_args[] = {KEY,
                                                    {.name = "format", .type = STRING},
                                                    {.name = "position", .type = INTEGER},
                                                    NAMED("WITHKEY", WORD),
                                                    END};
static RedisModuleCommandArg combine_how_args[] = {
    {.name = "union", .type = WORD, .token = "UNION"},
    {.name = "intersect", .type = WORD, .token = "INTERSECT"},
    END};
static const RedisModuleCommandArg combine_args[] = {
    KEY,
    {.name = "how", .type = REDISMODULE_ARG_TYPE_ONEOF, .subargs = combine_how_args},
    {.name = "source",
     .type = REDISMODULE_ARG_TYPE_KEY,
     .key_spec_index = 1,
     .flags = REDISMODULE_CMD_ARG_MULTIPLE},
    END};
static const RedisModuleCommandArg merge_args[] = {
    KEY,
    {.name = "source", .type = REDISMODULE_ARG_TYPE_KEY, .flags = REDISMODULE_CMD_ARG_MULTIPLE},
    END};
static const RedisModuleCommandArg rollback_args[] = {
    KEY, {.name = "generation", .type = INTEGER, .flags = REDISMODULE_CMD_ARG_OPTIONAL}, END};
static const RedisModuleCommandArg attach_args[] = {
    KEY, {.name = "filter", .type = STRING, .flags = REDISMODULE_CMD_ARG_OPTIONAL}, END};
static const RedisModuleCommandArg orphans_args[] = {
    {.name = "action", .type = STRING, .summary = "LIST or DROP"},
    {.name = "filter", .type = STRING, .flags = REDISMODULE_CMD_ARG_OPTIONAL},
    END};
static RedisModuleCommandArg except_action_args[] = {
    {.name = "add", .type = WORD, .token = "ADD"},
    {.name = "remove", .type = WORD, .token = "REMOVE"},
    END};
static const RedisModuleCommandArg except_args[] = {
    KEY,
    {.name = "action", .type = REDISMODULE_ARG_TYPE_ONEOF, .subargs = except_action_args},
    ITEMS,
    END};
static const RedisModuleCommandArg load_args[] = {
    KEY,
    NAMED("DURABLE", WORD),
    NAMED("EXPANSION", INTEGER),
    NAMED("KEYS", WORD),
    {.name = "stream", .type = STRING, .flags = REDISMODULE_CMD_ARG_MULTIPLE},
    END};
static const RedisModuleCommandArg no_args[] = {END};

#define TAMIS(word, fn, how, categories, n, on, says, costs, takes)                                \
    {                                                                                              \
        .name = word, .run = fn, .flags = how, .acl = categories, .arity = n, .key = on,           \
        .since = SINCE, .summary = says, .complexity = costs, .args = takes                        \
    }

const struct command tamis_commands[] = {
    TAMIS("tamis.reserve", tamis_reserve, "write deny-oom", "write", -4, ADDS_KEY,
          "Makes an empty filter of any kind, hash set or window", "O(1)", reserve_args),
    TAMIS("tamis.info", tamis_info, "readonly", "read", -2, READS_KEY,
          "Tells all that is known of a filter", "O(1); with FILL O(n), n bytes of it", info_args),
    TAMIS("tamis.spec", tamis_spec, "readonly", "read dangerous", 2, READS_KEY,
          "Tells the words of TAMIS.RESERVE that make a filter like it", "O(1)", key_args),
    TAMIS("tamis.add", tamis_add, "write deny-oom", "write", -3, CHANGES_KEY,
          "Adds items to a filter of any kind, and tells which were new", "O(n), n items",
          items_args),
    TAMIS("tamis.check", tamis_check, "readonly fast", "read", -3, READS_KEY,
          "Tells which items are in a filter of any kind", "O(n), n items", items_args),
    TAMIS("tamis.remove", tamis_remove, "write", "write", -2, CHANGES_KEY,
          "Takes items off a filter that counts, and tells which were there", "O(n), n items",
          some_items_args),
    TAMIS("tamis.count", tamis_count, "readonly", "read", -2, READS_KEY,
          "Tells how often items are in a filter that counts", "O(n), n items", some_items_args),
    TAMIS("tamis.explain", tamis_explain_items, "readonly", "read", -3, READS_KEY,
          "Tells hash values and bit positions of items", "O(n), n items", items_args),
    TAMIS("tamis.export", tamis_export, "readonly", "read dangerous", -4, READS_KEY,
          "Tells a piece of what 'tamis export' writes", "O(n), n bytes of the filter",
          export_args),
    {.name = "tamis.combine",
     .run = tamis_combine,
     .flags = "write deny-oom",
     .acl = "write",
     .arity = -4,
     .key = ADDS_KEY,
     .other_keys_at = 3,
     .since = SINCE,
     .summary = "Merges filters into one that is there, or makes it",
     .complexity = "O(n), n bytes of them all",
     .args = combine_args},
    {.name = "tamis.merge",
     .run = tamis_merge,
     .flags = "write deny-oom",
     .acl = "write",
     .arity = -3,
     .key = CHANGES_KEY,
     .more_keys = -1,
     .since = SINCE,
     .summary = "Brings the keys of filters into another of the same shape",
     .complexity = "O(n), n bytes of them all",
     .args = merge_args},
    TAMIS("tamis.rotate", tamis_rotate, "write", "write", 2, CHANGES_KEY,
          "Begins a new slice of a window", "O(1)", key_args),
    TAMIS("tamis.rollback", tamis_rollback, "write", "write", -2, CHANGES_KEY,
          "Puts an older generation in force again", "O(1)", rollback_args),
    TAMIS("tamis.except", tamis_except, "write deny-oom", "write", -4, CHANGES_KEY,
          "Makes items answer absent whatever the bits say, or no longer",
          "O(n log n), n exceptions of the filter", except_args),
    TAMIS("tamis.exceptions", tamis_exceptions, "readonly", "read", 2, READS_KEY,
          "Lists the items that answer absent whatever the bits say", "O(n), n exceptions",
          key_args),
    {.name = "tamis.load",
     .run = tamis_load,
     .flags = "write deny-oom",
     .acl = "write",
     .arity = -3,
     .key = ADDS_KEY,
     .keys_behind = "KEYS",
     .since = SINCE,
     .summary = "Makes a filter from a stream of 'tamis export --to tamis'",
     .complexity = "O(n), n bytes of it",
     .args = load_args},
    TAMIS("tamis.sync", tamis_sync, "readonly", "write", 2, READS_KEY,
          "Brings a filter to the disk, and answers then", "O(n), n bytes of it", key_args),
    TAMIS("tamis.attach", tamis_attach, "write deny-oom", "write", -2, ADDS_KEY,
          "Makes a key of a filter that the store has", "O(1)", attach_args),
    TAMIS("tamis.detach", tamis_detach, "write", "write", 2, DELETES_KEY,
          "Takes the key away and leaves the filter in the store", "O(1)", key_args),
    TAMIS("tamis.orphans", tamis_orphans, "admin", "admin dangerous", -2, 0,
          "Lists filters that were made for keys which are gone, or drops one", "O(n), n orphans",
          orphans_args),
    TAMIS("tamis.stats", tamis_stats, "readonly", "read", 1, 0, "Sums up all filters of the server",
          "O(n), n filters", no_args),
    {.name = NULL},
};
