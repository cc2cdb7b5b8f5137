/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command.h: what a subcommand is, and what all of them share.
 *
 * A subcommand is one file with one `const struct command`, listed once in main.c.  main() takes
 * the options apart by the command's own list of them, so that run() starts with checked values.
 * Everything a user is told on standard error goes through cli_tell() and its relatives.
 */
#ifndef TAMIS_TOOLS_COMMAND_H
#define TAMIS_TOOLS_COMMAND_H

#include <stdint.h>

#include "options.h"
#include "out.h"
#include "tamis.h"

/* Exit status, as promised in tamis(1). */
enum { CLI_DONE = 0, CLI_NOTHING = 1, CLI_ERROR = 2 };

/* One call of the command line. */
struct invocation {
    const struct command *command;
    struct options options;
    char **args; /* what is left when the options are taken out */
    size_t arg_count;
    bool dashes;     /* a -- stood before them: none of them is an option by mistake */
    struct out *out; /* standard output; main() flushes it and answers for a failure */
};

struct command {
    const char *name;
    const char *summary;  /* a few words for `tamis help`                     */
    const char *operands; /* "NAME [KEY...]", for messages                    */
    const char *help;     /* all of `tamis NAME --help`                       */
    uint64_t options;     /* TAKES(...) of every option but --help and --store */
    uint32_t hashes_max;  /* greatest value of -k; 0: TAMIS_K_MAX            */
    size_t args_min;
    size_t args_max;
    int (*run)(struct invocation *call); /* returns the exit status */
};

extern const struct command cli_command_add;
extern const struct command cli_command_backup;
extern const struct command cli_command_build;
extern const struct command cli_command_calc;
extern const struct command cli_command_check;
extern const struct command cli_command_compare;
extern const struct command cli_command_count;
extern const struct command cli_command_create;
extern const struct command cli_command_doctor;
extern const struct command cli_command_drop;
extern const struct command cli_command_except;
extern const struct command cli_command_explain;
extern const struct command cli_command_export;
extern const struct command cli_command_generations;
extern const struct command cli_command_import;
extern const struct command cli_command_info;
extern const struct command cli_command_list;
extern const struct command cli_command_merge;
extern const struct command cli_command_remove;
extern const struct command cli_command_rename;
extern const struct command cli_command_repair;
extern const struct command cli_command_rollback;
extern const struct command cli_command_report;
extern const struct command cli_command_rotate;
extern const struct command cli_command_sync;
extern const struct command cli_command_verify;

/* ---- message.c ---------------------------------------------------------------------------- */

/* One line on standard error, prefixed "tamis: ", control characters made visible. */
void cli_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and CLI_ERROR, so that a command can `return cli_fail(...)`. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, followed by where the usage of the command is told. */
int cli_fail_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The library's sentence for its last error. */
int cli_fail_library(void);

/* A note of what a filter of that hash set costs its owner, where it is weak. */
void cli_tell_weakness(const char *hash_set);

/* malloc and realloc that end the program with a sentence where there is no memory. */
void *cli_alloc(size_t bytes);
void *cli_realloc(void *old, size_t bytes);
/* The first bytes of a text, with a NUL behind them. */
char *cli_copy(const char *text, size_t bytes);
void cli_no_memory(void) __attribute__((noreturn));

/* ---- open.c ------------------------------------------------------------------------------- */

/* The directory of the store: --store, $TAMIS_STORE, $XDG_STATE_HOME/tamis, ~/.local/state/tamis.
 * NULL, after a message, where none of them can be had.  The caller frees it. */
char *cli_store_path(const struct invocation *call);

/* `flags`, and what of them the options of every command say. */
unsigned cli_store_flags(const struct invocation *call, unsigned flags);

/* To open the store with: `flags`, what of them the options of every command say, and that it waits
 * for other processes as --wait says, and tells on standard error for whom. */
struct tamis_store_options cli_store_options(const struct invocation *call, unsigned flags);

/* Open the store for a command other than create; on failure a message and NULL. */
tamis_store *cli_store_open(const struct invocation *call, unsigned flags);

/* Open a filter; on failure a message, with the nearest name where the name is not there. */
tamis_filter *cli_filter_open(tamis_store *store, const char *name, unsigned flags);

/* Say once what is wrong with a filter that answers all the same: that keys may be missing. */
void cli_tell_trouble(tamis_filter *filter);
void cli_tell_trouble_of(const struct tamis_filter_stat *stat);

/* Close a filter and tell about a failure; returns status, or CLI_ERROR then. */
int cli_filter_close(tamis_filter *filter, int status);

/* Tell `sentence`, which is about a name that is not there, with the nearest name that is. */
int cli_fail_absent(tamis_store *store, const char *name, const char *sentence);

/* 1 if the store has a filter of that name, 0 if not, below 0 an error of the library. */
int cli_filter_exists(tamis_store *store, const char *name);

#endif
