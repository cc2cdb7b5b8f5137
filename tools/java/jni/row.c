/* SPDX-License-Identifier: BSD-2-Clause */
/* row.c: structs as rows of bytes, which Row.java reads and writes, and texts from Java. */
#include <stdlib.h>
#include <string.h>

#include "java_tamis.h"

static void row_append(struct row *row, const void *bytes, size_t count)
{
    if (row->room - row->used < count) {
        const size_t room = 2 * row->room + count + 256;
        unsigned char *larger = row->is_short ? NULL : realloc(row->bytes, room);
        if (!larger) {
            row->is_short = true;
            return;
        }
        row->bytes = larger;
        row->room = room;
    }
    if (count > 0) memcpy(row->bytes + row->used, bytes, count);
    row->used += count;
}

void row_number(struct row *row, int64_t number)
{
    row_append(row, &number, sizeof number);
}

void row_real(struct row *row, double real)
{
    row_append(row, &real, sizeof real);
}

void row_bytes(struct row *row, const void *bytes, size_t count)
{
    const int32_t length = bytes ? (int32_t)count : -1;

    row_append(row, &length, sizeof length);
    if (bytes) row_append(row, bytes, count);
}

void row_text(struct row *row, const char *text)
{
    row_bytes(row, text, text ? strlen(text) : 0);
}

jbyteArray row_array(JNIEnv *env, struct row *row)
{
    jbyteArray array = NULL;

    if ((*env)->ExceptionCheck(env)) {
        /* It is the caller's. */
    } else if (row->is_short || row->used > INT32_MAX) {
        throw_no_memory(env);
    } else {
        array = (*env)->NewByteArray(env, (jsize)row->used);
        if (array)
            (*env)->SetByteArrayRegion(env, array, 0, (jsize)row->used, (const jbyte *)row->bytes);
    }
    free(row->bytes);
    *row = (struct row){0};
    return array;
}

bool copy_take(JNIEnv *env, jbyteArray array, struct copy *copy)
{
    jsize count;

    *copy = (struct copy){0};
    if (!array) return true;
    count = (*env)->GetArrayLength(env, array);
    copy->bytes = malloc((size_t)count + 1);
    if (!copy->bytes) {
        throw_no_memory(env);
        return false;
    }
    (*env)->GetByteArrayRegion(env, array, 0, count, (jbyte *)copy->bytes);
    copy->count = (size_t)count;
    copy->bytes[count] = 0;
    return true;
}

void copy_free(struct copy *copy)
{
    free(copy->bytes);
    *copy = (struct copy){0};
}

/* Our own Java wrote the row, so it has all that is read of it. */
static void copy_next(struct copy *copy, void *value, size_t bytes)
{
    memset(value, 0, bytes);
    if (copy->count - copy->at < bytes) return;
    memcpy(value, copy->bytes + copy->at, bytes);
    copy->at += bytes;
}

int64_t copy_number(struct copy *copy)
{
    int64_t number;

    copy_next(copy, &number, sizeof number);
    return number;
}

double copy_real(struct copy *copy)
{
    double real;

    copy_next(copy, &real, sizeof real);
    return real;
}

unsigned char *copy_bytes(struct copy *copy, size_t *count)
{
    unsigned char *bytes;
    int32_t length;

    copy_next(copy, &length, sizeof length);
    *count = 0;
    if (length < 0 || copy->count - copy->at < (size_t)length) return NULL;
    bytes = copy->bytes + copy->at;
    copy->at += (size_t)length;
    *count = (size_t)length;
    return bytes;
}

const char *copy_text(struct copy *copy)
{
    size_t length;
    unsigned char *text = copy_bytes(copy, &length);

    if (text) copy->at++; /* the NUL behind it */
    return (const char *)text;
}

/* ---- Specs and fields -------------------------------------------------------------------------
 */

void spec_read(struct copy *copy, struct tamis_filter_spec *spec)
{
    const unsigned char *secret;
    size_t secret_bytes;

    *spec = (struct tamis_filter_spec)TAMIS_INIT(struct tamis_filter_spec);
    spec->capacity = (uint64_t)copy_number(copy);
    spec->fp_rate = copy_real(copy);
    spec->kind = (uint32_t)copy_number(copy);
    spec->k = (uint32_t)copy_number(copy);
    spec->m_bits = (uint64_t)copy_number(copy);
    spec->hash_set = copy_text(copy);
    spec->seed = (uint64_t)copy_number(copy);
    spec->on_full = (uint32_t)copy_number(copy);
    spec->slices = (uint32_t)copy_number(copy);
    spec->window_ns = copy_number(copy);
    spec->window_items = (uint64_t)copy_number(copy);
    spec->counter_bits = (uint32_t)copy_number(copy);
    spec->flags = (uint32_t)copy_number(copy);
    secret = copy_bytes(copy, &secret_bytes);
    if (secret && secret_bytes == sizeof spec->secret)
        memcpy(spec->secret, secret, sizeof spec->secret);
    spec->pages = (uint32_t)copy_number(copy);
    spec->key_rule = copy_text(copy);
}

const struct tamis_filter_spec *spec_of(struct copy *copy, struct tamis_filter_spec *spec)
{
    if (!copy->bytes) return NULL;
    spec_read(copy, spec);
    return spec;
}

void row_spec(struct row *row, const struct tamis_filter_spec *spec)
{
    row_number(row, (int64_t)spec->capacity);
    row_real(row, spec->fp_rate);
    row_number(row, spec->kind);
    row_number(row, spec->k);
    row_number(row, (int64_t)spec->m_bits);
    row_text(row, spec->hash_set);
    row_number(row, (int64_t)spec->seed);
    row_number(row, spec->on_full);
    row_number(row, spec->slices);
    row_number(row, spec->window_ns);
    row_number(row, (int64_t)spec->window_items);
    row_number(row, spec->counter_bits);
    row_number(row, spec->flags);
    row_bytes(row, spec->secret, sizeof spec->secret);
    row_number(row, spec->pages);
    row_text(row, spec->key_rule);
}

void row_fields(struct row *row, uint32_t of, const void *record)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);

    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_ANYWHERE, i, &field) > 0; i++) {
        if (field.type == TAMIS_FIELD_MADE) continue;
        if (tamis_field_get(&field, record, &value) < 1)
            value = (struct tamis_field_value)TAMIS_INIT(struct tamis_field_value);
        if (field.type == TAMIS_FIELD_TEXT || field.type == TAMIS_FIELD_WORD)
            row_text(row, value.text);
        if (field.type == TAMIS_FIELD_REAL)
            row_real(row, value.real);
        else if (field.type == TAMIS_FIELD_TIME || field.type == TAMIS_FIELD_SPAN)
            row_number(row, value.ns);
        else if (field.type != TAMIS_FIELD_TEXT)
            row_number(row, (int64_t)value.number);
    }
}
