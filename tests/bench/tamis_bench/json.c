/* SPDX-License-Identifier: BSD-2-Clause */
#include "json.h"

#include <err.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "peers.h"

static json_t *need(json_t *value)
{
    if (value == NULL) errx(1, "no memory for JSON");
    return value;
}

static json_t *json_of_machine(const struct machine *m)
{
    return need(json_pack("{s:s, s:s, s:s, s:i, s:s, s:I, s:I, s:s, s:s, s:s, s:s}", "cpu", m->cpu,
                          "simd", m->simd, "features", m->features, "processors",
                          (int)m->processors, "caches", m->caches, "page_bytes",
                          (json_int_t)m->page_bytes, "memory_bytes", (json_int_t)m->memory_bytes,
                          "huge_pages", m->huge_pages, "kernel", m->kernel, "compiler", m->compiler,
                          "file_system", m->file_system));
}

static json_t *json_of_settings(const struct options *o)
{
    return need(json_pack("{s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:b, s:b, s:b, s:s?}", "out_keys",
                          (json_int_t)o->out_keys, "in_keys", (json_int_t)o->in_keys, "sample_keys",
                          (json_int_t)o->sample_keys, "levels", (int)o->levels, "repeats",
                          (int)o->repeats, "batch", (int)o->batch, "max_keys",
                          (json_int_t)o->max_keys, "quick", (int)o->quick, "grow", (int)o->grow,
                          "sizes", (int)o->sizes, "only", o->only_text));
}

static json_t *json_of_case(const struct bench_case *c)
{
    return need(json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:i, s:i, s:I, s:I, s:s, s:f, s:f, s:f, "
                          "s:I, s:I}",
                          "name", c->prefix, "title", c->title, "kind", tamis_kind_name(c->kind),
                          "keys", (json_int_t)c->keys, "capacity", (json_int_t)c->capacity,
                          "fp_rate", c->fp_rate, "k", (int)c->k, "segments", (int)c->segments,
                          "data_bytes", (json_int_t)c->data_bytes, "all_bytes",
                          (json_int_t)c->all_bytes, "pages", tamis_pages_name(c->pages), "fill_s",
                          c->fill_s, "sync_s", c->sync_s, "open_us", c->open_us, "table_bytes",
                          (json_int_t)c->table_bytes, "huge_bytes", (json_int_t)c->huge_bytes));
}

static json_t *json_of_samples(const struct figure *figure)
{
    json_t *levels = need(json_array());
    for (unsigned level = 0; level < figure->levels; level++) {
        json_t *samples = need(json_array());
        for (unsigned i = 0; i < figure->counts[level]; i++)
            (void)json_array_append_new(samples, need(json_real(figure->samples[level][i])));
        (void)json_array_append_new(levels, samples);
    }
    return levels;
}

/* The parts of its name, each under its own key too. */
static json_t *json_of_figure(const struct figure *figure)
{
    static const char *const parts[] = {"kind", "keys", "place", "call", "operation", "team"};
    char name[sizeof figure->name], *rest = name;
    json_t *object =
        need(json_pack("{s:s, s:f, s:f, s:I, s:I}", "name", figure->name, "least_ns",
                       figure_least(figure), "median_ns", figure_median(figure), "keys_used",
                       (json_int_t)figure->keys, "yes", (json_int_t)figure->yes));
    memcpy(name, figure->name, sizeof name);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *part = strsep(&rest, "/");
        (void)json_object_set_new(object, parts[i], need(json_string(part != NULL ? part : "")));
    }
    if (figure->limit_ns > 0) {
        (void)json_object_set_new(object, "limit", need(json_string(figure->limit)));
        (void)json_object_set_new(object, "limit_ns", need(json_real(figure->limit_ns)));
        (void)json_object_set_new(object, "ratio",
                                  need(json_real(figure_least(figure) / figure->limit_ns)));
    }
    (void)json_object_set_new(object, "samples_ns", json_of_samples(figure));
    return object;
}

static json_t *json_of_requirement(const struct requirement *r)
{
    return need(json_pack("{s:s, s:s, s:f, s:f, s:f, s:s, s:b}", "what", r->what, "unit", r->unit,
                          "measured", r->measured, "limit", r->limit, "wanted", r->wanted, "rule",
                          r->rule, "holds", (int)r->holds));
}

void json_write_results(const struct results *results, const char *path)
{
    json_t *cases = need(json_array()), *figures = need(json_array());
    json_t *requirements = need(json_array());
    for (unsigned i = 0; i < results->case_count; i++)
        (void)json_array_append_new(cases, json_of_case(&results->cases[i]));
    const struct figure *figure;
    for (size_t i = 0; (figure = figure_at(i)) != NULL; i++)
        (void)json_array_append_new(figures, json_of_figure(figure));
    for (unsigned i = 0; i < results->requirement_count; i++)
        (void)json_array_append_new(requirements, json_of_requirement(&results->requirements[i]));
    json_t *all = need(
        json_pack("{s:s, s:s, s:s, s:I, s:s?, s:b, s:o, s:o, s:o, s:o, s:o}", "program",
                  "tamis-bench", "version", tamis_version(), "command", results->options->command,
                  "seed", (json_int_t)results->options->seed, "libbloom", peers_version(), "boost",
                  (int)peers_have_boost(), "machine", json_of_machine(results->machine), "settings",
                  json_of_settings(results->options), "cases", cases, "figures", figures,
                  "requirements", requirements));
    const size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(6);
    const int rc =
        strcmp(path, "-") == 0 ? json_dumpf(all, stdout, flags) : json_dump_file(all, path, flags);
    if (rc != 0) err(1, "%s", path);
    json_decref(all);
}
