/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_test.c: listing 10,000 filters reads the catalog only; the live list each segment once.
 *
 * The io hook sees every file that the library opens: while listing, none but the catalog and its
 * lock. The times are printed, the least of five; docs/decisions/0002 has what they were.  Seen to
 * fail: with a tamis__open_segment in store.c's list_one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "file/io.h"
#include "scratch.h"
#include "tamis.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FILTERS 500u
#else
#define FILTERS 10000u
#endif
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

static double list_ms(tamis_store *store, list_calls *list, struct listed *listed)
{
    struct timespec start, end;
    *listed = (struct listed){0};
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(list(store, NULL, note, listed), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
}

static void list_five_times(tamis_store *store, list_calls *list, const char *what)
{
    struct listed listed;
    opened_others = 0;
    tamis__io_hook = watch;
    double least = list_ms(store, list, &listed);
    for (unsigned run = 1; run < 5; run++) {
        const double ms = list_ms(store, list, &listed);
        if (ms < least) least = ms;
    }
    tamis__io_hook = NULL;
    printf("%s of %u filters: %.1f ms\n", what, listed.count, least);
    assert_int_equal(listed.count, FILTERS);
    assert_int_equal(listed.items, FILTERS / USED);
}

static void list_of_ten_thousand_filters_opens_no_segment(void **state)
{
    (void)state;
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 1000, .on_full = TAMIS_ON_FULL_WARN};
    tamis_store *store;
    assert_int_equal(tamis_store_open(scratch_directory(), TAMIS_CREATE, &store), 0);
    for (unsigned i = 0; i < FILTERS; i++) {
        char name[32];
        tamis_filter *filter;
        (void)snprintf(name, sizeof name, "filter-%05u", i);
        assert_int_equal(tamis_filter_create(store, name, &spec, i % USED ? NULL : &filter), 0);
        if (i % USED != 0) continue;
        assert_true(tamis_filter_add(filter, &i, sizeof i) == 1); /* so that there is a rate */
        assert_int_equal(tamis_filter_close(filter), 0);
    }
    list_five_times(store, tamis_store_list, "list");
    assert_int_equal(opened_others, 0);
    list_five_times(store, tamis_store_list_live, "live list");
    assert_int_equal(opened_others, 5 * FILTERS);
    tamis_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_of_ten_thousand_filters_opens_no_segment),
    };
    scratch_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
