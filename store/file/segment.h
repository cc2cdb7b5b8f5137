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
 * A segment never shrinks or changes shape; one of counters grows at its end
 * (tamis__segment_extend).
 */
#ifndef TAMIS_FILE_SEGMENT_H
#define TAMIS_FILE_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "file/guard.h"
#include "file/header.h"
#include "file/owner.h"
#include "file/private_fd.h"

/* A store's directories; owned by the store. */
struct tamis__place {
    char *path;  /* absolute */
    int root_fd; /* not owned: of the store whose mode and group files get */
    int segments_fd;
    int staging_fd; /* -1 in a store that is open read-only */
    bool overlay;   /* files are copied up before they are read (file/overlay.h) */
};

struct tamis__staged;

struct tamis__segment {
    struct tamis__segment_header *header; /* start of the mapping */
    uint64_t *data;                       /* the bits, 64-byte aligned */
    uintptr_t tail;                       /* atomic; TAMIS__TAIL_* of a word of its last page */
    uint64_t map_bytes;                   /* all that the file can ever have */
    uint64_t number;                      /* as its header says */
    bool writable;
    const struct tamis__place *place;   /* that it was opened in; NULL in plain memory */
    const struct tamis__staged *staged; /* its file while it is not published yet; else NULL */
    struct tamis__guard *guard;         /* of the mapping; NULL in plain memory */
    void *kept;                         /* the constant part of the header; NULL if staged */
    struct tamis__owner **owner; /* who this handle is to other removers; NULL without counters */
    struct tamis__writing
        *writer; /* what it is to checkpoints (mark.h); NULL where it is read-only */
};

struct tamis__writing {
    struct tamis__owner *owner; /* with the lock; NULL: has not written */
    bool unwatched;             /* atomic: it has written without a lock */
    uint64_t
        flights_begun; /* atomic: how often this handle, and its parent's, has raised `unlogged` */
    uint64_t flights_done; /* atomic: and lowered it since, or has given that up */
};

struct tamis__staged {
    struct tamis__private_fd file; /* locked */
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
/* These bytes are written next, and never again: have folios of 2 MiB made for them, which mappings
 * get by one entry each (docs/decisions/0016-mapping.md).  A hint. */
void tamis__segment_large_folios(const struct tamis__staged *staged, uint64_t offset,
                                 uint64_t bytes);
/* These bytes of the file are whole: let them be on their way to the disk before it is settled. */
void tamis__segment_hurry(const struct tamis__staged *staged, uint64_t offset, uint64_t bytes);
/* Map a staged file whole, with a copy of its header to be; tamis__segment_close() before publish.
 * What of the copy has changed by then, the levels of overflow, is the caller's to bring back. */
int tamis__segment_map_staged(const struct tamis__place *place, const struct tamis__staged *staged,
                              const struct tamis__segment_header *header,
                              struct tamis__segment *segment);
/* Bring what was written to the disk, so that publish has little left to do under the lock. */
int tamis__segment_settle(const struct tamis__place *place, const struct tamis__staged *staged);

/* Remove what was staged; harmless on a zeroed or used-up one. */
void tamis__segment_discard(const struct tamis__place *place, struct tamis__staged *staged);

/* Map segment `number`.  Its header has passed tamis__header_check and carries that number. */
int tamis__segment_open(const struct tamis__place *place, uint64_t number, bool writable,
                        struct tamis__segment *segment);
void tamis__segment_close(struct tamis__segment *segment);

/*
 * To be asked behind the last look at the mapping, before anything is told: 0; TAMIS_ECORRUPT or
 * TAMIS_EIO where a page of it could not be had (guard.h), or its header is one no more.
 */
int tamis__segment_check(const struct tamis__segment *segment);

/* It was not 0 when it was chosen, and such a word of bits never becomes 0. */
#define TAMIS__TAIL_SET ((uintptr_t)1)
/* Choose it, and again when more is in: the last word of the data that is not 0, on their last
 * page. */
void tamis__segment_choose_tail(struct tamis__segment *segment);

/*
 * Does the file still begin and end as it did?  Where a page in the middle is cut, what was behind
 * the cut in that page reads as 0 without a fault; but the last page is gone then, and the look at
 * it faults.  One that was truncated and made longer again has lost its magic, or the word.
 */
static inline bool tamis__segment_is_whole(const struct tamis__segment *segment)
{
    /* ORDER relaxed: behind tamis__guard_fence(). */
    const uintptr_t tail = __atomic_load_n(&segment->tail, __ATOMIC_RELAXED);
    const uint64_t *word =
        (const uint64_t *)(tail & ~TAMIS__TAIL_SET); // NOLINT(performance-no-int-to-ptr)
    const uint64_t magic =
        __atomic_load_n((const uint64_t *)(const void *)segment->header->magic, __ATOMIC_RELAXED);
    const uint64_t last = __atomic_load_n(word, __ATOMIC_RELAXED);
    return (magic == TAMIS__MAGIC_WORD) &
           (last >= (tail & TAMIS__TAIL_SET)); /* 1 at least if set */
}

/* A pass goes over these bytes of the data, a piece from the first on before it is looked at: let
 * them come into the page cache in small folios, where the segment is one that is added to. */
#define TAMIS__WANT_BYTES ((uint64_t)1 << 20)
#define TAMIS__WANT_WORDS (TAMIS__WANT_BYTES / 8)
void tamis__segment_want(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes);

/*
 * populate.c: bring all of the file into memory and into the page tables: no look at it faults
 * then, until the system needs the memory; the first write to a page still does.  Dirties nothing.
 * TAMIS_EIO where a page cannot be had, TAMIS_ENOMEM.
 */
int tamis__segment_populate(const struct tamis__segment *segment);

/* A pass is done with these bytes of the data: let the process forget its copies of the page-table
 * entries. Contents stay as they are, in the page cache. */
void tamis__segment_release(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes);

/*
 * Make the number free for publishing.  1: it is, and an orphan without items or bits was removed;
 * 0: there is a file with something in it, whose filter is *filter_id where that can be read.
 */
int tamis__segment_vacate(const struct tamis__place *place, uint64_t number, uint64_t *filter_id);

/* Make the file at least so many bytes long, with blocks of its own, on the disk too.  Mappings
 * have the new bytes. */
int tamis__segment_extend(const struct tamis__segment *segment, uint64_t file_bytes);
/* How long the file is. */
int tamis__segment_file_bytes(const struct tamis__segment *segment, uint64_t *file_bytes);

/*
 * Exclude the other removers of a block: processes, threads, handles.  An owner that dies holding
 * the lock loses it to the next who asks; one that lives, though suspended, is waited for.  Errors
 * are those of opening the file.  Not beside another lock of the same segment.
 */
int tamis__segment_lock_block(const struct tamis__segment *segment, uint64_t block);
void tamis__segment_unlock_block(const struct tamis__segment *segment, uint64_t block);

/* Is no bit of the data set?  Ends at the first that is. */
bool tamis__segment_is_blank(const struct tamis__segment *segment);

/* Open the file, whatever is in it, so that a removal does not free it yet; tamis__close() does. */
int tamis__segment_hold(const struct tamis__place *place, uint64_t number, int *fd);
/* Remove the file; 0 if it is not there. */
int tamis__segment_remove(const struct tamis__place *place, uint64_t number);
/* Is the file there?  1, 0 or an error. */
int tamis__segment_exists(const struct tamis__place *place, uint64_t number);

#define TAMIS__SEGMENT_PATH_BYTES 4200 /* PATH_MAX and a segment's name */
/* Its path, for sentences. */
void tamis__segment_path(const struct tamis__place *place, uint64_t number,
                         char path[TAMIS__SEGMENT_PATH_BYTES]);

/* The file of a segment that is open, once more and private; `what` gets its path. */
int tamis__segment_open_again(const struct tamis__segment *segment,
                              char what[TAMIS__SEGMENT_PATH_BYTES], struct tamis__private_fd *file);
/* Read the header of one that is not open.  Nothing of it is checked. */
int tamis__segment_peek(const struct tamis__place *place, uint64_t number,
                        struct tamis__segment_header *header);
/* The same, and check it as tamis__segment_open() does; TAMIS_ENOTFOUND where there is no file. */
int tamis__segment_judge(const struct tamis__place *place, uint64_t number,
                         struct tamis__segment_header *header);
/* Map the header of one that need not be sound; NULL where there is no file, or none long enough.
 * */
int tamis__segment_map_header(const struct tamis__place *place, uint64_t number,
                              struct tamis__segment_header **header);
void tamis__segment_unmap_header(struct tamis__segment_header *header);
/* msync the header alone. */
int tamis__segment_sync_header(const struct tamis__place *place,
                               struct tamis__segment_header *header);

/* msync the whole segment. */
int tamis__segment_sync(const struct tamis__place *place, const struct tamis__segment *segment);

/*
 * Let the header carry `name` with `sequence`, unless it has that or a later one.  The caller holds
 * a catalog lock, under which everybody would write the same.
 */
int tamis__segment_relabel(const struct tamis__place *place, const struct tamis__segment *segment,
                           uint64_t sequence, const char *name);

/*
 * Let a live word of a segment that need not be open say something else; `offset` is where it
 * stands in the header.  As tamis__segment_raise_epoch otherwise.
 */
int tamis__segment_tell(const struct tamis__place *place, uint64_t number, size_t offset,
                        uint64_t value);

/* Of one that is the newest of the list in force: no other goes on after it, whatever it says.  It
 * may refuse keys as before.  As above. */
int tamis__segment_stay(const struct tamis__place *place, uint64_t number);

/*
 * Raise the epoch: every open handle looks at the catalog again before its next answer.  Works on a
 * segment that cannot be opened, since handles may have it mapped; 0 if the file is not there or
 * has no room for a header.
 */
int tamis__segment_raise_epoch(const struct tamis__place *place, uint64_t number);

/* Item count: add on the stripe of this processor, or of the thread's hold (room.h), minus one to
 * take away; sum over all.  Returns what the stripe held before. */
uint64_t tamis__segment_count(const struct tamis__segment *segment, uint64_t items);
uint64_t tamis__segment_items(const struct tamis__segment *segment);

/* Say which segment goes on after this one, unless it says something already but a spare.  `next`
 * is whole. */
void tamis__segment_leave(const struct tamis__segment *segment, uint64_t next);

/* The newest segment is full and takes no more, by the filter's policy. */
#define TAMIS__NEXT_REFUSE UINT64_MAX
/* None ever goes on after it: the filter is dropped. */
#define TAMIS__NEXT_DROPPED (UINT64_MAX - 1)

/*
 * A spare: the segment of this number is whole, in the catalog, and waits to be entered after this
 * one.  Not yet left, so NEXT_SPARE | number counts as 0 wherever the list matters.  Numbers are
 * far below 2^62.
 */
#define TAMIS__NEXT_SPARE ((uint64_t)1 << 62)
/* The number of the spare that a `next` names; 0: it names none. */
static inline uint64_t tamis__next_spare(uint64_t next)
{
    return next >> 62 == 1 ? next & ~TAMIS__NEXT_SPARE : 0;
}
/* Offer a spare, where `next` is 0. */
void tamis__segment_offer(const struct tamis__segment *segment, uint64_t number);
/* Leave it for the spare, if it has one: true, it is left now, by us or by another. */
bool tamis__segment_enter_spare(const struct tamis__segment *segment);
/* Under the exclusive lock, of a segment that need not be open: nobody enters its spare any more.
 * 1: somebody has done so already; 0: there is none now, or no such file. */
int tamis__segment_take_back(const struct tamis__place *place, uint64_t number);

/* The right to make the one after it, until private_close or death: 1, or 0 if another has it. */
int tamis__segment_guard(const struct tamis__place *place, uint64_t number,
                         struct tamis__private_fd *guard);

static inline uint64_t tamis__segment_next(const struct tamis__segment *segment)
{
    /* ORDER acquire: pairs with tamis__segment_leave; the segment that it names is whole. */
    return __atomic_load_n(&segment->header->next, __ATOMIC_ACQUIRE);
}

static inline uint64_t tamis__segment_exceptions(const struct tamis__segment *segment)
{
    /* ORDER acquire: as tamis__segment_next. */
    return __atomic_load_n(&segment->header->exceptions, __ATOMIC_ACQUIRE);
}

/* The publication that last put the list in force of which it is the newest, or that changed its
 * exceptions. */
static inline uint64_t tamis__segment_in_force(const struct tamis__segment *segment)
{
    /* ORDER acquire: as tamis__segment_next. */
    return __atomic_load_n(&segment->header->in_force, __ATOMIC_ACQUIRE);
}

/* Does another segment go on after it? */
static inline bool tamis__segment_is_left(const struct tamis__segment *segment)
{
    const uint64_t next = tamis__segment_next(segment);
    return next != 0 && next != TAMIS__NEXT_REFUSE && tamis__next_spare(next) == 0;
}

/*
 * A full fence.  ThreadSanitizer knows none, so for it an exchange on a line of our own stands in.
 */
static inline void tamis__fence(void)
{
#if defined(__SANITIZE_THREAD__)
    static uint64_t line;
    (void)__atomic_fetch_add(&line, 1, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* The same behind an atomic read-modify-write, which on x86-64 is one by itself. */
static inline void tamis__fence_after_rmw(void)
{
#if defined(__x86_64__)
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
    tamis__fence();
#endif
}

/* What follows is not read before what was read by relaxed loads: on x86-64 no load overtakes
 * another. */
static inline void tamis__fence_acquire(void)
{
#if defined(__SANITIZE_THREAD__)
    tamis__fence();
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Epoch as published; one shared cache line that is rarely written. */
static inline uint64_t tamis__segment_epoch(const struct tamis__segment *segment)
{
    /* ORDER acquire: pairs with the release in tamis__segment_raise_epoch.  Who sees the raise goes
     * to the catalog under the lock that the publisher still holds, so nothing else hangs on it. */
    return __atomic_load_n(&segment->header->epoch, __ATOMIC_ACQUIRE);
}

#endif
