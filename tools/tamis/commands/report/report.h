/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h: what `tamis report` knows of a store, and how its page is written.
 *
 *     report.c           the command: what is in the store, read once
 *     report_page.c      the page: head, a plain table, the data of each filter
 *     page.css, page.js  style and script, through texts.cmake; the script draws the page
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "fields.h"
#include "page.h"
#include "tamis.h"

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

/* What the filters sum up to that the page does not show one by one. */
struct report_rest {
    uint64_t filters, not_ok, items, size_bytes;
};

struct report {
    char *store; /* its directory */
    struct report_rest rest;
    int64_t made_at;
    struct report_filter *filters;
    size_t count, room;
};

void report_write(struct page *page, const struct report *report);

extern const char REPORT_STYLE[];
extern const char REPORT_SCRIPT[];
