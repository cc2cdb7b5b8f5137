/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: tamis report NAME...|--all -o FILE - a page to look at. */
#include "report.h"

#include <time.h>

#include "command.h"
#include "order.h"

#define LOADS_AGAIN 3

/* ---- What is in the store ----------------------------------------------------------------- */

static struct report_filter *add_filter(struct report *report, const char *name)
{
    report->filters =
        cli_grow(report->filters, report->count + 1, &report->room, sizeof *report->filters);
    struct report_filter *filter = &report->filters[report->count++];
    *filter = (struct report_filter){0};
    memcpy(filter->name, name, strlen(name) + 1);
    return filter;
}

static int by_report_name(const void *a, const void *b)
{
    const struct report_filter *x = a, *y = b;
    return text_compare_names(x->name, y->name);
}

/* A store may have more filters than a browser can show, and than anybody reads.  The page has
 * those in trouble, the worst first, then the largest; the others are summed up. */
#define FILTERS_MOST 1000

struct listed {
    char *name;
    unsigned trouble;
    uint64_t items, size_bytes;
};

struct list {
    struct listed *all;
    size_t count, room;
};

static int add_listed(void *context, const struct tamis_filter_stat *stat)
{
    struct list *list = context;
    list->all = cli_grow(list->all, list->count + 1, &list->room, sizeof *list->all);
    list->all[list->count++] = (struct listed){.name = cli_strdup(stat->name),
                                               .trouble = order_trouble(stat->state),
                                               .items = stat->items,
                                               .size_bytes = stat->size_bytes};
    return interrupt_signal();
}

static int by_weight(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->trouble != y->trouble) return x->trouble > y->trouble ? -1 : 1;
    if (x->size_bytes != y->size_bytes) return x->size_bytes > y->size_bytes ? -1 : 1;
    if (x->items != y->items) return x->items > y->items ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void sum_up(struct report_rest *rest, const struct listed *filter)
{
    rest->filters++;
    rest->not_ok += filter->trouble > 0;
    rest->items += filter->items;
    rest->size_bytes += filter->size_bytes;
}

/* Chooses from all filters of the store.  The exit status. */
static int collect_all(const struct invocation *call, struct report *report)
{
    struct list list = {0};
    const int rc = tamis_store_list_live(call->store, NULL, add_listed, &list);
    if (list.count > FILTERS_MOST) qsort(list.all, list.count, sizeof *list.all, by_weight);
    for (size_t i = 0; i < list.count; i++) {
        if (i < FILTERS_MOST)
            (void)add_filter(report, list.all[i].name);
        else
            sum_up(&report->rest, &list.all[i]);
        free(list.all[i].name);
    }
    free(list.all);
    if (report->count > 0)
        qsort(report->filters, report->count, sizeof *report->filters, by_report_name);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

/* Releases what was read of a filter, so that it can be read again. */
static void unload(struct report_filter *filter)
{
    view_clear(&filter->view);
    json_decref(filter->info);
    free(filter->error);
    free(filter->fill);
    free(filter->generations);
    filter->info = NULL;
    filter->error = NULL;
    filter->fill = NULL;
    filter->generations = NULL;
    filter->generation_count = 0;
}

static void clear_report(struct report *report)
{
    for (size_t i = 0; i < report->count; i++)
        unload(&report->filters[i]);
    free(report->filters);
    free(report->store);
}

static int add_generation(void *context, const struct tamis_generation_stat *stat)
{
    struct report_filter *filter = context;
    const size_t count = filter->generation_count + 1;
    filter->generations = cli_realloc(filter->generations, count * sizeof *stat);
    filter->generations[filter->generation_count++] = *stat;
    return 0;
}

static int load_fill(struct report_filter *filter, tamis_filter *open)
{
    const uint32_t segments = filter->view.stat.segment_count;
    filter->columns = segments == 1 ? 32 : 64;
    filter->rows = segments == 1 ? 12 : segments <= 8 ? 4 : 2;
    const size_t parts = filter->rows * filter->columns;
    int rc = 0;
    filter->fill = cli_alloc(segments * parts * sizeof *filter->fill);
    for (uint32_t i = 0; rc == 0 && i < segments; i++)
        rc = tamis_filter_fill_map(open, i, filter->fill + i * parts, parts);
    return rc;
}

static void drop_seed(json_t *object)
{
    const json_t *seed = json_object_get(object, "seed");
    const bool zero = json_is_integer(seed) && json_integer_value(seed) == 0;
    if (!zero) (void)json_object_del(object, "seed");
}

/* Removes the seeds: a page goes from hand to hand, and anyone who knows the seed can choose keys
 * that harm the filter. */
static json_t *without_seeds(json_t *info)
{
    const json_t *segments = json_object_get(info, "segments");
    drop_seed(info);
    for (size_t i = 0; i < json_array_size(segments); i++)
        drop_seed(json_array_get(segments, i));
    return info;
}

/* Reads one filter. If that fails, the library's sentence stays in the report. */
static int read_report_filter(tamis_store *store, struct report_filter *filter)
{
    tamis_filter *open = NULL;
    int rc = tamis_filter_open(store, filter->name, TAMIS_OPEN_READ_ONLY, &open);
    if (rc == 0) rc = view_load(&filter->view, open, VIEW_FILL | VIEW_MAPPED);
    if (rc == 0) rc = load_fill(filter, open);
    if (rc == 0) rc = tamis_filter_generations(store, filter->name, add_generation, filter);
    if (rc == 0)
        filter->info = without_seeds(view_json(&filter->view));
    else
        filter->error = cli_strdup(tamis_last_error());
    if (tamis_filter_close(open) < 0) (void)cli_fail_library();
    return rc;
}

/* Reads a filter again if the read failed with TAMIS_EINVAL: a list of fewer segments may come into
 * force while the segments are read one by one.
 * */
static int load_settled(tamis_store *store, struct report_filter *filter)
{
    int rc = read_report_filter(store, filter);
    for (int again = 0; rc == TAMIS_EINVAL && again < LOADS_AGAIN; again++) {
        unload(filter);
        rc = read_report_filter(store, filter);
    }
    return rc;
}

/* Reads all filters; those that were dropped since they were listed are left out.  The exit status.
 * */
static int load_all(tamis_store *store, struct report *report, bool listed)
{
    uint64_t done_bytes = 0;
    int status = CLI_DONE;
    for (size_t i = 0; i < report->count && !interrupt_signal();) {
        struct report_filter *filter = &report->filters[i];
        const int rc = load_settled(store, filter);
        if (listed && (rc == TAMIS_ENOTFOUND || rc == TAMIS_EDROPPED)) {
            unload(filter);
            memmove(filter, filter + 1, (--report->count - i) * sizeof *filter);
            continue;
        }
        if (rc < 0) status = cli_fail("%s", filter->error);
        done_bytes += filter->view.stat.size_bytes;
        progress_update_bytes(done_bytes, 0);
        i++;
    }
    return status;
}

/* ---- The command -------------------------------------------------------------------------- */

static bool report_options_suffice(const struct invocation *call)
{
    const bool all = cli_given(call, TAKES(ALL));
    if (call->options.output == NULL || !*call->options.output)
        (void)cli_fail_usage(call->command,
                             "-o needs a file; give -o FILE, or -o - for standard output");
    else if (!all && call->arg_count == 0)
        (void)cli_fail_usage(call->command, "name a filter, or give --all");
    else if (all && call->arg_count > 0)
        (void)cli_fail_usage(call->command, "--all and a name cannot be given together");
    else
        return true;
    return false;
}

/* Collects the names that were given. A name that is not there ends the command before anything is
 * read. */
static int collect_filters(const struct invocation *call, struct report *report)
{
    if (cli_given(call, TAKES(ALL))) return collect_all(call, report);
    for (size_t i = 0; i < call->arg_count; i++) {
        const int there = cli_filter_exists(call->store, call->args[i]);
        if (there < 0) return cli_fail_library();
        if (there == 0) { /* it has the sentence for that */
            tamis_filter *made_since =
                cli_filter_open(call->store, call->args[i], TAMIS_OPEN_READ_ONLY);
            if (made_since == NULL) return CLI_ERROR;
            if (cli_filter_close(made_since, CLI_DONE) != CLI_DONE) return CLI_ERROR;
        }
        (void)add_filter(report, call->args[i]);
    }
    return CLI_DONE;
}

static int write_page(const struct invocation *call, struct report *report, struct stream *stream)
{
    struct page page;
    progress_start(&call->options, 0);
    int status = load_all(call->store, report, cli_given(call, TAKES(ALL)));
    progress_end();
    page_init(&page, stream);
    if (!interrupt_signal()) report_write(&page, report);
    const bool written = page_finish(&page) && !interrupt_signal() && stream_keep(stream);
    page_clear(&page);
    if (interrupt_signal())
        return cli_interrupted(" while writing %s; nothing was replaced", stream->name);
    return written ? status : CLI_ERROR;
}

static int make_page(struct invocation *call)
{
    struct report report = {.made_at = (int64_t)time(NULL) * 1000000000,
                            .store = cli_store_path(call)};
    int status = collect_filters(call, &report);
    if (status == CLI_DONE) {
        interrupt_catch();
        struct stream *stream = stream_write_file(call->options.output, true);
        status = stream != NULL ? write_page(call, &report, stream) : stream_open_status();
        stream_close(stream);
    }
    clear_report(&report);
    return status;
}

static int run_report(struct invocation *call)
{
    return report_options_suffice(call) ? cli_with_store(call, TAMIS_OPEN_READ_ONLY, make_page)
                                        : CLI_ERROR;
}

const struct command cli_command_report = {
    .name = "report",
    .summary = "a page to look at filters",
    .operands = "NAME...|--all",
    .options = TAKES(ALL) | TAKES(OUTPUT) | TAKES_PROGRESS,
    .args_optional = true,
    .run = run_report,
};
