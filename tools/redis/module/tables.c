/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c: all commands, as COMMAND INFO and COMMAND DOCS tell them. */
#include "commands/command.h"
#include "module/register.h"

#define ADDS "write deny-oom"
#define ASKS "readonly fast"

#define READS_KEY (REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS)
#define ADDS_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT)
#define CHANGES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE)
#define DELETES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_DELETE)

/* Arguments.  An option is `name` for COMMAND DOCS, and `written` in a command. */
#define STRING REDISMODULE_ARG_TYPE_STRING
#define INTEGER REDISMODULE_ARG_TYPE_INTEGER
#define DOUBLE REDISMODULE_ARG_TYPE_DOUBLE
#define WORD REDISMODULE_ARG_TYPE_PURE_TOKEN
#define KEY                                                                                        \
    {                                                                                              \
        .name = "key", .type = REDISMODULE_ARG_TYPE_KEY                                            \
    }
#define ITEM                                                                                       \
    {                                                                                              \
        .name = "item", .type = STRING                                                             \
    }
#define ITEMS                                                                                      \
    {                                                                                              \
        .name = "item", .type = STRING, .flags = REDISMODULE_CMD_ARG_MULTIPLE                      \
    }
#define OPTION(word, written, of)                                                                  \
    {                                                                                              \
        .name = word, .type = of, .token = written, .flags = REDISMODULE_CMD_ARG_OPTIONAL          \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }
/* An option whose name for COMMAND DOCS is the word itself. */
#define NAMED(word, of) OPTION(word, word, of)

static const RedisModuleCommandArg no_args[] = {END};
static const RedisModuleCommandArg key_args[] = {KEY, END};
static const RedisModuleCommandArg item_args[] = {KEY, ITEM, END};
static const RedisModuleCommandArg items_args[] = {KEY, ITEMS, END};
static const RedisModuleCommandArg scandump_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, END};
static const RedisModuleCommandArg loadchunk_args[] = {
    KEY, {.name = "iterator", .type = INTEGER}, {.name = "data", .type = STRING}, END};

/* ---- BF.* ---- */

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
    {.name = "items", .type = WORD, .token = "ITEMS"},
    ITEMS,
    END};
static RedisModuleCommandArg bf_info_fields[] = {
    {.name = "capacity", .type = WORD, .token = "CAPACITY"},
    {.name = "size", .type = WORD, .token = "SIZE"},
    {.name = "filters", .type = WORD, .token = "FILTERS"},
    {.name = "items", .type = WORD, .token = "ITEMS"},
    {.name = "expansion", .type = WORD, .token = "EXPANSION"},
    END};
static const RedisModuleCommandArg bf_info_args[] = {KEY,
                                                     {.name = "single_value",
                                                      .type = REDISMODULE_ARG_TYPE_ONEOF,
                                                      .flags = REDISMODULE_CMD_ARG_OPTIONAL,
                                                      .subargs = bf_info_fields},
                                                     END};

/* ---- CF.* ---- */

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

/* ---- TAMIS.* ---- */

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
                                                     NAMED("WINDOWFROM", STRING),
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

#define SINCE "0.1.0"
#define COMMAND(word, fn, how, categories, n, on, since_, tips_, says, costs, takes)               \
    {                                                                                              \
        .name = word, .run = fn, .flags = how, .acl = categories, .arity = n, .key = on,           \
        .since = since_, .tips = tips_, .summary = says, .complexity = costs, .args = takes        \
    }
#define CF(word, fn, how, categories, n, on, tips_, says, costs, takes)                            \
    COMMAND(word, fn, how, categories, n, on, "1.0.0", tips_, says, costs, takes)
#define TAMIS(word, fn, how, categories, n, on, says, costs, takes)                                \
    COMMAND(word, fn, how, categories, n, on, SINCE, NULL, says, costs, takes)

const struct command commands[] = {
    COMMAND("bf.reserve", bf_reserve, ADDS, "write fast", -4, ADDS_KEY, "1.0.0", NULL,
            "Makes an empty filter", "O(1)", bf_reserve_args),
    COMMAND("bf.add", bf_add, ADDS, "write", 3, ADDS_KEY, "1.0.0", NULL,
            "Adds an item, and tells whether it is new", "O(k), k hashes", item_args),
    COMMAND("bf.madd", bf_madd, ADDS, "write", -3, ADDS_KEY, "1.0.0", NULL,
            "Adds items, and tells of each whether it is new", "O(k n), k hashes, n items",
            items_args),
    COMMAND("bf.insert", bf_insert, ADDS, "write", -4, ADDS_KEY, "1.0.0", NULL,
            "Adds items to a filter, which it makes if there is none", "O(k n), k hashes, n items",
            bf_insert_args),
    COMMAND("bf.exists", bf_exists, ASKS, "read", 3, READS_KEY, "1.0.0", NULL,
            "Tells whether an item is in a filter", "O(k), k hashes", item_args),
    COMMAND("bf.mexists", bf_mexists, ASKS, "read", -3, READS_KEY, "1.0.0", NULL,
            "Tells of each item whether it is in a filter", "O(k n), k hashes, n items",
            items_args),
    COMMAND("bf.info", bf_info, ASKS, "read fast", -2, READS_KEY, "1.0.0", "dont_cache",
            "Tells the capacity, size, layers, items and growth of a filter", "O(1)", bf_info_args),
    COMMAND("bf.card", bf_card, ASKS, "read fast", 2, READS_KEY, "2.4.4", NULL,
            "Tells how many items were new to a filter", "O(1)", key_args),
    COMMAND("bf.debug", bf_debug, ASKS, "read", 2, READS_KEY, "1.0.0", "dont_cache",
            "Tells of the layers of a filter", "O(n), n layers", key_args),
    COMMAND("bf.scandump", bf_scandump, ASKS, "read", 3, READS_KEY, "1.0.0", "dont_cache",
            "Begins or goes on to save a filter", "O(n), n bytes", scandump_args),
    COMMAND("bf.loadchunk", bf_loadchunk, ADDS, "write", -4, ADDS_KEY, "1.0.0", NULL,
            "Restores what BF.SCANDUMP has saved", "O(n), n bytes", loadchunk_args),
    CF("cf.reserve", cf_reserve, ADDS, "write fast", -3, ADDS_KEY, NULL, "Makes an empty filter",
       "O(1)", cf_reserve_args),
    CF("cf.add", cf_add, ADDS, "write", 3, ADDS_KEY, NULL, "Adds an item, once more if it is there",
       "O(k), k counters", item_args),
    CF("cf.addnx", cf_addnx, ADDS, "write", 3, ADDS_KEY, NULL, "Adds an item if it is not there",
       "O(k), k counters", item_args),
    CF("cf.insert", cf_insert, ADDS, "write", -4, ADDS_KEY, NULL,
       "Adds items to a filter, which it makes if there is none", "O(k n), k counters, n items",
       cf_insert_args),
    CF("cf.insertnx", cf_insertnx, ADDS, "write", -4, ADDS_KEY, NULL,
       "Adds those items that are not there to a filter, which it makes if there is none",
       "O(k n), k counters, n items", cf_insert_args),
    CF("cf.exists", cf_exists, ASKS, "read", 3, READS_KEY, NULL,
       "Tells whether an item is in a filter", "O(k), k counters", item_args),
    CF("cf.mexists", cf_mexists, ASKS, "read", -3, READS_KEY, NULL,
       "Tells of each item whether it is in a filter", "O(k n), k counters, n items", items_args),
    CF("cf.count", cf_count, ASKS, "read", 3, READS_KEY, NULL, "Tells how often an item is there",
       "O(k), k counters", item_args),
    CF("cf.del", cf_del, "write fast", "write", 3, DELETES_KEY, NULL, "Takes an item off once",
       "O(k), k counters", item_args),
    CF("cf.compact", cf_compact, "write fast", "write", 2, CHANGES_KEY, NULL,
       "Gives up sub-filters that the others have the room for", "O(1)", key_args),
    CF("cf.info", cf_info, ASKS, "read", 2, READS_KEY, "dont_cache",
       "Tells the size, buckets and items of a filter", "O(1)", key_args),
    CF("cf.debug", cf_debug, ASKS, "read", 2, READS_KEY, "dont_cache",
       "Tells the size, buckets and items of a filter in a line", "O(1)", key_args),
    CF("cf.scandump", cf_scandump, ASKS, "read", 3, READS_KEY, "dont_cache",
       "Begins or goes on to save a filter", "O(n), n bytes", scandump_args),
    CF("cf.loadchunk", cf_loadchunk, ADDS, "write", 4, ADDS_KEY, NULL,
       "Restores what CF.SCANDUMP has saved", "O(n), n bytes", loadchunk_args),
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
    TAMIS("tamis.setbit", bits_setbit, "write deny-oom", "write", 4,
          REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_ACCESS | REDISMODULE_CMD_KEY_UPDATE,
          "SETBIT on a filter, or on another key", "O(1)", NULL),
    TAMIS("tamis.getbit", bits_getbit, "readonly fast", "read", 3, READS_KEY,
          "GETBIT on a filter, or on another key", "O(1)", NULL),
    TAMIS("tamis.bitcount", bits_bitcount, "readonly", "read", 2, READS_KEY,
          "BITCOUNT of a whole filter, or another key", "O(1)", NULL),
    TAMIS("tamis.strlen", bits_strlen, "readonly fast", "read", 2, READS_KEY,
          "STRLEN of a filter, or of another key", "O(1)", NULL),
    {.name = NULL},
};
