/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add.c: tamis add NAME [KEY...]
 *
 * With --new the command is a `sort -u` that streams, remembers and can be shared: of all processes
 * that add a line, one prints it. A signal ends the command after the batch in hand, so the keys
 * that were read are added, their answers are printed and the count is recorded.
 */
#include "command.h"
#include "findings.h"
#include "input/keys.h"
#include "remote/remote.h"

struct addition {
    const struct invocation *call;
    struct key_source *source;
    uint64_t new_keys;
    uint64_t capacity;
    bool warned;
};

static void print_added_json(const struct addition *addition, size_t count)
{
    const struct key_source *source = addition->source;
    for (size_t i = 0; i < count; i++) {
        bool is_new = source->answers[i] != 0;
        if (source->answers[i] == TAMIS_ANSWER_REFUSED) continue;
        if (cli_given(addition->call, is_new ? TAKES(SEEN) : TAKES(NEW))) continue;
        json_print_key(source->out, &source->keys[i], source->hex, "new", json_boolean(is_new));
    }
}

static void print_answers(const struct addition *addition, size_t count)
{
    if (cli_given(addition->call, TAKES(JSON)))
        print_added_json(addition, count);
    else if (cli_given(addition->call, TAKES(NEW)))
        key_source_print(addition->source, count, 1);
    else if (cli_given(addition->call, TAKES(SEEN)))
        key_source_print(addition->source, count, 0);
}

static void warn_of(struct addition *addition, const struct tamis_filter_stat *stat)
{
    char what[96];
    if (stat->items > stat->capacity)
        (void)snprintf(what, sizeof what, "past its capacity of %" PRIu64, stat->capacity);
    else /* it has grown, from a segment that holds too many */
        (void)snprintf(what, sizeof what, "too many for its rate of %.3g %%", 100 * stat->fp_rate);
    /* A server's --like takes neither -n nor -p. */
    char *larger =
        addition->call->remote != NULL
            ? cli_format("tamis create LARGER -n %" PRIu64 " -p %g", 2 * stat->items, stat->fp_rate)
            : finding_larger(stat);
    cli_tell("warning: filter '%s' holds %" PRIu64
             " keys, %s; of keys that are new, %.3g %% now seem to be seen already, and this share "
             "rises with every further key; make a larger filter, and add the keys there: %s",
             addition->call->args[0], stat->items, what, 100 * stat->predicted_rate, larger);
    free(larger);
    addition->warned = true;
}

/* Warns once a run, when the filter holds more keys than it was made for. */
static int warn_when_full(struct addition *addition)
{
    int64_t items = tamis_filter_items(addition->call->filter);
    if (items < 0) return cli_fail_library();
    if ((uint64_t)items <= addition->capacity) return CLI_DONE;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (tamis_filter_stat(addition->call->filter, &stat) < 0) return CLI_DONE; /* it is a warning */
    if (!(stat.state & (TAMIS_STATE_FULL | TAMIS_STATE_OVER))) {
        /* The filter has grown, or forgets: look again when it holds twice as many. */
        addition->capacity = 2 * (uint64_t)items;
        return CLI_DONE;
    }
    warn_of(addition, &stat);
    return CLI_DONE;
}

/* Called when some keys of a batch could not be added. The answers to the other keys hold, and are
 * printed first. */
static int tell_refused(struct addition *addition, size_t count)
{
    size_t refused = 0;
    for (size_t i = 0; i < count; i++) {
        refused += addition->source->answers[i] == TAMIS_ANSWER_REFUSED;
        addition->new_keys += addition->source->answers[i] == 1;
    }
    print_answers(addition, count);
    progress_end();
    (void)out_flush(addition->call->out);
    if (addition->call->remote == NULL)
        (void)cli_fail_library(); /* a server's sentence was told before */
    if (refused == 0) return cli_fail("what follows the last batch of keys was not read");
    if (count == 1) return cli_fail("the last key was not added, and what follows it was not read");
    return cli_fail("%zu of the last %zu keys were not added, and what follows them was not read",
                    refused, count);
}

static int64_t add_keys(const struct addition *addition, size_t count)
{
    struct key_source *source = addition->source;
    if (addition->call->remote != NULL)
        return remote_add(addition->call->remote, source->keys, count, source->answers);
    return tamis_filter_add_batch(addition->call->filter, source->keys, count, source->answers);
}

static int add_and_tell_batch(void *context, size_t count)
{
    struct addition *addition = context;
    bool asked = cli_given(addition->call, TAKES(NEW) | TAKES(SEEN) | TAKES(JSON));
    if (addition->call->remote == NULL && addition->source->keys_done == count)
        (void)tamis_filter_prepare(addition->call->filter, /* its error meets the add, too */
                                   key_source_estimate(addition->source));
    const int64_t new_keys = add_keys(addition, count);
    if (new_keys < 0) return tell_refused(addition, count);
    addition->new_keys += (uint64_t)new_keys;
    if (asked) print_answers(addition, count);
    /* The advice in the warning is for more keys than these few. */
    const bool may_warn = !addition->warned && addition->source->keys_done >= KEY_BATCH;
    return may_warn ? warn_when_full(addition) : CLI_DONE;
}

/* Asks for the state of the filter, once: the warnings need it, and so does warn_when_full(). */
static int begin_addition(struct addition *addition)
{
    tamis_filter *filter = addition->call->filter;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const int64_t interval_ns = addition->call->options.sync_interval_ns;
    if (tamis_filter_stat(filter, &stat) < 0 ||
        (cli_given(addition->call, TAKES(SYNC_INTERVAL)) &&
         tamis_filter_set_sync_interval(filter, interval_ns) < 0))
        return cli_fail_library();
    cli_tell_trouble_of(&stat);
    addition->capacity = stat.capacity;
    return CLI_DONE;
}

/* Says how many keys were in doubt, and how they were answered (remote/batch.c). */
static void tell_doubts(const struct invocation *call)
{
    const uint64_t doubts = remote_doubts(call->remote);
    const bool seen = cli_given(call, TAKES(NO_RETRY_NEW));
    if (doubts == 0) return;
    cli_tell("%" PRIu64
             " key%s in doubt: the server was lost before it answered, so it is not known whether "
             "this command or another one added %s; %s answered as %s",
             doubts, doubts == 1 ? " was" : "s were", doubts == 1 ? "it" : "them",
             doubts == 1 ? "it is" : "they are", seen ? "seen" : "new");
}

/* Whoever was to get the answers has gone. Of --new, each line was work for it. */
static void tell_lost(const struct invocation *call)
{
    const size_t lost = call->out->lost;
    if (lost == 0 || !cli_given(call, TAKES(NEW))) return;
    cli_tell("%zu key%s added, and nobody was told that %s new; where the work must not be lost, "
             "keep it in a frontier (docs/frontier.md)",
             lost, lost == 1 ? " was" : "s were", lost == 1 ? "it is" : "they are");
}

/* The keys are in the server's filter.  Its state is looked at once, at the end. */
static void end_remote(struct addition *addition, int status)
{
    struct tamis_filter_stat stat;
    tell_doubts(addition->call);
    if (status == CLI_DONE && remote_stat(addition->call->remote, &stat) == 0 &&
        (stat.items > stat.capacity || (stat.segment_count > 1 && (stat.state & TAMIS_STATE_OVER))))
        warn_of(addition, &stat);
}

static int run_add(struct invocation *call)
{
    struct addition addition = {.call = call, .warned = call->remote != NULL};
    if (call->remote == NULL && begin_addition(&addition) != CLI_DONE) return CLI_ERROR;
    interrupt_catch();
    addition.source = key_source_new(call, 1);
    const double start = progress_clock();
    int status = key_source_each(addition.source, add_and_tell_batch, &addition);
    progress_end();
    (void)out_flush(call->out); /* answers first, then what is said about them */
    tell_lost(call);
    if (cli_given(call, TAKES(STATS)))
        key_source_tell_stats(addition.source, addition.new_keys, progress_clock() - start,
                              cli_given(call, TAKES(JSON)));
    if (status == CLI_DONE && !addition.warned) status = warn_when_full(&addition);
    if (call->remote != NULL) {
        end_remote(&addition, status);
    } else {
        status = cli_filter_close(call->filter, status);
        call->filter = NULL;
    }
    if (status == CLI_DONE)
        status = key_source_status(addition.source, status, "added and counted");
    key_source_free(addition.source);
    return status;
}

const struct command cli_command_add = {
    .name = "add",
    .summary = "add keys, and print those that were new",
    .operands = "NAME [KEY...]",
    .tells_closed = true,
    .options = TAKES_KEYS_OF_FILES | TAKES_PROGRESS | TAKES(NEW) | TAKES(SEEN) | TAKES(STATS) |
               TAKES(SYNC_INTERVAL) | TAKES(NO_SYNC) | TAKES(POPULATE) | TAKES(WAIT) |
               TAKES(REPLICAS) | TAKES_RETRY,
    .opens = OPENS_FILTER,
    .keys_at = 1,
    .run = run_add,
    .run_remote = run_add,
};
