/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair_test.c: damaged stores are made whole, and nothing that anybody may need goes
 * (store/check/repair.c, scan.c, rescue.c, clean.c, remake.c).
 */
#include "fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/point.h"
#include "catalogs.h"
#include "editions.h"
#include "riches.h"

#define ROUND 1000000u
#define DIED 77

/* ---- What repair says ------------------------------------------------------------------------ */

struct said {
    int done, failed;
    char text[65536];
};

static int note_step(void *context, const struct tamis_repair_step *step)
{
    struct said *said = context;
    const size_t used = strlen(said->text);
    if (step->error == 0)
        said->done++;
    else
        said->failed++;
    assert_true(*step->what != '\0' && *step->file != '\0');
    (void)snprintf(said->text + used, sizeof said->text - used, "[%s] %s: %s: %s\n", step->filter,
                   step->file, step->error ? tamis_error_name(step->error) : "done", step->what);
    return 0;
}

static const struct said *repaired(const char *path, unsigned flags)
{
    static struct said said;
    said = (struct said){.done = 0};
    const int64_t done = assert_done(tamis_store_repair(path, flags, note_step, &said));
    assert_int_equal(done, said.done);
    return &said;
}

static void assert_said(const struct said *said, int failed, const char *words)
{
    if (strstr(said->text, words) == NULL) fail_msg("no '%s' in:\n%s", words, said->text);
    if (said->failed != failed) fail_msg("%d and not %d:\n%s", said->failed, failed, said->text);
}

static void unlink_file(const char *path, const char *name)
{
    if (unlink(fixture_join(path, name)) != 0) fail_msg("no file %s", name);
}

/* ---- Nothing to do --------------------------------------------------------------------------- */

static void repair_of_a_sound_store_changes_nothing(void **state)
{
    char *path;
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    const int files = fixture_files(path, "segments");
    for (unsigned flags = 0; flags < 2; flags++) {
        const struct said *said = repaired(path, flags);
        if (said->done + said->failed != 0) fail_msg("%s", said->text);
    }
    assert_int_equal(fixture_files(path, "segments"), files);
    riches_assert_portrait(path, before);
    free(before);
    free(path);
}

static void repair_of_what_is_no_store_is_refused(void **state)
{
    char *path = scratch_path("none");
    (void)state;
    assert_refused(TAMIS_ENOSTORE, "there is no store at", tamis_store_repair(path, 0, NULL, NULL));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_refused(TAMIS_ENOSTORE, "neither a catalog nor segments",
                   tamis_store_repair(path, 0, NULL, NULL));
    assert_int_equal(fixture_files(path, "."), 0); /* and nothing was made there */
    assert_refused(TAMIS_EINVAL, "flags", tamis_store_repair(path, 4, NULL, NULL));
    free(path);
}

/* ---- The catalog ----------------------------------------------------------------------------- */

static void lose(const char *path)
{
    unlink_file(path, "catalog.mdb");
}

static void truncate_it(const char *path)
{
    assert_int_equal(truncate(fixture_join(path, "catalog.mdb"), 5000), 0);
}

static void empty_it(const char *path)
{
    assert_int_equal(truncate(fixture_join(path, "catalog.mdb"), 0), 0);
}

static void zero_it(const char *path)
{
    static const unsigned char zero[65536];
    const char *file = fixture_join(path, "catalog.mdb");
    fixture_poke(file, 0, zero,
                 fixture_size(file) < sizeof zero ? fixture_size(file) : sizeof zero);
}

/* A record that does not match its checksum, in a file whose pages are sound. */
static void flip_a_record(const char *path)
{
    const char *file = fixture_join(path, "catalog.mdb");
    const uint64_t bytes = fixture_size(file);
    unsigned char *all = malloc(bytes);
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
    free(all);
}

/* Seen to fail with rank_of() reduced to the publication: `again` comes back with its second generation. */
static void repair_makes_any_lost_catalog_anew(void **state)
{
    static void (*const damages[])(const char *) = {lose, truncate_it, empty_it, zero_it,
                                                    flip_a_record};
    char *path;
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        tamis_store *store;
        damages[i](path);
        assert_true(tamis_store_open(path, 0, &store) < 0 ||
                    tamis_store_verify(store, NULL, NULL, NULL) < 0);
        if (strstr(tamis_last_error(), "'tamis repair'") == NULL)
            fail_msg("no mend in: %s", tamis_last_error());
        if (i == 4) tamis_store_close(store);
        const struct said *said = repaired(path, 0);
        assert_said(said, 0, i == 0 ? "it was missing" : "is kept as catalog.mdb.damaged");
        assert_int_equal(fixture_problems(path), 0);
        riches_assert_portrait(path, before);
        assert_int_equal(repaired(path, 0)->done, 0); /* and that was all */
    }
    assert_int_equal(access(fixture_join(path, "catalog.mdb.damaged"), F_OK), 0);
    assert_int_equal(access(fixture_join(path, "catalog.mdb.damaged.4"), F_OK), 0);
    free(before);
    free(path);
}

static void repair_can_be_told_to_make_a_sound_catalog_anew(void **state)
{
    char *path;
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    assert_said(repaired(path, TAMIS_REPAIR_REBUILD), 0, "as it was asked for");
    riches_assert_portrait(path, before);
    assert_int_equal(fixture_problems(path), 0);
    free(before);
    free(path);
}

/* What the store can do afterwards is what it could before. */
static void repair_leaves_a_store_that_goes_on(void **state)
{
    char *path;
    tamis_filter *filter;
    const uint64_t key = 777;
    const struct tamis_key one = {&key, sizeof key};
    (void)state;
    riches_make(&path);
    lose(path);
    (void)repaired(path, 0);
    tamis_store *store = fixture_open(path, 0);
    const struct tamis_filter_spec spec = {.capacity = 10};
    assert_done(tamis_filter_create(store, "after", &spec, NULL));
    assert_int_equal(access(fixture_segment_path(path, ROUND), F_OK), 0);
    assert_done(tamis_filter_rollback(store, "list", 0));
    assert_done(tamis_filter_rollback(store, "static", 0));
    assert_done(tamis_filter_rollback(store, "back", 3));
    assert_done(tamis_filter_open(store, "back", 0, &filter));
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
    free(path);
}

/* Processes that have filters open go on with them across it. */
static void repair_is_followed_by_open_handles(void **state)
{
    char *path;
    tamis_filter *grown, *plain;
    (void)state;
    riches_make(&path);
    tamis_store *store = fixture_open(path, 0);
    assert_done(tamis_filter_open(store, "grown", 0, &grown));
    assert_done(tamis_filter_open(store, "plain", 0, &plain));
    lose(path);
    for (uint64_t key = 0; key < 100; key++)
        assert_int_equal(tamis_filter_contains(plain, &key, sizeof key), 1);
    (void)repaired(path, 0);
    for (uint64_t key = 1000; key < 3000; key++) /* it grows */
        assert_done(tamis_filter_add(grown, &key, sizeof key));
    for (uint64_t key = 1000; key < 3000; key++)
        assert_int_equal(tamis_filter_contains(grown, &key, sizeof key), 1);
    assert_done(tamis_filter_sync(plain));
    assert_done(tamis_filter_close(grown));
    assert_int_equal(fixture_problems(path), 0);
    assert_done(tamis_filter_drop(store, "plain"));
    assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_contains(plain, "k", 1));
    assert_done(tamis_filter_close(plain));
    tamis_store_close(store);
    free(path);
}

/* An empty catalog over segments would make strangers of them. */
static void a_lost_catalog_is_not_made_by_opening(void **state)
{
    char *path;
    tamis_store *store;
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    lose(path);
    for (unsigned flags = 0; flags <= TAMIS_CREATE; flags++)
        assert_refused(TAMIS_ECORRUPT, "'tamis repair' makes it anew from them",
                       tamis_store_open(path, flags, &store));
    assert_int_not_equal(access(fixture_join(path, "catalog.mdb"), F_OK), 0);
    (void)repaired(path, 0);
    riches_assert_portrait(path, before);
    free(before);
    free(path);
}

/* Growers and publishers that died before they could say what goes on after what.  Seen to fail with
 * list_before() taking the last list: what `back` has grown by goes to its kept generation. */
static void repair_goes_by_publications_where_no_segment_names_the_next(void **state)
{
    char *path;
    const uint64_t none = 0;
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    lose(path);
    for (uint64_t i = 1; i < 100; i++)
        if (access(fixture_segment_path(path, i), F_OK) == 0) {
            uint64_t next;
            const char *file = fixture_segment_path(path, i);
            fixture_peek(file, offsetof(struct tamis__segment_header, next), &next, sizeof next);
            if (next != UINT64_MAX)
                fixture_poke(file, offsetof(struct tamis__segment_header, next), &none,
                             sizeof none);
        }
    (void)repaired(path, 0);
    riches_assert_portrait(path, before);
    assert_int_equal(fixture_problems(path), 0);
    free(before);
    free(path);
}

/* ---- Segments that are not sound, or not of the store ---------------------------------------- */

static void repair_leaves_damaged_and_foreign_segments_alone(void **state)
{
    char *path, *other;
    unsigned char byte;
    (void)state;
    riches_make(&path);
    riches_make(&other);
    char *strange = strdup(fixture_segment_path(path, 500));
    scratch_copy(fixture_segment_path(other, 1), strange);
    const uint64_t number = 500;
    struct tamis__segment_header header;
    fixture_peek(strange, 0, &header, sizeof header);
    header.number = number;
    tamis__header_seal(&header);
    fixture_poke(strange, 0, &header, sizeof header);
    char *plain = strdup(fixture_segment_path(path, 1));
    fixture_peek(plain, 60, &byte, 1);
    byte ^= 1;
    fixture_poke(plain, 60, &byte, 1);
    char *notes = strdup(fixture_join(path, "segments/notes.txt"));
    scratch_copy(plain, notes);
    lose(path);
    const struct said *said = repaired(path, 0);
    assert_said(said, 3, "belongs to another store");
    assert_said(said, 3, "0000000000000001.seg: TAMIS_ECORRUPT: has a damaged header");
    assert_said(said, 3, "notes.txt: TAMIS_EFOREIGN: is not a segment's name");
    assert_int_equal(access(strange, F_OK) | access(plain, F_OK) | access(notes, F_OK), 0);
    tamis_store *store = fixture_open(path, 0);
    tamis_filter *filter;
    assert_refused(TAMIS_ENOTFOUND, "plain", tamis_filter_open(store, "plain", 0, &filter));
    byte ^= 1; /* restored, as it was told to */
    fixture_poke(plain, 60, &byte, 1);
    tamis_store_close(store);
    assert_said(repaired(path, TAMIS_REPAIR_REBUILD), 2, "[plain] catalog.mdb: done");
    store = fixture_open(path, 0);
    assert_done(tamis_filter_open(store, "plain", 0, &filter));
    assert_int_equal(tamis_filter_items(filter), 500);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    free(notes);
    free(plain);
    free(strange);
    free(path);
    free(other);
}

/* What is missing is told of by repair, and by verify as long as it is.  Seen to fail without
 * check_start() of rescue_filter.c, and without check_whole() of verify.c. */
static void repair_tells_of_a_gap_in_a_list(void **state)
{
    static const char *const words[] = {
        "0000000000000002.seg: TAMIS_ECORRUPT: is not the first segment of the filter",
        "0000000000000002.seg: TAMIS_ECORRUPT: is a part of the filter, and missing or damaged"};
    (void)state;
    for (uint64_t missing = 1; missing <= 2; missing++) {
        char *path;
        tamis_store *store = fixture_store(&path);
        const struct tamis_filter_spec spec = {.capacity = 100};
        tamis_filter *filter;
        assert_done(tamis_filter_create(store, "grown", &spec, &filter));
        for (uint64_t key = 0; key < 500; key++)
            assert_done(tamis_filter_add(filter, &key, sizeof key));
        assert_done(tamis_filter_close(filter));
        tamis_store_close(store);
        assert_int_equal(unlink(fixture_segment_path(path, missing)), 0);
        lose(path);
        assert_said(repaired(path, 0), 1, words[missing - 1]);
        assert_int_equal(fixture_problems(path), 1);
        free(path);
    }
}

/* Between the commit of a drop and the removal of its files.  Seen to fail without drop_again(). */
static void repair_does_not_bring_back_a_dropped_filter(void **state)
{
    char *path, *kept = scratch_path("kept");
    (void)state;
    riches_make(&path);
    char *file = strdup(fixture_segment_path(path, 1));
    tamis_store *store = fixture_open(path, 0);
    assert_int_equal(link(file, kept), 0); /* what the drop says to its handles is in the file */
    assert_done(tamis_filter_drop(store, "plain"));
    tamis_store_close(store);
    assert_int_equal(link(kept, file), 0);
    char *before = riches_portrait(path);
    lose(path);
    assert_said(repaired(path, 0), 0, "does not get its record: the filter was dropped");
    riches_assert_portrait(path, before);
    assert_int_not_equal(access(file, F_OK), 0);
    free(before);
    free(file);
    free(kept);
    free(path);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int note_name(void *context, const struct tamis_filter_stat *stat)
{
    strcat(strcat(context, stat->name), " ");
    return 0;
}

static void assert_names(const char *path, const char *expected)
{
    char names[256] = "";
    tamis_store *store = fixture_open(path, TAMIS_READ_ONLY);
    assert_done(tamis_store_list(store, NULL, note_name, names));
    assert_string_equal(names, expected);
    tamis_store_close(store);
}

static void write_label(const char *path, uint64_t number, uint64_t sequence, const char *name)
{
    struct tamis__name_label labels[2] = {{0}, {0}};
    if (name != NULL) tamis__label_write(&labels[0], sequence, name);
    fixture_poke(fixture_segment_path(path, number), 512, labels, sizeof labels);
}

/* Seen to fail with settle_names() left out: the second record replaces the first, whose id leads astray. */
static void repair_gives_each_filter_a_name_of_its_own(void **state)
{
    char *path;
    tamis_store *store = fixture_store(&path);
    const struct tamis_filter_spec spec = {.capacity = 10};
    (void)state;
    for (char name[2] = "a"; *name <= 'e'; ++*name)
        assert_done(tamis_filter_create(store, name, &spec, NULL));
    tamis_store_close(store);
    write_label(path, 1, 3, "same"); /* the later one has it */
    write_label(path, 2, 2, "same");
    write_label(path, 3, 2, "same~2"); /* in the way of the name made of it */
    write_label(path, 4, 0, NULL);
    lose(path);
    assert_said(repaired(path, 0), 0, "its own name is another filter's, or lost");
    assert_names(path, "e lost~4 same same~2 same~2~2 ");
    assert_int_equal(fixture_problems(path), 0);
    store = fixture_open(path, 0); /* the label follows when it is opened for writing */
    tamis_filter *filter;
    assert_done(tamis_filter_open(store, "same~2~2", 0, &filter));
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    lose(path);
    (void)repaired(path, 0);
    assert_names(path, "e lost~4 same same~2 same~2~2 ");
    free(path);
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

static uint64_t index_of(const char *path)
{
    struct tamis__record record;
    tamis_store *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    assert_done(tamis__catalog_get(txn, "list", &record));
    tamis__catalog_end(txn);
    tamis_store_close(store);
    return record.exceptions;
}

static void repair_makes_a_lost_index_anew_from_the_catalog(void **state)
{
    char *path;
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    for (int damage = 0; damage < 2; damage++) {
        const char *index = fixture_segment_path(path, index_of(path));
        const unsigned char zero[16] = {0};
        tamis_store *store = fixture_open(path, TAMIS_READ_ONLY);
        tamis_filter *filter;
        if (damage)
            assert_int_equal(unlink(index), 0);
        else
            fixture_poke(index, 4096, zero, sizeof zero);
        assert_true(tamis_filter_open(store, "list", 0, &filter) < 0);
        tamis_store_close(store);
        assert_said(repaired(path, 0), 0, "is made again, as the index of 3 exceptions");
        riches_assert_portrait(path, before);
        assert_int_equal(fixture_problems(path), 0);
    }
    free(before);
    free(path);
}

static void repair_without_catalog_and_index_says_what_is_lost(void **state)
{
    char *path;
    (void)state;
    riches_make(&path);
    assert_int_equal(unlink(fixture_segment_path(path, index_of(path))), 0);
    lose(path);
    assert_said(repaired(path, 0), 1, "had the filter's exceptions, and is missing or damaged");
    assert_int_equal(fixture_problems(path), 0);
    assert_int_equal(index_of(path), 0);
    free(path);
}

/* ---- Cleaning -------------------------------------------------------------------------------- */

static char *copy_segment(const char *path, uint64_t from, uint64_t to)
{
    struct tamis__segment_header header;
    char *source = strdup(fixture_segment_path(path, from));
    char *copy = strdup(fixture_segment_path(path, to));
    scratch_copy(source, copy);
    fixture_peek(copy, 0, &header, sizeof header);
    header.number = to;
    tamis__header_seal(&header);
    fixture_poke(copy, 0, &header, sizeof header);
    free(source);
    return copy;
}

static void set_counters(const char *path, uint64_t next_segment, uint64_t passed)
{
    tamis_store *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    tamis__catalog_store(txn)->next_segment = next_segment;
    tamis__catalog_store(txn)->passed = passed;
    catalogs_commit(txn);
    tamis_store_close(store);
}

/* Seen to fail: with the test for next_segment left out of judge_stray(), the second part. */
static void repair_removes_what_was_dropped_and_keeps_what_is_newer(void **state)
{
    char *path;
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    set_counters(path, 200, 0);
    char *dropped = copy_segment(path, 1, 150), *newer = copy_segment(path, 1, 250);
    assert_int_equal(fixture_problems(path), 2);
    const struct said *said = repaired(path, 0);
    assert_said(said, 1, "0000000000000150.seg: done: is removed: it was replaced");
    assert_said(said, 1,
                "0000000000000250.seg: TAMIS_ECORRUPT: is not in the catalog, which may "
                "be older than this segment; 'tamis repair --rebuild'");
    assert_int_not_equal(access(dropped, F_OK), 0);
    assert_int_equal(access(newer, F_OK), 0);
    free(dropped);
    dropped = copy_segment(path, 1, 150);
    set_counters(path, 300, 140); /* found in the way: it may be of a newer catalog that is lost */
    said = repaired(path, 0);
    assert_said(said, 2, "0000000000000150.seg: TAMIS_ECORRUPT: is not in the catalog");
    assert_int_equal(access(dropped, F_OK) | access(newer, F_OK), 0);
    assert_int_equal(unlink(dropped) | unlink(newer), 0);
    riches_assert_portrait(path, before);
    free(before);
    free(dropped);
    free(newer);
    free(path);
}

/* A catalog of before, restored: what was made since must come back with --rebuild.  Seen to fail with
 * `passed` not set in tamis__take_segment_number(). */
static void repair_of_an_older_catalog_keeps_what_it_does_not_know(void **state)
{
    char *path, *old;
    tamis_filter *filter;
    (void)state;
    riches_make(&path);
    old = scratch_path("old-catalog");
    scratch_copy(fixture_join(path, "catalog.mdb"), old);
    tamis_store *store = fixture_open(path, 0);
    const struct tamis_filter_spec spec = {.capacity = 100};
    assert_done(tamis_filter_create(store, "young", &spec, &filter));
    for (uint64_t key = 0; key < 50; key++)
        assert_int_equal(tamis_filter_add(filter, &key, sizeof key), 1);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_open(store, "grown", 0, &filter));
    for (uint64_t key = 1000; key < 4000; key++)
        assert_done(tamis_filter_add(filter, &key, sizeof key));
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    char *latest = riches_portrait(path);
    lose(path);
    scratch_copy(old, fixture_join(path, "catalog.mdb"));
    const int files = fixture_files(path, "segments");
    assert_true(repaired(path, 0)->failed >= 2);
    store = fixture_open(path, 0); /* the numbers are given out anew, and found taken */
    assert_done(tamis_filter_create(store, "younger", &spec, &filter));
    assert_int_equal(tamis_filter_add(filter, "k", 1), 1);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(store, "younger"));
    tamis_store_close(store);
    assert_true(repaired(path, 0)->failed >= 2);
    assert_int_equal(fixture_files(path, "segments"), files);
    (void)repaired(path, TAMIS_REPAIR_REBUILD);
    riches_assert_portrait(path, latest);
    assert_int_equal(fixture_problems(path), 0);
    free(latest);
    free(old);
    free(path);
}

static void repair_sweeps_staging_and_garbage(void **state)
{
    char *path, *left, *garbage;
    struct tamis__staged staged;
    (void)state;
    riches_make(&path);
    tamis_store *store = fixture_open(path, 0);
    left = strdup(fixture_join(path, "staging/0123456789abcdef.seg"));
    scratch_copy(fixture_segment_path(path, 1), left);
    scratch_copy(left, fixture_join(path, "catalog.mdb.new"));
    garbage = copy_segment(path, 1, 130);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__catalog_put_garbage(txn, 130));
    catalogs_commit(txn);
    scratch_remove(left);
    assert_done(tamis__segment_stage(&store->place, 8192, &staged)); /* its maker lives */
    scratch_copy(fixture_segment_path(path, 1), left);
    const struct said *said = repaired(path, 0);
    assert_said(said, 0, "staging/0123456789abcdef.seg: done: is removed");
    assert_said(said, 0, "0000000000000130.seg: done: is removed: the catalog has it as garbage");
    assert_said(said, 0, "catalog.mdb.new: done: is removed");
    assert_int_equal(said->done, 3);
    assert_int_equal(fixture_files(path, "staging"), 1);
    assert_int_not_equal(access(garbage, F_OK), 0);
    tamis__segment_discard(&store->place, &staged);
    tamis_store_close(store);
    assert_int_equal(repaired(path, 0)->done, 0);
    free(garbage);
    free(left);
    free(path);
}

static int count_generation(void *context, const struct tamis_generation_stat *stat)
{
    (void)stat;
    ++*(int *)context;
    return 0;
}

static void repair_forgets_a_kept_generation_whose_file_is_missing(void **state)
{
    char *path;
    int count = 0;
    (void)state;
    riches_make(&path);
    tamis_store *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    struct tamis__record record;
    assert_done(tamis__catalog_get(txn, "list", &record));
    struct tamis__segment_header header;
    tamis__catalog_end(txn);
    uint64_t number = 0;
    for (uint64_t i = 1; i < record.segments[0].number; i++) {
        if (access(fixture_segment_path(path, i), F_OK) != 0) continue;
        fixture_peek(fixture_segment_path(path, i), 0, &header, sizeof header);
        if (header.filter_id == record.filter_id && header.kind != 5) number = i;
    }
    assert_true(number != 0);
    assert_int_equal(unlink(fixture_segment_path(path, number)), 0);
    assert_true(fixture_problems(path) > 0);
    const struct said *said = repaired(path, 0);
    assert_said(said, 1, "is missing, though the catalog has it");
    assert_said(said, 1, "generation 2 of filter");
    assert_done(tamis_filter_generations(store, "list", count_generation, &count));
    assert_int_equal(count, 1);
    assert_int_equal(fixture_problems(path), 0);
    tamis_store_close(store);
    free(path);
}

static void repair_tells_of_a_missing_segment_in_force(void **state)
{
    char *path;
    (void)state;
    riches_make(&path);
    assert_int_equal(unlink(fixture_segment_path(path, 1)), 0);
    assert_said(repaired(path, 0), 1,
                "[plain] segments/0000000000000001.seg: TAMIS_ECORRUPT: is "
                "missing, though the catalog has it");
    free(path);
}

/* Keys that a power cut took: the catalog's count is what the segments say. */
static void repair_sets_a_count_right_that_went_back(void **state)
{
    char *path;
    const unsigned char zero[2048] = {0};
    (void)state;
    riches_make(&path);
    fixture_poke(fixture_segment_path(path, 1), 2048, zero, sizeof zero);
    assert_int_equal(fixture_problems(path), 1);
    assert_said(repaired(path, 0), 0, "[plain] catalog.mdb: done: has the items that its segments");
    assert_int_equal(fixture_problems(path), 0);
    free(path);
}

/* ---- Dry runs -------------------------------------------------------------------------------- */

static void repair_that_is_dry_changes_nothing(void **state)
{
    char *path;
    (void)state;
    riches_make(&path);
    lose(path);
    const int files = fixture_files(path, ".");
    const struct said *said = repaired(path, TAMIS_REPAIR_DRY_RUN);
    assert_said(said, 0, "would be made anew from");
    assert_said(said, 0,
                "[list] catalog.mdb: done: would get its record from the segments: 1000 "
                "items in 1 segment, 1 kept generation, 3 exceptions");
    assert_int_equal(fixture_files(path, "."), files);
    assert_int_not_equal(access(fixture_join(path, "catalog.mdb"), F_OK), 0);
    (void)repaired(path, 0);
    set_counters(path, 200, 0);
    char *dropped = copy_segment(path, 1, 150);
    assert_said(repaired(path, TAMIS_REPAIR_DRY_RUN), 0, "would be removed: it was replaced");
    assert_int_equal(access(dropped, F_OK), 0);
    free(dropped);
    free(path);
}

/* ---- Death ----------------------------------------------------------------------------------- */

static int last_point, calls_left;

static void die_at_point(enum tamis__point point)
{
    if ((int)point == last_point) _exit(DIED);
}

static int die_at_call(const char *verb, const char *what)
{
    (void)verb;
    (void)what;
    if (calls_left-- == 0) _exit(DIED);
    return 0;
}

static void repair_in_child(void *path)
{
    if (last_point >= 0)
        tamis__point_hook = die_at_point;
    else
        tamis__io_hook = die_at_call;
    if (tamis_store_repair(path, 0, NULL, NULL) < 0) _exit(1);
}

static void spoil(const char *path, bool lost)
{
    if (lost) {
        zero_it(path);
        return;
    }
    free(copy_segment(path, 1, 135));
    free(copy_segment(path, 1, 136));
    set_counters(path, 140, 0);
    tamis_store *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__catalog_put_garbage(txn, 136));
    catalogs_commit(txn);
    tamis_store_close(store);
    assert_int_equal(unlink(fixture_segment_path(path, index_of(path))), 0);
}

/* Of the dead nothing is left over, and the next repair does what it had not. */
static void assert_mended(const char *path, const char *portrait, int files)
{
    (void)repaired(path, 0);
    riches_assert_portrait(path, portrait);
    assert_int_equal(fixture_problems(path), 0);
    tamis_store *store = fixture_open(path, 0);
    const struct tamis_filter_spec spec = {.capacity = 10};
    assert_done(
        tamis_filter_create(store, "next", &spec, NULL)); /* unlinks garbage, as any writer */
    assert_done(tamis_filter_drop(store, "next"));
    tamis_store_close(store);
    assert_int_equal(fixture_files(path, "segments"), files);
    assert_int_equal(fixture_files(path, "staging"), 0);
    assert_int_not_equal(access(fixture_join(path, "catalog.mdb.new"), F_OK), 0);
}

/* Seen to fail with the number of a new index not noted as garbage first: its file is left over. */
static void repair_that_is_killed_at_a_point_is_done_again(void **state)
{
    static const struct {
        int point;
        bool lost;
    } cases[] = {{TAMIS__POINT_REPAIR_SCANNED, true},  {TAMIS__POINT_REPAIR_WRITTEN, true},
                 {TAMIS__POINT_REPAIR_RENAMED, true},  {TAMIS__POINT_COMMITTED, true},
                 {TAMIS__POINT_REPAIR_CLEANED, true},  {TAMIS__POINT_REPAIR_SCANNED, false},
                 {TAMIS__POINT_REPAIR_CLEANED, false}, {TAMIS__POINT_COMMITTED, false},
                 {TAMIS__POINT_RENAMED, false},        {TAMIS__POINT_STAGED, false}};
    char *path, *copy = scratch_path("copy");
    (void)state;
    riches_make(&path);
    char *before = riches_portrait(path);
    const int files = fixture_files(path, "segments");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scratch_copy(path, copy);
        spoil(copy, cases[i].lost);
        last_point = cases[i].point;
        assert_int_equal(fixture_child(repair_in_child, copy), DIED);
        assert_mended(copy, before, files);
        scratch_remove(copy);
    }
    free(before);
    free(copy);
    free(path);
}

/* A small store, as it is done for every call. */
static void repair_that_is_killed_before_any_call_is_done_again(void **state)
{
    char *path, *copy = scratch_path("copy");
    tamis_store *store = fixture_store(&path);
    uint64_t key = 5;
    const struct tamis_key one = {&key, sizeof key};
    (void)state;
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    assert_done(editions_publish(store, "list", 100, 100, NULL, NULL));
    assert_int_equal(tamis_filter_except(store, "list", &one, 1), 1);
    tamis_store_close(store);
    char *before = riches_portrait(path);
    const int files = fixture_files(path, "segments");
    last_point = -1;
    for (int lost = 0; lost < 2; lost++) {
        int status = DIED, calls = 0;
        for (; status == DIED; calls++) {
            scratch_copy(path, copy);
            spoil(copy, lost);
            calls_left = calls;
            status = fixture_child(repair_in_child, copy);
            assert_true(status == DIED || status == 0);
            assert_mended(copy, before, files);
            scratch_remove(copy);
        }
        assert_true(calls > 30);
    }
    free(before);
    free(copy);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repair_of_a_sound_store_changes_nothing),
        cmocka_unit_test(repair_of_what_is_no_store_is_refused),
        cmocka_unit_test(repair_makes_any_lost_catalog_anew),
        cmocka_unit_test(repair_can_be_told_to_make_a_sound_catalog_anew),
        cmocka_unit_test(repair_leaves_a_store_that_goes_on),
        cmocka_unit_test(repair_is_followed_by_open_handles),
        cmocka_unit_test(a_lost_catalog_is_not_made_by_opening),
        cmocka_unit_test(repair_goes_by_publications_where_no_segment_names_the_next),
        cmocka_unit_test(repair_leaves_damaged_and_foreign_segments_alone),
        cmocka_unit_test(repair_tells_of_a_gap_in_a_list),
        cmocka_unit_test(repair_does_not_bring_back_a_dropped_filter),
        cmocka_unit_test(repair_gives_each_filter_a_name_of_its_own),
        cmocka_unit_test(repair_makes_a_lost_index_anew_from_the_catalog),
        cmocka_unit_test(repair_without_catalog_and_index_says_what_is_lost),
        cmocka_unit_test(repair_removes_what_was_dropped_and_keeps_what_is_newer),
        cmocka_unit_test(repair_of_an_older_catalog_keeps_what_it_does_not_know),
        cmocka_unit_test(repair_sweeps_staging_and_garbage),
        cmocka_unit_test(repair_forgets_a_kept_generation_whose_file_is_missing),
        cmocka_unit_test(repair_tells_of_a_missing_segment_in_force),
        cmocka_unit_test(repair_sets_a_count_right_that_went_back),
        cmocka_unit_test(repair_that_is_dry_changes_nothing),
        cmocka_unit_test(repair_that_is_killed_at_a_point_is_done_again),
        cmocka_unit_test(repair_that_is_killed_before_any_call_is_done_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
