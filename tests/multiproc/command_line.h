/* SPDX-License-Identifier: BSD-2-Clause */
/* command_line.h: the `tamis` command beside other processes, with a file for its input. */
#ifndef TAMIS_MULTIPROC_COMMAND_LINE_H
#define TAMIS_MULTIPROC_COMMAND_LINE_H

#include <stdbool.h>
#include <sys/types.h>

struct command_line {
    pid_t pid;
    char messages[4096]; /* file with all that it prints */
};

/* Start it.  `arguments` begin with "tamis" and end with NULL; `messages` is a file that is made.
 * */
void command_line_start(struct command_line *command, const char *const *arguments,
                        const char *input, const char *messages);
bool command_line_is_over(const struct command_line *command);
/* Wait for its end, and print what it has said.  Its exit status, -1 for a signal; *said: was
 * `word` in it? */
int command_line_end(struct command_line *command, const char *word, bool *said);

#endif
