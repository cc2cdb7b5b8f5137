/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h: what `tamis report` knows of a store, and the parts that its page is written by.
 *
 *     report.c          the command: what is in the store, read once
 *     report_page.c     the page: head, what needs attention, catalog, a section a filter
 *     report_charts.c   heat map, rate, growth, generations
 *     report_window.c   the slices of a window over time
 *     page.css, page.js  style and script, through texts.cmake
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "fields.h"
#include "page.h"
#include "tamis_build.h"

struct report_filter {
    char name[TAMIS_NAME_MAX + 1];
    char *error; /* the library's sentence where it cannot be read; then nothing below is there */
    struct filter_view view;
    json_t *info;                              /* as `info --json` prints it */
    size_t columns, rows;                      /* of a segment's heat map */
    double *fill;                              /* of each segment columns * rows parts */
    struct tamis_generation_stat *generations; /* the oldest first */
    size_t generation_count;
};

struct report {
    char *store; /* its directory */
    int64_t made_at;
    struct report_filter *filters;
    size_t count, room;
};

void report_write(struct page *page, const struct report *report);

/* The charts of a section, each a <figure> or nothing. */
void chart_heat(struct page *page, const struct report_filter *filter);
void chart_rate(struct page *page, const struct report_filter *filter);
void chart_segments(struct page *page, const struct report_filter *filter);
void chart_generations(struct page *page, const struct report_filter *filter);
void chart_window(struct page *page, const struct report_filter *filter, int64_t now);

/* A cell with a bar of `done` on one of `whole`, both as shares of the column. */
void report_bar(struct page *page, double done, double whole);

extern const char REPORT_STYLE[];
extern const char REPORT_SCRIPT[];

/* ---- Numbers as people read them; each writes REPORT_TEXT bytes at most and returns text. */

#define REPORT_TEXT 48
const char *report_count(char *text, uint64_t count); /* 12,345 */
const char *report_short(char *text, double count);   /* 12.3 k */
const char *report_rate(char *text, double rate);   /* 0.48 %; below 0.01 % 1.2e-6, as -p has it */
const char *report_share(char *text, double share); /* 38.0 % */

/* A number field of the info; 0 where it is null. */
double report_number(const struct report_filter *filter, const char *field);
