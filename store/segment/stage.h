/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stage.h: makes the file of a segment in staging/, and gives it its name in segments/ when it is
 * whole.
 */
#pragma once

#include "segment/segment.h"

/* The sums of a staged file (sums.h), as long as its header is not final. */
struct tamis__staged_sums {
    bool are_made;
    uint64_t sums, overflow, overflow_bytes; /* as in their head */
};

struct tamis__staged {
    struct tamis__private_fd file; /* locked */
    char name[24];
    struct tamis__staged_sums sums;
};

/* Makes an allocated, zeroed file of that many bytes, after it has removed what dead makers left.
 * `what` is what sentences call it. */
int tamis__segment_stage(const struct tamis__place *place, uint64_t file_bytes, const char *what,
                         struct tamis__staged *staged);

/* The same, without a look for what dead makers left: for the further ones of many files. */
int tamis__segment_stage_more(const struct tamis__place *place, uint64_t file_bytes,
                              const char *what, struct tamis__staged *staged);

/* Seals the header (which has its number already), writes, syncs and renames the file.  On success
 * *staged is used up. */
int tamis__segment_publish(const struct tamis__place *place, struct tamis__staged *staged,
                           struct tamis__segment_header *header);
/*
 * The steps of tamis__segment_publish(), for many files that come to the disk together: for each
 * file write_header(), then tamis__sync_files() for all, for each take_name(), and sync_names()
 * once.
 */
/* Writes a header, and the word at the end of a file of one page; the data stay. */
int tamis__header_write(int fd, const struct tamis__segment_header *header, const char *what);
int tamis__segment_write_header(const struct tamis__place *place,
                                const struct tamis__staged *staged,
                                struct tamis__segment_header *header);
int tamis__segment_take_name(const struct tamis__place *place, struct tamis__staged *staged,
                             uint64_t number);
int tamis__segments_sync_names(const struct tamis__place *place);

/* Writes bytes into the data of a staged file. */
int tamis__segment_fill(const struct tamis__place *place, const struct tamis__staged *staged,
                        uint64_t offset, const void *bytes, size_t count);

/* A hint that these bytes are written next, and never again: the kernel should make folios of 2 MiB
 * for them.  A mapping gets each folio by one entry (docs/decisions/0016-mapping.md). */
void tamis__segment_large_folios(const struct tamis__staged *staged, uint64_t offset,
                                 uint64_t bytes);

/* Writes the file's bytes from `offset` on to the disk, and waits until they are there; lets the
 * kernel begin with as many bytes behind them. */
int tamis__segment_write_out(const struct tamis__place *place, const struct tamis__staged *staged,
                             uint64_t offset, uint64_t bytes);
/* Brings what was written to the disk, so that publish has little left to do under the lock, after
 * it has written the checksums of the data (sums.h), which do not change any more. */
int tamis__segment_sync_staged(const struct tamis__place *place, struct tamis__staged *staged,
                               const struct tamis__segment_header *header);

/* Writes the path of a staged file, for sentences. */
void tamis__staged_path(const struct tamis__place *place, const struct tamis__staged *staged,
                        char path[TAMIS__SEGMENT_PATH_BYTES]);
/* Removes what was staged; harmless on a zeroed or used-up one. */
void tamis__segment_discard(const struct tamis__place *place, struct tamis__staged *staged);
