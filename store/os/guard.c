/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.c: see guard.h.
 *
 * The table of mappings is a list of blocks that only grows.  An entry is free where its start is
 * 0.  There are no locks: the handler may come at any instruction, and a child of fork() finds the
 * table as it was.
 *
 *     watch     start 0 -> CLAIMED by compare-and-swap; the rest; start = address      (release)
 *     handler   reads start, bytes, and start again.  An entry that changes meanwhile does not
 *               belong to a mapping that anybody can be in
 *     broken    is set before the page is replaced, so whoever reads the new page finds it set
 *
 * The handler is installed once, in front of the one that is there, and hands on to that what is
 * not its own.  So two copies of the library in one process (in a program and in its plugin) each
 * find their own mappings, in whichever order they came.  It is never installed again: if the host
 * puts its own handler in front, which calls this one, a second time would make a circle.
 */
#include "os/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread.h"
#include "os/points.h"

#define CLAIMED ((uintptr_t)1) /* no mapping begins there */
#define BLOCK_ENTRIES 256u

struct tamis__guard {
    uintptr_t start; /* atomic */
    uint64_t bytes;
    const void *kept; /* atomic */
    bool writable;
    bool broken; /* atomic */
};

struct block {
    struct block *next; /* atomic */
    struct tamis__guard entries[BLOCK_ENTRIES];
};

uint64_t tamis__guard_faults;

static struct block first_block;
static uintptr_t page_bytes;
static bool forbidden;
static pthread_once_t install_once = PTHREAD_ONCE_INIT;

static TAMIS__THREAD bool *all_faults;

/* ---- In the handler: async-signal-safe, and for any thread ----------------------------------- */

static struct tamis__guard *find_guard(uintptr_t address)
{
    /* ORDER acquire: pairs with tamis__guard_add.  A block or an entry that is found is whole. */
    for (struct block *block = &first_block; block != NULL;
         block = __atomic_load_n(&block->next, __ATOMIC_ACQUIRE))
        for (size_t i = 0; i < BLOCK_ENTRIES; i++) {
            struct tamis__guard *entry = &block->entries[i];
            const uintptr_t start = __atomic_load_n(&entry->start, __ATOMIC_ACQUIRE);
            const uint64_t bytes = __atomic_load_n(&entry->bytes, __ATOMIC_ACQUIRE);
            if (start <= CLAIMED || address < start || address - start >= bytes) continue;
            if (__atomic_load_n(&entry->start, __ATOMIC_ACQUIRE) == start) return entry;
        }
    return NULL;
}

static bool put_zeros(uintptr_t at, uint64_t bytes, bool writable)
{
    const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    void *place = (void *)at; // NOLINT(performance-no-int-to-ptr)
    return mmap(place, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                -1, 0) != MAP_FAILED;
}

/* The page of a header is exchanged in one step, so that nobody sees its constants missing. */
static bool put_header(const struct tamis__guard *entry, const void *kept)
{
    void *at = (void *)entry->start; // NOLINT(performance-no-int-to-ptr)
    void *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    memcpy(page, kept, TAMIS__GUARD_KEPT_BYTES);
    if (!entry->writable) (void)mprotect(page, page_bytes, PROT_READ);
    return mremap(page, page_bytes, page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED;
}

/* Can the word at that address be read?  The kernel reads it, and no signal comes of it: this
 * changes nothing, as there is no such way to set the mask. */
static bool is_readable(const void *at)
{
    return syscall(SYS_rt_sigprocmask, ~0, at, NULL, 8) == 0 || errno != EFAULT;
}

/* A file that is cut within its header has its first page still, but zeros from the cut on.  Its
 * constants come back as soon as another page is missed: what divides by one of them, or goes on to
 * the address of another, must not end the process. */
static void restore_header(const struct tamis__guard *entry, const void *kept)
{
    const void *at = (const void *)entry->start; // NOLINT(performance-no-int-to-ptr)
    if (is_readable(at) && memcmp(at, kept, TAMIS__GUARD_KEPT_BYTES) == 0) return;
    (void)put_header(entry, kept);
}

/* The pages behind are replaced too.  After a truncation they are gone as well, and a fault for
 * each page of a large file would take long and need a mapping each. */
static bool replace(const struct tamis__guard *entry, uintptr_t page)
{
    const uintptr_t end =
        (entry->start + (uintptr_t)entry->bytes + page_bytes - 1) / page_bytes * page_bytes;
    const void *kept = __atomic_load_n(&entry->kept, __ATOMIC_ACQUIRE);
    if (page == entry->start && kept != NULL) {
        const uintptr_t rest = page + page_bytes;
        if (rest < end) (void)put_zeros(rest, end - rest, entry->writable); /* or at their faults */
        return put_header(entry, kept);
    }
    if (kept != NULL) restore_header(entry, kept);
    return put_zeros(page, end - page, entry->writable) ||
           put_zeros(page, page_bytes, entry->writable);
}

static bool mend(const void *at)
{
    const uintptr_t address = (uintptr_t)at, page = address / page_bytes * page_bytes;
    struct tamis__guard *entry = find_guard(address);
    bool *whose = all_faults;
    if (entry == NULL && whose == NULL) return false;
    /* ORDER seq_cst: before the page is replaced; pairs with tamis__guard_fence(). */
    __atomic_store_n(entry != NULL ? &entry->broken : whose, true, __ATOMIC_SEQ_CST);
    (void)__atomic_add_fetch(&tamis__guard_faults, 1, __ATOMIC_SEQ_CST);
    const bool replaced = entry != NULL ? replace(entry, page) : put_zeros(page, page_bytes, true);
    TAMIS__POINT(TAMIS__POINT_PAGE_REPLACED);
    return replaced;
}

TAMIS_API int tamis_sigbus_mend(const void *address)
{
    const int kept = errno;
    const int mended = page_bytes != 0 && mend(address);
    errno = kept;
    return mended;
}

/*
 * The action of SIGBUS that was there before ours: of the host, or of another copy of the library
 * in the process, which has a table of its own.  It gets every signal that is not ours, and is
 * called as the kernel would call it.
 */
static struct sigaction before;
static bool is_before_spent; /* atomic; its flags allow one call (SA_RESETHAND) */

/* Lets the signal end the process as it would without us.  A fault comes again as soon as the
 * handler has returned.  A signal that somebody sent does not, so it is raised again. */
static void fall_back(int signal_number, bool is_fault)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    (void)sigaction(signal_number, &action, NULL);
    if (!is_fault) (void)raise(signal_number);
}

static void call_before(int signal_number, siginfo_t *info, void *context)
{
    const bool tells = (before.sa_flags & SA_SIGINFO) != 0;
    sigset_t mask, bus;
    /* ORDER relaxed: a flag by itself. */
    if (((unsigned)before.sa_flags & (unsigned)SA_RESETHAND) != 0 &&
        __atomic_exchange_n(&is_before_spent, true, __ATOMIC_RELAXED)) {
        fall_back(signal_number, info->si_code > 0);
        return;
    }
    (void)pthread_sigmask(SIG_BLOCK, &before.sa_mask, &mask);
    if (before.sa_flags & SA_NODEFER) {
        (void)sigemptyset(&bus);
        (void)sigaddset(&bus, signal_number);
        (void)pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
    }
    if (tells)
        before.sa_sigaction(signal_number, info, context);
    else
        before.sa_handler(signal_number);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    const bool is_fault = info->si_code > 0;
    const bool is_plain = (before.sa_flags & SA_SIGINFO) == 0;
    if (is_fault && tamis_sigbus_mend(info->si_addr)) return;
    if (is_plain && before.sa_handler == SIG_IGN && !is_fault) return;
    /* The kernel ignores no fault, either. */
    if (is_plain && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))
        fall_back(signal_number, is_fault);
    else
        call_before(signal_number, info, context);
}

/* ---- The table ------------------------------------------------------------------------------- */

TAMIS_API void tamis_sigbus_leave(void)
{
    __atomic_store_n(&forbidden, true, __ATOMIC_RELAXED); /* ORDER: before the first opening */
}

static void install_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (__atomic_load_n(&forbidden, __ATOMIC_RELAXED)) return;
    /* What was there is known before the handler can be called. */
    if (sigaction(SIGBUS, NULL, &before) != 0) return;
    (void)sigemptyset(&action.sa_mask);
    action.sa_flags |= before.sa_flags & SA_RESTART;
    (void)sigaction(SIGBUS, &action, NULL);
}

static struct tamis__guard *claim(struct block *block)
{
    for (size_t i = 0; i < BLOCK_ENTRIES; i++) {
        uintptr_t unused = 0; /* ORDER acquire: pairs with tamis__guard_remove */
        if (__atomic_load_n(&block->entries[i].start, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&block->entries[i].start, &unused, CLAIMED, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return &block->entries[i];
    }
    return NULL;
}

/* Returns the block behind this one, and adds it if there is none.  Another thread may
 * have added it. */
static struct block *next_block(struct block *block)
{
    struct block *next = __atomic_load_n(&block->next, __ATOMIC_ACQUIRE), *none = NULL;
    if (next != NULL) return next;
    next = calloc(1, sizeof *next);
    if (next == NULL) return NULL;
    /* ORDER release: see find_guard(). */
    if (__atomic_compare_exchange_n(&block->next, &none, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return next;
    free(next);
    return none;
}

struct tamis__guard *tamis__guard_add(void *map, uint64_t bytes, bool writable)
{
    (void)pthread_once(&install_once, install_handler);
    for (struct block *block = &first_block; block != NULL; block = next_block(block)) {
        struct tamis__guard *entry = claim(block);
        if (entry == NULL) continue;
        __atomic_store_n(&entry->bytes, bytes, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->kept, NULL, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->broken, false, __ATOMIC_RELAXED);
        entry->writable = writable;
        __atomic_store_n(&entry->start, (uintptr_t)map,
                         __ATOMIC_RELEASE); /* ORDER: see find_guard() */
        return entry;
    }
    return NULL;
}

struct tamis__guard *tamis__guard_of(const void *map)
{
    for (struct block *block = &first_block; block != NULL;
         block = __atomic_load_n(&block->next, __ATOMIC_ACQUIRE))
        for (size_t i = 0; i < BLOCK_ENTRIES; i++)
            if (__atomic_load_n(&block->entries[i].start, __ATOMIC_ACQUIRE) == (uintptr_t)map)
                return &block->entries[i];
    return NULL;
}

void tamis__guard_keep(struct tamis__guard *guard, const void *kept)
{
    __atomic_store_n(&guard->kept, kept, __ATOMIC_RELEASE); /* ORDER: its bytes before it */
}

void tamis__guard_remove(struct tamis__guard *guard)
{
    /* ORDER release: all that was done with the entry comes before another thread takes it. */
    if (guard != NULL) __atomic_store_n(&guard->start, 0, __ATOMIC_RELEASE);
}

bool tamis__guard_is_broken(const struct tamis__guard *guard)
{
    tamis__guard_fence();
    return guard != NULL && __atomic_load_n(&guard->broken, __ATOMIC_ACQUIRE);
}

void tamis__guard_all(bool *broken)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    all_faults = broken;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
