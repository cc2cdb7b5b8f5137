/* SPDX-License-Identifier: BSD-2-Clause */
/* draft_parts.h: what drafts.c and drafts_make.c know of a draft. */
#pragma once

#include "value/value.h"

#define DRAFT_SENTENCE_ROOM 1024

struct draft {
    struct draft *next, **link; /* in the list of drafts; link is NULL: the key is gone */
    struct value *value;
    struct tamis_filter_spec spec;
    struct tamis_key *keys; /* each allocated */
    size_t key_count, key_room, key_bytes, key_most;
    enum { WAITING, IN_WORK, DONE } state;
    size_t stored; /* so many of the keys are in the store, if it is made */
    bool made;
    /* Of the thread, until it is DONE. */
    char name[NAME_ROOM]; /* of the filter: another one than the value has if that was taken */
    struct tamis_key *in_hands; /* the first keys, of which further ones may move the others */
    size_t handed;
    tamis_filter *filter; /* NULL: it is not open */
    int rc;
};

/* Opens the filter of a draft that is made, and adds the keys that it lacks.  One that a local
 * process has dropped or renamed is left alone: the command that wants it says so. */
int draft_add_others(tamis_store *store, struct draft *draft);
/* Makes the filters of drafts that are IN_WORK, and opens them if that is wanted; or adds the keys
 * that they lack.  Each gets its result; `failure` gets the sentence of the last error. */
void drafts_make(tamis_store *store, struct draft **drafts, unsigned count, bool opens,
                 char failure[DRAFT_SENTENCE_ROOM]);
