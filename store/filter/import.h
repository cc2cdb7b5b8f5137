/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.h: an import, step by step, for those who put its segments in force: as a new filter
 * (tamis_filter_import) or as the next generation of one (import_publish.c).
 *
 *     tamis__import_new      checks the arguments
 *     tamis__import_begin    reads the head; what the segments are to be is known then
 *     tamis__import_load     stages them, reads the rest, and brings them to the disk
 *     tamis__import_entry    says what the filter is to be
 *     tamis__import_free     in any case; discards what was staged and is not in force
 */
#pragma once

#include "exceptions/set.h"
#include "exchange/exchange.h"
#include "filter/publish.h"
#include "txn/draft.h"
#include "txn/enter.h"

/* A segment that is being imported. */
struct tamis__import_filling {
    uint64_t done_bytes; /* bytes of its data so far */
    uint64_t ones;       /* bits set in them */
    uint64_t last_word;  /* the word that m ends in */
};

struct tamis__import {
    struct tamis_store *store;
    const char *name;
    const struct tamis__format *format;
    struct tamis_import_spec spec;
    struct tamis_source source;
    bool takes_exceptions; /* those of the stream go to `exceptions`, and not into an index */
    struct tamis__reader reader;
    struct tamis__sum sum;
    struct tamis__outline outline;
    struct tamis__policy policy; /* for a filter that is sealed */
    uint32_t count;              /* drafts: the layers, and perhaps one more that seals them */
    struct tamis__draft drafts[TAMIS__SEGMENTS_MAX];
    struct tamis__import_filling fillings[TAMIS__SEGMENTS_MAX];
    struct tamis__draft index;           /* of the exceptions; not staged: there are none */
    struct tamis__exceptions exceptions; /* of the stream, sorted */
    struct tamis__segment counters; /* the draft whose counts come, mapped; header NULL: none */
};

/* What the caller passes: as tamis_filter_import(). */
struct tamis__import_call {
    struct tamis_store *store;
    const char *function; /* of the public header */
    const char *name, *format;
    const struct tamis_import_spec *spec;
    const struct tamis_source *source;
};
int tamis__import_new(const struct tamis__import_call *call, struct tamis__import **import);
int tamis__import_begin(struct tamis__import *import);
int tamis__import_load(struct tamis__import *import);
/* Brings the data into drafts that are staged; no sync. */
int tamis__import_fill(struct tamis__import *import);
struct tamis__entry tamis__import_entry(struct tamis__import *import);
/* When the list was made, as the stream says; 0: it does not. */
int64_t tamis__import_made_at(const struct tamis__import *import);
/* Notes in the first segment from where the list came, and when. */
void tamis__import_note(struct tamis__import *import);
void tamis__import_free(struct tamis__import *import);

/* import_newer.c: is the list of the stream newer than the one in force?  `digest` is that of the
 * stream, NULL as long as it is not known: then two lists that were made at the same time may be
 * one. Returns 0 and what is in force, zeros if no filter is; or TAMIS_EMISMATCH, or
 * TAMIS_EINVAL if nothing says when the list was made. */
int tamis__import_check_newer(const struct tamis__import *import, const uint8_t *digest,
                              struct tamis__over *over);
