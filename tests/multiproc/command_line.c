/* SPDX-License-Identifier: BSD-2-Clause */
#include "command_line.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn.h"

void command_line_start(struct command_line *command, const char *const *arguments,
                        const char *input, const char *messages)
{
    (void)snprintf(command->messages, sizeof command->messages, "%s", messages);
    (void)fflush(NULL);
    command->pid = fork();
    SPAWN_CHECK(command->pid >= 0);
    if (command->pid > 0) return;
    const int in = open(input, O_RDONLY);
    const int out = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
    (void)execv(BOUND_COMMAND, (char *const *)(uintptr_t)arguments);
    _exit(127);
}

bool command_line_is_over(const struct command_line *command)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

int command_line_end(struct command_line *command, const char *word, bool *said)
{
    char text[1024] = "";
    int status;
    SPAWN_CHECK(waitpid(command->pid, &status, 0) == command->pid);
    FILE *file = fopen(command->messages, "r");
    SPAWN_CHECK(file != NULL);
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[bytes] = '\0';
    if (bytes > 0) printf("    the command has said: %s", text);
    *said = strstr(text, word) != NULL;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
