/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segment.h: the life of a segment file: it is staged, published, opened and removed.
 *
 *     stage      staging/<random>.seg   made and allocated without the catalog's lock, but under a
 *                                       flock on the file itself: a file there that nobody locks
 *                                       belongs to a dead maker, and the next maker removes it
 *     publish    segments/<number>.seg  header written, synced, renamed, under the catalog's
 *                                       exclusive lock; in force once the catalog says so
 *     open                              mapped whole; the descriptor is closed again
 *
 * A segment never shrinks or changes shape.  A segment of counters grows at its end
 * (tamis__segment_extend).
 *
 * Further headers: stage.h makes files, live.h has the words that change while others have the file
 * open, room.h the item count, broken.h looks for truncation.  Of what is declared here, populate.c
 * has what fills memory, segment_name.c the names of files, and segment.c the rest.
 */
#pragma once

#include "os/guard.h"
#include "os/private_fd.h"
#include "segment/header.h"
#include "segment/owner.h"

/* The directories of a store; the store owns them. */
struct tamis__place {
    char *path;  /* absolute */
    int root_fd; /* of the store whose mode and group new files get; not owned */
    int segments_fd;
    int staging_fd; /* -1 in a store that is open read-only */
    bool overlay;   /* files are copied up before they are read (os/overlay.h) */
};

#define TAMIS__SEGMENT_PATH_BYTES 4200 /* PATH_MAX and a segment's name */

struct tamis__staged;

struct tamis__segment {
    struct tamis__segment_header *header;
    void *map;                     /* the file */
    uint64_t *magic;               /* the first word of the file */
    struct tamis__live *live;      /* the live words */
    struct tamis__stripe *stripes; /* the item counters */
    uint32_t stripe_count;
    uint64_t *data;     /* the bits, 64-byte aligned */
    uintptr_t tail;     /* atomic; address of a word of the last page, with TAMIS__TAIL_SET */
    uint64_t map_bytes; /* the most bytes that the file can ever have */
    uint64_t number;    /* as its header says */
    bool writable;
    const struct tamis__place *place;   /* where it was opened; NULL in plain memory */
    const struct tamis__staged *staged; /* its file while it is not published yet; else NULL */
    struct tamis__guard *guard;         /* of the mapping; NULL in plain memory */
    struct tamis__segment_kept *kept;   /* what copies of this share; NULL in plain memory */
    struct tamis__owner **owner; /* who this handle is to other removers; NULL without counters */
    /* What this handle is to checkpoints (mark.h); NULL where it is read-only. */
    struct tamis__writing *writer;
};

struct tamis__segment_kept {
    uint64_t header[TAMIS__GUARD_KEPT_BYTES / 8]; /* its constant part, as it was checked */
    uint32_t pages; /* atomic: enum tamis_pages, as the kernel was advised; AUTO: it was not */
    bool anew;      /* atomic: pages that are in memory may be of the other sort (pages.h) */
};

struct tamis__writing {
    struct tamis__owner *owner; /* with the lock; NULL: has not written */
    bool unwatched;             /* atomic: it has written without a lock */
    unsigned changes; /* atomic: calls that write into it though it need not be the newest */
    /* Atomic: how often this handle, and that of the parent process, has raised `unlogged`; and how
     * often it has lowered it since, or has given that up. */
    uint64_t flights_begun, flights_done;
};

/* A segment in plain memory, or in a mapping: its header, and its data. */
static inline struct tamis__segment tamis__segment_at(void *header, void *data)
{
    struct tamis__segment_header *h = header;
    return (struct tamis__segment){.header = h,
                                   .map = header,
                                   .magic = header,
                                   .live = &h->live,
                                   .stripes = h->items,
                                   .stripe_count = tamis__header_stripes(h),
                                   .data = data};
}

/* Is this mapping advised to have huge pages (pages.h)? */
static inline bool tamis__pages_are_huge(const struct tamis__segment *segment)
{
    return segment->kept != NULL && /* ORDER relaxed: a hint. */
           __atomic_load_n(&segment->kept->pages, __ATOMIC_RELAXED) == TAMIS_PAGES_HUGE;
}

/* What the file of a segment is called. */
#define TAMIS__SEGMENT_NAME_BYTES 32
void tamis__segment_name(uint64_t number, char name[TAMIS__SEGMENT_NAME_BYTES]);
/* The number in the name of a segment's file; 0 if it is not one. */
uint64_t tamis__segment_number(const char *name);
/* Is it the name of a drawer, a file of many filters that no release has made?  A store that has
 * some is refused, with this sentence and TAMIS_EVERSION. */
bool tamis__is_drawer(const char *name);
int tamis__fail_drawers(const char *store_path);

/* Maps a staged file whole, with a copy of its future header; call tamis__segment_close()
 * before publish.  If the levels of overflow in the copy have changed by then, the caller
 * brings them back. */
int tamis__segment_map_staged(const struct tamis__place *place, const struct tamis__staged *staged,
                              const struct tamis__segment_header *header,
                              struct tamis__segment *segment);

/* Maps segment `number`.  Its header has passed tamis__header_check and carries that number. */
int tamis__segment_open(const struct tamis__place *place, uint64_t number, bool writable,
                        struct tamis__segment *segment);
void tamis__segment_close(struct tamis__segment *segment);

/* A pass goes over the data, one piece of this many bytes after the other.  Call
 * tamis__segment_want() before a piece is looked at: if keys are added to the segment, the piece
 * comes into the page cache in small folios. */
#define TAMIS__WANT_BYTES ((uint64_t)1 << 20)
#define TAMIS__WANT_WORDS (TAMIS__WANT_BYTES / 8)
void tamis__segment_want(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes);

/*
 * populate.c: brings the whole file into memory and into the page tables.  No look at it faults
 * then, until the system needs the memory; the first write to a page still does.  It dirties
 * nothing.  Returns TAMIS_EIO if a page cannot be had, or TAMIS_ENOMEM.
 */
int tamis__segment_populate(const struct tamis__segment *segment);

/* A pass is done with these bytes of the data: the process may forget its page-table entries for
 * them.  The contents stay in the page cache. */
void tamis__segment_release(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes);

/*
 * Makes the number free for publishing.  Returns 1 if the number is free; an orphan without items
 * or bits was removed.  Returns 0 if there is a file with something in it; *filter_id is its
 * filter, if that can be read.
 */
int tamis__segment_vacate(const struct tamis__place *place, uint64_t number, uint64_t *filter_id);

/* Makes the file at least file_bytes bytes long, with blocks of its own, on the disk too.  Mappings
 * have the new bytes. */
int tamis__segment_extend(const struct tamis__segment *segment, uint64_t file_bytes);
/* Gets the length of the file. */
int tamis__segment_file_bytes(const struct tamis__segment *segment, uint64_t *file_bytes);

/*
 * Excludes the other removers of a block: processes, threads, handles.  An owner that dies while it
 * holds the lock loses it to the next one who asks.  An owner that lives, even if it is suspended,
 * is waited for.  Errors are those of opening the file.  Do not call this while holding another
 * lock of the same segment.
 */
int tamis__segment_lock_block(const struct tamis__segment *segment, uint64_t block);
void tamis__segment_unlock_block(const struct tamis__segment *segment, uint64_t block);

/* Is no bit of the data set?  Ends at the first bit that is set. */
bool tamis__segment_is_blank(const struct tamis__segment *segment);

/* Opens the file, whatever is in it, so that a removal does not free it yet.
 * tamis__close() ends this. */
int tamis__segment_hold(const struct tamis__place *place, uint64_t number, int *fd);
/* Removes the file; 0 too if it does not exist. */
int tamis__segment_remove(const struct tamis__place *place, uint64_t number);
/* Does the file exist?  Returns 1, 0 or an error. */
int tamis__segment_exists(const struct tamis__place *place, uint64_t number);

/* Writes the path of a segment, for sentences. */
void tamis__segment_path(const struct tamis__place *place, uint64_t number,
                         char path[TAMIS__SEGMENT_PATH_BYTES]);
/* Opens the file that a segment is in.  Returns TAMIS_ENOTFOUND if there is none. */
int tamis__segment_open_file(const struct tamis__place *place, uint64_t number, int flags,
                             char what[TAMIS__SEGMENT_PATH_BYTES], int *fd);

/* Opens the file of an open segment once more, as a private descriptor; `what` gets its path. */
int tamis__segment_open_again(const struct tamis__segment *segment,
                              char what[TAMIS__SEGMENT_PATH_BYTES], struct tamis__private_fd *file);
/* Reads the header of a segment that is not open, and checks it as tamis__segment_open() does.
 * TAMIS_ENOTFOUND if there is no file. */
int tamis__segment_judge(const struct tamis__place *place, uint64_t number,
                         struct tamis__segment_header *header);

/* msync the whole segment. */
int tamis__segment_sync(const struct tamis__place *place, const struct tamis__segment *segment);

/*
 * Writes `name` with `sequence` into the header, unless it has that sequence or a later one.  The
 * caller holds a catalog lock, under which everybody would write the same.
 */
int tamis__segment_relabel(const struct tamis__place *place, const struct tamis__segment *segment,
                           uint64_t sequence, const char *name);

/* The item count: the sum over the stripes. */
uint64_t tamis__segment_items(const struct tamis__segment *segment);

/* Takes the guard, the right to make the segment after this one, until private_close or death.
 * Returns 1, or 0 if another has it. */
int tamis__segment_guard(const struct tamis__place *place, uint64_t number,
                         struct tamis__private_fd *guard);

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

/* What follows is not read before what was read by relaxed loads.  On x86-64 no
 * load overtakes another. */
static inline void tamis__fence_acquire(void)
{
#if defined(__SANITIZE_THREAD__)
    tamis__fence();
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}
