/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * help.c: which commands there are, and what is printed of them; see help.h.
 *
 * A command has one text, commands/help/NAME.txt.  Its long help is that text; its short help is
 * cut out of it: the usage, the first sentence, and the first clause of each option.
 */
#include "help.h"

#include "columns.h"
#include "fields.h"
#include "synonyms.h"

/* ---- The commands -------------------------------------------------------------------------- */

struct entry {
    const struct command *command;
    const char *help;
};

#define ENTRY(name) {&cli_command_##name, cli_help_##name},
#define GROUP(title, commands) {title, (const struct entry[]){commands(ENTRY){NULL, NULL}}},

/* Each list of entries ends with one without a command. */
static const struct {
    const char *title;
    const struct entry *entries;
} GROUPS[] = {CLI_GROUPS(GROUP)};
#define GROUP_COUNT (sizeof GROUPS / sizeof *GROUPS)

/* Names that other programs have for what a command does, and that can harm nobody. */
static const struct {
    const char *alias, *name;
} ALIASES[] = {{"ls", "list"}, {"mv", "rename"}};
#define ALIAS_COUNT (sizeof ALIASES / sizeof *ALIASES)

static const struct entry *find_entry(const char *name)
{
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (strcmp(ALIASES[i].alias, name) == 0) name = ALIASES[i].name;
    for (size_t i = 0; i < GROUP_COUNT; i++)
        for (const struct entry *entry = GROUPS[i].entries; entry->command != NULL; entry++)
            if (strcmp(entry->command->name, name) == 0) return entry;
    return NULL;
}

const struct command *help_find(const char *name)
{
    const struct entry *entry = find_entry(name);
    return entry != NULL ? entry->command : NULL;
}

/* Offers all names of commands for the one that was typed, or for the same in small letters. */
static const char *nearest_name(const char *name)
{
    struct text_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < GROUP_COUNT; i++)
        for (const struct entry *entry = GROUPS[i].entries; entry->command != NULL; entry++)
            text_nearest_offer(&nearest, entry->command->name);
    text_nearest_offer(&nearest, "help");
    text_nearest_offer(&nearest, "version");
    return nearest.name;
}

static char *in_small_letters(const char *word)
{
    char *small = cli_strdup(word);
    for (char *at = small; *at; at++)
        if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
    return small;
}

int help_fail_unknown(const char *name)
{
    char *stem = in_small_letters(synonym_stem(name));
    const struct command *meant = help_find(stem);
    const char *answer = meant == NULL ? synonym_answer(stem) : NULL;
    const char *nearest = meant != NULL ? meant->name : nearest_name(stem);
    int status;
    if (answer != NULL)
        status = cli_fail("unknown command '%s'; %s", name, answer);
    else if (nearest != NULL)
        status = cli_fail("unknown command '%s'; did you mean '%s'?", name, nearest);
    else
        status = cli_fail("unknown command '%s'; 'tamis' alone lists the commands", name);
    free(stem);
    return status;
}

/* ---- All commands -------------------------------------------------------------------------- */

static const char USAGE_SHORT[] =
    "usage: tamis [--store DIR|URL] COMMAND [ARGS]\n"
    "\n"
    "Filters that many processes share and that survive restarts without loading.\n";

static const char USAGE_SHORT_END[] =
    "\n"
    "'tamis COMMAND -h' is a short help, 'tamis COMMAND --help' tells all of a command, and\n"
    "'tamis help' what all commands have in common.\n";

static const char USAGE[] =
    "usage: tamis [--store DIR|URL] [--wait SECONDS] [--force-network-fs]\n"
    "             [--timeout SECONDS] [--cacert FILE] [--cert FILE --key FILE] [--insecure]\n"
    "             COMMAND [ARGS]\n"
    "       tamis help [COMMAND]\n"
    "       tamis version\n"
    "\n"
    "Filters that many processes share and that survive restarts without loading.\n";

static const char USAGE_END[] =
    "\n"
    "The store is a directory: --store DIR, else $TAMIS_STORE, else $XDG_STATE_HOME/tamis,\n"
    "else ~/.local/state/tamis.  Or it is a Redis server or cluster with the module tamis.so, for\n"
    "all commands that need no files: --store redis://HOST:PORT, or rediss:// by TLS.\n"
    "'tamis COMMAND --help' tells all of a command, and 'tamis COMMAND -h' the most important.\n"
    "'ls' and 'mv' are other names of 'list' and 'rename'; 'tamis --version' and 'tamis -V' are\n"
    "'tamis version'.\n"
    "A command that must wait for another process waits 10 seconds at most; --wait sets another\n"
    "limit.  When a server or cluster answers nothing for 30 seconds, it is given up; --timeout\n"
    "sets another limit.  Of TLS, --cacert names the authority that is trusted instead of those "
    "of\n"
    "the system, --cert and --key are the client's own, and --insecure trusts everybody.  Options\n"
    "of a connection may also stand behind a command.\n"
    "On NFS, SMB and the like a store is refused; --force-network-fs takes the risk.\n"
    "\n"
    "exit status: 0 done; 1 nothing matched; 2 an error, told on standard error\n";

static void print_groups(struct out *out)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        out_format(out, "\n%s\n", GROUPS[i].title);
        for (const struct entry *entry = GROUPS[i].entries; entry->command != NULL; entry++)
            out_format(out, "  %-11s %s\n", entry->command->name, entry->command->summary);
    }
}

void help_print_overview(struct out *out)
{
    out_text(out, USAGE_SHORT);
    print_groups(out);
    out_text(out, USAGE_SHORT_END);
}

void help_print_all(struct out *out)
{
    out_text(out, USAGE);
    print_groups(out);
    out_text(out, USAGE_END);
}

/* ---- The long help of a command ------------------------------------------------------------- */

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
    {"@columns@", "columns:", column_names},
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

static void print_long(struct out *out, const char *text)
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

/* ---- The short help of a command ------------------------------------------------------------ */

/* The end of the first sentence, which is what comes before the full stop; of an option's text it
 * may also be a semicolon (`clause`), outside of brackets. */
static const char *sentence_end(const char *text, const char *end, bool clause)
{
    int depth = 0;
    for (const char *at = text; at < end; at++) {
        const bool last = at + 1 == end || at[1] == ' ' || at[1] == '\n';
        depth += (*at == '(') - (*at == ')');
        if (last && depth <= 0 && (*at == '.' || (clause && *at == ';'))) return at;
    }
    return end;
}

static bool begins_option(const char *line)
{
    const size_t indent = strspn(line, " ");
    return (indent == 2 || indent == 6) && line[indent] == '-' && line[indent + 1] != ' ';
}

/* Where the option at `line` ends: before the next one, or an empty line. */
static const char *option_end(const char *line)
{
    const char *at = strchr(line, '\n') + 1;
    while (*at == ' ' && !begins_option(at))
        at = strchr(at, '\n') + 1;
    return at - 1;
}

static void print_part(struct out *out, const char *text, const char *end)
{
    out_bytes(out, text, (size_t)(end - text));
    out_char(out, '\n');
}

static void print_brief(struct out *out, const struct command *command, const char *text)
{
    const char *about = strstr(text, "\n\n") + 2;
    print_part(out, text, about - 1);
    const char *about_end = sentence_end(about, strstr(about, "\n\n"), false);
    out_bytes(out, about, (size_t)(about_end - about));
    out_text(out, ".\n\n");
    for (const char *line = about; *line; line = strchr(line, '\n') + 1) {
        if (!begins_option(line)) continue;
        const char *end = option_end(line);
        print_part(out, line, sentence_end(line, end, true));
    }
    out_format(out, "\n'tamis %s --help' tells all.\n", command->name);
}

void help_print_command(struct out *out, const struct command *command, bool brief)
{
    const char *text = find_entry(command->name)->help;
    if (brief)
        print_brief(out, command, text);
    else
        print_long(out, text);
}
