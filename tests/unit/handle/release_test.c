/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A handle that is given back at once, and the numbers of the descriptors that handles keep.
 *
 * Broken to see it fail: a release that was a close; one that removed the log of a durable filter;
 * a descriptor that stayed at the number which the system gave it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fixture.h"
#include "hooks.h"
#include "os/io.h"
#include "segment/mark.h"

static const uint8_t other_boot[16] = "another boot...";

static unsigned syncs; /* of anything */

static int count_syncs(const char *verb, const char *what)
{
    (void)what;
    if (strstr(verb, "sync") != NULL || strcmp(verb, "write") == 0) syncs++;
    return 0;
}

static int keep_stat(void *context, const struct tamis_filter_stat *stat)
{
    *(struct tamis_filter_stat *)context = *stat;
    return 0;
}

static uint64_t recorded_items(tamis_store *store)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    assert_done(tamis_store_list(store, NULL, keep_stat, &stat));
    return stat.items;
}

STORE_CASE(release_writes_nothing_and_loses_nothing)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    syncs = 0;
    tamis__io_hook = count_syncs;
    tamis_filter_release(filter);
    tamis__io_hook = NULL;
    assert_int_equal(syncs, 0);
    assert_int_equal(recorded_items(store), 0);
    const struct tamis__segment_header header = fixture_header_of(fixture_segment_path(path, 1));
    assert_true((header.live.mark & TAMIS__MARK_DIRTY) != 0);
    filter = fixture_opened(store, "x", 0);
    assert_int_equal(tamis_filter_contains(filter, "key", 3), 1);
    assert_done(tamis_filter_sync(filter)); /* the checkpoint that the release has left */
    assert_int_equal(recorded_items(store), 1);
    tamis_filter_release(filter);
    assert_int_equal(fixture_header_of(fixture_segment_path(path, 1)).live.mark & TAMIS__MARK_DIRTY,
                     0);
    tamis_filter_release(NULL);
}

STORE_CASE(release_then_a_power_cut_leaves_the_filter_unclean)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    tamis_filter_release(filter);
    tamis__boot_hook = other_boot;
    filter = fixture_opened(store, "x", 0);
    assert_int_equal(fixture_stat(filter).state & TAMIS_STATE_UNCLEAN, TAMIS_STATE_UNCLEAN);
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = NULL;
}

STORE_CASE(release_of_a_durable_filter_leaves_its_log)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 1000, .fp_rate = 0.01, .flags = TAMIS_FILTER_DURABLE};
    tamis_filter *filter = NULL;
    assert_done(tamis_filter_create(store, "x", &spec, &filter));
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    tamis_filter_release(filter);
    /* The power cut loses the page of the key, and the log brings it back. */
    const struct tamis__segment_header header = fixture_header_of(fixture_segment_path(path, 1));
    unsigned char *zeros = calloc(1, header.data_bytes);
    assert_non_null(zeros);
    fixture_poke(fixture_segment_path(path, 1), header.data_offset, zeros, header.data_bytes);
    free(zeros);
    tamis__boot_hook = other_boot;
    filter = fixture_opened(store, "x", 0);
    assert_int_equal(tamis_filter_contains(filter, "key", 3), 1);
    assert_done(tamis_filter_close(filter));
    tamis__boot_hook = NULL;
}

STORE_CASE(release_of_a_dropped_filter_is_the_end_of_it)
{
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    assert_done(tamis_filter_drop(store, "x"));
    tamis_filter_release(filter);
    assert_int_equal(access(fixture_segment_path(path, 1), F_OK), -1);
}

/* ---- Numbers of descriptors ------------------------------------------------------------------ */

#define LEAST 700

/* The descriptors of this process from LEAST on. */
static unsigned high_ones(void)
{
    unsigned count = 0;
    for (int fd = LEAST; fd < LEAST + 100; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

STORE_CASE(descriptors_get_numbers_from_the_least_on)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(limit.rlim_cur > LEAST + 100);
    assert_done(tamis_descriptors_set_least(LEAST));
    AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
    assert_int_equal(high_ones(), 0);
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    assert_int_equal(high_ones(), 1);
    assert_true((fcntl(LEAST, F_GETFD) & FD_CLOEXEC) != 0);
    tamis_filter_release(filter);
    filter = fixture_opened(store, "x", 0);
    assert_int_equal(high_ones(), 0);
    /* Where the system has no such numbers, any will do. */
    const struct rlimit low = {.rlim_cur = LEAST - 1, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(tamis_filter_add(filter, "other", 5), 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(tamis_descriptors_set_least(-1), TAMIS_EINVAL);
    assert_done(tamis_descriptors_set_least(0));
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
