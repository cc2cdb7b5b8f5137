/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command.h: what a subcommand is, and what all of them share.
 *
 * A subcommand is a file in commands/ with one `const struct command`, listed once in its group,
 * and its text in commands/help/.
 * main() takes the options apart by the command's own list of them, so that run() starts with
 * checked values.  Commands do not call each other: what two of them need is here, beside main.c.
 * Everything that a user is told on standard error goes through cli_tell() and its relatives.
 *
 * The headers that nearly every command needs come with this one, so that a command names only what
 * is its own.
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "json.h"
#include "memory.h"
#include "options.h"
#include "out.h"
#include "progress.h"
#include "tamis.h"
#include "text.h"

struct remote; /* remote/remote.h */
struct remote_filter;

/* Exit status, as promised in tamis(1). */
enum { CLI_DONE = 0, CLI_NOTHING = 1, CLI_ERROR = 2 };

/* One call of the command line. */
struct invocation {
    const struct command *command;
    struct options options;
    char **args; /* what is left when the options are taken out */
    size_t arg_count;
    bool dashes;          /* a -- stood before them, so the user means none of them as an option */
    struct out *out;      /* standard output; main() flushes it and answers for a failure */
    tamis_store *store;   /* open while cli_with_store() or cli_with_filter() runs */
    tamis_filter *filter; /* open while cli_with_filter() runs */
    struct remote *remote_store;  /* open while a command's run_remote() runs */
    struct remote_filter *remote; /* the same, of a server */
};

/* Whether one of these options (TAKES(...)) was given. */
static inline bool cli_given(const struct invocation *call, option_set set)
{
    return options_have(&call->options, set);
}

struct command {
    const char *name;
    const char *summary;  /* a few words for `tamis help`                     */
    const char *operands; /* "NAME [KEY...]": one or more, for messages too   */
    option_set options;   /* TAKES(...) of every option but --help, --store and TAKES_CONNECTION */
    uint32_t hashes_max;  /* greatest value of -k; 0: TAMIS_K_MAX            */
    bool tells_closed;    /* a message if the reader of its answers has gone */
    bool args_optional;   /* run() checks that there are enough operands     */
    /* What is open when run() begins: nothing, call->store, or call->filter too; and with which
     * flags of tamis_filter_open(). */
    enum { OPENS_NOTHING, OPENS_STORE, OPENS_FILTER } opens;
    unsigned flags;
    size_t keys_at; /* from this operand on they are keys, and checked first; 0: none is a key */
    int (*run)(struct invocation *call); /* returns the exit status */
    /* Does the same if the store is a server (remote.h), with call->remote_store, and call->remote
     * in place of call->filter.  NULL: the command works on directories only. */
    int (*run_remote)(struct invocation *call);
};

/* The commands in five groups, in the order of `tamis help`. */
/* clang-format off */
#define CLI_MAKES(X) X(create) X(calc) X(build) X(import) X(pull) X(merge)
#define CLI_ASKS(X) X(add) X(check) X(remove) X(count) X(except) X(uniq)
#define CLI_LOOKS(X) X(list) X(info) X(top) X(report) X(explain) X(compare) X(pages)
#define CLI_CHANGES(X) X(rename) X(drop) X(rotate) X(generations) X(rollback) X(export)
#define CLI_KEEPS(X) X(doctor) X(verify) X(repair) X(sync) X(backup) X(restore)
#define CLI_GROUPS(G) \
    G("make a filter", CLI_MAKES) \
    G("put keys in, and ask for keys", CLI_ASKS) \
    G("look at filters", CLI_LOOKS) \
    G("change what is there", CLI_CHANGES) \
    G("keep the store sound", CLI_KEEPS)
#define CLI_COMMANDS(X) \
    CLI_MAKES(X) CLI_ASKS(X) CLI_LOOKS(X) CLI_CHANGES(X) CLI_KEEPS(X)
/* clang-format on */

/* cli_help_NAME is all of `tamis NAME --help`: commands/help/NAME.txt, through texts.cmake. */
#define CLI_DECLARE(name)                                                                          \
    extern const struct command cli_command_##name;                                                \
    extern const char cli_help_##name[];
CLI_COMMANDS(CLI_DECLARE)

/* ---- message.c ---------------------------------------------------------------------------- */

/* Prints one line on standard error, behind "tamis: ", with control characters made visible. */
void cli_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does the same and returns CLI_ERROR, so that a command can `return cli_fail(...)`. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does the same, and says how to get the help of the command. */
int cli_fail_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tells the library's sentence for its last error.  Returns CLI_ERROR. */
int cli_fail_library(void);
/* After an error in showing what was done: says that it is done, that `name` `is`.  Returns
 * `status`; says nothing if that is CLI_DONE. */
int cli_say_done(int status, const char *name, const char *is);

/* Prints a note of what a weak hash set costs; nothing for the others. */
void cli_tell_weakness(const char *hash_set);

/* Tells that a signal stopped the command ("stopped by SIGINT"), and how far the work is.  Returns
 * the status of a program that a signal ended. */
int cli_interrupted(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- open.c ------------------------------------------------------------------------------- */

/* The directory of the store: --store, $TAMIS_STORE, $XDG_STATE_HOME/tamis, ~/.local/state/tamis.
 * NULL after a message if none of them is set.  The caller frees it. */
char *cli_store_path(const struct invocation *call);

/* `flags`, and those that the options of every command ask for. */
unsigned cli_store_flags(const struct invocation *call, unsigned flags);

/* What the store is opened with: cli_store_flags(), how long it waits for other processes (--wait),
 * and that it tells on standard error for whom it waits. */
struct tamis_store_options cli_store_options(const struct invocation *call, unsigned flags);

/* Is the store a server?  false too where none is named. */
bool cli_store_is_remote(const struct invocation *call);

/* Does the URL of the store, or of --from or --to, ask for TLS? */
bool cli_uses_tls(const struct invocation *call);

/* Has the build what talks to servers?  false after a message. */
bool cli_reaches_servers(void);

/* Connects to the store, which is a server, and runs `work` of the command. */
int cli_with_remote(struct invocation *call, int (*work)(struct invocation *call));

/* Opens the store for a command other than create.  Returns NULL after a message. */
tamis_store *cli_store_open(const struct invocation *call, unsigned flags);

/* Opens a filter.  Returns NULL after a message, which has the nearest name if there is no filter
 * of this one. */
tamis_filter *cli_filter_open(tamis_store *store, const char *name, unsigned flags);

/* Opens the store, runs `work`, which finds it in call->store, and closes it.  `flags` is as for
 * tamis_store_open().  Returns the exit status. */
int cli_with_store(struct invocation *call, unsigned flags, int (*work)(struct invocation *call));

/* Does the same with the filter that the first argument names, which is in call->filter.  `flags`
 * is as for tamis_filter_open(), and --populate and --no-sync add theirs.  `work` may close the
 * filter itself and leaves NULL in call->filter then.  In run_remote() it is a filter of the
 * server, and in call->remote. */
int cli_with_filter(struct invocation *call, unsigned flags, int (*work)(struct invocation *call));

/* What is known of the filter that is open, here or on a server.  The exit status. */
int cli_stat(const struct invocation *call, struct tamis_filter_stat *stat);

/* Warns if a filter may miss keys although it still answers: it is damaged, unclean or degraded. */
void cli_tell_trouble(tamis_filter *filter);
void cli_tell_trouble_of(const struct tamis_filter_stat *stat);

/* Closes a filter.  Returns `status`, or CLI_ERROR after a message. */
int cli_filter_close(tamis_filter *filter, int status);

/* Tells the library's sentence for `error`, with the nearest name if no filter has that name.
 * Returns CLI_ERROR. */
int cli_fail_named(tamis_store *store, const char *name, int64_t error);

/* Tells `sentence`, which is about a name that no filter has, with the nearest name of one. Returns
 * CLI_ERROR. */
int cli_fail_absent(tamis_store *store, const char *name, const char *sentence);

/* Lists the arguments of the call, each once; without arguments all names of the store.  Returns
 * CLI_DONE, or CLI_ERROR after a message; either way the caller clears *names. */
struct names;
int cli_names(struct names *names, const struct invocation *call);

/* 1 if the store has a filter of that name, 0 if not, below 0 an error of the library. */
int cli_filter_exists(tamis_store *store, const char *name);

/* ---- wait.c ------------------------------------------------------------------------------- */

/* The busy_fn of a store.  It is called once a second, and tells the user at the first call, when
 * another process has taken the lock, and every ten seconds.  Always 0: the waiting goes on. */
int wait_tell(void *context, int64_t waited_ms, int64_t holder);
