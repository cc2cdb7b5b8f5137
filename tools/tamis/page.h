/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h: an HTML page on its way into a stream.
 *
 * Whatever comes from a store (names, paths, sentences) goes through page_escaped() or page_json();
 * only what stands in this program goes through page_text() and page_format().  A failed write is
 * kept: whatever comes later is dropped, and page_finish() says so.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "stream.h"

#define PAGE_BYTES ((size_t)64 * 1024)

struct page {
    struct stream *stream;
    FILE *file; /* writes PAGE_BYTES at a time to the stream */
    bool failed;
};

void page_init(struct page *page, struct stream *stream);
void page_clear(struct page *page);

/* Writes all that is held.  false: a write failed, now or earlier; a message was printed. */
bool page_finish(struct page *page);

void page_text(struct page *page, const char *html);
void page_format(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text, for between tags and for quoted attributes; each byte that means something there escaped.
 * Broken UTF-8 and control characters as \xNN. */
void page_escaped(struct page *page, const char *text);

/* JSON for inside a <script>, that no content can end. */
void page_json(struct page *page, const json_t *value);

/* A number for JSON, with so many digits; null if it is none. */
void page_json_number(struct page *page, double number, int digits);
