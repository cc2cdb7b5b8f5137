/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * out.h: standard output as one large buffer over writev(2).
 *
 * Answers are copied in and leave in large writes; the key reader flushes before every read that
 * could block, so that a pipeline keeps moving when its input pauses.  Runs of lines that are
 * printed as they were read are not even copied: they are lent until the next flush.  A failed
 * write is kept: whatever is added later is dropped, and out_flush() says so each time.  It is
 * counted how many answers were lost: those that were not written, and, where the reader of a pipe
 * has gone, those that it left there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define OUT_BYTES ((size_t)256 * 1024)
#define OUT_LOANS 64

/* Bytes of someone else's that come after the first `before` ones of the buffer. */
struct out_loan {
    size_t before;
    const char *data;
    size_t bytes;
};

struct out {
    char *data; /* OUT_BYTES */
    size_t used;
    struct out_loan loans[OUT_LOANS];
    size_t loan_count;
    int fd;
    bool failed;       /* a write failed */
    bool tells_closed; /* what nobody reads is told: the answers say what was changed */
    char line_end;     /* what each answer ends with: a newline, or NUL after -z */
    size_t lost;       /* answers that nobody has read, if it failed */
};

void out_init(struct out *out, int fd);
void out_clear(struct out *out);

/* The bytes that are held. */
static inline size_t out_held(const struct out *out)
{
    size_t bytes = out->used;
    for (size_t i = 0; i < out->loan_count; i++)
        bytes += out->loans[i].bytes;
    return bytes;
}

/* Writes all that is held.  false: a write failed, now or earlier. */
bool out_flush(struct out *out);

/* Notes that the reader of standard output has gone, which needs no message: `list | head`. */
void out_note_closed(void);

/* Ends the process as the signal of a closed pipe would, if out_note_closed() was called. */
void out_end_if_closed(void);

/* The last flush, and the close of the descriptor, where some file systems report a full disk. */
bool out_finish(struct out *out);

/* Slow path of out_bytes(). */
void out_large(struct out *out, const void *data, size_t bytes);

static inline void out_bytes(struct out *out, const void *data, size_t bytes)
{
    if (bytes > OUT_BYTES - out->used) {
        out_large(out, data, bytes);
        return;
    }
    if (bytes > 0) memcpy(out->data + out->used, data, bytes);
    out->used += bytes;
}

static inline void out_char(struct out *out, char byte)
{
    out_bytes(out, &byte, 1);
}

/* Bytes that stay where they are, and as they are, until the next out_flush(). */
void out_lend(struct out *out, const char *data, size_t bytes);

void out_text(struct out *out, const char *text);
void out_hex(struct out *out, const void *data, size_t bytes);
/* Text from outside: control characters and broken UTF-8 are shown as \xNN. */
void out_printable(struct out *out, const char *text);
/* The end of a line about a filter: " (filter 'NAME')" where there is a name, and a newline. */
void out_filter(struct out *out, const char *name);
void out_format(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
