/* SPDX-License-Identifier: BSD-2-Clause */
/* cli_keys.c: command lines that take keys, and what they answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "run_cli.h"

void line_add(struct line *line)
{
    static uint64_t values[KEYS_MAX];
    static const char *const options[] = {"--json", "--new", "--seen"};
    const struct op_keys *keys = &line->op->keys;
    struct outcome *out = line->out;
    const bool again = keys->step == 0 || keys->period != 0; /* keys come twice */
    const unsigned how = (unsigned)random_below(&line->random, again ? 2 : 3);
    const bool stats = one_in(line, 2);
    put(line, "%s|%s", options[how], stats ? "--stats" : "");
    may_put(line, 4, "--no-sync");
    may_put(line, 4, "--populate");
    put_keys(line);
    line_run(line);
    if (line->status != 0) return;
    if (how == 0 ? !values_by_json(line, "new", values)
                 : !answers_by_keys(line, how == 1, how != 1))
        return;
    out->rc = 0;
    for (uint32_t i = 0; i < keys->count; i++) {
        if (how == 0) out->answers[i] = (uint8_t)values[i];
        out->rc += out->answers[i];
    }
    char wanted[80];
    (void)snprintf(wanted, sizeof wanted,
                   how == 0 ? "{\"keys\":%u%s,\"new\":%lld," : "%u key%s, %lld new, ", keys->count,
                   how == 0 || keys->count == 1 ? "" : "s", (long long)out->rc);
    if (stats && strstr(line->said, wanted) == NULL)
        (void)trouble_of(line, "not '%s': %s", wanted, line->said);
}

/* Asks once more by -c and by -q, which must say the same. */
static void count_again(struct line *line, bool inverted, uint32_t matched)
{
    const bool quiet = one_in(line, 2), json = one_in(line, 2);
    line_clear(line);
    line_begin(line, "check");
    put(line, "%s|%s|%s", quiet ? "-q" : "-c", inverted ? "--invert" : "",
        !quiet && json ? "--json" : "");
    put_keys(line);
    line_run(line);
    if (line->status != (matched > 0 ? 0 : 1))
        (void)trouble_of(line, "status %d for %u keys", line->status, matched);
    const double told = quiet || json ? 0 : strtod(line->printed, NULL);
    if (quiet ? line->bytes > 0 : (json ? number_of(line, "count") : told) != matched)
        (void)trouble_of(line, "%u keys match: %s", matched, line->printed);
}

void line_ask(struct line *line)
{
    static uint64_t values[KEYS_MAX];
    const uint32_t count = line->op->keys.count;
    struct outcome *out = line->out;
    const bool json = one_in(line, 3), inverted = one_in(line, 2);
    uint32_t yes = 0;
    may_put(line, 4, "--populate");
    if (json) put(line, "--json");
    if (inverted && !json) put(line, one_in(line, 2) ? "-v" : "--invert");
    put_keys(line);
    line_run(line);
    if (line->status == 2) return;
    if (json ? !values_by_json(line, "present", values)
             : !answers_by_keys(line, !inverted, inverted))
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (json) out->answers[i] = (uint8_t)values[i];
        yes += out->answers[i];
    }
    const uint32_t matched = inverted && !json ? count - yes : yes;
    if (line->status != (matched > 0 ? 0 : 1))
        (void)trouble_of(line, "status %d, and %u keys match", line->status, matched);
    out->rc = yes;
    if (one_in(line, 2)) count_again(line, inverted, inverted ? count - yes : yes);
}

/* --json says it of each key; the text says on standard error which keys were not there. */
void line_remove(struct line *line)
{
    static uint64_t values[KEYS_MAX];
    const uint32_t count = line->op->keys.count;
    struct outcome *out = line->out;
    const bool off = line->op->kind == OP_UNEXCEPT;
    uint32_t done = 0, told = 0;
    put(line, "--json|%s", off ? "--no-progress" : "");
    put_keys(line);
    line_run(line);
    for (const char *at = line->said; (at = strchr(at, '\n')) != NULL; at++)
        told++;
    if (line->status == 2 && line->bytes == 0) return;
    if (!values_by_json(line, "removed", values)) return;
    for (uint32_t i = 0; i < count; i++) {
        out->answers[i] = (uint8_t)values[i];
        done += out->answers[i];
    }
    out->rc = done;
    if (line->status != (done == count ? 0 : off ? 1 : 2) || told != count - done)
        (void)trouble_of(line, "status %d, %u of %u removed, %u said", line->status, done, count,
                         told);
    line->status = 0;
}

static bool counts_by_text(struct line *line)
{
    const char *piece = NULL;
    size_t bytes = 0;
    for (uint32_t i = 0; i < line->op->keys.count; i++) {
        if (!next_piece(line, line->nul ? '\0' : '\n', &piece, &bytes))
            return trouble_of(line, "few lines");
        const char *tab = memrchr(piece, '\t', bytes);
        if (tab == NULL || !is_key(line, piece, (size_t)(tab - piece), &lists[0][i]))
            return trouble_of(line, "line %u: %.60s", i, piece);
        line->out->counts[i] = strtoull(tab + 1, NULL, 10);
    }
    return true;
}

void line_count(struct line *line)
{
    struct outcome *out = line->out;
    const bool json = one_in(line, 2);
    uint32_t some = 0;
    if (json) put(line, "--json");
    put_keys(line);
    line_run(line);
    if (line->status == 2 ||
        !(json ? values_by_json(line, "count", out->counts) : counts_by_text(line)))
        return;
    for (uint32_t i = 0; i < line->op->keys.count; i++)
        some += out->counts[i] != 0;
    out->rc = line->op->kind == OP_COUNT ? (int64_t)out->counts[0] : some;
}

void line_except(struct line *line)
{
    put(line, "--json");
    put_keys(line);
    line_run(line);
    if (line->status != 0) return;
    line->out->rc = (int64_t)number_of(line, "new");
    if (number_of(line, "keys") != line->op->keys.count) (void)trouble_of(line, "keys");
}
