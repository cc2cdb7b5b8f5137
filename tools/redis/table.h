/* SPDX-License-Identifier: BSD-2-Clause */
/* table.h: the words in which the tables of commands are written. */
#pragma once

#include "command.h"

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
