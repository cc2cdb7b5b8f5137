/* SPDX-License-Identifier: BSD-2-Clause */
/* exchanges.c: see exchanges.h. */
#include "exchanges.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "hash/sum.h"

const struct tamis_import_spec EXCHANGES_NOTHING = {.size = sizeof EXCHANGES_NOTHING};

int exchanges_open(void **state)
{
    struct exchanges *p = calloc(1, sizeof *p);
    if (p == NULL) return -1;
    p->store = fixture_store(&p->path);
    *state = p;
    return 0;
}

int exchanges_close(void **state)
{
    AUTO_FREE struct exchanges *p = *state;
    tamis_store_close(p->store);
    free(p->path);
    return 0;
}

static int count_filter(void *context, const struct tamis_filter_stat *stat)
{
    (void)stat;
    ++*(int *)context;
    return 0;
}

void exchanges_empty(const struct exchanges *p)
{
    int filters = 0;
    assert_done(tamis_store_list(p->store, NULL, count_filter, &filters));
    assert_int_equal(filters, 0);
    assert_int_equal(fixture_files(p->path, "segments"), 0);
    assert_int_equal(fixture_files(p->path, "staging"), 0);
}

int exchanges_import(const struct exchanges *p, const char *format,
                     const struct tamis_import_spec *spec, struct stream *stream)
{
    const struct tamis_source source = stream_source(stream);
    return tamis_filter_import(p->store, "x", format, spec, &source, NULL);
}

void exchanges_refused(const struct exchanges *p, const char *format,
                       const struct tamis_import_spec *spec, struct stream *stream, int code,
                       const char *words)
{
    assert_refused(code, words, exchanges_import(p, format, spec, stream));
    exchanges_empty(p);
}

void exchanges_truncated(const struct exchanges *p, const char *format, const struct stream *whole)
{
    for (size_t bytes = 0; bytes < whole->bytes; bytes++) {
        AUTO_STREAM part = stream_of(whole->data, bytes);
        exchanges_refused(p, format, &EXCHANGES_NOTHING, &part, TAMIS_ECORRUPT, "truncated");
        part.length_hidden = true;
        part.most = 7;
        exchanges_refused(p, format, &EXCHANGES_NOTHING, &part, TAMIS_ECORRUPT, "truncated");
    }
    AUTO_STREAM copy = stream_of(whole->data, whole->bytes);
    assert_done(exchanges_import(p, format, &EXCHANGES_NOTHING, &copy));
    assert_done(tamis_filter_drop(p->store, "x"));
    stream_put(&copy, "", 1);
    exchanges_refused(p, format, &EXCHANGES_NOTHING, &copy, TAMIS_ECORRUPT,
                      "goes on after its end");
}

void exchanges_changed(const struct exchanges *p, struct stream *stream)
{
    for (size_t i = 0; i < stream->bytes; i++) {
        stream->data[i] ^= (unsigned char)(1u << i % 8);
        const int rc = exchanges_import(p, "tamis", &EXCHANGES_NOTHING, stream);
        if (rc != TAMIS_ECORRUPT && rc != TAMIS_EFOREIGN && rc != TAMIS_EVERSION)
            fail_msg("byte %zu changed: %d %s", i, rc, tamis_last_error());
        stream->data[i] ^= (unsigned char)(1u << i % 8);
    }
    exchanges_empty(p);
}

/* In parts the stream is the same, but for the digest at the end of format tamis.  Seen to fail for
 * a part that begins in the data and gets them from their beginning, and for a length that leaves
 * out what was skipped. */
static void assert_same_in_parts(tamis_filter *filter, const char *format,
                                 const struct stream *whole)
{
    AUTO_STREAM parts = {.data = NULL};
    const size_t digest = strcmp(format, "tamis") == 0 ? TAMIS__SUM_BYTES : 0;
    struct tamis_sink sink = stream_sink(&parts);
    sink.bytes = whole->bytes / 5 + 7;
    for (; sink.from < whole->bytes; sink.from += sink.bytes) {
        uint64_t all_bytes = 0;
        sink.all_bytes = &all_bytes;
        assert_done(tamis_filter_export(filter, format, TAMIS_EXPORT_WITH_KEY, &sink));
        assert_int_equal(all_bytes, whole->bytes);
    }
    assert_int_equal(parts.bytes, whole->bytes);
    if (whole->bytes > digest) assert_memory_equal(parts.data, whole->data, whole->bytes - digest);
}

struct stream exchanges_exported(const struct exchanges *p, const char *format)
{
    struct stream out = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&out);
    tamis_filter *filter = fixture_opened(p->store, "x", TAMIS_OPEN_READ_ONLY);
    assert_done(tamis_filter_export(filter, format, TAMIS_EXPORT_WITH_KEY, &sink));
    assert_same_in_parts(filter, format, &out);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(p->store, "x"));
    return out;
}

void exchanges_close_sums(struct stream *stream)
{
    const size_t checked =
        EXCHANGES_HEAD + EXCHANGES_DESCRIPTION * (size_t)tamis__get32(stream->data + 12);
    struct tamis__sum sum;
    if (checked + 8 + TAMIS__SUM_BYTES > stream->bytes) return;
    const uint64_t head = tamis__checksum(stream->data, checked);
    memcpy(stream->data + checked, &head, sizeof head);
    tamis__sum_init(&sum);
    tamis__sum_add(&sum, stream->data, stream->bytes - TAMIS__SUM_BYTES);
    tamis__sum_finish(&sum, stream->data + stream->bytes - TAMIS__SUM_BYTES);
}

void exchanges_same(const struct stream *a, const struct stream *b)
{
    assert_int_equal(a->bytes, b->bytes);
    if (a->bytes > 0) assert_memory_equal(a->data, b->data, a->bytes);
}

void exchanges_come_back(const struct exchanges *p, const char *format,
                         const struct tamis_import_spec *spec, struct stream *stream)
{
    assert_done(exchanges_import(p, format, spec, stream));
    assert_int_equal(fixture_problems(p->path), 0);
    AUTO_STREAM out = exchanges_exported(p, format);
    exchanges_same(stream, &out);
}
