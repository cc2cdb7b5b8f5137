/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_fields.h: the fields of struct tamis_filter_stat and struct tamis_segment_stat as a table:
 * what each is called, what it counts, what it means, and its value.
 *
 * A program that prints all that is known of a filter goes through the table, and prints fields
 * that later versions add without a change:
 *
 *     struct tamis_field field = TAMIS_INIT(struct tamis_field);
 *     struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
 *     const uint32_t of = TAMIS_FIELDS_FILTER, by = TAMIS_SHOWN_ANYWHERE;
 *     for (uint32_t i = 0; tamis_field(of, by, i, &field) > 0; i++)
 *         if (tamis_field_get(&field, &stat, &value) > 0 && field.type == TAMIS_FIELD_NUMBER)
 *             printf("%s: %ju %s\n", field.name, (uintmax_t)value.number, field.unit);
 */
#ifndef TAMIS_FIELDS_H
#define TAMIS_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The struct that the fields are of. */
#define TAMIS_FIELDS_FILTER 1u  /* struct tamis_filter_stat */
#define TAMIS_FIELDS_SEGMENT 2u /* struct tamis_segment_stat */

/* Which fields, in which order: the fields that one output shows, in the order of that output. */
#define TAMIS_SHOWN_ANYWHERE 0u    /* all, in the order of `tamis info` */
#define TAMIS_SHOWN_BY_INFO 1u     /* `tamis info`, all --json and the report: info_name */
#define TAMIS_SHOWN_BY_REPLY 2u    /* TAMIS.INFO of the module for Redis: reply_name */
#define TAMIS_SHOWN_BY_BINDINGS 3u /* Python and PHP: name; no segments */

/* What a field's value is, and which member of struct tamis_field_value has it. */
enum tamis_field_type {
    TAMIS_FIELD_MADE = 0, /* none: the struct has no such member; outputs compute it from others */
    TAMIS_FIELD_TEXT = 1, /* text */
    TAMIS_FIELD_WORD = 2, /* text, or NULL for none; number is what the struct has for it */
    TAMIS_FIELD_NUMBER = 3, /* number */
    TAMIS_FIELD_LIMIT = 4,  /* number; UINT64_MAX: none, or not known */
    TAMIS_FIELD_YES = 5,    /* number: 1 or 0 */
    TAMIS_FIELD_REAL = 6,   /* real */
    TAMIS_FIELD_TIME = 7,   /* ns: nanoseconds since 1970-01-01 UTC; 0: never */
    TAMIS_FIELD_SPAN = 8    /* ns: nanoseconds */
};

/* How the fields of shards make the field of the filter that they are (docs/cluster.md). */
enum tamis_field_sum {
    TAMIS_SUM_SAME = 0,     /* the same in all of them */
    TAMIS_SUM_ADD = 1,      /* the sum */
    TAMIS_SUM_MEAN = 2,     /* the mean */
    TAMIS_SUM_MOST = 3,     /* the greatest; of times the latest */
    TAMIS_SUM_EARLIEST = 4, /* the earliest time that is not 0 */
    TAMIS_SUM_BITS = 5      /* all bits of them */
};

/* A field.  The texts are constants of the library. */
struct tamis_field {
    size_t size;            /* sizeof(struct tamis_field) */
    const char *name;       /* of the member; of a TAMIS_FIELD_MADE its name among the fields */
    const char *info_name;  /* as `tamis info` shows it; NULL: it does not */
    const char *reply_name; /* as TAMIS.INFO shows it; NULL: it does not */
    const char *unit;       /* "keys", "bits", ...; "" for none */
    const char *sentence;   /* what it means */
    const char *lacking;    /* why an output does not show it; NULL: all outputs do */
    uint32_t of;            /* TAMIS_FIELDS_* */
    uint32_t number;        /* from 0, the same for every order */
    uint32_t type;          /* enum tamis_field_type */
    uint32_t sum;           /* enum tamis_field_sum */
};

/* The value of a field. */
struct tamis_field_value {
    size_t size; /* sizeof(struct tamis_field_value) */
    const char *text;
    uint64_t number;
    int64_t ns;
    double real;
};

/*
 * Gets field `index` (from 0) of the struct that `of` says.
 *
 * of        TAMIS_FIELDS_FILTER or TAMIS_FIELDS_SEGMENT.
 * shown_by  TAMIS_SHOWN_*.
 * Returns   1, or 0 past the last.  TAMIS_EINVAL: there is no such `of` or `shown_by`.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_field(uint32_t of, uint32_t shown_by, uint32_t index,
                                           struct tamis_field *field);

/*
 * Gets the value of a field of a struct.
 *
 * field    from tamis_field().
 * record   a struct tamis_filter_stat or struct tamis_segment_stat, as the field says.
 * value    receives the value.  Its text may be a part of *record.
 * Returns  1.  0: the field is TAMIS_FIELD_MADE, or a struct of that size does not have it, because
 *          the program is older than the library.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_field_get(const struct tamis_field *field, const void *record,
                                               struct tamis_field_value *value);

/*
 * Sets a field of a struct, for a program that has read the value elsewhere, such as a client of
 * TAMIS.INFO.
 *
 * Returns  as tamis_field_get().  TAMIS_EINVAL: the struct cannot hold the value.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_field_set(const struct tamis_field *field, void *record,
                                               const struct tamis_field_value *value);

#ifdef __cplusplus
}
#endif

#endif
