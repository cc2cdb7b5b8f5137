/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields.h: what is known of a filter, of its segments and of its generations, field by field.
 *
 * The library's table of fields (tamis_fields.h) serves `info` (text, one field, JSON), the --json
 * of list, create, import and merge, and the report; fields.c adds how fields are made that no
 * struct has.  Some fields need the segments, some a count of all set bits; a view says what it
 * holds, and a field that needs more is left out.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "out.h"
#include "record.h"
#include "state.h"
#include "tamis.h"

/* What a view holds besides the filter's stat.  VIEW_FILL brings the segments too. */
#define VIEW_SEGMENTS 1u
#define VIEW_FILL 2u      /* the set bits were counted, which reads every segment completely */
#define VIEW_SHARDED 8u   /* of a remote store, and in shards */
#define VIEW_IMPORTED 32u /* its list was imported */
#define VIEW_SIGNED 64u   /* and its signature was checked */
#define VIEW_UNCLEAN 128u /* keys of it may be missing */
#define VIEW_MAPPED 16u   /* how this process has it mapped; not of a remote store */

struct invocation;

struct filter_view {
    struct tamis_filter_stat stat;
    struct tamis_segment_stat *segments; /* stat.segment_count of them, or NULL */
    struct tamis_filter_mapped mapped;   /* VIEW_MAPPED */
    unsigned holds;                      /* VIEW_* */
    uint32_t shards;                     /* VIEW_SHARDED */
};

/* The field of that name, or NULL. */
const struct field *field_find(const char *name);

/* All fields, in the order of `tamis info`. */
const struct fields *view_fields(void);

/* "name kind hash_set ...", for a message.  The caller frees it. */
char *field_names(void);

/* Fills a view of an open filter with what is needed.  Below 0: an error of the library. */
int view_load(struct filter_view *view, tamis_filter *filter, unsigned loads);
void view_clear(struct filter_view *view);

/* The same of the filter that is open for a command, on a server or not.  The exit status. */
int view_of_call(const struct invocation *call, unsigned loads, struct filter_view *view);

/* All fields that the view has, as one object. */
json_t *view_json(const struct filter_view *view);

/* Prints an open filter as JSON, with what is loaded for it (VIEW_*).  Returns the exit status. */
int view_show_json(struct out *out, tamis_filter *filter, unsigned loads);

/* Was there ever another list of keys in its place, by a build, merge or import? Else its
 * generation counts steps of growth or slices, which tell people nothing. */
bool view_was_published(const struct filter_view *view);

/* "in-force" or "kept". */
const char *generation_state(const struct tamis_generation_stat *stat);

/* With GENERATION_BUILD: what `generations` says of how it was built and the report does not. */
#define GENERATION_BUILD 1u
json_t *generation_json(const struct tamis_generation_stat *stat, unsigned holds);
