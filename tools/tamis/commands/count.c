/* SPDX-License-Identifier: BSD-2-Clause */
/* count.c: tamis count NAME [KEY...] - how often keys are in a counting filter. */
#include "command.h"
#include "input/keys.h"
#include "remote/remote.h"

struct counting {
    const struct invocation *call;
    struct key_source *source;
    uint64_t *counts;
    size_t room; /* of the counts */
};

static void print_counts(const struct counting *counting, size_t count)
{
    const struct key_source *source = counting->source;
    for (size_t i = 0; i < count; i++) {
        if (cli_given(counting->call, TAKES(JSON))) {
            json_print_key(source->out, &source->keys[i], source->hex, "count",
                           json_unsigned(counting->counts[i]));
            continue;
        }
        key_source_print_key(source, &source->keys[i]);
        out_format(source->out, "\t%" PRIu64, counting->counts[i]);
        out_char(source->out, source->separator);
    }
}

static int count_batch(void *context, size_t count)
{
    struct counting *counting = context;
    const struct tamis_key *keys = counting->source->keys;
    counting->counts = cli_grow(counting->counts, count, &counting->room, sizeof *counting->counts);
    if (counting->call->remote != NULL) {
        if (remote_count(counting->call->remote, keys, count, counting->counts) < 0)
            return CLI_ERROR;
    } else if (tamis_filter_count_batch(counting->call->filter, keys, count, counting->counts) <
               0) {
        return cli_fail_library();
    }
    print_counts(counting, count);
    return CLI_DONE;
}

/* A filter of another kind is refused before any key is read. */
static int check_counts_keys(const struct invocation *call)
{
    if (call->remote != NULL)
        return remote_can(call->remote, "TAMIS.COUNT") < 0 ? CLI_ERROR : CLI_DONE;
    cli_tell_trouble(call->filter);
    const int64_t rc = tamis_filter_count_batch(call->filter, NULL, 0, NULL);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

static int count(struct invocation *call)
{
    if (check_counts_keys(call) != CLI_DONE) return CLI_ERROR;
    struct counting *counting = cli_alloc(sizeof *counting);
    *counting = (struct counting){.call = call, .source = key_source_new(call, 1)};
    const int status = key_source_each(counting->source, count_batch, counting);
    progress_end();
    key_source_free(counting->source);
    free(counting->counts);
    free(counting);
    return status;
}

const struct command cli_command_count = {
    .name = "count",
    .summary = "how often keys are in a counting filter",
    .operands = "NAME [KEY...]",
    .options = TAKES_KEYS_OF_FILES | TAKES_PROGRESS,
    .opens = OPENS_FILTER,
    .flags = TAMIS_OPEN_READ_ONLY,
    .keys_at = 1,
    .run = count,
    .run_remote = count,
};
