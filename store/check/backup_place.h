/* SPDX-License-Identifier: BSD-2-Clause */
/* backup_place.h: the directory of a backup: where it is filled, and how it comes into its place.
 */
#pragma once

#include "os/private_fd.h"
#include "txn/store.h"

struct tamis__backup_place {
    const struct tamis_store *from;
    char *path, *partial;          /* absolute, or as given; owned */
    struct tamis__private_fd lock; /* the directory that is filled */
    bool marked;                   /* what is in it is ours, and goes if the backup fails */
    bool for_use;                  /* the copy is a store to work with: no backup replaces it */
    bool replaces;                 /* there is an older copy at `path` */
    tamis_store *before;           /* the older copy, if it can be read; NULL */
};

/* Looks at the path, opens an older copy there, and makes the directory that is filled.  On errors,
 * too, tamis__backup_place_close() follows. */
int tamis__backup_place_open(struct tamis__backup_place *place, const char *path);
/* The copy is whole and on the disk: gives it its name.  From then on no error takes it away. */
int tamis__backup_place_finish(struct tamis__backup_place *place, const struct tamis_store *copy);
void tamis__backup_place_close(struct tamis__backup_place *place, bool failed);
