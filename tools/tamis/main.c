/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: the `tamis` command.
 *
 *     tamis [--store DIR] COMMAND [ARGS]
 *
 * Finds the command in the table below, has its options taken apart and runs it.  Answers for
 * standard output: what a command printed counts as done only when it was written.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "command.h"
#include "fields.h"
#include "keys.h"
#include "redis_url.h"

#define COMMAND_ADDRESS(name) &cli_command_##name,
static const struct command *const COMMANDS[] = {CLI_COMMANDS(COMMAND_ADDRESS)};
#define COMMAND_COUNT (sizeof COMMANDS / sizeof *COMMANDS)
#define COMMAND_HELP(name) cli_help_##name,
static const char *const HELPS[] = {CLI_COMMANDS(COMMAND_HELP)};

static const char USAGE[] =
    "usage: tamis [--store DIR|URL] [--wait SECONDS] [--force-network-fs]\n"
    "             [--timeout SECONDS] [--cacert FILE] [--cert FILE --key FILE] [--insecure]\n"
    "             COMMAND [ARGS]\n"
    "       tamis help [COMMAND]\n"
    "       tamis version\n"
    "\n"
    "Filters that many processes share and that survive restarts without loading.\n"
    "\n"
    "commands:\n";

static const char USAGE_END[] =
    "\n"
    "The store is a directory: --store DIR, else $TAMIS_STORE, else $XDG_STATE_HOME/tamis,\n"
    "else ~/.local/state/tamis.  Or it is a Redis server or cluster with the module tamis.so, for\n"
    "all commands that need no files: --store redis://HOST:PORT, or rediss:// by TLS.\n"
    "'tamis COMMAND --help' tells all of a command.  'ls', 'mv' and 'rm' are other names of "
    "'list',\n"
    "'rename' and 'drop'; 'tamis --version' and 'tamis -V' are 'tamis version'.\n"
    "A command that must wait for another process waits 10 seconds at most; --wait sets another\n"
    "limit.  When a server or cluster answers nothing for 30 seconds, it is given up; --timeout\n"
    "sets another limit.  Of TLS, --cacert names the authority that is trusted instead of those "
    "of\n"
    "the system, --cert and --key are the client's own, and --insecure trusts everybody.  Options\n"
    "of a connection may also stand behind a command.\n"
    "On NFS, SMB and the like a store is refused; --force-network-fs takes the risk.\n"
    "\n"
    "exit status: 0 done; 1 nothing matched; 2 an error, told on standard error\n";

/* A descriptor that is closed at the start would become the first file that is opened: messages
 * would go into the store.  Closed ones are opened so that their use fails, as it should. */
static void open_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(CLI_ERROR);
    }
}

/* Names that other programs have for what a command does. */
static const struct {
    const char *alias, *name;
} ALIASES[] = {{"ls", "list"}, {"mv", "rename"}, {"rm", "drop"}};
#define ALIAS_COUNT (sizeof ALIASES / sizeof *ALIASES)

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (strcmp(ALIASES[i].alias, name) == 0) return find_command(ALIASES[i].name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(COMMANDS[i]->name, name) == 0) return COMMANDS[i];
    return NULL;
}

static int fail_unknown_command(const char *name)
{
    struct text_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        text_nearest_offer(&nearest, COMMANDS[i]->name);
    text_nearest_offer(&nearest, "help");
    text_nearest_offer(&nearest, "version");
    if (nearest.name != NULL)
        return cli_fail("unknown command '%s'; did you mean '%s'?", name, nearest.name);
    return cli_fail("unknown command '%s'; 'tamis help' lists the commands", name);
}

static void print_usage(struct out *out)
{
    out_text(out, USAGE);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        out_format(out, "  %-11s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    out_text(out, USAGE_END);
}

/* Frees `names`, and returns them with one more. */
static char *add_name(char *names, const char *name)
{
    char *longer = cli_format("%s%s%s", names, names[0] ? " " : "", name);
    free(names);
    return longer;
}

static char *hash_set_names(void)
{
    char *names = cli_strdup("");
    for (const char *set = tamis_hash_set_next(NULL); set != NULL; set = tamis_hash_set_next(set))
        names = add_name(names, set);
    return names;
}

/* The kinds without one of these properties. */
static char *kind_names_without(uint32_t property)
{
    char *names = cli_strdup("");
    for (uint32_t kind = tamis_kind_next(TAMIS_KIND_DEFAULT); kind != TAMIS_KIND_DEFAULT;
         kind = tamis_kind_next(kind))
        if (property == 0 || !tamis_kind_has(kind, property))
            names = add_name(names, tamis_kind_name(kind));
    return names;
}

static char *kind_names(void)
{
    return kind_names_without(0);
}

static char *created_kind_names(void)
{
    return kind_names_without(TAMIS_KIND_IS_STATIC);
}

static char *built_kind_names(void)
{
    return kind_names_without(TAMIS_KIND_COUNTS);
}

/* Where a help has a mark, a list that the library knows is printed as a paragraph. */
static const struct {
    const char *mark, *begin;
    char *(*names)(void); /* with spaces between them; the caller frees them */
} lists[] = {
    {"@fields@", "fields:", field_names},
    {"@kinds@", "kinds:", kind_names},
    {"@created_kinds@", "kinds:", created_kind_names},
    {"@built_kinds@", "kinds:", built_kind_names},
    {"@hash_sets@", "hash sets:", hash_set_names},
};

/* Prints the names in lines like those around them in the help. */
static void print_names(struct out *out, const char *begin, char *names)
{
    const size_t width = 88, indent = strlen(begin);
    size_t column = indent;
    out_text(out, begin);
    for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
        if (column + 1 + strlen(name) > width) {
            out_format(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        out_format(out, " %s", name);
        column += 1 + strlen(name);
    }
}

static void print_help_text(struct out *out, const char *text)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *mark = strstr(text, lists[i].mark);
        if (mark == NULL) continue;
        char *names = lists[i].names();
        out_format(out, "%.*s", (int)(mark - text), text);
        print_names(out, lists[i].begin, names);
        free(names);
        text = mark + strlen(lists[i].mark);
    }
    out_text(out, text);
}

/* Prints all that `tamis NAME --help` says; returns the exit status. */
static int print_help(struct out *out, const struct command *command)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (COMMANDS[i] == command) print_help_text(out, HELPS[i]);
    return CLI_DONE;
}

/* tamis help [COMMAND] */
static int run_help(struct out *out, int argc, char **argv)
{
    if (argc > 2) return cli_fail("unexpected argument '%s': help takes [COMMAND]", argv[2]);
    const bool on_itself =
        argc == 2 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "version") == 0);
    if (argc < 2 || argv[1][0] == '-' || on_itself) {
        print_usage(out);
        return CLI_DONE;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL) return fail_unknown_command(argv[1]);
    return print_help(out, command);
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
    struct invocation call = {.command = find_command(argv[0]), .options = *global, .out = out};
    if (call.command == NULL) return fail_unknown_command(argv[0]);
    int status = CLI_ERROR;
    const bool parsed = options_parse(&call, argc, argv);
    if (parsed && cli_given(&call, TAKES(HELP))) {
        status = print_help(out, call.command);
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
        print_usage(out);
        return CLI_DONE;
    }
    if (options_have(&options, TAKES(VERSION))) return print_version(out);
    if (index == argc) return cli_fail_usage(NULL, "no command is given");
    return run_command(&options, out, argc - index, argv + index);
}

int main(int argc, char **argv)
{
    open_standard_descriptors();
    /* A closed pipe and a file that is too large become errors with a sentence. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct out out;
    out_init(&out, STDOUT_FILENO);
    int status = run_arguments(&out, argc, argv);
    /* The status of a command that was stopped by a signal is kept, because it says more. */
    if (!out_finish(&out) && status <= CLI_ERROR) status = CLI_ERROR;
    out_clear(&out);
    return status;
}
