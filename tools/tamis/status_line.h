/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * status_line.h: one line on standard error that the next one replaces.
 *
 * On a terminal the line is rewritten in place; elsewhere each line is printed below the last.
 */
#pragma once

#include <stdbool.h>

/* Shows a line of less than 160 bytes.  false: it could not be written. */
bool status_line_show(const char *line);

/* Takes the line away if one is shown; to be called before anything else is written to a terminal.
 */
void status_line_erase(void);
