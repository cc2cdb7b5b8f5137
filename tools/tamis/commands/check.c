/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c: tamis check NAME [KEY...] - a grep whose pattern is a filter. */
#include "command.h"
#include "input/keys.h"
#include "parents.h"
#include "remote/remote.h"
#include "several.h"
#include "standing.h"

struct question {
    const struct invocation *call;
    struct key_source *source;
    uint64_t matches;
    uint8_t wanted;
    struct standing *standing;  /* with a word for a filter that cannot be read; else NULL */
    uint64_t unreadable;        /* questions that had this word */
    struct several *several;    /* more filters than one; else NULL */
    struct tamis_key *channels; /* of the keys of a batch, with --channel; else NULL */
};

/* Without -v every key is printed with its answer, so the reader need not keep the input. */
static void print_answers_json(const struct question *question, size_t count)
{
    const struct key_source *source = question->source;
    for (size_t i = 0; i < count; i++) {
        if (cli_given(question->call, TAKES(INVERT)) && source->answers[i] != question->wanted)
            continue;
        json_print_key(source->out, &source->keys[i], source->hex, "present",
                       json_boolean(source->answers[i]));
    }
}

/* How many bytes come before the first space, or before the end. */
static size_t word_bytes(const struct tamis_key *text)
{
    const char *space = text->bytes > 0 ? memchr(text->data, ' ', text->bytes) : NULL;
    return space != NULL ? (size_t)(space - (const char *)text->data) : text->bytes;
}

/* Makes keys of lines. The channel of --channel is the first word, and the key is the rest, or with
 * --first-word the first word of that. */
static void take_lines_apart(struct question *question, size_t count)
{
    struct tamis_key *keys = question->source->keys;
    for (size_t i = 0; i < count; i++) {
        if (question->channels != NULL) {
            const size_t bytes = word_bytes(&keys[i]);
            const size_t gone = bytes + (bytes < keys[i].bytes); /* with the space */
            question->channels[i] = (struct tamis_key){.data = keys[i].data, .bytes = bytes};
            keys[i].data = (const char *)keys[i].data + gone;
            keys[i].bytes -= gone;
        }
        if (cli_given(question->call, TAKES(FIRST_WORD))) keys[i].bytes = word_bytes(&keys[i]);
    }
}

static const char *word_of(const struct option_answer *words, int64_t rc, uint8_t answer)
{
    if (rc < 0) return words->unreadable;
    return answer ? words->present : words->absent;
}

/* A line for each key, whichever the answer is: what a program that asks line by line waits for.
 * `rc` is what asking returned. */
static void print_words(const struct question *question, size_t count, int64_t rc)
{
    const struct key_source *source = question->source;
    const struct option_answer *words = &question->call->options.answer;
    for (size_t i = 0; i < count; i++) {
        if (question->channels != NULL) {
            out_bytes(source->out, question->channels[i].data, question->channels[i].bytes);
            out_char(source->out, ' ');
        }
        out_text(source->out, word_of(words, rc, source->answers[i]));
        out_char(source->out, source->separator);
    }
}

/* Prints each record that one of several filters has, with the names of those behind it. */
static void print_which(const struct question *question, size_t count)
{
    const struct key_source *source = question->source;
    for (size_t i = 0, end; i < count; i = end) {
        const struct tamis_key *text = source->records != NULL ? &source->records[i] : NULL;
        for (end = i + 1; text != NULL && end < count; end++)
            if (source->records[end].data != text->data) break;
        char *names = several_which(question->several, i, end, ",");
        if (*names) {
            if (text != NULL)
                out_bytes(source->out, text->data, text->bytes);
            else
                key_source_print_key(source, &source->keys[i]);
            out_char(source->out, '\t');
            out_text(source->out, names);
            out_char(source->out, source->separator);
        }
        free(names);
    }
}

static int64_t ask(const struct question *question, size_t count, bool silent)
{
    struct key_source *source = question->source;
    if (question->several != NULL)
        return several_ask(question->several, cli_given(question->call, TAKES(ANY) | TAKES(WHICH)),
                           source->keys, count, source->answers);
    if (question->standing != NULL)
        return standing_ask(question->standing, source->keys, count, source->answers);
    const bool parents = cli_given(question->call, TAKES(PARENTS));
    if (question->call->remote != NULL)
        return parents
                   ? remote_contains_names(question->call->remote, source->keys, count,
                                           source->answers)
                   : remote_contains(question->call->remote, source->keys, count, source->answers);
    if (parents) return parents_ask(question->call->filter, source->keys, count, source->answers);
    return tamis_filter_contains_batch(question->call->filter, source->keys, count,
                                       silent ? NULL : source->answers);
}

#define ENOUGH (-1) /* -q: one match answers the question, and the other keys are not read */

static int check_batch(void *context, size_t count)
{
    struct question *question = context;
    struct key_source *source = question->source;
    bool silent = cli_given(question->call, TAKES(COUNT) | TAKES(QUIET));
    if (cli_given(question->call, TAKES(CHANNEL) | TAKES(FIRST_WORD)))
        take_lines_apart(question, count);
    const bool by_record = source->records != NULL;
    const int64_t present = ask(question, count, silent && !by_record);
    if (present < 0 && question->standing != NULL) {
        question->unreadable += count;
        print_words(question, count, present);
        return CLI_DONE;
    }
    if (present < 0) return question->call->remote_store != NULL ? CLI_ERROR : cli_fail_library();
    if (by_record)
        question->matches += key_source_count(source, count, question->wanted);
    else
        question->matches += question->wanted ? (uint64_t)present : count - (uint64_t)present;
    if (cli_given(question->call, TAKES(QUIET)) && question->matches > 0) return ENOUGH;
    if (silent) return CLI_DONE;
    if (cli_given(question->call, TAKES(WHICH)))
        print_which(question, count);
    else if (cli_given(question->call, TAKES(JSON)))
        print_answers_json(question, count);
    else if (cli_given(question->call, TAKES(ANSWER)))
        print_words(question, count, present);
    else
        key_source_print(source, count, question->wanted);
    return CLI_DONE;
}

static void print_count(const struct question *question)
{
    if (cli_given(question->call, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "count", json_unsigned(question->matches));
        json_print(question->call->out, line);
    } else {
        out_format(question->call->out, "%ju\n", (uintmax_t)question->matches);
    }
}

/* The operand from which on they are keys: --in takes the place of NAME. */
static size_t first_key(const struct invocation *call)
{
    return cli_given(call, TAKES(IN)) ? 0 : 1;
}

/* Asks for all keys, of call->filter, of a server, of several, or of what the question stands on.
 */
static int run_questions(struct invocation *call, struct standing *standing,
                         struct several *several)
{
    struct question question = {.call = call,
                                .standing = standing,
                                .several = several,
                                .wanted = !cli_given(call, TAKES(INVERT))};
    const bool channels = cli_given(call, TAKES(CHANNEL));
    if (call->filter != NULL) cli_tell_trouble(call->filter);
    question.source = key_source_new(call, first_key(call));
    if (channels) question.channels = cli_alloc(question.source->batch * sizeof *question.channels);
    const int status = key_source_each(question.source, check_batch, &question);
    progress_end();
    key_source_free(question.source);
    free(question.channels);
    if (status == CLI_ERROR || question.unreadable > 0) return CLI_ERROR;
    if (cli_given(question.call, TAKES(COUNT)) && !cli_given(question.call, TAKES(QUIET)))
        print_count(&question);
    return question.matches > 0 ? CLI_DONE : CLI_NOTHING;
}

static int run_open(struct invocation *call)
{
    return run_questions(call, NULL, NULL);
}

static int run_several(struct invocation *call)
{
    struct several *several = several_open(call);
    if (several == NULL) return CLI_ERROR;
    return several_close(several, run_questions(call, NULL, several));
}

static bool check_options_suffice(const struct invocation *call)
{
    const struct option_answer *answer = &call->options.answer;
    const bool channels = cli_given(call, TAKES(CHANNEL)), several = several_are_named(call);
    if (call->arg_count == 0 && !cli_given(call, TAKES(IN)))
        (void)cli_fail_usage(call->command, "arguments are missing: check takes %s",
                             call->command->operands);
    else if (cli_given(call, TAKES(CHANNEL) | TAKES(FIRST_WORD)) && !cli_given(call, TAKES(ANSWER)))
        (void)cli_fail_usage(call->command, "%s goes with --answer",
                             channels ? "--channel" : "--first-word");
    else if (answer->unreadable != NULL && several)
        (void)cli_fail_usage(call->command, "--answer has a third word for one filter only");
    else if (call->remote_store != NULL && answer->unreadable != NULL)
        (void)cli_fail_usage(call->command, "--answer has a third word for stores in directories "
                                            "only");
    else if (cli_given(call, TAKES(ANY) | TAKES(WHICH)) && !several)
        (void)cli_fail_usage(call->command,
                             "--any and --which are for several filters: --in NAME, or a pattern");
    else if (cli_given(call, TAKES(WHICH)) && cli_given(call, TAKES(JSON)))
        (void)cli_fail_usage(call->command, "--which and --json cannot be given together");
    else if (answer->unreadable != NULL && cli_given(call, TAKES(POPULATE)))
        (void)cli_fail_usage(call->command, "--populate reads the filter once, and with a third "
                                            "word of --answer it is opened each second");
    else
        return true;
    return false;
}

static int run_check(struct invocation *call)
{
    if (!check_options_suffice(call) || !key_source_can_be(call, first_key(call))) return CLI_ERROR;
    if (several_are_named(call))
        return call->remote_store != NULL ? run_several(call)
                                          : cli_with_store(call, TAMIS_OPEN_READ_ONLY, run_several);
    if (call->options.answer.unreadable == NULL)
        return cli_with_filter(call, TAMIS_OPEN_READ_ONLY, run_open);
    struct standing *standing = standing_new(call);
    const int status = standing != NULL ? run_questions(call, standing, NULL) : CLI_ERROR;
    standing_free(standing);
    return status;
}

const struct command cli_command_check = {
    .name = "check",
    .summary = "print the keys that are in a filter, or are not",
    .operands = "NAME [KEY...]",
    .options = TAKES_KEYS_OF_FILES | TAKES_PROGRESS | TAKES(INVERT) | TAKES(COUNT) | TAKES(QUIET) |
               TAKES(IN) | TAKES(ANY) | TAKES(WHICH) | TAKES(PARENTS) | TAKES(POPULATE) |
               TAKES(ANSWER) | TAKES(CHANNEL) | TAKES(FIRST_WORD),
    .args_optional = true, /* with --in */
    .run = run_check,
    .run_remote = run_check,
};
