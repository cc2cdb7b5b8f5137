/* SPDX-License-Identifier: BSD-2-Clause */
/* tell.c: what is said of the format of an input; see tell.h. */
#include "input/tell.h"

#include "command.h"

bool format_tell_guess(const struct guess *guess, const char *name, bool quiet, char **error)
{
    char fitting[TEXT_COUNT_BYTES], lines[TEXT_COUNT_BYTES];
    if (guess->options == NULL || (guess->format == &format_domains && !guess->changes))
        return true; /* each line is its own key */
    if (quiet && !guess->is_refused) return true;
    const char *rule = guess->key_rule != NULL ? guess->key_rule : "";
    const char *with_rule = *rule ? " --key-rule " : "";
    text_count(fitting, guess->fitting);
    text_count(lines, guess->lines);
    if (guess->is_sure && guess->has_title) {
        cli_tell(
            "note: %s is read as %s, as its title says (%s%s%s); --format lines if each line is "
            "a key",
            name, guess->format->what, guess->options, with_rule, rule);
        return true;
    }
    if (guess->is_sure) {
        cli_tell("note: %s is read as %s, as %s of its first %s lines %s (%s%s%s); --format "
                 "lines if each line is a key",
                 name, guess->format->what, fitting, lines, guess->fits, guess->options, with_rule,
                 rule);
        return true;
    }
    if (!guess->is_refused) {
        cli_tell("note: %s: %s of its first %s lines %s, and each line is one key; if a field is "
                 "meant: %s",
                 name, fitting, lines, guess->fits, guess->options);
        return true;
    }
    *error = cli_format("%s: %s of its first %s lines %s; %s, or --format lines if these are the "
                        "keys",
                        name, fitting, lines, guess->fits, guess->options);
    return false;
}

/* Adds "N what" to the list of what was not taken. */
static void add_count(char **list, uint64_t count, const char *one, const char *many)
{
    char text[TEXT_COUNT_BYTES];
    if (count == 0) return;
    text_count(text, count);
    char *longer =
        cli_format("%s%s%s %s", *list, **list ? ", " : "", text, count == 1 ? one : many);
    free(*list);
    *list = longer;
}

void format_tell_counts(const struct taking *taking, const char *name)
{
    const struct taking_counts *counts = &taking->counts;
    const bool kept = taking->exceptions != NULL;
    char keys[TEXT_COUNT_BYTES], exceptions[TEXT_COUNT_BYTES];
    char *list = cli_strdup("");
    add_count(&list, counts->others,
              "rule of another kind (a path, cosmetic, or a regular expression)",
              "rules of other kinds (paths, cosmetic, regular expressions)");
    if (!kept) add_count(&list, counts->exceptions, "exception (@@)", "exceptions (@@)");
    add_count(&list, counts->locals, "name of the machine itself (localhost)",
              "names of the machine itself (localhost)");
    add_count(&list, counts->lacking, "record without the field", "records without the field");
    add_count(&list, counts->foreign, "line of another format", "lines of another format");
    text_count(keys, counts->keys);
    text_count(exceptions, counts->exceptions);
    if (*list || (kept && counts->exceptions > 0))
        cli_tell(
            "note: %s: %s %s%s%s%s%s%s", name, keys, taking->format->has_names ? "name" : "key",
            text_plural(counts->keys), kept && counts->exceptions > 0 ? ", exceptions (@@): " : "",
            kept && counts->exceptions > 0 ? exceptions : "", *list ? "; not taken: " : "", list);
    free(list);
    if (counts->unicode > 0)
        cli_tell(
            "note: %s: %" PRIu64
            " name%s letters beyond ASCII; a filter finds %s by the form with xn--, too, if it "
            "is made with --key-rule name:idn",
            name, counts->unicode, counts->unicode == 1 ? " has" : "s have",
            counts->unicode == 1 ? "it" : "them");
}
