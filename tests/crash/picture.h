/* SPDX-License-Identifier: BSD-2-Clause */
/* picture.h: a tree that a power cut could leave, laid out in a directory of its own. */
#ifndef TAMIS_CRASH_PICTURE_H
#define TAMIS_CRASH_PICTURE_H

#include "disk.h"

enum picture_kind {
    PICTURE_ALL,   /* all that was done: as after a kill */
    PICTURE_NONE,  /* only what was synced */
    PICTURE_NAMES, /* all names, of the contents only what was synced */
    PICTURE_DATA,  /* all contents, of the names only what was synced */
    PICTURE_MIX,   /* each page, size and name for itself: synced, now, or between */
    PICTURE_TORN,  /* the same, and pages of sectors of 512 bytes, each for itself */
    PICTURE_KINDS
};

extern const char *const picture_names[PICTURE_KINDS];

/* Under the disk's lock.  Returns how many choices there were: with 0 all kinds give the same. */
unsigned picture_take(struct disk *disk, enum picture_kind kind, uint64_t seed, const char *to);

#endif
