/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: every option of every command, once; see options.h. */
#include "options.h"

#include <getopt.h>

#include "command.h"
#include "number.h"

/* What getopt_long() returns: a letter, or this plus the id for an option's long form. */
#define FIRST_LONG 256

#define THREADS_MAX 1024   /* of --threads; more is most likely a typing error */
#define SHARDS_LIMIT 65536 /* of a sharded filter; docs/cluster.md */
/* A server that saves or moves a shard may well be silent for less. */
#define TIMEOUT_LEAST_MS 1000

/* What an option's value is; the number_...() calls of number.h say what they accept. */
enum value {
    VALUE_NONE,     /* the option takes no value                                     */
    VALUE_TEXT,     /* const char *                                                  */
    VALUE_STORE,    /* the same, not empty                                           */
    VALUE_COMMENTS, /* the same, may be left out                                     */
    VALUE_COLOR,    /* uint32_t COLOR_*; may be left out                             */
    VALUE_FILE,     /* struct option_files; each use of the option adds one          */
    VALUE_COUNT,    /* uint64_t, as the next three                                   */
    VALUE_BITS,
    VALUE_SIZE,
    VALUE_SEED,
    VALUE_RATE,        /* double                                                        */
    VALUE_PERCENT,     /* double                                                        */
    VALUE_SMALL,       /* uint32_t from `least` to `most`                               */
    VALUE_HASHES,      /* uint32_t from 1 to what the command takes                     */
    VALUE_KIND,        /* uint32_t TAMIS_KIND_*                                         */
    VALUE_ON_FULL,     /* uint32_t TAMIS_ON_FULL_*                                      */
    VALUE_PAGES,       /* uint32_t TAMIS_PAGES_*                                        */
    VALUE_MODE,        /* uint32_t, octal                                               */
    VALUE_DURATION,    /* int64_t, nanoseconds                                          */
    VALUE_WAIT,        /* int64_t, milliseconds                                         */
    VALUE_TIMEOUT,     /* the same, from TIMEOUT_LEAST_MS on                            */
    VALUE_SHARD,       /* struct option_shard                                           */
    VALUE_WINDOW_FROM, /* "first" or "last" */
    VALUE_WINDOW,      /* window_ns or window_items                                     */
    VALUE_ANSWER,      /* struct option_answer                                          */
};

/* How the value of an option is read, and where it goes. */
struct value_spec {
    enum value type;
    size_t at;            /* in struct options */
    uint32_t least, most; /* of VALUE_SMALL */
};

/* The last argument of each line of CLI_OPTIONS: a struct value_spec. */
/* clang-format off */
#define NO_VALUE {.type = VALUE_NONE}
#define VALUE(format, member) {.type = VALUE_##format, .at = offsetof(struct options, member)}
#define SMALL(member, low, high) \
    {.type = VALUE_SMALL, .at = offsetof(struct options, member), .least = low, .most = high}
#define OPTION_ROW(id, long_name, short_name, spec) \
    [OPTION_##id] = { \
        .name = long_name, \
        .shown = sizeof short_name > 1 ? "-" short_name "/--" long_name : "--" long_name, \
        .letter = short_name[0], \
        .value = spec},
/* clang-format on */

static const struct {
    const char *name;
    const char *shown; /* in messages */
    char letter;       /* 0: it has none */
    struct value_spec value;
} OPTIONS[OPTION_IDS] = {CLI_OPTIONS(OPTION_ROW)};

/* A call may have at most one option of each of these sets. */
static const option_set EXCLUSIVE[] = {
    TAKES_PROGRESS,
    TAKES_RETRY,
    TAKES(NEW) | TAKES(SEEN),
    TAKES(ZERO) | TAKES(CRLF),
    TAKES(ANSWER) | TAKES(COMMENTS), /* each line has its answer */
    TAKES(ANSWER) | TAKES(SKIP_BLANK),
    TAKES(ANSWER) | TAKES(FORMAT),
    TAKES(WHICH) | TAKES(ANSWER),
    TAKES(WHICH) | TAKES(INVERT),
    TAKES(WHICH) | TAKES(COUNT),
    TAKES(WHICH) | TAKES(QUIET),
    TAKES(MEMORY) | TAKES(BITS),
    TAKES(LIVE) | TAKES(RECORDED),
    TAKES(ANSWER) | TAKES(INVERT),
    TAKES(ANSWER) | TAKES(COUNT),
    TAKES(ANSWER) | TAKES(QUIET),
    TAKES(ANSWER) | TAKES(JSON),
    TAKES(CHANNEL) | TAKES(HEX),
    TAKES(FIRST_WORD) | TAKES(HEX),
};

static bool has_option(option_set set, int id)
{
    return (set >> id & 1) != 0;
}

size_t options_count(const struct options *options, option_set set)
{
    size_t count = 0;
    for (int id = 0; id < OPTION_IDS; id++)
        count += has_option(options->given & set, id);
    return count;
}

static int argument_of(int id)
{
    const enum value value = OPTIONS[id].value.type;
    if (value == VALUE_NONE) return no_argument;
    return value == VALUE_COMMENTS || value == VALUE_COLOR ? optional_argument : required_argument;
}

/* What getopt_long() is given for one set of options. */
struct getopt_tables {
    char letters[2 * OPTION_IDS + 3];    /* mode, each letter with a colon, NUL */
    struct option longs[OPTION_IDS + 1]; /* and one of zeroes */
};

/* Fills the tables.  `mode` begins the letters: with ":" getopt_long() tells missing values from
 * unknown options, with "+" it stops at the first argument that is no option. */
static void fill_tables(struct getopt_tables *tables, const char *mode, option_set set)
{
    *tables = (struct getopt_tables){0};
    char *letter = stpcpy(tables->letters, mode);
    struct option *entry = tables->longs;
    for (int id = 0; id < OPTION_IDS; id++) {
        if (!has_option(set, id)) continue;
        *entry++ = (struct option){OPTIONS[id].name, argument_of(id), NULL, FIRST_LONG + id};
        if (!OPTIONS[id].letter || strchr(tables->letters, OPTIONS[id].letter) != NULL) continue;
        *letter++ = OPTIONS[id].letter;
        if (argument_of(id) == required_argument) *letter++ = ':';
    }
}

/* The option that getopt_long() returned or complains of; OPTION_IDS if there is no such option. A
 * letter means the first option of the tables that has it: -n is a capacity, and a dry run where
 * there is no capacity. */
static int option_of(const struct getopt_tables *tables, int value)
{
    if (value >= FIRST_LONG) return value - FIRST_LONG;
    for (const struct option *entry = tables->longs; value != 0 && entry->name != NULL; entry++)
        if (OPTIONS[entry->val - FIRST_LONG].letter == value) return entry->val - FIRST_LONG;
    return OPTION_IDS;
}

/* Returns the long name that is nearest to what was typed, "--nmae" or "--nmae=value", of those
 * that the command takes; NULL: none is near. */
static const char *nearest_option(const struct getopt_tables *tables, const char *argument)
{
    if (strncmp(argument, "--", 2) != 0) return NULL;
    char *name = cli_copy(argument + 2, strcspn(argument + 2, "="));
    struct text_nearest nearest = {.wanted = name};
    for (const struct option *entry = tables->longs; entry->name != NULL; entry++)
        text_nearest_offer(&nearest, entry->name);
    free(name);
    return nearest.name;
}

static void tell_unknown_option(const struct command *command, const struct getopt_tables *tables,
                                const char *argument)
{
    const char *nearest = nearest_option(tables, argument);
    if (nearest != NULL)
        (void)cli_fail("unknown option '%s'; did you mean '--%s'?", argument, nearest);
    else
        (void)cli_fail_usage(command, "unknown option '%s'", argument);
}

/* Tells why getopt_long() returned '?' or ':'.  `argument` is what it was looking at. */
static bool tell_bad_option(const struct command *command, const struct getopt_tables *tables,
                            int result, const char *argument)
{
    if (result == ':')
        (void)cli_fail_usage(command, "option %s needs a value",
                             OPTIONS[option_of(tables, optopt)].shown);
    else if (optopt >= FIRST_LONG)
        (void)cli_fail_usage(command, "option --%s takes no value",
                             OPTIONS[option_of(tables, optopt)].name);
    else if (optopt != 0)
        (void)cli_fail_usage(command, "unknown option '-%c'", optopt);
    else
        tell_unknown_option(command, tables, argument);
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

/* The library says which modes a store can have. A leading 0 is not needed. */
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

bool options_take_pages(const char *what, const char *value, uint32_t *pages)
{
    for (*pages = TAMIS_PAGES_AUTO; tamis_pages_name(*pages) != NULL; ++*pages)
        if (strcmp(tamis_pages_name(*pages), value) == 0) return true;
    cli_tell("%s: '%s' is not accepted; give auto, small or huge", what, value);
    return false;
}

/* --comments or --comments=PREFIX; an empty one would make every line a comment. */
static bool take_comments(const char *value, const char **comments)
{
    *comments = value != NULL ? value : "#";
    if (**comments) return true;
    cli_tell("--comments: give what a comment begins with, or --comments alone for #");
    return false;
}

/* --answer PRESENT,ABSENT[,UNREADABLE]: words, or texts, around one or two commas. */
static bool take_answer(const char *value, struct option_answer *answer)
{
    const char *comma = strchr(value, ',');
    const char *second = comma != NULL ? strchr(comma + 1, ',') : NULL;
    if (comma == NULL || (second != NULL && strchr(second + 1, ',') != NULL) ||
        strpbrk(value, "\n\r") != NULL) {
        cli_tell(
            "--answer: '%s' is not accepted; give what is printed for a key that is there, for "
            "one that is not and, to go on then, for a filter that cannot be read, with a comma "
            "between them: --answer OK,ERR or --answer OK,ERR,ERR",
            value);
        return false;
    }
    free(answer->present);
    answer->present = cli_strdup(value);
    answer->present[comma - value] = '\0';
    answer->absent = answer->present + (comma - value) + 1;
    answer->unreadable = NULL;
    if (second == NULL) return true;
    answer->present[second - value] = '\0';
    answer->unreadable = answer->present + (second - value) + 1;
    return true;
}

/* --color is --color=always, as elsewhere. */
static bool take_color(const char *value, uint32_t *color)
{
    static const char *const names[] = {
        [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
    if (value == NULL) value = names[COLOR_ALWAYS];
    for (*color = COLOR_AUTO; *color <= COLOR_NEVER; ++*color)
        if (strcmp(value, names[*color]) == 0) return true;
    cli_tell("--color: '%s' is not accepted; give auto, always or never", value);
    return false;
}

static bool take_shard(const char *value, struct option_shard *shard)
{
    static const char digits[] = "0123456789";
    const size_t first = strspn(value, digits);
    const size_t second = value[first] == '/' ? strspn(value + first + 1, digits) : 0;
    if (first > 0 && first < 6 && second > 0 && second < 6 && value[first + 1 + second] == '\0') {
        shard->number = (uint32_t)strtoul(value, NULL, 10);
        shard->count = (uint32_t)strtoul(value + first + 1, NULL, 10);
        if (shard->number < shard->count && shard->count <= SHARDS_LIMIT) return true;
    }
    cli_tell("--shard: '%s' is not accepted; give I/N, such as 0/64: I is the shard, from 0 to N - "
             "1, and N is "
             "%d at most",
             value, SHARDS_LIMIT);
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
    free(options->names.paths);
    free(options->in.paths);
    free(options->where.paths);
    free(options->verify.paths);
    free(options->answer.present);
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
    (void)cli_fail_library();
    return false;
}

static bool take_window_from(const char *value, uint32_t *from_first)
{
    *from_first = strcmp(value, "first") == 0;
    if (*from_first || strcmp(value, "last") == 0) return true;
    cli_tell("--window-from '%s': give first (a key is forgotten a window after its first add) or "
             "last (after its last)",
             value);
    return false;
}

static uint32_t hashes_max(const struct command *command)
{
    return command != NULL && command->hashes_max != 0 ? command->hashes_max : TAMIS_K_MAX;
}

/* Values that are words, each of its own sort. */
static bool take_word(enum value type, const char *value, void *at)
{
    switch (type) {
    case VALUE_STORE:
        return take_store(value, at);
    case VALUE_COLOR:
        return take_color(value, at);
    case VALUE_COMMENTS:
        return take_comments(value, at);
    case VALUE_ANSWER:
        return take_answer(value, at);
    case VALUE_FILE:
        return take_file(value, at);
    case VALUE_KIND:
        return take_kind(value, at);
    case VALUE_ON_FULL:
        return take_on_full(value, at);
    case VALUE_MODE:
        return take_mode(value, at);
    case VALUE_SHARD:
        return take_shard(value, at);
    case VALUE_WINDOW_FROM:
        return take_window_from(value, at);
    default:
        *(const char **)at = value;
        return true;
    }
}

static bool take_option(const struct command *command, struct options *options, int id,
                        const char *value)
{
    const char *shown = OPTIONS[id].shown;
    const struct value_spec *spec = &OPTIONS[id].value;
    void *at = (char *)options + spec->at;
    options->given |= (option_set)1 << id;
    switch (spec->type) {
    case VALUE_NONE:
        return true;
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
    case VALUE_PERCENT:
        return number_percent(shown, value, at);
    case VALUE_SMALL:
        return take_small(shown, value, spec->least, spec->most, at);
    case VALUE_HASHES:
        return take_small(shown, value, 1, hashes_max(command), at);
    case VALUE_PAGES:
        return options_take_pages(shown, value, at);
    case VALUE_DURATION:
        return number_duration(shown, value, at);
    case VALUE_WAIT:
        return number_wait(shown, value, 0, at);
    case VALUE_TIMEOUT:
        return number_wait(shown, value, TIMEOUT_LEAST_MS, at);
    case VALUE_WINDOW:
        return number_window(shown, value, &options->window_ns, &options->window_items);
    default:
        return take_word(spec->type, value, at);
    }
}

/* Takes options up to the end, or to the first argument in mode "+:". */
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
            return tell_bad_option(command, tables, result, argv[optind - 1]);
        const int id = option_of(tables, result);
        if (id == OPTION_HELP) options->brief_help = result == OPTIONS[id].letter;
        if (!take_option(command, options, id, optarg)) return false;
    }
}

/* How many arguments the operands of a command allow: "NAME [KEY...]" is one or more. */
static void count_operands(const struct command *command, size_t *min, size_t *max)
{
    *min = *max = 0;
    if (strncmp(command->operands, "no ", 3) == 0) return;
    for (const char *word = command->operands; word != NULL; word = strchr(word, ' ')) {
        if (*word == ' ') word++;
        if (*word != '[' && !command->args_optional) ++*min;
        ++*max;
    }
    if (strstr(command->operands, "...") != NULL) *max = SIZE_MAX;
}

static bool arguments_fit(const struct invocation *call)
{
    const struct command *command = call->command;
    size_t min, max;
    count_operands(command, &min, &max);
    if (call->arg_count < min)
        (void)cli_fail_usage(command, "arguments are missing: %s takes %s", command->name,
                             command->operands);
    else if (call->arg_count > max)
        (void)cli_fail_usage(command, "unexpected argument '%s': %s takes %s", call->args[max],
                             command->name, command->operands);
    else
        return true;
    return false;
}

bool options_exclusive(const struct invocation *call, option_set set)
{
    int first = OPTION_IDS;
    for (int id = 0; id < OPTION_IDS; id++) {
        if (!has_option(call->options.given & set, id)) continue;
        if (first != OPTION_IDS) {
            (void)cli_fail_usage(call->command, "%s and %s cannot be given together",
                                 OPTIONS[first].shown, OPTIONS[id].shown);
            return false;
        }
        first = id;
    }
    return true;
}

bool options_none(const struct invocation *call, option_set set, const char *why)
{
    for (int id = 0; id < OPTION_IDS; id++) {
        if (!has_option(call->options.given & set, id)) continue;
        (void)cli_fail_usage(call->command, "%s %s", OPTIONS[id].shown, why);
        return false;
    }
    return true;
}

bool options_parse(struct invocation *call, int argc, char **argv)
{
    struct getopt_tables tables;
    option_set set = call->command->options | TAKES(HELP) | TAKES(STORE);
    if (call->command->run_remote != NULL) set |= TAKES_CONNECTION;
    fill_tables(&tables, ":", set);
    if (!take_options(&call->options, call->command, &tables, argc, argv)) return false;
    call->args = argv + optind;
    call->arg_count = (size_t)(argc - optind);
    call->dashes = strcmp(argv[optind - 1], "--") == 0;
    if (cli_given(call, TAKES(HELP))) return true;
    if (!arguments_fit(call)) return false;
    for (size_t i = 0; i < sizeof EXCLUSIVE / sizeof *EXCLUSIVE; i++)
        if (!options_exclusive(call, EXCLUSIVE[i])) return false;
    return true;
}

int options_parse_global(struct options *options, int argc, char **argv)
{
    struct getopt_tables tables;
    fill_tables(&tables, "+:",
                TAKES(HELP) | TAKES(STORE) | TAKES(VERSION) | TAKES(FORCE_NETWORK_FS) |
                    TAKES(WAIT) | TAKES_CONNECTION);
    return take_options(options, NULL, &tables, argc, argv) ? optind : -1;
}
