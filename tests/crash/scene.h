/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scene.h: what the processes of a power-cut test do.  Each step tells the ledger what may be
 * before it calls the library, and what is when the call has returned; a step that fails ends the
 * process with a message.
 */
#ifndef TAMIS_CRASH_SCENE_H
#define TAMIS_CRASH_SCENE_H

#include "ledger.h"

struct scene {
    struct ledger *ledger;
    const char *path; /* of the store */
    const char *root; /* the directory that it is in */
    tamis_store *store;
    tamis_filter *filters[LEDGER_FILTERS];
};

struct scene_kind {
    const char *name;
    void (*play)(struct scene *scene); /* in the open store, which is closed behind it */
};

extern const struct scene_kind scene_kinds[];
extern const unsigned scene_count;

/* On what a power cut has left: up again, and on. */
void scene_go_on(struct scene *scene);

#endif
