/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * except.c: tamis except NAME add|remove|list [KEY...]
 *
 * The library writes all exceptions of a filter anew at each call, so all keys go into one call:
 * they are collected in a pile first. A failure or a signal while they are read changes nothing.
 */
#include "command.h"
#include "input/keys.h"
#include "pile.h"

struct change {
    const struct invocation *call;
    struct key_source *source;
    struct pile pile;
};

static int read_pile(struct change *change)
{
    for (;;) {
        const ssize_t count = key_source_next(change->source);
        if (count < 0) return cli_fail("nothing was changed");
        if (count == 0) return CLI_DONE;
        if (change->source->keys_done > TAMIS_EXCEPTIONS_MAX)
            return cli_fail("a filter has at most %d exceptions, and these are more; nothing was "
                            "changed",
                            TAMIS_EXCEPTIONS_MAX);
        for (ssize_t i = 0; i < count; i++)
            pile_add(&change->pile, &change->source->keys[i]);
    }
}

static int add_exceptions(struct change *change, const struct tamis_key *keys)
{
    const struct invocation *call = change->call;
    const int64_t added = tamis_filter_except(call->store, call->args[0], keys, change->pile.count);
    if (added < 0) return cli_fail_named(call->store, call->args[0], added);
    if (cli_given(call, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "keys", json_unsigned(change->pile.count));
        json_put(line, "new", json_unsigned((uint64_t)added));
        json_print(call->out, line);
    }
    return CLI_DONE;
}

static int remove_keys(struct change *change, const struct tamis_key *keys)
{
    const struct invocation *call = change->call;
    const char *name = call->args[0];
    const size_t count = change->pile.count;
    uint8_t *answers = cli_alloc(count);
    const int64_t removed = tamis_filter_unexcept(call->store, name, keys, count, answers);
    for (size_t i = 0; removed >= 0 && i < count; i++) {
        if (cli_given(call, TAKES(JSON)))
            json_print_key(call->out, &keys[i], change->source->hex, "removed",
                           json_boolean(answers[i]));
        if (!answers[i])
            key_source_tell_missing(change->source, &keys[i], "is no exception of '%s'", name);
    }
    free(answers);
    if (removed < 0) return cli_fail_named(call->store, name, removed);
    return (uint64_t)removed < count ? CLI_NOTHING : CLI_DONE;
}

/* Checks that there is such a filter, before the command waits for keys. */
static int look_for(tamis_store *store, const char *name)
{
    tamis_filter *filter = cli_filter_open(store, name, TAMIS_OPEN_READ_ONLY);
    return filter != NULL ? cli_filter_close(filter, CLI_DONE) : CLI_ERROR;
}

static int change(struct invocation *call)
{
    const bool adds = strcmp(call->args[1], "add") == 0;
    struct change change = {.call = call};
    if (look_for(call->store, call->args[0]) != CLI_DONE) return CLI_ERROR;
    interrupt_catch();
    change.source = key_source_new(call, 2);
    change.source->all_or_none = true;
    int status = read_pile(&change);
    progress_end();
    if (interrupt_signal()) {
        status = cli_interrupted("; nothing was changed");
    } else if (status == CLI_DONE) {
        struct tamis_key *keys = pile_keys(&change.pile);
        status = adds ? add_exceptions(&change, keys) : remove_keys(&change, keys);
        free(keys);
    }
    key_source_free(change.source);
    pile_clear(&change.pile);
    return status;
}

static int show_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    const struct invocation *call = context;
    struct out *out = call->out;
    const bool hex = cli_given(call, TAKES(HEX));
    if (cli_given(call, TAKES(JSON))) {
        json_print_key(out, key, hex, "generation", json_unsigned(generation));
    } else {
        if (hex)
            out_hex(out, key->data, key->bytes);
        else
            out_bytes(out, key->data, key->bytes);
        out_char(out, cli_given(call, TAKES(ZERO)) ? '\0' : '\n');
    }
    return out->failed; /* nobody reads on */
}

static int list_exceptions(struct invocation *call)
{
    const int rc = tamis_filter_exceptions(call->store, call->args[0], show_exception, call);
    return rc < 0 ? cli_fail_named(call->store, call->args[0], rc) : CLI_DONE;
}

static int run_list(struct invocation *call)
{
    if (call->arg_count > 2)
        return cli_fail_usage(call->command, "unexpected argument '%s': list takes no keys",
                              call->args[2]);
    if (cli_given(call, TAKES(FILE)))
        return cli_fail_usage(call->command,
                              "option --file is for add and remove: list takes no keys");
    return cli_with_store(call, TAMIS_OPEN_READ_ONLY, list_exceptions);
}

static int run_except(struct invocation *call)
{
    const char *what = call->args[1];
    if (strcmp(what, "list") == 0) return run_list(call);
    if (strcmp(what, "add") != 0 && strcmp(what, "remove") != 0)
        return cli_fail_usage(call->command, "'%s' is not add, remove or list", what);
    return key_source_can_be(call, 2) ? cli_with_store(call, 0, change) : CLI_ERROR;
}

const struct command cli_command_except = {
    .name = "except",
    .summary = "keys that answer absent whatever the bits say",
    .operands = "NAME add|remove|list [KEY...]",
    .options = TAKES_KEYS_OF_FILES | TAKES_PROGRESS,
    .run = run_except,
};
