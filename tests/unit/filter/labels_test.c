/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * labels_test.c: filters that are known by an id: names that are exchanged, taken, or no names;
 * what a killed server leaves; drops.
 *
 * Broken to see it fail: names given one after the other (an exchange found the first one taken);
 * a drop that leaves the id behind; a look that does not ask for the name of the id; a backup, or
 * a catalog that is made anew, without ids; a restored store with the number of its backup.
 */
#include "fixture.h"
#include "tamis_build.h"
#include "tamis_labels.h"

static const struct tamis_filter_spec small = {
    .size = sizeof small, .capacity = 100, .flags = TAMIS_FILTER_OWNED};

static struct tamis_label label_of(uint8_t number, const char *name)
{
    struct tamis_label label = {.size = sizeof label, .name = name};
    memset(label.id, number, sizeof label.id);
    return label;
}

/* Makes a filter under the name of its id, and adds the name to it. */
static struct tamis_label make(tamis_store *store, uint8_t number, const char *name)
{
    struct tamis_label label = label_of(number, name);
    char of_id[TAMIS_ID_NAME_BYTES];
    tamis_id_name(label.id, of_id);
    AUTO_FILTER *filter = fixture_create(store, of_id, &small);
    assert_int_equal(tamis_filter_add(filter, name, strlen(name)), 1);
    return label;
}

/* Is the filter of that id called so, and has it that key? */
static void check(tamis_store *store, uint8_t number, const char *name, const char *key)
{
    const struct tamis_label label = label_of(number, NULL);
    char is[TAMIS_NAME_MAX + 1];
    AUTO_FILTER *filter = NULL;
    assert_int_equal(tamis_filter_find_id(store, label.id, is), 1);
    assert_string_equal(is, name);
    assert_done(tamis_filter_open_id(store, label.id, 0, &filter));
    assert_int_equal(tamis_filter_contains(filter, key, strlen(key)), 1);
}

SOUND_CASE(labels_exchange_names_in_one_change)
{
    struct tamis_label labels[3] = {make(store, 1, "a"), make(store, 2, "b"), make(store, 3, "c")};
    check(store, 1, "redis:01010101010101010101010101010101", "a");
    assert_int_equal(tamis_filters_label(store, labels, 3), 3);
    check(store, 1, "a", "a");
    labels[0].name = "b";
    labels[1].name = "c";
    labels[2].name = "a";
    assert_int_equal(tamis_filters_label(store, labels, 3), 3);
    check(store, 1, "b", "a");
    check(store, 2, "c", "b");
    check(store, 3, "a", "c");
}

SOUND_CASE(labels_leave_the_names_of_others)
{
    AUTO_FILTER *other = fixture_filter(store, "taken", 100);
    struct tamis_label labels[3] = {make(store, 1, "taken"), make(store, 2, ""), label_of(3, "x")};
    assert_int_equal(tamis_filters_label(store, labels, 3), 0);
    assert_int_equal(labels[0].result, TAMIS_EEXIST);
    assert_int_equal(labels[1].result, TAMIS_EINVAL);
    assert_int_equal(labels[2].result, TAMIS_ENOTFOUND);
    check(store, 1, "redis:01010101010101010101010101010101", "taken");
    assert_done(tamis_filter_drop(store, "taken"));
    assert_int_equal(tamis_filters_label(store, labels, 1), 1);
    check(store, 1, "taken", "taken");
}

SOUND_CASE(labels_are_gone_with_their_filters)
{
    uint8_t ids[2][TAMIS_ID_BYTES], has[TAMIS_ID_BYTES];
    struct tamis_label labels[2] = {make(store, 1, "a"), make(store, 2, "b")};
    memcpy(ids[0], labels[0].id, sizeof ids[0]);
    memcpy(ids[1], labels[1].id, sizeof ids[1]);
    assert_int_equal(tamis_filters_label(store, labels, 1), 1); /* b was not labelled yet */
    assert_int_equal(tamis_filter_drop_ids(store, (const uint8_t(*)[TAMIS_ID_BYTES])ids, 2), 2);
    assert_int_equal(tamis_filter_find_id(store, ids[0], NULL), 0);
    assert_int_equal(tamis_filter_find_id(store, ids[1], NULL), 0);
    assert_done(tamis_filter_create(store, "a", &small, NULL));
    assert_int_equal(tamis_filter_id(store, "a", NULL, has), 0);
    assert_int_equal(tamis_filter_id(store, "a", ids[0], has), 1);
    assert_int_equal(tamis_filter_id(store, "a", ids[1], has), 1); /* it has one */
    assert_memory_equal(has, ids[0], sizeof has);
}

struct seen {
    unsigned ids, owned, all;
};

static int see(void *context, const char *name, const uint8_t *id, int owned)
{
    struct seen *seen = context;
    assert_non_null(name);
    seen->all++;
    seen->ids += id != NULL;
    seen->owned += owned != 0;
    return 0;
}

SOUND_CASE(labels_are_listed)
{
    struct tamis_label labels[2] = {make(store, 1, "a"), make(store, 2, "b")};
    struct seen seen = {0, 0, 0};
    AUTO_FILTER *other = fixture_filter(store, "of others", 100);
    assert_int_equal(tamis_filters_label(store, labels, 1), 1);
    assert_done(tamis_store_list_ids(store, see, &seen));
    assert_int_equal(seen.all, 3);
    assert_int_equal(seen.ids, 2);
    assert_int_equal(seen.owned, 2);
}

/* The id is the filter's identity: it is in a backup, in what is restored from that, and in a
 * catalog that is made anew. */
STORE_CASE(labels_ids_stay_in_copies_and_in_a_new_catalog)
{
    AUTO_FREE char *backup = scratch_path("backup"), *restored = scratch_path("restored"),
                   *again = scratch_path("again");
    const struct tamis_backup_options use = {.size = sizeof use, .flags = TAMIS_BACKUP_FOR_USE};
    struct tamis_label labels[2] = {make(store, 1, "a"), make(store, 2, "b")};
    assert_int_equal(tamis_filters_label(store, labels, 2), 2);
    assert_done(tamis_filter_create(store, "no id", &small, NULL));
    assert_int_equal(tamis_store_backup(store, backup, NULL, NULL), 3);
    AUTO_STORE *copy = fixture_open(backup, TAMIS_OPEN_READ_ONLY);
    assert_int_equal(tamis_store_backup_with(copy, restored, &use, NULL), 3);
    AUTO_STORE *used = fixture_open(restored, 0);
    assert_int_equal(tamis_store_backup(used, again, NULL, NULL), 3);
    const char *const paths[] = {path, backup, restored, again};
    uint64_t known[4];
    for (int i = 0; i < 4; i++) {
        if (i != 1)
            assert_true(tamis_store_repair(paths[i], TAMIS_REPAIR_REBUILD, NULL, NULL) >= 0);
        AUTO_STORE *anew = fixture_open(paths[i], 0);
        uint8_t has[TAMIS_ID_BYTES];
        check(anew, 1, "a", "a");
        check(anew, 2, "b", "b");
        assert_int_equal(tamis_filter_id(anew, "no id", NULL, has), 0);
        known[i] = tamis_store_id(anew);
    }
    assert_int_equal(known[1], known[0]);     /* a backup is of the store */
    assert_int_not_equal(known[2], known[0]); /* what came of it is another */
    assert_int_equal(known[3], known[2]);
}
