/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.c: tamis pages NAME [SORT] - in which pages a filter is mapped. */
#include "command.h"
#include "fields.h"
#include "options.h"
#include "show.h"

static const struct field *const *shown_fields(void)
{
    static const struct field *fields[4];
    fields[0] = field_find("pages");
    fields[1] = field_find("huge_bytes");
    fields[2] = field_find("huge_note");
    return fields;
}

static void print(const struct invocation *call, const struct filter_view *view)
{
    if (cli_given(call, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "name", json_text(view->stat.name));
        for (const struct field *const *f = shown_fields(); *f != NULL; f++)
            json_put(line, (*f)->name, record_value(*f, view));
        json_print(call->out, line);
        return;
    }
    for (const struct field *const *f = shown_fields(); *f != NULL; f++)
        view_print_labelled(view, *f, call->out);
}

static int show(struct invocation *call)
{
    struct filter_view view;
    const int status = view_of_call(call, VIEW_MAPPED, &view);
    if (status == CLI_DONE) print(call, &view);
    view_clear(&view);
    return status;
}

/* The sync has what is in memory come anew, as far as no other process has it mapped. */
static int change(struct invocation *call)
{
    uint32_t pages;
    if (!options_take_pages("pages", call->args[1], &pages)) return CLI_ERROR;
    if (tamis_filter_set_pages(call->store, call->args[0], pages) < 0 ||
        tamis_filter_sync(call->filter) < 0)
        return cli_fail_library();
    return cli_given(call, TAKES(JSON)) ? show(call) : CLI_DONE;
}

static int run_pages(struct invocation *call)
{
    return call->arg_count == 1 ? cli_with_filter(call, TAMIS_OPEN_READ_ONLY, show)
                                : cli_with_filter(call, 0, change);
}

const struct command cli_command_pages = {
    .name = "pages",
    .summary = "in which pages of memory a filter is mapped",
    .operands = "NAME [SORT]",
    .options = TAKES(JSON),
    .run = run_pages,
};
