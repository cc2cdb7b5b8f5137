/* SPDX-License-Identifier: BSD-2-Clause */
/* columns.c: what `tamis list` shows, sorts and selects by; see columns.h. */
#include "columns.h"

#include "state.h"
#include "table.h"

/* The fields that the keys of order.h are, by their names. */
static const char *const FIELD_OF_KEY[ORDER_KEYS] = {
    [ORDER_NAME] = "name",       [ORDER_KIND] = "kind",     [ORDER_CAPACITY] = "capacity",
    [ORDER_ITEMS] = "items",     [ORDER_ASKED] = "fp_rate", [ORDER_RATE] = "fp_rate_now",
    [ORDER_SIZE] = "size_bytes", [ORDER_STATE] = "state",
};

/* A list has the stat of a filter, and no more. */
static struct filter_view view_of(const struct tamis_filter_stat *stat)
{
    struct filter_view view = {.stat = *stat};
    if (stat->imported_at != 0) view.holds |= VIEW_IMPORTED;
    if (stat->imported_signed_by[0] != '\0') view.holds |= VIEW_SIGNED;
    return view;
}

static bool is_known_of_stat(const struct field *field)
{
    return field != NULL && (field->needs & ~(VIEW_IMPORTED | VIEW_SIGNED)) == 0;
}

bool column_find(const char *name, struct column *column)
{
    const int key = order_find(name);
    const char *of_key = key >= 0 ? FIELD_OF_KEY[key] : name;
    *column = (struct column){.key = key};
    if (of_key != NULL) column->field = field_find(of_key);
    if (key < 0 && !is_known_of_stat(column->field)) return false;
    column->name = key >= 0 ? order_name(key) : column->field->name;
    return true;
}

/* Frees `names`, and returns them with one more. */
static char *with_name(char *names, const char *name)
{
    char *longer = cli_format("%s%s%s", names, names[0] ? " " : "", name);
    free(names);
    return longer;
}

char *column_names(void)
{
    char *names = cli_strdup(""), *fields = field_names();
    for (int key = 0; key < ORDER_KEYS; key++)
        names = with_name(names, order_name(key));
    for (char *field = strtok(fields, " "); field != NULL; field = strtok(NULL, " ")) {
        struct column column;
        if (column_find(field, &column) && column.key < 0) names = with_name(names, field);
    }
    free(fields);
    return names;
}

int column_fail(const char *option, const char *name)
{
    char *names = column_names();
    const int status =
        cli_fail("%s: there is no column '%s'; the columns are: %s", option, name, names);
    free(names);
    return status;
}

static void add_column(struct columns *columns, const struct column *column)
{
    columns->all = cli_grow(columns->all, columns->count + 1, &columns->room, sizeof *columns->all);
    columns->all[columns->count++] = *column;
}

bool columns_take(struct columns *columns, const char *option, const char *names)
{
    for (const char *at = names;; at++) {
        const size_t bytes = strcspn(at, ",");
        char *name = cli_copy(at, bytes);
        struct column column;
        const bool found = column_find(name, &column);
        if (found)
            add_column(columns, &column);
        else
            (void)column_fail(option, name);
        free(name);
        if (!found) return false;
        if (columns->count > TABLE_COLUMNS_MAX) {
            (void)cli_fail("%s: these are too many columns; give %d at most", option,
                           TABLE_COLUMNS_MAX);
            return false;
        }
        at += bytes;
        if (*at == '\0') return true;
    }
}

void columns_clear(struct columns *columns)
{
    free(columns->all);
    *columns = (struct columns){0};
}

json_t *column_value(const struct column *column, const struct tamis_filter_stat *stat)
{
    const struct filter_view view = view_of(stat);
    if (column->key == ORDER_USED) return json_rate(order_used(stat));
    if (column->key == ORDER_BITS) return json_unsigned(order_bits(stat));
    return (column->field->needs & ~view.holds) == 0 ? record_value(column->field, &view)
                                                     : json_null();
}

char *column_plain(const struct column *column, const struct tamis_filter_stat *stat)
{
    json_t *value = column_value(column, stat);
    char *text = json_is_string(value) ? cli_strdup(json_string_value(value))
                 : json_is_null(value)
                     ? cli_strdup("")
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    json_decref(value);
    return text != NULL ? text : cli_strdup("");
}

/* Numbers with three digits where they are rates, or where short ones are wanted. */
static char *text_of_value(json_t *value, enum column_form form)
{
    char text[TEXT_COUNT_BYTES];
    if (json_is_null(value)) return cli_strdup("-");
    if (json_is_string(value)) return text_printable(json_string_value(value));
    if (json_is_real(value)) return cli_format("%.3g", json_real_value(value));
    if (!json_is_integer(value)) return cli_strdup(json_is_true(value) ? "true" : "false");
    if (form == COLUMN_EXACT) return cli_format("%jd", (intmax_t)json_integer_value(value));
    text_short_count(text, (uint64_t)json_integer_value(value));
    return cli_strdup(text);
}

char *column_text(const struct column *column, const struct tamis_filter_stat *stat,
                  enum column_form form)
{
    char text[STATE_BYTES];
    if (column->key == ORDER_SIZE) {
        text_size(text, sizeof text, (double)stat->size_bytes);
        return cli_strdup(text);
    }
    if (column->key == ORDER_STATE && form != COLUMN_NARROW) {
        state_text(stat, text);
        return cli_strdup(text);
    }
    /* Of keys that were asked for, not 100 % when a few of many are lacking. */
    if (column->key == ORDER_USED) {
        const double share = 100 * order_used(stat);
        return cli_format("%.0f%%", share > 99 && share < 100 ? 99 : share);
    }
    json_t *value = column_value(column, stat);
    char *shown = text_of_value(value, form);
    json_decref(value);
    return shown;
}

bool column_is_number(const struct column *column)
{
    const struct tamis_filter_stat nothing = {.size = sizeof nothing};
    const struct field *field = column->field;
    if (field == NULL) return true;
    if (field->type == RECORD_FIELD)
        return field->field.type == TAMIS_FIELD_NUMBER || field->field.type == TAMIS_FIELD_LIMIT ||
               field->field.type == TAMIS_FIELD_REAL || field->field.type == TAMIS_FIELD_SPAN;
    json_t *value = column_value(column, &nothing);
    const bool is = json_is_number(value);
    json_decref(value);
    return is;
}

static int compare_values(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        const double x = json_number_value(a), y = json_number_value(b);
        return x == y ? 0 : x > y ? -1 : 1;
    }
    if (json_is_string(a) && json_is_string(b))
        return strcmp(json_string_value(a), json_string_value(b));
    /* true before false, and what is not known last */
    const int x = json_is_null(a) ? 2 : json_is_false(a),
              y = json_is_null(b) ? 2 : json_is_false(b);
    return x - y;
}

int column_compare(const struct column *column, const struct tamis_filter_stat *a,
                   const struct tamis_filter_stat *b)
{
    if (column->key >= 0) return order_compare(column->key, a, b);
    json_t *x = column_value(column, a), *y = column_value(column, b);
    const int order = compare_values(x, y);
    json_decref(x);
    json_decref(y);
    return order != 0 ? order : strcmp(a->name, b->name);
}
