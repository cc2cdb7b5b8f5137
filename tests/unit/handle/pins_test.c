/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins_test.c: a call that works on a list for long keeps it mapped, also when the handle goes on
 * to another list meanwhile.
 *
 * Broken to see it fail: tamis__view_reclaim() does not look at pins; the export read pages that
 * were unmapped (SIGSEGV).
 */
#include "keys.h"

#include "base/point.h"
#include "editions.h"
#include "streams.h"

#define KEYS 200000u

static tamis_store *live_store;
static tamis_filter *open_filter;
static struct tamis_sink inner;
static unsigned exchanged;

/* The list goes, and the handle has left it, before the first bytes are taken. */
static int exchange_then_write(void *context, const void *data, size_t bytes)
{
    uint64_t key = KEYS;
    if (exchanged++ == 0) {
        assert_done(editions_publish(live_store, "list", KEYS, KEYS, NULL, NULL));
        assert_int_equal(tamis_filter_contains(open_filter, &key, sizeof key), 1);
    }
    return inner.write(context, data, bytes);
}

STORE_CASE(export_of_a_list_that_is_replaced_has_that_list)
{
    struct stream whole = stream_of(NULL, 0), beside = stream_of(NULL, 0);
    assert_done(editions_publish(store, "list", 0, KEYS, NULL, NULL));
    AUTO_FILTER *filter = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    struct tamis_sink sink = stream_sink(&whole);
    assert_done(tamis_filter_export(filter, "tamis", 0, &sink));
    live_store = store;
    open_filter = filter;
    sink = inner = stream_sink(&beside);
    sink.write = exchange_then_write;
    assert_done(tamis_filter_export(filter, "tamis", 0, &sink));
    assert_true(exchanged >= 2);
    assert_int_equal(beside.bytes, whole.bytes);
    assert_memory_equal(beside.data, whole.data, whole.bytes);
    stream_free(&whole);
    stream_free(&beside);
}
