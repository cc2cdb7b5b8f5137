/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * head.h: the heads that a filter of BF.* is made from: RedisBloom's (the first answer of
 * BF.SCANDUMP) and that of our own stream (docs/exchange.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value/value.h"

/* The head that RedisBloom has of a filter: 20 bytes, and 53 for each layer. */
#define BLOOM_HEAD_BYTES 20u
#define BLOOM_LAYER_BYTES 53u
#define BLOOM_SEED UINT64_C(0xc6a4a7935bd1e995) /* of filters that were made without one */
#define LAYERS_MAX 64u                          /* segments of a filter of Tamis */
#define BLOOM_NO_SCALING 8u                     /* an option of the head: NONSCALING */
/* The longest head of either format. */
#define HEAD_ROOM 16384u

/* What a layer of a head has. */
struct bloom_layer {
    uint64_t bytes, bits, items, capacity;
    double rate, bits_per_entry;
    uint32_t hashes;
    uint8_t n2;
};

/* Appends a layer to a head of `bytes` bytes and counts it there; returns the bytes then. */
size_t bloom_head_add(unsigned char head[HEAD_ROOM], size_t bytes, const struct bloom_layer *layer);
size_t bloom_head_begin(uint32_t options, uint32_t growth, unsigned char head[HEAD_ROOM]);

/* Reads the first layer of a head that has one. */
void bloom_head_layer(const unsigned char *head, struct bloom_layer *layer);
/* What BF.RESERVE calls its EXPANSION; 0: NONSCALING. */
uint32_t bloom_head_expansion(const unsigned char *head);

/* A stream in memory, and the function of a source that reads it. */
struct memory_source {
    const unsigned char *at;
    size_t left;
    uint64_t flags; /* TAMIS_IMPORT_* that the caller adds */
};
int64_t memory_read(void *context, void *buffer, size_t bytes);

/* Does the head begin like that of our own stream? */
bool head_is_tamis(const void *head, size_t bytes);
/* The bytes of the data that a head claims, without any check of the head; UINT64_MAX if it is too
 * short to tell, or if they overflow. */
uint64_t head_data_bytes(const void *head, size_t bytes);
/* Newer heads of RedisBloom say in the highest bit of the word at `at` (`word_bytes` long) that the
 * seed of the hash follows, in the last 8 bytes.  If it is the usual one, takes both off a copy of
 * the head, which goes to `plain`, and returns its bytes; else returns 0. */
size_t head_without_seed(const void *head, size_t bytes, size_t at, size_t word_bytes,
                         uint64_t usual, unsigned char plain[HEAD_ROOM]);
/* Does the head claim more data than tamis.max-bytes? */
bool head_is_too_large(const void *head, size_t bytes);

/* Puts RedisBloom's head into the first frame of the container that the library imports
 * (docs/exchange.md).  Returns the bytes of both. */
#define HEAD_FRAME_BYTES 24u
size_t head_frame(const void *head, size_t bytes,
                  unsigned char framed[HEAD_FRAME_BYTES + HEAD_ROOM]);
/* Reads the expansion behind a head of our own stream.  Returns the bytes of the head alone; 0: it
 * is too short. */
size_t head_split(const unsigned char *head, size_t bytes, uint32_t *expansion);

/* What the head of a stream of ours says, of one segment (docs/exchange.md).  The caller knows that
 * the head is sound. */
struct stream_told {
    uint64_t capacity, items, data_bytes;
    int64_t origin; /* when the segment was made */
    uint32_t kind;
    bool exact, refuses;
};
void stream_tell(const void *stream, struct stream_told *told);
/* Does the stream of one segment, without a digest before it, end where its head says?  So
 * tamis_stream_fits() looks at all of it.  Nothing else is checked. */
bool stream_is_whole(const void *stream, size_t bytes);
/* Are they streams of one filter, of one segment each, and does the second have all bits of the
 * first? */
bool stream_is_within(const void *one, size_t one_bytes, const void *other, size_t other_bytes);

/* Reads the head of the filter of a value, without its exceptions: RedisBloom's if it is exact.
 * Returns its bytes, or an error. */
int64_t head_of_value(struct value *value, unsigned char head[HEAD_ROOM]);
/* The same of a stream of the value, which is its beginning; not if the value is exact. */
size_t head_of_stream(const struct value *value, const void *stream, unsigned char head[HEAD_ROOM]);
