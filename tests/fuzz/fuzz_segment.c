/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_segment.c: a whole segment file, of any kind: header and kind judge it; what they let
 * through is asked, verified and measured.  No crash, no byte outside the file.  Once as it is, and
 * once with its checksums put right, as otherwise nothing that is wrong would get past them.
 *
 * The file is mapped up to all that it can ever have, as a segment is; what is behind its end must
 * never be touched, so the memory ends there, and a file that may grow is left out unless it is
 * small.
 */
#include "fuzz.h"

#include <string.h>

#include "exceptions/index.h"
#include "hash/digest.h"
#include "kind/kind.h"

#define BYTES_MAX ((uint64_t)1 << 20)

/* Any answer will do; those of a batch are those of single keys. */
static void ask(const struct tamis__kind *kind, const struct tamis__segment *segment)
{
    enum { KEYS = 70 };
    uint64_t numbers[KEYS];
    struct tamis_key keys[KEYS];
    uint8_t answers[KEYS];
    size_t ones = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        numbers[i] = i * i;
        keys[i] = (struct tamis_key){.data = &numbers[i], .bytes = i % 9};
    }
    const size_t told = kind->contains_batch(segment, keys, KEYS, answers);
    for (size_t i = 0; i < KEYS; i++) {
        FUZZ_CHECK(answers[i] == kind->contains(segment, keys[i].data, keys[i].bytes));
        ones += answers[i];
    }
    FUZZ_CHECK(told == ones);
    uint64_t counts[KEYS];
    if (kind->count_batch != NULL) (void)kind->count_batch(segment, keys, KEYS, counts);
}

static void look_at(const struct tamis__kind *kind, const struct tamis__segment *segment)
{
    const char *reason = NULL;
    uint64_t offset = 0, ones = 0;
    double rate = 0;
    ask(kind, segment);
    if (kind->verify != NULL && kind->verify(segment, &offset, &reason) != 0) {
        FUZZ_CHECK(reason != NULL && *reason != '\0');
        FUZZ_CHECK(offset < segment->map_bytes);
    }
    kind->measure(segment, &ones, &rate);
    FUZZ_CHECK(rate >= 0 && rate <= 1);
}

static int count_key(struct tamis__exceptions *set, const struct tamis__segment *index)
{
    int rc = tamis__exceptions_from_index(set, index);
    FUZZ_CHECK(rc == 0 || rc == TAMIS_ECORRUPT || rc == TAMIS_ELIMIT);
    return rc;
}

static void look_at_index(const struct tamis__segment *index)
{
    struct tamis__exceptions set = {0};
    const char *reason = NULL;
    uint64_t offset = 0;
    if (tamis__index_check(index, &reason) < 0) {
        FUZZ_CHECK(reason != NULL && *reason != '\0');
        return;
    }
    for (uint64_t key = 0; key < 50; key++)
        (void)tamis__index_has(index, &key, key % 9);
    if (tamis__index_verify(index, &offset, &reason) == 0) {
        FUZZ_CHECK(count_key(&set, index) == 0);
        for (size_t i = 0; i < set.count; i++)
            FUZZ_CHECK(tamis__index_has(index, set.entries[i].key, set.entries[i].bytes));
    } else {
        FUZZ_CHECK(reason != NULL && *reason != '\0' && offset <= index->map_bytes);
        (void)count_key(&set, index);
    }
    tamis__exceptions_clear(&set);
}

/* `file` is of `bytes` bytes and aligned as a mapping. */
static void check(unsigned char *file, size_t bytes)
{
    struct tamis__refusal refusal = {0, ""};
    const char *reason = NULL;
    if (tamis__header_check(file, bytes, bytes, &refusal) < 0) return;
    struct tamis__segment_header *header = (struct tamis__segment_header *)(void *)file;
    const uint64_t most = tamis__header_file_bytes_max(header);
    if (most > BYTES_MAX) return;
    unsigned char *map = aligned_alloc(4096, (size_t)((most + 4095) / 4096 * 4096));
    FUZZ_CHECK(map != NULL);
    memset(map, 0, (size_t)most);
    memcpy(map, file, bytes < most ? bytes : (size_t)most);
    header = (struct tamis__segment_header *)(void *)map;
    struct tamis__segment segment = tamis__segment_at(map, map + header->data_offset);
    segment.map_bytes = most;
    const struct tamis__kind *kind = tamis__kind_by_id(header->kind);
    if (header->kind == TAMIS__KIND_EXCEPTIONS)
        look_at_index(&segment);
    else if (kind != NULL && kind->check(header, &reason) == 0)
        look_at(kind, &segment);
    free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < TAMIS__HEADER_BYTES || bytes > BYTES_MAX) return 0;
    unsigned char *file = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    FUZZ_CHECK(file != NULL);
    memcpy(file, data, bytes);
    check(file, bytes);
    struct tamis__segment_header *header = (struct tamis__segment_header *)(void *)file;
    if (header->data_offset <= bytes && header->data_bytes <= bytes - header->data_offset)
        header->data_checksum =
            tamis__checksum(file + header->data_offset, (size_t)header->data_bytes);
    tamis__header_seal(header);
    check(file, bytes);
    free(file);
    return 0;
}
