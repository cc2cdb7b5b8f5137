/* SPDX-License-Identifier: BSD-2-Clause */
/* dumps.c: see dumps.h. */
#include "dumps.h"

#include <math.h>

struct dump_layer dump_layer(uint64_t entries, double error, uint64_t size)
{
    struct dump_layer layer = {.size = size, .error = error, .entries = entries};
    layer.bpe = -(log(error) / 0.480453013918201);
    const uint64_t bits = (uint64_t)((double)entries * layer.bpe);
    layer.bytes = (bits + 63) / 64 * 8;
    layer.bits = layer.bytes * 8;
    layer.hashes = (uint32_t)ceil(0.693147180559945 * layer.bpe);
    return layer;
}

struct dump dump_of(uint32_t layers)
{
    struct dump dump = {.layer_count = layers, .layers_said = layers, .options = 5, .growth = 2};
    double error = 0.005;
    for (uint32_t i = 0; i < layers; i++, error /= 2) {
        dump.layers[i] = dump_layer((uint64_t)10 << i, error, ((uint64_t)10 << i) - i);
        dump.size += dump.layers[i].size;
    }
    return dump;
}

unsigned char dump_byte(uint64_t index)
{
    return (unsigned char)(index * 37 + index / 7);
}

void dump_frame(struct stream *stream, uint64_t iterator, uint64_t bytes)
{
    stream_put64(stream, iterator);
    stream_put64(stream, bytes);
    for (uint64_t i = 0; i < bytes; i++) {
        const unsigned char byte = dump_byte(iterator - 1 - bytes + i);
        stream_put(stream, &byte, 1);
    }
}

static void put_header(struct stream *stream, const struct dump *dump)
{
    stream_put64(stream, 1);
    stream_put64(stream, 20 + 53 * (uint64_t)dump->layer_count);
    stream_put64(stream, dump->size);
    stream_put32(stream, dump->layers_said);
    stream_put32(stream, dump->options);
    stream_put32(stream, dump->growth);
    for (uint32_t i = 0; i < dump->layer_count; i++) {
        const struct dump_layer *l = &dump->layers[i];
        stream_put64(stream, l->bytes);
        stream_put64(stream, l->bits);
        stream_put64(stream, l->size);
        stream_put_double(stream, l->error);
        stream_put_double(stream, l->bpe);
        stream_put32(stream, l->hashes);
        stream_put64(stream, l->entries);
        stream_put(stream, &l->n2, 1);
    }
}

struct stream dump_stream(const struct dump *dump)
{
    struct stream stream = stream_of("SCANDUMP", 8);
    uint64_t iterator = 1;
    const uint64_t most = dump->chunk_bytes ? dump->chunk_bytes : (uint64_t)16 << 20;
    put_header(&stream, dump);
    for (uint32_t i = 0; i < dump->layer_count; i++) {
        for (uint64_t left = dump->layers[i].bytes; left > 0;) {
            const uint64_t now = left < most ? left : most;
            iterator += now;
            dump_frame(&stream, iterator, now);
            left -= now;
        }
    }
    dump_frame(&stream, 0, 0);
    return stream;
}
