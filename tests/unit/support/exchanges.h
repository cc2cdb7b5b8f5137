/* SPDX-License-Identifier: BSD-2-Clause */
/* exchanges.h: streams that are imported as filter "x" and exported again, or refused. */
#ifndef TAMIS_UNIT_EXCHANGES_H
#define TAMIS_UNIT_EXCHANGES_H

#include "fixture.h"
#include "streams.h"

extern const struct tamis_import_spec EXCHANGES_NOTHING;

/* What each test has: an empty store. */
struct exchanges {
    tamis_store *store;
    char *path;
};

int exchanges_open(void **state);
int exchanges_close(void **state);
#define EXCHANGE_CASE(name)                                                                        \
    CASE_OF(name, exchanges_open, exchanges_close, const struct exchanges *p)

int exchanges_import(const struct exchanges *p, const char *format,
                     const struct tamis_import_spec *spec, struct stream *stream);
/* No filter and no file is left. */
void exchanges_empty(const struct exchanges *p);
/* Refused with that code and these words, and nothing is left. */
void exchanges_refused(const struct exchanges *p, const char *format,
                       const struct tamis_import_spec *spec, struct stream *stream, int code,
                       const char *words);
/* Refused after every number of bytes, whether the length is known or not; whole, it is taken. */
void exchanges_truncated(const struct exchanges *p, const char *format, const struct stream *whole);
/* One of format tamis is refused with any of its bytes changed. */
void exchanges_changed(const struct exchanges *p, struct stream *stream);
/* What export writes of filter x, which is dropped. */
struct stream exchanges_exported(const struct exchanges *p, const char *format);
/* Closes the head and the whole of a stream of format tamis with checksums that fit. */
#define EXCHANGES_HEAD 96u
#define EXCHANGES_DESCRIPTION 224u
void exchanges_close_sums(struct stream *stream);
void exchanges_same(const struct stream *a, const struct stream *b);
/* Imported, verified, exported: the same bytes. */
void exchanges_come_back(const struct exchanges *p, const char *format,
                         const struct tamis_import_spec *spec, struct stream *stream);

#endif
