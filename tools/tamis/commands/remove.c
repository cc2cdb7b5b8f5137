/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remove.c: tamis remove NAME [KEY...]
 *
 * A key that is not there is an error of that key alone: the key is reported, the others are taken
 * off, and the status is 2 at the end. A signal ends the command after the batch in hand, as with
 * add.
 */
#include "command.h"
#include "keys.h"

struct removal {
    const struct invocation *call;
    const char *name;
    tamis_filter *filter;
    struct key_source *source;
    bool missed; /* a key was not there */
};

static void print_json(const struct removal *removal, size_t count)
{
    const struct key_source *source = removal->source;
    for (size_t i = 0; i < count; i++) {
        json_print_key(source->out, &source->keys[i], source->hex, "removed",
                       json_boolean(source->answers[i]));
    }
}

static int remove_batch(void *context, size_t count)
{
    struct removal *removal = context;
    struct key_source *source = removal->source;
    int64_t removed =
        tamis_filter_remove_batch(removal->filter, source->keys, count, source->answers);
    if (removed < 0) return cli_fail_library();
    if (cli_given(removal->call, TAKES(JSON))) print_json(removal, count);
    if ((uint64_t)removed == count) return CLI_DONE;
    removal->missed = true;
    for (size_t i = 0; i < count; i++)
        if (!source->answers[i])
            key_source_tell_missing(source, &source->keys[i],
                                    "is not in '%s'; nothing was removed for it", removal->name);
    return CLI_DONE;
}

static int remove_keys(struct invocation *call)
{
    struct removal removal = {.call = call, .name = call->args[0], .filter = call->filter};
    cli_tell_trouble(call->filter);
    /* A filter of another kind is refused before any key is read. */
    if (tamis_filter_remove_batch(call->filter, NULL, 0, NULL) < 0) return cli_fail_library();
    interrupt_catch();
    removal.source = key_source_new(call, 1);
    removal.source->interruptible = true;
    int status = key_source_each(removal.source, remove_batch, &removal);
    if (status == CLI_DONE && removal.missed) status = CLI_ERROR;
    progress_end();
    status = key_source_status(removal.source, status, "dealt with");
    key_source_free(removal.source);
    return status;
}

const struct command cli_command_remove = {
    .name = "remove",
    .summary = "take keys off a counting filter",
    .operands = "NAME [KEY...]",
    .options = TAKES_KEYS_OF_FILES | TAKES_PROGRESS,
    .opens = OPENS_FILTER,
    .keys_at = 1,
    .run = remove_keys,
};
