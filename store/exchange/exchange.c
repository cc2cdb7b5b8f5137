/* SPDX-License-Identifier: BSD-2-Clause */
/* exchange.c: the reader and the writer that all formats use. */
#include "exchange/exchange.h"

#include <limits.h>

/* ---- In -------------------------------------------------------------------------------------- */

int tamis__reader_init(struct tamis__reader *reader, const struct tamis_source *source,
                       const char *format)
{
    *reader = (struct tamis__reader){.source = source, .format = format};
    reader->buffer = malloc(TAMIS__PIECE_BYTES);
    if (reader->buffer == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory reading a %s stream", format);
    return 0;
}

void tamis__reader_clear(struct tamis__reader *reader)
{
    free(reader->buffer);
    *reader = (struct tamis__reader){0};
}

/* Returns the mend.  Some reasons bring a mend of their own, behind a semicolon. */
static const char *mend_of(int code, const char *reason)
{
    if (strchr(reason, ';') != NULL) return "";
    if (code == TAMIS_ECORRUPT) return "; fetch it again";
    return code == TAMIS_EVERSION ? "; use a newer Tamis" : "";
}

int tamis__reader_fail(const struct tamis__reader *reader, int code, uint64_t offset,
                       const char *reason)
{
    const char *mend = mend_of(code, reason), *own = strstr(reason, "; ");
    const struct tamis__fault fault = {.what = "stream",
                                       .offset = offset,
                                       .mend = *mend != '\0' ? mend + 2
                                               : own != NULL ? own + 2
                                                             : NULL};
    return tamis__fail_of(code, &fault, "the %s stream %s%s (at byte %llu)", reader->format, reason,
                          mend, (unsigned long long)offset);
}

int tamis__reader_fill(struct tamis__reader *reader, size_t bytes)
{
    if (reader->end - reader->start >= bytes) return 0;
    if (reader->start > 0) {
        memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
        reader->end -= reader->start;
        reader->start = 0;
    }
    while (reader->end < bytes && !reader->at_end) {
        const size_t room = TAMIS__PIECE_BYTES - reader->end;
        const int64_t got =
            reader->source->read(reader->source->context, reader->buffer + reader->end, room);
        if (got < 0)
            return tamis__reader_fail(reader, got < INT_MIN ? TAMIS_EIO : (int)got,
                                      reader->offset + reader->end, "could not be read further");
        if ((uint64_t)got > room)
            return tamis__fail(TAMIS_EINVAL, "a source gave %lld byte%s where %zu were asked for",
                               (long long)got, tamis__plural((uint64_t)got), room);
        if (reader->sum != NULL)
            tamis__sum_add(reader->sum, reader->buffer + reader->end, (size_t)got);
        reader->end += (size_t)got;
        reader->at_end = got == 0;
    }
    return 0;
}

int tamis__reader_take(struct tamis__reader *reader, size_t bytes, unsigned char **data)
{
    const int rc = tamis__reader_fill(reader, bytes);
    if (rc < 0) return rc;
    if (reader->end - reader->start < bytes)
        return tamis__reader_fail(reader, TAMIS_ECORRUPT,
                                  reader->offset + (reader->end - reader->start),
                                  "is truncated: it ends before its data do");
    *data = reader->buffer + reader->start;
    reader->start += bytes;
    reader->offset += bytes;
    return 0;
}

int tamis__reader_finish(struct tamis__reader *reader)
{
    const int rc = tamis__reader_fill(reader, 1);
    if (rc < 0 || reader->end == reader->start) return rc;
    return tamis__reader_fail(reader, TAMIS_ECORRUPT, reader->offset,
                              "goes on after its end; give it without what follows");
}

int tamis__load_data(struct tamis__reader *reader, const struct tamis__stream_target *target,
                     uint32_t index, uint64_t bytes)
{
    while (bytes > 0) {
        unsigned char *data = NULL;
        const size_t now = bytes < TAMIS__PIECE_BYTES ? (size_t)bytes : TAMIS__PIECE_BYTES;
        int rc = tamis__reader_take(reader, now, &data);
        if (rc == 0) rc = target->write(target->context, index, data, now);
        if (rc < 0) return rc;
        bytes -= now;
    }
    return 0;
}

static void swap_longs(unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = __builtin_bswap64(tamis__get64(data + i));
        memcpy(data + i, &word, sizeof word);
    }
}

void tamis__outline_one(struct tamis__outline *outline, uint64_t head_bytes,
                        const struct tamis__listed_segment *segment)
{
    outline->count = 1;
    outline->head_bytes = head_bytes;
    outline->least_bytes = segment->m_bits / 8;
    outline->layers[0].segment = *segment;
    outline->layers[0].segment.kind = TAMIS_KIND_BLOOM;
    outline->layers[0].segment.items = TAMIS__ITEMS_UNKNOWN;
}

_Static_assert(TAMIS__ATTACHMENT_BYTES == 360, "load_attachment() names it in a message");

/* What is left of the stream, after the data, goes to the target whole. */
static int load_attachment(struct tamis__reader *reader, const struct tamis__stream_target *target)
{
    unsigned char *data = NULL;
    int rc = tamis__reader_fill(reader, TAMIS__ATTACHMENT_BYTES + 1);
    const size_t bytes = reader->end - reader->start;
    if (rc < 0 || bytes == 0) return rc;
    if (bytes > TAMIS__ATTACHMENT_BYTES)
        return tamis__reader_fail(reader, TAMIS_EUNSUPPORTED, reader->offset,
                                  "has more than 360 bytes "
                                  "behind its bits, the most that is kept; cut them off there");
    rc = tamis__reader_take(reader, bytes, &data);
    return rc < 0 ? rc : target->attach(target->context, data, bytes);
}

int tamis__load_one(struct tamis__reader *reader, const struct tamis__outline *outline,
                    const struct tamis__stream_target *target)
{
    unsigned char *data = NULL;
    uint64_t left = outline->least_bytes;
    int rc = tamis__reader_take(reader, (size_t)outline->head_bytes, &data);
    while (rc == 0 && left > 0) {
        const size_t now = left < TAMIS__PIECE_BYTES ? (size_t)left : TAMIS__PIECE_BYTES;
        rc = tamis__reader_take(reader, now, &data);
        if (rc < 0) return rc;
        if (outline->swap_words) swap_longs(data, now);
        rc = target->write(target->context, 0, data, now);
        left -= now;
    }
    if (rc < 0) return rc;
    return outline->has_attachment ? load_attachment(reader, target) : tamis__reader_finish(reader);
}

void tamis__keep_last_word(uint64_t *last, uint64_t m_bits, uint64_t offset,
                           const unsigned char *data, size_t bytes)
{
    const uint64_t begin = (m_bits - 1) / 64 * 8, end = begin + 8;
    const uint64_t from = offset > begin ? offset : begin;
    const uint64_t to = offset + bytes < end ? offset + bytes : end;
    /* ORDER relaxed: the caller's memory may be a filter that gets keys meanwhile; bits only go
     * 0 -> 1, and this asks for none but those past the end, which no key sets. */
    for (uint64_t at = from; at < to; at++)
        ((unsigned char *)last)[at - begin] = __atomic_load_n(&data[at - offset], __ATOMIC_RELAXED);
}

/* ---- Out ------------------------------------------------------------------------------------- */

int tamis__writer_init(struct tamis__writer *writer, const struct tamis_sink *sink)
{
    const bool ends = sink->bytes > 0 && sink->bytes < UINT64_MAX - sink->from;
    *writer = (struct tamis__writer){.sink = sink,
                                     .from = sink->from,
                                     .end = ends ? sink->from + sink->bytes : UINT64_MAX,
                                     .partial = sink->from > 0 || sink->bytes > 0,
                                     .buffer = malloc(TAMIS__PIECE_BYTES)};
    return writer->buffer ? 0 : tamis__fail(TAMIS_ENOMEM, "out of memory writing a stream");
}

void tamis__writer_clear(struct tamis__writer *writer)
{
    free(writer->buffer);
    *writer = (struct tamis__writer){0};
}

int tamis__writer_flush(struct tamis__writer *writer)
{
    const uint64_t last = writer->offset + writer->used;
    const uint64_t from = writer->from > writer->offset ? writer->from : writer->offset;
    const uint64_t end = writer->end < last ? writer->end : last;
    int rc = 0;
    if (from < end)
        rc = writer->sink->write(writer->sink->context, writer->buffer + (from - writer->offset),
                                 (size_t)(end - from));
    if (rc < 0)
        return tamis__fail(rc, "the stream could not be written further (at byte %llu)",
                           (unsigned long long)writer->offset);
    writer->offset += writer->used;
    writer->used = 0;
    return 0;
}

/* Bytes of the stream that nobody wants are not even put. */
static int skip(struct tamis__writer *writer, uint64_t bytes)
{
    const int rc = tamis__writer_flush(writer);
    writer->offset += bytes;
    return rc;
}

/* Makes room for at least one byte. */
static int make_room_for_bytes(struct tamis__writer *writer)
{
    return writer->used < TAMIS__PIECE_BYTES ? 0 : tamis__writer_flush(writer);
}

/* Gives to the sink what was put at the end of the buffer. */
static void give(struct tamis__writer *writer, size_t bytes)
{
    if (writer->summing) tamis__sum_add(&writer->sum, writer->buffer + writer->used, bytes);
    writer->used += bytes;
}

static size_t portion(const struct tamis__writer *writer, uint64_t bytes)
{
    const size_t room = TAMIS__PIECE_BYTES - writer->used;
    return bytes < room ? (size_t)bytes : room;
}

int tamis__writer_put(struct tamis__writer *writer, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    while (bytes > 0) {
        const int rc = make_room_for_bytes(writer);
        if (rc < 0) return rc;
        const size_t now = portion(writer, bytes);
        memcpy(writer->buffer + writer->used, from, now);
        give(writer, now);
        from += now;
        bytes -= now;
    }
    return 0;
}

void tamis__copy_out(const struct tamis__segment *segment, const struct tamis__passage *passage,
                     uint64_t offset, unsigned char *out, size_t bytes)
{
    const bool reverse = passage->bit_order != segment->header->bit_order;
    tamis__segment_want(segment, offset, bytes);
    for (size_t done = 0; done < bytes;) {
        const uint64_t at = offset + done;
        const size_t skip = at % 8;
        const size_t now = bytes - done < 8 - skip ? bytes - done : 8 - skip;
        /* ORDER relaxed: adders set bits meanwhile, and nobody concludes from a bit what
         * other memory holds. */
        uint64_t word = __atomic_load_n(&segment->data[at / 8], __ATOMIC_RELAXED);
        if (reverse) word = tamis__reverse_bits(word);
        if (passage->swap_words) word = __builtin_bswap64(word);
        memcpy(out + done, (const unsigned char *)&word + skip, now);
        done += now;
    }
    tamis__segment_release(segment, offset, bytes);
}

static int put_data(struct tamis__writer *writer, const struct tamis__segment *segment,
                    const struct tamis__passage *passage, uint64_t offset, uint64_t bytes)
{
    while (bytes > 0) {
        const int rc = make_room_for_bytes(writer);
        if (rc < 0) return rc;
        const size_t now = portion(writer, bytes);
        tamis__copy_out(segment, passage, offset, writer->buffer + writer->used, now);
        give(writer, now);
        offset += now;
        bytes -= now;
    }
    return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int tamis__writer_data(struct tamis__writer *writer, const struct tamis__segment *segment,
                       const struct tamis__passage *passage, uint64_t offset, uint64_t bytes)
{
    const uint64_t at = writer->offset + writer->used;
    const uint64_t before = at < writer->from ? least(writer->from - at, bytes) : 0;
    const uint64_t begin = at + before;
    const uint64_t wanted = begin < writer->end ? least(writer->end - begin, bytes - before) : 0;
    const uint64_t after = bytes - before - wanted;
    int rc = before > 0 ? skip(writer, before) : 0;
    if (rc == 0) rc = put_data(writer, segment, passage, offset + before, wanted);
    return rc == 0 && after > 0 ? skip(writer, after) : rc;
}

int tamis__check_one_bloom(const struct tamis__cargo *cargo, const char *format)
{
    const struct tamis__segment_header *h = cargo->segments[0]->header;
    if (cargo->count != 1)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "the filter has %u segments and format %s has room for one; export it "
                           "as tamis",
                           cargo->count, format);
    if (!tamis_kind_has(h->kind, TAMIS_KIND_IS_PLAIN))
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter of this kind has no form in format %s; export it as tamis",
                           format);
    return 0;
}

int tamis__check_longs(const struct tamis__cargo *cargo, const char *system)
{
    const uint64_t m_bits = cargo->segments[0]->header->m_bits;
    if (m_bits % 64 == 0 && m_bits / 64 <= INT32_MAX) return 0;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "%s stores whole longs, 64 to %llu bits, and the filter has %llu bits; "
                       "export it as tamis",
                       system, (unsigned long long)INT32_MAX * 64, (unsigned long long)m_bits);
}
