/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * catalog.h: the catalog, the store's database of filters, in LMDB, with one locked transaction
 * at a time.
 *
 *     rc = tamis__catalog_begin(&catalog, TAMIS__LOCK_SHARED, &txn);
 *     if (rc < 0) return rc;
 *     rc = tamis__catalog_get(txn, name, &record);
 *     tamis__catalog_end(txn);            // or tamis__catalog_commit(txn) first, to keep changes
 *
 * begin takes flock on catalog.lock (shared to read, exclusive to write), checks the file's
 * pages and begins LMDB's transaction; end ends and unlocks.  The pages that are asked for are
 * checked, and to write, once, all pages (file.c).  LMDB has no lock and no reader table of its
 * own: nothing of it can go stale or race at first opening (docs/decisions/0002).  The file stays
 * open and mapped for the next transaction of the handle (opened.c).  Between begin and end other
 * processes wait, so do little there.  If a process is stopped there, the others wait as long as
 * `wait` says.  catalog.c has the transactions, records.c what is read and written in them, anew.c
 * makes a catalog.
 */
#pragma once

#include "catalog/record.h"
#include "os/io.h"
#include "os/private_fd.h"

struct tamis__opened;
struct tamis__peek;

struct tamis__catalog {
    int root_fd;     /* the store's directory */
    char *file_path; /* absolute path of catalog.mdb; owned */
    char *lock_path; /* absolute path of catalog.lock, for sentences; owned */
    bool read_only;  /* never makes or changes a file */
    /* The file may stay open between transactions.  Not if others may write to a file of that name
     * that is not the open one (os/overlay.h), or from another host. */
    bool stays_open;
    /* The file as the last transaction has left it open, or NULL.  A transaction takes it by an
     * atomic exchange.  So threads do not share it, and after fork() a child has its own. */
    struct tamis__opened **idle;
    struct tamis__peek *
        *peeked; /* the same for those that read without the lock (peek.c), and for */
    struct tamis__peek **named; /* those that ask for a name, one after the other, of very many */
    unsigned mode;              /* mode for a store that has none yet; 0: by the umask */
    /* Asked before each further try while others have the lock; the call waits since
     * started_ns.  Pauses and returns 1, or returns the error that ends the waiting.  NULL:
     * wait without limit. */
    int (*wait)(void *context, int64_t started_ns, int lock_fd);
    void *wait_context;
};

struct tamis__catalog_txn;

int tamis__catalog_init(struct tamis__catalog *catalog, int root_fd, const char *store_path,
                        bool read_only);
void tamis__catalog_clear(struct tamis__catalog *catalog);

/* Makes the catalog file if there is none and there are no segments.  It is atomic: a crash leaves
 * no file, or a whole one. */
int tamis__catalog_create(const struct tamis__catalog *catalog);
/* Are there segments, and no catalog?  1, 0 or an error. */
int tamis__catalog_is_lost(const struct tamis__catalog *catalog);
int tamis__fail_lost(const struct tamis__catalog *catalog); /* TAMIS_ECORRUPT, with the mend */

/* Returns 0; TAMIS_ENOSTORE if there is no catalog; TAMIS_ECORRUPT, TAMIS_EFOREIGN, TAMIS_EVERSION;
 * or what `wait` returns. */
int tamis__catalog_begin(const struct tamis__catalog *catalog, enum tamis__lock lock,
                         struct tamis__catalog_txn **txn);
/* The same, but returns 1 if begun; 0 if the lock is not free (to read: a writer has it or waits)
 * and the caller does not want to wait. */
int tamis__catalog_try_begin(const struct tamis__catalog *catalog, enum tamis__lock lock,
                             bool waits, struct tamis__catalog_txn **txn);
/* Tells the state of the file, without a lock and without opening it with LMDB. */
int tamis__catalog_file(const struct tamis__catalog *catalog, struct tamis__file_info *info);
/* May a change have left the file in the same state?  Times tell only some milliseconds apart. */
bool tamis__catalog_is_racy(const struct tamis__file_info *info);
/* Holds the lock over several transactions, each of which begins with
 * begin_held, until private_close. */
int tamis__catalog_hold(const struct tamis__catalog *catalog, enum tamis__lock lock,
                        struct tamis__private_fd *held);
int tamis__catalog_begin_held(const struct tamis__catalog *catalog, enum tamis__lock lock,
                              struct tamis__catalog_txn **txn);
/*
 * These fill an empty catalog, under the exclusive lock, and put it in the place of the one that
 * may be there.  Nothing is in force before install_new.  tamis__catalog_end() ends the
 * transaction.
 */
int tamis__catalog_begin_new(const struct tamis__catalog *catalog,
                             const struct tamis__store_record *store,
                             struct tamis__catalog_txn **txn);
int tamis__catalog_install_new(struct tamis__catalog_txn *txn);
/* Brings the changes to the disk; the lock is still held.  No get or put may follow. */
int tamis__catalog_commit(struct tamis__catalog_txn *txn);
/* Brings the changes so far to the disk, and goes on under the same lock. */
int tamis__catalog_commit_part(struct tamis__catalog_txn *txn);
/* Closes a file when the lock is given back, or at once if there are too many files. */
void tamis__catalog_close_after(struct tamis__catalog_txn *txn, int fd);
/* Closes and unlocks; drops what was not committed. */
void tamis__catalog_end(struct tamis__catalog_txn *txn);

/* Returns the store's record as read at begin; commit writes changes of it. */
struct tamis__store_record *tamis__catalog_store(struct tamis__catalog_txn *txn);

/* Something comes into the store that libraries of lower formats do not know. */
static inline void tamis__catalog_raise_format(struct tamis__catalog_txn *txn, uint32_t format)
{
    struct tamis__store_record *store = tamis__catalog_store(txn);
    if (store->format < format) store->format = format;
}

/* Returns TAMIS_ENOTFOUND without a sentence if there is no such name: the caller has
 * a better sentence. */
int tamis__catalog_get(struct tamis__catalog_txn *txn, const char *name,
                       struct tamis__record *record);
int tamis__catalog_get_by_id(struct tamis__catalog_txn *txn, uint64_t filter_id,
                             struct tamis__record *record);
/*
 * What is wrong with a filter, as its segments say together: times, and 0 for nothing.
 * damaged_since is when verify, or repair, found the filter damaged.  missing_keys is how many keys
 * the catalog had counted that the segments of an unclean filter lack, as far as that is known.  No
 * header has these two, so a call that writes the others must keep them.
 */
struct tamis__trouble {
    int64_t unclean_since, degraded_since, damaged_since;
    uint64_t missing_keys;
};

/*
 * peek.c: reads the record without the lock, which somebody else has, and what the catalog says of
 * its trouble at the same moment, unless `trouble` is NULL.  Returns 0 if that was in force at a
 * moment of this call; TAMIS_ENOTFOUND if there was no such filter then; or TAMIS__PEEK_UNSURE if
 * only the lock can tell.
 */
#define TAMIS__PEEK_UNSURE 1
int tamis__catalog_peek(const struct tamis__catalog *catalog, uint64_t filter_id,
                        struct tamis__record *record, struct tamis__trouble *trouble);
/* The same for the record of a name. */
int tamis__catalog_peek_named(const struct tamis__catalog *catalog, const char *name,
                              struct tamis__record *record);
/* The same for the record of an id that a server has drawn (tags.c). */
int tamis__catalog_peek_tagged(const struct tamis__catalog *catalog,
                               const uint8_t tag[TAMIS_ID_BYTES], struct tamis__record *record);
/* The same for a name, whose record is not read: 0 if a filter has it. */
int tamis__catalog_peek_name(const struct tamis__catalog *catalog, const char *name);
/* Closes what a look without the lock has left open; NULL: nothing. */
void tamis__peek_close(struct tamis__peek *peek);
/* Writes the record under its name and id, and replaces what is there. */
int tamis__catalog_put(struct tamis__catalog_txn *txn, const struct tamis__record *record);
/* Forgets the name, and the id too unless it is about to be put under another name. */
int tamis__catalog_forget(struct tamis__catalog_txn *txn, const struct tamis__record *record);

/* Calls fn for each record in order of names, from `prefix` on; a value other than 0 ends this.
 * NULL, here and below: the records are only read and checked. */
typedef int tamis__catalog_fn(void *context, const struct tamis__record *record);
int tamis__catalog_each(struct tamis__catalog_txn *txn, const char *prefix, tamis__catalog_fn *fn,
                        void *context);

/* The same from the first name on that comes after the name `after`, and not all records are
 * checked before: for who goes on after tamis__catalog_each(). */
int tamis__catalog_each_after(struct tamis__catalog_txn *txn, const char *prefix, const char *after,
                              tamis__catalog_fn *fn, void *context);

/* Generations of a filter that are kept beside the one in force.  They are records without a name,
 * in the order of their generations.  A filter_id of 0 means all filters. */
int tamis__catalog_put_generation(struct tamis__catalog_txn *txn,
                                  const struct tamis__record *record);
/* Returns 0, TAMIS_ENOTFOUND without a sentence, or an error. */
int tamis__catalog_get_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                  uint64_t generation, struct tamis__record *record);
int tamis__catalog_forget_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                     uint64_t generation);
int tamis__catalog_each_generation(struct tamis__catalog_txn *txn, uint64_t filter_id,
                                   tamis__catalog_fn *fn, void *context);

/* All 0 if the filter has no such record. */
int tamis__catalog_get_trouble(struct tamis__catalog_txn *txn, uint64_t filter_id,
                               struct tamis__trouble *trouble);
/* Removes the record if all of it is 0. */
int tamis__catalog_put_trouble(struct tamis__catalog_txn *txn, uint64_t filter_id,
                               struct tamis__trouble trouble);
/* Is this the boot under which all filters were looked at last?  Returns 1 if it is. */
int tamis__catalog_is_of_boot(struct tamis__catalog_txn *txn,
                              const uint8_t boot_id[TAMIS__BOOT_ID_BYTES]);
int tamis__catalog_put_boot(struct tamis__catalog_txn *txn,
                            const uint8_t boot_id[TAMIS__BOOT_ID_BYTES]);

/* Ids that a server has drawn for filters (tags.c).  get and find return 1, or 0 if there is none;
 * put replaces the id that the filter had. */
int tamis__catalog_get_tag(struct tamis__catalog_txn *txn, uint64_t filter_id,
                           uint8_t tag[TAMIS_ID_BYTES]);
int tamis__catalog_find_tag(struct tamis__catalog_txn *txn, const uint8_t tag[TAMIS_ID_BYTES],
                            uint64_t *filter_id);
int tamis__catalog_put_tag(struct tamis__catalog_txn *txn, uint64_t filter_id,
                           const uint8_t tag[TAMIS_ID_BYTES]);
int tamis__catalog_forget_tag(struct tamis__catalog_txn *txn, uint64_t filter_id);
/* Gives the filter of another catalog the id that it has in `from`, if it has one. */
int tamis__catalog_copy_tag(struct tamis__catalog_txn *from, struct tamis__catalog_txn *to,
                            uint64_t filter_id);
/* What servers know the store by: its store_id, or a number that was drawn when it was restored. */
int tamis__catalog_get_known_as(struct tamis__catalog_txn *txn, uint64_t *known_as);
int tamis__catalog_put_known_as(struct tamis__catalog_txn *txn, uint64_t known_as);

/*
 * Garbage: numbers of segments that a committed change took out of force and whose files are to be
 * removed.  They are noted with the change and forgotten once the files are gone, so a crash in
 * between leaks nothing.
 */
int tamis__catalog_put_garbage(struct tamis__catalog_txn *txn, uint64_t segment_number);
int tamis__catalog_forget_garbage(struct tamis__catalog_txn *txn, uint64_t segment_number);
typedef int tamis__garbage_fn(void *context, uint64_t segment_number);
int tamis__catalog_each_garbage(struct tamis__catalog_txn *txn, tamis__garbage_fn *fn,
                                void *context);
