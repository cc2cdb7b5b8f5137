/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * head.h: the heads that a filter of BF.* is made from: RedisBloom's (the first answer of
 * BF.SCANDUMP) and that of our own stream (docs/exchange.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* The head that RedisBloom has of a filter: 20 bytes, and 53 for each layer. */
#define BLOOM_HEAD_BYTES 20u
#define BLOOM_LAYER_BYTES 53u
#define BLOOM_SEED UINT64_C(0xc6a4a7935bd1e995) /* of filters that were made without one */
#define LAYERS_MAX 64u                          /* segments of a filter of Tamis */
/* The longest head of either format. */
#define HEAD_ROOM 16384u

/* A stream in memory, and the function of a source that reads it. */
struct memory_source {
    const unsigned char *at;
    size_t left;
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

/* Reads the head of a filter of the store, without its exceptions: RedisBloom's if it is exact;
 * else that of our stream, with the expansion behind it.  Returns its bytes, or an error. */
int64_t head_of_filter(tamis_filter *filter, bool exact, uint32_t expansion,
                       unsigned char head[HEAD_ROOM]);
