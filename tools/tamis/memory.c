/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c: memory that is there or ends the program; see memory.h. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_MEMORY_STATUS 2 /* CLI_ERROR of command.h */

void cli_no_memory(void)
{
    static const char line[] = "tamis: out of memory\n";
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0) exit(NO_MEMORY_STATUS);
    exit(NO_MEMORY_STATUS);
}

void *cli_alloc(size_t bytes)
{
    return cli_realloc(NULL, bytes);
}

void *cli_realloc(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes > 0 ? bytes : 1);
    if (memory == NULL) cli_no_memory();
    return memory;
}

void *cli_grow(void *old, size_t needed, size_t *room, size_t item_bytes)
{
    if (needed <= *room) return old;
    *room = needed > *room * 2 ? needed : *room * 2;
    return cli_realloc(old, *room * item_bytes);
}

char *cli_copy(const char *text, size_t bytes)
{
    char *copy = cli_alloc(bytes + 1);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

char *cli_strdup(const char *text)
{
    return cli_copy(text, strlen(text));
}

char *cli_vformat(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) cli_no_memory();
    return text;
}

char *cli_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = cli_vformat(format, args);
    va_end(args);
    return text;
}
