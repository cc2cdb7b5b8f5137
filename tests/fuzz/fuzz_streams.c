/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_streams.c: see fuzz_streams.h. */
#include "fuzz_streams.h"

#include <string.h>

#include "exceptions/index.h"
#include "fuzz_policy.h"
#include "kind/kind.h"
#include "txn/draft.h"
#include "txn/store.h"

/* Segments larger than this are not built: what is said of them is checked all the same. */
#define BUILT_BYTES_MAX ((uint64_t)1 << 20)

struct bytes {
    uint8_t *data;
    size_t count, room, at;
};

struct loading {
    const struct tamis__outline *outline;
    struct tamis__draft drafts[TAMIS__SEGMENTS_MAX];
    struct tamis__segment segments[TAMIS__SEGMENTS_MAX]; /* data NULL where too large */
    uint64_t done[TAMIS__SEGMENTS_MAX];
    uint32_t newest; /* index of the last write: it never goes back */
    struct tamis__exceptions exceptions;
};

static int64_t read_bytes(void *context, void *buffer, size_t wanted)
{
    struct bytes *bytes = context;
    size_t now = bytes->count - bytes->at;
    if (now > wanted) now = wanted;
    if (now > 0) memcpy(buffer, bytes->data + bytes->at, now);
    bytes->at += now;
    return (int64_t)now;
}

static int write_bytes(void *context, const void *buffer, size_t count)
{
    struct bytes *bytes = context;
    if (bytes->count + count > bytes->room) {
        bytes->room = 2 * (bytes->count + count);
        bytes->data = realloc(bytes->data, bytes->room);
        FUZZ_CHECK(bytes->data != NULL);
    }
    memcpy(bytes->data + bytes->count, buffer, count);
    bytes->count += count;
    return 0;
}

static uint64_t stored_bytes(const struct loading *loading, uint32_t index)
{
    return loading->drafts[index].header.data_bytes;
}

static int take(void *context, uint32_t index, const void *data, size_t bytes)
{
    struct loading *loading = context;
    FUZZ_CHECK(index < loading->outline->count && index >= loading->newest);
    FUZZ_CHECK(bytes > 0 && bytes <= TAMIS__PIECE_BYTES);
    FUZZ_CHECK(bytes <= stored_bytes(loading, index) - loading->done[index]);
    loading->newest = index;
    if (loading->segments[index].data != NULL)
        memcpy((uint8_t *)loading->segments[index].data + loading->done[index], data, bytes);
    loading->done[index] += bytes;
    return 0;
}

static void check_layer(const struct tamis__layer *layer, const struct tamis__policy *policy)
{
    const struct tamis__listed_segment *s = &layer->segment;
    FUZZ_CHECK(s->m_bits >= 1 && s->m_bits <= TAMIS__M_BITS_MAX);
    if (policy->capacity != 0) fuzz_policy(policy, s->slice, s->slice_start, s->step);
    FUZZ_CHECK((layer->flags & ~TAMIS__SEGMENT_FLAGS_KNOWN) == 0);
}

static void init_draft(const struct tamis__layer *layer, struct tamis__draft *draft)
{
    static const struct tamis_store store;
    if (layer->segment.kind != TAMIS_KIND_FUSE) {
        tamis__draft_init(&store, "fuzz", &layer->segment, draft);
        return;
    }
    tamis__draft_init_fuse(&store, "fuzz", &layer->segment, &layer->shape, draft);
    draft->header.data_checksum = layer->data_checksum;
}

static void build(struct loading *loading, const struct tamis__outline *outline)
{
    loading->outline = outline;
    for (uint32_t i = 0; i < outline->count; i++) {
        const struct tamis__layer *layer = &outline->layers[i];
        struct tamis__segment_header *header = &loading->drafts[i].header;
        check_layer(layer, &outline->policy);
        init_draft(layer, &loading->drafts[i]);
        header->created_at = layer->segment.created_at;
        header->flags = layer->flags;
        memcpy(header->kept, layer->kept, sizeof header->kept);
        loading->segments[i] = tamis__segment_at(header, NULL);
        if (header->data_bytes > BUILT_BYTES_MAX) continue;
        loading->segments[i].data = calloc(1, (size_t)header->data_bytes);
        FUZZ_CHECK(loading->segments[i].data != NULL);
    }
}

/* An index of the exceptions, in memory; NULL if there are none. */
static struct tamis__segment *build_index(const struct tamis__exceptions *set,
                                          struct tamis__draft *draft, struct tamis__segment *index)
{
    static const struct tamis_store store;
    const struct tamis__listed_segment described = {.kind = TAMIS__KIND_EXCEPTIONS,
                                                    .hash_set = TAMIS__HASH_XXH3,
                                                    .m_bits = 8 * tamis__index_bytes(set),
                                                    .k = 1,
                                                    .capacity = set->count,
                                                    .fp_rate = 1};
    if (set->count == 0) return NULL;
    tamis__draft_init(&store, "fuzz", &described, draft);
    *index = (struct tamis__segment){.header = &draft->header,
                                     .data = calloc(1, (size_t)draft->header.data_bytes)};
    FUZZ_CHECK(index->data != NULL);
    tamis__index_encode(set, index->data);
    for (size_t i = 0; i < set->count; i++)
        FUZZ_CHECK(tamis__index_has(index, set->entries[i].key, set->entries[i].bytes));
    return index;
}

/* No query leaves fingerprints of a shape that was accepted, whatever is in them. */
static void ask_fuse(const struct tamis__segment *segment)
{
    const char *reason = NULL;
    if (segment->header->kind != TAMIS_KIND_FUSE ||
        tamis__kind_fuse.check(segment->header, &reason) < 0)
        return;
    for (uint64_t key = 0; key < 100; key++)
        (void)tamis__kind_fuse.contains(segment, &key, sizeof key);
}

static void check_comes_out(const struct tamis__format *format, const struct loading *loading,
                            const uint8_t *data, size_t bytes, bool exact)
{
    struct bytes out = {.data = NULL};
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_bytes, .context = &out};
    const struct tamis__outline *outline = loading->outline;
    struct tamis__cargo cargo = {.count = outline->count,
                                 .capacity = outline->capacity,
                                 .fp_rate = outline->fp_rate,
                                 .policy = outline->policy,
                                 .with_digest = outline->has_digest};
    struct tamis__writer writer;
    struct tamis__draft index_draft;
    struct tamis__segment index = {.data = NULL};
    for (uint32_t i = 0; i < outline->count; i++) {
        if (loading->segments[i].data == NULL) return;
        if (outline->layers[i].segment.counter_bits != 0) return; /* no table is built here */
        ask_fuse(&loading->segments[i]);
        cargo.segments[i] = &loading->segments[i];
    }
    cargo.index = build_index(&loading->exceptions, &index_draft, &index);
    memcpy(cargo.key_digest, outline->key_digest, sizeof cargo.key_digest);
    FUZZ_CHECK(format->check == NULL || format->check(&cargo) == 0);
    FUZZ_CHECK(tamis__writer_init(&writer, &sink) == 0);
    FUZZ_CHECK(format->save(&cargo, &writer) == 0 && tamis__writer_flush(&writer) == 0);
    tamis__writer_clear(&writer);
    if (exact)
        FUZZ_CHECK(out.count == bytes && memcmp(out.data, data, bytes) == 0);
    else
        fuzz_stream(format, out.data, out.count, true);
    free(out.data);
    free(index.data);
}

/* The set is sorted and as large as was said, and no key is twice in it. */
static int take_exceptions(void *context, struct tamis__exceptions *set)
{
    struct loading *loading = context;
    FUZZ_CHECK(set->count == loading->outline->exceptions && set->sorted == set->count);
    FUZZ_CHECK(set->count <= TAMIS_EXCEPTIONS_MAX && loading->exceptions.count == 0);
    loading->exceptions = *set;
    *set = (struct tamis__exceptions){.count = 0};
    return 0;
}

static int take_attachment(void *context, const void *data, size_t bytes)
{
    struct loading *loading = context;
    FUZZ_CHECK(loading->outline->has_attachment && bytes >= 1 && bytes <= TAMIS__ATTACHMENT_BYTES);
    tamis__attachment_set(&loading->drafts[0].header.attachment, data, bytes);
    return 0;
}

/* As the import judges it; what it does with the count is tested by counting_stream_test. */
static int take_count(void *context, uint32_t index, uint64_t cell, uint64_t count)
{
    const struct loading *loading = context;
    const uint64_t cells = loading->outline->layers[index].segment.m_bits;
    return cell < cells && count <= (uint64_t)1 << 60 ? 0 : TAMIS__NO_COUNT;
}

void fuzz_stream(const struct tamis__format *format, const uint8_t *data, size_t bytes, bool exact)
{
    struct bytes in = {.data = (uint8_t *)(uintptr_t)data, .count = bytes};
    const struct tamis_source source = {
        .size = sizeof source, .read = read_bytes, .context = &in, .bytes = bytes};
    struct tamis__outline *outline = calloc(1, sizeof *outline);
    struct loading *loading = calloc(1, sizeof *loading);
    const struct tamis__stream_target target = {.write = take,
                                                .count = take_count,
                                                .except = take_exceptions,
                                                .attach = take_attachment,
                                                .context = loading};
    struct tamis__refusal refusal = {UINT64_MAX, ""};
    struct tamis__reader reader;
    FUZZ_CHECK(outline != NULL && loading != NULL);
    FUZZ_CHECK(tamis__reader_init(&reader, &source, format->name) == 0);
    FUZZ_CHECK(tamis__reader_fill(&reader, format->head_bytes) == 0);
    int rc = format->parse(reader.buffer, reader.end, outline, &refusal);
    FUZZ_CHECK(rc == 0 || (rc < 0 && refusal.offset <= bytes && refusal.reason[0] != '\0'));
    if (rc == 0) {
        FUZZ_CHECK(outline->count >= 1 && outline->count <= TAMIS__SEGMENTS_MAX);
        FUZZ_CHECK(outline->head_bytes >= 1 && outline->head_bytes <= format->head_bytes);
        build(loading, outline);
        rc = format->load(&reader, outline, &target);
        FUZZ_CHECK(rc <= 0);
        if (rc == 0) {
            FUZZ_CHECK(outline->head_bytes + outline->least_bytes <= bytes && in.at == bytes);
            for (uint32_t i = 0; i < outline->count; i++)
                FUZZ_CHECK(loading->done[i] == (outline->layers[i].segment.m_bits + 7) / 8 ||
                           loading->done[i] == stored_bytes(loading, i));
            check_comes_out(format, loading, data, bytes, exact);
        }
        for (uint32_t i = 0; i < outline->count; i++)
            free(loading->segments[i].data);
    }
    tamis__reader_clear(&reader);
    tamis__exceptions_clear(&loading->exceptions);
    free(loading);
    free(outline);
}
