/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * figures.h: what `tamis top` shows, as rows of text and as JSON.
 *
 *     top.c        the command: options, and the plain forms (--once, --json, no terminal)
 *     figures.c    looks at the store, compares with the look before, sorts
 *     screen.c     the live view, by ncurses
 *
 * The figures are those of the headers, which adders count up in any case.  A filter counts keys
 * that were new, so there is no number of keys that were asked for or were known.
 */
#pragma once

#include "command.h"
#include "order.h"
#include "part.h"
#include "table.h"

/* Keys of --sort that only `top` has, behind ORDER_KEYS. */
enum { TOP_NEW = ORDER_KEYS, TOP_FULL_IN, TOP_KEYS };

/* A filter, or a segment of the one that is looked at. */
struct figures_row {
    struct tamis_filter_stat stat; /* of a segment: its own values; name is its number */
    double new_per_second;         /* NaN: not known, as at the first look */
    double full_in_seconds;        /* until the capacity is reached at this speed; NaN: not known */
    int64_t slice_start;           /* of a segment of a window; else 0 */
    bool is_past;                  /* a segment that the window has left behind */
};

struct figures_rows {
    struct figures_row *all;
    size_t count, room;
};

struct figures {
    const struct invocation *call;
    tamis_watch *watch;   /* NULL: to be made at the next look */
    tamis_filter *filter; /* open while its segments are shown */
    char *filter_name;
    struct figures_rows now;    /* sorted */
    struct figures_rows before; /* of the last look, by name */
    int64_t looked_at;          /* ns since 1970 */
    double clock;               /* progress_clock() of the look; 0: there was none */
    double seconds;             /* between this look and the one before; 0: this is the first */
    int key;                    /* --sort */
    bool reverse, human;
    char *pattern; /* NULL: all */
    /* The sums over all rows. */
    uint64_t not_ok, items, size_bytes;
    double new_per_second;
};

/* Opens nothing yet.  false after a message: --sort is wrong. */
bool figures_init(struct figures *figures, const struct invocation *call);
void figures_clear(struct figures *figures);

/* Looks at the filters that fit the pattern, or at the segments of the filter.  0 or an error of
 * the library.  TAMIS_EDROPPED: the filter is gone. */
int figures_look(struct figures *figures);

/* Looks at the segments of a filter from now on, or, with NULL, at all filters again.  0 or an
 * error of the library. */
int figures_enter(struct figures *figures, const char *filter_name);

/* Shows other filters from the next look on; NULL: all. */
void figures_set_pattern(struct figures *figures, const char *pattern);

/* Sorts the rows anew, after `key` or `reverse` was changed. */
void figures_sort(struct figures *figures);

/* The columns, of which table.h takes as many. */
enum figures_column {
    FIGURES_NAME,
    FIGURES_KIND,
    FIGURES_CAPACITY,
    FIGURES_ITEMS,
    FIGURES_USED,
    FIGURES_NEW,
    FIGURES_FULL_IN,
    FIGURES_RATE,
    FIGURES_ASKED,
    FIGURES_SIZE,
    FIGURES_STATE,
    FIGURES_COLUMNS
};
extern const char FIGURES_ALIGN[];
extern const char *const FIGURES_HEADER[FIGURES_COLUMNS];

/* The cells of a row, in the order of the columns.  `paints`: the state has its color. */
void figures_cells(const struct figures *figures, const struct figures_row *row, bool paints,
                   struct table *table);

/* "5 filters, 1 not ok, 124,056 items, 1,234 new/s, 1.5 MiB".  The caller frees it. */
char *figures_summary(const struct figures *figures);

/* One row as an object. */
json_t *figures_json(const struct figures *figures, const struct figures_row *row);

/* ---- screen.c -------------------------------------------------------------------------------- */

/* Shows the figures until the user has enough.  The exit status; below 0: there is no screen to
 * show them on, and nothing was shown. */
PART int screen_run(struct figures *figures, int64_t interval_ns);
