/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark_races_test.c: a checkpoint beside those who write, and after a sync that failed: which
 * instant it may say that all is on the disk until, whose flights it may take off, which pages it
 * must write again.
 *
 * Broken to see it fail, as each case says, and as the mutants mark_* of tests/mutants do.
 */
#include "keys.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "handle/view.h"
#include "os/io.h"
#include "points.h"
#include "segment/mark.h"
#include "txn/store.h"

static const struct tamis__segment_header *newest_header(const tamis_filter *filter)
{
    return tamis__newest(filter->view)->segment.header;
}

/* ---- The time -------------------------------------------------------------------------------- */

static int64_t asked_at, done_at;

static void note_times(unsigned point)
{
    if (point == TAMIS__POINT_SYNC_ASKED) asked_at = tamis__now_ns();
    if (point != TAMIS__POINT_SYNC_DONE) return;
    while (done_at <= asked_at) /* some clocks stand still for a while */
        done_at = tamis__now_ns();
}

/* What another adds during the sync need not be on the disk after it, so `clean_until` is a time
 * before the sync.  (Broken: checkpoint() reads the clock after the sync.) */
STORE_CASE(clean_until_is_a_time_before_the_sync)
{
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(text_add(filter, 1), 1);
    tamis__point_hook = note_times;
    assert_done(tamis_filter_sync(filter));
    tamis__point_hook = NULL;
    assert_true(done_at > asked_at);
    assert_true(newest_header(filter)->live.clean_until <= asked_at);
}

/* ---- Flights --------------------------------------------------------------------------------- */

static tamis_filter *late;
static unsigned in_flight, may_land; /* atomic */
static pthread_t adder;

static void wait_until(const unsigned *word)
{
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
        (void)sched_yield();
}

static void *add_late(void *context)
{
    return text_add(late, 1) == 1 ? context : NULL;
}

/* A writer begins once the checkpoint has found that nobody writes, and stays in flight. */
static void begin_late(unsigned point)
{
    if (point == TAMIS__POINT_SYNC_ASKED && late != NULL && adder == 0) {
        assert_int_equal(pthread_create(&adder, NULL, add_late, &late), 0);
        wait_until(&in_flight);
    } else if (point == TAMIS__POINT_DURABLE_SET) {
        __atomic_store_n(&in_flight, 1, __ATOMIC_SEQ_CST);
        wait_until(&may_land);
    }
}

/* Its flight is not a dead one's.  (Broken: count_dead_flights() does not read the mark again; the
 * flight was taken off, and others would have answered SEEN for its key.) */
STORE_CASE(flight_that_begins_during_a_checkpoint_stays_counted)
{
    void *added = NULL;
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.capacity = 1000, .flags = TAMIS_FILTER_DURABLE));
    AUTO_FILTER *other = fixture_opened(store, "x", 0);
    late = other;
    tamis__point_hook = begin_late;
    assert_done(tamis_filter_sync(filter));
    assert_int_equal(__atomic_load_n(&newest_header(filter)->live.unlogged, __ATOMIC_SEQ_CST), 1);
    __atomic_store_n(&may_land, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(pthread_join(adder, &added), 0);
    tamis__point_hook = NULL;
    assert_non_null(added);
    assert_int_equal(__atomic_load_n(&newest_header(filter)->live.unlogged, __ATOMIC_SEQ_CST), 0);
}

/* ---- Boots ----------------------------------------------------------------------------------- */

static const uint8_t first_boot[16] = {1, 2, 3}, later_boot[16] = {1, 2, 3, [15] = 4};

/* (Broken: is_this_boot() compares the first half alone.) */
STORE_CASE(boots_that_differ_in_their_last_byte_are_two)
{
    AUTO_FREE char *copy = scratch_path("copy");
    tamis__boot_hook = first_boot;
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(text_add(filter, 1), 1);
    scratch_copy(path, copy); /* as the disk may be after a power cut */
    tamis__boot_hook = later_boot;
    AUTO_STORE *again = fixture_open(copy, 0);
    AUTO_FILTER *back = fixture_opened(again, "x", 0);
    assert_int_equal(fixture_stat(back).state, TAMIS_STATE_UNCLEAN);
    tamis__boot_hook = first_boot;
}

/* A writer that holds its lock is alive, so its boot is this one, whatever the mark says.  (Broken:
 * tamis__mark_recover() does not ask for writers; the mark was cleared under one.) */
STORE_CASE(segment_with_a_writer_is_not_recovered)
{
    tamis__boot_hook = first_boot;
    AUTO_FILTER *writer = fixture_filter(store, "x", 1000);
    assert_int_equal(text_add(writer, 1), 1);
    tamis__boot_hook = later_boot;
    assert_int_equal(tamis__mark_recover(&store->place, 1, false), 0);
    assert_false(tamis__mark_is_clean(&newest_header(writer)->live));
    tamis__boot_hook = first_boot;
}

/* (Broken: the later of two times is kept.) */
STORE_CASE(keys_are_missing_since_the_earliest_time)
{
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    assert_done(tamis__mark_miss(&store->place, 1, 200));
    assert_done(tamis__mark_miss(&store->place, 1, 100));
    assert_done(tamis__mark_miss(&store->place, 1, 300));
    assert_int_equal(tamis__unclean_since_of(&newest_header(filter)->live, 0), 100);
    tamis__boot_hook = NULL;
}

/* ---- Pages that could not be written --------------------------------------------------------- */

static char *pages;
static size_t page_count, page_bytes, touched;

/* Each page is written to once: the fault opens it again. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    char *at = info->si_addr;
    (void)signal_number;
    (void)context;
    if (at < pages || at >= pages + page_count * page_bytes) _exit(9);
    touched++;
    (void)mprotect(pages + (size_t)(at - pages) / page_bytes * page_bytes, page_bytes,
                   PROT_READ | PROT_WRITE);
}

static int close_pages(const char *verb, const char *what)
{
    (void)what;
    if (strcmp(verb, "msync") != 0) return 0;
    touched = 0;
    (void)mprotect(pages, page_count * page_bytes, PROT_READ);
    return EIO;
}

static size_t touched_before;

static int look_at_pages(const char *verb, const char *what)
{
    (void)what;
    if (strcmp(verb, "msync") == 0 && touched_before == 0) touched_before = touched;
    return 0;
}

/* The kernel takes a page that it could not write for clean, so it writes it again only if somebody
 * touches it.  A write from then on and one before the next sync: the kernel may try, and fail, by
 * itself in between.  (Broken: touch_pages() does nothing; or is not called by one of its two
 * callers.) */
STORE_CASE(pages_are_dirty_again_after_a_failed_sync)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    AUTO_FILTER *filter = fixture_filter(store, "x", 100000);
    assert_int_equal(text_add(filter, 1), 1);
    pages = (char *)(uintptr_t)newest_header(filter);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    page_count = (size_t)tamis__header_file_bytes(newest_header(filter)) / page_bytes;
    assert_true(page_count > 10);
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    tamis__io_hook = close_pages;
    assert_refused(TAMIS_EIO, "cannot write to the disk", tamis_filter_sync(filter));
    tamis__io_hook = NULL;
    assert_int_equal(touched, page_count);

    touched = 0;
    assert_int_equal(mprotect(pages, page_count * page_bytes, PROT_READ), 0);
    tamis__io_hook = look_at_pages;
    assert_done(tamis_filter_sync(filter));
    tamis__io_hook = NULL;
    assert_int_equal(touched_before, page_count);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}
