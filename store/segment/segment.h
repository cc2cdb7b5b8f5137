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
 *
 * stage.c makes files, live.c has the words that change while others have the file open, room.c
 * the item count (room.h),
 * broken.c looks for truncation, populate.c reads all of a file, segment_name.c names files,
 * segment.c has the rest.
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

/* What the file of a segment is called. */
#define TAMIS__SEGMENT_NAME_BYTES 32
void tamis__segment_name(uint64_t number, char name[TAMIS__SEGMENT_NAME_BYTES]);
/* The number in the name of a segment's file; 0 if it is not one. */
uint64_t tamis__segment_number(const char *name);
/* Is it the name of a drawer, a file of many filters that no release has made?  A store that has
 * some is refused, with this sentence and TAMIS_EVERSION. */
bool tamis__is_drawer(const char *name);
int tamis__fail_drawers(const char *store_path);

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
 * for them, each of which mappings get by one entry (docs/decisions/0016-mapping.md). */
void tamis__segment_large_folios(const struct tamis__staged *staged, uint64_t offset,
                                 uint64_t bytes);
/* Maps a staged file whole, with a copy of its future header; call tamis__segment_close()
 * before publish.  If the levels of overflow in the copy have changed by then, the caller
 * brings them back. */
int tamis__segment_map_staged(const struct tamis__place *place, const struct tamis__staged *staged,
                              const struct tamis__segment_header *header,
                              struct tamis__segment *segment);
/* Writes bytes of the file to the disk, and waits for them; the kernel begins with as many behind
 * them. */
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

/* Maps segment `number`.  Its header has passed tamis__header_check and carries that number. */
int tamis__segment_open(const struct tamis__place *place, uint64_t number, bool writable,
                        struct tamis__segment *segment);
void tamis__segment_close(struct tamis__segment *segment);

/*
 * Ask after the last look at the mapping, before anything is answered.  Returns 0;
 * TAMIS_ECORRUPT or TAMIS_EIO if a page of the mapping could not be had (guard.h), or if its
 * header is no longer one.
 */
int tamis__segment_check(const struct tamis__segment *segment);

/* Set in `tail` if the word was not 0 when it was chosen.  Such a word of bits never becomes 0. */
#define TAMIS__TAIL_SET ((uintptr_t)1)
/* Chooses the tail, and again when more keys are in: the last word of the data that is not 0, on
 * the last page of the data.  In a file of one page it is always that behind the data. */
void tamis__segment_choose_tail(struct tamis__segment *segment);

/* Called when a file has not its first word, or its tail, any more.  If it has one page, and was
 * cut within that page, no look ever faults: this does what the handler of the fault does, so that
 * the constants of the header come back before anybody uses them (os/guard.h).  Returns false. */
bool tamis__segment_is_cut(const struct tamis__segment *segment);

/*
 * Does the file still begin and end as it did?  If a file is cut within a page, the rest of that
 * page reads as 0 without a fault.  But then the last page is gone, and the look at it faults.  A
 * file that was truncated and made longer again has lost its magic, or the word.
 */
static inline bool tamis__segment_is_whole(const struct tamis__segment *segment)
{
    /* ORDER relaxed: behind tamis__guard_fence(). */
    const uintptr_t tail = __atomic_load_n(&segment->tail, __ATOMIC_RELAXED);
    const uint64_t *word =
        (const uint64_t *)(tail & ~TAMIS__TAIL_SET); // NOLINT(performance-no-int-to-ptr)
    const uint64_t magic = __atomic_load_n(segment->magic, __ATOMIC_RELAXED);
    const uint64_t last = __atomic_load_n(word, __ATOMIC_RELAXED);
    const bool whole =
        (magic == TAMIS__MAGIC_WORD) & (last >= (tail & TAMIS__TAIL_SET)); /* 1 at least if set */
    return __builtin_expect(whole, 1) || tamis__segment_is_cut(segment);
}

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
/* Reads the header of a segment that is not open, and checks nothing of it. */
int tamis__segment_peek(const struct tamis__place *place, uint64_t number,
                        struct tamis__segment_header *header);
/* The same, with the checks of tamis__segment_open().  TAMIS_ENOTFOUND if there is no file. */
int tamis__segment_judge(const struct tamis__place *place, uint64_t number,
                         struct tamis__segment_header *header);
/* The live words of a segment that is not open, and need not be sound. */
struct tamis__live_map {
    struct tamis__live *live; /* NULL if there is no file, or it is too short */
    int64_t created_at;       /* as the header says, whatever it is worth */
    void *map;
    uint64_t map_bytes;
};
int tamis__live_map(const struct tamis__place *place, uint64_t number,
                    struct tamis__live_map *words);
void tamis__live_unmap(struct tamis__live_map *words);
/* msync the part of the file that has the live words. */
int tamis__live_sync(const struct tamis__place *place, uint64_t number,
                     const struct tamis__live_map *words);
/* The same for an open segment: its live words, its counters and its name. */
int tamis__segment_sync_live(const struct tamis__segment *segment);

/* msync the whole segment. */
int tamis__segment_sync(const struct tamis__place *place, const struct tamis__segment *segment);

/*
 * Writes `name` with `sequence` into the header, unless it has that sequence or a later one.  The
 * caller holds a catalog lock, under which everybody would write the same.
 */
int tamis__segment_relabel(const struct tamis__place *place, const struct tamis__segment *segment,
                           uint64_t sequence, const char *name);

/*
 * Changes a live word of a segment that need not be open; `offset` is where the word stands in
 * struct tamis__live.  Otherwise as tamis__segment_raise_epoch.
 */
int tamis__segment_tell(const struct tamis__place *place, uint64_t number, size_t offset,
                        uint64_t value);

/* For the newest segment of the list in force: no other segment goes on after it any more, whatever
 * its `next` says.  It may refuse keys as before.  Otherwise as above. */
int tamis__segment_stay(const struct tamis__place *place, uint64_t number);

/*
 * Raises the epoch: every open handle looks at the catalog again before its next answer.  This
 * works on a segment that cannot be opened, since handles may have it mapped.  Returns 0 too if the
 * file does not exist or is too short for a header.
 */
int tamis__segment_raise_epoch(const struct tamis__place *place, uint64_t number);

/* Adds to the item count, on the stripe of this processor, or of the thread's hold (room.h);
 * UINT64_MAX takes one away.  Returns what the stripe held before. */
uint64_t tamis__segment_count(const struct tamis__segment *segment, uint64_t items);
uint64_t tamis__segment_items(const struct tamis__segment *segment);
/* Says which segment goes on after this one, unless `next` names one already; a spare does not
 * count.  The segment `next` is whole. */
void tamis__segment_leave(const struct tamis__segment *segment, uint64_t next);

/* A value of `next`: by the filter's policy, the newest segment is full and takes no more keys. */
#define TAMIS__NEXT_REFUSE UINT64_MAX
/* Takes TAMIS__NEXT_REFUSE back: the segment has room after all. */
void tamis__segment_take_again(const struct tamis__segment *segment);
/* A value of `next`: no segment ever goes on after this one, because the filter is dropped. */
#define TAMIS__NEXT_DROPPED (UINT64_MAX - 1)

/*
 * A spare: the segment with this number is whole, in the catalog, and waits to be entered after
 * this one.  The list does not go on in it yet, so NEXT_SPARE | number counts as 0 wherever the
 * list matters.  Numbers are far below 2^62.
 */
#define TAMIS__NEXT_SPARE ((uint64_t)1 << 62)
/* The number of the spare that a `next` names; 0 if it names none. */
static inline uint64_t tamis__next_spare(uint64_t next)
{
    return next >> 62 == 1 ? next & ~TAMIS__NEXT_SPARE : 0;
}
/* Offers a spare, if `next` is 0. */
void tamis__segment_offer(const struct tamis__segment *segment, uint64_t number);
/* Lets the list go on in the spare, if there is one.  Returns true if the list now goes on, by us
 * or by another adder. */
bool tamis__segment_enter_spare(const struct tamis__segment *segment);
/* Call under the exclusive lock, for a segment that need not be open: nobody enters its
 * spare any more.  Returns 1 if somebody has entered it already; 0 if there is no spare now,
 * or no such file. */
int tamis__segment_take_back(const struct tamis__place *place, uint64_t number);

/* Takes the guard, the right to make the segment after this one, until private_close or death.
 * Returns 1, or 0 if another has it. */
int tamis__segment_guard(const struct tamis__place *place, uint64_t number,
                         struct tamis__private_fd *guard);

static inline uint64_t tamis__segment_next(const struct tamis__segment *segment)
{
    /* ORDER acquire: pairs with tamis__segment_leave; the segment that it names is whole. */
    return __atomic_load_n(&segment->live->next, __ATOMIC_ACQUIRE);
}

static inline uint64_t tamis__segment_exceptions(const struct tamis__segment *segment)
{
    /* ORDER acquire: as tamis__segment_next. */
    return __atomic_load_n(&segment->live->exceptions, __ATOMIC_ACQUIRE);
}

/* The number of the publication that last put the list in force whose newest segment this is, or
 * that changed its exceptions. */
static inline uint64_t tamis__segment_in_force(const struct tamis__segment *segment)
{
    /* ORDER acquire: as tamis__segment_next. */
    return __atomic_load_n(&segment->live->in_force, __ATOMIC_ACQUIRE);
}

/* Has the list gone on after a segment with this `next`? */
static inline bool tamis__next_is_left(uint64_t next)
{
    return next != 0 && next != TAMIS__NEXT_REFUSE && tamis__next_spare(next) == 0;
}

/* Does another segment go on after it? */
static inline bool tamis__segment_is_left(const struct tamis__segment *segment)
{
    return tamis__next_is_left(tamis__segment_next(segment));
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

/* The epoch as published.  It stands in a shared cache line that is rarely written. */
static inline uint64_t tamis__segment_epoch(const struct tamis__segment *segment)
{
    /* ORDER acquire: pairs with the release in tamis__segment_raise_epoch.  Who sees the raise
     * goes to the catalog under the lock that the publisher still holds, so nothing else
     * depends on it. */
    return __atomic_load_n(&segment->live->epoch, __ATOMIC_ACQUIRE);
}
