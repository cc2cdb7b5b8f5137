/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c: tamis check NAME [KEY...] - a grep whose pattern is a filter. */
#include "command.h"
#include "keys.h"
#include "remote/remote.h"

struct question {
    const struct invocation *call;
    struct key_source *source;
    uint64_t matches;
    uint8_t wanted;
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

static int64_t ask(const struct question *question, size_t count, bool silent)
{
    struct key_source *source = question->source;
    if (question->call->remote != NULL)
        return remote_contains(question->call->remote, source->keys, count, source->answers);
    return tamis_filter_contains_batch(question->call->filter, source->keys, count,
                                       silent ? NULL : source->answers);
}

#define ENOUGH (-1) /* -q: one match answers the question, and the other keys are not read */

static int check_batch(void *context, size_t count)
{
    struct question *question = context;
    struct key_source *source = question->source;
    bool silent = cli_given(question->call, TAKES(COUNT) | TAKES(QUIET));
    const int64_t present = ask(question, count, silent);
    if (present < 0) return question->call->remote != NULL ? CLI_ERROR : cli_fail_library();
    question->matches += question->wanted ? (uint64_t)present : count - (uint64_t)present;
    if (cli_given(question->call, TAKES(QUIET)) && question->matches > 0) return ENOUGH;
    if (silent) return CLI_DONE;
    if (cli_given(question->call, TAKES(JSON)))
        print_answers_json(question, count);
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

static int run_check(struct invocation *call)
{
    struct question question = {.call = call, .wanted = !cli_given(call, TAKES(INVERT))};
    if (call->filter != NULL) cli_tell_trouble(call->filter);
    question.source = key_source_new(call, 1);
    const int status = key_source_each(question.source, check_batch, &question);
    progress_end();
    key_source_free(question.source);
    if (status == CLI_ERROR) return status;
    if (cli_given(question.call, TAKES(COUNT)) && !cli_given(question.call, TAKES(QUIET)))
        print_count(&question);
    return question.matches > 0 ? CLI_DONE : CLI_NOTHING;
}

const struct command cli_command_check = {
    .name = "check",
    .summary = "print the keys that are in a filter, or are not",
    .operands = "NAME [KEY...]",
    .options = TAKES_KEYS_OF_FILES | TAKES_PROGRESS | TAKES(INVERT) | TAKES(COUNT) | TAKES(QUIET) |
               TAKES(POPULATE),
    .opens = OPENS_FILTER,
    .flags = TAMIS_READ_ONLY,
    .keys_at = 1,
    .run = run_check,
    .run_remote = run_check,
};
