/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_filter.h: a filter as a whole: the hash sets, what a filter is to be (its spec), making,
 * opening, closing, renaming and dropping it, and its checkpoints.  tamis_keys.h has the calls for
 * keys.
 */
#ifndef TAMIS_FILTER_H
#define TAMIS_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_store.h"
#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Hash sets ---------------------------------------------------------------------------- */

/*
 * A hash set is the rule that turns a key into bits.  xxh3 is Tamis' own, and sip is
 * for keys that an enemy may choose (docs/security.md).  Each of the others is, bit for bit, that
 * of a system whose filters Tamis takes over; it goes with kind bloom only and takes no seed.
 * docs/hash-sets.md has the exact arithmetic.
 *
 *     name            what it is                                     k and m
 *     xxh3            128-bit XXH3, seeded; every kind               any
 *     sip             128-bit SipHash-2-4 by a secret random key     any
 *                     of the filter's own; every kind; no seed
 *     php:LIST        string hash functions in PHP's own int and     k: length of LIST; any m;
 *                     float arithmetic, one position each, each      m = 2^32: value as it is
 *                     the value % m; LIST: 1 to 32 of js, pjw, elf,
 *                     bkdr, sdbm, djb, dek, fnv, in order, such as
 *                     "php:bkdr,sdbm,js"; one may come twice
 *     php-mt          mt_srand(crc32(key)), then k times             m up to 2^63-1; with capacity
 *                     mt_rand(0, m-1) of PHP 7.1 and later           and m: k = ceil(m/n ln 2)
 *                     (m > 2^32: 8.2 and later)
 *     php-mt-legacy   the same of PHP 5.2.1 to 7.0                   as php-mt
 *     md5             md5(key, decimal i) mod m                      any
 *     redisbloom      RedisBloom: MurmurHash64A, a + i b             any; capacity and rate alone:
 *                                                                    as BF.RESERVE NONSCALING
 *     guava           Guava: MURMUR128_MITZ_64                       any; capacity and rate alone:
 *                                                                    as BloomFilter.create()
 *     spark-v1        Apache Spark: version 1 of its BloomFilter     as guava
 *     spark-v2        version 2; seed up to 2^32-1                   as guava
 *     parquet         split blocks of 256 bits: XXH64, 8 lanes       k: 8; m: a multiple of 256;
 *                                                                    capacity and rate alone: as
 *                                                                    pyarrow, a power of two
 *     dcso            DCSO/bloom: FNV-1, products modulo a prime     any; capacity and rate alone:
 *                                                                    as its Initialize()
 *     pybloomfilter:17,4,2903
 *                     pybloomfiltermmap3 of Python:                  k: the number of seeds
 *                     MurmurHash3_x64_128 with 1 to 16 seeds
 *
 * A segment of a php set or of md5 has the most significant bit of each byte first, as SETBIT of
 * Redis has; the others have the least significant bit first.
 */

/*
 * Returns what a filter of that hash set costs its owner if the bits of a key are not as random as
 * k and m suggest: a sentence in static storage.  Returns NULL if there is nothing to say, and for
 * a name that is no hash set (tamis_last_error() says so then).
 */
TAMIS_API const char *tamis_hash_set_weakness(const char *hash_set);

/* ---- Key rules ---------------------------------------------------------------------------- */

/*
 * A key rule says what the key of a record is, so that two spellings of one thing are one key.  It
 * belongs to the filter, for life, and the library obeys it: each call that takes keys makes the
 * form of each key, and hashes the form.  Exceptions and logs have forms, too.  docs/keys.md has
 * the rules exactly.
 *
 *     bytes         the key as it is: the default, at no cost
 *     name          names of hosts and mail domains: lower case, without the dot at the end
 *
 * A form never fails: what is no name is taken as bytes.  The form of a form is the form.
 */

/*
 * Gets the form of a key without a filter, for a program that shows the form to its user, or that
 * chooses a shard by the form (tamis_shard()).
 *
 * key_rule  such as "name" or "url:sort,drop=utm_*" (docs/keys.md); NULL: "bytes".
 * form      room for form_bytes bytes.  The call does not write a form that is longer.  It writes
 *           no NUL at the end.
 * Returns   the length of the form in bytes, which may be more than form_bytes.  TAMIS_EINVAL:
 *           there is no such rule.  TAMIS_EUNSUPPORTED: this library was built without a library
 *           that the rule needs.  TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_key_form(const char *key_rule, const void *key,
                                                  size_t key_bytes, void *form, size_t form_bytes);

/* ---- What a filter is to be --------------------------------------------------------------- */

/* What happens when the newest segment holds as many keys as it was made for. */
enum tamis_on_full {
    TAMIS_ON_FULL_DEFAULT = 0, /* in a spec: grow; warn with m_bits and for kind counting */
    TAMIS_ON_FULL_GROW = 1,    /* a further, larger segment takes the new keys */
    TAMIS_ON_FULL_REFUSE = 2,  /* a new key is refused, TAMIS_EFULL; a known key is answered */
    TAMIS_ON_FULL_WARN = 3,    /* keys are still taken, the rate gets worse; the state says full */
};

/* Returns "grow", "refuse" or "warn"; NULL for TAMIS_ON_FULL_DEFAULT and for any other
 * number.  Static storage. */
TAMIS_API const char *tamis_on_full_name(uint32_t on_full);

/*
 * In which pages the memory of a filter is mapped.  Pages of 2 MiB make random access to a filter
 * of gigabytes up to twice as fast, as far as the file system has them (tamis-pages(1), and
 * docs/decisions/0027-pages.md).  What is added to one is written to the disk 2 MiB at a time.
 */
enum tamis_pages {
    TAMIS_PAGES_AUTO = 0,  /* of 2 MiB where they make the disk write a quarter more at most */
    TAMIS_PAGES_SMALL = 1, /* of 4 KiB, or what the system has */
    TAMIS_PAGES_HUGE = 2   /* of 2 MiB wherever the system gives them */
};

/* Returns "auto", "small" or "huge"; NULL for any other number.  Static storage. */
TAMIS_API const char *tamis_pages_name(uint32_t pages);

#define TAMIS_SLICES_MAX 32
#define TAMIS_SLICE_NS_MIN 100000000            /* a tenth of a second */
#define TAMIS_WINDOW_NS_MAX 3155760000000000000 /* a hundred years */

#define TAMIS_SECRET_BYTES 16 /* key of the hash set sip */

/* Flags of struct tamis_filter_spec and of struct tamis_filter_stat. */
enum tamis_filter_flag {
    TAMIS_FILTER_DURABLE = 1, /* an add returns 1 only once a power cut cannot take the key */
    /* A program has made the filter for its own use, and drops it later, as the Redis module does.
     * By this flag the program knows its own filters.  See tamis_filter_set_owned(). */
    TAMIS_FILTER_OWNED = 2,
    /* Of a window: the filter remembers a key from its first add on, the add that answered NEW.  So
     * the key is NEW again after the window, however often it was added meanwhile.  Without the
     * flag the filter remembers a key from its last add on, so a key that keeps coming is never NEW
     * again.  In both cases it remembers the key for at least the window, and at most one slice
     * more. */
    TAMIS_FILTER_FROM_FIRST = 4,
};

/* What a filter is to be.  All zero but capacity is a good default. */
struct tamis_filter_spec {
    size_t size;          /* sizeof(struct tamis_filter_spec) */
    uint64_t capacity;    /* n, distinct keys for which the rate holds; 1 or more, unless m_bits */
    double fp_rate;       /* p, 0 < p < 1; 0: TAMIS_FP_RATE_DEFAULT */
    uint32_t kind;        /* enum tamis_kind; 0: see there */
    uint32_t k;           /* explicit geometry, kind bloom only: 1 to TAMIS_K_MAX; with m_bits */
    uint64_t m_bits;      /* the same: 1 or more; with k, unless hash_set says what k is */
    const char *hash_set; /* a name of the table above; NULL: "xxh3" */
    uint64_t seed;        /* of xxh3; filters that will be merged need the same */
    uint32_t on_full;     /* enum tamis_on_full; 0: see there */
    uint32_t slices;      /* of the window, 1 to TAMIS_SLICES_MAX; 0 with a window: 10 */
    /* A window has one of these lengths.  Keys are remembered for it and at most a slice longer,
     * from their last add on, or from the first (TAMIS_FILTER_FROM_FIRST). */
    int64_t window_ns;                  /* length in time; 0: by items, or no window */
    uint64_t window_items;              /* length in keys; 0: by time, or no window */
    uint32_t counter_bits;              /* kind counting: 4, 8, 16 or 32; 0: 4 */
    uint32_t flags;                     /* TAMIS_FILTER_* */
    uint8_t secret[TAMIS_SECRET_BYTES]; /* the key of sip; all 0: a random one */
    uint32_t pages;                     /* enum tamis_pages */
    uint32_t reserved;                  /* 0 */
    const char *key_rule;               /* what the key of a record is; NULL: "bytes" */
};

/* ---- Making, opening, closing filters ----------------------------------------------------- */

/*
 * Would a filter of that name and spec be accepted?  Checks both, and the room on the file system
 * of the store at `store_path`, or where that store would be.  Makes nothing.
 *
 * store_path  NULL: check name and spec only.
 * Returns     0.  TAMIS_EINVAL, TAMIS_EUNSUPPORTED, TAMIS_ENOSPACE (the sentence has both numbers).
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_check(const char *store_path, const char *name,
                                                  const struct tamis_filter_spec *spec);

struct tamis_sizing; /* tamis_sizing.h */

/*
 * Tells the sizes of the segments that a filter of the spec would have: the first, and those by
 * which it would grow.  Makes nothing.
 *
 * step     0: the first segment, for the keys of the spec or of a slice of its window; 1: the
 *          segment by which it grows then, and so on.
 * sizing   receives the size of that segment: its own capacity and its share of the rate.
 * Returns  1, or 0 if the filter does not grow so far.  TAMIS_EINVAL, TAMIS_EUNSUPPORTED: as
 *          tamis_filter_create().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_plan(const struct tamis_filter_spec *spec,
                                                 uint32_t step, struct tamis_sizing *sizing);

/*
 * Makes an empty filter.  Its file is allocated in full, so this call fails at once if the disk
 * is too small.
 *
 * name     see TAMIS_NAME_MAX.
 * filter   NULL, or *filter receives an open handle.
 * Returns  0.  TAMIS_EEXIST; TAMIS_EINVAL (name or spec); TAMIS_EUNSUPPORTED (hash set and kind do
 *          not go together); TAMIS_ENOSPACE (the sentence has both numbers); TAMIS_EREADONLY; and
 *          the errors of tamis_store_open().  On any error nothing was created.
 * Durable  when it returns 0 the filter survives a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_create(tamis_store *store, const char *name,
                                                   const struct tamis_filter_spec *spec,
                                                   tamis_filter **filter);

/* Flags of tamis_filter_create_many(). */
enum tamis_many_flag {
    TAMIS_MANY_IF_MISSING = 0x200, /* a filter that is there already, and is what the spec says, is
                                      left as it is */
};

/*
 * Makes many filters of one spec, each with a seed or secret of its own if the spec leaves that
 * open.  They are made in batches of some hundred, each in one transaction, and their files come to
 * the disk together, which is faster than one after the other.
 *
 * names    `count` names, any number of them, each only once.
 * flags    0 or TAMIS_MANY_IF_MISSING.
 * Returns  how many were made.  TAMIS_EEXIST; TAMIS_EMISMATCH; TAMIS_EINVAL, also for a name that
 *          comes twice in a batch; and the errors of tamis_filter_create().  If a name is not a
 *          legal one, nothing is made.  After another error the sentence names a filter: its batch
 *          was not made, and all batches before it were.
 * Durable  when it returns, as with tamis_filter_create().  After a kill or a power cut each batch
 *          is there as a whole, or not at all.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_create_many(tamis_store *store,
                                                            const char *const *names, size_t count,
                                                            const struct tamis_filter_spec *spec,
                                                            uint32_t flags);

/*
 * Opens a filter, with one mmap for each segment.  No key is read, so the time does not depend
 * on the size.
 *
 * flags    0, or some of TAMIS_OPEN_READ_ONLY (also implied by a read-only
 *          store), TAMIS_OPEN_NO_SYNC, TAMIS_OPEN_POPULATE.
 * Populate reads all of the filter into memory and maps it page by page before this returns.  If
 *          the filter grows or a build is published later, the first call that meets the new part
 *          does the same for it, while other calls go on.  Apart from such calls, no query waits
 *          for the disk or takes a page fault, as long as the system leaves the pages in memory.
 *          The first add to a page takes a fault, without the disk, and again after each sync.
 *          This takes as long as reading the files, or some 0.1 ms for each MiB that is in memory
 *          already.  Nothing becomes dirty.  If the disk does not read, this call returns
 *          TAMIS_EIO; for a part that comes later, the calls that need the page fail.
 * Returns  0.  TAMIS_ENOTFOUND; TAMIS_ECORRUPT, TAMIS_EFOREIGN, TAMIS_EVERSION (the sentence names
 *          the file); TAMIS_EACCESS; TAMIS_ELIMIT; TAMIS_ENOMEM; TAMIS_EIO.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_open(tamis_store *store, const char *name,
                                                 uint32_t flags, tamis_filter **filter);

/*
 * Is there a filter of that name?  The call does not wait for a writer of the store: its answer was
 * right at one moment of the call.  It opens no segment, so the filter's files may be damaged.
 *
 * Returns  1 or 0; TAMIS_EINVAL: no filter can have the name; or an error of tamis_store_open().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_exists(tamis_store *store, const char *name);

/*
 * Opens a store and one filter of it, for a program that starts often: the call reads the catalog
 * once, where tamis_store_open_with() and tamis_filter_open() read it twice.  tamis_filter_close()
 * closes both.
 *
 * path     the directory of the store.
 * options  as for tamis_store_open_with(); NULL for all zero.
 * flags    as for tamis_filter_open().
 * filter   *filter receives the handle; the caller closes it.
 * Returns  0, or an error of tamis_store_open_with() or tamis_filter_open().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_open_at(const char *path,
                                                    const struct tamis_store_options *options,
                                                    const char *name, uint32_t flags,
                                                    tamis_filter **filter);

/* Returns the store of a filter, which stays open as long as the filter.  The caller must not close
 * it.  Returns NULL for NULL. */
TAMIS_API tamis_store *tamis_filter_store(tamis_filter *filter);
/* Returns when the filter was created, in nanoseconds since 1970 UTC, as tamis_filter_stat() tells
 * it, without a look at the catalog.  Returns 0 for NULL. */
TAMIS_API int64_t tamis_filter_created_at(const tamis_filter *filter);

/*
 * Opens the filter `name`, or makes it if it does not exist.  If several processes make this call
 * at once, one of them makes the filter and all open it.
 *
 * spec     as for tamis_filter_create().  A spec of hash set sip without a secret fits a filter
 *          with any secret.
 * filter   *filter receives the handle; the caller closes it.
 * Returns  0.  TAMIS_EMISMATCH: the filter exists and is not what the spec says; the sentence names
 *          the first field that differs.  The other errors of tamis_filter_open() and
 *          tamis_filter_create(), without TAMIS_ENOTFOUND and TAMIS_EEXIST.
 * Durable  a filter that this call made survives a power cut when the call returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_open_or_create(tamis_store *store, const char *name,
                                                           const struct tamis_filter_spec *spec,
                                                           tamis_filter **filter);

/*
 * Gives the handle back.  NULL is allowed, the same handle twice is not.  A handle that has added
 * or removed keys is a writer.  The close of the last writer, of all processes, is a checkpoint
 * like tamis_filter_sync(), unless that handle was opened with TAMIS_OPEN_NO_SYNC.  While other
 * writers are open, a close costs nothing.  The item count goes to the catalog if it has changed.
 *
 * Returns  0.  The handle is gone, whatever the call returns.  TAMIS_EIO, TAMIS_ENOSPACE and the
 *          like: a sync has failed as in tamis_filter_sync(), or the catalog has no room for the
 *          count.  TAMIS_EBUSY: another process held the catalog's lock for longer than the busy
 *          timeout.  After an error no key is lost unless the power fails, and the next checkpoint
 *          of the filter makes up for this one.
 * Durable  when it returns 0 and no other writer is open, every key survives a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_close(tamis_filter *filter);

/*
 * Gives the handle back at once: the call writes nothing to the disk, and no item count to the
 * catalog.  It is for a program that has many filters, keeps some of them open, and opens the
 * others again when it needs them.  NULL is allowed.
 *
 * Durable  no more than before.  A release loses no key.  A power cut may lose what was added since
 *          the last checkpoint; a later tamis_filter_sync() by any handle makes that checkpoint.
 *          The log of a durable filter stays, and the next open reads it back.
 */
TAMIS_API void tamis_filter_release(tamis_filter *filter);

/*
 * Tells whether an add of `keys` keys may have to wait for the disk, for a thread that must not
 * wait, such as the main loop of a server.  An add may wait if the filter is full and must grow, if
 * this handle has to mark the filter as written to, if a slice of a window is over, or if the
 * filter is durable.  Then let another thread make the add.  Other processes may fill the filter
 * between this call and the add, so an add may still wait, though rarely.  The call takes some 10
 * ns, and waits for nobody.
 *
 * From the first such call on, adds of this handle make no segment ahead of need: another thread of
 * the caller does that by tamis_filter_prepare().
 *
 * Returns  enum tamis_add_wait; TAMIS_EREADONLY or TAMIS_ENOMEM.
 */
enum tamis_add_wait {
    TAMIS_ADD_AT_ONCE = 0,       /* an add does not wait */
    TAMIS_ADD_WANTS_PREPARE = 1, /* nor does it now, but another thread should call
                                    tamis_filter_prepare() soon */
    TAMIS_ADD_MAY_WAIT = 2,      /* another thread should make the add */
};
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_may_wait(tamis_filter *filter, size_t keys);

/*
 * Does what the next adds would wait for: marks the filter as written to, begins the next slice,
 * and makes the next segment of a filter that is half full.  Waits for the disk.
 *
 * keys     how many new keys the caller is about to add; 0: not known.  If the number is large for
 *          a filter of TAMIS_PAGES_AUTO, the filter gets pages of 2 MiB from the first key on, and
 *          its close brings small pages back.  A wrong number costs time or writes of the disk, but
 *          changes no answer.
 * Returns  0, also if the next segment cannot be made now: adds go on while there is room.
 *          TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_EBUSY, TAMIS_EIO and the like.  The caller may
 *          ignore an error, because the adds will return it, too.
 * Safe     beside any other call on the filter, from any thread or process.
 */
TAMIS_API int tamis_filter_prepare(tamis_filter *filter, uint64_t keys);

/*
 * Removes a filter and its files.  Each handle that is open on it, in whatever process, gets
 * TAMIS_EDROPPED at its next call, or at a later one while a writer has the catalog: a call does
 * not wait to learn of a drop.
 *
 * Returns  0.  TAMIS_ENOTFOUND, TAMIS_EREADONLY, TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOSPACE,
 *          TAMIS_ENOMEM.
 * Durable  when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_drop(tamis_store *store, const char *name);

/*
 * Drops many filters as tamis_filter_drop() does, in batches of 1,000, each in one change of the
 * store: the disk is waited for once for each batch, and not for each filter.  Other writers of the
 * store wait meanwhile, some 50 microseconds for each filter of a batch.
 *
 * names       `count` names, any number of them.  A name that no filter has is skipped.
 * created_at  NULL, or `count` times: when each filter was created (struct tamis_filter_stat).  A
 *             name is skipped if its filter was created at another time.
 * Returns  how many filters were dropped.  TAMIS_EINVAL: a name is not a legal one; nothing was
 *          dropped.  After another error of tamis_filter_drop(), the batches before it are dropped
 *          and the others are not: the call can be made again.
 * Durable  when it returns.  After a kill or a power cut each batch is dropped as a whole, or not
 *          at all.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_drop_many(tamis_store *store,
                                                          const char *const *names,
                                                          const int64_t *created_at, size_t count);

/*
 * Gives a filter another name.  Open handles go on.
 *
 * Returns  0.  TAMIS_ENOTFOUND: there is no filter old_name.  TAMIS_EEXIST: another filter has
 *          new_name.  TAMIS_EINVAL: new_name is not a legal name.  TAMIS_EREADONLY, TAMIS_EBUSY,
 *          TAMIS_EIO, TAMIS_ENOSPACE, TAMIS_ENOMEM.
 * Durable  when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_rename(tamis_store *store, const char *old_name,
                                                   const char *new_name);

/* Sets (owned is 1) or clears (0) TAMIS_FILTER_OWNED of a filter.  Open handles do not notice.
 * Returns 0, and then the change survives a power cut; TAMIS_ENOTFOUND; TAMIS_EREADONLY;
 * TAMIS_EINVAL: owned is neither 0 nor 1. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_set_owned(tamis_store *store, const char *name,
                                                      int owned);

/*
 * Changes in which pages a filter is mapped, also while others use it.  A handle of any process
 * obeys when it next reads the catalog.  Pages that are in memory stay as they are until they leave
 * memory. The next tamis_filter_sync() of a handle reads the pages anew that no other process has
 * mapped.
 *
 * pages    enum tamis_pages.
 * Returns  0.  TAMIS_EINVAL: pages is another number.  TAMIS_ENOTFOUND, TAMIS_EREADONLY,
 *          TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOSPACE, TAMIS_ENOMEM.
 * Durable  when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_set_pages(tamis_store *store, const char *name,
                                                      uint32_t pages);

/* What tamis_filter_mapped() tells.  The numbers are of this process; other processes may have more
 * or less. */
struct tamis_filter_mapped {
    size_t size;         /* sizeof(struct tamis_filter_mapped) */
    uint64_t bytes;      /* bytes that are mapped, of all segments */
    uint64_t present;    /* how many of `bytes` are in memory */
    uint64_t huge_bytes; /* how many of `present` are mapped by entries of 2 MiB */
    uint32_t wanted;     /* the pages that the newest segment should have now: TAMIS_PAGES_SMALL or
                            TAMIS_PAGES_HUGE */
    uint32_t reserved;   /* 0 */
    /* These texts are in static storage.  They are NULL if all pages that should be huge are. */
    const char *obstacle;     /* a clause: why there are no huge pages */
    const char *mend;         /* what mends this */
    const char *mend_command; /* the command that mends it, with NAME for the filter's name; NULL:
                                 no command does */
};

/*
 * Tells how this process has a filter mapped.  Touches what is in memory already.  Takes a
 * microsecond for each MiB, and some milliseconds for the system's table.  Where huge pages are
 * lacking, some ranges of 2 MiB leave memory and are read again, to see why.
 *
 * Returns  0.  TAMIS_EDROPPED.  TAMIS_EIO and the like: the system's table (/proc/self/smaps) could
 *          not be read.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_mapped(tamis_filter *filter,
                                                   struct tamis_filter_mapped *mapped);

/* ---- Checkpoint --------------------------------------------------------------------------- */

/*
 * Begins a new slice of the window now, and takes out the segments that the window no longer
 * reaches. Without this call, the first add after the end of the newest slice does both.
 *
 * Returns  0.  TAMIS_EUNSUPPORTED: the filter has no window.  TAMIS_EREADONLY, TAMIS_EDROPPED,
 *          TAMIS_ENOSPACE, TAMIS_EBUSY.
 * Durable  when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_rotate(tamis_filter *filter);

/*
 * Makes a checkpoint: writes every segment to the disk (msync), then item count and time
 * to the catalog.
 *
 * Returns  0: every key whose add had returned before this call now survives a power cut.
 *          TAMIS_EREADONLY, TAMIS_EIO, TAMIS_ENOSPACE, TAMIS_EDROPPED.
 * Failed   the filter has TAMIS_STATE_DEGRADED from then on, in every process: the kernel reports a
 *          failed write once and then takes the page for clean.  So the next checkpoint, by any
 *          process, writes every page again, and ends that state if all goes well.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_sync(tamis_filter *filter);

/*
 * Starts a thread of this handle, in which all signals are blocked, and which makes a checkpoint
 * every interval_ns nanoseconds.  tamis_filter_close() ends the thread and waits for it.  Do not
 * make this call beside another such call, or the close, of the same handle.
 *
 * A checkpoint that fails leaves the filter degraded (tamis_filter_stat()); the next checkpoint
 * that succeeds ends that state.
 *
 * interval_ns  1,000,000 (a millisecond) or more; 0 ends the thread, and returns when it has ended.
 * fork()       a child has no such thread, and may make this call to get one.
 * Returns      0.  TAMIS_EINVAL: another interval.  TAMIS_EREADONLY, TAMIS_ENOMEM.  TAMIS_ESYSTEM:
 *              the system could not start a thread.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_set_sync_interval(tamis_filter *filter,
                                                              int64_t interval_ns);

/*
 * Ends TAMIS_STATE_UNCLEAN of a filter.  Call it when the keys that may be missing since the
 * machine went down were added again, or were given up.
 *
 * Returns  0, also if the filter was not unclean.  TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_EIO,
 *          TAMIS_ENOSPACE.
 * Durable  when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_accept(tamis_filter *filter);

#ifdef __cplusplus
}
#endif

#endif
