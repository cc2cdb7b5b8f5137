/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields.c: tamis_field(), and the values of fields (tamis_fields.h), from the table of schema.h.
 *
 * A struct says its size.  A field of which it has not all bytes is one that the program's header
 * does not know yet, so it has no value there, and is not written to.  The structs of a
 * foreign-function user need not be aligned: bytes are copied.
 */
#include "filter/schema.h"

/* ---- Which field -------------------------------------------------------------------------- */

static bool is_shown(const struct tamis__field_table *table, uint32_t by, uint32_t i)
{
    const struct tamis__field_row *row = &table->rows[i];
    if (by == TAMIS_SHOWN_BY_INFO) return row->info != NULL;
    if (by == TAMIS_SHOWN_BY_REPLY) return row->reply != NULL;
    if (by == TAMIS_SHOWN_BY_BINDINGS)
        return table->has_bindings && row->type != TAMIS_FIELD_MADE && !row->hidden;
    return true;
}

static uint32_t place_of(const struct tamis__field_row *row, uint32_t by)
{
    if (by == TAMIS_SHOWN_BY_REPLY) return row->reply_place;
    return by == TAMIS_SHOWN_BY_BINDINGS ? row->binding_place : 0;
}

/* The greatest place. Places have no gaps, which a test holds: so it is how many fields have one.
 */
static uint32_t count_placed(const struct tamis__field_table *table, uint32_t by)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (place_of(&table->rows[i], by) > most) most = place_of(&table->rows[i], by);
    return most;
}

/* The number of field `index` of those that are shown; the table's count: there is none. */
static uint32_t find(const struct tamis__field_table *table, uint32_t by, uint32_t index)
{
    const uint32_t placed = count_placed(table, by);
    const uint32_t place = index < placed ? index + 1 : 0;
    uint32_t before = index < placed ? 0 : index - placed, i = 0;
    for (; i < table->count; i++)
        if (is_shown(table, by, i) && place_of(&table->rows[i], by) == place && before-- == 0)
            break;
    return i;
}

TAMIS_API int tamis_field(uint32_t of, uint32_t shown_by, uint32_t index, struct tamis_field *field)
{
    const struct tamis__field_table *table = tamis__field_table(of);
    const int rc = tamis__check_struct(field, "struct tamis_field");
    if (rc < 0) return rc;
    if (table == NULL || shown_by > TAMIS_SHOWN_BY_BINDINGS)
        return tamis__fail(TAMIS_EINVAL,
                           "there are no fields of %" PRIu32 " shown by %" PRIu32
                           "; pass TAMIS_FIELDS_* and TAMIS_SHOWN_*",
                           of, shown_by);
    const uint32_t number = find(table, shown_by, index);
    if (number == table->count) return 0;
    const struct tamis__field_row *row = &table->rows[number];
    const struct tamis_field found = {.size = sizeof found,
                                      .name = row->name,
                                      .info_name = row->info,
                                      .reply_name = row->reply,
                                      .unit = row->unit ? row->unit : "",
                                      .sentence = row->sentence,
                                      .lacking = row->lacking,
                                      .of = of,
                                      .number = number,
                                      .type = row->type,
                                      .sum = row->sum};
    tamis__give_struct(&found, sizeof found, field);
    return 1;
}

/* ---- Its value ---------------------------------------------------------------------------- */

/* Gets the row of a caller's field, if the caller's struct has it.  Returns 1; 0: it does not. */
static int find_member(const struct tamis_field *theirs, const void *record,
                       const struct tamis__field_row **row)
{
    struct tamis_field field;
    int rc = tamis__take_struct(theirs, &field, sizeof field, "struct tamis_field");
    if (rc < 0) return rc;
    const struct tamis__field_table *table = tamis__field_table(field.of);
    if (table == NULL || field.number >= table->count)
        return tamis__fail(TAMIS_EINVAL, "that is no field; pass one that tamis_field() has given");
    rc = tamis__check_struct(record, field.of == TAMIS_FIELDS_FILTER ? "struct tamis_filter_stat"
                                                                     : "struct tamis_segment_stat");
    if (rc < 0) return rc;
    size_t size;
    memcpy(&size, record, sizeof size);
    *row = &table->rows[field.number];
    return (*row)->type != TAMIS_FIELD_MADE && size >= (size_t)(*row)->offset + (*row)->bytes;
}

static uint64_t load(const void *record, size_t offset, size_t bytes)
{
    uint32_t narrow;
    uint64_t wide;
    if (bytes == sizeof wide) {
        memcpy(&wide, (const char *)record + offset, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const char *)record + offset, sizeof narrow);
    return narrow;
}

static uint64_t load_member(const void *record, const struct tamis__field_row *row)
{
    return load(record, row->offset, row->bytes);
}

static const char *word_of(const void *record, const struct tamis__field_row *row)
{
    const uint32_t number = (uint32_t)load_member(record, row);
    if (row->word == TAMIS__WORD_KIND) return tamis_kind_name(number);
    if (row->word == TAMIS__WORD_ON_FULL) return tamis_on_full_name(number);
    if (row->word == TAMIS__WORD_PAGES) return tamis_pages_name(number);
    if (load(record, offsetof(struct tamis_filter_stat, slices), sizeof(uint32_t)) == 0)
        return NULL;
    return number & TAMIS_FILTER_FROM_FIRST ? "first" : "last";
}

TAMIS_API int tamis_field_get(const struct tamis_field *field, const void *record,
                              struct tamis_field_value *value)
{
    struct tamis_field_value found = {.size = sizeof found};
    const struct tamis__field_row *row = NULL;
    int rc = tamis__check_struct(value, "struct tamis_field_value");
    if (rc == 0) rc = find_member(field, record, &row);
    if (rc <= 0 || row == NULL) return rc;
    switch (row->type) {
    case TAMIS_FIELD_TEXT:
        found.text = (const char *)record + row->offset;
        break;
    case TAMIS_FIELD_WORD:
        found.text = word_of(record, row);
        found.number = load_member(record, row);
        break;
    case TAMIS_FIELD_YES:
        found.number = (load_member(record, row) & row->bit) != 0;
        break;
    case TAMIS_FIELD_REAL:
        memcpy(&found.real, (const char *)record + row->offset, sizeof found.real);
        break;
    case TAMIS_FIELD_TIME:
    case TAMIS_FIELD_SPAN:
        found.ns = (int64_t)load_member(record, row);
        break;
    default:
        found.number = load_member(record, row);
    }
    tamis__give_struct(&found, sizeof found, value);
    return 1;
}

/* ---- The other way ------------------------------------------------------------------------ */

static int fail_value(const struct tamis__field_row *row)
{
    return tamis__fail(TAMIS_EINVAL, "the field '%s' cannot hold that value", row->name);
}

static int store_number(void *record, const struct tamis__field_row *row, uint64_t number)
{
    const uint32_t narrow = (uint32_t)number;
    if (row->bytes == sizeof number) {
        memcpy((char *)record + row->offset, &number, sizeof number);
        return 1;
    }
    if (number != narrow) return fail_value(row);
    memcpy((char *)record + row->offset, &narrow, sizeof narrow);
    return 1;
}

static int store_bit(void *record, const struct tamis__field_row *row, uint32_t bit, bool is_set)
{
    const uint64_t others = load_member(record, row) & ~(uint64_t)bit;
    return store_number(record, row, others | (is_set ? bit : 0));
}

static int store_text(void *record, const struct tamis__field_row *row, const char *text)
{
    const size_t bytes = text != NULL ? strlen(text) + 1 : SIZE_MAX;
    if (bytes > row->bytes) return fail_value(row);
    char *member = (char *)record + row->offset;
    memmove(member, text, bytes); /* tamis_field_get() gives a text of this very record */
    memset(member + bytes, 0, row->bytes - bytes);
    return 1;
}

/* Finds a word among those that `name` gives for the numbers from `first` on. */
static int store_named(void *record, const struct tamis__field_row *row, const char *word,
                       uint32_t first, const char *(*name)(uint32_t))
{
    for (uint32_t i = first; name(i) != NULL; i++)
        if (strcmp(name(i), word) == 0) return store_number(record, row, i);
    return fail_value(row);
}

static int store_word(void *record, const struct tamis__field_row *row, const char *word)
{
    uint32_t kind;
    if (row->word == TAMIS__WORD_WINDOW_FROM)
        return store_bit(record, row, TAMIS_FILTER_FROM_FIRST,
                         word != NULL && strcmp(word, "first") == 0);
    if (word == NULL) return fail_value(row);
    if (row->word == TAMIS__WORD_ON_FULL)
        return store_named(record, row, word, TAMIS_ON_FULL_GROW, tamis_on_full_name);
    if (row->word == TAMIS__WORD_PAGES)
        return store_named(record, row, word, TAMIS_PAGES_AUTO, tamis_pages_name);
    return tamis_kind_from_name(word, &kind) < 0 ? fail_value(row)
                                                 : store_number(record, row, kind);
}

TAMIS_API int tamis_field_set(const struct tamis_field *field, void *record,
                              const struct tamis_field_value *value)
{
    struct tamis_field_value given;
    const struct tamis__field_row *row = NULL;
    int rc = tamis__take_struct(value, &given, sizeof given, "struct tamis_field_value");
    if (rc == 0) rc = find_member(field, record, &row);
    if (rc <= 0 || row == NULL) return rc;
    switch (row->type) {
    case TAMIS_FIELD_TEXT:
        return store_text(record, row, given.text);
    case TAMIS_FIELD_WORD:
        return store_word(record, row, given.text);
    case TAMIS_FIELD_YES:
        return store_bit(record, row, row->bit, given.number != 0);
    case TAMIS_FIELD_REAL:
        memcpy((char *)record + row->offset, &given.real, sizeof given.real);
        return 1;
    case TAMIS_FIELD_TIME:
    case TAMIS_FIELD_SPAN:
        return store_number(record, row, (uint64_t)given.ns);
    default:
        return store_number(record, row, given.number);
    }
}
