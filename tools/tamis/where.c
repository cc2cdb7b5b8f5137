/* SPDX-License-Identifier: BSD-2-Clause */
/* where.c: conditions on filters; see where.h. */
#include "where.h"

#include "number.h"
#include "pattern.h"

/* The longer ones first. */
static const char *const SIGNS[] = {"!=", "<=", ">=", "==", "=", "<", ">", "~"};

static const char *sign_at(const char *text)
{
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (strncmp(text, SIGNS[i], strlen(SIGNS[i])) == 0) return SIGNS[i];
    return NULL;
}

/* Spaces around the sign belong to nothing. */
static char *trimmed(const char *text, size_t bytes)
{
    while (bytes > 0 && *text == ' ')
        text++, bytes--;
    while (bytes > 0 && text[bytes - 1] == ' ')
        bytes--;
    return cli_copy(text, bytes);
}

static bool fail_value(const struct condition *condition, const char *text, const char *why)
{
    (void)cli_fail("--where '%s': %s %s", text, condition->column.name, why);
    return false;
}

static bool take_value(struct condition *condition, const char *text)
{
    const bool is_pattern = strcmp(condition->sign, "~") == 0;
    if (!column_is_number(&condition->column)) return true;
    if (is_pattern) return fail_value(condition, text, "is a number; compare it by = != < <= > >=");
    if (number_any(condition->value, &condition->number)) return true;
    return fail_value(condition, text, "is a number; give one, like 1000, 1M, 64MiB, 1e-6 or 1%");
}

static bool take_condition(struct condition *condition, const char *text)
{
    const size_t bytes = strcspn(text, "!=<>~");
    const char *sign = sign_at(text + bytes);
    if (sign == NULL || bytes == 0) {
        (void)cli_fail("--where '%s': give a column, one of = != < <= > >= ~, and a value, like "
                       "'items>1M' or 'state!=ok'",
                       text);
        return false;
    }
    char *name = trimmed(text, bytes);
    const bool found = column_find(name, &condition->column);
    if (!found) (void)column_fail("--where", name);
    free(name);
    if (!found) return false;
    (void)snprintf(condition->sign, sizeof condition->sign, "%s", sign);
    condition->value = text + bytes + strlen(sign);
    condition->value += strspn(condition->value, " ");
    return take_value(condition, text);
}

bool conditions_take(struct conditions *conditions, const struct option_files *where)
{
    conditions->all = cli_alloc((where->count + 1) * sizeof *conditions->all);
    for (size_t i = 0; i < where->count; i++)
        if (!take_condition(&conditions->all[conditions->count++], where->paths[i])) return false;
    return true;
}

void conditions_clear(struct conditions *conditions)
{
    free(conditions->all);
    *conditions = (struct conditions){0};
}

/* `order` is below 0, 0 or above, as the value of the filter is less, the same or greater. */
static bool sign_holds(const char *sign, int order)
{
    switch (sign[0]) {
    case '!':
        return order != 0;
    case '<':
        return order < 0 || (sign[1] == '=' && order == 0);
    case '>':
        return order > 0 || (sign[1] == '=' && order == 0);
    default:
        return order == 0;
    }
}

static bool holds(const struct condition *condition, const struct tamis_filter_stat *stat)
{
    json_t *value = column_value(&condition->column, stat);
    char *text = column_plain(&condition->column, stat);
    bool good;
    if (json_is_null(value)) /* what is not known is no number and no time */
        good = condition->sign[0] == '!';
    else if (json_is_number(value))
        good = sign_holds(condition->sign, (json_number_value(value) > condition->number) -
                                               (json_number_value(value) < condition->number));
    else if (condition->sign[0] == '~')
        good = pattern_matches(condition->value, text);
    else
        good = sign_holds(condition->sign, strcmp(text, condition->value));
    free(text);
    json_decref(value);
    return good;
}

bool conditions_hold(const struct conditions *conditions, const struct tamis_filter_stat *stat)
{
    for (size_t i = 0; i < conditions->count; i++)
        if (!holds(&conditions->all[i], stat)) return false;
    return true;
}
