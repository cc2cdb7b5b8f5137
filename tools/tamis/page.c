/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c: see page.h. */
#include "page.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

void page_init(struct page *page, struct stream *stream)
{
    *page = (struct page){.stream = stream, .data = cli_alloc(PAGE_BYTES)};
}

void page_clear(struct page *page)
{
    free(page->data);
}

static void flush(struct page *page)
{
    const struct tamis_sink sink = stream_sink(page->stream);
    if (!page->failed && page->used > 0)
        page->failed = sink.write(sink.context, page->data, page->used) < 0;
    page->used = 0;
}

bool page_finish(struct page *page)
{
    flush(page);
    return !page->failed;
}

static void put(struct page *page, const char *data, size_t bytes)
{
    while (bytes > 0) {
        if (page->used == PAGE_BYTES) flush(page);
        const size_t room = PAGE_BYTES - page->used;
        const size_t now = bytes < room ? bytes : room;
        memcpy(page->data + page->used, data, now);
        page->used += now;
        data += now;
        bytes -= now;
    }
}

void page_text(struct page *page, const char *html)
{
    put(page, html, strlen(html));
}

void page_format(struct page *page, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    const int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (bytes < 0) cli_no_memory();
    put(page, text, (size_t)bytes);
    free(text);
}

static void put_escaped(struct page *page, const char *text, size_t bytes)
{
    static const char *const escapes[UCHAR_MAX + 1] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    for (size_t i = 0; i < bytes; i++) {
        const char *escape = escapes[(unsigned char)text[i]];
        if (escape)
            page_text(page, escape);
        else
            put(page, text + i, 1);
    }
}

void page_escaped(struct page *page, const char *text)
{
    char *printable = text_printable(text);
    put_escaped(page, printable, strlen(printable));
    free(printable);
}

/* In JSON these three characters occur in strings only, where an escape means the same. */
static int put_for_script(const char *text, size_t bytes, void *page)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '<' || text[i] == '>' || text[i] == '&')
            page_format(page, "\\u%04x", (unsigned char)text[i]);
        else
            put(page, text + i, 1);
    }
    return 0;
}

static int put_for_attribute(const char *text, size_t bytes, void *page)
{
    put_escaped(page, text, bytes);
    return 0;
}

/* As json_write(): 15 digits. */
#define JSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

void page_json(struct page *page, const json_t *value)
{
    if (json_dump_callback(value, put_for_script, page, JSON_FLAGS) < 0) cli_no_memory();
}

void page_json_attribute(struct page *page, const json_t *value)
{
    if (json_dump_callback(value, put_for_attribute, page, JSON_FLAGS) < 0) cli_no_memory();
}
