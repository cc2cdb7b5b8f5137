/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_parts.h: what the files of the fake server know of each other (fake_server.h). */
#pragma once

#include "fake_server.h"
#include "server/redis_api.h"

#define FAKE_KEY "key"

struct RedisModuleString {
    char *data;
    size_t bytes;
    unsigned references;
};

/* A dump that is read or written; of one that is written, only the bytes are counted. */
struct RedisModuleIO {
    const uint8_t *data;
    size_t bytes, at;
    bool failed;
    uint64_t saved;
};

/* What stands before a value in a dump of version 2 of the format of modules. */
enum opcode {
    OPCODE_END,
    OPCODE_SIGNED,
    OPCODE_UNSIGNED,
    OPCODE_FLOAT,
    OPCODE_DOUBLE,
    OPCODE_STRING
};
/* Does the opcode come next?  If not, the dump has failed. */
bool fake_comes(RedisModuleIO *io, enum opcode opcode);

/* Reads each byte, so that a sanitizer sees one that is not there. */
void fake_read_bytes(const char *data, size_t bytes);

/* The server's functions, by their names. */
void *fake_Alloc(size_t bytes);
void *fake_Calloc(size_t count, size_t each);
void *fake_Realloc(void *memory, size_t bytes);
void fake_Free(void *memory);
char *fake_Strdup(const char *text);
uint64_t fake_LoadUnsigned(RedisModuleIO *io);
double fake_LoadDouble(RedisModuleIO *io);
char *fake_LoadStringBuffer(RedisModuleIO *io, size_t *bytes);
int fake_IsIOError(RedisModuleIO *io);
const RedisModuleString *fake_GetKeyNameFromIO(RedisModuleIO *io);
int fake_GetDbIdFromIO(RedisModuleIO *io);
void fake_SaveUnsigned(RedisModuleIO *io, uint64_t number);
void fake_SaveDouble(RedisModuleIO *io, double number);
void fake_SaveStringBuffer(RedisModuleIO *io, const char *data, size_t bytes);
void fake_EmitAOF(RedisModuleIO *io, const char *command, const char *format, ...);
RedisModuleString *fake_CreateString(RedisModuleCtx *ctx, const char *data, size_t bytes);
void fake_FreeString(RedisModuleCtx *ctx, RedisModuleString *string);
__attribute__((format(printf, 2, 3))) RedisModuleString *
fake_CreateStringPrintf(RedisModuleCtx *ctx, const char *format, ...);
int fake_RegisterStringConfig(RedisModuleCtx *ctx, const char *name, const char *value,
                              unsigned flags, RedisModuleGetStringFunc *get,
                              RedisModuleSetStringFunc *set, RedisModuleApplyFunc *apply,
                              void *data);
RedisModuleCallReply *fake_Call(RedisModuleCtx *ctx, const char *command, const char *format, ...);
RedisModuleCommand *fake_GetCommand(RedisModuleCtx *ctx, const char *name);
