/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message.c: what the user is told on standard error, and the memory that cannot be had.
 *
 * A message leaves in one write(2), so that the lines of several processes do not mix, and never
 * carries a control character or broken UTF-8 to the terminal, whatever name it quotes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "progress.h"
#include "text.h"

static void write_line(const char *line)
{
    char *printable = text_printable(line);
    char *whole = NULL;
    int bytes = asprintf(&whole, "tamis: %s\n", printable);
    free(printable);
    if (bytes < 0) return;
    progress_erase();
    /* Nowhere is left to report a failure to. */
    if (write(STDERR_FILENO, whole, (size_t)bytes) < 0) (void)bytes;
    free(whole);
}

__attribute__((format(printf, 1, 0))) static char *format_line(const char *format, va_list args)
{
    char *line = NULL;
    if (vasprintf(&line, format, args) < 0) cli_no_memory();
    return line;
}

void cli_tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = format_line(format, args);
    va_end(args);
    write_line(line);
    free(line);
}

int cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = format_line(format, args);
    va_end(args);
    write_line(line);
    free(line);
    return CLI_ERROR;
}

int cli_fail_usage(const struct command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = format_line(format, args);
    va_end(args);
    if (command)
        cli_tell("%s; try 'tamis %s --help'", line, command->name);
    else
        cli_tell("%s; try 'tamis --help'", line);
    free(line);
    return CLI_ERROR;
}

int cli_fail_library(void)
{
    return cli_fail("%s", tamis_last_error());
}

void cli_tell_weakness(const char *hash_set)
{
    const char *weakness = tamis_hash_set_weakness(hash_set);
    if (weakness) cli_tell("note: %s", weakness);
}

void cli_no_memory(void)
{
    static const char line[] = "tamis: out of memory\n";
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0) exit(CLI_ERROR);
    exit(CLI_ERROR);
}

void *cli_alloc(size_t bytes)
{
    return cli_realloc(NULL, bytes);
}

void *cli_realloc(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes > 0 ? bytes : 1);
    if (!memory) cli_no_memory();
    return memory;
}

char *cli_copy(const char *text, size_t bytes)
{
    char *copy = cli_alloc(bytes + 1);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}
