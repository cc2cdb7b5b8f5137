/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * light.h: asks small filters that are closed, and leaves them closed (tamis_keys.h, "Small filters
 * that are not open").
 *
 *     UNKNOWN   nobody has looked: it is looked for in the store at the first question
 *     LIT       value->light is its light handle
 *     NONE      it must be opened: it is no such filter, or has changed
 *
 * handles.c makes the light handle of a filter when it closes it, in the place in the value that
 * the ring had.  The main thread asks; a child has a cabinet of its own, to save filters.
 */
#pragma once

#include "value/value.h"

/* The store that filters are sought in. */
void light_set_store(tamis_store *of);
/*
 * Asks a filter of BF.* that is closed.  Returns 1 if answers[i] are the answers for the items; 0:
 * the value must be opened to be asked, or has nothing in the store.
 */
int light_ask(struct value *value, const struct tamis_key *items, size_t count, uint8_t *answers);
/* What the library tells of the only segment of such a filter.  Returns 1, or 0: open it. */
int light_segment(struct value *value, struct tamis_segment_stat *stat);
/*
 * Has the filter that has the name and was created at that time all of the keys?  `stat` gets what
 * the library tells of its only segment.  Returns 1 or 0, or -1: it must be opened for that.
 */
int light_has(const char *name, int64_t created_at, const struct tamis_key *keys, size_t count,
              struct tamis_segment_stat *stat);
/* The filter that has the name and was created at that time as a stream of ours, which
 * RedisModule_Free() frees; NULL: it must be opened for that. */
void *light_stream(const char *name, int64_t created_at, size_t *bytes);
/*
 * Writes a small filter of BF.* out as tamis_filter_export() would, with its key, whether it is
 * open or closed.  Also in a child.  Returns whether it did; if not, nothing was written.
 */
bool light_export(const struct value *value, const struct tamis_sink *sink);
/* Unmaps the drawer that has the segment of that number. */
void light_forget(uint64_t number);
/* Unmaps drawers that are gone, and those that nobody has asked for a minute or two: some of them
 * at each call, of which there are ten a second. */
void light_tidy(void);
/* How many drawers are mapped. */
uint64_t light_drawers(void);
