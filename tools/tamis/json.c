/* SPDX-License-Identifier: BSD-2-Clause */
/* json.c: values and lines of --json output; see json.h. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

static json_t *checked(json_t *value)
{
    if (value == NULL) cli_no_memory();
    return value;
}

json_t *json_new(void)
{
    return checked(json_object());
}

void json_put(json_t *object, const char *field, json_t *value)
{
    if (json_object_set_new(object, field, checked(value)) < 0) cli_no_memory();
}

void json_append(json_t *array, json_t *value)
{
    if (array == NULL || json_array_append_new(array, checked(value)) < 0) cli_no_memory();
}

json_t *json_unsigned(uint64_t number)
{
    if (number <= INT64_MAX) return checked(json_integer((json_int_t)number));
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%ju", (uintmax_t)number);
    return checked(json_string(digits));
}

json_t *json_rate(double number)
{
    return checked(isfinite(number) ? json_real(number) : json_null());
}

json_t *json_text(const char *text)
{
    if (text_is_utf8(text, strlen(text))) return checked(json_string(text));
    char *printable = text_printable(text);
    json_t *value = checked(json_string(printable));
    free(printable);
    return value;
}

json_t *json_time(int64_t time_ns)
{
    if (time_ns == 0) return checked(json_null());
    char text[40];
    text_time(text, sizeof text, time_ns);
    return checked(json_string(text));
}

static json_t *hex_string(const struct tamis_key *key)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *data = key->data;
    char *text = cli_alloc(2 * key->bytes);
    for (size_t i = 0; i < key->bytes; i++) {
        text[2 * i] = digits[data[i] >> 4];
        text[2 * i + 1] = digits[data[i] & 15];
    }
    json_t *value = checked(json_stringn(text, 2 * key->bytes));
    free(text);
    return value;
}

json_t *json_digest(const uint8_t digest[16])
{
    static const uint8_t none[16];
    const struct tamis_key bytes = {digest, sizeof none};
    return memcmp(digest, none, sizeof none) == 0 ? checked(json_null()) : hex_string(&bytes);
}

static void put_key(json_t *object, const char *name, const char *name_hex,
                    const struct tamis_key *key, bool hex)
{
    hex = hex || !text_is_utf8(key->data, key->bytes) ||
          (key->bytes > 0 && memchr(key->data, '\0', key->bytes) != NULL);
    if (hex)
        json_put(object, name_hex, hex_string(key));
    else
        json_put(object, name, checked(json_stringn(key->bytes > 0 ? key->data : "", key->bytes)));
}

void json_put_key(json_t *object, const struct tamis_key *key, bool hex)
{
    put_key(object, "key", "key_hex", key, hex);
}

void json_put_form(json_t *object, const struct tamis_key *form, bool hex)
{
    put_key(object, "form", "form_hex", form, hex);
}

static int write_piece(const char *text, size_t bytes, void *out)
{
    out_bytes(out, text, bytes);
    return 0;
}

void json_write(struct out *out, const json_t *value)
{
    /* With 15 digits a rate that was typed comes back as it was typed: 0.1 as 0.1. */
    if (json_dump_callback(value, write_piece, out,
                           JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) < 0)
        cli_no_memory();
}

void json_print(struct out *out, json_t *value)
{
    json_write(out, value);
    out_char(out, '\n');
    json_decref(value);
}

void json_print_key(struct out *out, const struct tamis_key *key, bool hex, const char *name,
                    json_t *value)
{
    json_t *line = json_new();
    json_put_key(line, key, hex);
    json_put(line, name, value);
    json_print(out, line);
}
