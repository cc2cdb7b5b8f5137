/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message.c: what the user is told on standard error; see command.h.
 *
 * A message leaves in one write(2), so that the lines of several processes do not mix, and never
 * carries a control character or broken UTF-8 to the terminal, whatever name it quotes.
 */
#include <unistd.h>

#include "command.h"
#include "status_line.h"

static void write_line(const char *line)
{
    char *printable = text_printable(line);
    char *whole = NULL;
    int bytes = asprintf(&whole, "tamis: %s\n", printable);
    free(printable);
    if (bytes < 0) return;
    status_line_erase();
    /* Nowhere is left to report a failure to. */
    if (write(STDERR_FILENO, whole, (size_t)bytes) < 0) (void)bytes;
    free(whole);
}

__attribute__((format(printf, 1, 0))) static void tell(const char *format, va_list args)
{
    char *line = cli_vformat(format, args);
    write_line(line);
    free(line);
}

void cli_tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(format, args);
    va_end(args);
}

int cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(format, args);
    va_end(args);
    return CLI_ERROR;
}

int cli_interrupted(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = cli_vformat(format, args);
    va_end(args);
    cli_tell("stopped by %s%s", interrupt_name(), line);
    free(line);
    return 128 + interrupt_signal();
}

int cli_fail_usage(const struct command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = cli_vformat(format, args);
    va_end(args);
    if (command != NULL)
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

int cli_say_done(int status, const char *name, const char *is)
{
    if (status != CLI_DONE) cli_tell("note: '%s' %s; it only cannot be shown", name, is);
    return status;
}

void cli_tell_weakness(const char *hash_set)
{
    const char *weakness = tamis_hash_set_weakness(hash_set);
    if (weakness != NULL) cli_tell("note: %s", weakness);
}
