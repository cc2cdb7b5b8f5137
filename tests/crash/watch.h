/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.h: a scene is played by processes of its own, and at each of its calls the power is cut. */
#ifndef TAMIS_CRASH_WATCH_H
#define TAMIS_CRASH_WATCH_H

#include "disk.h"
#include "ledger.h"
#include "scene.h"

#define WATCH_LEVELS 2 /* a cut; and one while the machine comes up again */

struct watch {
    const struct scene_kind *kind;
    uint64_t seed;
    unsigned deaf;     /* enum disk_deaf */
    unsigned pictures; /* of each cut */
    unsigned stride;   /* of the cuts; 1: all */
    unsigned deep;     /* of so many pictures one is gone on with under cuts; 0: none */
    bool quiet;
    struct ledger_figures *figures; /* shared */
};

/* Play it on an empty directory; returns false if a process failed, or hung, or anything was wrong.
 * */
bool watch_scene(const struct watch *watch);

#endif
