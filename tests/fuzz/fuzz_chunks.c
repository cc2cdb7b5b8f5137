/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_chunks.c: BF.LOADCHUNK and CF.LOADCHUNK, heads and pieces, one after the other on one key.
 * A call: a byte of flags, the iterator in 8 bytes, the length in 4, and the data.
 */
#include "loaders.h"

#include <string.h>

#define CUCKOO 1u
#define SEAL 2u /* and the number of bytes, before a stream that CF.LOADCHUNK gets */
#define CALL_BYTES 13u
#define MARK_BYTES 16u

static const char mark[8] = {'T', 'A', 'M', 'I', 'S', 'C', 'F', '1'};

static void seal(uint8_t *data, size_t bytes, bool cuckoo)
{
    if (!cuckoo) {
        loaders_seal(data, bytes, true);
        return;
    }
    if (bytes < MARK_BYTES || memcmp(data, mark, sizeof mark) != 0) return; /* a head */
    const uint64_t follow = bytes - MARK_BYTES;
    memcpy(data + 8, &follow, sizeof follow);
    loaders_seal(data + MARK_BYTES, bytes - MARK_BYTES, false);
}

/* Returns whether the call was answered without an error. */
static bool load(unsigned flags, int64_t iterator, const uint8_t *data, size_t bytes)
{
    char number[32];
    const bool cuckoo = (flags & CUCKOO) != 0;
    uint8_t *copy = malloc(bytes + 1);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, data, bytes);
    if ((flags & SEAL) != 0) seal(copy, bytes, cuckoo);
    const int digits = snprintf(number, sizeof number, "%lld", (long long)iterator);
    const struct fake_word words[] = {cuckoo ? FAKE_WORD("cf.loadchunk")
                                             : FAKE_WORD("bf.loadchunk"),
                                      {number, (size_t)digits},
                                      {copy, bytes}};
    const bool had = fake_has_key();
    const bool good = fake_command(words, 3);
    FUZZ_CHECK(good ? fake_has_key() : fake_has_key() == had);
    free(copy);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t at = 0;
    bool good = true;
    loaders_begin(false);
    while (bytes - at >= CALL_BYTES) {
        int64_t iterator;
        uint32_t length;
        const unsigned flags = data[at];
        memcpy(&iterator, data + at + 1, sizeof iterator);
        memcpy(&length, data + at + 9, sizeof length);
        at += CALL_BYTES;
        if (length > bytes - at) length = (uint32_t)(bytes - at);
        good = load(flags, iterator, data + at, length) && good;
        at += length;
    }
    loaders_judge(bytes, LOADERS_MAX_BYTES);
    loaders_end(good && fake_has_key());
    return 0;
}
