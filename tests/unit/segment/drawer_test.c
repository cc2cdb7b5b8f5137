/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small filters that share files (segment/sheet.h).
 *
 * Broken to see it fail: a stripe of 64 bytes, which counts into the name; a byte of writers that
 * all sheets of a drawer share; a sheet that is given again after its filter was dropped; a
 * drawer that goes with its first sheet; a sheet that stays when its commit has failed; numbers in
 * the order of their size, so that a sheet is newer than what its filter grew into; a copy that
 * loses the name; filters dropped together whose sheets all count as those of the drawer that was
 * at hand first.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "hooks.h"
#include "os/io.h"
#include "repairs.h"
#include "segment/points.h"
#include "segment/sheet.h"

#define MANY 600u /* more than a drawer of sheets of 512 bytes has */
#define NEIGHBOURS 8u
#define CUT 40u /* so many sheets are not all in one page */

static const uint8_t other_boot[16] = "another boot...";

static const char *name_of(unsigned i)
{
    static char name[32];
    (void)snprintf(name, sizeof name, "host/%04u", i);
    return name;
}

static void make_small(tamis_store *store, unsigned i)
{
    assert_done(tamis_filter_create(
        store, name_of(i), SPEC(.capacity = 100, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
        NULL));
}

static void add_to(tamis_filter *filter, unsigned first, unsigned count)
{
    for (unsigned key = first; key < first + count; key++)
        assert_done(tamis_filter_add(filter, &key, sizeof key));
}

static void assert_has(tamis_filter *filter, unsigned first, unsigned count)
{
    for (unsigned key = first; key < first + count; key++)
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
}

/* Of many filters most are empty, as each first key waits for the disk. */
static unsigned keys_of(unsigned i)
{
    return i < CUT || i % 16 == 0 ? i % 90 : 0;
}

static void make_many(tamis_store *store, unsigned count)
{
    static char names[MANY][32];
    const char *list[MANY] = {NULL};
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s", name_of(i));
        list[i] = names[i];
    }
    assert_int_equal(tamis_filter_create_many(
                         store, list, count,
                         SPEC(.capacity = 100, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
                         0),
                     count);
    for (unsigned i = 0; i < count; i++) {
        if (keys_of(i) == 0) continue;
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
        add_to(filter, i, keys_of(i));
    }
}

static void assert_many(tamis_store *store, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), TAMIS_READ_ONLY);
        assert_has(filter, i, keys_of(i));
        assert_in_range(tamis_filter_items(filter), keys_of(i) ? keys_of(i) - 1 : 0, keys_of(i));
    }
}

static uint64_t number_of(tamis_store *store, unsigned i)
{
    AUTO_FILTER *filter = fixture_opened(store, name_of(i), TAMIS_READ_ONLY);
    return fixture_segment_stat(filter, 0).number;
}

/* ---- What a filter does ---------------------------------------------------------------------- */

STORE_CASE(drawers_hold_many_filters_and_each_keeps_its_keys)
{
    make_many(store, MANY);
    assert_many(store, 0, MANY);
    assert_int_equal(fixture_files(path, "segments"), 2);
    assert_int_equal(fixture_problems(path), 0);
    AUTO_STORE *again = fixture_open(path, 0);
    assert_many(again, 0, MANY);
    for (unsigned i = 1; i < MANY; i++)
        assert_true(number_of(again, i) != number_of(again, i - 1));
}

/* A segment of the default kind in a sheet of 512 bytes, whose name is not longer than most are. */
STORE_CASE(drawers_have_512_bytes_for_100_keys_at_a_hundredth)
{
    static const struct {
        const char *name;
        uint64_t capacity;
        double fp_rate;
        uint32_t kind;
        uint64_t bytes;
        uint32_t k; /* as that of what it grows into, where the bits suffice */
    } cases[] = {
        {"user:0000001", 100, 0.01, TAMIS_KIND_DEFAULT, 512, 8},
        {"a name with as many bytes as the sheet has for", 100, 0.01, TAMIS_KIND_DEFAULT, 512, 8},
        {"a name with one byte more than the sheet has ro", 100, 0.01, TAMIS_KIND_DEFAULT, 1024, 8},
        {"bloom", 100, 0.01, TAMIS_KIND_BLOOM, 512, 10},
        {"few", 10, 0.001, TAMIS_KIND_DEFAULT, 512, 12},
        {"sharp", 100, 0.0001, TAMIS_KIND_DEFAULT, 1024, 12},
        {"many", 1000, 0.01, TAMIS_KIND_DEFAULT, 2048, 8},
        {"most", 2000, 0.01, TAMIS_KIND_DEFAULT, 4096, 8},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_done(
            tamis_filter_create(store, cases[i].name,
                                SPEC(.capacity = cases[i].capacity, .fp_rate = cases[i].fp_rate,
                                     .kind = cases[i].kind, .flags = TAMIS_FILTER_IN_DRAWER),
                                NULL));
        AUTO_FILTER *filter = fixture_opened(store, cases[i].name, 0);
        const struct tamis_segment_stat stat = fixture_segment_stat(filter, 0);
        assert_true(tamis__is_sheet(stat.number));
        assert_int_equal(tamis__class_bytes(tamis__sheet_class(stat.number)), cases[i].bytes);
        assert_int_equal(stat.k, cases[i].k);
        /* Half of the rate at most, so that growth has the other half. */
        assert_true(stat.fp_rate <= cases[i].fp_rate / 2);
        assert_true(tamis_predict_rate(stat.kind, stat.m_bits, stat.k, cases[i].capacity) <=
                    stat.fp_rate * (1 + 1e-9));
        assert_int_equal(stat.capacity, cases[i].capacity);
    }
    assert_int_equal(fixture_problems(path), 0);
}

/* Full ones, together and the worst.  The keys are the same in each run, and so are the answers. */
STORE_CASE(drawers_keep_the_rate_when_full)
{
    const unsigned filters = 100, strangers = 4000;
    unsigned all = 0, worst = 0;
    for (unsigned i = 0; i < filters; i++) {
        unsigned seen = 0;
        make_small(store, i);
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
        add_to(filter, i << 16, 100);
        assert_int_equal(fixture_stat(filter).segment_count, 1);
        for (unsigned key = 1000; key < 1000 + strangers; key++) {
            const unsigned stranger = i << 16 | key;
            seen += tamis_filter_contains(filter, &stranger, sizeof stranger) == 1;
        }
        all += seen;
        if (seen > worst) worst = seen;
    }
    /* 0.15 % is what the formula says of the bits, 1 % was asked for. */
    assert_in_range(all, filters * strangers / 1000, filters * strangers / 500);
    assert_in_range(worst, 1, strangers / 100);
}

/* The geometry of a sheet is that of no file, so who makes a filter like one says that too. */
STORE_CASE(drawers_filters_have_filters_like_them)
{
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    struct tamis_filter_spec like = {.size = sizeof like};
    make_many(store, 2);
    AUTO_FILTER *one = fixture_opened(store, name_of(1), 0);
    for (unsigned i = 0; i < 2; i++) {
        AUTO_FREE char *copy = strdup(i == 0 ? "like" : "merged and like");
        tamis_filter *from = one;
        if (i == 1) { /* in a file of its own, with the bits of a sheet */
            const struct tamis_merge merge = {.size = sizeof merge, .sources = &one, .count = 1};
            assert_done(tamis_filter_create_merged(store, "merged", &merge, &from));
            assert_false(tamis__is_sheet(fixture_segment_stat(from, 0).number));
        }
        assert_done(tamis_filter_like(from, &like, hash_set));
        assert_true((like.flags & TAMIS_FILTER_IN_DRAWER) != 0);
        assert_done(tamis_filter_create(store, copy, &like, NULL));
        AUTO_FILTER *to = fixture_opened(store, copy, 0);
        assert_done(tamis_filter_merge(to, &(struct tamis_merge){.size = sizeof(struct tamis_merge),
                                                                 .sources = &from,
                                                                 .count = 1}));
        assert_has(to, 1, keys_of(1));
        if (from != one) assert_done(tamis_filter_close(from));
    }
}

STORE_CASE(drawers_are_for_what_fits_and_for_who_asks)
{
    static const struct {
        struct tamis_filter_spec spec;
        bool in_drawer;
    } cases[] = {
        {SPEC_FIELD(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER), true},
        {SPEC_FIELD(.capacity = 100), false},
        {SPEC_FIELD(.capacity = 1000000, .flags = TAMIS_FILTER_IN_DRAWER), false},
        {SPEC_FIELD(.m_bits = 777, .k = 3, .flags = TAMIS_FILTER_IN_DRAWER), true},
        {SPEC_FIELD(.capacity = 100, .kind = TAMIS_KIND_COUNTING, .flags = TAMIS_FILTER_IN_DRAWER),
         false},
        {SPEC_FIELD(.capacity = 100, .window_ns = 10000000000, .flags = TAMIS_FILTER_IN_DRAWER),
         false},
        {SPEC_FIELD(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER | TAMIS_FILTER_DURABLE),
         false},
        {SPEC_FIELD(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER | TAMIS_FILTER_OWNED), true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_done(tamis_filter_create(store, name_of(i), &cases[i].spec, NULL));
        assert_int_equal(tamis__is_sheet(number_of(store, i)), cases[i].in_drawer);
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
        add_to(filter, 0, 50);
        assert_has(filter, 0, 50);
        assert_true((fixture_stat(filter).flags & TAMIS_FILTER_IN_DRAWER) == 0);
    }
    assert_int_equal(fixture_problems(path), 0);
}

STORE_CASE(drawers_are_grown_out_of)
{
    make_many(store, 3);
    AUTO_FILTER *filter = fixture_opened(store, name_of(1), 0);
    AUTO_FILTER *reader = fixture_opened(store, name_of(1), TAMIS_READ_ONLY);
    add_to(filter, 1000, 5000);
    assert_has(filter, 1000, 5000);
    assert_has(reader, 1000, 5000);
    assert_has(filter, 1, keys_of(1));
    const struct tamis_filter_stat stat = fixture_stat(filter);
    assert_true(stat.segment_count > 1);
    assert_true(tamis__is_sheet(fixture_segment_stat(filter, 0).number));
    assert_false(tamis__is_sheet(fixture_segment_stat(filter, 1).number));
    assert_done(tamis_filter_sync(filter));
    assert_int_equal(fixture_problems(path), 0);
    /* Also for who finds the segments without a catalog. */
    repairs_lose(path);
    repairs_assert_said(repairs_done(path, 0), 0, "it was missing");
    AUTO_STORE *again = fixture_open(path, 0);
    AUTO_FILTER *found = fixture_opened(again, name_of(1), 0);
    assert_int_equal(fixture_stat(found).segment_count, stat.segment_count);
    assert_has(found, 1000, 5000);
    assert_int_equal(fixture_problems(path), 0);
}

STORE_CASE(drawers_let_a_filter_refuse_when_it_is_full)
{
    unsigned key = 0;
    int rc;
    assert_done(tamis_filter_create(
        store, "x",
        SPEC(.capacity = 100, .on_full = TAMIS_ON_FULL_REFUSE, .flags = TAMIS_FILTER_IN_DRAWER),
        NULL));
    AUTO_FILTER *filter = fixture_opened(store, "x", 0);
    while ((rc = tamis_filter_add(filter, &key, sizeof key)) >= 0 && key < 1000)
        key++;
    assert_int_equal(rc, TAMIS_EFULL);
    assert_in_range(key, 100, 105);
    assert_has(filter, 0, key);
}

/* Adds keys of its own to each of the neighbours, and exits with how many calls have failed. */
static void add_to_all(void *context)
{
    const unsigned *part = context;
    unsigned failed = 0;
    tamis_store *store;
    tamis_filter *filters[NEIGHBOURS];
    for (unsigned i = 0; i < NEIGHBOURS; i++)
        filters[i] = NULL;
    failed += tamis_store_open(getenv("DRAWER_TEST_STORE"), 0, &store) < 0;
    for (unsigned i = 0; i < NEIGHBOURS; i++)
        failed += tamis_filter_open(store, name_of(i), 0, &filters[i]) < 0;
    for (unsigned key = 0; key < 20; key++)
        for (unsigned i = 0; i < NEIGHBOURS; i++) {
            const unsigned own = *part * 1000 + key;
            failed += tamis_filter_add(filters[i], &own, sizeof own) < 0;
        }
    for (unsigned i = 0; i < NEIGHBOURS; i++)
        failed += tamis_filter_close(filters[i]) < 0;
    tamis_store_close(store);
    _exit((int)failed);
}

STORE_CASE(drawers_neighbours_in_a_page_do_not_disturb_each_other)
{
    pid_t children[4];
    for (unsigned i = 0; i < NEIGHBOURS; i++)
        make_small(store, i);
    assert_int_equal(setenv("DRAWER_TEST_STORE", path, 1), 0);
    for (unsigned part = 0; part < 4; part++) {
        children[part] = fork();
        if (children[part] == 0) add_to_all(&part);
    }
    for (unsigned part = 0; part < 4; part++) {
        int status;
        assert_int_equal(waitpid(children[part], &status, 0), children[part]);
        assert_int_equal(status, 0);
    }
    for (unsigned i = 0; i < NEIGHBOURS; i++) {
        AUTO_FILTER *filter = fixture_opened(store, name_of(i), 0);
        for (unsigned part = 0; part < 4; part++)
            assert_has(filter, part * 1000, 20);
        assert_in_range(tamis_filter_items(filter), 78, 80);
    }
    assert_int_equal(fixture_problems(path), 0);
}

/* The byte of writers is each sheet's own: who closes one has synced all of it, though another
 * is written to. */
STORE_CASE(drawers_marks_are_of_one_filter)
{
    make_many(store, 2);
    AUTO_FILTER *open = fixture_opened(store, name_of(0), 0);
    add_to(open, 5000, 1);
    tamis_filter *other = fixture_opened(store, name_of(1), 0);
    add_to(other, 5000, 1);
    assert_done(tamis_filter_close(other));
    tamis__boot_hook = other_boot;
    AUTO_FILTER *again = fixture_opened(store, name_of(1), TAMIS_READ_ONLY);
    assert_int_equal(fixture_stat(again).unclean_since, 0);
    AUTO_FILTER *unclean = fixture_opened(store, name_of(0), TAMIS_READ_ONLY);
    assert_true(fixture_stat(unclean).unclean_since != 0);
    tamis__boot_hook = NULL;
}

/* ---- Names, copies, repairs ------------------------------------------------------------------ */

STORE_CASE(drawers_names_come_back_without_a_catalog)
{
    static const char *longer = "a name that is far longer than the sheet of a small filter holds";
    make_many(store, CUT);
    assert_done(tamis_filter_rename(store, name_of(7), "seven"));
    assert_done(tamis_filter_rename(store, name_of(8), longer));
    assert_int_equal(fixture_problems(path), 0);
    repairs_lose(path);
    repairs_assert_said(repairs_done(path, 0), 0, "it was missing");
    AUTO_STORE *again = fixture_open(path, 0);
    assert_many(again, 0, 7);
    assert_many(again, 9, CUT - 9);
    AUTO_FILTER *seven = fixture_opened(again, "seven", 0);
    assert_has(seven, 7, keys_of(7));
    make_small(again, CUT); /* in a drawer of its own */
    assert_true(tamis__sheet_drawer(number_of(again, CUT)) > 1);
    assert_int_equal(fixture_problems(path), 0);
    assert_int_equal(repairs_done(path, 0)->done, 0);
}

STORE_CASE(drawers_are_in_a_backup)
{
    AUTO_FREE char *copy = scratch_path("drawers.copy");
    make_many(store, MANY);
    assert_done(tamis_filter_drop(store, name_of(3)));
    assert_done(tamis_store_backup(store, copy, NULL, NULL));
    assert_int_equal(fixture_problems(copy), 0);
    AUTO_STORE *again = fixture_open(copy, 0);
    assert_many(again, 0, 3);
    assert_many(again, 4, MANY - 4);
    make_small(again, MANY);
    assert_int_equal(fixture_problems(copy), 0);
    scratch_remove(copy);
}

/* ---- What goes ------------------------------------------------------------------------------- */

STORE_CASE(drawers_go_with_their_last_filter_and_sheets_come_once)
{
    make_many(store, MANY);
    const uint64_t first = number_of(store, 0), last = number_of(store, MANY - 1);
    AUTO_FREE char *full = strdup(fixture_segment_path(path, first));
    for (unsigned i = 0; i < MANY; i++) {
        if (tamis__sheet_drawer(number_of(store, i)) != tamis__sheet_drawer(first)) break;
        assert_int_equal(access(full, F_OK), 0);
        assert_done(tamis_filter_drop(store, name_of(i)));
    }
    assert_int_equal(access(full, F_OK), -1);
    assert_done(tamis_filter_drop(store, name_of(MANY - 1)));
    assert_int_equal(access(fixture_segment_path(path, last), F_OK), 0);
    make_small(store, MANY);
    assert_int_equal(number_of(store, MANY), last + 1);
    assert_int_equal(fixture_problems(path), 0);
}

STORE_CASE(drawers_tell_open_handles_of_a_drop)
{
    const unsigned key = 1;
    make_many(store, 2);
    AUTO_FILTER *filter = fixture_opened(store, name_of(0), 0);
    add_to(filter, 0, 1);
    assert_done(tamis_filter_drop(store, name_of(0)));
    assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_add(filter, &key, sizeof key));
    make_small(store, 0);
    assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_add(filter, &key, sizeof key));
    assert_int_equal(tamis_filter_items(filter), 1);
}

STORE_CASE(drawers_go_when_their_filters_are_dropped_together)
{
    static char names[MANY][32];
    const char *list[MANY];
    const unsigned key = 1;
    make_many(store, MANY);
    const uint64_t first = number_of(store, 0), last = number_of(store, MANY - 1);
    AUTO_FREE char *full = strdup(fixture_segment_path(path, first));
    AUTO_FILTER *one = fixture_opened(store, name_of(7), 0);
    AUTO_FILTER *other = fixture_opened(store, name_of(MANY - 1), 0);
    for (unsigned i = 0; i < MANY; i++) { /* from both drawers by turns */
        (void)snprintf(names[i], sizeof names[i], "%s", name_of(i % 2 ? i : MANY - 2 - i));
        list[i] = names[i];
    }
    assert_int_equal(tamis_filter_drop_many(store, list, NULL, MANY), MANY);
    assert_int_equal(access(full, F_OK), -1);
    assert_int_equal(access(fixture_segment_path(path, last), F_OK), 0);
    assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_add(one, &key, sizeof key));
    assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_add(other, &key, sizeof key));
    make_small(store, MANY);
    assert_int_equal(number_of(store, MANY), last + 1);
    assert_int_equal(fixture_problems(path), 0);
}

static void die_making(void *context)
{
    tamis_store *store = fixture_open(context, 0);
    hooks_signal_at(TAMIS__POINT_RENAMED, SIGKILL, 0);
    make_small(store, 1);
}

STORE_CASE(drawers_forget_a_maker_that_died)
{
    make_small(store, 0);
    assert_int_equal(fixture_child(die_making, path), 256 + SIGKILL);
    assert_in_range(fixture_problems(path), 0, 1);
    make_small(store, 1);
    assert_int_equal(number_of(store, 1), number_of(store, 0) + 1);
    assert_int_equal(fixture_problems(path), 0);
}

STORE_CASE(drawers_repair_takes_back_what_was_being_made)
{
    make_small(store, 0);
    assert_int_equal(fixture_child(die_making, path), 256 + SIGKILL);
    repairs_assert_said(repairs_done(path, 0), 0, "it was being made by a process that died");
    assert_int_equal(repairs_done(path, 0)->done, 0);
    make_small(store, 1);
    assert_int_equal(number_of(store, 1), number_of(store, 0) + 1);
    assert_int_equal(fixture_problems(path), 0);
}

STORE_CASE(drawers_take_a_sheet_back_when_its_commit_fails)
{
    make_small(store, 0);
    hooks_fail_calls("fdatasync", EIO);
    assert_true(tamis_filter_create(store, name_of(1),
                                    SPEC(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER),
                                    NULL) < 0);
    assert_true(hooks_end());
    assert_int_equal(fixture_problems(path), 0);
    make_small(store, 1);
    assert_int_equal(number_of(store, 1), number_of(store, 0) + 1);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

STORE_CASE(drawers_damage_is_of_one_filter)
{
    static const uint64_t bad = 0x5555555555555555;
    const uint64_t live = offsetof(struct tamis__sheet, live);
    make_many(store, 4);
    const uint64_t number = number_of(store, 2);
    for (uint64_t at = 0; at < offsetof(struct tamis__sheet, name) + 8; at += 8) {
        uint64_t was;
        const uint64_t offset = tamis__sheet_offset(number) + at;
        fixture_peek(fixture_segment_path(path, number), offset, &was, sizeof was);
        if (at == offsetof(struct tamis__sheet, quota)) continue;
        if (at >= live && at < offsetof(struct tamis__sheet, items)) continue;
        fixture_poke(fixture_segment_path(path, number), offset, &bad, sizeof bad);
        if (at < live) {
            tamis_filter *filter = NULL;
            assert_true(tamis_filter_open(store, name_of(2), 0, &filter) < 0);
            if (strstr(tamis_last_error(), ".drw:") == NULL)
                fail_msg("no place in: %s", tamis_last_error());
            assert_null(filter);
        }
        assert_many(store, 0, 2);
        assert_many(store, 3, 1);
        assert_true(fixture_problems(path) > 0);
        fixture_poke(fixture_segment_path(path, number), offset, &was, sizeof was);
    }
    assert_many(store, 0, 4);
    assert_int_equal(fixture_problems(path), 0);
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    if (!tamis_sigbus_mend(info->si_addr)) _exit(99);
}

/* In a child, as cmocka handles SIGBUS itself here.  Exits with 0 if all is told. */
static void look_at_cut_drawer(void *context)
{
    const unsigned key = 1;
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    tamis_filter *open = NULL, *other = NULL;
    tamis_store *store = fixture_open(context, 0);
    (void)sigaction(SIGBUS, &action, NULL);
    if (tamis_filter_open(store, name_of(CUT - 1), 0, &open) < 0) _exit(2);
    const uint64_t number = number_of(store, CUT - 1);
    if (truncate(fixture_segment_path(context, number), 8192) != 0) _exit(3);
    if (tamis_filter_contains(open, &key, sizeof key) != TAMIS_ECORRUPT) _exit(4);
    if (strstr(tamis_last_error(), "truncated") == NULL) _exit(5);
    if (tamis_filter_open(store, name_of(CUT - 2), 0, &other) != TAMIS_ECORRUPT) _exit(6);
    if (strstr(tamis_last_error(), ".drw:") == NULL) _exit(7);
    _exit(0);
}

STORE_CASE(drawers_that_are_cut_are_told)
{
    make_many(store, CUT);
    assert_int_equal(fixture_child(look_at_cut_drawer, path), 0);
    assert_true(fixture_problems(path) > 0);
}

STORE_CASE(drawers_with_a_damaged_head_are_told_and_not_used)
{
    const uint64_t bad = 0x5555;
    make_many(store, 2);
    const uint64_t number = number_of(store, 0);
    fixture_poke(fixture_segment_path(path, number), 16, &bad, sizeof bad);
    assert_true(fixture_problems(path) > 0);
    assert_many(store, 0, 2); /* a sheet does not need the head */
}

STORE_CASE(drawers_of_another_name_are_passed_over)
{
    const char other[] = "something else";
    AUTO_FREE char *taken = strdup(fixture_join(path, "segments/0000000000000001.drw"));
    FILE *file = fopen(taken, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(other, sizeof other, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    make_many(store, 2);
    assert_int_equal(tamis__sheet_drawer(number_of(store, 0)), 2);
    assert_many(store, 0, 2);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

CASE(drawers_sheets_there_and_back)
{
    uint64_t random = 1;
    for (unsigned round = 0; round < 200; round++) {
        struct tamis__segment_header before, after;
        struct tamis__refusal refusal;
        uint64_t sheet[TAMIS__SHEET_BYTES_MAX / 8] = {0};
        uint32_t class = 9;
        fixture_header(&before, TAMIS_KIND_BLOOM, 64 * (1 + random_next(&random) % 300), 7);
        before.seed = 0;
        if (!tamis__sheet_fit(&before, "fixture", &class)) continue;
        assert_in_range(class, 0, TAMIS__SHEET_CLASSES - 1);
        assert_true(before.data_offset + before.data_bytes <= tamis__class_bytes(class));
        before.number = tamis__sheet_number(1 + round, class, tamis__class_first(class));
        before.live.granted = round;
        tamis__sheet_encode(&before, sheet);
        assert_int_equal(tamis__sheet_check(sheet, before.number, &refusal), 0);
        tamis__sheet_decode(sheet, &after);
        assert_memory_equal(&before.live, &after.live, sizeof before.live);
        assert_string_equal(tamis__label_current(&after)->name, "fixture");
        assert_int_equal(after.m_bits, before.m_bits);
        assert_int_equal(tamis__header_items(&after), tamis__header_items(&before));
        assert_int_equal(tamis__sheet_check(sheet, before.number + 1, &refusal), TAMIS_EFOREIGN);
        for (size_t bit = 0; bit < offsetof(struct tamis__sheet, live) * 8;
             bit += 37) { /* no flipped bit of the constants passes */
            ((uint8_t *)sheet)[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_true(tamis__sheet_check(sheet, before.number, &refusal) < 0);
            ((uint8_t *)sheet)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}
