/* SPDX-License-Identifier: BSD-2-Clause */
/* status_line.c: one line on standard error that the next one replaces; see status_line.h. */
#include "status_line.h"

#include <stdio.h>
#include <unistd.h>

static bool shown; /* on a terminal */

bool status_line_show(const char *line)
{
    char text[176];
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const int bytes = snprintf(text, sizeof text, "%s%s%s", terminal ? "\r" : "", line,
                               terminal ? "\x1b[K" : "\n");
    shown = terminal;
    return write(STDERR_FILENO, text, (size_t)bytes) >= 0;
}

void status_line_erase(void)
{
    static const char erase[] = "\r\x1b[K";
    if (!shown) return;
    shown = false;
    if (write(STDERR_FILENO, erase, sizeof erase - 1) < 0) return; /* nowhere to tell it */
}
