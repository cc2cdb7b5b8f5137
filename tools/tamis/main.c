/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: the `tamis` command.
 *
 *     tamis [--store DIR] COMMAND [ARGS]
 *
 * Finds the command (help.h), has its options taken apart and runs it.  Answers for
 * standard output: what a command printed counts as done only when it was written.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "command.h"
#include "help.h"
#include "input/keys.h"
#include "redis_url.h"

/* A descriptor that is closed at the start would become the first file that is opened: messages
 * would go into the store.  Closed ones are opened so that their use fails, as it should. */
static void open_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(CLI_ERROR);
    }
}

/* tamis help [COMMAND] */
static int run_help(struct out *out, int argc, char **argv)
{
    if (argc > 2) return cli_fail("unexpected argument '%s': help takes [COMMAND]", argv[2]);
    const bool on_itself =
        argc == 2 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "version") == 0);
    if (argc < 2 || argv[1][0] == '-' || on_itself) {
        help_print_all(out);
        return CLI_DONE;
    }
    const struct command *command = help_find(argv[1]);
    if (command == NULL) return help_fail_unknown(argv[1]);
    help_print_command(out, command, false);
    return CLI_DONE;
}

/* Options that make no difference to the store, or to the server of --from or --to, are told. */
static bool options_fit_store(struct invocation *call)
{
    const bool is_remote = cli_store_is_remote(call);
    const bool has_peer =
        cli_given(call, TAKES(FROM) | TAKES(TO)) && redis_is_url(call->options.peer);
    if (is_remote && call->command->run_remote == NULL) return true; /* cli_store_path() tells it */
    if (is_remote &&
        !options_none(call, TAKES_OF_DIRECTORY, "goes with a store that is a directory"))
        return false;
    if (is_remote && !options_none(call, TAKES(WAIT),
                                   "is for the lock of a store that is a directory; of a server, "
                                   "--timeout is the limit, and --replicas waits for replicas"))
        return false;
    if (call->command->options & TAKES(RETRY)) return true; /* a URL is among the arguments */
    if (!is_remote && !has_peer)
        return options_none(call, TAKES_OF_SERVER, "goes with a store that is a server");
    return cli_uses_tls(call) || options_none(call, TAKES_TLS, "goes with TLS: rediss://...");
}

static int run_on_server(struct invocation *call)
{
    const struct command *command = call->command;
    return command->opens == OPENS_FILTER ? cli_with_filter(call, 0, command->run_remote)
                                          : command->run_remote(call);
}

/* Opens what the command needs, and runs it. */
static int run_opened(struct invocation *call)
{
    const struct command *command = call->command;
    if (command->keys_at && !key_source_can_be(call, command->keys_at)) return CLI_ERROR;
    if (!options_fit_store(call)) return CLI_ERROR;
    if (command->run_remote != NULL && cli_store_is_remote(call))
        return cli_with_remote(call, run_on_server);
    if (command->opens == OPENS_STORE) return cli_with_store(call, command->flags, command->run);
    if (command->opens == OPENS_FILTER) return cli_with_filter(call, command->flags, command->run);
    return command->run(call);
}

static int print_version(struct out *out)
{
    out_format(out, "tamis %s\n", tamis_version());
    return CLI_DONE;
}

static int run_version(struct out *out, int argc, char **argv)
{
    if (argc > 1) return cli_fail("unexpected argument '%s': version takes none", argv[1]);
    return print_version(out);
}

static int run_command(const struct options *global, struct out *out, int argc, char **argv)
{
    if (strcmp(argv[0], "help") == 0) return run_help(out, argc, argv);
    if (strcmp(argv[0], "version") == 0) return run_version(out, argc, argv);
    struct invocation call = {.command = help_find(argv[0]), .options = *global, .out = out};
    if (call.command == NULL) return help_fail_unknown(argv[0]);
    int status = CLI_ERROR;
    out->tells_closed = call.command->tells_closed;
    const bool parsed = options_parse(&call, argc, argv);
    if (parsed && cli_given(&call, TAKES(HELP))) {
        help_print_command(out, call.command, call.options.brief_help);
        status = CLI_DONE;
    } else if (parsed) {
        status = run_opened(&call);
    }
    options_clear(&call.options);
    return status;
}

static int run_arguments(struct out *out, int argc, char **argv)
{
    struct options options = {0};
    int index = options_parse_global(&options, argc, argv);
    if (index < 0) return CLI_ERROR;
    if (options_have(&options, TAKES(HELP))) {
        (options.brief_help ? help_print_overview : help_print_all)(out);
        return CLI_DONE;
    }
    if (options_have(&options, TAKES(VERSION))) return print_version(out);
    if (index == argc) {
        help_print_overview(out);
        return cli_fail("no command is given");
    }
    return run_command(&options, out, argc - index, argv + index);
}

int main(int argc, char **argv)
{
    open_standard_descriptors();
    /* A file that is too large becomes an error with a sentence.  A closed pipe too, where the
     * reader is told what was changed; any other output ends in silence when nobody reads it
     * (out.h). */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct out out;
    out_init(&out, STDOUT_FILENO);
    int status = run_arguments(&out, argc, argv);
    /* The status of a command that was stopped by a signal is kept, because it says more. */
    if (!out_finish(&out) && status <= CLI_ERROR) status = CLI_ERROR;
    out_clear(&out);
    if (status <= CLI_ERROR) out_end_if_closed();
    return status;
}
