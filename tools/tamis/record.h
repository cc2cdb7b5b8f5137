/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.h: the fields of a struct as a typed table.
 *
 * A record is a struct of the library, or one of the command's own, that is shown field by field:
 * a filter, a segment, a generation, the result of a build.  Its table has a line for each field:
 * the name that users see, the type, and where the member is.  JSON, text and the report are all
 * made from that table, so a new field is one line.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "tamis.h"

#define RECORD_HUMAN_BYTES 64

enum record_type {
    RECORD_MADE,    /* no member: make() has the value                       */
    RECORD_FIELD,   /* what tamis_field_get() has of the struct at `offset`  */
    RECORD_POINTER, /* const char *                                          */
    RECORD_U32,     /* uint32_t                                              */
    RECORD_U64,     /* uint64_t                                              */
    RECORD_RATE,    /* double; NaN and infinity are shown as null            */
    RECORD_TIME,    /* int64_t, nanoseconds since 1970; 0 is shown as null   */
    RECORD_KIND,    /* uint32_t TAMIS_KIND_*, shown by its name              */
    RECORD_ERROR,   /* int TAMIS_E*, shown by its name; 0 is shown as null   */
    RECORD_DIGEST,  /* uint8_t[16], shown in hexadecimal; all 0 as null      */
};

/* When `tamis info` shows a field without --all. */
enum field_shown {
    SHOWN_IN_FULL,      /* never                                              */
    SHOWN_ALWAYS,       /* these are twelve                                   */
    SHOWN_IF_SET,       /* if it says more than 0, false, nothing or a default */
    SHOWN_IF_PUBLISHED, /* if a build, merge or import has replaced the list  */
    SHOWN_IF_DYNAMIC,   /* if keys can be added                               */
};

struct field {
    const char *name;
    enum record_type type;
    size_t offset; /* of the member in the record; of the library's struct for RECORD_FIELD */
    struct tamis_field field; /* RECORD_FIELD */
    unsigned needs;           /* bits that the record must hold; else the field is left out */
    enum field_shown shown;
    unsigned loads; /* bits that `info NAME FIELD` loads for the field */
    json_t *(*make)(const void *record);
    /* Writes what stands in brackets behind the value; may be NULL, and may write nothing. */
    void (*human)(const void *record, char text[RECORD_HUMAN_BYTES]);
};

/* `how` the member of a struct is shown: U64, RATE, ... */
#define RECORD_MEMBER(how, record, member)                                                         \
    .type = RECORD_##how, .offset = offsetof(struct record, member)

/* A table, and the number of its lines. */
struct fields {
    const struct field *all;
    size_t count;
};
#define FIELDS(table)                                                                              \
    (struct fields)                                                                                \
    {                                                                                              \
        table, sizeof(table) / sizeof *(table)                                                     \
    }

/* The value of one field.  The caller releases it. */
json_t *record_value(const struct field *field, const void *record);

/* An object of all fields whose needs are among the bits that the record holds. */
json_t *record_json(struct fields fields, unsigned holds, const void *record);
/* The same into an object that is there. */
void record_put(json_t *object, struct fields fields, unsigned holds, const void *record);
