/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c: see page.h. */
#include "page.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

/* The file's writes go to the stream, until one has failed: that was told then. */
static ssize_t write_out(void *context, const char *data, size_t bytes)
{
    struct page *page = context;
    const struct tamis_sink sink = stream_sink(page->stream);
    page->failed = page->failed || sink.write(sink.context, data, bytes) < 0;
    return page->failed ? 0 : (ssize_t)bytes;
}

void page_init(struct page *page, struct stream *stream)
{
    *page = (struct page){.stream = stream};
    page->file = fopencookie(page, "w", (cookie_io_functions_t){.write = write_out});
    if (page->file == NULL || setvbuf(page->file, NULL, _IOFBF, PAGE_BYTES) != 0) cli_no_memory();
}

void page_clear(struct page *page)
{
    (void)fclose(page->file);
}

bool page_finish(struct page *page)
{
    (void)fflush(page->file);
    return !page->failed;
}

static void put_bytes(struct page *page, const char *data, size_t bytes)
{
    (void)fwrite(data, 1, bytes, page->file);
}

void page_text(struct page *page, const char *html)
{
    put_bytes(page, html, strlen(html));
}

void page_format(struct page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(page->file, format, arguments);
    va_end(arguments);
}

static void put_escaped(struct page *page, const char *text, size_t bytes)
{
    static const char *const escapes[UCHAR_MAX + 1] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    for (size_t i = 0; i < bytes; i++) {
        const char *escape = escapes[(unsigned char)text[i]];
        if (escape != NULL)
            page_text(page, escape);
        else
            put_bytes(page, text + i, 1);
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
            put_bytes(page, text + i, 1);
    }
    return 0;
}

/* Numbers have 15 digits, as those of json_write(). */
#define JSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

void page_json(struct page *page, const json_t *value)
{
    if (json_dump_callback(value, put_for_script, page, JSON_FLAGS) < 0) cli_no_memory();
}

void page_json_number(struct page *page, double number, int digits)
{
    if (isfinite(number))
        page_format(page, "%.*g", digits, number);
    else
        page_text(page, "null");
}
