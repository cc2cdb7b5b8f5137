/* SPDX-License-Identifier: BSD-2-Clause */
/* repair.c: tamis repair [--dry-run] [--rebuild] - make a damaged store whole, a line a step. */
#include "command.h"
#include "record.h"

struct repairs {
    const struct invocation *call;
    uint64_t unmended;
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

static int show_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct repairs *repairs = context;
    repairs->all_bytes = all_bytes;
    progress_update_bytes(done_bytes, all_bytes);
    return 0;
}

static int run(struct invocation *call)
{
    unsigned flags = cli_store_flags(call, 0);
    const bool dry = cli_given(call, TAKES(DRY_RUN));
    struct repairs repairs = {.call = call};
    if (dry) flags |= TAMIS_REPAIR_DRY_RUN;
    if (cli_given(call, TAKES(REBUILD))) flags |= TAMIS_REPAIR_REBUILD;
    char *path = cli_store_path(call);
    if (!path) return CLI_ERROR;
    const struct tamis_repair_options options = {.size = sizeof options,
                                                 .flags = flags,
                                                 .fn = show_step,
                                                 .progress = show_progress,
                                                 .context = &repairs};
    progress_start(&call->options, 0);
    const int64_t steps = tamis_store_repair_with(path, &options);
    free(path);
    if (steps >= 0 && repairs.all_bytes > 0) progress_finish_bytes(repairs.all_bytes);
    progress_end();
    out_flush(call->out); /* the steps first, then their number */
    if (steps < 0) return cli_fail_library();
    if (repairs.unmended > 0)
        return cli_fail("%jd step%s %s; %ju thing%s could not be mended", (intmax_t)steps,
                        text_plural((uintmax_t)steps), dry ? "would be done" : "done",
                        (uintmax_t)repairs.unmended, text_plural(repairs.unmended));
    if (steps == 0)
        cli_tell("there is nothing to repair");
    else
        cli_tell("%jd step%s %s", (intmax_t)steps, text_plural((uintmax_t)steps),
                 dry ? "would be done" : "done");
    return CLI_DONE;
}

const struct command cli_command_repair = {
    .name = "repair",
    .summary = "make a damaged store whole again",
    .operands = "no arguments",
    .options = TAKES(DRY_RUN) | TAKES(REBUILD) | TAKES(JSON) | TAKES_PROGRESS,
    .run = run,
};
