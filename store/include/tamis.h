/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis.h: filters that many processes share and that survive restarts without loading.
 *
 * THE TOUR
 *
 * A `tamis_store` is a directory.  It holds named filters; a `tamis_filter` is an open one.  To
 * open a filter is to map its file: nothing is read in, whatever the size.  Any number of processes
 * and threads may use one filter at once, with no server between them.
 *
 *     tamis_store *store;
 *     tamis_filter *seen;
 *     struct tamis_filter_spec spec = TAMIS_INIT(struct tamis_filter_spec);
 *     spec.capacity = 1000000;
 *     spec.fp_rate = 0.01;
 *     if (tamis_store_open("/var/lib/crawl", TAMIS_CREATE, &store) < 0 ||
 *         tamis_filter_open_or_create(store, "seen", &spec, &seen) < 0)
 *         errx(1, "%s", tamis_last_error());
 *     if (tamis_filter_add(seen, url, strlen(url)) == 1)
 *         fetch(url);                      // of all processes, this one was told NEW
 *     tamis_filter_close(seen);
 *     tamis_store_close(store);
 *
 * LIFE CYCLE.  open/close pair up; both close calls accept NULL.  A filter keeps its store alive,
 * so the two may be closed in any order.  A handle that is closed is gone: closing it twice, or
 * passing it to any other call, is undefined, as with free().  So set the variable to NULL after
 * the close.
 *
 * NULL.  If a call needs a pointer and gets NULL, it returns TAMIS_EINVAL, with a sentence that
 * names the pointer.
 *
 * SIZES.  Every struct but tamis_key begins with `size`.  In a struct that you pass, set it to
 * sizeof(the struct) before the call; TAMIS_INIT() does this, and clears the rest.  Later
 * versions add fields at the end of structs.  The library reads and writes at most `size`
 * bytes, so a program goes on working with a library that is newer, or older, than the headers
 * it was compiled with:
 * - What an older program's struct does not have counts as 0, and is not filled in.
 * - A newer program's field that an older library does not know must be 0, else TAMIS_EUNSUPPORTED.
 *   In what is filled in, `size` says afterwards how many bytes the library has filled.
 * A size of 0, or one that no struct has, is TAMIS_EINVAL.  In structs that the library passes to
 * your functions, `size` says how much the library knows.  Foreign-function users: tamis_ffi.h has
 * all of this header without a preprocessor.
 *
 * RESULTS.  A call returns 0, a count or an answer, or a negative TAMIS_E* code (tamis_errors.h).
 * After a negative result tamis_last_error() says in a sentence what was tried, on what, and what
 * mends it.
 *
 * THREADS AND PROCESSES.  Every call on a store or a filter may run beside any other on the same
 * object, except its close.  Handles survive fork(): parent and child both go on using them and
 * each closes its own.  tamis_filter_contains() is wait-free, tamis_filter_add() lock-free; neither
 * takes a lock, and no process's death or suspension can block them (docs/concurrency.md).
 *
 * DURABILITY.  A killed process loses nothing that it was told is added.  A power cut may lose what
 * was added since the last tamis_filter_sync(), or the last close of all handles that had added;
 * the filter says so then: TAMIS_STATE_UNCLEAN, and since when (docs/durability.md).
 *
 * CAVEATS
 * - A filter answers "present" for a key that was never added at about the rate it was made for,
 * and at a greater rate past its capacity.  It never answers "absent" for a key that was added.
 * - The store must be on a local file system that has flock() and shared mmap().
 * - Files are little-endian and are used in place; big-endian hosts are refused at compile time.
 * - A process with a file size limit (`ulimit -f`) should ignore SIGXFSZ, to get an error instead.
 * - If a file of the store is truncated while a process has it open, calls of that process on it
 *   fail (TAMIS_ECORRUPT, TAMIS_EIO) until it is opened again; see tamis_sigbus_leave().
 *   Other bytes that somebody writes into such a file are not noticed, except in its header.
 * - A filter of kind counting maps addresses, not memory, for a table that it may never need: 32 to
 *   64 bytes for each counter, which `ulimit -v` counts.  A handle that has removed a key keeps a
 *   descriptor.
 * - A process that was started with descriptors 0-2 closed should open them (on /dev/null) first;
 *   otherwise LMDB's file may become its standard output.  The `tamis` command does so.
 */
#ifndef TAMIS_H
#define TAMIS_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_errors.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#define TAMIS_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TAMIS_API
#define TAMIS_MUST_CHECK
#endif

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0

/* Limits.  A name is 1 to TAMIS_NAME_MAX bytes of UTF-8 without control characters. */
#define TAMIS_NAME_MAX 255
#define TAMIS_K_MAX 64             /* hashes per key of a filter */
#define TAMIS_FP_RATE_MIN 1e-12    /* smallest false-positive rate a filter can be asked for */
#define TAMIS_FP_RATE_DEFAULT 0.01 /* used if a spec leaves fp_rate at 0 */
#define TAMIS_HASH_SET_NAME_MAX 191

typedef struct tamis_store tamis_store;
typedef struct tamis_filter tamis_filter;

/*
 * An initializer that sets `size` and clears the rest:
 *     struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
 * With designated initializers, {.size = sizeof stat, .field = ...} does the same.
 */
#ifdef __cplusplus
#define TAMIS_INIT(type)                                                                           \
    ([] {                                                                                          \
        type fresh = {};                                                                           \
        fresh.size = sizeof(type);                                                                 \
        return fresh;                                                                              \
    }())
#else
#define TAMIS_INIT(type)                                                                           \
    {                                                                                              \
        .size = sizeof(type)                                                                       \
    }
#endif

/* How a filter works.  The numbers are in the files and never change meaning. */
enum tamis_kind {
    TAMIS_KIND_DEFAULT = 0,  /* in a spec: blocked; bloom with m_bits, k or another set than xxh3 */
    TAMIS_KIND_BLOCKED = 1,  /* cache-line-blocked Bloom filter: one cache line a key */
    TAMIS_KIND_BLOOM = 2,    /* classic Bloom filter: k positions over all m bits */
    TAMIS_KIND_COUNTING = 3, /* blocked with counters for bits: keys can be removed and counted */
    TAMIS_KIND_FUSE = 4,     /* static: a binary fuse filter, made by a build (tamis_build.h) */
};

/* ---- Errors and version ------------------------------------------------------------------- */

/* Returns the version, such as "0.1.0", in static storage. */
TAMIS_API const char *tamis_version(void);

/* Returns which vector instructions batches of kind blocked use on this machine: "avx512", "avx2"
 * or "portable".  The answers are the same with all of them.  The library takes the best that the
 * machine has, unless TAMIS_SIMD in the environment names another.  Static storage. */
TAMIS_API const char *tamis_simd(void);

/* Returns "TAMIS_ENOTFOUND" or the like for a code, "TAMIS_?" for a number that is no
 * code.  Static storage. */
TAMIS_API const char *tamis_error_name(int error);

/* Returns a few words for a code, which are the same whatever failed.  Static storage. */
TAMIS_API const char *tamis_error_message(int error);

/*
 * Returns the sentence for the last failed call of this thread: what was tried, on what, and what
 * mends it.  It is empty before the first failure; a call that succeeds leaves it as it is.  The
 * library owns it, and it is valid until this thread's next failing call.
 */
TAMIS_API const char *tamis_last_error(void);

/* Returns "blocked", "bloom", "counting" or "fuse"; NULL if this library has no kind of that
 * number.  Static storage. */
TAMIS_API const char *tamis_kind_name(uint32_t kind);

/* Finds the kind of that name.  If there is none: TAMIS_EINVAL, with the known names
 * in the sentence. */
TAMIS_API TAMIS_MUST_CHECK int tamis_kind_from_name(const char *name, uint32_t *kind);

/* ---- SIGBUS ------------------------------------------------------------------------------- */

/*
 * The kernel sends SIGBUS to a thread that touches a page of a mapped file and cannot get it:
 * because the file was truncated, because the disk is full (where rewriting a page takes new room,
 * as on btrfs), or because the disk fails.  With its first mapping the library installs a handler,
 * if SIGBUS has its default action then.  A fault in a mapping of the library becomes an error,
 * TAMIS_ECORRUPT or TAMIS_EIO, of the call that met it and of all later ones that need the file.
 * Any other fault ends the process as it would without the library.
 *
 * tamis_sigbus_leave() is called before the first store is opened: the library never installs
 * a handler then.
 */
TAMIS_API void tamis_sigbus_leave(void);

/*
 * For a program with a SIGBUS handler of its own: call this in the handler
 * with siginfo_t's si_addr.
 *
 * Returns  1: the fault was in a mapping of the library; return from the handler.  0: it was not.
 * Signals  async-signal-safe; for any thread, also in a child of fork().  A thread that blocks
 *          SIGBUS dies of one nevertheless.
 */
TAMIS_API int tamis_sigbus_mend(const void *address);

/* ---- Stores ------------------------------------------------------------------------------- */

/* Flags of tamis_store_open() and tamis_filter_open(). */
#define TAMIS_READ_ONLY 1u /* map for reading only; needs no write permission anywhere */
#define TAMIS_CREATE 2u    /* store: make the directory (0777 less umask) and catalog if absent */
/* store, and repair: accept one on a network file system, or on overlayfs without write permission,
 * at the user's own risk */
#define TAMIS_FORCE_NETWORK_FS 0x100u

#define TAMIS_NO_SYNC 4u  /* filter: closing it brings nothing to the disk, a later sync does */
#define TAMIS_POPULATE 8u /* filter: bring all of it into memory before it is asked */

/*
 * Open the store in a directory.
 *
 * path     the directory; made absolute now, so a later chdir() does no harm.
 * flags    0, TAMIS_CREATE, or TAMIS_READ_ONLY (then every filter opens read-only).
 * store    *store receives the handle; the caller closes it.
 * Returns  0.  TAMIS_ENOSTORE: no store there and TAMIS_CREATE not given.  TAMIS_EUNSUPPORTED: on a
 *          network file system.  TAMIS_EFOREIGN: a link, a pipe or the like in it.  TAMIS_EACCESS,
 *          TAMIS_ECORRUPT, TAMIS_EVERSION, TAMIS_EIO, TAMIS_ENOSPACE, TAMIS_ENOMEM, TAMIS_ELIMIT.
 * Process  any number of processes may open (and create) one store at once.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_open(const char *path, unsigned flags,
                                                tamis_store **store);

/*
 * Called while a call waits for another process: after a second, and then once a second.
 *
 * waited_ms  how long the call has waited.
 * holder     the process that has the lock, 0 where the system does not tell.
 * Returns    0: go on waiting.  Another value: wait no more, the call fails with TAMIS_EBUSY.
 * It runs in the thread that waits, one of the caller's, and must not call the library.
 */
typedef int tamis_busy_fn(void *context, int64_t waited_ms, int64_t holder);

/* How tamis_store_open_with() opens a store; zero is the default. */
struct tamis_store_options {
    size_t size;    /* sizeof(struct tamis_store_options) */
    uint32_t flags; /* as tamis_store_open() */
    uint32_t mode;  /* 0, or the store's mode: 0600 to 0666, in each place 6, 4 or 0 */
    /* These hold for the opening too.  The timeout is that of tamis_store_set_busy_timeout(),
     * but 0 means TAMIS_BUSY_TIMEOUT_DEFAULT, and below 0 means not to wait.  The callback is
     * that of tamis_store_set_busy_callback(). */
    int64_t busy_timeout_ms;
    tamis_busy_fn *busy_fn;
    void *busy_context;
};

/*
 * The same, with the mode that the store is made with, whatever the umask.  The mode of a store is
 * that of its catalog.mdb.  Each file that anybody makes in the store later, by whatever call, gets
 * the mode and the group of catalog.mdb, and each directory gets x where the mode has r.  If the
 * mode lets the group write, directories hand their group on (setgid).  A mode of 0 means 0666 less
 * umask for a new store, and otherwise the mode that the store has.
 *
 * options  NULL for all zero; read during the call only.
 * Returns  as tamis_store_open().  TAMIS_EINVAL: no such mode, or timeout.  TAMIS_EMISMATCH: the
 *          store is there and has another mode; nothing is changed.  TAMIS_EACCESS: also if the
 *          group cannot be kept.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_open_with(const char *path,
                                                     const struct tamis_store_options *options,
                                                     tamis_store **store);

#define TAMIS_BUSY_TIMEOUT_DEFAULT 10000 /* milliseconds */
#define TAMIS_BUSY_TIMEOUT_MAX 86400000  /* a day */

/*
 * How long a call waits for another process that has a lock of the store.  Two sorts of calls may
 * wait: an add that needs room, when the filter has to grow and cannot now, or that needs the next
 * slice of a window; and every call that reads or changes the catalog (opening, creating, listing,
 * syncing, publishing, closing after adding).  After that time the call fails with TAMIS_EBUSY, and
 * may be tried again.  An add that finds room never waits, and a query never does.
 *
 * milliseconds  0: do not wait.  At most TAMIS_BUSY_TIMEOUT_MAX.  Until this is called the
 *               store has TAMIS_BUSY_TIMEOUT_DEFAULT.  It holds for this handle and all filters
 *               opened from it.
 * Returns       0.  TAMIS_EINVAL: below 0, or more than a day.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_set_busy_timeout(tamis_store *store,
                                                            int64_t milliseconds);

/*
 * Has `fn` called while a call waits; NULL ends this.  Call it before another thread uses the store
 * or a filter of it.
 *
 * Returns  0.  TAMIS_EINVAL: no store.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_set_busy_callback(tamis_store *store, tamis_busy_fn *fn,
                                                             void *context);

/* Gives the handle back.  NULL is allowed, the same handle twice is not.  Filters opened from the
 * store stay usable until they are closed. */
TAMIS_API void tamis_store_close(tamis_store *store);

/* ---- Sizing: n, p -> m, k and back (docs/sizing.md) --------------------------------------- */

/*
 * The size of a filter.  As an argument: what is known, the rest 0.  As a result: all fields.
 */
struct tamis_sizing {
    size_t size;           /* sizeof(struct tamis_sizing) */
    uint32_t kind;         /* enum tamis_kind; 0 is blocked                                      */
    uint32_t k;            /* hashes per key; blocked: z words times q bits                      */
    uint64_t capacity;     /* n, distinct keys                                                   */
    uint64_t m_bits;       /* size of the bit array; blocked: a multiple of 512; counting: number */
                           /* of counters, a multiple of 512 too; fuse: of all fingerprints      */
    double fp_rate;        /* p asked for, 0 < p < 1                                             */
    double predicted_rate; /* result: false-positive rate when `capacity` keys are in            */
    double bits_per_key;   /* result: m_bits / capacity; counting: times counter_bits; fuse: with */
                           /* the seeds of the pieces                                            */
    uint64_t data_bytes;   /* result: bytes of the bits, or the counters, in the file            */
    uint64_t file_bytes;   /* result: bytes of the whole segment file, all of them allocated     */
    uint32_t words;        /* result: z, words that one key touches in its block; 0 for bloom    */
    uint32_t counter_bits; /* counting: bits of a counter, 4, 8, 16 or 32; 0 is 4; else 0        */
    uint32_t fingerprint_bits; /* result: fuse: 8, 16 or 32; else 0                              */
    uint32_t pieces;           /* result: fuse: parts that are built each by itself; else 0      */
};

/*
 * Complete a sizing from any two (or three) of capacity, fp_rate, m_bits and k.
 *
 * n, p       the smallest m for which the predicted rate at n keys is at most p (and its k)
 * n, m       the k with the lowest predicted rate, and that rate
 * n, k       bloom: the m at which that k is optimal, m = n k / ln 2 (so p is about 2^-k)
 * p, m       the largest n whose predicted rate is at most p
 * p, k       bits_per_key, the only thing that follows; capacity and m_bits stay 0
 * m, k       the n at which the predicted rate reaches fp_rate, or 2^-k if fp_rate is 0
 * n, m, k    the predicted rate
 *
 * Kind fuse has only the rates 2^-8, 2^-16 and 2^-32, 3 slots for each key, and no k to choose
 * (0 or 3):
 *
 * n, p       the greatest of these rates that is at most p
 * n, m       the least of these rates that n keys have in m bits; the result's m is what they need
 * p, m       the largest n
 *
 * Its size depends a little on the keys, because one piece gets more of them than another: a build
 * may come out half a per cent smaller or larger.
 *
 * Where fp_rate was 0, the result holds the predicted rate in it.  Bloom uses the exact mean of
 * (X/m)^k (Bloom 1970; second-order term after Bose et al. 2008); blocked and counting use the
 * binomial mixture over block loads (Putze, Sanders, Singler 2007).  This is pure arithmetic,
 * without a system call.
 *
 * Returns    0.  TAMIS_EINVAL: a value out of range, or fewer than two given.  TAMIS_EUNSUPPORTED:
 *            a rate below 2^-32 of kind fuse.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_size(struct tamis_sizing *sizing);

/*
 * Returns the predicted false-positive rate of a filter of that kind, m and k which holds n
 * distinct keys.  Returns 0 for n == 0.  Returns NaN if the geometry is impossible, and for kind
 * fuse: its rate is that of its fingerprints, 2^-bits, whatever n.
 */
TAMIS_API double tamis_predict_rate(uint32_t kind, uint64_t m_bits, uint32_t k, uint64_t n);

/* ---- Making, opening, closing filters ----------------------------------------------------- */

/*
 * Hash sets.  A hash set is the rule that turns a key into bits.  xxh3 is Tamis' own, and sip is
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

/* What happens when the newest segment holds as many keys as it was made for. */
enum tamis_on_full {
    TAMIS_ON_FULL_DEFAULT = 0, /* in a spec: grow; warn with m_bits and for kind counting */
    TAMIS_ON_FULL_GROW = 1,    /* a further segment, twice as large, takes the new keys */
    TAMIS_ON_FULL_REFUSE = 2,  /* a new key is refused, TAMIS_EFULL; a known key is answered */
    TAMIS_ON_FULL_WARN = 3,    /* keys are still taken, the rate gets worse; the state says full */
};

/* Returns "grow", "refuse" or "warn"; NULL for TAMIS_ON_FULL_DEFAULT and for any other
 * number.  Static storage. */
TAMIS_API const char *tamis_on_full_name(uint32_t on_full);

#define TAMIS_SLICES_MAX 32
#define TAMIS_SLICE_NS_MIN 100000000            /* a tenth of a second */
#define TAMIS_WINDOW_NS_MAX 3155760000000000000 /* a hundred years */

#define TAMIS_SECRET_BYTES 16 /* key of the hash set sip */

/* Flags of a filter. */
#define TAMIS_FILTER_DURABLE 1u /* no key is told NEW before a power cut can no longer take it */

/* What a filter is to be.  All zero but capacity is a good default. */
struct tamis_filter_spec {
    size_t size;          /* sizeof(struct tamis_filter_spec) */
    uint64_t capacity;    /* n, distinct keys the rate shall hold for; 1 or more, unless m_bits */
    double fp_rate;       /* p, 0 < p < 1; 0: TAMIS_FP_RATE_DEFAULT */
    uint32_t kind;        /* enum tamis_kind; 0: see there */
    uint32_t k;           /* explicit geometry, kind bloom only: 1 to TAMIS_K_MAX; with m_bits */
    uint64_t m_bits;      /* the same: 1 or more; with k, unless hash_set says what k is */
    const char *hash_set; /* a name of the table above; NULL: "xxh3" */
    uint64_t seed;        /* of xxh3; filters that shall be merged need the same */
    uint32_t on_full;     /* enum tamis_on_full; 0: see there */
    uint32_t slices;      /* of the window, 1 to TAMIS_SLICES_MAX; 0 with a window: 10 */
    int64_t
        window_ns; /* keys are remembered for this long (and at most a slice more); 0: for ever */
    uint64_t window_items; /* or: this many keys are remembered (and at most a slice more) */
    uint32_t counter_bits; /* kind counting: 4, 8, 16 or 32; 0: 4 */
    uint32_t flags;        /* TAMIS_FILTER_* */
    uint8_t secret[TAMIS_SECRET_BYTES]; /* the key of sip; all 0: a random one */
};

/*
 * Would a filter of that name and spec be accepted?  Checks both, and the room on the file system
 * of the store at `store_path`, or where that store would be.  Makes nothing.
 *
 * store_path  NULL: check name and spec only.
 * Returns     0.  TAMIS_EINVAL, TAMIS_EUNSUPPORTED, TAMIS_ENOSPACE (the sentence has both numbers).
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_check(const char *store_path, const char *name,
                                                  const struct tamis_filter_spec *spec);

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

/*
 * Opens a filter, with one mmap for each segment.  No key is read, so the time does not depend
 * on the size.
 *
 * flags    0, or some of TAMIS_READ_ONLY (also implied by a read-only
 *          store), TAMIS_NO_SYNC, TAMIS_POPULATE.
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
                                                 unsigned flags, tamis_filter **filter);

/*
 * Opens the filter, or makes it if there is none.  If several processes call this at once, one
 * makes the filter and all open it.  Returns TAMIS_EMISMATCH, naming the first field that differs,
 * if the filter is there and is not what the spec says.  A spec of sip without a secret fits
 * whatever secret is there.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_open_or_create(tamis_store *store, const char *name,
                                                           const struct tamis_filter_spec *spec,
                                                           tamis_filter **filter);

/*
 * Gives the handle back.  NULL is allowed, the same handle twice is not.  If the handle has added
 * or removed keys, and no such handle of any process is left open, the close is a checkpoint like
 * that of tamis_filter_sync(), unless the handle was opened with TAMIS_NO_SYNC.  If others are
 * open, the close costs nothing, and the last of them makes the checkpoint.  The item count goes to
 * the catalog if it has changed.
 *
 * Returns  0.  The handle is gone whatever is returned.  TAMIS_EIO, TAMIS_ENOSPACE and the like: a
 *          sync has failed as in tamis_filter_sync(), or the catalog has no room for the count.  No
 *          key is lost unless the power fails, and the next sync or close makes up for it.
 * Durable  when it returns 0 and nobody else has the filter open for adding, all of it survives
 *          a power cut.
 */
TAMIS_API int tamis_filter_close(tamis_filter *filter);

/* ---- Adding and asking -------------------------------------------------------------------- */

/* One key of a batch: any bytes, not kept.  data may be NULL only if bytes is 0. */
struct tamis_key {
    const void *data;
    size_t bytes;
};

/*
 * Adds one key.  Safe beside any other call on the same filter, from any thread
 * or process; lock-free.
 *
 * key      key_bytes bytes of any content, not kept; NULL only with key_bytes == 0.
 * Returns  1 if the key was new, 0 if it was, or seemed, present.  If any number of processes and
 *          threads add one key at one time, at most one of them is told 1; and one is, unless the
 *          key was there already or a false positive says so.
 *          TAMIS_EREADONLY, TAMIS_EINVAL, TAMIS_EDROPPED.  TAMIS_EFULL: the key is not in, and the
 *          filter refuses more (enum tamis_on_full).  TAMIS_ENOSPACE and the other errors of making
 *          a file: the filter is full and cannot grow; keys that are in are still answered.
 * Counting a filter of kind counting counts every add, whatever it answers.  There
 *          TAMIS_ENOSPACE means that a counter has outgrown its bits and the disk has no room;
 *          the key was not added.
 * Durable  after tamis_filter_sync(); before it a power cut may lose the key, a killed
 *          process does not.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_add(tamis_filter *filter, const void *key,
                                                size_t key_bytes);

/*
 * Asks for one key.  Wait-free; writes nothing.
 *
 * Returns  1 present (or a false positive), 0 certainly absent.  TAMIS_EINVAL, TAMIS_EDROPPED.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_contains(tamis_filter *filter, const void *key,
                                                     size_t key_bytes);

/*
 * The same for `count` keys at once, several times as fast: memory is kept busy with many keys.
 *
 * keys     count keys; the same key may occur twice, and only the first can be new.
 * answers  NULL, or count bytes: answers[i] receives 1 or 0 as the single call would return it.
 * Returns  the number of ones, or an error.  TAMIS_EINVAL is found before anything is added.  After
 *          any error answers[i] is TAMIS_ANSWER_REFUSED for each key that was not added, and the
 *          answer for the others: nobody is told again that they were new.  After TAMIS_EFULL every
 *          key was dealt with.  After another error the keys that were not added may be added
 *          again.  The whole batch may be repeated too, except for kind counting, which would count
 *          some keys twice.
 */
#define TAMIS_ANSWER_REFUSED 2
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_add_batch(tamis_filter *filter,
                                                          const struct tamis_key *keys,
                                                          size_t count, uint8_t *answers);
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_contains_batch(tamis_filter *filter,
                                                               const struct tamis_key *keys,
                                                               size_t count, uint8_t *answers);

/* ---- Removing and counting: kind counting --------------------------------------------------- */

/*
 * Takes a key off once: after as many removes as adds the key is absent.  Safe beside any other
 * call, from any thread or process.
 *
 * Returns  1 if the key was there; 0 if it is certainly absent, and then nothing was changed.  If
 *          several processes remove one key, as many of them are told 1 as there were adds of it.
 *          TAMIS_EUNSUPPORTED: another kind.  TAMIS_EREADONLY, TAMIS_EINVAL, TAMIS_EDROPPED;
 *          TAMIS_ELIMIT and the like at the first remove of a handle in a process, which opens the
 *          segment's file once more; nothing was changed then.
 * Caution  a key that was never added and that the filter takes for present (a false positive)
 *          is "removed" too, at the cost of the keys that share its counters.  Remove only
 *          what was added.
 * Waits    for another remover whose key lies in the same block, or in any block with the same
 *          number modulo 48; also for one that is suspended there, never for one that died.  Adds
 *          and queries never wait.
 * Killed   in the middle, a remove counts as done.  Counters that it had not come to stay too high,
 *          so the key may still be answered "present".
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_remove(tamis_filter *filter, const void *key,
                                                   size_t key_bytes);

/*
 * Returns how often a key was added and not removed: never less, and more if other keys share all
 * of its counters, which happens at about the rate at which strangers are taken for present.
 * Wait-free; writes nothing.
 *
 * Returns  0 or more.  TAMIS_EUNSUPPORTED: another kind.  TAMIS_EINVAL, TAMIS_EDROPPED.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_count(tamis_filter *filter, const void *key,
                                                      size_t key_bytes);

/*
 * The same for many keys at once.
 *
 * answers  NULL, or count bytes: answers[i] receives 1 or 0 as the single call would return it;
 *          after an error in the middle, TAMIS_ANSWER_REFUSED for each key that was not handled.
 * counts   counts[i] receives what the single call would return.
 * Returns  the number of answers, or of counts, that are not 0; or an error.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_remove_batch(tamis_filter *filter,
                                                             const struct tamis_key *keys,
                                                             size_t count, uint8_t *answers);
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_count_batch(tamis_filter *filter,
                                                            const struct tamis_key *keys,
                                                            size_t count, uint64_t *counts);

/* ---- Checkpoint --------------------------------------------------------------------------- */

/*
 * Begins a new slice of the window now, and takes out what the window no longer reaches.  Without
 * this call it happens when the newest slice is over, by the first process that adds after that.
 *
 * Returns  0.  TAMIS_EUNSUPPORTED: no window.  TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_ENOSPACE,
 *          TAMIS_ELIMIT: another process has held the store's lock for a second.
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
 * Makes a checkpoint every `interval_ns` from now on, by a thread of this handle in which all
 * signals are blocked.  The thread ends at tamis_filter_close(), which waits for it; an interval of
 * 0 ends it now.  The library starts no thread unless this asks for one.  Do not call this beside
 * another such call, or the close, of the same handle.
 *
 * A checkpoint that fails leaves the filter degraded (tamis_filter_stat()), and the next
 * one mends that.
 *
 * fork()   a child has no such thread: call this there too, if it is wanted.
 * Returns  0.  TAMIS_EINVAL: below 0, or above 0 and less than a millisecond.  TAMIS_EREADONLY,
 *          TAMIS_ENOMEM; TAMIS_ESYSTEM: the system gives no thread.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_set_sync_interval(tamis_filter *filter,
                                                              int64_t interval_ns);

/*
 * Says that the keys that may be missing since the machine went down (TAMIS_STATE_UNCLEAN) were
 * dealt with: added again, for example, or given up.  The filter is no longer unclean.
 *
 * Returns  0, also if it was not unclean.  TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_EIO,
 *          TAMIS_ENOSPACE.
 * Durable  when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_accept(tamis_filter *filter);

/* ---- Looking inside ----------------------------------------------------------------------- */

/* States of a filter, as bits; 0 is "ok". */
#define TAMIS_STATE_FULL 1u     /* the item count is at or past the capacity */
#define TAMIS_STATE_DEGRADED 2u /* a sync failed, and no later one has brought all to the disk */
#define TAMIS_STATE_UNCLEAN 4u  /* the machine went down: keys added then may be missing */
#define TAMIS_STATE_DAMAGED 8u  /* wrong bytes were found in it: its answers may be wrong */
/* The filter holds more keys than the rate that was asked for allows: predicted_rate
 * is above it. */
#define TAMIS_STATE_OVER 16u

/* What is known of a filter.  Times are in nanoseconds since 1970-01-01 UTC; 0 means never. */
struct tamis_filter_stat {
    size_t size; /* sizeof(struct tamis_filter_stat) */
    char name[TAMIS_NAME_MAX + 1];
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    uint32_t kind; /* of the newest segment, as are hash_set, k and seed */
    uint32_t k;
    uint64_t m_bits; /* sum over the segments, as are size_bytes and items */
    uint64_t seed;
    uint64_t capacity; /* of the newest segment, and what older ones, which take no more, hold */
    double fp_rate;    /* the rate the filter was made for, at capacity */
    uint64_t items; /* number of NEW answers so far; counting: less those removes that took a key */
                    /* off for the last time: distinct keys, as capacity is */
    uint64_t size_bytes;   /* of the segment files */
    double predicted_rate; /* rate at the present item count, by the formulas of docs/sizing.md */
    uint64_t generation;   /* goes up with every published change */
    uint32_t segment_count;
    uint32_t state; /* TAMIS_STATE_* bits */
    int64_t created_at;
    int64_t published_at;
    int64_t checkpointed_at;   /* last sync */
    int64_t window_ns;         /* length of the window in time; 0: by items, or no window */
    uint64_t window_items;     /* length of the window in items; 0: by time, or no window */
    uint32_t slices;           /* of the window; 0: no window */
    uint32_t on_full;          /* enum tamis_on_full */
    uint32_t counter_bits;     /* kind counting: bits of a counter, of which m_bits is the number */
    uint32_t fingerprint_bits; /* kind fuse: 8, 16 or 32; else 0 */
    uint64_t exceptions;       /* keys that answer absent whatever the bits say (tamis_build.h) */
    uint32_t keep;             /* older generations that are kept when a build publishes another */
    uint32_t flags;            /* TAMIS_FILTER_* bits */
    int64_t unclean_since;  /* TAMIS_STATE_UNCLEAN: keys added since then may be missing; else 0 */
    int64_t degraded_since; /* TAMIS_STATE_DEGRADED: when a sync failed; else 0 */
    double bits_per_key;    /* bits, or those of counters, for each key of the segments' capacity */
    uint64_t live_slices;   /* of the window: slices in which keys are still found; 0: no window */
};

/* Flags of a segment. */
/* Imported or merged: its items began with an estimate. */
#define TAMIS_SEGMENT_ITEMS_ESTIMATED 1u
/* The window no longer reaches it: no key is found in it, and its items do not count. */
#define TAMIS_SEGMENT_PAST 0x80000000u

/* One segment of a filter. */
struct tamis_segment_stat {
    size_t size; /* sizeof(struct tamis_segment_stat) */
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    uint64_t number; /* the file is segments/<number, 16 digits>.seg */
    uint32_t kind;
    uint32_t k;
    uint32_t words;     /* z: words a key touches in its block; 0 for bloom */
    uint32_t bit_order; /* 0: bit b of byte B is bit 8 B + b; 1: bit 8 B + 7 - b (as SETBIT) */
    uint64_t m_bits;
    uint64_t seed;
    uint64_t capacity;
    double fp_rate;
    uint64_t items;
    uint64_t file_bytes;
    uint64_t data_offset; /* where the bits begin in the file */
    uint64_t data_bytes;
    int64_t created_at;
    uint64_t ones;            /* set bits; tamis_filter_fill() only, else 0 */
    double fill;              /* ones / m_bits; tamis_filter_fill() only */
    double fp_rate_now;       /* rate by the bits that are set; tamis_filter_fill() only */
    uint64_t flags;           /* TAMIS_SEGMENT_* bits */
    uint64_t slice;           /* of the window: which slice it belongs to, from 0 */
    int64_t slice_start;      /* when that slice began; 0: no window */
    uint32_t step;            /* how often the filter, or the slice, had grown before it was made */
    uint32_t counter_bits;    /* kind counting; else 0 */
    uint64_t items_estimated; /* keys, by the bits that are set; tamis_filter_fill() only, else 0 */
    uint32_t fingerprint_bits; /* kind fuse; else 0 */
    uint32_t pieces;           /* kind fuse: parts that were built each by itself; else 0 */
};

/* Gets the metadata of an open filter, with the item count.  Reads no bits, so
 * it costs microseconds. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_stat(tamis_filter *filter,
                                                 struct tamis_filter_stat *stat);

/* Returns the items in the filter now: a sum over counters in its headers, cheap enough for every
 * batch.  Items in slices that a window in time no longer reaches do not count. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_items(tamis_filter *filter);

/* Describes segment `index` (0 is the oldest) without its bits; TAMIS_EINVAL past the last. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_segment(tamis_filter *filter, uint32_t index,
                                                    struct tamis_segment_stat *stat);

/* The same, and counts the set bits.  Reads the whole segment, about 1 s for 10 GB in memory. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_fill(tamis_filter *filter, uint32_t index,
                                                 struct tamis_segment_stat *stat);

/* Where a key goes.  The caller lends both buffers. */
struct tamis_explanation {
    size_t size;            /* sizeof(struct tamis_explanation) */
    char *hashes;           /* in: room for the hash values as text, separated by commas          */
    size_t hashes_bytes;    /* in: bytes of it, 64 a hash value are enough; a NUL closes the text */
    uint64_t *positions;    /* in: room for the bit positions, in the order of the hash set       */
    size_t positions_max;   /* in: how many fit                                                   */
    size_t positions_count; /* out: how many there are (k); a position may occur twice            */
};

/*
 * Gets the hash values and bit positions of a key in segment `index` of a filter.  Position b is
 * bit b % 8 of byte b / 8 of the data; bit 0 is the least, or the greatest if the segment's
 * bit_order is 1.  TAMIS_EINVAL: a buffer is too small (positions_count says what is needed), or
 * no such segment.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_explain(tamis_filter *filter, uint32_t index,
                                                    const void *key, size_t key_bytes,
                                                    struct tamis_explanation *explanation);

/*
 * The same for a hash set, m and k without a filter (kind bloom).  m_bits may be any number from 1
 * to 2^64-1 that the set can reach; k may be up to 2^20, and is 0 if the set says what k is.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_explain(const char *hash_set, uint64_t m_bits, uint32_t k,
                                             uint64_t seed, const void *key, size_t key_bytes,
                                             struct tamis_explanation *explanation);

/* ---- Import and export (docs/exchange.md) --------------------------------------------------- */

/*
 * A filter travels as a stream of bytes in one of these formats:
 *
 *     redis-bitmap  the string that SETBIT made: bits alone, up to the highest byte that is not 0;
 *                   hash set, m and k are the caller's word
 *     redisbloom    the answers of BF.SCANDUMP, in a plain container; a layer is a segment
 *     guava         what BloomFilter.writeTo() writes
 *     tamis         Tamis' own: any filter, with seeds and a checksum
 *
 * Memory is a few megabytes, whatever the length.
 */

/* Returns the name of format `index`, from 0 on; NULL past the last.  Static storage. */
TAMIS_API const char *tamis_format_name(unsigned index);

/* Where a stream comes from. */
struct tamis_source {
    size_t size; /* sizeof(struct tamis_source) */
    /* Puts 1 to `bytes` bytes (at most 1 MiB are asked for) into `buffer` and returns how
     * many; returns 0 at the end of the stream, or a TAMIS_E* code to end the import, which
     * then returns it. */
    int64_t (*read)(void *context, void *buffer, size_t bytes);
    void *context;
    uint64_t bytes; /* of the whole stream, 0 if not known: shows at once that it was cut */
};

/* Where a stream goes.  The function returns 0, or a TAMIS_E* code to end the export, which
 * then returns it. */
struct tamis_sink {
    size_t size; /* sizeof(struct tamis_sink) */
    int (*write)(void *context, const void *buffer, size_t bytes);
    void *context;
};

/* What a stream does not tell.  What the stream does tell must be 0 or NULL here. */
struct tamis_import_spec {
    size_t size;          /* sizeof(struct tamis_import_spec) */
    const char *hash_set; /* redis-bitmap: needed */
    uint64_t m_bits;   /* redis-bitmap: needed; 0 with a php set: 2^32                          */
    uint32_t k;        /* redis-bitmap: needed, unless the hash set fixes it                    */
    uint64_t capacity; /* redis-bitmap, guava: 0 for the keys at which m and k are at their best */
    double fp_rate;    /* redis-bitmap, guava: 0 for the predicted one                          */
    uint64_t
        seal_capacity; /* not 0: put an empty segment of hash set xxh3, kind blocked and this */
                       /* capacity on top: old keys still answer, new ones go there           */
    double seal_rate;  /* of that segment; 0: TAMIS_FP_RATE_DEFAULT                           */
};

/*
 * Makes a filter from a stream, with all its segments in one step.
 *
 * name     of the filter to be made; see TAMIS_NAME_MAX.
 * spec     NULL if there is nothing to say.
 * source   read from here only, in order, by this thread.
 * filter   NULL, or *filter receives an open handle.
 * Returns  0.  TAMIS_ECORRUPT, TAMIS_EFOREIGN, TAMIS_EVERSION, TAMIS_EUNSUPPORTED: the stream
 *          (the sentence says at which byte, and why); TAMIS_EINVAL: format, name or spec, or a
 *          bitmap that is not of that m; TAMIS_EEXIST; TAMIS_ENOSPACE; TAMIS_EREADONLY; what the
 *          source returned.  On any error nothing is left behind.
 * Items    are counted on from what the stream says; where it does not (redis-bitmap, guava) they
 *          are estimated from the set bits, and the segment has TAMIS_SEGMENT_ITEMS_ESTIMATED.
 * Durable  when it returns 0 the filter and its keys survive a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_import(tamis_store *store, const char *name,
                                                   const char *format,
                                                   const struct tamis_import_spec *spec,
                                                   const struct tamis_source *source,
                                                   tamis_filter **filter);

/* Flags of tamis_filter_export(). */
#define TAMIS_EXPORT_WITH_KEY 1u /* also what is secret: a seed other than 0, the key of sip */

/*
 * Writes a filter as a stream; nothing is changed in the filter.  What was imported and not added
 * to comes out byte for byte as it was.  Keys that are added meanwhile may be in the stream or not.
 *
 * flags    0, or TAMIS_EXPORT_WITH_KEY if those who get the stream may know how to choose keys
 *          against the filter.  Only format tamis holds seed and key; the others never do.
 * Returns  0.  TAMIS_EUNSUPPORTED: the format cannot express this filter (kind, hash set,
 *          segments).  TAMIS_EINVAL: no such format; or the stream would hold a seed or key
 *          and flags do not allow this.  Nothing was written then.  TAMIS_EDROPPED.  What
 *          the sink returned.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_export(tamis_filter *filter, const char *format,
                                                   unsigned flags, const struct tamis_sink *sink);

/* ---- Merging and comparing ------------------------------------------------------------------ */

/*
 * Filters can be merged and compared when a bit of one means what the same bit of the other means:
 * same kind, m, k, counter bits, bit order, hash set and seed, in each of their segments.  Filters
 * that are made by one spec and have not grown are of that sort, and so are those that
 * tamis_filter_like() makes.  Other filters are refused with TAMIS_EMISMATCH, and the sentence
 * names every field that differs.
 *
 * A segment keeps its size, whatever is merged into it.  So make filters that will become one with
 * the capacity of all of them together.  Memory is a few megabytes, whatever their size.
 *
 * Counters (kind counting) are added: a key is then there as often as in all of
 * the filters together.
 */

#define TAMIS_MERGE_INTERSECT 1u /* the keys that are in all sources, not those in any of them */

/* What to merge.  A source that is given twice counts once. */
struct tamis_merge {
    size_t size;                  /* sizeof(struct tamis_merge) */
    tamis_filter *const *sources; /* of any store; read-only handles will do */
    size_t count;                 /* of them, 1 or more */
    uint32_t flags;               /* TAMIS_MERGE_* */
    /* NULL, or called now and then, with no lock held.  It returns 0 to go on, or a TAMIS_E* code
     * to end the call, which then returns it. */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context;
};

/*
 * Brings all keys of the sources into a filter that exists and may be in use.  Safe beside any
 * other call on any of them, from any thread or process: nothing that is added meanwhile is lost.
 * A key that came by a merge is simply present; nobody is told that it was new.
 *
 * filter   open for writing, and none of the sources.
 * Returns  0: every key whose add to a source had returned before this call is in the filter.
 *          TAMIS_EMISMATCH; TAMIS_EUNSUPPORTED: TAMIS_MERGE_INTERSECT, or a filter with a window;
 *          TAMIS_EINVAL, TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_ENOMEM; what progress returned.
 *          After an error, or when killed, the filter has all that it had and perhaps more; merging
 *          again completes it.
 * Counters are added in each call, so merging again adds them again.  Therefore all is read first,
 *          and the room is made.  Until then TAMIS_ENOSPACE, TAMIS_ELIMIT (a count would pass 2^60)
 *          and what progress returns end the call with nothing changed.  From then on progress
 *          cannot end it.  If adders use the room up meanwhile, or the process is killed, only a
 *          part is added; in the first case the sentence says so.  Remove keys of the sources from
 *          the filter only when the call has returned.
 * Items    are raised to what the bits tell (tamis_filter_fill(), items_estimated), never lowered.
 *          That may fill the filter: it grows, or refuses, at the next add that notices.
 * Built    If the filter is built anew or rolled back meanwhile (tamis_build.h), the keys are in
 *          the generation that was replaced.  Exceptions of the sources are not merged.
 * Durable  as tamis_filter_add(): after tamis_filter_sync().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_merge(tamis_filter *filter,
                                                  const struct tamis_merge *merge);

/*
 * Makes a filter of the keys of others: those that are in any source or, with
 * TAMIS_MERGE_INTERSECT, in all of them.  Capacity, rate and what happens when it is full are those
 * of the first source.  An intersection has every common key, and answers yes to a stranger where
 * all sources do.  Its counters are the least of the sources' counters: a key is there as often as
 * in the source that has it least often.
 *
 * name     of the filter to be made, in `store`.
 * filter   NULL, or *filter receives an open handle.
 * Returns  0.  TAMIS_EMISMATCH; TAMIS_EUNSUPPORTED: a filter with a window, an intersection of
 *          filters of several segments; TAMIS_EEXIST, TAMIS_EINVAL, TAMIS_ENOSPACE,
 *          TAMIS_EREADONLY, TAMIS_EDROPPED, TAMIS_ENOMEM, TAMIS_EIO; what progress returned.  On
 *          any error, and when killed, nothing is left behind.
 * Items    are estimated from the bits; the segments have TAMIS_SEGMENT_ITEMS_ESTIMATED.
 * Durable  when it returns 0 the filter and its keys survive a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_create_merged(tamis_store *store, const char *name,
                                                          const struct tamis_merge *merge,
                                                          tamis_filter **filter);

/*
 * Gets the spec that makes a filter like this one, which can be merged with it and goes on in the
 * same way when full.
 *
 * spec      all of it is filled in; spec->hash_set is `hash_set`.
 * hash_set  room for the name, which must live as long as the spec is used.
 * Returns   0.  TAMIS_EDROPPED, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_like(tamis_filter *filter,
                                                 struct tamis_filter_spec *spec,
                                                 char hash_set[TAMIS_HASH_SET_NAME_MAX + 1]);

/* Two filters compared, by the bits that are set (docs/sizing.md).  These are numbers of keys. */
struct tamis_comparison {
    size_t size; /* sizeof(struct tamis_comparison) */
    double items_a, items_b;
    double items_union; /* in a or b                                                         */
    double items_both;  /* in a and b: items_a + items_b - items_union, at least 0           */
    double jaccard;     /* items_both / items_union; 0 where both are empty                  */
    double error;       /* of items_both: two times in three it is nearer than this          */
};

/*
 * How much have two filters in common?  Reads both completely; safe beside any other call.
 *
 * Returns  0.  TAMIS_EMISMATCH; TAMIS_EUNSUPPORTED: filters of several segments, in which a key may
 *          lie here or there; TAMIS_EDROPPED, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_compare(tamis_filter *a, tamis_filter *b,
                                                    struct tamis_comparison *comparison);

/* ---- The catalog: list, drop, rename, verify ---------------------------------------------- */

/* Called once for each filter.  A value other than 0 ends the listing, which returns it. */
typedef int tamis_list_fn(void *context, const struct tamis_filter_stat *stat);

/*
 * Calls `fn` for each filter whose name begins with `prefix` (NULL: all), in byte order of the
 * names.  Reads the catalog only: items and states are those of the last close or sync.  The list
 * is one consistent snapshot, and no lock is held while `fn` runs.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list(tamis_store *store, const char *prefix,
                                                tamis_list_fn *fn, void *context);

/*
 * The same with items, sizes and states as they are now: the header of each segment is read too,
 * without mapping it.  This costs some 5 us more for each segment, and a read of the disk if its
 * first page is not in memory.  The list is a snapshot, the counts are not: they are read one after
 * the other, after the catalog's lock was given back.  For a filter that cannot be read, the values
 * are those of tamis_store_list().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list_live(tamis_store *store, const char *prefix,
                                                     tamis_list_fn *fn, void *context);

/*
 * Removes a filter and its files.  Handles that are open on it, in whatever process, get
 * TAMIS_EDROPPED at their next call that finds the catalog free (they never wait for it).  Durable
 * when it returns 0.  TAMIS_ENOTFOUND, TAMIS_EREADONLY.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_drop(tamis_store *store, const char *name);

/* Gives a filter another name; open handles go on.  TAMIS_ENOTFOUND, TAMIS_EEXIST, TAMIS_EINVAL. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_rename(tamis_store *store, const char *old_name,
                                                   const char *new_name);

/* One problem that verify found.  The strings live only during the call of the function. */
struct tamis_problem {
    size_t size;        /* sizeof(struct tamis_problem) */
    const char *filter; /* name, or "" where the thing belongs to no filter */
    const char *file;   /* path inside the store                            */
    uint64_t offset;    /* byte in that file; 0 where the file as a whole   */
    int error;          /* TAMIS_E*                                         */
    const char *reason; /* a sentence                                       */
};

/* Called once for each problem.  A value other than 0 ends the check, which returns it. */
typedef int tamis_problem_fn(void *context, const struct tamis_problem *problem);

/*
 * Checks the catalog against the segments: headers, sizes, names, lists, kept generations,
 * exceptions, missing files and files without a filter.  Also checks what is in the segments:
 * the checksum of static data, counters and their overflow, set bits against the items that were
 * counted, and how the set bits are spread.  Reads all of it, once, beside any writer and
 * without making a writer wait.  A name of NULL means the whole store.  A store that is open for
 * writing remembers which filters are damaged (TAMIS_STATE_DAMAGED), until they are found sound;
 * nothing else changes.
 *
 * fn       may be NULL (count only); no lock is held while it runs.
 * Returns  the number of problems told to `fn`, or an error where checking could not go on
 *          (a catalog that cannot be read; TAMIS_ENOTFOUND).
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_verify(tamis_store *store, const char *name,
                                                      tamis_problem_fn *fn, void *context);

#ifdef __cplusplus
}
#endif

#endif
