/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_formats.c: what stands in files, for formats.py, a line for each field: table, offset,
 * bytes, name, meaning, with tabs between.  The structs are made of the same lists
 * (base/bytes.h, catalog/record.h).
 */
#include <stdio.h>

#include "catalog/record.h"
#include "exceptions/index.h"
#include "exchange/portable_head.h"
#include "exchange/redisbloom.h"
#include "exchange/stream_exceptions.h"
#include "kind/cells.h"
#include "log/frame.h"
#include "segment/sums.h"

static const char *table;
static size_t base; /* where the struct stands in its file */

static void print(size_t offset, size_t bytes, const char *name, const char *meaning)
{
    printf("%s\t%zu\t%zu\t%s\t%s\n", table, base + offset, bytes, name, meaning);
}

/* A struct, and where it stands in its file. */
#define ROW(s, offset, type, name, array, meaning)                                                 \
    print(offset, sizeof(((s *)0)->name), #name, meaning);
#define TABLE(title, FIELDS, tag, at)                                                              \
    table = (title);                                                                               \
    base = (at);                                                                                   \
    FIELDS(ROW, struct tag)

/* A value of the catalog. */
#define VALUE_ROW(offset, bytes, place, name, meaning) print(offset, bytes, #name, meaning);
#define VALUE(title, FIELDS)                                                                       \
    table = (title);                                                                               \
    base = 0;                                                                                      \
    FIELDS(VALUE_ROW)

#define IN_HEADER(field) offsetof(struct tamis__segment_header, field)

int main(void)
{
    VALUE("store record", TAMIS__STORE_FIELDS)
    VALUE("filter record", TAMIS__RECORD_FIELDS)
    VALUE("entry", TAMIS__ENTRY_FIELDS)
    TABLE("constant part", TAMIS__CONSTANT_FIELDS, tamis__segment_header, 0)
    TABLE("parts", TAMIS__PART_FIELDS, tamis__segment_header, 0)
    TABLE("name label", TAMIS__LABEL_FIELDS, tamis__name_label, 0)
    TABLE("live words", TAMIS__LIVE_FIELDS, tamis__live, IN_HEADER(live))
    TABLE("item stripe", TAMIS__STRIPE_FIELDS, tamis__stripe, 0)
    TABLE("layer origin", TAMIS__ORIGIN_FIELDS, tamis__layer_origin, IN_HEADER(kept))
    TABLE("attachment", TAMIS__ATTACHMENT_FIELDS, tamis__attachment, IN_HEADER(attachment))
    TABLE("overflow slot", TAMIS__SLOT_FIELDS, tamis__slot, 0)
    TABLE("index", TAMIS__INDEX_FIELDS, tamis__index_head, 0)
    TABLE("sums", TAMIS__SUMS_FIELDS, tamis__sums_head, 0)
    TABLE("log header", TAMIS__LOG_FIELDS, tamis__log_header, 0)
    TABLE("frame", TAMIS__FRAME_FIELDS, tamis__frame_header, 0)
    TABLE("stream head", HEAD_FIELDS, head, 0)
    TABLE("stream segment", DESCRIPTION_FIELDS, description, 0)
    TABLE("stream count", OUTGROWN_FIELDS, outgrown, 0)
    TABLE("stream exception", TAMIS__EXCEPTION_FIELDS, tamis__stream_exception, 0)
    TABLE("preface", PREFACE_FIELDS, preface, 0)
    return 0;
}
