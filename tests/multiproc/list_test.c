/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_test.c: listing 500 filters reads the catalog only; the live list each segment once.
 *
 * The io hook sees every file that the library opens: while listing, none but the catalog and its
 * lock.  bench_list has the times with 10,000 filters.  Seen to fail: with a tamis__open_segment in
 * the list_one() of tamis_store_list().
 */
#include <stdio.h>

#include "fixture.h"
#include "os/io.h"

#define FILTERS 500u
#define USED 20u /* one in so many has a key */

static unsigned opened_others;

static int watch(const char *verb, const char *what)
{
    if (strcmp(verb, "open") == 0 && strstr(what, "/catalog.") == NULL) opened_others++;
    return 0;
}

struct listed {
    unsigned count;
    uint64_t items;
    char last[TAMIS_NAME_MAX + 1];
};

static int note(void *context, const struct tamis_filter_stat *stat)
{
    struct listed *listed = context;
    assert_true(strcmp(stat->name, listed->last) > 0); /* sorted */
    (void)snprintf(listed->last, sizeof listed->last, "%s", stat->name);
    listed->count++;
    listed->items += stat->items;
    return 0;
}

typedef int list_calls(tamis_store *store, const char *prefix, tamis_list_fn *fn, void *context);

/* Returns how many files the call opened, the catalog and its lock left out. */
static unsigned list_all(tamis_store *store, list_calls *list)
{
    struct listed listed = {0};
    opened_others = 0;
    tamis__io_hook = watch;
    assert_int_equal(list(store, NULL, note, &listed), 0);
    tamis__io_hook = NULL;
    assert_int_equal(listed.count, FILTERS);
    assert_int_equal(listed.items, FILTERS / USED);
    return opened_others;
}

CASE(list_of_many_filters_opens_no_segment)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 1000, .on_full = TAMIS_ON_FULL_WARN};
    AUTO_STORE *store = fixture_open(scratch_directory(), TAMIS_OPEN_CREATE);
    for (unsigned i = 0; i < FILTERS; i++) {
        char name[32];
        tamis_filter *filter;
        (void)snprintf(name, sizeof name, "filter-%05u", i);
        assert_int_equal(tamis_filter_create(store, name, &spec, i % USED ? NULL : &filter), 0);
        if (i % USED != 0) continue;
        assert_true(tamis_filter_add(filter, &i, sizeof i) == 1); /* so that there is a rate */
        assert_int_equal(tamis_filter_close(filter), 0);
    }
    assert_int_equal(list_all(store, tamis_store_list), 0);
    assert_int_equal(list_all(store, tamis_store_list_live), FILTERS);
}

CASES_PREPARE
{
    scratch_in_memory();
}
