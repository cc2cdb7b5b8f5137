/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment.h: the life of a segment file: staged, published, opened, removed.
 *
 *     stage      staging/<random>.seg   made and allocated without the catalog's lock, but under a
 *                                       flock on the file itself: a file there that nobody locks
 *                                       belongs to a dead maker, and the next maker removes it
 *     publish    segments/<number>.seg  header written, synced, renamed, under the exclusive
 * catalog lock; in force once the catalog says so open       mapped whole; the descriptor is closed
 * again
 *
 * A segment never shrinks or changes shape.
 */
#ifndef TAMIS_FILE_SEGMENT_H
#define TAMIS_FILE_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "file/header.h"

/* A store's directories; owned by the store. */
struct tamis__place {
    char *path; /* absolute */
    int segments_fd;
    int staging_fd; /* -1 in a store that is open read-only */
};

struct tamis__segment {
    struct tamis__segment_header *header; /* start of the mapping */
    uint64_t *data;                       /* the bits, 64-byte aligned */
    uint64_t file_bytes;
    bool writable;
};

struct tamis__staged {
    int fd;
    char name[24];
};

#define TAMIS__SEGMENT_NAME_BYTES 32
void tamis__segment_name(uint64_t number, char name[TAMIS__SEGMENT_NAME_BYTES]);
/* The number in a segment's file name; 0 if it is not one. */
uint64_t tamis__segment_number(const char *name);

/* Make an allocated, zeroed file of that many bytes, after removing what dead makers left. */
int tamis__segment_stage(const struct tamis__place *place, uint64_t file_bytes,
                         struct tamis__staged *staged);

/* Seal the header (number already in it), write, sync and rename; *staged is used up on success. */
int tamis__segment_publish(const struct tamis__place *place, struct tamis__staged *staged,
                           struct tamis__segment_header *header);

/* Write bytes into the data of a staged file. */
int tamis__segment_fill(const struct tamis__place *place, const struct tamis__staged *staged,
                        uint64_t offset, const void *bytes, size_t count);
/* Bring what was written to the disk, so that publish has little left to do under the lock. */
int tamis__segment_settle(const struct tamis__place *place, const struct tamis__staged *staged);

/* Remove what was staged; harmless on a zeroed or used-up one. */
void tamis__segment_discard(const struct tamis__place *place, struct tamis__staged *staged);

/* Map segment `number`.  Its header has passed tamis__header_check and carries that number. */
int tamis__segment_open(const struct tamis__place *place, uint64_t number, bool writable,
                        struct tamis__segment *segment);
void tamis__segment_close(struct tamis__segment *segment);

/* These bytes of the data will not be read soon: let the process forget its copies of the
 * page-table entries.  Contents stay as they are, in the page cache. */
void tamis__segment_release(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes);

/* Remove the file; 0 if it is not there. */
int tamis__segment_remove(const struct tamis__place *place, uint64_t number);

/* msync the whole segment. */
int tamis__segment_sync(const struct tamis__place *place, const struct tamis__segment *segment);

/*
 * Let the header carry `name` with `sequence`, unless it has that or a later one.  The caller holds
 * a catalog lock, under which everybody would write the same.
 */
int tamis__segment_relabel(const struct tamis__place *place, const struct tamis__segment *segment,
                           uint64_t sequence, const char *name);

/* Raise the epoch: every open handle looks at the catalog again before its next answer. */
void tamis__segment_raise_epoch(const struct tamis__segment *segment);

/* Item count: add on the stripe of this processor; sum over all. */
void tamis__segment_count(const struct tamis__segment *segment, uint64_t items);
uint64_t tamis__segment_items(const struct tamis__segment *segment);

/* Epoch as published; one shared cache line that is rarely written. */
static inline uint64_t tamis__segment_epoch(const struct tamis__segment *segment)
{
    /* ORDER acquire: pairs with the release in tamis__segment_raise_epoch.  Who sees the raise goes
     * to the catalog under the lock that the publisher still holds, so nothing else hangs on it. */
    return __atomic_load_n(&segment->header->epoch, __ATOMIC_ACQUIRE);
}

#endif
