/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_load.c: TAMIS.LOAD: a stream of format tamis in three pieces.
 * A byte of flags, the lengths of the first two pieces in a byte each, and the stream.
 */
#include "loaders.h"

#include <string.h>

#define SEAL 1u
#define DURABLE 2u
#define EXPANSION 4u
#define HEAD_BYTES 3u
#define WORDS_MAX 7

static size_t smaller(size_t one, size_t other)
{
    return one < other ? one : other;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fake_word words[WORDS_MAX] = {FAKE_WORD("tamis.load")};
    int count = 1;
    if (bytes < HEAD_BYTES) return 0;
    const size_t all = bytes - HEAD_BYTES, first = smaller(data[1], all);
    const size_t second = smaller(data[2], all - first);
    uint8_t *stream = malloc(all + 1);
    FUZZ_CHECK(stream != NULL);
    memcpy(stream, data + HEAD_BYTES, all);
    if ((data[0] & SEAL) != 0) loaders_seal(stream, all, false);
    if ((data[0] & DURABLE) != 0) words[count++] = FAKE_WORD("DURABLE");
    if ((data[0] & EXPANSION) != 0) {
        words[count++] = FAKE_WORD("EXPANSION");
        words[count++] = FAKE_WORD("4");
    }
    words[count++] = (struct fake_word){stream, first};
    words[count++] = (struct fake_word){stream + first, second};
    words[count++] = (struct fake_word){stream + first + second, all - first - second};
    loaders_begin(false);
    const bool loaded = fake_command(words, count);
    FUZZ_CHECK(loaded == fake_has_key());
    loaders_judge(bytes, 0);
    loaders_end(loaded);
    free(stream);
    return 0;
}
