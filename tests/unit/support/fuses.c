/* SPDX-License-Identifier: BSD-2-Clause */
/* fuses.c: see fuses.h. */
#include "fuses.h"

#include <err.h>
#include <stdlib.h>

#include "build/piece.h"

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t *fuses_digests(uint64_t first, uint64_t count)
{
    uint64_t *digests = calloc((size_t)count + 1, sizeof *digests);
    if (digests == NULL) err(1, "calloc");
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = first + i;
        digests[i] =
            tamis__fuse_digest(&(struct tamis__digester){.seed = FUSES_SEED}, &key, sizeof key);
    }
    qsort(digests, (size_t)count, sizeof *digests, ascending);
    for (uint64_t i = 1; i < count; i++)
        assert_true(digests[i - 1] < digests[i]); /* 2^64 is many: no two are equal */
    return digests;
}

/* From where the digests of `piece` end to where those after it begin. */
static uint64_t end_of_piece(const uint64_t *digests, uint64_t count, uint64_t from,
                             uint32_t pieces, uint32_t piece)
{
    while (from < count && tamis__fuse_piece(digests[from], pieces) == piece)
        from++;
    return from;
}

void fuses_shape(const uint64_t *digests, uint64_t count, uint32_t fingerprint_bits,
                 struct tamis__fuse_shape *shape)
{
    const uint32_t pieces = tamis__fuse_pieces(count);
    uint64_t fullest = 0, from = 0;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        const uint64_t end = end_of_piece(digests, count, from, pieces, piece);
        if (end - from > fullest) fullest = end - from;
        from = end;
    }
    tamis__fuse_shape(fullest, fingerprint_bits, pieces, shape);
}

void fuses_header(const struct tamis__fuse_shape *shape, uint64_t items,
                  struct tamis__segment_header *header)
{
    struct tamis__layout layout;
    fixture_header(header, TAMIS_KIND_BLOCKED, tamis__fuse_m_bits(shape), 2);
    tamis__static_layout(tamis__fuse_data_bits(shape), &layout);
    header->kind = TAMIS_KIND_FUSE;
    header->incompat_flags =
        tamis__fuse_is_packed(shape->fingerprint_bits) ? TAMIS__INCOMPAT_PACKED : 0;
    memset((char *)header + TAMIS__ONE_PAGE_END, 0, 8);
    tamis__header_set_layout(header, &layout);
    header->k = TAMIS__FUSE_ARITY;
    header->words = 0;
    header->seed = FUSES_SEED;
    header->capacity = items ? items : 1;
    header->fingerprint_bits = shape->fingerprint_bits;
    header->pieces = shape->pieces;
    header->piece_segments = shape->piece_segments;
    header->segment_slots = shape->segment_slots;
    tamis__header_set_items(header, items);
    tamis__header_seal(header);
}

static void build(struct fuses *fuses)
{
    const struct tamis__fuse_shape *shape = &fuses->shape;
    const size_t piece_bytes = (size_t)tamis__fuse_piece_slots(shape) * shape->fingerprint_bits / 8;
    unsigned char *fingerprints =
        (unsigned char *)fuses->segment.data + tamis__fuse_seeds_bytes(shape->pieces);
    uint64_t from = 0;
    for (uint32_t piece = 0; piece < shape->pieces; piece++) {
        const uint64_t end = end_of_piece(fuses->digests, fuses->count, from, shape->pieces, piece);
        void *workspace = malloc(tamis__piece_workspace_bytes(shape, end - from));
        if (workspace == NULL) err(1, "malloc");
        assert_done(tamis__piece_build(shape, fuses->digests + from, end - from, workspace,
                                       fingerprints + piece * piece_bytes,
                                       &fuses->segment.data[piece]));
        free(workspace);
        from = end;
    }
}

void fuses_make(struct fuses *fuses, uint64_t first, uint64_t count, uint32_t fingerprint_bits)
{
    struct tamis__segment_header header;
    *fuses = (struct fuses){.first = first, .count = count, .digests = fuses_digests(first, count)};
    fuses_shape(fuses->digests, count, fingerprint_bits, &fuses->shape);
    fuses_header(&fuses->shape, count, &header);
    char *memory = aligned_alloc(4096, (size_t)header.file_bytes);
    if (memory == NULL) err(1, "aligned_alloc");
    memset(memory, 0, (size_t)header.file_bytes);
    fuses->segment = tamis__segment_at(memory, memory + header.data_offset);
    fuses->segment.map_bytes = header.file_bytes;
    memcpy(memory, &header, sizeof header);
    build(fuses);
    fuses->segment.header->data_checksum =
        tamis__checksum(fuses->segment.data, (size_t)header.data_bytes);
    tamis__header_seal(fuses->segment.header);
}

void fuses_free(struct fuses *fuses)
{
    free(fuses->segment.header);
    free(fuses->digests);
}
