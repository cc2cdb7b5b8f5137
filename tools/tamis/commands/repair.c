/* SPDX-License-Identifier: BSD-2-Clause */
/* repair.c: tamis repair [--dry-run] [--rebuild] [--from BACKUP] - make a damaged store whole, a
 * line a step; and --list-lost, --restore, --forget-lost of what it has put aside (lost.c). */
#include "command.h"
#include "lost.h"
#include "pull/spool.h"
#include "record.h"
#include "remote/remote.h"

struct repairs {
    const struct invocation *call;
    uint64_t unmended;
    tamis_store *store; /* open while the spools are looked at */
    int64_t spools;     /* of pulls, that were removed */
    uint64_t all_bytes; /* of the segments that are read at the end */
};

#define OF_STEP(how, member) RECORD_MEMBER(how, tamis_repair_step, member)

static const struct field FIELDS_OF_STEP[] = {
    {"file", OF_STEP(POINTER, file)},
    {"filter", OF_STEP(POINTER, filter)},
    {"error", OF_STEP(ERROR, error)},
    {"what", OF_STEP(POINTER, what)},
};

static int show_step(void *context, const struct tamis_repair_step *step)
{
    struct repairs *repairs = context;
    struct out *out = repairs->call->out;
    repairs->unmended += step->error != 0;
    if (cli_given(repairs->call, TAKES(JSON))) {
        json_print(out, record_json(FIELDS(FIELDS_OF_STEP), 0, step));
        return 0;
    }
    out_printable(out, step->file); /* a stray file may have any name */
    out_text(out, step->error != 0 ? ": not mended: " : ": ");
    out_printable(out, step->what);
    out_filter(out, step->filter);
    return 0;
}

static void show_spool(void *context, const char *file)
{
    struct repairs *repairs = context;
    const bool dry = cli_given(repairs->call, TAKES(DRY_RUN));
    const struct tamis_repair_step step = {
        .size = sizeof step,
        .filter = "",
        .file = file,
        .what = dry ? "would be removed: it is of a pull that has ended"
                    : "removed: it is of a pull that has ended"};
    repairs->spools++;
    (void)show_step(repairs, &step);
}

static int filter_exists(void *context, const char *name)
{
    const struct repairs *repairs = context;
    return cli_filter_exists(repairs->store, name);
}

/* Removes what pulls have left.  The exit status. */
static int sweep_pulls(struct repairs *repairs, const char *path)
{
    const struct invocation *call = repairs->call;
    struct spool_sweep sweep = {
        .dry = cli_given(call, TAKES(DRY_RUN)), .tell = show_spool, .context = repairs};
    const struct tamis_store_options options = cli_store_options(call, TAMIS_OPEN_READ_ONLY);
    /* One that cannot be opened has been told of. */
    if (tamis_store_open_with(path, &options, &repairs->store) == 0) sweep.exists = filter_exists;
    const int status = spool_sweep(path, &sweep);
    tamis_store_close(repairs->store);
    return status;
}

static int show_repair_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct repairs *repairs = context;
    repairs->all_bytes = all_bytes;
    progress_update_bytes(done_bytes, all_bytes);
    return 0;
}

static int repair_directory(struct invocation *call, const char *path)
{
    unsigned flags = cli_store_flags(call, 0);
    const bool dry = cli_given(call, TAKES(DRY_RUN));
    struct repairs repairs = {.call = call};
    if (dry) flags |= TAMIS_REPAIR_DRY_RUN;
    if (cli_given(call, TAKES(REBUILD))) flags |= TAMIS_REPAIR_REBUILD;
    const struct tamis_repair_options options = {.size = sizeof options,
                                                 .flags = flags,
                                                 .from = call->options.peer,
                                                 .fn = show_step,
                                                 .progress = show_repair_progress,
                                                 .context = &repairs};
    progress_start(&call->options, 0);
    int64_t steps = tamis_store_repair_with(path, &options);
    const int swept = steps >= 0 ? sweep_pulls(&repairs, path) : CLI_DONE;
    steps += repairs.spools;
    if (steps >= 0 && repairs.all_bytes > 0) progress_finish_bytes(repairs.all_bytes);
    progress_end();
    (void)out_flush(call->out); /* the steps first, then their number */
    if (steps < 0) return cli_fail_library();
    if (swept != CLI_DONE) return swept;
    lost_tell(call);
    if (repairs.unmended > 0) {
        cli_tell("%jd step%s %s; %ju thing%s could not be mended", (intmax_t)steps,
                 text_plural((uintmax_t)steps), dry ? "would be done" : "done",
                 (uintmax_t)repairs.unmended, text_plural(repairs.unmended));
        return CLI_NOTHING;
    }
    if (steps == 0)
        cli_tell("there is nothing to repair");
    else
        cli_tell("%jd step%s %s", (intmax_t)steps, text_plural((uintmax_t)steps),
                 dry ? "would be done" : "done");
    return CLI_DONE;
}

#define OF_LOST (TAKES(LIST_LOST) | TAKES(RESTORE) | TAKES(FORGET_LOST))

static int run_repair(struct invocation *call)
{
    if (call->arg_count > 0)
        return cli_fail("unexpected argument '%s': a store that is a directory is repaired as a "
                        "whole; only of a server, NAME says which filter's lost shards are made "
                        "anew",
                        call->args[0]);
    if (!options_exclusive(call, OF_LOST | TAKES(REBUILD)) ||
        !options_exclusive(call, OF_LOST | TAKES(DRY_RUN)) ||
        !options_exclusive(call, OF_LOST | TAKES(FROM)))
        return CLI_ERROR;
    char *path = cli_store_path(call);
    if (path == NULL) return CLI_ERROR;
    const int status = cli_given(call, TAKES(LIST_LOST))     ? lost_list(call, path)
                       : cli_given(call, TAKES(RESTORE))     ? lost_restore(call, path)
                       : cli_given(call, TAKES(FORGET_LOST)) ? lost_forget(call, path)
                                                             : repair_directory(call, path);
    free(path);
    return status;
}

/* ---- A filter in shards on a server -----------------------------------------------------------
 */

static void show_shard(void *context, const char *key, const char *node)
{
    const struct invocation *call = context;
    const bool dry = cli_given(call, TAKES(DRY_RUN));
    char *what = cli_format("gone from %s; %s anew, empty, so that its keys are new again", node,
                            dry ? "it would be made" : "it was made");
    if (cli_given(call, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "file", json_text(key));
        json_put(line, "filter", json_text(call->args[0]));
        json_put(line, "error", json_text(NULL));
        json_put(line, "what", json_text(what));
        json_print(call->out, line);
    } else {
        out_printable(call->out, key);
        out_format(call->out, ": %s\n", what);
    }
    free(what);
}

static int repair_shards(struct invocation *call)
{
    const bool dry = cli_given(call, TAKES(DRY_RUN));
    if (remote_filter_shards(call->remote) == 0)
        return cli_fail("filter '%s' is one key, which is there; what is damaged in it, 'tamis "
                        "repair' mends on the server's machine, with --store DIR",
                        call->args[0]);
    const int made = remote_repair(call->remote, dry, show_shard, call);
    (void)out_flush(call->out);
    if (made < 0) return CLI_ERROR;
    if (made == 0)
        cli_tell("there is nothing to repair");
    else
        cli_tell("%d shard%s of '%s' %s made anew", made, text_plural((uintmax_t)made),
                 call->args[0],
                 dry        ? "would be"
                 : made > 1 ? "were"
                            : "was");
    return CLI_DONE;
}

static int run_repair_remote(struct invocation *call)
{
    if (call->arg_count == 0)
        return cli_fail(
            "name the filter in shards whose lost ones are to be made anew; to repair a "
            "store, run it on the server's machine, with --store DIR");
    if (!options_none(call, TAKES(REBUILD) | TAKES(FROM) | OF_LOST,
                      "goes with a store that is a directory"))
        return CLI_ERROR;
    return cli_with_filter(call, 0, repair_shards);
}

const struct command cli_command_repair = {
    .name = "repair",
    .summary = "make a damaged store whole again",
    .operands = "[NAME]",
    .options = TAKES(DRY_RUN) | TAKES(REBUILD) | TAKES(FROM) | TAKES(LIST_LOST) | TAKES(RESTORE) |
               TAKES(FORGET_LOST) | TAKES(JSON) | TAKES_PROGRESS,
    .run = run_repair,
    .run_remote = run_repair_remote,
};
