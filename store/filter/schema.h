/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema.h: the table of fields that is behind tamis_fields.h.
 *
 * A field of a filter or of a segment is a row of it, and nothing else lists fields: `tamis info`,
 * --json, the report, TAMIS.INFO, the client that reads it, Python, PHP, the help, the completions
 * and the manual page are made from the rows (docs/decisions/0023-one-schema-of-fields.md).
 */
#pragma once

#include "base/base.h"
#include "tamis_fields.h"

/* Where a field that has more than bytes for its value gets it from. */
enum tamis__field_word {
    TAMIS__WORD_NONE,
    TAMIS__WORD_KIND,        /* tamis_kind_name()                        */
    TAMIS__WORD_ON_FULL,     /* tamis_on_full_name()                     */
    TAMIS__WORD_WINDOW_FROM, /* "first" or "last", of `flags` and slices */
    TAMIS__WORD_PAGES,       /* tamis_pages_name()                       */
};

struct tamis__field_row {
    const char *name;
    /* The names that somebody else shows it by; NULL: that one does not, and `lacking` says why. */
    const char *info, *reply;
    const char *lacking;
    const char *unit;     /* NULL: none */
    const char *sentence; /* marked up as docs/man/fields.py says */
    uint8_t type;         /* enum tamis_field_type */
    uint8_t sum;          /* enum tamis_field_sum */
    uint8_t word;         /* enum tamis__field_word */
    bool hidden;          /* from Python and PHP; `lacking` says why */
    /* Places in the answer of TAMIS.INFO and in Python's and PHP's, from 1: programs may go by the
     * order that these had before there was a table.  0: after those that have a place, in the
     * order of the table, which is where a new field belongs. */
    uint8_t reply_place, binding_place;
    uint16_t offset, bytes; /* of the member */
    uint32_t bit;           /* TAMIS_FIELD_YES: of the member */
};

struct tamis__field_table {
    const struct tamis__field_row *rows;
    uint32_t count;
    bool has_bindings; /* Python and PHP show it */
};

/* The table of TAMIS_FIELDS_*; NULL: there is none. */
const struct tamis__field_table *tamis__field_table(uint32_t of);
