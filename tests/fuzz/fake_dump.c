/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_dump.c: the server's functions that read and write dumps (fake_server.h). */
#include <stdarg.h>
#include <string.h>

#include "fake_parts.h"
#include "fuzz.h"

/* Has the dump so many bytes?  Else the server reports an error to the module, as it has said that
 * it handles them. */
static bool has(RedisModuleIO *io, uint64_t bytes)
{
    if (io->bytes - io->at < bytes) io->failed = true;
    return !io->failed;
}

static uint64_t load_big_endian(RedisModuleIO *io, unsigned bytes)
{
    uint64_t number = 0;
    if (!has(io, bytes)) return 0;
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | io->data[io->at++];
    return number;
}

/* Strings that are numbers or packed are a matter of the server. */
static uint64_t load_length(RedisModuleIO *io)
{
    const uint64_t first = load_big_endian(io, 1);
    if (first < 0x40) return first;
    if (first < 0x80) return (first & 0x3F) << 8 | load_big_endian(io, 1);
    if (first == 0x80) return load_big_endian(io, 4);
    if (first == 0x81) return load_big_endian(io, 8);
    io->failed = true;
    return 0;
}

bool fake_comes(RedisModuleIO *io, enum opcode opcode)
{
    if (!io->failed && load_length(io) != opcode) io->failed = true;
    return !io->failed;
}

uint64_t fake_LoadUnsigned(RedisModuleIO *io)
{
    const uint64_t number = fake_comes(io, OPCODE_UNSIGNED) ? load_length(io) : 0;
    return io->failed ? 0 : number;
}

double fake_LoadDouble(RedisModuleIO *io)
{
    double number = 0;
    if (!fake_comes(io, OPCODE_DOUBLE) || !has(io, sizeof number)) return 0;
    memcpy(&number, io->data + io->at, sizeof number);
    io->at += sizeof number;
    return number;
}

char *fake_LoadStringBuffer(RedisModuleIO *io, size_t *bytes)
{
    const uint64_t length = fake_comes(io, OPCODE_STRING) ? load_length(io) : 0;
    if (io->failed || !has(io, length)) return NULL;
    char *string = fake_Alloc(length);
    memcpy(string, io->data + io->at, length);
    io->at += length;
    *bytes = length;
    return string;
}

int fake_IsIOError(RedisModuleIO *io)
{
    return io->failed;
}

const RedisModuleString *fake_GetKeyNameFromIO(RedisModuleIO *io)
{
    static char name[] = FAKE_KEY;
    static const struct RedisModuleString key = {name, sizeof name - 1, 1};
    (void)io;
    return &key;
}

int fake_GetDbIdFromIO(RedisModuleIO *io)
{
    (void)io;
    return 0;
}

void fake_SaveUnsigned(RedisModuleIO *io, uint64_t number)
{
    (void)number;
    io->saved += 9;
}

void fake_SaveDouble(RedisModuleIO *io, double number)
{
    (void)number;
    io->saved += 9;
}

void fake_SaveStringBuffer(RedisModuleIO *io, const char *data, size_t bytes)
{
    fake_read_bytes(data, bytes);
    io->saved += bytes;
}

/* As redis-server reads the arguments: s a string, c text, b bytes, l a number. */
void fake_EmitAOF(RedisModuleIO *io, const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    io->saved += strlen(command);
    for (; *format != '\0'; format++) {
        if (*format == 's') {
            (void)va_arg(arguments, RedisModuleString *);
        } else if (*format == 'l') {
            (void)va_arg(arguments, long long);
            io->saved++; /* a digit or more */
        } else if (*format == 'c') {
            io->saved += strlen(va_arg(arguments, const char *));
        } else {
            const char *data = va_arg(arguments, const char *);
            fake_SaveStringBuffer(io, data, va_arg(arguments, size_t));
        }
    }
    va_end(arguments);
}
