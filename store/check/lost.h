/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lost.h: what a repair has put aside.
 *
 *     lost/NAME         the file, as it was
 *     lost/NAME.note    where it came from, when and why (docs/format.md, "Files put aside")
 *
 * A repair takes nothing out of a store in any other way.  The note is on the disk before the file
 * comes, so a file in lost/ has its note, and a note without its file means nothing.
 */
#pragma once

#include "txn/store.h"

#define TAMIS__LOST_NAME_BYTES 280u
#define TAMIS__LOST_CATALOG "catalog.mdb" /* where an old catalog was */
#define TAMIS__LOST_WHY_BYTES 400u

struct tamis__lost {
    char name[TAMIS__LOST_NAME_BYTES]; /* in lost/ */
    char from[TAMIS__LOST_NAME_BYTES]; /* path in the store; "": the note cannot be read */
    char why[TAMIS__LOST_WHY_BYTES];
    int64_t at; /* ns since 1970 */
    uint64_t bytes;
};

/* Opens lost/, and makes it if `makes`.  TAMIS_ENOTFOUND if it is not there. */
int tamis__lost_open(const struct tamis_store *store, bool makes, int *fd);

/* Moves a file of a directory of the store ("segments", "logs", or "." for the catalog) into
 * lost/, with a note.  Call under the catalog's exclusive lock, as for all below. */
int tamis__lost_put(const struct tamis_store *store, const char *directory, const char *name,
                    const char *why);
/* The same for a segment. */
int tamis__lost_put_segment(const struct tamis_store *store, uint64_t number, const char *why);

/* The same for a copy of a file, which is open and stays where it is. */
int tamis__lost_keep(const struct tamis_store *store, int fd, const char *directory,
                     const char *name, const char *why);

/* Reads the note of a file in lost/.  A note that is missing or damaged leaves `from` empty. */
int tamis__lost_look(const struct tamis_store *store, int lost_fd, const char *name,
                     struct tamis__lost *lost);
/* Takes a note apart.  Returns false if it is none. */
bool tamis__lost_parse(const char *text, size_t bytes, struct tamis__lost *lost);

/* Puts a file back to where it came from.  Its note stays; call tamis__lost_forget() once the
 * catalog has the file. */
int tamis__lost_put_back(const struct tamis_store *store, int lost_fd,
                         const struct tamis__lost *lost);
/* Removes a file in lost/, if it is there, and its note. */
int tamis__lost_forget(const struct tamis_store *store, int lost_fd, const char *name);

/* Calls fn for each file in lost/; a value other than 0 ends this. */
typedef int tamis__lost_fn(void *context, const struct tamis__lost *lost);
int tamis__lost_each(const struct tamis_store *store, int lost_fd, tamis__lost_fn *fn,
                     void *context);
