/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.c: tamis compare A B - what two filters have in common. */
#include <math.h>

#include "command.h"

static void show_comparison_json(struct out *out, char *const names[2],
                                 const struct tamis_comparison *comparison)
{
    json_t *object = json_new();
    json_put(object, "a", json_text(names[0]));
    json_put(object, "b", json_text(names[1]));
    json_put(object, "items_a", json_unsigned((uint64_t)llround(comparison->items_a)));
    json_put(object, "items_b", json_unsigned((uint64_t)llround(comparison->items_b)));
    json_put(object, "items_union", json_unsigned((uint64_t)llround(comparison->items_union)));
    json_put(object, "items_both", json_unsigned((uint64_t)llround(comparison->items_both)));
    json_put(object, "error", json_unsigned((uint64_t)ceil(comparison->error)));
    json_put(object, "jaccard", json_rate(comparison->jaccard));
    json_print(out, object);
}

static void show_text(struct out *out, char *const names[2],
                      const struct tamis_comparison *comparison)
{
    out_format(out, "a: %s\nb: %s\n", names[0], names[1]);
    out_format(out, "items_a: %lld\n", llround(comparison->items_a));
    out_format(out, "items_b: %lld\n", llround(comparison->items_b));
    out_format(out, "items_union: %lld\n", llround(comparison->items_union));
    out_format(out, "items_both: %lld (give or take %.0f)\n", llround(comparison->items_both),
               ceil(comparison->error));
    out_format(out, "jaccard: %.3f\n", comparison->jaccard);
}

static int run_compare(struct invocation *call)
{
    struct tamis_comparison comparison = {.size = sizeof comparison};
    tamis_filter *other = cli_filter_open(call->store, call->args[1], TAMIS_OPEN_READ_ONLY);
    if (other == NULL) return CLI_ERROR;
    int status = CLI_DONE;
    if (tamis_filter_compare(call->filter, other, &comparison) < 0)
        status = cli_fail_library();
    else if (cli_given(call, TAKES(JSON)))
        show_comparison_json(call->out, call->args, &comparison);
    else
        show_text(call->out, call->args, &comparison);
    return cli_filter_close(other, status);
}

const struct command cli_command_compare = {
    .name = "compare",
    .summary = "estimate what two filters have in common",
    .operands = "A B",
    .options = TAKES(JSON),
    .opens = OPENS_FILTER,
    .flags = TAMIS_OPEN_READ_ONLY,
    .run = run_compare,
};
