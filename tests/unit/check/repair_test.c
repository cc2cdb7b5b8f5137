/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair_test.c: a catalog that is lost is made anew from the segments (store/check/repair.c,
 * scan.c, rescue.c, rescue_filter.c).
 */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builds.h"
#include "catalogs.h"
#include "editions.h"
#include "numbers.h"
#include "repairs.h"
#include "riches.h"

#define ROUND 1000000u

/* ---- Nothing to do --------------------------------------------------------------------------- */

CASE(repair_of_a_sound_store_changes_nothing)
{
    AUTO_FREE char *path;
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    const int files = fixture_files(path, "segments");
    for (unsigned flags = 0; flags <= TAMIS_REPAIR_DRY_RUN; flags += TAMIS_REPAIR_DRY_RUN) {
        const struct repairs_said *said = repairs_done(path, flags);
        if (said->done + said->failed != 0) fail_msg("%s", said->text);
    }
    assert_int_equal(fixture_files(path, "segments"), files);
    riches_assert_portrait(path, before);
}

CASE(repair_of_what_is_no_store_is_refused)
{
    AUTO_FREE char *path = scratch_path("none");
    assert_refused(TAMIS_ENOSTORE, "there is no store at", tamis_store_repair(path, 0, NULL, NULL));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_refused(TAMIS_ENOSTORE, "neither a catalog nor segments",
                   tamis_store_repair(path, 0, NULL, NULL));
    assert_int_equal(fixture_files(path, "."), 0); /* and nothing was made there */
    assert_refused(TAMIS_EINVAL, "flags",
                   tamis_store_repair(path, TAMIS_OPEN_READ_ONLY, NULL, NULL));
}

/* ---- The catalog ----------------------------------------------------------------------------- */

static void truncate_it(const char *path)
{
    assert_int_equal(truncate(fixture_join(path, "catalog.mdb"), 5000), 0);
}

static void empty_it(const char *path)
{
    assert_int_equal(truncate(fixture_join(path, "catalog.mdb"), 0), 0);
}

/* A record that does not match its checksum, in a file whose pages are sound. */
static void flip_a_record(const char *path)
{
    const char *file = fixture_join(path, "catalog.mdb");
    const uint64_t bytes = fixture_size(file);
    AUTO_FREE unsigned char *all = malloc(bytes);
    assert_non_null(all);
    fixture_peek(file, 0, all, bytes);
    uint64_t flipped = 0;
    for (uint64_t at = 0; at + 5 < bytes; at++)
        if (memcmp(all + at, "fplain", 6) == 0) { /* every version of it: who knows which holds */
            all[at + 60] ^= 0x10;
            flipped++;
        }
    assert_true(flipped > 0);
    fixture_poke(file, 0, all, bytes);
}

/* Seen to fail with rank_of() reduced to the publication: `again` comes back with its second
 * generation. */
CASE(repair_makes_any_lost_catalog_anew)
{
    static void (*const damages[])(const char *) = {repairs_lose, truncate_it, empty_it,
                                                    repairs_zero, flip_a_record};
    AUTO_FREE char *path;
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        tamis_store *store;
        damages[i](path);
        assert_true(tamis_store_open(path, 0, &store) < 0 ||
                    tamis_store_verify(store, NULL, NULL, NULL) < 0);
        if (strstr(tamis_last_error(), "'tamis repair'") == NULL)
            fail_msg("no mend in: %s", tamis_last_error());
        if (i == 4) tamis_store_close(store);
        const struct repairs_said *said = repairs_done(path, 0);
        repairs_assert_said(said, 0, i == 0 ? "it was missing" : "is put aside in lost/");
        assert_int_equal(fixture_problems(path), 0);
        riches_assert_portrait(path, before);
        assert_int_equal(repairs_done(path, 0)->done, 0); /* and that was all */
    }
    assert_int_equal(access(fixture_join(path, "lost/catalog.mdb"), F_OK), 0);
    assert_int_equal(access(fixture_join(path, "lost/catalog.mdb.4"), F_OK), 0);
    assert_int_equal(tamis_store_lost(path, NULL, NULL), 4);
    assert_refused(TAMIS_EEXIST, "is an older catalog",
                   tamis_store_restore_lost(path, "catalog.mdb"));
}

CASE(repair_can_be_told_to_make_a_sound_catalog_anew)
{
    AUTO_FREE char *path;
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    repairs_assert_said(repairs_done(path, TAMIS_REPAIR_REBUILD), 0, "as it was asked for");
    riches_assert_portrait(path, before);
    assert_int_equal(fixture_problems(path), 0);
}

/* What the store can do afterwards is what it could before. */
CASE(repair_leaves_a_store_that_goes_on)
{
    AUTO_FREE char *path;
    const uint64_t key = 777;
    const struct tamis_key one = {&key, sizeof key};
    riches_make(&path);
    repairs_lose(path);
    (void)repairs_done(path, 0);
    tamis_store *store = fixture_open(path, 0);
    assert_done(tamis_filter_create(store, "after", SPEC(.capacity = 10), NULL));
    assert_int_equal(access(fixture_segment_path(path, ROUND), F_OK), 0);
    assert_done(tamis_filter_rollback(store, "list", 0));
    assert_done(tamis_filter_rollback(store, "static", 0));
    assert_done(tamis_filter_rollback(store, "back", 3));
    tamis_filter *filter = fixture_opened(store, "back", 0);
    const uint64_t in = 5050, out = 50;
    assert_int_equal(tamis_filter_contains(filter, &in, 8), 1);
    assert_int_equal(tamis_filter_contains(filter, &out, 8), 0);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(tamis_filter_unexcept(store, "list", &one, 1, NULL), 1);
    assert_done(tamis_filter_open(store, "window", 0, &filter));
    assert_done(tamis_filter_rotate(filter));
    assert_done(tamis_filter_close(filter));
    riches_publish_fuse(store, "static", 9000, 100);
    assert_done(tamis_filter_drop(store, "grown"));
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
}

/* Processes that have filters open go on with them across it. */
CASE(repair_is_followed_by_open_handles)
{
    AUTO_FREE char *path;
    riches_make(&path);
    AUTO_STORE *store = fixture_open(path, 0);
    tamis_filter *grown = fixture_opened(store, "grown", 0);
    AUTO_FILTER *plain = fixture_opened(store, "plain", 0);
    repairs_lose(path);
    assert_int_equal(keys_found(plain, 0, 100), 100);
    (void)repairs_done(path, 0);
    for (uint64_t key = 1000; key < 3000; key++) /* it grows */
        assert_done(tamis_filter_add(grown, &key, sizeof key));
    assert_int_equal(keys_found(grown, 1000, 3000), 2000);
    assert_done(tamis_filter_sync(plain));
    assert_done(tamis_filter_close(grown));
    assert_int_equal(fixture_problems(path), 0);
    assert_done(tamis_filter_drop(store, "plain"));
    assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_contains(plain, "k", 1));
}

/* An empty catalog over segments would make strangers of them. */
CASE(a_lost_catalog_is_not_made_by_opening)
{
    AUTO_FREE char *path;
    tamis_store *store;
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    repairs_lose(path);
    for (unsigned flags = 0; flags <= TAMIS_OPEN_CREATE; flags += TAMIS_OPEN_READ_ONLY)
        assert_refused(TAMIS_ECORRUPT, "'tamis repair' makes it anew from them",
                       tamis_store_open(path, flags, &store));
    assert_int_not_equal(access(fixture_join(path, "catalog.mdb"), F_OK), 0);
    (void)repairs_done(path, 0);
    riches_assert_portrait(path, before);
}

/* Growers and publishers that died before they could say what goes on after what.  Seen to fail
 * with list_before() taking the last list: what `back` has grown by goes to its kept generation. */
CASE(repair_goes_by_publications_where_no_segment_names_the_next)
{
    AUTO_FREE char *path;
    const uint64_t none = 0;
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    repairs_lose(path);
    for (uint64_t i = 1; i < 100; i++)
        if (access(fixture_segment_path(path, i), F_OK) == 0) {
            uint64_t next;
            const char *file = fixture_segment_path(path, i);
            fixture_peek(file, offsetof(struct tamis__segment_header, live.next), &next,
                         sizeof next);
            if (next != UINT64_MAX)
                fixture_poke(file, offsetof(struct tamis__segment_header, live.next), &none,
                             sizeof none);
        }
    (void)repairs_done(path, 0);
    riches_assert_portrait(path, before);
    assert_int_equal(fixture_problems(path), 0);
}

/* ---- Segments that are not sound, or not of the store ---------------------------------------- */

CASE(repair_leaves_damaged_and_foreign_segments_alone)
{
    AUTO_FREE char *path, *other;
    unsigned char byte;
    riches_make(&path);
    riches_make(&other);
    AUTO_FREE char *strange = strdup(fixture_segment_path(path, 500));
    scratch_copy(fixture_segment_path(other, 1), strange);
    const uint64_t number = 500;
    struct tamis__segment_header header = fixture_header_of(strange);
    header.number = number;
    header.store_id = 1; /* below ours, whose segments are more (broken: the first id is taken) */
    fixture_reseal(strange, &header);
    AUTO_FREE char *plain = strdup(fixture_segment_path(path, 1));
    fixture_peek(plain, 60, &byte, 1);
    byte ^= 1;
    fixture_poke(plain, 60, &byte, 1);
    AUTO_FREE char *notes = strdup(fixture_join(path, "segments/notes.txt"));
    scratch_copy(plain, notes);
    repairs_lose(path);
    const struct repairs_said *said = repairs_done(path, 0);
    repairs_assert_said(said, 3, "belongs to another store");
    repairs_assert_said(said, 3, "0000000000000001.seg: TAMIS_ECORRUPT: has a damaged header");
    repairs_assert_said(said, 3, "notes.txt: TAMIS_EFOREIGN: is not a segment's name");
    assert_int_equal(access(strange, F_OK) | access(plain, F_OK) | access(notes, F_OK), 0);
    AUTO_STORE *store = fixture_open(path, 0);
    AUTO_FILTER *filter;
    assert_refused(TAMIS_ENOTFOUND, "plain", tamis_filter_open(store, "plain", 0, &filter));
    byte ^= 1; /* restored, as it was told to */
    fixture_poke(plain, 60, &byte, 1);
    tamis_store_close(store);
    repairs_assert_said(repairs_done(path, TAMIS_REPAIR_REBUILD), 2, "[plain] catalog.mdb: done");
    store = fixture_open(path, 0);
    assert_done(tamis_filter_open(store, "plain", 0, &filter));
    assert_int_equal(tamis_filter_items(filter), 500);
}

/* What is missing is told of by repair, and by verify as long as it is.  Seen to fail without
 * check_start() of rescue_filter.c, and without check_whole() of verify.c. */
CASE(repair_tells_of_a_gap_in_a_list)
{
    static const char *const words[] = {
        "0000000000000002.seg: TAMIS_ECORRUPT: is not the first segment of the filter",
        "0000000000000002.seg: TAMIS_ECORRUPT: is a part of the filter, and missing or damaged"};
    for (uint64_t missing = 1; missing <= 2; missing++) {
        AUTO_FREE char *path;
        tamis_store *store = fixture_store(&path);
        tamis_filter *filter = fixture_create(store, "grown", SPEC(.capacity = 100));
        keys_add(filter, 0, 70000);
        assert_done(tamis_filter_close(filter));
        tamis_store_close(store);
        assert_int_equal(unlink(fixture_segment_path(path, missing)), 0);
        repairs_lose(path);
        repairs_assert_said(repairs_done(path, 0), 1, words[missing - 1]);
        assert_int_equal(fixture_problems(path), 1);
    }
}

/* Write what an open file has to a new one. */
static void write_again(int from, const char *path)
{
    char buffer[65536];
    ssize_t got;
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(to >= 0);
    while ((got = read(from, buffer, sizeof buffer)) > 0)
        assert_int_equal(write(to, buffer, (size_t)got), got);
    assert_int_equal(got | close(to) | close(from), 0);
}

/* Between the commit of a drop and the removal of its files.  Seen to fail without drop_again(). */
CASE(repair_does_not_bring_back_a_dropped_filter)
{
    AUTO_FREE char *path;
    riches_make(&path);
    AUTO_FREE char *file = strdup(fixture_segment_path(path, 1));
    tamis_store *store = fixture_open(path, 0);
    const int kept = open(file, O_RDONLY); /* what the drop says to its handles is in the file */
    assert_done(tamis_filter_drop(store, "plain"));
    tamis_store_close(store);
    write_again(kept, file);
    AUTO_FREE char *before = riches_portrait(path);
    repairs_lose(path);
    repairs_assert_said(repairs_done(path, 0), 0,
                        "does not get its record: the filter was dropped");
    riches_assert_portrait(path, before);
    assert_int_not_equal(access(file, F_OK), 0);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int note_name(void *context, const struct tamis_filter_stat *stat)
{
    strcat(strcat(context, stat->name), " ");
    return 0;
}

static void assert_names(const char *path, const char *expected)
{
    char names[2 * TAMIS_NAME_MAX + 8] = "";
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    assert_done(tamis_store_list(store, NULL, note_name, names));
    assert_string_equal(names, expected);
}

static void write_label(const char *path, uint64_t number, uint64_t sequence, const char *name)
{
    struct tamis__name_label labels[2] = {{0}, {0}};
    if (name != NULL) tamis__label_write(&labels[0], sequence, name);
    fixture_poke(fixture_segment_path(path, number), 512, labels, sizeof labels);
}

/* Seen to fail with settle_names() left out: the second record replaces the first, whose id leads
 * astray. */
CASE(repair_gives_each_filter_a_name_of_its_own)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    for (char name[2] = "a"; *name <= 'e'; ++*name)
        assert_done(tamis_filter_create(store, name, SPEC(.capacity = 10), NULL));
    tamis_store_close(store);
    write_label(path, 1, 3, "same"); /* the later one has it */
    write_label(path, 2, 2, "same");
    write_label(path, 3, 2, "same~2"); /* in the way of the name made of it */
    write_label(path, 4, 0, NULL);
    repairs_lose(path);
    repairs_assert_said(repairs_done(path, 0), 0, "its own name is another filter's, or lost");
    assert_names(path, "e lost~4 same same~2 same~2~2 ");
    assert_int_equal(fixture_problems(path), 0);
    store = fixture_open(path, 0); /* the label follows when it is opened for writing */
    tamis_filter *filter = fixture_opened(store, "same~2~2", 0);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    repairs_lose(path);
    (void)repairs_done(path, 0);
    assert_names(path, "e lost~4 same same~2 same~2~2 ");
}

/* A rename was cut short, and the segments carry two names.  (Broken: group() takes the first.) */
CASE(repair_gives_a_filter_the_latest_of_its_names)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_create(store, "w", SPEC(.window_items = 100, .slices = 3));
    for (int i = 0; i < 2; i++)
        assert_done(tamis_filter_rotate(filter));
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    write_label(path, 1, 2, "early");
    write_label(path, 2, 5, "late");
    write_label(path, 3, 3, "between");
    repairs_lose(path);
    (void)repairs_done(path, 0);
    assert_names(path, "late ");
}

/* (Broken: describe() takes it from the oldest segment.) */
CASE(repair_keeps_as_many_generations_as_was_asked_for_last)
{
    static const struct builds_keys keys = {.family = 'k', .count = 10};
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    for (uint32_t keep = 5; keep <= 7; keep++) {
        const struct tamis_build_spec spec = {
            .size = sizeof spec, .flags = TAMIS_BUILD_KEEP, .keep = keep};
        assert_int_equal(builds_run(store, "list", &spec, &keys, NULL), 1);
    }
    tamis_store_close(store);
    repairs_lose(path);
    (void)repairs_done(path, 0);
    store = fixture_open(path, 0);
    tamis_filter *filter = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    assert_int_equal(fixture_stat(filter).keep, 7);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
}

/* (Broken: make_name() cuts after any byte.) */
CASE(repair_cuts_a_long_name_after_a_whole_character)
{
    AUTO_FREE char *path;
    char name[TAMIS_NAME_MAX + 1] = "", expected[2 * TAMIS_NAME_MAX + 8];
    tamis_store *store = fixture_store(&path);
    for (unsigned i = 0; i + 1 < TAMIS_NAME_MAX; i += 2)
        (void)strcpy(name + i, "\xc3\xa9");
    (void)strcat(name, "x"); /* as long as can be */
    assert_int_equal(strlen(name), TAMIS_NAME_MAX);
    assert_done(tamis_filter_create(store, "a", SPEC(.capacity = 10), NULL));
    assert_done(tamis_filter_create(store, "b", SPEC(.capacity = 10), NULL));
    tamis_store_close(store);
    write_label(path, 1, 3, name);
    write_label(path, 2, 2, name);
    repairs_lose(path);
    (void)repairs_done(path, 0);
    (void)snprintf(expected, sizeof expected, "%.*s~2 %s ", TAMIS_NAME_MAX - 3, name, name);
    assert_names(path, expected);
}

/* The file of a slice that the window has left behind was not removed yet.  (Broken:
 * is_left_behind() a slice too late, and a slice too early.) */
CASE(repair_leaves_out_what_a_window_has_left_behind)
{
    AUTO_FREE char *path, *kept = scratch_path("left-behind");
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_create(store, "w", SPEC(.window_items = 100, .slices = 2));
    for (uint64_t slice = 0; slice < 4; slice++) {
        assert_done(tamis_filter_add(filter, &slice, sizeof slice));
        if (slice == 2) scratch_copy(fixture_segment_path(path, 1), kept);
        if (slice < 3) assert_done(tamis_filter_rotate(filter));
    }
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    assert_int_not_equal(access(fixture_segment_path(path, 1), F_OK), 0);
    scratch_copy(kept, fixture_segment_path(path, 1));
    repairs_lose(path);
    (void)repairs_done(path, 0);
    store = fixture_open(path, 0);
    filter = fixture_opened(store, "w", 0);
    assert_int_equal(fixture_stat(filter).segment_count, 3);
    for (uint64_t slice = 0; slice < 4; slice++)
        assert_int_equal(tamis_filter_contains(filter, &slice, sizeof slice), slice > 0);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
}

/* Segments of one slice are left together, so what was before a later segment of it is lost.  So is
 * a slice of a window in items that is not left yet.  (Broken, each by itself: may_be_left() does
 * not look at the step, or at the slice.) */
CASE(repair_tells_of_a_window_that_lacks_its_first_segment)
{
    const struct tamis_filter_spec *specs[] = {
        SPEC(.capacity = 300, .slices = 10, .window_ns = INT64_C(86400000000000)),
        SPEC(.window_items = 100, .slices = 2)};
    for (size_t i = 0; i < 2; i++) {
        AUTO_FREE char *path;
        tamis_store *store = fixture_store(&path);
        tamis_filter *filter = fixture_create(store, "w", specs[i]);
        for (uint64_t key = 0; key < 90; key++)
            assert_true(tamis_filter_add(filter, &key, sizeof key) >= 0);
        const bool grew = fixture_segment_stat(filter, 1).slice == 0;
        assert_int_equal(grew, i == 0);
        assert_done(tamis_filter_close(filter));
        tamis_store_close(store);
        assert_int_equal(fixture_problems(path), 0);
        repairs_lose(path);
        assert_int_equal(unlink(fixture_segment_path(path, 1)), 0);
        repairs_assert_said(repairs_done(path, 0), 1, "[w] segments/");
        store = fixture_open(path, 0);
        filter = fixture_opened(store, "w", 0);
        assert_true((fixture_stat(filter).state & TAMIS_STATE_UNCLEAN) != 0);
        assert_done(tamis_filter_close(filter));
        tamis_store_close(store);
    }
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

/*
 * No other file has the exceptions: the filter is not answered from without them until somebody
 * says so, and repair says what that is.  Of a damaged one and of one that is gone.
 */
CASE(repair_of_a_lost_index_goes_on_without_it_only_where_told)
{
    for (int damage = 0; damage < 2; damage++) {
        AUTO_FREE char *path;
        AUTO_FILTER *filter;
        const unsigned char zero[16] = {0};
        riches_make(&path);
        const char *index = fixture_segment_path(path, repairs_index_of(path));
        if (damage)
            assert_int_equal(unlink(index), 0);
        else
            fixture_poke(index, 4096, zero, sizeof zero);
        repairs_assert_said(repairs_done(path, 0), 1, "has the filter's exceptions");
        AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
        assert_true(tamis_filter_open(store, "list", 0, &filter) < 0);
        tamis_store_close(store);
        repairs_assert_said(repairs_done(path, TAMIS_REPAIR_REBUILD), damage ? 1 : 2,
                            "had the filter's exceptions, and is missing or damaged");
        store = fixture_open(path, 0);
        assert_done(tamis_filter_open(store, "list", 0, &filter));
    }
}

CASE(repair_without_catalog_and_index_says_what_is_lost)
{
    AUTO_FREE char *path;
    riches_make(&path);
    assert_int_equal(unlink(fixture_segment_path(path, repairs_index_of(path))), 0);
    repairs_lose(path);
    repairs_assert_said(repairs_done(path, 0), 1,
                        "had the filter's exceptions, and is missing or damaged");
    assert_int_equal(fixture_problems(path), 0);
    assert_int_equal(repairs_index_of(path), 0);
}

/* An index that is too large to be read when it is opened.  (Broken: take_index() takes it whatever
 * its checksum says.) */
CASE(repair_takes_no_exceptions_from_a_damaged_index)
{
    enum { KEYS = 20000 };
    static uint64_t numbers[KEYS];
    static struct tamis_key keys[KEYS];
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "list", 100);
    numbers_from(0, KEYS, numbers, keys);
    assert_int_equal(tamis_filter_except(store, "list", keys, KEYS), KEYS);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    const char *index = fixture_segment_path(path, repairs_index_of(path));
    const uint64_t at = fixture_size(index) - 4096;
    unsigned char byte;
    fixture_peek(index, at, &byte, 1);
    byte ^= 1;
    fixture_poke(index, at, &byte, 1);
    repairs_lose(path);
    repairs_assert_said(repairs_done(path, 0), 1, "had the filter's exceptions");
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
