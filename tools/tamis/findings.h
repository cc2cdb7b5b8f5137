/* SPDX-License-Identifier: BSD-2-Clause */
/* findings.h: what needs attention in a filter, and what to do about it; for doctor and the report.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "tamis.h"

struct finding {
    const char *filter, *state, *what; /* filter "": none */
    const char *advice;                /* prose, with a colon at its end if there is a command */
    const char *command;               /* that a shell takes as it stands; NULL: there is none */
    const char *file;                  /* NULL: of the filter as a whole */
    uint64_t offset;
};

typedef void finding_fn(void *context, const struct finding *finding);

/* Says how many keys of an unclean filter are known to be missing, as a clause that begins with a
 * comma; "" if that is not known. */
#define MISSING_BYTES 64
void say_missing(const struct tamis_filter_stat *stat, char *text, size_t bytes);

/* Calls fn for each state of the filter that needs attention: unclean, degraded, full, over, or an
 * orphan of a Redis server.  Damage is left to those who look for it. */
void findings_of_stat(const struct tamis_filter_stat *stat, finding_fn *fn, void *context);

/* Calls fn if the newest slice of the filter's window begins in the future. */
void findings_of_newest_slice(const struct tamis_filter_stat *stat, int64_t begins, finding_fn *fn,
                              void *context);
/* The same; opens the filter, to see when that slice begins.  One that cannot be opened is left to
 * those who look for damage. */
void findings_of_window(tamis_store *store, const struct tamis_filter_stat *stat, finding_fn *fn,
                        void *context);

/* Calls fn if the filter is set to have huge pages and lacks them.  With `auto` it is no finding:
 * nobody has asked for them, and much of why they are lacking passes by itself. */
void findings_of_pages(const struct tamis_filter_stat *stat,
                       const struct tamis_filter_mapped *mapped, finding_fn *fn, void *context);
/* The same; opens the filter, to see how this process would have it mapped. */
void findings_of_mapping(tamis_store *store, const struct tamis_filter_stat *stat, finding_fn *fn,
                         void *context);

/* The command, with the name, quoted for a shell, in the place of NAME.  The caller frees it. */
char *finding_command(const char *format, const char *name);

/* The command that makes a filter of twice the keys beside this one.  The caller frees it. */
char *finding_larger(const struct tamis_filter_stat *stat);

/* The finding as an object, as `doctor --json` prints it.  The caller releases it. */
json_t *finding_json(const struct finding *finding);
