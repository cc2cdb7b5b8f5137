/* SPDX-License-Identifier: BSD-2-Clause */
/* copy.h: copies a segment file into another directory, while others write to it. */
#pragma once

#include "txn/store.h"

/* Called with the number of bytes that were copied.  A result other than 0 ends the copy and is
 * returned. */
typedef int tamis__copied_fn(void *context, uint64_t bytes);

/* An open file, and what its copy must say in live words that would lead elsewhere. */
struct tamis__source_file {
    int fd; /* owned */
    uint64_t number;
    uint64_t next;         /* live words of the copy; TAMIS__NEXT_REFUSE: as it is */
    uint64_t exceptions;   /* TAMIS__AS_IT_IS: as it is */
    uint32_t header_bytes; /* that a copy writes beside the data */
    bool is_huge;          /* the filter is set to have huge pages */
    bool as_it_is;         /* copied also if its checksums say that it is damaged */
};
#define TAMIS__AS_IT_IS UINT64_MAX

/* Opens the file and compares it with the record.  TAMIS_ECORRUPT and the like, with a sentence. */
int tamis__source_open(struct tamis_store *store, const struct tamis__record *record,
                       uint32_t index, struct tamis__source_file *file);
int tamis__source_open_index(struct tamis_store *store, const struct tamis__record *record,
                             struct tamis__source_file *file);
/* Copies that are not on the disk yet.  Many are synced together: one after the other each waits
 * for the disk by itself (os/io.h, tamis__sync_files()). */
struct tamis__copies {
    int fds[64];
    size_t count;
    uint64_t bytes;
    const char *what; /* the directory that they are in */
};

/* Brings them to the disk, and closes them also after an error. */
int tamis__copies_sync(struct tamis__copies *copies);

/* Closes them without a sync, as what they are part of is given up. */
void tamis__copies_drop(struct tamis__copies *copies);

/*
 * Copies the file, allocated in full.  Every key whose add had returned before is in the
 * copy, and the counts are at most those of its bits.  Locks of removers are free in the copy.
 * TAMIS_ECORRUPT: its checksums say that it is damaged.
 *
 * copies   gets the copy, which is on the disk after tamis__copies_sync().  If many copies are
 *          there already, this call syncs them.
 * before   an older copy of the store, or NULL.  If its file is what the copy would be, byte for
 *          byte, that file gets a second name, and nothing is written.  The two must be equal while
 *          they are compared, word for word: then the older copy has all that a copy made now has.
 * Returns  1 if such a file was taken, 0 if the file was copied.
 */
int tamis__source_copy(const struct tamis_store *store, const struct tamis__source_file *file,
                       const struct tamis__place *to, const struct tamis__place *before,
                       struct tamis__copies *copies, tamis__copied_fn *fn, void *context);
