/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * populate_test.c: TAMIS_OPEN_POPULATE: the filter is in memory and in the page tables before it is
 * asked (store/segment/populate.c), and not a page of it is dirty.
 *
 * Seen to fail: with the flag ignored; with what a rotation brings not populated; with
 * MADV_POPULATE_WRITE (all is dirty); without tamis__want_map() (2 MiB folios under what is added
 * to); with the fallback left out.
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hooks.h"
#include "numbers.h"
#include "os/io.h"
#include "smaps.h"

#define MIB ((uint64_t)1 << 20)
#define DATA_BYTES (64 * MIB) /* 16,384 pages */
#define KEYS 40000u           /* so that some key is on nine pages of ten */
#define FEW 20                /* faults of all that is not the mapping */
#define MANY 800 /* the kernel maps up to 16 pages around a fault: 1,024 for the file at least */

static tamis_store *store;
static char *store_path;

static tamis_filter *make(const char *name, uint32_t slices)
{
    const struct tamis_filter_spec window = {
        .size = sizeof window, .capacity = 120000000, .slices = slices, .window_items = 120000000};
    return fixture_create(store, name, slices ? &window : SPEC(.m_bits = DATA_BYTES * 8, .k = 1));
}

static tamis_filter *opened(const char *name, unsigned flags)
{
    return fixture_opened(store, name, flags);
}

static uint64_t dirty_kib(void)
{
    return smaps_kib("Shared_Dirty") + smaps_kib("Private_Dirty");
}

/* Page faults of asking for keys on all pages; under a sanitizer, whose memory has faults too,
 * pages mapped. */
static uint64_t faults_of_batch(tamis_filter *filter)
{
    static uint64_t numbers[KEYS];
    static struct tamis_key keys[KEYS];
    struct rusage before, after;
    numbers_from(0, KEYS, numbers, keys);
    const uint64_t mapped = smaps_kib("Rss");
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_done(tamis_filter_contains_batch(filter, keys, KEYS, NULL));
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    if (FIXTURE_SANITIZED) return (smaps_kib("Rss") - mapped) / 4;
    return (uint64_t)(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt);
}

static void forget_pages(uint64_t number)
{
    const int fd = open(fixture_segment_path(store_path, number), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && fsync(fd) == 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(close(fd), 0);
}

CASES_PREPARE
{
    scratch_on_disk();
    store = fixture_store(&store_path);
    AUTO_FILTER *filter = make("x", 0);
    (void)faults_of_batch(filter); /* first calls have faults of their own */
}

static void asked_without_a_fault(unsigned flags)
{
    AUTO_FILTER *filter = opened("x", flags);
    assert_true(faults_of_batch(filter) >= MANY);
    assert_done(tamis_filter_close(filter));
    filter = opened("x", flags | TAMIS_OPEN_POPULATE);
    assert_true(smaps_kib("Rss") >= DATA_BYTES / 1024);
    assert_true(faults_of_batch(filter) <= FEW);
}

CASE(reader_asks_without_a_fault)
{
    asked_without_a_fault(TAMIS_OPEN_READ_ONLY);
}

CASE(writer_asks_without_a_fault)
{
    asked_without_a_fault(0);
}

CASE(nothing_is_dirty_before_an_add)
{
    AUTO_FILTER *filter = opened("x", TAMIS_OPEN_POPULATE);
    assert_int_equal(dirty_kib(), 0);
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    assert_true(dirty_kib() > 0 && dirty_kib() < 1024);
}

/* What is added to has small folios, however it came (docs/decisions/0015-small-folios.md). */
CASE(pages_come_one_by_one)
{
    forget_pages(1);
    AUTO_FILTER *filter = opened("x", TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_POPULATE);
    assert_int_equal(smaps_kib("FilePmdMapped"), 0);
    assert_true(faults_of_batch(filter) <= FEW);
}

CASE(segment_that_comes_later_is_populated)
{
    tamis_filter *writer = make("w", 2),
                 *asked = opened("w", TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_POPULATE);
    const uint64_t first_kib = smaps_kib("Rss");
    assert_done(tamis_filter_rotate(writer));
    assert_done(tamis_filter_contains(writer, "key", 3)); /* which did not ask for that */
    assert_true(smaps_kib("Rss") < first_kib + DATA_BYTES / 1024 / 2);
    assert_done(tamis_filter_contains(asked, "key", 3)); /* finds it */
    assert_true(smaps_kib("Rss") >= first_kib + DATA_BYTES / 1024);
    assert_true(faults_of_batch(asked) <= FEW);
    assert_done(tamis_filter_close(asked));
    assert_done(tamis_filter_close(writer));
    assert_done(tamis_filter_drop(store, "w"));
}

CASE(kernel_without_it_is_made_up_for)
{
    hooks_fail_calls("populate", EINVAL);
    asked_without_a_fault(TAMIS_OPEN_READ_ONLY);
    tamis__io_hook = NULL;
}

CASE(error_is_one_of_the_opening)
{
    AUTO_FILTER *filter = NULL;
    hooks_fail_calls("populate", EFAULT);
    assert_refused(TAMIS_EIO, "could not be read into memory: the disk fails",
                   tamis_filter_open(store, "x", TAMIS_OPEN_POPULATE, &filter));
    assert_null(filter);
    hooks_fail_calls("populate", ENOMEM);
    assert_refused(
        TAMIS_ENOMEM, "cannot read into memory",
        tamis_filter_open(store, "x", TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_POPULATE, &filter));
    assert_null(filter);
    assert_done(
        tamis_filter_open(store, "x", TAMIS_OPEN_READ_ONLY, &filter)); /* asks for nothing */
    tamis__io_hook = NULL;
    assert_int_equal(tamis_filter_contains(filter, "key", 3), 1);
}

/* Seen to fail where the result of populating what comes later was that of the call. */
CASE(error_later_is_none_of_calls_that_need_no_page)
{
    tamis_filter *writer = make("v", 2),
                 *asked = opened("v", TAMIS_OPEN_READ_ONLY | TAMIS_OPEN_POPULATE);
    assert_done(tamis_filter_add(writer, "old", 3) < 0);
    assert_done(tamis_filter_rotate(writer));
    hooks_fail_calls("populate", EFAULT);
    assert_int_equal(tamis_filter_contains(asked, "old", 3), 1);
    tamis__io_hook = NULL;
    assert_done(tamis_filter_close(asked));
    assert_done(tamis_filter_close(writer));
    assert_done(tamis_filter_drop(store, "v"));
}
