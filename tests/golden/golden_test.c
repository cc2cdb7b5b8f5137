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

#include "tsv.h"

static const char *const formats[] = {"format-1", "format-1-hash-sets", "format-1-md5",
                                      "format-1-spark"};

/* The keys of a table, by its rows. */
static struct golden {
    const char *format;
    struct tsv filters, segments, added, strangers, positions;
    struct tamis_key *added_keys, *strangers_keys, *positions_keys;
} golden;

/* ---- Reading the tables ---------------------------------------------------------------------- */

static char *golden_path(const char *rest)
{
    char *path;
    if (asprintf(&path, "%s/%s/%s", GOLDEN_DIRECTORY, golden.format, rest) < 0) err(1, "asprintf");
    return path;
}

static struct tsv table_read(const char *name)
{
    AUTO_FREE char *path = golden_path(name);
    return tsv_read_file(path);
}

/* Turn a column of hexadecimal into bytes, in its place. */
static struct tamis_key *keys_of(const struct tsv *table, size_t column)
{
    struct tamis_key *keys = calloc(table->rows, sizeof *keys);
    if (keys == NULL) err(1, "keys");
    for (size_t row = 0; row < table->rows; row++) {
        char *hex = table->cells[(row + 1) * table->columns + column];
        AUTO_STREAM bytes = {.data = NULL};
        stream_put_hex(&bytes, hex, strlen(hex));
        if (bytes.bytes > 0) memcpy(hex, bytes.data, bytes.bytes);
        keys[row] = (struct tamis_key){.data = hex, .bytes = bytes.bytes};
    }
    return keys;
}

static int set_up(void **state)
{
    (void)state;
    golden.filters = table_read("filters.tsv");
    golden.segments = table_read("segments.tsv");
    golden.added = table_read("added.tsv");
    golden.strangers = table_read("strangers.tsv");
    golden.positions = table_read("positions.tsv");
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
    tsv_free(&golden.filters);
    tsv_free(&golden.segments);
    tsv_free(&golden.added);
    tsv_free(&golden.strangers);
    tsv_free(&golden.positions);
    return 0;
}

static const char *filter_text(size_t filter, const char *column)
{
    return tsv_cell(&golden.filters, filter, column);
}

static uint64_t filter_number(size_t filter, const char *column)
{
    return tsv_number(&golden.filters, filter, column);
}

static const char *segment_text(size_t row, const char *column)
{
    return tsv_cell(&golden.segments, row, column);
}

static uint64_t segment_number(size_t row, const char *column)
{
    return tsv_number(&golden.segments, row, column);
}

/* Its segments are so many rows of segments.tsv from *first on, the oldest first. */
static uint32_t segments_of(size_t filter, size_t *first)
{
    uint32_t count = 0;
    *first = 0;
    for (size_t row = 0; row < golden.segments.rows; row++) {
        if (strcmp(segment_text(row, "filter"), filter_text(filter, "name")) != 0) continue;
        if (count++ == 0) *first = row;
    }
    return count;
}

/* What the table says the filter answered: 1, 0, or TAMIS_EFULL. */
static int answer_of(const struct tsv *table, size_t row, size_t filter)
{
    const char *answer = tsv_cell(table, row, filter_text(filter, "name"));
    if (strcmp(answer, "yes") == 0 || strcmp(answer, "NEW") == 0) return 1;
    if (strcmp(answer, "FULL") == 0) return TAMIS_EFULL;
    if (strcmp(answer, "no") != 0 && strcmp(answer, "SEEN") != 0) errx(1, "answer %s", answer);
    return 0;
}

static bool refuses(size_t filter)
{
    return strcmp(filter_text(filter, "on_full"), "refuse") == 0;
}

/* ---- Stores ---------------------------------------------------------------------------------- */

static char *copy_store(void)
{
    char *from = golden_path("store"), *path = scratch_path("golden");
    scratch_copy(from, path);
    free(from);
    return path;
}

static tamis_filter *open_filter(tamis_store *store, size_t filter)
{
    return fixture_opened(store, filter_text(filter, "name"), 0);
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void assert_rate(double rate, const char *text)
{
    const double expected = strtod(text, NULL); /* printed with 15 digits */
    assert_true(fabs(rate - expected) <= 1e-12 * expected);
}

/* The segment says its filter's name, after a rename too. */
static void assert_label(const char *path, size_t row)
{
    struct tamis__segment_header header =
        fixture_header_of(fixture_segment_path(path, segment_number(row, "number")));
    const struct tamis__name_label *label = tamis__label_current(&header);
    assert_non_null(label);
    assert_string_equal(label->name, segment_text(row, "filter"));
}

static void assert_segment(const char *path, tamis_filter *filter, uint32_t index, size_t row)
{
    static const char *const orders[] = {"lsb-first", "msb-first"};
    struct tamis_segment_stat segment = fixture_segment_stat(filter, index);
    assert_int_equal(segment.number, segment_number(row, "number"));
    assert_string_equal(tamis_kind_name(segment.kind), segment_text(row, "kind"));
    assert_int_equal(segment.words, segment_number(row, "words"));
    assert_string_equal(orders[segment.bit_order & 1], segment_text(row, "bit_order"));
    assert_int_equal(segment.m_bits, segment_number(row, "m_bits"));
    assert_int_equal(segment.k, segment_number(row, "k"));
    assert_int_equal(segment.capacity, segment_number(row, "capacity"));
    assert_rate(segment.fp_rate, segment_text(row, "fp_rate"));
    assert_int_equal(segment.items, segment_number(row, "items"));
    assert_int_equal(segment.step, segment_number(row, "step"));
    assert_int_equal(segment.slice, segment_number(row, "slice"));
    assert_int_equal(segment.file_bytes, segment_number(row, "size_bytes"));
    assert_int_equal(segment.flags, segment_number(row, "flags"));
    assert_label(path, row);
}

static void assert_stat(tamis_filter *filter, size_t i)
{
    static const char *const policies[] = {"", "grow", "refuse", "warn"};
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_string_equal(stat.name, filter_text(i, "name"));
    assert_string_equal(tamis_kind_name(stat.kind), filter_text(i, "kind"));
    assert_string_equal(stat.hash_set, filter_text(i, "hash_set"));
    assert_int_equal(stat.m_bits, filter_number(i, "m_bits"));
    assert_int_equal(stat.k, filter_number(i, "k"));
    assert_int_equal(stat.seed, filter_number(i, "seed"));
    assert_int_equal(stat.capacity, filter_number(i, "capacity"));
    assert_rate(stat.fp_rate, filter_text(i, "fp_rate"));
    assert_int_equal(stat.items, filter_number(i, "items"));
    assert_int_equal(tamis_filter_items(filter), filter_number(i, "items"));
    assert_string_equal(policies[stat.on_full & 3], filter_text(i, "on_full"));
    assert_int_equal(stat.slices, filter_number(i, "slices"));
    const bool is_full = strcmp(filter_text(i, "state"), "full") == 0;
    assert_int_equal(stat.state & ~TAMIS_STATE_OVER, is_full ? TAMIS_STATE_FULL : 0);
    assert_true(stat.created_at > 0 && stat.checkpointed_at >= stat.created_at);
}

static void golden_metadata_is_what_it_was(void **state)
{
    AUTO_FREE char *path = copy_store();
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    (void)state;
    for (size_t i = 0; i < golden.filters.rows; i++) {
        size_t first;
        AUTO_FILTER *filter = open_filter(store, i);
        assert_stat(filter, i);
        struct tamis_filter_stat stat = fixture_stat(filter);
        assert_int_equal(stat.segment_count, segments_of(i, &first));
        for (uint32_t s = 0; s < stat.segment_count; s++)
            assert_segment(path, filter, s, first + s);
    }
}

/* Single calls and batches; each key that was taken is there, strangers answer as they did. */
static void assert_answers(tamis_filter *filter, size_t column)
{
    const size_t strangers = golden.strangers.rows;
    AUTO_FREE uint8_t *answers = calloc(1, strangers);
    if (answers == NULL) err(1, "answers");
    for (size_t row = 0; row < golden.added.rows; row++) {
        const struct tamis_key key = golden.added_keys[row];
        const int expected = answer_of(&golden.added, row, column) != TAMIS_EFULL;
        assert_int_equal(tamis_filter_contains(filter, key.data, key.bytes), expected);
    }
    assert_done(tamis_filter_contains_batch(filter, golden.strangers_keys, strangers, answers));
    for (size_t row = 0; row < strangers; row++) {
        const struct tamis_key key = golden.strangers_keys[row];
        const int expected = answer_of(&golden.strangers, row, column);
        assert_int_equal(answers[row], expected);
        assert_int_equal(tamis_filter_contains(filter, key.data, key.bytes), expected);
    }
}

static void golden_read_only_answers_as_it_did(void **state)
{
    AUTO_FREE char *path = copy_store();
    tamis_store *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    (void)state;
    for (size_t i = 0; i < golden.filters.rows; i++) {
        AUTO_FILTER *filter = open_filter(store, i);
        assert_answers(filter, i);
    }
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
}

/* What is there is not new and, but in an older slice, changes nothing. */
static void assert_added_again(tamis_filter *filter, size_t column)
{
    const int64_t items = tamis_filter_items(filter);
    for (size_t row = 0; row < golden.added.rows; row++) {
        const struct tamis_key key = golden.added_keys[row];
        const bool refused = answer_of(&golden.added, row, column) == TAMIS_EFULL;
        assert_int_equal(tamis_filter_add(filter, key.data, key.bytes), refused ? TAMIS_EFULL : 0);
    }
    if (filter_number(column, "slices") == 0) assert_int_equal(tamis_filter_items(filter), items);
}

/* What is not there is new, and stays; or is refused, and does not. */
static void assert_strangers_added(tamis_filter *filter, size_t column)
{
    const int64_t items = tamis_filter_items(filter);
    int64_t fresh = 0;
    for (size_t row = 0; row < golden.strangers.rows && fresh < 10; row++) {
        const struct tamis_key key = golden.strangers_keys[row];
        const int present = tamis_filter_contains(filter, key.data, key.bytes);
        const int refused = !present && refuses(column);
        assert_int_equal(tamis_filter_add(filter, key.data, key.bytes),
                         refused ? TAMIS_EFULL : !present);
        assert_int_equal(tamis_filter_contains(filter, key.data, key.bytes), !refused);
        fresh += !present;
    }
    assert_int_equal(fresh, 10);
    assert_int_equal(tamis_filter_items(filter), refuses(column) ? items : items + fresh);
}

static void golden_for_writing_answers_as_it_did(void **state)
{
    AUTO_FREE char *path = copy_store();
    tamis_store *store = fixture_open(path, 0);
    (void)state;
    for (size_t i = 0; i < golden.filters.rows; i++) {
        AUTO_FILTER *filter = open_filter(store, i);
        assert_answers(filter, i);
        assert_added_again(filter, i);
        assert_strangers_added(filter, i);
        assert_done(tamis_filter_sync(filter));
    }
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
}

/* Of a list a key has a row for each segment. */
static uint32_t segment_of_row(size_t row)
{
    uint32_t segment = 0;
    const struct tamis_key key = golden.positions_keys[row];
    for (size_t before = row; before-- > 0; segment++) {
        const struct tamis_key other = golden.positions_keys[before];
        if (strcmp(tsv_cell(&golden.positions, before, "filter"),
                   tsv_cell(&golden.positions, row, "filter")) != 0 ||
            other.bytes != key.bytes || memcmp(other.data, key.data, key.bytes) != 0)
            break;
    }
    return segment;
}

static void golden_keys_go_where_they_went(void **state)
{
    AUTO_FREE char *path = copy_store();
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    size_t explained = 0;
    (void)state;
    for (size_t i = 0; i < golden.filters.rows; i++) {
        tamis_filter *filter = open_filter(store, i);
        for (size_t row = 0; row < golden.positions.rows; row++) {
            char hashes[64 * TAMIS_K_MAX];
            const uint32_t segment = segment_of_row(row);
            uint64_t positions[TAMIS_K_MAX];
            struct tamis_explanation e = {
                .size = sizeof e, hashes, sizeof hashes, positions, TAMIS_K_MAX, 0};
            const struct tamis_key key = golden.positions_keys[row];
            const char *name = tsv_cell(&golden.positions, row, "filter");
            if (strcmp(name, filter_text(i, "name")) != 0) continue;
            assert_done(tamis_filter_explain(filter, segment, key.data, key.bytes, &e));
            assert_string_equal(hashes, tsv_cell(&golden.positions, row, "hashes"));
            const char *at = tsv_cell(&golden.positions, row, "positions");
            for (size_t j = 0; j < e.positions_count; j++, at += *at == ',') {
                char *end;
                assert_int_equal(positions[j], strtoull(at, &end, 10));
                at = end;
            }
            assert_int_equal(*at, '\0');
            explained++;
        }
        assert_done(tamis_filter_close(filter));
    }
    assert_int_equal(explained, golden.positions.rows);
}

/* Bits, counters and `next` of a segment become as in a new one; its size and data are returned. */
static unsigned char *wipe(const char *path, uint64_t number, size_t *data_bytes)
{
    const uint64_t next = 0;
    const char *file = fixture_segment_path(path, number);
    struct tamis__segment_header header = fixture_header_of(file);
    *data_bytes = (size_t)(header.file_bytes - header.data_offset);
    unsigned char *data = calloc(1, *data_bytes);
    if (data == NULL) err(1, "data");
    fixture_poke(file, header.data_offset, data, *data_bytes);
    fixture_poke(file, offsetof(struct tamis__segment_header, items), data, sizeof header.items);
    fixture_poke(file, offsetof(struct tamis__segment_header, live.next), &next, sizeof next);
    AUTO_FREE char *original = golden_path(fixture_segment_path("store", number));
    fixture_peek(original, header.data_offset, data, *data_bytes);
    return data;
}

/* In a filter of one segment, `number`. */
static void assert_written_as_it_was(size_t filter, uint64_t number)
{
    size_t data_bytes = 0;
    AUTO_FREE char *path = copy_store();
    AUTO_FREE unsigned char *expected = wipe(path, number, &data_bytes),
                            *written = calloc(1, data_bytes);
    AUTO_STORE *store = fixture_open(path, 0);
    tamis_filter *open = open_filter(store, filter);
    if (written == NULL) err(1, "data");
    for (size_t row = 0; row < golden.added.rows; row++) {
        const struct tamis_key key = golden.added_keys[row];
        assert_int_equal(tamis_filter_add(open, key.data, key.bytes),
                         answer_of(&golden.added, row, filter));
    }
    assert_int_equal(tamis_filter_items(open), filter_number(filter, "items"));
    assert_done(tamis_filter_close(open));
    const char *file = fixture_segment_path(path, number);
    fixture_peek(file, fixture_size(file) - data_bytes, written, data_bytes);
    /* Behind the data may be checksums by now. */
    assert_memory_equal(written, expected, (size_t)fixture_header_of(file).data_bytes);
}

/* The same keys added again from nothing get the same answers and set the same bits. */
static void golden_bits_are_written_as_they_were(void **state)
{
    size_t looked_at = 0;
    (void)state;
    for (size_t i = 0; i < golden.filters.rows; i++) {
        size_t first;
        if (segments_of(i, &first) > 1) continue; /* its older segments take no more keys */
        assert_written_as_it_was(i, segment_number(first, "number"));
        looked_at++;
    }
    assert_true(looked_at > 0);
}

/* In format-1.  A list that has grown grows on: its next segment is the one that its policy says.
 * */
static void golden_grown_list_grows_on(void **state)
{
    AUTO_FREE char *path = copy_store();
    tamis_store *store = fixture_open(path, 0);
    (void)state;
    tamis_filter *filter = fixture_opened(store, "grown", 0);
    for (uint64_t key = 0; key < 500; key++) /* the third segment of 400 had 60 */
        assert_done(tamis_filter_add(filter, &key, sizeof key));
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.segment_count, 4);
    struct tamis_segment_stat newest = fixture_segment_stat(filter, 3);
    assert_int_equal(newest.step, 3);
    assert_int_equal(newest.capacity, 65536);
    /* Of what the three, which an older version planned, left over of 1e-3, this version's share
     * of a segment for so few keys. */
    assert_true(fabs(newest.fp_rate - (1e-3 - 5e-4 - 1e-4 - 8e-5) * 0.12) < 1e-9);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
}

/* The store had a filter that was dropped last: its number is not given again. */
static void golden_dropped_number_is_not_given_again(void **state)
{
    AUTO_FREE char *path = copy_store();
    tamis_store *store = fixture_open(path, 0);
    tamis_filter *filter = fixture_filter(store, "after", 100);
    (void)state;
    struct tamis_segment_stat segment = fixture_segment_stat(filter, 0);
    for (size_t row = 0; row < golden.segments.rows; row++)
        assert_true(segment.number > segment_number(row, "number"));
    assert_int_equal(fixture_files(path, "segments"), golden.segments.rows + 1);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
}

/* Is it a build with libmd? */
static bool has_md5(void)
{
    char hashes[64];
    uint64_t position;
    struct tamis_explanation e = {.size = sizeof e, hashes, sizeof hashes, &position, 1, 0};
    return tamis_explain("md5", 8, 1, 0, "", 0, &e) == 0;
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
    const struct CMUnitTest lists[] = {cmocka_unit_test(golden_grown_list_grows_on)};
    int failed = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        golden.format = formats[i];
        if (strcmp(golden.format, "format-1-md5") == 0 && !has_md5()) continue;
        failed += cmocka_run_group_tests_name(formats[i], tests, set_up, tear_down);
    }
    golden.format = "format-1";
    failed += cmocka_run_group_tests_name("lists of format-1", lists, NULL, NULL);
    return failed != 0;
}
