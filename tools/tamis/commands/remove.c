/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remove.c: tamis remove NAME [KEY...]
 *
 * A key that is not there is an error of that key alone: the key is reported, the others are taken
 * off, and the status is 2 at the end. A signal ends the command after the batch in hand, as with
 * add.
 */
#include "command.h"
#include "input/keys.h"
#include "remote/remote.h"

struct removal {
    const struct invocation *call;
    struct key_source *source;
    bool missed; /* a key was not there */
};

static void print_removed_json(const struct removal *removal, size_t count)
{
    const struct key_source *source = removal->source;
    for (size_t i = 0; i < count; i++) {
        if (source->answers[i] == TAMIS_ANSWER_REFUSED) continue;
        json_print_key(source->out, &source->keys[i], source->hex, "removed",
                       json_boolean(source->answers[i]));
    }
}

static int remove_batch(void *context, size_t count)
{
    struct removal *removal = context;
    struct key_source *source = removal->source;
    const bool is_remote = removal->call->remote != NULL;
    const int64_t removed =
        is_remote ? remote_remove(removal->call->remote, source->keys, count, source->answers)
                  : tamis_filter_remove_batch(removal->call->filter, source->keys, count,
                                              source->answers);
    if (removed < 0 && !is_remote) return cli_fail_library();
    if (cli_given(removal->call, TAKES(JSON))) print_removed_json(removal, count);
    if (removed >= 0 && (uint64_t)removed == count) return CLI_DONE;
    removal->missed = true;
    for (size_t i = 0; i < count; i++)
        if (source->answers[i] == 0)
            key_source_tell_missing(source, &source->keys[i],
                                    "is not in '%s'; nothing was removed for it",
                                    removal->call->args[0]);
    return removed < 0 ? CLI_ERROR : CLI_DONE;
}

/* A filter of another kind is refused before any key is read. */
static int check_removes_keys(const struct invocation *call)
{
    if (call->remote != NULL)
        return remote_can(call->remote, "TAMIS.REMOVE") < 0 ? CLI_ERROR : CLI_DONE;
    cli_tell_trouble(call->filter);
    const int64_t rc = tamis_filter_remove_batch(call->filter, NULL, 0, NULL);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

/* A remove whose answer was lost is not asked again (remote/batch.c). */
static void tell_doubts(const struct invocation *call)
{
    const uint64_t doubts = call->remote != NULL ? remote_doubts(call->remote) : 0;
    if (doubts > 0)
        cli_tell("%" PRIu64
                 " key%s in doubt: the server was lost before it answered, so %s may have "
                 "been removed or not; 'tamis count' tells",
                 doubts, doubts == 1 ? " is" : "s are", doubts == 1 ? "it" : "each");
}

static int remove_keys(struct invocation *call)
{
    struct removal removal = {.call = call};
    if (check_removes_keys(call) != CLI_DONE) return CLI_ERROR;
    interrupt_catch();
    removal.source = key_source_new(call, 1);
    int status = key_source_each(removal.source, remove_batch, &removal);
    if (status == CLI_DONE && removal.missed) status = CLI_ERROR;
    progress_end();
    tell_doubts(call);
    status = key_source_status(removal.source, status, "dealt with");
    key_source_free(removal.source);
    return status;
}

const struct command cli_command_remove = {
    .name = "remove",
    .summary = "take keys off a counting filter",
    .operands = "NAME [KEY...]",
    .tells_closed = true,
    .options = TAKES_KEYS_OF_FILES | TAKES_PROGRESS,
    .opens = OPENS_FILTER,
    .keys_at = 1,
    .run = remove_keys,
    .run_remote = remove_keys,
};
