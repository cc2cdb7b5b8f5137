/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * moves.c: the file of moves, and what this run writes into it; see moves.h, moves_parts.h.
 *
 * Each server of a store has a file of its own: the first redis-moves.N that no other process has
 * locked.  (The lock is one of fcntl(2), which a child that saves does not have.)
 */
#include "kept/moves.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kept/moves_parts.h"
#include "registry/registry.h"
#include "server/clock.h"
#include "server/config.h"
#include "server/field.h"

#define FILES_MAX 64
#define FILE_BYTES (MOVES_ENTRIES_AT + MOVES_ROOM)
/* A mapped file that the disk has no room for ends the process.  So room is taken first: so much at
 * the beginning, and so much at a time. */
#define FIRST_BYTES ((uint64_t)64 << 10)
#define MORE_BYTES ((uint64_t)1 << 20)

static struct moves_head *head; /* the mapped file; NULL: there is none */
static char *entries;           /* in it */
static char path[4096];         /* of it */
static int file = -1;           /* stays open, as it has the lock */
static uint64_t room;           /* atomic: so many bytes of the entries have room on the disk */
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;
static bool is_full;      /* atomic */
static bool begun;        /* moves_begin() */
static bool is_loaded;    /* atomic: moves_are_dealt_with() */
static unsigned holds;    /* moves that end then: those of the run before; moves_note_load() */
static bool is_asleep;    /* atomic: the event loop, and nobody has woken it */
static bool is_told_full; /* of the main thread, as those below */
static unsigned flushes_begun, flushes_async;

/* ---- The file -------------------------------------------------------------------------------- */

/* Takes room on the disk for `bytes` from `at` on, which nobody writes to yet. */
static bool take_room(uint64_t at, uint64_t bytes)
{
    static const char zeros[4096];
    if (fallocate(file, 0, (off_t)at, (off_t)bytes) == 0) return true;
    if (errno != EOPNOTSUPP) return false;
    for (uint64_t done = 0; done < bytes; done += sizeof zeros)
        if (pwrite(file, zeros, sizeof zeros, (off_t)(at + done)) != (ssize_t)sizeof zeros)
            return false;
    return true;
}

/* Makes sure that the entries have room up to `end`. */
static bool grow(uint64_t end)
{
    (void)pthread_mutex_lock(&growing);
    while (room < end && !__atomic_load_n(&is_full, __ATOMIC_RELAXED)) {
        if (room + MORE_BYTES > MOVES_ROOM || !take_room(MOVES_ENTRIES_AT + room, MORE_BYTES))
            __atomic_store_n(&is_full, true, __ATOMIC_RELAXED); /* ORDER relaxed: a hint */
        else
            __atomic_store_n(&room, room + MORE_BYTES, __ATOMIC_RELEASE);
    }
    const bool has = room >= end;
    (void)pthread_mutex_unlock(&growing);
    return has;
}

/* Opens the first file that no other server has.  Returns 0, or an error of the system. */
static int open_file(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (unsigned n = 0; n < FILES_MAX; n++) {
        const int bytes = snprintf(path, sizeof path, "%s/redis-moves.%u", config.store, n);
        if (bytes < 0 || (size_t)bytes >= sizeof path) return ENAMETOOLONG;
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file < 0) return errno;
        if (fcntl(file, F_SETLK, &lock) == 0) return 0;
        (void)close(file);
        file = -1;
    }
    return EMFILE;
}

/* Has the file moves of the run before?  Then it is mapped; so much of it has room. */
static bool has_moves(uint64_t *bytes)
{
    struct moves_head found;
    struct stat stat;
    *bytes = 0;
    if (fstat(file, &stat) != 0 || (uint64_t)stat.st_size != FILE_BYTES ||
        pread(file, &found, sizeof found, 0) != (ssize_t)sizeof found ||
        memcmp(found.magic, MOVES_MAGIC, sizeof found.magic) != 0 ||
        MOVES_OFFSET(found.control) == 0)
        return false;
    *bytes = MOVES_OFFSET(found.control) * MOVES_UNIT & ~(uint64_t)4095;
    return *bytes <= MOVES_ROOM;
}

/* Maps the file, which is empty but where `found` bytes of entries have room already. */
static int map_file(bool found, uint64_t bytes)
{
    if (!found && (ftruncate(file, 0) != 0 || ftruncate(file, (off_t)FILE_BYTES) != 0))
        return errno;
    if (!take_room(0, MOVES_ENTRIES_AT) || !take_room(MOVES_ENTRIES_AT + bytes, FIRST_BYTES))
        return errno;
    room = bytes + FIRST_BYTES;
    void *map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return errno;
    head = map;
    entries = (char *)map + MOVES_ENTRIES_AT;
    return 0;
}

static void begin(bool found)
{
    holds = found ? 1 : 0;
    if (!found) {
        __atomic_store_n(&head->control, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&head->confirmed, 1, __ATOMIC_RELAXED);
        memcpy(head->magic, MOVES_MAGIC, sizeof head->magic);
        return;
    }
    moves_read(head, FILE_BYTES);
    /* What this run notes comes behind them, until they are dealt with: one move is under way. */
    __atomic_store_n(&head->control, MOVES_PLACE(head->control) + MOVES_PENDING_ONE,
                     __ATOMIC_RELAXED);
}

void moves_open(void)
{
    uint64_t bytes = 0;
    int rc = open_file();
    if (rc == 0) {
        const bool found = has_moves(&bytes);
        rc = map_file(found, bytes);
        if (rc == 0) begin(found);
    }
    if (rc == 0) return;
    RedisModule_Log(NULL, "warning",
                    "the file '%s', which says after a kill what had become of filters, cannot be "
                    "made: %s; filters are known by their names and bits then",
                    path, strerror(rc));
    if (file >= 0) (void)close(file);
    file = -1;
}

void moves_close(void)
{
    if (head == NULL || MOVES_PENDING(__atomic_load_n(&head->control, __ATOMIC_RELAXED)) > 0)
        return;
    (void)unlink(path); /* it stays mapped, as threads may still come */
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Is there a file, and is all loaded? */
static bool notes(void)
{
    return head != NULL && begun;
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* The next turn begins at once, and so the AOF is known to be written. */
static void end_sleep(void)
{
    if (RedisModule_EventLoopAddOneShot != NULL)
        (void)RedisModule_EventLoopAddOneShot(do_nothing, NULL);
}

/* Appends an entry.  Returns whether moves_end() must follow: it must also if there was no room on
 * the disk for the entry. */
static bool append(enum moves_type type, int64_t created_at, const char *name)
{
    const size_t name_bytes = strlen(name);
    const uint64_t units = 1 + (name_bytes + MOVES_UNIT - 1) / MOVES_UNIT;
    const uint64_t now = __atomic_load_n(&head->control, __ATOMIC_RELAXED);
    if (MOVES_OFFSET(now) * MOVES_UNIT >= MOVES_ROOM) {
        __atomic_store_n(&is_full, true, __ATOMIC_RELAXED);
        return false;
    }
    /* ORDER acquire: what an earlier epoch wrote into these bytes was written before. */
    const uint64_t before = __atomic_fetch_add(
        &head->control, MOVES_PENDING_ONE + units * MOVES_UNIT_ONE, __ATOMIC_ACQ_REL);
    const uint64_t at = MOVES_OFFSET(before) * MOVES_UNIT, end = at + units * MOVES_UNIT;
    if (end > __atomic_load_n(&room, __ATOMIC_ACQUIRE) && !grow(end)) return true;
    struct moves_entry *entry = (struct moves_entry *)(void *)(entries + at);
    entry->created_at = created_at;
    memcpy(entry->name, name, name_bytes);
    memset(entry->name + name_bytes, 0, (units - 1) * MOVES_UNIT - name_bytes);
    /* ORDER relaxed: the main thread notes nearly all then.  Else an entry waits to be confirmed.
     */
    const uint64_t sure = __atomic_load_n(&is_loaded, __ATOMIC_RELAXED) ? 0 : MOVES_SURE;
    /* ORDER release: who finds the head finds the whole entry. */
    __atomic_store_n(&entry->head, MOVES_HEAD(type, units, MOVES_EPOCH(before)) | sure,
                     __ATOMIC_RELEASE);
    /* ORDER relaxed: of a thread that releases values it does not matter when they are confirmed.
     */
    if (__atomic_load_n(&is_asleep, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&is_asleep, false, __ATOMIC_RELAXED))
        end_sleep();
    return true;
}

void moves_end(void)
{
    /* ORDER release: entries of the next epoch are written after all of this one. */
    uint64_t now = __atomic_sub_fetch(&head->control, MOVES_PENDING_ONE, __ATOMIC_ACQ_REL);
    /* If it fails, somebody has appended, and comes here later. */
    if (MOVES_PENDING(now) == 0)
        (void)__atomic_compare_exchange_n(&head->control, &now, MOVES_EPOCH(MOVES_EPOCH(now) + 1),
                                          false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ORDER relaxed: what the main thread has begun it sees. */
static bool are_under_way(void)
{
    return MOVES_PENDING(__atomic_load_n(&head->control, __ATOMIC_RELAXED)) > 0;
}

bool moves_note_gone(int64_t created_at)
{
    return notes() && append(MOVES_GONE, created_at, "");
}

bool moves_note_adds(const struct value *value)
{
    return notes() && append(MOVES_ADDS, value->created_at, "");
}

/* ORDER relaxed, here and below: whoever takes the mark away ends the move, and nothing else goes
 * with it. */
bool moves_has_name_of(const struct value *value)
{
    return __atomic_load_n(&value->is_moved, __ATOMIC_RELAXED);
}

void moves_forget(struct value *value)
{
    if (moves_has_name_of(value) && __atomic_exchange_n(&value->is_moved, false, __ATOMIC_RELAXED))
        moves_end();
}

void moves_note_name(struct value *value)
{
    char name[NAME_ROOM];
    if (!notes()) return;
    name_of_key(value->db, value->key, value->key_bytes, name);
    if (append(MOVES_NAME, value->created_at, name) &&
        __atomic_exchange_n(&value->is_moved, true, __ATOMIC_RELAXED))
        moves_end(); /* that of the name before */
}

void moves_note_key(const struct value *value)
{
    char name[NAME_ROOM];
    if (!notes() || !are_under_way()) return;
    name_of_key(value->db, value->key, value->key_bytes, name);
    if (append(MOVES_KEY, value->created_at, name)) moves_end();
}

/* ---- Loading -------------------------------------------------------------------------------- */

void moves_note_load(int64_t newest)
{
    if (head == NULL) return;
    const int64_t now = clock_since_1970_ns();
    holds += append(MOVES_LOAD, now > newest ? now : newest + 1, "");
}

void moves_begin(void)
{
    begun = true;
}

void moves_are_dealt_with(void)
{
    if (holds > 0) holds += append(MOVES_DONE, 0, "");
    __atomic_store_n(&is_loaded, true, __ATOMIC_RELAXED); /* ORDER: append() */
    for (; holds > 0; holds--)
        moves_end();
}

/* ---- Databases that are emptied -------------------------------------------------------------- */

void moves_note_flush(int db)
{
    char number[16];
    if (!notes()) return;
    (void)snprintf(number, sizeof number, "%d", db);
    flushes_begun += append(MOVES_FLUSH, clock_since_1970_ns(), number);
}

/* Where nothing is under way, no flush is. */
void moves_note_swap(int a, int b)
{
    char numbers[32];
    if (!notes() || !are_under_way()) return;
    (void)snprintf(numbers, sizeof numbers, "%d %d", a, b);
    if (append(MOVES_SWAP, 0, numbers)) moves_end();
}

static void end_flushes(unsigned *flushes)
{
    for (; *flushes > 0; --*flushes)
        moves_end();
}

void moves_flush_ends(bool async)
{
    if (async) {
        flushes_async += flushes_begun;
        flushes_begun = 0;
    }
    end_flushes(&flushes_begun);
}

void moves_watch_flushes(RedisModuleCtx *ctx)
{
    if (__atomic_load_n(&is_full, __ATOMIC_RELAXED) && !is_told_full) {
        is_told_full = true;
        RedisModule_Log(ctx, "warning",
                        "the file '%s' is full, or the disk: filters that go, and those that get "
                        "other names, are known by their names and bits if the server is killed "
                        "before the store has that",
                        path);
    }
    if (flushes_async > 0 && !server_releases(ctx)) end_flushes(&flushes_async);
}

/* ---- Turns of the event loop ----------------------------------------------------------------- */

/* How much of the file counts. */
static uint64_t place(void)
{
    return MOVES_PLACE(__atomic_load_n(&head->control, __ATOMIC_RELAXED));
}

/* Commands of clients that were blocked come behind this call, and then the AOF. */
void moves_before_sleep(void)
{
    if (!notes()) return;
    __atomic_store_n(&is_asleep, true, __ATOMIC_RELAXED);
    if (place() != head->confirmed) end_sleep();
}

void moves_after_sleep(void)
{
    if (!notes()) return;
    __atomic_store_n(&is_asleep, false, __ATOMIC_RELAXED);
    const uint64_t now = place();
    /* ORDER relaxed: after a kill all of it is there. */
    if (now != head->confirmed) __atomic_store_n(&head->confirmed, now, __ATOMIC_RELAXED);
}
