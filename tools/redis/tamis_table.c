/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_table.c: the commands TAMIS.*, as COMMAND INFO and COMMAND DOCS tell them. */
#include "command.h"

#define SINCE "0.1.0"
#define READS_KEY (REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS)
#define ADDS_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT)
#define CHANGES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE)
#define DELETES_KEY (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_DELETE)

#define KEY                                                                                        \
    {                                                                                              \
        .name = "key", .type = REDISMODULE_ARG_TYPE_KEY                                            \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }
#define OPTION(word, of)                                                                           \
    {                                                                                              \
        .name = word, .type = of, .token = word, .flags = REDISMODULE_CMD_ARG_OPTIONAL             \
    }
#define STRING REDISMODULE_ARG_TYPE_STRING
#define INTEGER REDISMODULE_ARG_TYPE_INTEGER
#define DOUBLE REDISMODULE_ARG_TYPE_DOUBLE

static const RedisModuleCommandArg key_args[] = {KEY, END};
static const RedisModuleCommandArg reserve_args[] = {KEY,
                                                     {.name = "error_rate", .type = DOUBLE},
                                                     {.name = "capacity", .type = INTEGER},
                                                     OPTION("KIND", STRING),
                                                     OPTION("HASHSET", STRING),
                                                     OPTION("SEED", INTEGER),
                                                     OPTION("WINDOW", DOUBLE),
                                                     OPTION("SLICES", INTEGER),
                                                     OPTION("ONFULL", STRING),
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
static const RedisModuleCommandArg no_args[] = {END};

#define TAMIS(word, fn, how, categories, n, on, says, costs, takes)                                \
    {                                                                                              \
        .name = word, .run = fn, .flags = how, .acl = categories, .arity = n, .key = on,           \
        .since = SINCE, .summary = says, .complexity = costs, .args = takes                        \
    }

const struct command tamis_commands[] = {
    TAMIS("tamis.reserve", tamis_reserve, "write deny-oom", "write", -4, ADDS_KEY,
          "Makes an empty filter of any kind, hash set or window", "O(1)", reserve_args),
    TAMIS("tamis.info", tamis_info, "readonly fast", "read", 2, READS_KEY,
          "Tells all that is known of a filter", "O(1)", key_args),
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
