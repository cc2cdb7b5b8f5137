/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields_test.c: the table of fields has all bytes of the structs, and its values are theirs
 * (store/filter/fields.c, store/filter/schema.c).
 *
 * What each output shows is beside the table in tests/docs/fields.py.  Seen to fail: all_bytes with
 * a row taken out and with a member added to the struct that has no row; text_of_itself with a
 * store_text() that clears the member before it copies (a filter in shards lost its hash set).
 */
#include "fixture.h"

#include <string.h>

#define UNTOUCHED 0xa5

static struct tamis_field field_of(uint32_t of, const char *name)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_ANYWHERE, i, &field) == 1; i++)
        if (strcmp(field.name, name) == 0) return field;
    fail_msg("no field '%s'", name);
    return field;
}

static struct tamis_field_value value_of(const void *record, const char *name)
{
    const struct tamis_field field = field_of(TAMIS_FIELDS_FILTER, name);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    assert_int_equal(tamis_field_get(&field, record, &value), 1);
    return value;
}

static int set(void *record, const char *name, struct tamis_field_value value)
{
    const struct tamis_field field = field_of(TAMIS_FIELDS_FILTER, name);
    value.size = sizeof value;
    return tamis_field_set(&field, record, &value);
}

/* ---- All of a struct ---------------------------------------------------------------------- */

/* A value that some field can hold and whose bytes are 0 all over; of words, that of a number that
 * has a word. */
static void clear_field(const struct tamis_field *field, void *record)
{
    const struct tamis_field_value empty = {.size = sizeof empty, .text = ""};
    struct tamis_field_value word = empty;
    word.text = strcmp(field->name, "kind") == 0      ? "blocked"
                : strcmp(field->name, "on_full") == 0 ? "grow"
                : strcmp(field->name, "pages") == 0   ? "auto"
                                                      : "last";
    assert_int_equal(
        tamis_field_set(field, record, field->type == TAMIS_FIELD_WORD ? &word : &empty),
        field->type != TAMIS_FIELD_MADE);
}

/* Sets every field of a struct that is full of other bytes.  A byte that stays is one that the
 * table has not: a member without a row, or padding. */
static void assert_all_bytes_are_set(uint32_t of, unsigned char *record, size_t bytes)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    memset(record, UNTOUCHED, bytes);
    memcpy(record, &bytes, sizeof bytes);
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_ANYWHERE, i, &field) == 1; i++)
        clear_field(&field, record);
    for (size_t i = sizeof bytes; i < bytes; i++)
        if (record[i] == UNTOUCHED) fail_msg("byte %zu of struct %u is in no field", i, of);
}

CASE(fields_have_all_bytes_of_the_structs)
{
    struct tamis_filter_stat filter;
    struct tamis_segment_stat segment;
    assert_all_bytes_are_set(TAMIS_FIELDS_FILTER, (unsigned char *)&filter, sizeof filter);
    assert_all_bytes_are_set(TAMIS_FIELDS_SEGMENT, (unsigned char *)&segment, sizeof segment);
}

/* Places without gaps, or a field would be shown twice and another never. */
CASE(fields_of_each_order_are_those_that_it_shows_once)
{
    for (uint32_t of = TAMIS_FIELDS_FILTER; of <= TAMIS_FIELDS_SEGMENT; of++)
        for (uint32_t by = TAMIS_SHOWN_BY_INFO; by <= TAMIS_SHOWN_BY_REPLY; by++) {
            struct tamis_field field = TAMIS_INIT(struct tamis_field);
            bool seen[64] = {false};
            uint32_t count = 0, named = 0;
            for (; tamis_field(of, by, count, &field) == 1; count++) {
                assert_in_range(field.number, 0, 63);
                assert_false(seen[field.number]);
                seen[field.number] = true;
            }
            for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_ANYWHERE, i, &field) == 1; i++)
                named += (by == TAMIS_SHOWN_BY_INFO ? field.info_name : field.reply_name) != NULL;
            assert_int_equal(count, named);
        }
}

/* ---- Values ------------------------------------------------------------------------------- */

CASE(fields_give_and_take_each_type)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    assert_int_equal(set(&stat, "name", (struct tamis_field_value){.text = "seen"}), 1);
    assert_int_equal(set(&stat, "kind", (struct tamis_field_value){.text = "fuse"}), 1);
    assert_int_equal(set(&stat, "on_full", (struct tamis_field_value){.text = "warn"}), 1);
    assert_int_equal(set(&stat, "k", (struct tamis_field_value){.number = 7}), 1);
    assert_int_equal(set(&stat, "seed", (struct tamis_field_value){.number = UINT64_MAX}), 1);
    assert_int_equal(set(&stat, "fp_rate", (struct tamis_field_value){.real = 0.25}), 1);
    assert_int_equal(set(&stat, "created_at", (struct tamis_field_value){.ns = -5}), 1);
    assert_int_equal(set(&stat, "durable", (struct tamis_field_value){.number = 1}), 1);
    assert_int_equal(set(&stat, "window_from", (struct tamis_field_value){.text = "first"}), 1);
    assert_string_equal(stat.name, "seen");
    assert_int_equal(stat.kind, TAMIS_KIND_FUSE);
    assert_int_equal(stat.on_full, TAMIS_ON_FULL_WARN);
    assert_int_equal(stat.flags, TAMIS_FILTER_DURABLE | TAMIS_FILTER_FROM_FIRST);
    assert_true(stat.fp_rate == 0.25 && stat.created_at == -5 && stat.seed == UINT64_MAX);
    assert_string_equal(value_of(&stat, "name").text, "seen");
    assert_string_equal(value_of(&stat, "kind").text, "fuse");
    assert_int_equal(value_of(&stat, "kind").number, TAMIS_KIND_FUSE);
    assert_int_equal(value_of(&stat, "k").number, 7);
    assert_int_equal(value_of(&stat, "durable").number, 1);
    assert_int_equal(value_of(&stat, "created_at").ns, -5);
    assert_null(value_of(&stat, "window_from").text); /* no window */
    stat.slices = 2;
    assert_string_equal(value_of(&stat, "window_from").text, "first");
    assert_int_equal(set(&stat, "window_from", (struct tamis_field_value){.text = "last"}), 1);
    assert_int_equal(stat.flags, TAMIS_FILTER_DURABLE);
    stat.kind = 99;
    assert_null(value_of(&stat, "kind").text);
    assert_int_equal(value_of(&stat, "kind").number, 99);
}

CASE(fields_take_the_text_of_itself)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    strcpy(stat.hash_set, "xxh3");
    assert_int_equal(set(&stat, "hash_set", value_of(&stat, "hash_set")), 1);
    assert_string_equal(stat.hash_set, "xxh3");
}

CASE(fields_refuse_what_they_cannot_hold)
{
    static char longer[TAMIS_NAME_MAX + 2];
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    const struct tamis_filter_stat before = stat;
    memset(longer, 'n', sizeof longer - 1);
    const struct tamis_field_value wide = {.number = (uint64_t)UINT32_MAX + 1};
    assert_int_equal(set(&stat, "name", (struct tamis_field_value){.text = longer}), TAMIS_EINVAL);
    assert_int_equal(set(&stat, "name", (struct tamis_field_value){.text = NULL}), TAMIS_EINVAL);
    assert_int_equal(set(&stat, "kind", (struct tamis_field_value){.text = "none"}), TAMIS_EINVAL);
    assert_int_equal(set(&stat, "kind", (struct tamis_field_value){.text = NULL}), TAMIS_EINVAL);
    assert_int_equal(set(&stat, "on_full", (struct tamis_field_value){.text = ""}), TAMIS_EINVAL);
    assert_int_equal(set(&stat, "k", wide), TAMIS_EINVAL);
    assert_non_null(strstr(tamis_last_error(), "'k'"));
    assert_int_equal(set(&stat, "note", wide), 0); /* no member has it */
    assert_memory_equal(&stat, &before, sizeof stat);
}

/* A program that is older than the library has a smaller struct. */
CASE(fields_past_the_end_of_a_struct_are_not_there)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    const struct tamis_field field = field_of(TAMIS_FIELDS_FILTER, "live_slices");
    stat.live_slices = 7;
    stat.size = offsetof(struct tamis_filter_stat, live_slices) + sizeof stat.live_slices;
    assert_int_equal(tamis_field_get(&field, &stat, &value), 1);
    assert_int_equal(value.number, 7);
    stat.size--;
    assert_int_equal(tamis_field_get(&field, &stat, &value), 0);
    value.number = 9;
    assert_int_equal(tamis_field_set(&field, &stat, &value), 0);
    assert_int_equal(stat.live_slices, 7);
}

CASE(fields_that_there_are_not_are_told)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    assert_int_equal(tamis_field(0, TAMIS_SHOWN_ANYWHERE, 0, &field), TAMIS_EINVAL);
    assert_int_equal(tamis_field(3, TAMIS_SHOWN_ANYWHERE, 0, &field), TAMIS_EINVAL);
    assert_int_equal(tamis_field(TAMIS_FIELDS_FILTER, 4, 0, &field), TAMIS_EINVAL);
    assert_int_equal(tamis_field(TAMIS_FIELDS_FILTER, TAMIS_SHOWN_ANYWHERE, UINT32_MAX, &field), 0);
    assert_int_equal(tamis_field(TAMIS_FIELDS_SEGMENT, TAMIS_SHOWN_BY_BINDINGS, 0, &field), 0);
    assert_int_equal(tamis_field(TAMIS_FIELDS_FILTER, 0, 0, NULL), TAMIS_EINVAL);
    assert_int_equal(tamis_field_get(&field, &stat, &value), TAMIS_EINVAL); /* of nothing yet */
    field = field_of(TAMIS_FIELDS_FILTER, "k");
    field.number = UINT32_MAX;
    assert_int_equal(tamis_field_get(&field, &stat, &value), TAMIS_EINVAL);
    field.number = 0;
    assert_int_equal(tamis_field_get(&field, NULL, &value), TAMIS_EINVAL);
    assert_int_equal(tamis_field_get(&field, &stat, NULL), TAMIS_EINVAL);
    assert_int_equal(tamis_field_set(&field, &stat, NULL), TAMIS_EINVAL);
}
