/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.h: values and lines of --json output.
 *
 * One object a line, with its fields in the order in which they were put. If there is no memory,
 * the program ends with a sentence, so no call here needs checking.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "tamis.h"

json_t *json_new(void);

/* Puts a value into an object, which owns it from then on. */
void json_put(json_t *object, const char *field, json_t *value);

/* Appends a value to an array, which owns it from then on. */
void json_append(json_t *array, json_t *value);

/* A number. Beyond 2^63-1 it becomes a string of digits, because readers of JSON lose digits there
 * and jansson has no such number. */
json_t *json_unsigned(uint64_t number);

/* A number, or null for NaN and infinity. */
json_t *json_rate(double number);

/* A string; control characters stay, broken UTF-8 is shown as \xNN. */
json_t *json_text(const char *text);

/* 16 bytes in hexadecimal, or null where all are 0. */
json_t *json_digest(const uint8_t digest[16]);

/* RFC 3339, or null for never. */
json_t *json_time(int64_t time_ns);

/* "key", or "key_hex" where `hex` asks for it or the key is not UTF-8 or holds a NUL. */
void json_put_key(json_t *object, const struct tamis_key *key, bool hex);
/* The same, named `form` or `form_hex`. */
void json_put_form(json_t *object, const struct tamis_key *form, bool hex);

/* Prints a key and what is known of it as one line, {"key": ..., name: value}, and releases the
 * value. */
void json_print_key(struct out *out, const struct tamis_key *key, bool hex, const char *name,
                    json_t *value);

/* Prints a value as one line, and releases it. */
void json_print(struct out *out, json_t *value);

/* Prints a value without an end of line; it stays the caller's. */
void json_write(struct out *out, const json_t *value);
