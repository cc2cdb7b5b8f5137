/* SPDX-License-Identifier: BSD-2-Clause */
/* dumps.h: streams as other systems write them, built field by field so that a test can lie. */
#ifndef TAMIS_UNIT_DUMPS_H
#define TAMIS_UNIT_DUMPS_H

#include <stddef.h>
#include <stdint.h>

#include "streams.h"

/* A layer as the header of BF.SCANDUMP has it. */
struct dump_layer {
    uint64_t bytes, bits, size;
    double error, bpe;
    uint32_t hashes;
    uint64_t entries;
    uint8_t n2;
};

#define DUMP_LAYERS_MAX 70

struct dump {
    uint64_t size;
    uint32_t layer_count; /* of `layers`; what the header says is the next */
    uint32_t layers_said, options, growth;
    struct dump_layer layers[DUMP_LAYERS_MAX];
    size_t chunk_bytes; /* 0: as RedisBloom cuts them */
};

/* What BF.RESERVE makes for that many entries at that rate, holding `size` keys. */
struct dump_layer dump_layer(uint64_t entries, double error, uint64_t size);

/* A sound dump of so many layers of 10, 20, 40 ... entries. */
struct dump dump_of(uint32_t layers);

/* The container: magic, header, chunks of patterned data, end. */
struct stream dump_stream(const struct dump *dump);

/* Byte `index` of the data of all layers. */
unsigned char dump_byte(uint64_t index);

/* A frame: iterator, length, and so many bytes of data from position iterator - 1 - length on. */
void dump_frame(struct stream *stream, uint64_t iterator, uint64_t bytes);

#endif
