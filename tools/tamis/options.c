/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: every option of every command, once; see options.h. */
#include "options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number.h"
#include "tamis_build.h"

/* What getopt_long() returns: a letter, or this plus the id for an option's long form. */
#define FIRST_LONG 256

#define THREADS_MAX 1024 /* of --threads: a slip of the hand ends here */

/* What an option's value is; the number_...() calls of number.h say what they accept. */
enum value {
    VALUE_NONE,     /* the option takes no value                                     */
    VALUE_TEXT,     /* const char *                                                  */
    VALUE_STORE,    /* the same, not empty                                           */
    VALUE_COMMENTS, /* the same, may be left out                                     */
    VALUE_FILE,     /* struct option_files; each use of the option adds one          */
    VALUE_COUNT,    /* uint64_t, as the next three                                   */
    VALUE_BITS,
    VALUE_SIZE,
    VALUE_SEED,
    VALUE_RATE,     /* double                                                        */
    VALUE_SMALL,    /* uint32_t from `least` to `most`                               */
    VALUE_HASHES,   /* uint32_t from 1 to what the command takes                     */
    VALUE_KIND,     /* uint32_t TAMIS_KIND_*                                         */
    VALUE_ON_FULL,  /* uint32_t TAMIS_ON_FULL_*                                      */
    VALUE_MODE,     /* uint32_t, octal                                               */
    VALUE_DURATION, /* int64_t, nanoseconds                                          */
    VALUE_WAIT,     /* int64_t, milliseconds                                         */
    VALUE_WINDOW,   /* window_ns or window_items                                     */
};

#define AT(member) offsetof(struct options, member)

static const struct {
    const char *name;
    const char *shown; /* in messages */
    char letter;
    enum value value;
    size_t at; /* of the value in struct options */
    uint32_t least, most;
} OPTIONS[OPTION_IDS] = {
    [OPTION_HELP] = {"help", "--help", 'h', VALUE_NONE},
    [OPTION_VERSION] = {"version", "-V/--version", 'V', VALUE_NONE},
    [OPTION_STORE] = {"store", "--store", 0, VALUE_STORE, AT(store)},
    [OPTION_JSON] = {"json", "--json", 0, VALUE_NONE},
    [OPTION_CAPACITY] = {"capacity", "-n/--capacity", 'n', VALUE_COUNT, AT(capacity)},
    [OPTION_RATE] = {"rate", "-p/--rate", 'p', VALUE_RATE, AT(fp_rate)},
    [OPTION_BITS] = {"bits", "-m/--bits", 'm', VALUE_BITS, AT(m_bits)},
    [OPTION_HASHES] = {"hashes", "-k/--hashes", 'k', VALUE_HASHES, AT(k)},
    [OPTION_KIND] = {"kind", "--kind", 0, VALUE_KIND, AT(kind)},
    [OPTION_HASH_SET] = {"hash-set", "--hash-set", 0, VALUE_TEXT, AT(hash_set)},
    [OPTION_SEED] = {"seed", "--seed", 0, VALUE_SEED, AT(seed)},
    [OPTION_LIKE] = {"like", "--like", 0, VALUE_TEXT, AT(like)},
    [OPTION_IF_MISSING] = {"if-missing", "--if-missing", 0, VALUE_NONE},
    [OPTION_NEW] = {"new", "--new", 0, VALUE_NONE},
    [OPTION_SEEN] = {"seen", "--seen", 0, VALUE_NONE},
    [OPTION_STATS] = {"stats", "--stats", 0, VALUE_NONE},
    [OPTION_ZERO] = {"null", "-z/--null", 'z', VALUE_NONE},
    [OPTION_HEX] = {"hex", "--hex", 0, VALUE_NONE},
    [OPTION_PROGRESS] = {"progress", "--progress", 0, VALUE_NONE},
    [OPTION_NO_PROGRESS] = {"no-progress", "--no-progress", 0, VALUE_NONE},
    [OPTION_INVERT] = {"invert", "-v/--invert", 'v', VALUE_NONE},
    [OPTION_COUNT] = {"count", "-c/--count", 'c', VALUE_NONE},
    [OPTION_QUIET] = {"quiet", "-q/--quiet", 'q', VALUE_NONE},
    [OPTION_MEMORY] = {"memory", "--memory", 0, VALUE_SIZE, AT(memory_bytes)},
    [OPTION_TABLE] = {"table", "--table", 0, VALUE_NONE},
    [OPTION_FROM] = {"from", "--from", 0, VALUE_TEXT, AT(peer)},
    [OPTION_TO] = {"to", "--to", 0, VALUE_TEXT, AT(peer)},
    [OPTION_SEAL] = {"seal", "--seal", 0, VALUE_NONE},
    [OPTION_FORCE] = {"force", "--force", 0, VALUE_NONE},
    [OPTION_INTERSECT] = {"intersect", "--intersect", 0, VALUE_NONE},
    [OPTION_ON_FULL] = {"on-full", "--on-full", 0, VALUE_ON_FULL, AT(on_full)},
    [OPTION_WINDOW] = {"window", "--window", 0, VALUE_WINDOW},
    [OPTION_DURABLE] = {"durable", "--durable", 0, VALUE_NONE},
    [OPTION_SLICES] = {"slices", "--slices", 0, VALUE_SMALL, AT(slices), 1, TAMIS_SLICES_MAX},
    [OPTION_COUNTER_BITS] = {"counter-bits", "--counter-bits", 0, VALUE_SMALL, AT(counter_bits), 4,
                             32},
    [OPTION_COMMENTS] = {"comments", "--comments", 0, VALUE_COMMENTS, AT(comments)},
    [OPTION_SKIP_BLANK] = {"skip-blank", "--skip-blank", 0, VALUE_NONE},
    [OPTION_CRLF] = {"crlf", "--crlf", 0, VALUE_NONE},
    [OPTION_THREADS] = {"threads", "--threads", 0, VALUE_SMALL, AT(threads), 1, THREADS_MAX},
    [OPTION_KEEP] = {"keep", "--keep", 0, VALUE_SMALL, AT(keep), 0, TAMIS_KEEP_MAX},
    [OPTION_IF_CHANGED] = {"if-changed", "--if-changed", 0, VALUE_NONE},
    [OPTION_ALLOW_EMPTY] = {"allow-empty", "--allow-empty", 0, VALUE_NONE},
    [OPTION_EXCEPT] = {"except", "--except", 0, VALUE_FILE, AT(except)},
    [OPTION_AGAINST] = {"against", "--against", 0, VALUE_FILE, AT(against)},
    [OPTION_DRY_RUN] = {"dry-run", "--dry-run", 0, VALUE_NONE},
    [OPTION_REBUILD] = {"rebuild", "--rebuild", 0, VALUE_NONE},
    [OPTION_OUTPUT] = {"output", "-o/--output", 'o', VALUE_TEXT, AT(output)},
    [OPTION_ALL] = {"all", "--all", 0, VALUE_NONE},
    [OPTION_WITH_KEY] = {"with-key", "--with-key", 0, VALUE_NONE},
    [OPTION_MODE] = {"mode", "--mode", 0, VALUE_MODE, AT(mode)},
    [OPTION_FORCE_NETWORK_FS] = {"force-network-fs", "--force-network-fs", 0, VALUE_NONE},
    [OPTION_SYNC_INTERVAL] = {"sync-interval", "--sync-interval", 0, VALUE_DURATION,
                              AT(sync_interval_ns)},
    [OPTION_NO_SYNC] = {"no-sync", "--no-sync", 0, VALUE_NONE},
    [OPTION_POPULATE] = {"populate", "--populate", 0, VALUE_NONE},
    [OPTION_ACCEPT] = {"accept", "--accept", 0, VALUE_NONE},
    [OPTION_FILE] = {"file", "--file", 0, VALUE_FILE, AT(files)},
    [OPTION_RECORDED] = {"recorded", "--recorded", 0, VALUE_NONE},
    [OPTION_WAIT] = {"wait", "--wait", 0, VALUE_WAIT, AT(wait_ms)},
};

/* Of each of these sets a command takes one option at most. */
static const uint64_t EXCLUSIVE[] = {
    TAKES_PROGRESS,
    TAKES(NEW) | TAKES(SEEN),
    TAKES(ZERO) | TAKES(CRLF),
    TAKES(MEMORY) | TAKES(BITS),
};

static int argument_of(int id)
{
    if (OPTIONS[id].value == VALUE_NONE) return no_argument;
    return OPTIONS[id].value == VALUE_COMMENTS ? optional_argument : required_argument;
}

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
        *entry++ = (struct option){OPTIONS[id].name, argument_of(id), NULL, FIRST_LONG + id};
        if (!OPTIONS[id].letter) continue;
        *letter++ = OPTIONS[id].letter;
        if (argument_of(id) == required_argument) *letter++ = ':';
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

static bool take_store(const char *value, const char **store)
{
    *store = value;
    if (*value) return true;
    cli_tell("--store needs the name of a directory, not an empty one");
    return false;
}

static bool take_kind(const char *value, uint32_t *kind)
{
    if (tamis_kind_from_name(value, kind) == 0) return true;
    cli_fail_library();
    return false;
}

static bool take_option(const struct command *command, struct options *options, int id,
                        const char *value)
{
    const char *shown = OPTIONS[id].shown;
    void *at = (char *)options + OPTIONS[id].at;
    options->given |= UINT64_C(1) << id;
    switch (OPTIONS[id].value) {
    case VALUE_TEXT:
        *(const char **)at = value;
        return true;
    case VALUE_STORE:
        return take_store(value, at);
    case VALUE_COMMENTS:
        return take_comments(value, at);
    case VALUE_FILE:
        return take_file(value, at);
    case VALUE_COUNT:
        return number_count(shown, value, at);
    case VALUE_BITS:
        return number_bits(shown, value, at);
    case VALUE_SIZE:
        return number_size(shown, value, at);
    case VALUE_SEED:
        return number_seed(shown, value, at);
    case VALUE_RATE:
        return number_rate(shown, value, at);
    case VALUE_SMALL:
        return take_small(shown, value, OPTIONS[id].least, OPTIONS[id].most, at);
    case VALUE_HASHES:
        return take_small(shown, value, 1,
                          command && command->hashes_max ? command->hashes_max : TAMIS_K_MAX, at);
    case VALUE_KIND:
        return take_kind(value, at);
    case VALUE_ON_FULL:
        return take_on_full(value, at);
    case VALUE_MODE:
        return take_mode(value, at);
    case VALUE_DURATION:
        return number_duration(shown, value, at);
    case VALUE_WAIT:
        return number_wait(shown, value, at);
    case VALUE_WINDOW:
        return number_window(shown, value, &options->window_ns, &options->window_items);
    default:
        return true;
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

bool options_parse(struct invocation *call, int argc, char **argv)
{
    struct getopt_tables tables;
    fill_tables(&tables, ":", call->command->options | TAKES(HELP) | TAKES(STORE));
    if (!take_options(&call->options, call->command, &tables, argc, argv)) return false;
    call->args = argv + optind;
    call->arg_count = (size_t)(argc - optind);
    call->dashes = strcmp(argv[optind - 1], "--") == 0;
    if (options_have(&call->options, TAKES(HELP))) return true;
    if (!arguments_fit(call)) return false;
    for (size_t i = 0; i < sizeof EXCLUSIVE / sizeof *EXCLUSIVE; i++)
        if (!options_exclusive(call, EXCLUSIVE[i])) return false;
    return true;
}

int options_parse_global(struct options *options, int argc, char **argv)
{
    struct getopt_tables tables;
    fill_tables(
        &tables,
        "+:", TAKES(HELP) | TAKES(STORE) | TAKES(VERSION) | TAKES(FORCE_NETWORK_FS) | TAKES(WAIT));
    return take_options(options, NULL, &tables, argc, argv) ? optind : -1;
}
