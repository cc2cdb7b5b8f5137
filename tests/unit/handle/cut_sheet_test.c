/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cut_sheet_test.c: a drawer is cut within the page of a filter that was empty when it was opened.
 *
 * A process opens the filter, or gets a light handle of it; another one adds a key; then the file
 * is cut where the bits of the sheet begin.  The key is an error from then on, and never absent:
 * the page reads as zeros, without a fault.
 */
#include <signal.h>
#include <unistd.h>

#include "fixture.h"
#include "segment/sheet.h"
#include "tamis_keys.h"

static const unsigned key = 7;

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    if (!tamis_sigbus_mend(info->si_addr)) _exit(99);
}

/* In a child, as cmocka handles SIGBUS itself here. */
static tamis_store *begin(void *path)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    (void)sigaction(SIGBUS, &action, NULL);
    return fixture_open(path, 0);
}

/* Adds the key by another handle, and cuts the file. */
static void add_and_cut(tamis_store *store, const char *path)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    tamis_filter *other = NULL;
    if (tamis_filter_open(store, "f", 0, &other) < 0) _exit(2);
    if (tamis_filter_add(other, &key, sizeof key) != 1) _exit(3);
    if (tamis_filter_segment(other, 0, &segment) < 0) _exit(4);
    const uint64_t cut = tamis__sheet_offset(segment.number) + sizeof(struct tamis__sheet);
    if (truncate(fixture_segment_path(path, segment.number), (off_t)cut) != 0) _exit(5);
}

static void look_by_handle(void *path)
{
    tamis_filter *filter = NULL;
    tamis_store *store = begin(path);
    if (tamis_filter_open(store, "f", 0, &filter) < 0) _exit(6);
    if (tamis_filter_contains(filter, &key, sizeof key) != 0) _exit(7);
    add_and_cut(store, path);
    if (tamis_filter_contains(filter, &key, sizeof key) != TAMIS_ECORRUPT) _exit(8);
    if (strstr(tamis_last_error(), "truncated") == NULL) _exit(9);
    _exit(0);
}

static void make_empty(tamis_store *store)
{
    assert_done(tamis_filter_create(
        store, "f", SPEC(.capacity = 100, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER), NULL));
}

/* Seen to fail (8) without is_cut(). */
STORE_CASE(cut_sheets_that_were_empty_are_told)
{
    make_empty(store);
    assert_int_equal(fixture_child(look_by_handle, path), 0);
}

static int ask(tamis_cabinet *cabinet, const struct tamis_light *light)
{
    const struct tamis_key asked = {.data = &key, .bytes = sizeof key};
    uint8_t answer = 0;
    const int rc = tamis_light_ask(cabinet, light, &asked, 1, &answer);
    return rc == 1 ? answer : -1;
}

static void look_by_light(void *path)
{
    struct tamis_light light;
    tamis_cabinet *cabinet = NULL;
    tamis_store *store = begin(path);
    if (tamis_cabinet_open(store, 8, &cabinet) < 0) _exit(6);
    if (tamis_light_find(cabinet, "f", 0, &light) != 1) _exit(7);
    if (ask(cabinet, &light) != 0) _exit(8);
    add_and_cut(store, path);
    if (ask(cabinet, &light) != -1) _exit(9);
    _exit(0);
}

/* Seen to fail (9) without has_end(). */
STORE_CASE(cut_sheets_have_no_light_answers)
{
    make_empty(store);
    assert_int_equal(fixture_child(look_by_light, path), 0);
}

/* A filter that stays empty is asked, and one that gets keys by this handle. */
STORE_CASE(cut_sheets_are_not_those_that_are_whole)
{
    make_empty(store);
    AUTO_FILTER *filter = fixture_opened(store, "f", 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 0);
    assert_int_equal(tamis_filter_add(filter, &key, sizeof key), 1);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
}
