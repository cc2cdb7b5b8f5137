/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "peers.h"

static const char *const team_titles[TEAMS] = {
    "1 process", "2 processes", "2 threads", "3 processes", "4 processes", "1 process, portable C"};

static const struct figure *find(const struct bench_case *c, const char *call,
                                 const char *operation, const char *team)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s/%s/%s/%s", c->prefix, call, operation, team);
    return figure_find(name);
}

/* "100,000,000" */
static const char *grouped(uint64_t number, char text[32])
{
    char plain[24];
    char *out = text;
    const int digits = snprintf(plain, sizeof plain, "%" PRIu64, number);
    for (int i = 0; i < digits; i++) {
        if (i > 0 && (digits - i) % 3 == 0) *out++ = ',';
        *out++ = plain[i];
    }
    *out = '\0';
    return text;
}

void table_head(FILE *out, const struct options *options, const struct machine *m)
{
    (void)fprintf(out, "%s\nTamis %s, batches %s, seed %" PRIu64 "\n", options->command,
                  tamis_version(), m->simd, options->seed);
    (void)fprintf(out, "%s (%s), %u processors, %s\n", m->cpu, m->features, m->processors,
                  m->caches);
    (void)fprintf(
        out,
        "%.1f GiB, pages of %ld bytes, huge pages %s, %s, %s, %s; libbloom: %s; Boost.Bloom: %s\n",
        (double)m->memory_bytes / 1073741824.0, m->page_bytes, m->huge_pages, m->file_system,
        m->kernel, m->compiler, peers_version() != NULL ? peers_version() : "not there",
        peers_have_boost() ? "there" : "not there");
    (void)fprintf(out,
                  "ns a key: least and median of %u samples or more; ratio: least / limit; "
                  "times: as fast as one\n",
                  options->repeats);
}

static void print_limits(FILE *out, const struct bench_case *c)
{
    for (int limit = 0; limit < LIMITS; limit++) {
        (void)fprintf(out, "  limit     %-8s", limit_names[limit]);
        const double one = figure_least(find(c, "limit", limit_names[limit], team_names[0]));
        for (int team = 0; team < TEAMS; team++) {
            const struct figure *figure = find(c, "limit", limit_names[limit], team_names[team]);
            if (!c->teams[team]) continue;
            (void)fprintf(out, "  %7.2f %7.2f        ", figure_least(figure),
                          figure_median(figure));
            if (team != TEAM_P1) (void)fprintf(out, " %6.2f", one / figure_least(figure));
        }
        (void)fprintf(out, "\n");
    }
}

static void print_figure(FILE *out, const struct figure *figure, const struct figure *one)
{
    if (figure == NULL) {
        (void)fprintf(out, "        -       -      -");
        if (one != NULL) (void)fprintf(out, "      -");
        return;
    }
    (void)fprintf(out, "  %7.2f %7.2f", figure_least(figure), figure_median(figure));
    if (figure->limit_ns > 0)
        (void)fprintf(out, " %6.2f ", figure_least(figure) / figure->limit_ns);
    else
        (void)fprintf(out, "      - ");
    if (one != NULL) (void)fprintf(out, " %6.2f", figure_least(one) / figure_least(figure));
}

static void print_row(FILE *out, const struct bench_case *c, const char *call,
                      const char *operation)
{
    const struct figure *one = find(c, call, operation, "p1");
    const struct figure *last = NULL;
    for (int team = 0; team < TEAMS; team++) {
        const struct figure *figure = find(c, call, operation, team_names[team]);
        if (figure != NULL) last = figure;
    }
    if (last == NULL) return;
    (void)fprintf(out, "  %-9s %-8s", call, operation);
    for (int team = 0; team < TEAMS; team++)
        if (c->teams[team])
            print_figure(out, find(c, call, operation, team_names[team]),
                         team == TEAM_P1 ? NULL : one);
    (void)fprintf(out, "  %s\n", last->limit);
}

void table_case(FILE *out, const struct bench_case *c)
{
    char keys[32];
    (void)fprintf(out, "\n%s: %s keys at %.2g %%, k = %u, %.2f MB\n", c->title,
                  grouped(c->keys, keys), c->fp_rate * 100, c->k, (double)c->data_bytes / 1e6);
    (void)fprintf(out, "  %-18s", "");
    for (int team = 0; team < TEAMS; team++)
        if (c->teams[team])
            (void)fprintf(out, team == TEAM_P1 ? "  %-23s" : "  %-30s", team_titles[team]);
    (void)fprintf(out, "\n  %-18s", "");
    for (int team = 0; team < TEAMS; team++)
        if (c->teams[team])
            (void)fprintf(out, "    least  median  ratio%s", team == TEAM_P1 ? " " : "   times");
    (void)fprintf(out, " limit\n");
    print_limits(out, c);
    for (int call = 0; call < CALLS; call++)
        for (int operation = 0; operation < OPERATIONS; operation++)
            print_row(out, c, call_names[call], operation_names[operation]);
    print_row(out, c, "libbloom", "add");
    print_row(out, c, "libbloom", "hit");
    print_row(out, c, "libbloom", "miss");
    print_row(out, c, "boost", "add");
    print_row(out, c, "boost", "hit");
    print_row(out, c, "boost", "miss");
    const struct figure *build = find(c, "batch", "build", "all");
    if (build != NULL)
        (void)fprintf(out,
                      "  build, all processors: %.1f ns a key, sorting and writing to the disk "
                      "included\n",
                      figure_least(build));
    (void)fflush(out);
}

void table_growth(FILE *out, const struct bench_case *c, bool first)
{
    static const char *const columns[] = {"add", "re-add", "hit", "miss"};
    const char *axis = strchr(c->prefix, '/') + 1;
    const char *value = strchr(axis, '/') + 1;
    char keys[32];
    if (first)
        (void)fprintf(out, "\n%.*s: of %s, ns a key, least; the limit: a line read\n%12s  team",
                      (int)(value - axis - 1), axis,
                      strncmp(axis, "keys", 4) == 0 ? "a filter at 0.1 %" : "a filter at 1 %", "");
    for (size_t i = 0; first && i < 4; i++)
        (void)fprintf(out, " %8s", columns[i]);
    if (first) (void)fprintf(out, " %8s  single:hit    miss  segments        MB\n", "limit");
    for (int team = 0; team < TEAMS; team++) {
        if (!c->teams[team]) continue;
        (void)fprintf(out, "%13s   %s", grouped(strtoull(value, NULL, 10), keys), team_names[team]);
        for (size_t i = 0; i < 4; i++)
            (void)fprintf(out, " %8.2f",
                          figure_least(find(c, "batch", columns[i], team_names[team])));
        (void)fprintf(out, " %8.2f  %10.2f %7.2f  %8u  %8.2f\n",
                      figure_least(find(c, "limit", "line", team_names[team])),
                      figure_least(find(c, "single", "hit", team_names[team])),
                      figure_least(find(c, "single", "miss", team_names[team])), c->segments,
                      (double)c->all_bytes / 1e6);
    }
    (void)fflush(out);
}

void table_size(FILE *out, const struct bench_case *c, bool first)
{
    static const char *const figures[][2] = {
        {"batch", "add"},  {"limit", "two-ors"}, {"batch", "re-add"}, {"batch", "hit"},
        {"batch", "miss"}, {"limit", "line"},    {"boost", "add"},    {"boost", "hit"}};
    const size_t columns = sizeof figures / sizeof figures[0];
    char keys[32];
    if (first) (void)fprintf(out, "\nfilters at 1 %%, ns a key, least\n%14s %5s", "keys", "pages");
    for (size_t i = 0; first && i < columns; i++)
        (void)fprintf(out, " %8s", i < 6 ? figures[i][1] : i == 6 ? "Boost:add" : "hit");
    if (first)
        (void)fprintf(out, " %9s %7s %7s %9s %7s\n", "fill s", "sync s", "open us", "tables KB",
                      "huge %");
    (void)fprintf(out, "%14s %5s", grouped(c->keys, keys), tamis_pages_name(c->pages));
    for (size_t i = 0; i < columns; i++)
        (void)fprintf(out, " %8.2f", figure_least(find(c, figures[i][0], figures[i][1], "p1")));
    (void)fprintf(out, " %9.2f %7.2f %7.1f %9.0f %7.1f\n", c->fill_s, c->sync_s, c->open_us,
                  (double)c->table_bytes / 1e3,
                  100.0 * (double)c->huge_bytes / (double)c->data_bytes);
    (void)fflush(out);
}

void table_requirements(FILE *out, const struct requirement *list, unsigned count)
{
    if (count == 0) return;
    (void)fprintf(out, "\n%-58s %9s %9s %9s  holds\n", "requirement (the least of each figure)",
                  "measured", "limit", "wanted");
    for (unsigned i = 0; i < count; i++) {
        const struct requirement *r = &list[i];
        const bool ns = strcmp(r->unit, "ns") == 0;
        char limit[32] = "-";
        if (r->limit > 0) (void)snprintf(limit, sizeof limit, "%.2f", r->limit);
        (void)fprintf(out, "%-58s %9.2f %9s  %c %6.2f  %-3s  %s\n", r->what, r->measured, limit,
                      ns ? '<' : '>', r->wanted, r->holds ? "yes" : "NO", r->rule);
    }
}
