/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * point.h: named instants inside the protocols, where a test may yield, kill the process or fail.
 *
 * Compiled to nothing but in the library `tamis_testable`, which only tests link.  A test sets
 * tamis__point_hook; it is called at every TAMIS__POINT in the thread that reaches it.
 */
#pragma once

/* X(name, where) */
#define TAMIS__POINT_MAP(X)                                                                        \
    X(TAMIS__POINT_ADD_LOADED, "add: one word was read")                                           \
    X(TAMIS__POINT_ADD_ORED, "add: one word was ORed, the answer is not known to the caller")      \
    X(TAMIS__POINT_COUNT, "add: the bits are set, the item count is not")                          \
    X(TAMIS__POINT_CELL_RAISED, "counting: one counter of an add is raised")                       \
    X(TAMIS__POINT_SLOT_SEEN, "counting: a free slot of overflow is seen, not taken")              \
    X(TAMIS__POINT_SLOT_TAKEN, "counting: a counter has a slot of overflow and no mark of it")     \
    X(TAMIS__POINT_LEVEL_GROWN, "counting: the file is longer, the level not in force")            \
    X(TAMIS__POINT_SLOT_HALF, "copy: one word of an overflow slot is read, the other is not")      \
    X(TAMIS__POINT_BLOCK_LOCKED, "remove: the block is locked, no counter looked at")              \
    X(TAMIS__POINT_REMOVE_CHECKED, "remove: all counters are above 0, none is lowered")            \
    X(TAMIS__POINT_HOLDER_DEAD, "remove: a lock's holder was found dead, the lock is not taken")   \
    X(TAMIS__POINT_PAGE_REPLACED, "guard: a page that faulted is replaced")                        \
    X(TAMIS__POINT_CELL_LOWERED, "remove: one counter is lowered")                                 \
    X(TAMIS__POINT_STAGED, "create: the staged file is whole, the catalog not locked")             \
    X(TAMIS__POINT_RENAMED, "create: the segment has its name, the catalog is not committed")      \
    X(TAMIS__POINT_COMMITTED, "catalog: committed, the lock still held")                           \
    X(TAMIS__POINT_EXCEPT_LOADED, "except: the exceptions are read, the new ones not written")     \
    X(TAMIS__POINT_EXCEPT_STAGED, "except: the new index is whole, the catalog not locked")        \
    X(TAMIS__POINT_EXPORT_PINNED, "export: the list is pinned, the catalog not looked at")         \
    X(TAMIS__POINT_PUBLISH_EPOCH,                                                                  \
      "publish: files named, epochs raised, the catalog not committed")                            \
    X(TAMIS__POINT_PUBLISH_WORD, "publish: committed, one more live word is told")                 \
    X(TAMIS__POINT_LIST_FOLLOWED, "follow: all words of the next list are read but `next`")        \
    X(TAMIS__POINT_PUBLISH_TOLD, "publish: committed and told, nothing unlinked yet")              \
    X(TAMIS__POINT_DROP_EPOCH, "drop: the epoch is raised, the catalog is not committed")          \
    X(TAMIS__POINT_DROP_UNLINK, "drop: committed, the files not yet unlinked")                     \
    X(TAMIS__POINT_RENAME_LABEL, "rename: committed, the segments still carry the old name")       \
    X(TAMIS__POINT_CATALOG_CHECKED, "catalog: the file is checked, LMDB has not opened it")        \
    X(TAMIS__POINT_PEEK_META, "catalog: read without the lock, as far as its meta pages")          \
    X(TAMIS__POINT_CATALOG_WALK, "catalog: every page is about to be checked")                     \
    X(TAMIS__POINT_STORE_MADE, "store: directories there, no catalog yet")                         \
    X(TAMIS__POINT_GROW_STAGED, "growth: the next segment is whole, the catalog not locked")       \
    X(TAMIS__POINT_GROW_AHEAD, "growth: the next segment is committed as a spare, nobody knows")   \
    X(TAMIS__POINT_GROW_LEFT, "growth: committed, and the segment before says so")                 \
    X(TAMIS__POINT_ADD_WON, "add: the last word was flipped, the segment not looked at again")     \
    X(TAMIS__POINT_ROOM_SEEN, "room: seen on a stripe, nothing is taken")                          \
    X(TAMIS__POINT_ROOM_TAKEN, "room: taken from a stripe, not looked at again")                   \
    X(TAMIS__POINT_ROOM_GRANTED, "room: a lump is granted, and no stripe has it yet")              \
    X(TAMIS__POINT_LOG_MADE, "log: the file is whole, and has not its name")                       \
    X(TAMIS__POINT_LOG_NAMED, "log: it has its name, and no frame")                                \
    X(TAMIS__POINT_DURABLE_ASKED, "durable add: keys were asked for, other flights not")           \
    X(TAMIS__POINT_DURABLE_BEGUN, "durable add: said to be in flight, no bit is set")              \
    X(TAMIS__POINT_DURABLE_SET, "durable add: the bits are set, no frame is written")              \
    X(TAMIS__POINT_DURABLE_WRITTEN, "durable add: the frame is written, and not synced")           \
    X(TAMIS__POINT_DURABLE_SYNCED, "durable add: the log is synced, the flight not over")          \
    X(TAMIS__POINT_LOG_AWAITED, "durable add: the frame is written, another thread syncs the log") \
    X(TAMIS__POINT_LOG_RETIRED, "log: a checkpoint has made its frames needless, it is there")     \
    X(TAMIS__POINT_LOG_REPLAYED, "recovery: a log is replayed, and nothing synced")                \
    X(TAMIS__POINT_LOG_SYNCED, "recovery: what was replayed is synced, the log is there")          \
    X(TAMIS__POINT_MARK_LOCKED, "mark: the writer has its lock, and is not counted")               \
    X(TAMIS__POINT_MARK_COUNTED, "mark: the writer is counted, the segment perhaps clean")         \
    X(TAMIS__POINT_MARK_DIRTY, "mark: the segment is dirty, and the disk does not know")           \
    X(TAMIS__POINT_MARK_DONE, "mark: the disk knows, and no bit was written yet")                  \
    X(TAMIS__POINT_SYNC_ASKED, "checkpoint: nobody writes, nothing is synced")                     \
    X(TAMIS__POINT_SYNC_DONE, "checkpoint: the segment is synced, its mark as it was")             \
    X(TAMIS__POINT_SYNC_CLEARED, "checkpoint: the mark is cleared, and the disk does not know")    \
    X(TAMIS__POINT_RECOVERED, "recovery: a segment is unclean, the catalog does not know")         \
    X(TAMIS__POINT_BUILD_SORTED, "build: the keys are sorted, nothing is made")                    \
    X(TAMIS__POINT_BUILD_MADE, "build: the segment is whole, and was not asked yet")               \
    X(TAMIS__POINT_BUILD_VERIFIED, "build: verified, the catalog not locked")                      \
    X(TAMIS__POINT_MERGE_RESERVED, "merge: there is room for the counters, none was added to")     \
    X(TAMIS__POINT_MERGE_LOADED, "merge: a word lacks bits, and was not ORed yet")                 \
    X(TAMIS__POINT_MERGE_DONE, "merge: all words were ORed, the items are not counted")            \
    X(TAMIS__POINT_REPAIR_SCANNED, "repair: all files were looked at, nothing is changed")         \
    X(TAMIS__POINT_REPAIR_WRITTEN, "repair: the new catalog is whole, and not in its place")       \
    X(TAMIS__POINT_REPAIR_RENAMED, "repair: the new catalog is in its place, the rest not done")   \
    X(TAMIS__POINT_REPAIR_CLEANED, "repair: files are removed, the catalog does not know yet")

#include <stdint.h>

enum tamis__point {
#define TAMIS__POINT_ENUM_(name, where) name,
    TAMIS__POINT_MAP(TAMIS__POINT_ENUM_)
#undef TAMIS__POINT_ENUM_
        TAMIS__POINT_COUNT_OF
};

#define TAMIS__LOG_LIMIT_USUAL ((uint64_t)64 << 20) /* reasoned in handle/journal.c */

#ifdef TAMIS_TEST_POINTS
extern void (*tamis__point_hook)(enum tamis__point point);
/* A control test breaks a rule on purpose and must see the damage.  This one lets an adder say NEW
 * if it flipped any bit, the rule that design.md refutes. */
extern int tamis__point_any_bit_rule;
/* Set by a control test: a winner does not check whether the list already goes on in
 * another segment (docs/concurrency.md). */
extern int tamis__point_no_recheck;
/* The boot id that a test sets, 16 bytes; NULL: the kernel's is used. */
extern const uint8_t *tamis__boot_hook;
/* Set by control tests: a checkpoint does not ask for locks, or does not look at the
 * count of writers. */
extern int tamis__point_no_mark_lock, tamis__point_no_mark_count;
#define TAMIS__NO_MARK_LOCK tamis__point_no_mark_lock
#define TAMIS__NO_MARK_COUNT tamis__point_no_mark_count
/* The clock for windows that a test sets, in ns since 1970; NULL: the system's is used. */
extern int64_t (*tamis__clock_hook)(void);
#define TAMIS__POINT(point)                                                                        \
    do {                                                                                           \
        if (tamis__point_hook) tamis__point_hook(point);                                           \
    } while (0)
#define TAMIS__ANY_BIT_RULE tamis__point_any_bit_rule
/* Set by a control test: removers do not exclude each other. */
extern int tamis__point_no_block_lock;
#define TAMIS__NO_BLOCK_LOCK tamis__point_no_block_lock
#define TAMIS__NO_RECHECK tamis__point_no_recheck
/* Set by a control test: an adder that takes room does not check whether it took
 * too much (file/room.h). */
extern int tamis__point_no_room_check;
#define TAMIS__NO_ROOM_CHECK tamis__point_no_room_check
/* How many made-up keys a build is asked for before it is published.  Tests take a few, as they
 * build by the thousand. */
extern uint64_t tamis__point_samples;
#define TAMIS__SAMPLES tamis__point_samples
/* The length at which the log of a small durable filter makes a checkpoint necessary.  A test sets
 * less, as it would have to log four million keys. */
extern uint64_t tamis__point_log_limit;
#define TAMIS__LOG_LIMIT tamis__point_log_limit
/* Counts the keys that this thread has hashed, so that a test can say how often a call
 * hashes a key. */
extern _Thread_local uint64_t tamis__point_hashed;
#define TAMIS__POINT_HASHED(keys) (tamis__point_hashed += (keys))
#else
#define TAMIS__POINT_HASHED(keys)                                                                  \
    do {                                                                                           \
    } while (0)
#define TAMIS__POINT(point)                                                                        \
    do {                                                                                           \
    } while (0)
#define TAMIS__ANY_BIT_RULE 0
#define TAMIS__NO_BLOCK_LOCK 0
#define TAMIS__NO_RECHECK 0
#define TAMIS__NO_ROOM_CHECK 0
#define TAMIS__NO_MARK_LOCK 0
#define TAMIS__NO_MARK_COUNT 0
#define TAMIS__SAMPLES ((uint64_t)1 << 20)
#define TAMIS__LOG_LIMIT TAMIS__LOG_LIMIT_USUAL
#endif
