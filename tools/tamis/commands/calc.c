/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calc.c: tamis calc - capacity, rate, bits and hashes from one another.
 *
 * All arithmetic is the library's.  With -n, and -p or its default, what is told is the plan by
 * which `create` makes the filter (tamis_filter_plan), with what growth costs.  All else is
 * tamis_size().
 * --table alone is the classic formula, (1 - e^(-k n/m))^k, as textbooks print it.
 */
#include <math.h>

#include "command.h"
#include "planned.h"
#include "table.h"

#define TAKES_SIZING (TAKES(CAPACITY) | TAKES(RATE) | TAKES(BITS) | TAKES(HASHES))

/* One row of the table: a plan, or the reason why there is none. */
struct row {
    uint32_t kind;
    struct planned planned;
    char *reason; /* NULL where there is a plan */
};

#define KIND_COUNT 16 /* more than there are kinds */

static void size_row(struct row *row)
{
    struct tamis_sizing *sizing = &row->planned.first;
    sizing->size = sizeof *sizing;
    sizing->kind = row->kind;
    if (tamis_size(sizing) < 0) row->reason = cli_strdup(tamis_last_error());
}

/* As `create` makes it.  RATE is what was asked for, of which the first segment has a share. */
static void plan_row(struct row *row, const struct options *options)
{
    const double rate = row->planned.first.fp_rate;
    const struct tamis_filter_spec spec = {.size = sizeof spec,
                                           .kind = row->kind,
                                           .capacity = options->capacity,
                                           .fp_rate = rate,
                                           .counter_bits = row->planned.first.counter_bits,
                                           .on_full = options->on_full};
    if (planned_of(&spec, &row->planned) < 0) row->reason = cli_strdup(tamis_last_error());
    row->planned.first.fp_rate = rate;
}

/* ---- --memory ----------------------------------------------------------------------------- */

/* How many bits or counters fit. A fuse filter also stores the seeds of its pieces: 64 bytes, plus
 * 8 for each 1.5 million keys of a byte and more. */
static uint64_t places_in(const struct tamis_sizing *sizing, uint64_t memory_bytes)
{
    if (tamis_kind_has(sizing->kind, TAMIS_KIND_IS_STATIC)) {
        const uint64_t seeds_bytes = 64 + memory_bytes / 187500;
        return memory_bytes > seeds_bytes ? (memory_bytes - seeds_bytes) * 8 : 1;
    }
    return memory_bytes * 8 / (sizing->counter_bits ? sizing->counter_bits : 1);
}

/* With both n and p: if what they need fits, takes all of the memory, the best k for it (or the k
 * that was given), and the rate that comes of it. */
static void size_within(struct row *row, uint64_t memory_bytes)
{
    const struct tamis_sizing asked = row->planned.first;
    size_row(row);
    if (row->reason != NULL) return;
    if (row->planned.first.data_bytes > memory_bytes) {
        row->reason = cli_format(
            "%ju %s %ju bytes at a rate of %g, more than the %ju of --memory",
            (uintmax_t)asked.capacity, asked.capacity == 1 ? "key needs" : "keys need",
            (uintmax_t)row->planned.first.data_bytes, asked.fp_rate, (uintmax_t)memory_bytes);
        return;
    }
    row->planned.first = (struct tamis_sizing){.size = sizeof(struct tamis_sizing),
                                               .kind = asked.kind,
                                               .capacity = asked.capacity,
                                               .m_bits = places_in(&asked, memory_bytes),
                                               .k = asked.k,
                                               .counter_bits = asked.counter_bits};
    size_row(row);
    row->planned.first.fp_rate = asked.fp_rate; /* RATE is what was asked for */
}

static void size_to_memory(struct row *row, const struct options *options)
{
    bool n = options_have(options, TAKES(CAPACITY));
    bool p = options_have(options, TAKES(RATE));
    if (n && p) {
        size_within(row, options->memory_bytes);
        return;
    }
    row->planned.first.m_bits = places_in(&row->planned.first, options->memory_bytes);
    if (!n && !p && !options_have(options, TAKES(HASHES)))
        row->planned.first.fp_rate = TAMIS_FP_RATE_DEFAULT;
    size_row(row);
}

/* ---- Printing ----------------------------------------------------------------------------- */

static void cell_number(struct table *table, uint64_t number)
{
    if (number > 0)
        table_format(table, "%ju", (uintmax_t)number);
    else
        table_cell(table, "-");
}

static void cell_rate(struct table *table, double rate)
{
    if (rate > 0)
        table_format(table, "%.3g", rate);
    else
        table_cell(table, "-");
}

static void add_sizing_row(struct table *table, const struct row *row)
{
    static const struct tamis_sizing nothing = {.size = sizeof nothing};
    const struct tamis_sizing *sizing = row->reason != NULL ? &nothing : &row->planned.first;
    table_cell(table, tamis_kind_name(row->kind));
    cell_number(table, sizing->capacity);
    cell_rate(table, sizing->fp_rate);
    cell_number(table, sizing->m_bits);
    cell_number(table, sizing->k);
    if (sizing->bits_per_key > 0)
        table_format(table, "%.2f", sizing->bits_per_key);
    else
        table_cell(table, "-");
    cell_number(table, sizing->data_bytes);
    cell_rate(table, sizing->predicted_rate);
}

/* Why there is no such filter, or what its growth costs. */
static void print_remark(struct out *out, const struct row *row)
{
    char *growth = row->reason == NULL ? planned_growth(&row->planned) : NULL;
    const char *remark = row->reason != NULL ? row->reason : growth;
    if (remark != NULL) out_format(out, "%s: %s\n", tamis_kind_name(row->kind), remark);
    free(growth);
}

static void print_rows(struct out *out, const struct row *rows, size_t count)
{
    static const char *const header[] = {"KIND", "CAPACITY", "RATE",  "M",
                                         "K",    "BITS/KEY", "BYTES", "TRUE-RATE"};
    struct table table;
    table_init(&table, "lrrrrrrr", header);
    for (size_t i = 0; i < count; i++)
        add_sizing_row(&table, &rows[i]);
    table_print(&table, out);
    table_clear(&table);
    for (size_t i = 0; i < count; i++)
        print_remark(out, &rows[i]);
}

static void print_row_json(struct out *out, const struct row *row)
{
    json_t *line = json_new();
    json_put(line, "kind", json_text(tamis_kind_name(row->kind)));
    if (row->reason != NULL)
        json_put(line, "error", json_text(row->reason));
    else
        planned_put(&row->planned, line);
    json_print(out, line);
}

/* Called when no kind can do it. Prints the reasons, or one of them if all are the same. */
static int fail_all(const struct row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(rows[i].reason, rows[0].reason) == 0) continue;
        for (size_t j = 0; j < count; j++)
            cli_tell("%s: %s", tamis_kind_name(rows[j].kind), rows[j].reason);
        return CLI_ERROR;
    }
    return cli_fail("%s", rows[0].reason);
}

static int show_sizings(const struct invocation *call, const struct row *rows, size_t count)
{
    size_t done = 0;
    for (size_t i = 0; i < count; i++)
        done += rows[i].reason == NULL;
    if (done == 0) return fail_all(rows, count);
    if (!cli_given(call, TAKES(JSON))) {
        print_rows(call->out, rows, count);
        return CLI_DONE;
    }
    for (size_t i = 0; i < count; i++)
        print_row_json(call->out, &rows[i]);
    return CLI_DONE;
}

/* -n alone is enough: the rate is that of `create`. */
static double rate_of(const struct options *options)
{
    const bool alone = options_count(options, TAKES_SIZING) == 1 &&
                       options_have(options, TAKES(CAPACITY)) &&
                       !options_have(options, TAKES(MEMORY));
    return alone ? TAMIS_FP_RATE_DEFAULT : options->fp_rate;
}

/* Is it asked what `create` makes of -n and -p? */
static bool is_planned(const struct options *options)
{
    return options_have(options, TAKES(CAPACITY)) &&
           !options_have(options, TAKES(BITS) | TAKES(HASHES) | TAKES(MEMORY));
}

static int calc_sizes(const struct invocation *call)
{
    const struct options *options = &call->options;
    struct row rows[KIND_COUNT];
    size_t count = 0;
    for (uint32_t kind = tamis_kind_next(TAMIS_KIND_DEFAULT);
         kind != TAMIS_KIND_DEFAULT && count < KIND_COUNT; kind = tamis_kind_next(kind)) {
        if (options_have(options, TAKES(KIND)) && options->kind != kind) continue;
        struct row *row = &rows[count++];
        *row = (struct row){.kind = kind,
                            .planned.first = {.kind = kind,
                                              .capacity = options->capacity,
                                              .fp_rate = rate_of(options),
                                              .m_bits = options->m_bits,
                                              .k = options->k}};
        if (tamis_kind_has(kind, TAMIS_KIND_COUNTS))
            row->planned.first.counter_bits = options->counter_bits ? options->counter_bits : 4;
        if (options_have(options, TAKES(MEMORY)))
            size_to_memory(row, options);
        else if (is_planned(options) && !tamis_kind_has(kind, TAMIS_KIND_IS_STATIC))
            plan_row(row, options);
        else
            size_row(row);
    }
    int status = show_sizings(call, rows, count);
    for (size_t i = 0; i < count; i++)
        free(rows[i].reason);
    return status;
}

/* ---- --table ------------------------------------------------------------------------------ */

#define TABLE_M_OVER_N_MIN 2
#define TABLE_M_OVER_N_MAX 32
#define TABLE_K_MAX 8

static double textbook_rate(double m_over_n, double k)
{
    return pow(-expm1(-k / m_over_n), k);
}

static double best_k(double m_over_n)
{
    return m_over_n * log(2);
}

static void print_table_json(struct out *out)
{
    for (int m = TABLE_M_OVER_N_MIN; m <= TABLE_M_OVER_N_MAX; m++) {
        json_t *rates = json_array();
        for (int k = 1; k <= TABLE_K_MAX; k++)
            json_append(rates, json_rate(textbook_rate(m, k)));
        json_t *line = json_new();
        json_put(line, "m_over_n", json_unsigned((uint64_t)m));
        json_put(line, "best_k", json_rate(best_k(m)));
        json_put(line, "rates", rates);
        json_print(out, line);
    }
}

static void print_table(struct out *out)
{
    struct table table;
    table_init(&table, "rrrrrrrrrr", NULL);
    table_cell(&table, "M/N");
    table_cell(&table, "BEST-K");
    for (int k = 1; k <= TABLE_K_MAX; k++)
        table_format(&table, "K=%d", k);
    for (int m = TABLE_M_OVER_N_MIN; m <= TABLE_M_OVER_N_MAX; m++) {
        table_format(&table, "%d", m);
        table_format(&table, "%#.3g", best_k(m));
        for (int k = 1; k <= TABLE_K_MAX; k++)
            table_format(&table, "%#.3g", textbook_rate(m, k));
    }
    table_print(&table, out);
    table_clear(&table);
}

/* ---- The command -------------------------------------------------------------------------- */

static int run_calc(struct invocation *call)
{
    const struct options *options = &call->options;
    if (options_have(options, TAKES(TABLE))) {
        if (options_have(options, TAKES_SIZING | TAKES(MEMORY) | TAKES(KIND) | TAKES(COUNTER_BITS) |
                                      TAKES(ON_FULL)))
            return cli_fail_usage(call->command, "--table takes no other values");
        if (options_have(options, TAKES(JSON)))
            print_table_json(call->out);
        else
            print_table(call->out);
        return CLI_DONE;
    }
    if (options_have(options, TAKES(MEMORY)) && options->memory_bytes > UINT64_MAX / 8)
        return cli_fail("--memory of %ju bytes has more than 2^64-1 bits",
                        (uintmax_t)options->memory_bytes);
    if (!options_have(options, TAKES(MEMORY) | TAKES(CAPACITY)) &&
        options_count(options, TAKES_SIZING) < 2)
        return cli_fail_usage(call->command, "give -n, two of -n, -p, -m and -k, or --memory SIZE");
    if (options_have(options, TAKES(ON_FULL)) && !is_planned(options))
        return cli_fail_usage(call->command, "--on-full goes with -n and -p");
    return calc_sizes(call);
}

const struct command cli_command_calc = {
    .name = "calc",
    .summary = "capacity, rate, bits and hashes from one another",
    .operands = "no arguments, only options",
    .options = TAKES_SIZING | TAKES(MEMORY) | TAKES(TABLE) | TAKES(KIND) | TAKES(COUNTER_BITS) |
               TAKES(ON_FULL) | TAKES(JSON),
    .run = run_calc,
};
