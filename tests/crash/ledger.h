/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger.h: what the library has told the processes of a scene, and what a store may be after a
 * power cut.
 *
 * It lies in shared memory.  Before a call that changes something the ledger allows what was and
 * what will be; once the call has returned only what is.  The picture of a cut is judged by the
 * ledger of that instant.
 *
 *     a filter    may be there, may be absent, under either of two names while it is renamed
 *     an edition  which keys a published list has, all of them or it is not that edition
 *     a key       told at a time of the ledger's clock; on the disk if that is no later than the
 *                 start of the last sync that has returned, or at once in a durable filter
 */
#ifndef TAMIS_CRASH_LEDGER_H
#define TAMIS_CRASH_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

#define LEDGER_FILTERS 4
#define LEDGER_KEYS 1024
#define LEDGER_EDITIONS 8
#define LEDGER_EDITION_KEYS 24 /* of a build; the last of them is of that edition alone */

enum ledger_may { LEDGER_NO = 1, LEDGER_YES = 2, LEDGER_EITHER = 3 };

struct ledger_key {
    uint64_t told;     /* when its add had returned; 0: it had not */
    int64_t at_ns;     /* the same by the wall clock */
    uint32_t edition;  /* of its filter then */
    uint32_t rotation; /* rotations begun then */
    int32_t told_count, synced_count,
        removed; /* kind counting: adds, those synced, removes begun */
    bool lost;   /* it was not there when the machine was up again, and the filter has said so */
};

struct ledger_filter {
    char names[2][32];
    uint32_t there; /* enum ledger_may */
    uint32_t editions;
    bool durable, counting;
    uint32_t slices, rotations;
    uint32_t keys_of; /* its keys are called as those of this filter: it came of it by a merge or
                         import */
    uint64_t synced;  /* keys told by then are on the disk */
    uint32_t excepted[2]; /* enum ledger_may, of the first keys of an edition */
    struct ledger_key keys[LEDGER_KEYS];
};

struct ledger {
    bool store_made,
        catalog_lost; /* the latter: a scene has taken the catalog away, to repair it */
    uint64_t clock;
    uint64_t
        copied; /* when the only backup was begun, into copy/ beside the store; 0: it was not */
    bool copy_is_told; /* the backup has returned */
    struct ledger_filter filters[LEDGER_FILTERS];
};

/* What was seen, over all pictures. */
struct ledger_figures {
    uint64_t cuts, pictures, deep_cuts, judged_keys;
    uint64_t lost_after_sync; /* keys told after the last sync and lost, as they may be */
    uint64_t unclean_told;    /* filters that said so */
    uint64_t lost_durable, lost_synced, lost_catalog, unopened, unsound, untold;
};

/* One picture. */
struct ledger_case {
    const struct ledger *ledger;
    struct ledger_figures *figures; /* shared */
    const char *path;               /* of the store */
    const char *title;              /* for what is printed */
    bool quiet;                     /* a control: losses are what is wanted */
};

/* Judge it; opens it read-only and for writing, and leaves it usable.  Returns how much was wrong.
 * */
uint64_t ledger_judge(const struct ledger_case *judged);

/* The machine is up again: what was open is what is found.  The store is open for writing. */
void ledger_settle(struct ledger *ledger, tamis_store *store);

size_t ledger_key_bytes(unsigned filter, unsigned key, char out[32]);
size_t ledger_edition_key(unsigned filter, unsigned edition, unsigned key, char out[32]);
uint64_t ledger_now(struct ledger *ledger);

#endif
