/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: every option of every command, once; see options.h. */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number.h"
#include "tamis_build.h"

/* What getopt_long() returns: a letter, or this plus the id for an option's long form. */
#define FIRST_LONG 256

#define THREADS_MAX 1024 /* of --threads: a slip of the hand ends here */

static const struct {
    const char *name;
    const char *shown; /* in messages */
    int argument;
    char letter;
} OPTIONS[OPTION_IDS] = {
    [OPTION_HELP] = {"help", "--help", no_argument, 'h'},
    [OPTION_VERSION] = {"version", "-V/--version", no_argument, 'V'},
    [OPTION_STORE] = {"store", "--store", required_argument, 0},
    [OPTION_JSON] = {"json", "--json", no_argument, 0},
    [OPTION_CAPACITY] = {"capacity", "-n/--capacity", required_argument, 'n'},
    [OPTION_RATE] = {"rate", "-p/--rate", required_argument, 'p'},
    [OPTION_BITS] = {"bits", "-m/--bits", required_argument, 'm'},
    [OPTION_HASHES] = {"hashes", "-k/--hashes", required_argument, 'k'},
    [OPTION_KIND] = {"kind", "--kind", required_argument, 0},
    [OPTION_HASH_SET] = {"hash-set", "--hash-set", required_argument, 0},
    [OPTION_SEED] = {"seed", "--seed", required_argument, 0},
    [OPTION_LIKE] = {"like", "--like", required_argument, 0},
    [OPTION_IF_MISSING] = {"if-missing", "--if-missing", no_argument, 0},
    [OPTION_NEW] = {"new", "--new", no_argument, 0},
    [OPTION_SEEN] = {"seen", "--seen", no_argument, 0},
    [OPTION_STATS] = {"stats", "--stats", no_argument, 0},
    [OPTION_ZERO] = {"null", "-z/--null", no_argument, 'z'},
    [OPTION_HEX] = {"hex", "--hex", no_argument, 0},
    [OPTION_PROGRESS] = {"progress", "--progress", no_argument, 0},
    [OPTION_NO_PROGRESS] = {"no-progress", "--no-progress", no_argument, 0},
    [OPTION_INVERT] = {"invert", "-v/--invert", no_argument, 'v'},
    [OPTION_COUNT] = {"count", "-c/--count", no_argument, 'c'},
    [OPTION_QUIET] = {"quiet", "-q/--quiet", no_argument, 'q'},
    [OPTION_MEMORY] = {"memory", "--memory", required_argument, 0},
    [OPTION_TABLE] = {"table", "--table", no_argument, 0},
    [OPTION_FROM] = {"from", "--from", required_argument, 0},
    [OPTION_TO] = {"to", "--to", required_argument, 0},
    [OPTION_SEAL] = {"seal", "--seal", no_argument, 0},
    [OPTION_FORCE] = {"force", "--force", no_argument, 0},
    [OPTION_INTERSECT] = {"intersect", "--intersect", no_argument, 0},
    [OPTION_ON_FULL] = {"on-full", "--on-full", required_argument, 0},
    [OPTION_WINDOW] = {"window", "--window", required_argument, 0},
    [OPTION_DURABLE] = {"durable", "--durable", no_argument, 0},
    [OPTION_SLICES] = {"slices", "--slices", required_argument, 0},
    [OPTION_COUNTER_BITS] = {"counter-bits", "--counter-bits", required_argument, 0},
    [OPTION_COMMENTS] = {"comments", "--comments", optional_argument, 0},
    [OPTION_SKIP_BLANK] = {"skip-blank", "--skip-blank", no_argument, 0},
    [OPTION_CRLF] = {"crlf", "--crlf", no_argument, 0},
    [OPTION_THREADS] = {"threads", "--threads", required_argument, 0},
    [OPTION_KEEP] = {"keep", "--keep", required_argument, 0},
    [OPTION_IF_CHANGED] = {"if-changed", "--if-changed", no_argument, 0},
    [OPTION_ALLOW_EMPTY] = {"allow-empty", "--allow-empty", no_argument, 0},
    [OPTION_EXCEPT] = {"except", "--except", required_argument, 0},
    [OPTION_AGAINST] = {"against", "--against", required_argument, 0},
    [OPTION_DRY_RUN] = {"dry-run", "--dry-run", no_argument, 0},
    [OPTION_REBUILD] = {"rebuild", "--rebuild", no_argument, 0},
    [OPTION_OUTPUT] = {"output", "-o/--output", required_argument, 'o'},
    [OPTION_ALL] = {"all", "--all", no_argument, 0},
    [OPTION_WITH_KEY] = {"with-key", "--with-key", no_argument, 0},
    [OPTION_MODE] = {"mode", "--mode", required_argument, 0},
    [OPTION_FORCE_NETWORK_FS] = {"force-network-fs", "--force-network-fs", no_argument, 0},
    [OPTION_SYNC_INTERVAL] = {"sync-interval", "--sync-interval", required_argument, 0},
    [OPTION_NO_SYNC] = {"no-sync", "--no-sync", no_argument, 0},
    [OPTION_POPULATE] = {"populate", "--populate", no_argument, 0},
    [OPTION_ACCEPT] = {"accept", "--accept", no_argument, 0},
    [OPTION_FILE] = {"file", "--file", required_argument, 0},
    [OPTION_RECORDED] = {"recorded", "--recorded", no_argument, 0},
    [OPTION_WAIT] = {"wait", "--wait", required_argument, 0},
};

/* What getopt_long() wants to be given, for one set of options. */
struct getopt_tables {
    char letters[2 * OPTION_IDS + 3];    /* mode, each letter with a colon, NUL */
    struct option longs[OPTION_IDS + 1]; /* and one of zeroes */
};

/* `mode` begins the letters: ":" has missing arguments told apart, "+" stops at the first
 * non-option. */
static void fill_tables(struct getopt_tables *tables, const char *mode, uint64_t set)
{
    *tables = (struct getopt_tables){0};
    char *letter = stpcpy(tables->letters, mode);
    struct option *entry = tables->longs;
    for (int id = 0; id < OPTION_IDS; id++) {
        if (!(set & (UINT64_C(1) << id))) continue;
        *entry++ = (struct option){OPTIONS[id].name, OPTIONS[id].argument, NULL, FIRST_LONG + id};
        if (!OPTIONS[id].letter) continue;
        *letter++ = OPTIONS[id].letter;
        if (OPTIONS[id].argument == required_argument) *letter++ = ':';
    }
}

/* The option that getopt_long() returned, or complains of; OPTION_IDS for one that it has not. */
static int option_of(int value)
{
    if (value >= FIRST_LONG) return value - FIRST_LONG;
    for (int id = 0; id < OPTION_IDS; id++)
        if (OPTIONS[id].letter && OPTIONS[id].letter == value) return id;
    return OPTION_IDS;
}

/* getopt_long() returned '?' or ':': say why.  `argument` is what it was looking at. */
static bool tell_bad_option(const struct command *command, int result, const char *argument)
{
    if (result == ':')
        cli_fail_usage(command, "option %s needs a value", OPTIONS[option_of(optopt)].shown);
    else if (optopt >= FIRST_LONG)
        cli_fail_usage(command, "option --%s takes no value", OPTIONS[option_of(optopt)].name);
    else if (optopt != 0)
        cli_fail_usage(command, "unknown option '-%c'", optopt);
    else
        cli_fail_usage(command, "unknown option '%s'", argument);
    return false;
}

static bool take_small(const char *shown, const char *value, uint64_t least, uint64_t most,
                       uint32_t *small)
{
    uint64_t number = 0;
    if (!number_between(shown, value, least, most, &number)) return false;
    *small = (uint32_t)number;
    return true;
}

static bool take_number(const struct command *command, struct options *options, int id,
                        const char *value)
{
    const char *shown = OPTIONS[id].shown;
    uint64_t k_max;
    switch (id) {
    case OPTION_CAPACITY:
        return number_count(shown, value, &options->capacity);
    case OPTION_RATE:
        return number_rate(shown, value, &options->fp_rate);
    case OPTION_BITS:
        return number_bits(shown, value, &options->m_bits);
    case OPTION_HASHES:
        k_max = command && command->hashes_max ? command->hashes_max : TAMIS_K_MAX;
        return take_small(shown, value, 1, k_max, &options->k);
    case OPTION_COUNTER_BITS: /* which of them the library takes, it says */
        return take_small(shown, value, 4, 32, &options->counter_bits);
    case OPTION_SEED:
        return number_seed(shown, value, &options->seed);
    case OPTION_MEMORY:
        return number_size(shown, value, &options->memory_bytes);
    case OPTION_WINDOW:
        return number_window(shown, value, &options->window_ns, &options->window_items);
    case OPTION_SYNC_INTERVAL:
        return number_duration(shown, value, &options->sync_interval_ns);
    case OPTION_WAIT:
        return number_wait(shown, value, &options->wait_ms);
    case OPTION_SLICES:
        return take_small(shown, value, 1, TAMIS_SLICES_MAX, &options->slices);
    case OPTION_THREADS:
        return take_small(shown, value, 1, THREADS_MAX, &options->threads);
    case OPTION_KEEP:
        return take_small(shown, value, 0, TAMIS_KEEP_MAX, &options->keep);
    default:
        return true; /* has no value */
    }
}

/* Which of them a store can have the library says; a 0 in front is not needed. */
static bool take_mode(const char *value, uint32_t *mode)
{
    char *end;
    const unsigned long number = strtoul(value, &end, 8);
    if (strspn(value, "01234567") >= 3 && *end == '\0' && number > 0 && number <= 0777) {
        *mode = (uint32_t)number;
        return true;
    }
    cli_tell("--mode: '%s' is not accepted; give it in octal digits, such as 0660 or 0644", value);
    return false;
}

static bool take_on_full(const char *value, uint32_t *on_full)
{
    for (*on_full = TAMIS_ON_FULL_GROW; tamis_on_full_name(*on_full) != NULL; ++*on_full)
        if (strcmp(tamis_on_full_name(*on_full), value) == 0) return true;
    cli_tell("--on-full: '%s' is not accepted; give grow, refuse or warn", value);
    return false;
}

/* --comments or --comments=PREFIX; an empty one would make every line a comment. */
static bool take_comments(const char *value, const char **comments)
{
    *comments = value ? value : "#";
    if (**comments) return true;
    cli_tell("--comments: give what a comment begins with, or --comments alone for #");
    return false;
}

static bool take_file(const char *value, struct option_files *files)
{
    files->paths = cli_realloc(files->paths, (files->count + 1) * sizeof *files->paths);
    files->paths[files->count++] = value;
    return true;
}

void options_clear(struct options *options)
{
    free(options->except.paths);
    free(options->against.paths);
    free(options->files.paths);
}

static bool take_option(const struct command *command, struct options *options, int id,
                        const char *value)
{
    options->given |= UINT64_C(1) << id;
    switch (id) {
    case OPTION_STORE:
        options->store = value;
        if (*value) return true;
        cli_tell("--store needs the name of a directory, not an empty one");
        return false;
    case OPTION_KIND:
        if (tamis_kind_from_name(value, &options->kind) == 0) return true;
        cli_fail_library();
        return false;
    case OPTION_HASH_SET:
        options->hash_set = value;
        return true;
    case OPTION_COMMENTS:
        return take_comments(value, &options->comments);
    case OPTION_EXCEPT:
        return take_file(value, &options->except);
    case OPTION_AGAINST:
        return take_file(value, &options->against);
    case OPTION_FILE:
        return take_file(value, &options->files);
    case OPTION_OUTPUT:
        options->output = value;
        return true;
    case OPTION_MODE:
        return take_mode(value, &options->mode);
    case OPTION_ON_FULL:
        return take_on_full(value, &options->on_full);
    case OPTION_LIKE:
        options->like = value;
        return true;
    case OPTION_FROM:
    case OPTION_TO:
        options->peer = value;
        return true;
    default:
        return take_number(command, options, id, value);
    }
}

/* Take options up to the end, or to the first argument in mode "+:". */
static bool take_options(struct options *options, const struct command *command,
                         const struct getopt_tables *tables, int argc, char **argv)
{
    opterr = 0;
    optind = 0; /* glibc: begin afresh, for the second round of options */
    for (;;) {
        optopt = 0;
        int result = getopt_long(argc, argv, tables->letters, tables->longs, NULL);
        if (result == -1) return true;
        if (result == '?' || result == ':')
            return tell_bad_option(command, result, argv[optind - 1]);
        if (!take_option(command, options, option_of(result), optarg)) return false;
    }
}

static bool arguments_fit(const struct invocation *call)
{
    const struct command *command = call->command;
    if (call->arg_count < command->args_min)
        cli_fail_usage(command, "arguments are missing: %s takes %s", command->name,
                       command->operands);
    else if (call->arg_count > command->args_max)
        cli_fail_usage(command, "argument '%s' is one too many: %s takes %s",
                       call->args[command->args_max], command->name, command->operands);
    else
        return true;
    return false;
}

bool options_parse(struct invocation *call, int argc, char **argv)
{
    struct getopt_tables tables;
    fill_tables(&tables, ":", call->command->options | TAKES(HELP) | TAKES(STORE));
    if (!take_options(&call->options, call->command, &tables, argc, argv)) return false;
    call->args = argv + optind;
    call->arg_count = (size_t)(argc - optind);
    call->dashes = strcmp(argv[optind - 1], "--") == 0;
    return options_have(&call->options, TAKES(HELP)) || arguments_fit(call);
}

int options_parse_global(struct options *options, int argc, char **argv)
{
    struct getopt_tables tables;
    fill_tables(
        &tables,
        "+:", TAKES(HELP) | TAKES(STORE) | TAKES(VERSION) | TAKES(FORCE_NETWORK_FS) | TAKES(WAIT));
    return take_options(options, NULL, &tables, argc, argv) ? optind : -1;
}

bool options_exclusive(const struct invocation *call, uint64_t set)
{
    int first = OPTION_IDS;
    for (int id = 0; id < OPTION_IDS; id++) {
        if (!(call->options.given & set & (UINT64_C(1) << id))) continue;
        if (first != OPTION_IDS) {
            cli_fail_usage(call->command, "%s and %s exclude each other", OPTIONS[first].shown,
                           OPTIONS[id].shown);
            return false;
        }
        first = id;
    }
    return true;
}
