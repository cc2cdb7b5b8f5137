/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * golden_test.c: stores that released formats wrote still open, and answer as they did then.
 *
 * Each directory format-N holds a store and tables of what it must answer (README.md).  A test
 * works on a copy of the store, so the files here stay as they were written.
 */
#include "fixture.h"

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 11

static const char *const formats[] = {"format-1"};

/* A file of lines of fields between tabs; row 0 has the names of the columns. */
struct table {
    char *text;
    char *(*rows)[COLUMNS];
    size_t count;
};

enum filter_column {
    FILTER_NAME,
    FILTER_KIND,
    FILTER_WORDS,
    FILTER_M_BITS,
    FILTER_K,
    FILTER_SEED,
    FILTER_CAPACITY,
    FILTER_FP_RATE,
    FILTER_ITEMS,
    FILTER_NUMBER,
    FILTER_FILE_BYTES
};

struct golden {
    const char *format;
    struct table filters, added, strangers, positions;
    struct tamis_key *added_keys, *strangers_keys, *positions_keys; /* [0] is the title's */
};

static struct golden golden;

/* ---- Reading the tables ----------------------------------------------------------------------- */

static char *golden_path(const char *rest)
{
    char *path;
    if (asprintf(&path, "%s/%s/%s", GOLDEN_DIRECTORY, golden.format, rest) < 0) err(1, "asprintf");
    return path;
}

static void table_read(struct table *table, const char *name)
{
    char *path = golden_path(name);
    const size_t bytes = fixture_size(path);
    table->text = calloc(1, bytes + 1);
    if (table->text == NULL) err(1, "%s", name);
    fixture_peek(path, 0, table->text, bytes);
    free(path);
    for (const char *at = table->text; (at = strchr(at, '\n')) != NULL; at++)
        table->count++;
    table->rows = calloc(table->count, sizeof *table->rows);
    if (table->rows == NULL) err(1, "%s", name);
    char *rest = table->text;
    for (size_t row = 0; row < table->count; row++) {
        char *line = strsep(&rest, "\n");
        for (size_t column = 0; column < COLUMNS && line != NULL; column++)
            table->rows[row][column] = strsep(&line, "\t");
    }
}

static void table_free(struct table *table)
{
    free(table->text);
    free(table->rows);
    *table = (struct table){0};
}

/* Turn a column of hexadecimal into bytes, in its place. */
static struct tamis_key *keys_of(const struct table *table, size_t column)
{
    struct tamis_key *keys = calloc(table->count, sizeof *keys);
    if (keys == NULL) err(1, "keys");
    for (size_t row = 1; row < table->count; row++) {
        char *hex = table->rows[row][column];
        const size_t bytes = strlen(hex) / 2;
        for (size_t i = 0; i < bytes; i++) {
            const char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
            hex[i] = (char)strtoul(pair, NULL, 16);
        }
        keys[row] = (struct tamis_key){.data = hex, .bytes = bytes};
    }
    return keys;
}

static int set_up(void **state)
{
    (void)state;
    table_read(&golden.filters, "filters.tsv");
    table_read(&golden.added, "added.tsv");
    table_read(&golden.strangers, "strangers.tsv");
    table_read(&golden.positions, "positions.tsv");
    golden.added_keys = keys_of(&golden.added, 0);
    golden.strangers_keys = keys_of(&golden.strangers, 0);
    golden.positions_keys = keys_of(&golden.positions, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(golden.added_keys);
    free(golden.strangers_keys);
    free(golden.positions_keys);
    table_free(&golden.filters);
    table_free(&golden.added);
    table_free(&golden.strangers);
    table_free(&golden.positions);
    return 0;
}

/* Row `filter` of filters.tsv (from 1) is column `filter` of the tables of answers. */
static const char *filter_text(size_t filter, enum filter_column column)
{
    return golden.filters.rows[filter][column];
}

static uint64_t filter_number(size_t filter, enum filter_column column)
{
    return strtoull(filter_text(filter, column), NULL, 10);
}

static bool is_yes(const struct table *table, size_t row, size_t filter)
{
    const char *answer = table->rows[row][filter];
    if (strcmp(answer, "yes") == 0 || strcmp(answer, "NEW") == 0) return true;
    if (strcmp(answer, "no") != 0 && strcmp(answer, "SEEN") != 0) errx(1, "answer %s", answer);
    return false;
}

/* ---- Stores ----------------------------------------------------------------------------------- */

static char *copy_store(void)
{
    char *from = golden_path("store"), *path = scratch_path("golden");
    scratch_copy(from, path);
    free(from);
    return path;
}

static tamis_filter *open_filter(tamis_store *store, size_t filter)
{
    tamis_filter *open = NULL;
    assert_done(tamis_filter_open(store, filter_text(filter, FILTER_NAME), 0, &open));
    return open;
}

/* ---- The tests -------------------------------------------------------------------------------- */

/* The segment says its filter's name, after a rename too. */
static void assert_label(const char *path, size_t filter)
{
    struct tamis__segment_header header;
    fixture_peek(fixture_segment_path(path, filter_number(filter, FILTER_NUMBER)), 0, &header,
                 sizeof header);
    const struct tamis__name_label *label = tamis__label_current(&header);
    assert_non_null(label);
    assert_string_equal(label->name, filter_text(filter, FILTER_NAME));
}

static void golden_metadata_is_what_it_was(void **state)
{
    char *path = copy_store();
    tamis_store *store = fixture_open(path, TAMIS_READ_ONLY);
    (void)state;
    for (size_t i = 1; i < golden.filters.count; i++) {
        struct tamis_filter_stat stat;
        struct tamis_segment_stat segment;
        tamis_filter *filter = open_filter(store, i);
        assert_done(tamis_filter_stat(filter, &stat));
        assert_done(tamis_filter_segment(filter, 0, &segment));
        assert_string_equal(stat.name, filter_text(i, FILTER_NAME));
        assert_string_equal(tamis_kind_name(stat.kind), filter_text(i, FILTER_KIND));
        assert_string_equal(stat.hash_set, "xxh3");
        assert_int_equal(segment.words, filter_number(i, FILTER_WORDS));
        assert_int_equal(stat.m_bits, filter_number(i, FILTER_M_BITS));
        assert_int_equal(stat.k, filter_number(i, FILTER_K));
        assert_int_equal(stat.seed, filter_number(i, FILTER_SEED));
        assert_int_equal(stat.capacity, filter_number(i, FILTER_CAPACITY));
        const double fp_rate = strtod(filter_text(i, FILTER_FP_RATE), NULL);
        assert_true(fabs(stat.fp_rate - fp_rate) <= 1e-12 * fp_rate);
        assert_int_equal(stat.items, filter_number(i, FILTER_ITEMS));
        assert_int_equal(tamis_filter_items(filter), filter_number(i, FILTER_ITEMS));
        assert_int_equal(stat.state, stat.items >= stat.capacity ? TAMIS_STATE_FULL : 0);
        assert_int_equal(stat.size_bytes, filter_number(i, FILTER_FILE_BYTES));
        assert_int_equal(segment.number, filter_number(i, FILTER_NUMBER));
        assert_true(stat.created_at > 0 && stat.checkpointed_at >= stat.created_at);
        assert_label(path, i);
        assert_done(tamis_filter_close(filter));
    }
    tamis_store_close(store);
    free(path);
}

/* Single calls and batches; each key that was added is there, strangers answer as they did. */
static void assert_answers(tamis_filter *filter, size_t column)
{
    const size_t strangers = golden.strangers.count;
    uint8_t *answers = calloc(1, strangers);
    if (answers == NULL) err(1, "answers");
    for (size_t row = 1; row < golden.added.count; row++) {
        const struct tamis_key key = golden.added_keys[row];
        assert_int_equal(tamis_filter_contains(filter, key.data, key.bytes), 1);
    }
    assert_done(
        tamis_filter_contains_batch(filter, golden.strangers_keys + 1, strangers - 1, answers + 1));
    for (size_t row = 1; row < strangers; row++) {
        const struct tamis_key key = golden.strangers_keys[row];
        const int expected = is_yes(&golden.strangers, row, column);
        assert_int_equal(answers[row], expected);
        assert_int_equal(tamis_filter_contains(filter, key.data, key.bytes), expected);
    }
    free(answers);
}

static void golden_read_only_answers_as_it_did(void **state)
{
    char *path = copy_store();
    tamis_store *store = fixture_open(path, TAMIS_READ_ONLY);
    (void)state;
    for (size_t i = 1; i < golden.filters.count; i++) {
        tamis_filter *filter = open_filter(store, i);
        assert_answers(filter, i);
        assert_done(tamis_filter_close(filter));
    }
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
    free(path);
}

/* What is there is not new and changes nothing; what is not there is new, and stays. */
static void golden_for_writing_answers_as_it_did(void **state)
{
    char *path = copy_store();
    tamis_store *store = fixture_open(path, 0);
    (void)state;
    for (size_t i = 1; i < golden.filters.count; i++) {
        int64_t fresh = 0;
        tamis_filter *filter = open_filter(store, i);
        const int64_t items = tamis_filter_items(filter);
        assert_answers(filter, i);
        for (size_t row = 1; row < golden.added.count; row++) {
            const struct tamis_key key = golden.added_keys[row];
            assert_int_equal(tamis_filter_add(filter, key.data, key.bytes), 0);
        }
        assert_int_equal(tamis_filter_items(filter), items);
        for (size_t row = 1; row < golden.strangers.count && fresh < 10; row++) {
            const struct tamis_key key = golden.strangers_keys[row];
            const int present = tamis_filter_contains(filter, key.data, key.bytes);
            assert_int_equal(tamis_filter_add(filter, key.data, key.bytes), !present);
            assert_int_equal(tamis_filter_contains(filter, key.data, key.bytes), 1);
            fresh += !present;
        }
        assert_int_equal(fresh, 10);
        assert_int_equal(tamis_filter_items(filter), items + fresh);
        assert_done(tamis_filter_sync(filter));
        assert_done(tamis_filter_close(filter));
    }
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
    free(path);
}

static void golden_keys_go_where_they_went(void **state)
{
    char *path = copy_store();
    tamis_store *store = fixture_open(path, TAMIS_READ_ONLY);
    size_t explained = 0;
    (void)state;
    for (size_t i = 1; i < golden.filters.count; i++) {
        tamis_filter *filter = open_filter(store, i);
        for (size_t row = 1; row < golden.positions.count; row++) {
            char hashes[128];
            uint64_t positions[TAMIS_K_MAX];
            struct tamis_explanation e = {hashes, sizeof hashes, positions, TAMIS_K_MAX, 0};
            const struct tamis_key key = golden.positions_keys[row];
            char *const *expected = golden.positions.rows[row];
            if (strcmp(expected[0], filter_text(i, FILTER_NAME)) != 0) continue;
            assert_done(tamis_filter_explain(filter, 0, key.data, key.bytes, &e));
            assert_string_equal(hashes, expected[2]);
            char *at = expected[3];
            for (size_t j = 0; j < e.positions_count; j++, at += *at == ',')
                assert_int_equal(positions[j], strtoull(at, &at, 10));
            assert_int_equal(*at, '\0');
            explained++;
        }
        assert_done(tamis_filter_close(filter));
    }
    assert_int_equal(explained, golden.positions.count - 1);
    tamis_store_close(store);
    free(path);
}

/* The bits and counters of a filter's segment become 0; its size and data are returned. */
static unsigned char *wipe(const char *path, size_t filter, size_t *data_bytes)
{
    struct tamis__segment_header header;
    const char *file = fixture_segment_path(path, filter_number(filter, FILTER_NUMBER));
    fixture_peek(file, 0, &header, sizeof header);
    *data_bytes = (size_t)(header.file_bytes - header.data_offset);
    unsigned char *data = calloc(1, *data_bytes);
    if (data == NULL) err(1, "data");
    fixture_poke(file, header.data_offset, data, *data_bytes);
    fixture_poke(file, offsetof(struct tamis__segment_header, items), data, sizeof header.items);
    char *original =
        golden_path(fixture_segment_path("store", filter_number(filter, FILTER_NUMBER)));
    fixture_peek(original, header.data_offset, data, *data_bytes);
    free(original);
    return data;
}

/* The same keys added again from nothing get the same answers and set the same bits. */
static void golden_bits_are_written_as_they_were(void **state)
{
    (void)state;
    for (size_t i = 1; i < golden.filters.count; i++) {
        size_t data_bytes = 0;
        char *path = copy_store();
        unsigned char *expected = wipe(path, i, &data_bytes), *written = calloc(1, data_bytes);
        tamis_store *store = fixture_open(path, 0);
        tamis_filter *filter = open_filter(store, i);
        if (written == NULL) err(1, "data");
        for (size_t row = 1; row < golden.added.count; row++) {
            const struct tamis_key key = golden.added_keys[row];
            assert_int_equal(tamis_filter_add(filter, key.data, key.bytes),
                             is_yes(&golden.added, row, i));
        }
        assert_int_equal(tamis_filter_items(filter), filter_number(i, FILTER_ITEMS));
        assert_done(tamis_filter_close(filter));
        const char *file = fixture_segment_path(path, filter_number(i, FILTER_NUMBER));
        fixture_peek(file, fixture_size(file) - data_bytes, written, data_bytes);
        assert_memory_equal(written, expected, data_bytes);
        tamis_store_close(store);
        free(written);
        free(expected);
        free(path);
    }
}

/* The store had a filter that was dropped last, with segment 3: its number is not given again. */
static void golden_dropped_number_is_not_given_again(void **state)
{
    struct tamis_segment_stat segment;
    char *path = copy_store();
    tamis_store *store = fixture_open(path, 0);
    tamis_filter *filter = fixture_filter(store, "after", 100);
    (void)state;
    assert_done(tamis_filter_segment(filter, 0, &segment));
    for (size_t i = 1; i < golden.filters.count; i++)
        assert_true(segment.number > filter_number(i, FILTER_NUMBER));
    assert_int_equal(fixture_files(path, "segments"), golden.filters.count);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_metadata_is_what_it_was),
        cmocka_unit_test(golden_read_only_answers_as_it_did),
        cmocka_unit_test(golden_for_writing_answers_as_it_did),
        cmocka_unit_test(golden_keys_go_where_they_went),
        cmocka_unit_test(golden_bits_are_written_as_they_were),
        cmocka_unit_test(golden_dropped_number_is_not_given_again),
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        golden.format = formats[i];
        failed += cmocka_run_group_tests_name(formats[i], tests, set_up, tear_down);
    }
    return failed != 0;
}
