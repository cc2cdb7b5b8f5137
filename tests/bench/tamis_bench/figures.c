/* SPDX-License-Identifier: BSD-2-Clause */
#include "figures.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct figure **figures;
static size_t figure_count;

const struct figure *figure_find(const char *name)
{
    for (size_t i = 0; i < figure_count; i++)
        if (strcmp(figures[i]->name, name) == 0) return figures[i];
    return NULL;
}

struct figure *figure_at(size_t index)
{
    return index < figure_count ? figures[index] : NULL;
}

struct figure *figure_get(const char *name)
{
    for (size_t i = 0; i < figure_count; i++)
        if (strcmp(figures[i]->name, name) == 0) return figures[i];
    struct figure *figure = calloc(1, sizeof *figure);
    struct figure **more = realloc(figures, (figure_count + 1) * sizeof(struct figure *));
    if (figure == NULL || more == NULL) err(1, "memory for figures");
    figures = more;
    (void)snprintf(figure->name, sizeof figure->name, "%s", name);
    figures[figure_count++] = figure;
    return figure;
}

void figure_add(struct figure *figure, unsigned level, double ns)
{
    if (level >= LEVELS_MAX || figure->counts[level] >= SAMPLES_MAX) return;
    if (level >= figure->levels) figure->levels = level + 1;
    figure->samples[level][figure->counts[level]++] = ns;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean over the levels of the sample that stands at that share of the way up. */
static double mean_of(const struct figure *figure, double share)
{
    double sum = 0, sorted[SAMPLES_MAX];
    unsigned levels = 0;
    for (unsigned level = 0; level < figure->levels; level++) {
        const unsigned count = figure->counts[level];
        if (count == 0) continue;
        memcpy(sorted, figure->samples[level], count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, ascending);
        sum += sorted[(size_t)((double)(count - 1) * share)];
        levels++;
    }
    return levels > 0 ? sum / levels : 0;
}

double figure_least(const struct figure *figure)
{
    return figure == NULL ? 0 : mean_of(figure, 0);
}

double figure_median(const struct figure *figure)
{
    return figure == NULL ? 0 : mean_of(figure, 0.5);
}

double figure_ns(const char *format, ...)
{
    char name[96];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return figure_least(figure_find(name));
}
