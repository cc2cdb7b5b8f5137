/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark.c: see mark.h; docs/durability.md, "The mark", has the proof.
 *
 * Who writes the words: mark, boot_id, clean_until and syncs_* are written by any process, by
 * atomics.  degraded_since is set by whoever sees a sync fail, and cleared by whoever has synced
 * all.  unclean_since is written by the holder of the catalog's exclusive lock.
 */
#include "segment/mark.h"

#include <fcntl.h>

#include "os/io.h"
#include "segment/broken.h"
#include "segment/live.h"
#include "segment/points.h"
#include "segment/sums.h"

/* The byte that writers lock, behind the bytes of removers (owner.c); and the one behind it, which
 * the caller of count_dead_flights() locks. */
#define WRITERS_BYTE ((uint64_t)1 << 61)
#define TOLL_BYTE (WRITERS_BYTE + 1)
/* Whoever writes a table of checksums has locked this one. */
#define SUMS_BYTE (WRITERS_BYTE + 2)
/* No page of any host is smaller. */
#define PAGE_BYTES_MIN 4096u
#define BOOT_ID_WORDS (TAMIS__BOOT_ID_BYTES / 8)

/* ---- The words ------------------------------------------------------------------------------- */

static uint64_t load_mark(const struct tamis__live *live)
{
    /* ORDER acquire: pairs with the release of make_dirty(): the boot_id of a dirty mark. */
    return __atomic_load_n(&live->mark, __ATOMIC_ACQUIRE);
}

/* Was the mark set under this boot?  Where the boot is not known, `if_unknown` is the answer. */
static bool is_this_boot(const struct tamis__live *live, bool if_unknown)
{
    uint64_t ours[BOOT_ID_WORDS] = {0}, theirs[BOOT_ID_WORDS];
    uint8_t id[TAMIS__BOOT_ID_BYTES];
    if (!tamis__boot_id(id)) return if_unknown;
    memcpy(ours, id, sizeof ours);
    const uint64_t *words = (const uint64_t *)(const void *)live->boot_id;
    for (size_t i = 0; i < BOOT_ID_WORDS;
         i++) /* ORDER relaxed: all writers of one boot write the same */
        theirs[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    return memcmp(ours, theirs, sizeof ours) == 0;
}

static void set_boot(struct tamis__live *live)
{
    uint64_t ours[BOOT_ID_WORDS] = {0};
    uint8_t id[TAMIS__BOOT_ID_BYTES];
    uint64_t *words = (uint64_t *)(void *)live->boot_id; /* at a multiple of 8: header.h */
    (void)tamis__boot_id(id);                            /* zeros where it is not known */
    memcpy(ours, id, sizeof ours);
    for (size_t i = 0; i < BOOT_ID_WORDS; i++) /* ORDER relaxed: before the release of the mark */
        __atomic_store_n(&words[i], ours[i], __ATOMIC_RELAXED);
}

/* Raises a time or a count that only grows. */
static void raise_time(int64_t *place, int64_t to)
{
    int64_t is = __atomic_load_n(place, __ATOMIC_RELAXED);
    /* ORDER relaxed: no other memory is read because of it. */
    while (is < to &&
           !__atomic_compare_exchange_n(place, &is, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void raise_count(uint64_t *place, uint64_t to)
{
    uint64_t is = __atomic_load_n(place, __ATOMIC_RELAXED);
    /* ORDER release: who finds that its checkpoint is done also finds what that checkpoint did. */
    while (is < to &&
           !__atomic_compare_exchange_n(place, &is, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

bool tamis__mark_is_stale(const struct tamis__live *live)
{
    return (load_mark(live) & TAMIS__MARK_DIRTY) != 0 && !is_this_boot(live, true);
}

bool tamis__mark_is_clean(const struct tamis__live *live)
{
    return (load_mark(live) & TAMIS__MARK_DIRTY) == 0;
}

int64_t tamis__clean_until_of(const struct tamis__live *live, int64_t created_at)
{
    /* ORDER relaxed: the time stands alone. */
    const int64_t since = __atomic_load_n(&live->clean_until, __ATOMIC_RELAXED);
    return since != 0 ? since : created_at;
}

int64_t tamis__unclean_since_of(const struct tamis__live *live, int64_t created_at)
{
    /* ORDER relaxed: the time stands alone. */
    const int64_t since = __atomic_load_n(&live->unclean_since, __ATOMIC_RELAXED);
    return since != 0                   ? since
           : tamis__mark_is_stale(live) ? tamis__clean_until_of(live, created_at)
                                        : 0;
}

int64_t tamis__mark_unclean_since(const struct tamis__segment *segment)
{
    return tamis__unclean_since_of(segment->live, segment->header->created_at);
}

/* ---- Failed syncs ---------------------------------------------------------------------------- */

/* After a write has failed, the kernel takes the page for clean.  This makes all
 * pages dirty again. */
static void touch_pages(const struct tamis__segment *segment)
{
    const uint64_t bytes = tamis__header_file_bytes(segment->header);
    volatile uint64_t nothing = 0; /* unknown to the compiler, which would leave the store out */
    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES_MIN) /* ORDER relaxed: changes nothing */
        (void)__atomic_fetch_or((uint64_t *)(void *)((char *)segment->map + at), nothing,
                                __ATOMIC_RELAXED);
}

int tamis__mark_degrade(const struct tamis__segment *segment, int rc)
{
    int64_t never = 0; /* ORDER relaxed: a time alone */
    (void)__atomic_compare_exchange_n(&segment->live->degraded_since, &never, tamis__now_ns(),
                                      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    touch_pages(segment);
    return rc;
}

static int sync_header(const struct tamis__segment *segment)
{
    const int rc = tamis__segment_sync_live(segment);
    return rc < 0 ? tamis__mark_degrade(segment, rc) : 0;
}

/* ---- A writer begins ------------------------------------------------------------------------- */

bool tamis__mark_is_writer(const struct tamis__segment *segment)
{
    struct tamis__writing *writer = segment->writer;
    /* ORDER relaxed: set by this process, before it wrote. */
    return writer != NULL && (tamis__owner_current(&writer->owner) != NULL ||
                              __atomic_load_n(&writer->unwatched, __ATOMIC_RELAXED));
}

bool tamis__mark_was_writer(const struct tamis__segment *segment)
{
    const struct tamis__writing *writer = segment->writer;
    if (writer == NULL) return false;
    /* ORDER acquire, relaxed: as tamis__owner_current() and tamis__mark_is_writer(). */
    const struct tamis__owner *owner = __atomic_load_n(&writer->owner, __ATOMIC_ACQUIRE);
    return (owner != NULL && owner->file.fd >= 0) ||
           __atomic_load_n(&writer->unwatched, __ATOMIC_RELAXED);
}

void tamis__mark_begin_change(const struct tamis__segment *segment)
{
    /* ORDER seq_cst: see tamis__mark_let_go(). */
    if (segment->writer != NULL)
        (void)__atomic_add_fetch(&segment->writer->changes, 1, __ATOMIC_SEQ_CST);
}

void tamis__mark_end_change(const struct tamis__segment *segment)
{
    /* ORDER seq_cst: see tamis__mark_let_go(). */
    if (segment->writer != NULL)
        (void)__atomic_sub_fetch(&segment->writer->changes, 1, __ATOMIC_SEQ_CST);
}

void tamis__mark_let_go(const struct tamis__segment *segment)
{
    struct tamis__owner *owner =
        segment->writer != NULL ? tamis__owner_current(&segment->writer->owner) : NULL;
    if (owner == NULL) return;
    /* ORDER seq_cst: a change is counted before it looks for an owner.  If it is not seen here, it
     * finds that this owner has let go, and locks the byte by another one. */
    __atomic_store_n(&owner->has_let_go, true, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&segment->writer->changes, __ATOMIC_SEQ_CST) == 0)
        tamis__unlock_byte(owner->file.fd, WRITERS_BYTE);
    else
        __atomic_store_n(&owner->has_let_go, false, __ATOMIC_SEQ_CST);
}

/* Locks the byte of writers.  Returns NULL if no descriptor or lock can be had. */
static struct tamis__owner *take_lock(const struct tamis__segment *segment)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    struct tamis__owner *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) return NULL;
    if (tamis__segment_open_again(segment, what, &fresh->file) == 0 &&
        tamis__share_byte(fresh->file.fd, WRITERS_BYTE, what) == 1)
        return fresh;
    tamis__owner_free(fresh);
    return NULL;
}

/* All that was added while the segment was clean is on the disk, so all until now is; unless
 * another writer was faster, who may have written since then. */
static void raise_while_clean(struct tamis__live *live)
{
    int64_t old = __atomic_load_n(&live->clean_until, __ATOMIC_RELAXED);
    const int64_t now = tamis__now_ns();
    if ((load_mark(live) & TAMIS__MARK_DIRTY) != 0 || now < old) return;
    /* ORDER relaxed: the time stands alone. */
    (void)__atomic_compare_exchange_n(&live->clean_until, &old, now, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
}

static int make_dirty(const struct tamis__segment *segment, uint64_t was)
{
    struct tamis__live *live = segment->live;
    if ((was & TAMIS__MARK_DIRTY) == 0) raise_while_clean(live);
    set_boot(live);
    /* ORDER release: the boot_id comes first. */
    (void)__atomic_fetch_or(&live->mark, TAMIS__MARK_DIRTY, __ATOMIC_RELEASE);
    TAMIS__POINT(TAMIS__POINT_MARK_DIRTY);
    const int rc = sync_header(segment);
    if (rc < 0) return rc;
    /* ORDER release: after the sync. */
    (void)__atomic_fetch_or(&live->mark, TAMIS__MARK_ON_DISK, __ATOMIC_RELEASE);
    return 0;
}

static bool is_marked(const struct tamis__live *live, uint64_t mark)
{
    const uint64_t marked = TAMIS__MARK_DIRTY | TAMIS__MARK_ON_DISK;
    return (mark & marked) == marked && is_this_boot(live, false);
}

bool tamis__mark_is_on_disk(const struct tamis__segment *segment)
{
    return is_marked(segment->live, load_mark(segment->live));
}

int tamis__mark_begin(const struct tamis__segment *segment, bool tried)
{
    struct tamis__writing *writer = segment->writer;
    struct tamis__live *live = segment->live;
    if (segment->place == NULL || writer == NULL) return 0; /* plain memory */
    if (!tried && tamis__mark_is_stale(live)) return TAMIS__MARK_STALE;
    struct tamis__owner *fresh = take_lock(segment);
    TAMIS__POINT(TAMIS__POINT_MARK_LOCKED);
    /* ORDER seq_cst: a writer takes the lock, then raises the count, then sets its first bit.  A
     * checkpoint reads the mark, then asks for locks, then syncs. */
    if (fresh == NULL)
        (void)__atomic_fetch_or(&live->mark, TAMIS__MARK_UNWATCHED, __ATOMIC_SEQ_CST);
    const uint64_t was = __atomic_fetch_add(&live->mark, TAMIS__MARK_WRITER, __ATOMIC_SEQ_CST);
    TAMIS__POINT(TAMIS__POINT_MARK_COUNTED);
    int rc = 0;
    if (!is_marked(live, was)) rc = make_dirty(segment, was);
    if (rc == 0) rc = tamis__segment_check(segment); /* so the file has the mark */
    if (rc < 0) {
        tamis__owner_free(fresh);
        return rc;
    }
    if (fresh != NULL)
        (void)tamis__owner_enter(&writer->owner, fresh);
    else
        __atomic_store_n(&writer->unwatched, true, __ATOMIC_RELAXED); /* ORDER: see is_writer */
    TAMIS__POINT(TAMIS__POINT_MARK_DONE);
    return 0;
}

/* ---- A checkpoint ---------------------------------------------------------------------------- */

/* Does any other descriptor hold the writers' byte?  If that cannot be found out, the
 * answer is yes. */
static bool others_write(const struct tamis__segment *segment)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    struct tamis__private_fd file = {.fd = -1};
    struct tamis__owner *owner =
        segment->writer != NULL ? tamis__owner_current(&segment->writer->owner) : NULL;
    if (TAMIS__NO_MARK_LOCK) return false;
    if (owner != NULL) return tamis__byte_is_locked(owner->file.fd, WRITERS_BYTE, "a segment") != 0;
    int rc = tamis__segment_open_again(segment, what, &file);
    if (rc == 0) rc = tamis__byte_is_locked(file.fd, WRITERS_BYTE, what);
    tamis__private_close(&file);
    return rc != 0;
}

/* What a mark becomes when nobody writes any more. */
static uint64_t clean_mark(uint64_t mark, bool sealed)
{
    mark &= ~(TAMIS__MARK_DIRTY | TAMIS__MARK_ON_DISK | TAMIS__MARK_SEALED);
    return sealed ? mark | TAMIS__MARK_SEALED : mark;
}

/* Clears the mark, unless somebody has begun since `mark` was read.  `sealed`: the table of
 * checksums is on the disk. */
static bool clear_mark(struct tamis__live *live, uint64_t mark, bool sealed)
{
    /* ORDER seq_cst: see tamis__mark_begin. */
    if (TAMIS__NO_MARK_COUNT) mark = __atomic_load_n(&live->mark, __ATOMIC_SEQ_CST);
    const bool cleared = __atomic_compare_exchange_n(&live->mark, &mark, clean_mark(mark, sealed),
                                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    TAMIS__POINT(TAMIS__POINT_SYNC_CLEARED);
    return cleared;
}

/* Brings all pages to the disk.  This also heals a failure from before. */
static int sync_all(const struct tamis__segment *segment)
{
    struct tamis__live *live = segment->live;
    /* ORDER acquire: what failed until then is written again. */
    int64_t failed = __atomic_load_n(&live->degraded_since, __ATOMIC_ACQUIRE);
    if (failed != 0) touch_pages(segment);
    const int rc = tamis__segment_sync(segment->place, segment);
    if (rc < 0) return tamis__mark_degrade(segment, rc);
    if (failed != 0) /* ORDER relaxed: a time alone */
        (void)__atomic_compare_exchange_n(&live->degraded_since, &failed, 0, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return 0;
}

/* ---- Durable adds that never landed ---------------------------------------------------------- */

/*
 * Returns how many of the flights in `unlogged` belong to adders that are dead or have failed (a
 * flight is an add between its first bit and the sync of its log).  It can tell only if no other
 * handle writes and none has begun since `mark` was read.  If the result is above 0, `toll` is
 * locked, so that two callers do not take off the same flights.
 *
 * The order of the loads matters: a flight of this handle counts in `begun` and not yet in `done`,
 * so this handle never has more flights than their difference.
 */
static uint64_t count_dead_flights(const struct tamis__segment *segment, uint64_t mark,
                                   struct tamis__private_fd *toll)
{
    const struct tamis__live *live = segment->live;
    const struct tamis__writing *writer = segment->writer;
    char what[TAMIS__SEGMENT_PATH_BYTES];
    /* ORDER seq_cst: as said above, and paired with the loads and stores of flight.c, which raises
     * and lowers these words. */
    if (writer == NULL || __atomic_load_n(&live->unlogged, __ATOMIC_SEQ_CST) == 0) return 0;
    if (tamis__segment_open_again(segment, what, toll) < 0 ||
        tamis__lock_byte(toll->fd, TOLL_BYTE, what) != 1)
        return 0;
    const uint64_t done = __atomic_load_n(&writer->flights_done, __ATOMIC_SEQ_CST);
    const uint64_t unlogged = __atomic_load_n(&live->unlogged, __ATOMIC_SEQ_CST);
    const uint64_t own = __atomic_load_n(&writer->flights_begun, __ATOMIC_SEQ_CST) - done;
    if (__atomic_load_n(&live->mark, __ATOMIC_SEQ_CST) != mark) return 0;
    return unlogged > own ? unlogged - own : 0;
}

/* ---- Checksums ------------------------------------------------------------------------------- */

/* Will no key be added to the segment?  Its list has gone on, or it is full. */
static bool is_at_rest(const struct tamis__live *live)
{
    /* ORDER acquire: as tamis__segment_next(). */
    const uint64_t next = __atomic_load_n(&live->next, __ATOMIC_ACQUIRE);
    return tamis__next_is_left(next) || next == TAMIS__NEXT_REFUSE;
}

bool tamis__mark_may_seal(const struct tamis__segment_header *header)
{
    const uint64_t mark = load_mark(&header->live);
    return is_at_rest(&header->live) && !tamis__mark_is_sealed(mark) &&
           tamis__sums_have_room(header);
}

/*
 * Writes the table of checksums, if the segment is at rest and has none for this mark.  The caller
 * knows that no handle writes to it.  The table is not in force before the mark says so, which it
 * does only if no writer has begun since `mark` was read.  Returns whether the table is there;
 * `lock` is locked then, so that a maker that was stopped does not write over the table of another.
 */
static bool make_sums(const struct tamis__segment *segment, uint64_t mark,
                      struct tamis__private_fd *lock)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    if (!segment->writable || !tamis__mark_may_seal(segment->header)) return false;
    if (tamis__segment_open_again(segment, what, lock) < 0) return false;
    if (tamis__lock_byte(lock->fd, SUMS_BYTE, what) != 1) return false;
    /* ORDER seq_cst: the former holder of the lock has sealed it, or others have written since. */
    if (__atomic_load_n(&segment->live->mark, __ATOMIC_SEQ_CST) != mark) return false;
    TAMIS__POINT(TAMIS__POINT_SUMS_LOCKED);
    const bool made = tamis__sums_make(segment, clean_mark(mark, true)) == 0;
    TAMIS__POINT(TAMIS__POINT_SUMS_MADE);
    return made;
}

/* `leaving`: this handle has done its last write.  If others write, all is left to them. */
static int checkpoint(const struct tamis__segment *segment, bool leaving)
{
    struct tamis__live *live = segment->live;
    const int64_t now = tamis__now_ns();
    /* ORDER seq_cst: see tamis__mark_begin. */
    const uint64_t mark = __atomic_load_n(&live->mark, __ATOMIC_SEQ_CST);
    const bool stale = tamis__mark_is_stale(live);
    const bool watched = (mark & TAMIS__MARK_UNWATCHED) == 0 && !stale;
    const bool lonely = watched && !others_write(segment);
    const bool alone = lonely && (leaving || !tamis__mark_is_writer(segment));
    if (leaving && !alone && (mark & TAMIS__MARK_UNWATCHED) == 0) return 0;
    TAMIS__POINT(TAMIS__POINT_SYNC_ASKED);
    const bool dirty = (mark & TAMIS__MARK_DIRTY) != 0;
    /* ORDER acq_rel: what a durable filter has to write was written before the sync begins. */
    const uint64_t begun = dirty ? __atomic_add_fetch(&live->syncs_begun, 1, __ATOMIC_ACQ_REL) : 0;
    struct tamis__private_fd toll = {.fd = -1}, sums = {.fd = -1};
    const uint64_t dead = lonely ? count_dead_flights(segment, mark, &toll) : 0;
    const bool sealed = alone && make_sums(segment, mark, &sums);
    int rc = sync_all(segment);
    if (rc == 0) rc = tamis__segment_check(segment); /* or another file was synced */
    /* ORDER seq_cst: their bits are on the disk. */
    if (rc == 0 && dead > 0) (void)__atomic_sub_fetch(&live->unlogged, dead, __ATOMIC_SEQ_CST);
    tamis__private_close(&toll);
    if (rc < 0 || (!dirty && !sealed)) {
        tamis__private_close(&sums);
        return rc < 0 ? rc : 1;
    }
    if (dirty) TAMIS__POINT(TAMIS__POINT_SYNC_DONE);
    if (dirty) raise_count(&live->syncs_done, begun);
    const bool cleared = alone && clear_mark(live, mark, sealed);
    tamis__private_close(&sums);
    /* If the mark is stale, keys from before may be missing. */
    if (dirty && !stale) raise_time(&live->clean_until, now);
    rc = sync_header(segment);
    return rc < 0 ? rc : cleared || !dirty;
}

int tamis__mark_checkpoint(const struct tamis__segment *segment)
{
    return checkpoint(segment, false);
}

int tamis__mark_leave(const struct tamis__segment *segment)
{
    struct tamis__owner *owner = tamis__owner_current(&segment->writer->owner);
    /* This comes first: of two handles that leave together, the second one to let
     * go finds nobody. */
    if (owner != NULL) tamis__unlock_byte(owner->file.fd, WRITERS_BYTE);
    return checkpoint(segment, true);
}

/* ---- After the machine went down ------------------------------------------------------------- */

/* A lock does not outlive its boot, so a writer that holds one is alive. */
int tamis__mark_has_writer(const struct tamis__place *place, uint64_t number)
{
    char what[TAMIS__SEGMENT_PATH_BYTES];
    int fd;
    int rc = tamis__segment_open_file(place, number, O_RDWR, what, &fd);
    if (rc == 0) rc = tamis__byte_is_locked(fd, WRITERS_BYTE, what);
    tamis__close(fd);
    return rc;
}

static void recover(const struct tamis__live_map *words, bool whole)
{
    struct tamis__live *live = words->live;
    int64_t never = 0;
    /* ORDER seq_cst, in this order: if only the first store is on the disk, the segment is
     * recovered once more. */
    if (!whole) (void)__atomic_fetch_or(&live->mixed, TAMIS__MIXED_BEGUN, __ATOMIC_SEQ_CST);
    if (!whole)
        (void)__atomic_compare_exchange_n(&live->unclean_since, &never,
                                          tamis__clean_until_of(live, words->created_at), false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    __atomic_store_n(&live->unlogged, 0, __ATOMIC_SEQ_CST); /* no adder has outlived its boot */
    /* What was written since the table of checksums was made is not in it. */
    (void)__atomic_fetch_and(&live->mark, ~(TAMIS__MARK_BITS | TAMIS__MARK_SEALED),
                             __ATOMIC_SEQ_CST);
    set_boot(live);
}

int tamis__mark_recover(const struct tamis__place *place, uint64_t number, bool whole)
{
    struct tamis__live_map words;
    int rc = tamis__live_map(place, number, &words);
    if (rc < 0 || words.live == NULL) return rc;
    if (tamis__mark_is_stale(words.live)) {
        rc = tamis__mark_has_writer(place, number);
        if (rc == 0) {
            recover(&words, whole);
            rc = tamis__live_sync(place, number, &words);
            if (rc == 0) rc = 1;
        } else if (rc > 0) {
            rc = 0;
        }
    }
    tamis__live_unmap(&words);
    return rc;
}

int tamis__mark_miss(const struct tamis__place *place, uint64_t number, int64_t since)
{
    struct tamis__live_map words;
    int rc = tamis__live_map(place, number, &words);
    if (rc < 0 || words.live == NULL) return rc;
    /* ORDER seq_cst: as in a recovery. */
    int64_t known = __atomic_load_n(&words.live->unclean_since, __ATOMIC_SEQ_CST);
    (void)__atomic_fetch_or(&words.live->mixed, TAMIS__MIXED_BEGUN, __ATOMIC_SEQ_CST);
    while ((known == 0 || since < known) &&
           !__atomic_compare_exchange_n(&words.live->unclean_since, &known, since, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    rc = tamis__live_sync(place, number, &words);
    tamis__live_unmap(&words);
    return rc;
}

int tamis__mark_accept(const struct tamis__segment *segment)
{
    /* ORDER seq_cst: under the catalog's lock. */
    if (__atomic_exchange_n(&segment->live->unclean_since, 0, __ATOMIC_SEQ_CST) == 0) return 0;
    return sync_header(segment);
}
