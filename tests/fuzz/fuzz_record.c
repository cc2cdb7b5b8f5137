/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_record.c: a value of the catalog under a key, as it is and with its checksum put right.  The
 * first byte of the input is the length of the key.
 */
#include "fuzz_policy.h"

#include <string.h>

#include "catalog/record.h"

/* What is accepted must be what it would be written as. */
static void check(struct tamis__bytes key, const uint8_t *value, size_t bytes)
{
    static struct tamis__record record;
    static unsigned char again[TAMIS__RECORD_BYTES_MAX];
    const char *reason = NULL;
    const struct tamis__bytes all = {value, bytes};
    const int rc = tamis__record_decode(key, all, &record, &reason);
    FUZZ_CHECK(rc == 0 || rc == TAMIS_ECORRUPT || rc == TAMIS_EVERSION);
    FUZZ_CHECK(reason != NULL && *reason != '\0');
    if (rc == 0) {
        FUZZ_CHECK(record.segment_count >= 1 && record.segment_count <= TAMIS__SEGMENTS_MAX);
        for (uint32_t i = 0; i < record.segment_count; i++) {
            const struct tamis__listed_segment *s = &record.segments[i];
            fuzz_policy(&record.policy, s->slice, s->slice_start, s->step);
        }
        FUZZ_CHECK(tamis__record_encode(&record, key, again) == bytes);
        FUZZ_CHECK(memcmp(again, value, bytes) == 0);
    }
    struct tamis__store_record store;
    const int store_rc = tamis__store_record_decode(key, all, &store, &reason);
    FUZZ_CHECK(store_rc == 0 || store_rc == TAMIS_ECORRUPT || store_rc == TAMIS_EVERSION);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0 || bytes > 2 * (size_t)TAMIS__RECORD_BYTES_MAX) return 0;
    const size_t key_bytes = data[0] < bytes ? data[0] : bytes - 1;
    const struct tamis__bytes key = {data + 1, key_bytes};
    const size_t value_bytes = bytes - 1 - key_bytes;
    uint8_t *value = calloc(1, value_bytes + !value_bytes); /* its own, so that ASan sees its end */
    if (value == NULL) return 0;
    memcpy(value, data + 1 + key_bytes, value_bytes);
    check(key, value, value_bytes);
    if (value_bytes >= 8) {
        const uint64_t sum = tamis__record_checksum(key, value, value_bytes - 8);
        memcpy(value + value_bytes - 8, &sum, sizeof sum);
        check(key, value, value_bytes);
    }
    free(value);
    return 0;
}
