/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_index.c: the data of an index of exceptions, under a header that was made to go with them.
 */
#include "fuzz.h"

#include <string.h>

#include "exceptions/index.h"
#include "hash/digest.h"

/* What verify calls sound is a set, and has each key of it. */
static void check_sound(const struct tamis__segment *index)
{
    struct tamis__exceptions set = {0};
    FUZZ_CHECK(tamis__exceptions_from_index(&set, index) == 0);
    for (size_t i = 0; i < set.count; i++) {
        const struct tamis__exception *entry = &set.entries[i];
        const struct tamis_key key = {entry->key, entry->bytes};
        uint8_t answer = 1;
        FUZZ_CHECK(tamis__index_has(index, entry->key, entry->bytes));
        FUZZ_CHECK(tamis__index_strike(index, &key, 1, &answer) == 1 && answer == 0);
    }
    FUZZ_CHECK(tamis__index_bytes(&set) <= index->header->data_bytes);
    tamis__exceptions_clear(&set);
}

/* Ask for what would be a key if a record began at any place: among them are its keys. */
static void ask(const struct tamis__segment *index)
{
    const uint8_t *bytes = (const uint8_t *)index->data;
    const size_t all = (size_t)index->header->data_bytes;
    for (size_t at = 64; at + 12 <= all; at += 8) {
        const size_t length = tamis__get32(bytes + at + 8);
        const size_t left = all - at - 12;
        (void)tamis__index_has(index, bytes + at + 12, length < left ? length : left);
    }
    (void)tamis__index_has(index, NULL, 0);
}

static void check_index(const uint8_t *data, size_t bytes)
{
    static struct tamis__segment_header header;
    struct tamis__exceptions set = {0};
    const char *reason = NULL;
    uint64_t offset = 0;
    bytes -= bytes % 8;
    if (bytes < 8) return;
    const uint64_t count = tamis__get64(data);
    uint64_t *copy = malloc(bytes); /* its own, so that ASan sees its end */
    if (copy == NULL) return;
    memcpy(copy, data, bytes);
    header = (struct tamis__segment_header){.kind = TAMIS__KIND_EXCEPTIONS,
                                            .hash_set = TAMIS__HASH_XXH3,
                                            .m_bits = 8 * bytes,
                                            .k = 1,
                                            .capacity = count ? count : 1,
                                            .data_offset = TAMIS__HEADER_BYTES,
                                            .data_bytes = bytes,
                                            .data_checksum = tamis__checksum(copy, bytes)};
    const struct tamis__segment index = tamis__segment_at(&header, copy);
    const int rc = tamis__index_check(&index, &reason);
    const int wrong = tamis__index_verify(&index, &offset, &reason);
    FUZZ_CHECK(rc == 0 || (rc == TAMIS_ECORRUPT && wrong == 1 && *reason != '\0'));
    if (rc == 0) {
        ask(&index);
        const int read = tamis__exceptions_from_index(&set, &index);
        FUZZ_CHECK(read == 0 || wrong == 1);
        tamis__exceptions_clear(&set);
    }
    FUZZ_CHECK(offset <= header.data_offset + bytes);
    if (wrong == 0) check_sound(&index);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes > (size_t)1 << 20) return 0;
    check_index(data, bytes);
    return 0;
}
