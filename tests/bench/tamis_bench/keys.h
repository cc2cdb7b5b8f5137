/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.h: keys by their numbers, written into a small buffer before they are used. */
#ifndef TAMIS_BENCH_KEYS_H
#define TAMIS_BENCH_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

enum key_set {
    KEYS_8_BYTES, /* a number, mixed */
    KEYS_URLS,    /* 70 bytes of text, one after the other as lines of a file are */
    KEY_SETS
};

/* "8", "url"; and in words. */
extern const char *const key_set_names[KEY_SETS];
extern const char *const key_set_titles[KEY_SETS];

/*
 * So many keys are made at a time and then used, which alone is timed: enough for two batches of
 * 1,024, few enough to stay in the second-level cache, so that it is not the stream of keys that is
 * measured.
 */
#define STREAM_KEYS 2048u

/* What one worker has of keys: 240 KB. */
struct stream {
    struct tamis_key keys[STREAM_KEYS];
    uint8_t answers[STREAM_KEYS];
    char bytes[STREAM_KEYS * 72];
};

/* Keys i = 0 to count - 1 of the stream: those of the numbers first, first + 1, ...; of another
 * seed another set, and of one seed no two alike. */
void keys_in_order(struct stream *stream, enum key_set set, uint64_t seed, uint64_t first,
                   size_t count);

/* The same for random numbers below `range`, which is 1 or more. */
void keys_at_random(struct stream *stream, enum key_set set, uint64_t seed, uint64_t *state,
                    uint64_t range, size_t count);

#endif
