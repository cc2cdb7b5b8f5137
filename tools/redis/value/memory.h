/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h: the memory home of BF.*: layers of bits in the server's memory.
 *
 * A layer's bits are in the very layout of a segment, so the library's own kinds add and ask
 * (tamis_memory.h), and a thread makes a filter of the store of them without a look at a key.  An
 * exact filter has RedisBloom's layers: sizes, rates and growth are RedisBloom's.  Another one has
 * those that the library plans.
 *
 * While a thread makes the filter of the store (home/promote.c), the layers take adds as before,
 * and each key that is new is noted besides, to be added to the file when that is there.
 */
#pragma once

#include "tamis_memory.h"
#include "value/head.h"

struct layer {
    struct tamis_memory_filter bits;
    double bits_per_entry; /* of an exact filter; its n2 is in bits.reserved */
};

/* Keys that are to be added to the file, too: of each u32 bytes, and the bytes. */
struct key_log {
    char *bytes;
    size_t count, room;
    bool dirty; /* bits were set besides, by BF.LOADCHUNK: all of them are to be brought again */
};

/* There may be millions: 48 bytes. */
struct memory {
    uint32_t growth;    /* exact: the next layer is so many times as large */
    uint8_t references; /* atomic: the value's, and a promotion's */
    uint8_t count;      /* of layers, at most LAYERS_MAX */
    uint8_t options;    /* exact: of RedisBloom's head */
    bool exact : 1;
    bool refuses : 1;  /* when it is full */
    uint64_t capacity; /* of the filter as it was asked for */
    double rate;
    struct key_log *log;         /* a thread makes the file; NULL: none does */
    struct promotion *promotion; /* NULL: none; home/promote.c */
    struct layer *layers;
};

/* What a filter is to be. */
struct bloom_shape {
    double rate;
    uint64_t capacity;
    uint32_t growth; /* the next layer is so many times as large as the last one */
    bool non_scaling;
};

/* Makes an empty filter.  TAMIS_ENOMEM: more than tamis.max-bytes, or than there is. */
int memory_make(const struct bloom_shape *shape, bool exact, struct memory **memory);
/* The same of a head: RedisBloom's, or that of our own stream, which has an expansion behind it.
 * TAMIS_EUNSUPPORTED: that filter can only be in the store.  *expansion is what BF.RESERVE calls
 * so. */
int memory_make_of_head(const void *head, size_t bytes, struct memory **memory,
                        uint32_t *expansion);
/* The same by layers, which are appended: for dumps. */
struct memory *memory_new(bool exact);
/* The options and the growth of RedisBloom's filter.  False: it is none that can be here. */
bool memory_set_options(struct memory *memory, uint32_t options, uint32_t growth);
/* Appends a layer; its data, or zeros for NULL, are the memory's if this returns 0. */
int memory_append(struct memory *memory, struct layer *layer);
/* The same of RedisBloom's, whose data have data_bytes bytes: completes its shape, and checks it.
 * More data follow than that, up to a multiple of 8 bytes. */
int memory_take_exact(struct memory *memory, struct layer *layer);
/* Gives back a reference; the last one frees the memory.  Any thread. */
void memory_release(struct memory *memory);

/* Adds a key: 1 new, 0 known; TAMIS_EFULL, TAMIS_ELIMIT (no further layer), TAMIS_ENOMEM. */
int memory_add(struct memory *memory, const void *key, size_t bytes);
/* Adds keys; returns 0, or the error of the last that was refused: its answer and those of others
 * that were refused are TAMIS_ANSWER_REFUSED. */
int memory_add_batch(struct memory *memory, const struct tamis_key *keys, size_t count,
                     uint8_t *answers);
bool memory_contains(const struct memory *memory, const void *key, size_t bytes);
void memory_contains_batch(const struct memory *memory, const struct tamis_key *keys, size_t count,
                           uint8_t *answers);

/* The bytes of a layer's data, as BF.SCANDUMP counts them. */
uint64_t layer_bytes(const struct memory *memory, const struct layer *layer);
uint64_t memory_items(const struct memory *memory);
uint64_t memory_data_bytes(const struct memory *memory);
uint64_t memory_size_bytes(const struct memory *memory);
/* The head that BF.SCANDUMP tells: RedisBloom's, or that of our stream with `expansion` behind it.
 */
int64_t memory_head(const struct memory *memory, uint32_t expansion, unsigned char head[HEAD_ROOM]);
/* Sets the bits of a piece of the data, which is within a layer; clears none. */
void memory_or(unsigned char *at, const void *data, size_t bytes);
