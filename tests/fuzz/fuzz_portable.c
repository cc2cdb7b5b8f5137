/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_portable.c: our own format, as it is, and once more with all checksums put right (those of
 * fingerprints too), as otherwise nothing that is wrong would get past them.
 */
#include "fuzz_streams.h"

#include <string.h>

#include "hash/sum.h"

#define HEAD_BYTES 96u
#define DESCRIPTION_BYTES 224u

#define DATA_BYTES_AT (HEAD_BYTES + 56u)
#define FUSE 4u
#define PREFACE 5u
#define PREFACE_BYTES 40u
#define DATA_CHECKSUM_AT (HEAD_BYTES + 216u)

static void mend_fingerprints(uint8_t *data, size_t bytes)
{
    const uint64_t at = HEAD_BYTES + DESCRIPTION_BYTES + 8;
    const uint64_t count = tamis__get64(data + DATA_BYTES_AT);
    if (tamis__get32(data + HEAD_BYTES) != FUSE || bytes < at || count > bytes - at) return;
    const uint64_t checksum = tamis__checksum(data + at, (size_t)count);
    memcpy(data + DATA_CHECKSUM_AT, &checksum, sizeof checksum);
}

static void mend(uint8_t *data, size_t bytes)
{
    struct tamis__sum sum;
    const uint64_t segments = bytes >= HEAD_BYTES ? tamis__get32(data + 12) : 0;
    const uint64_t checked = HEAD_BYTES + segments * DESCRIPTION_BYTES;
    if (segments == 0 || bytes < checked + 8) return;
    mend_fingerprints(data, bytes);
    const uint64_t checksum = tamis__checksum(data, (size_t)checked);
    memcpy(data + checked, &checksum, sizeof checksum);
    if (bytes < checked + 8 + TAMIS__SUM_BYTES) return;
    tamis__sum_init(&sum);
    tamis__sum_add(&sum, data, bytes - TAMIS__SUM_BYTES);
    tamis__sum_finish(&sum, data + bytes - TAMIS__SUM_BYTES);
}

/* The preface says what the stream behind it ends with. */
static void mend_preface(uint8_t *data, size_t bytes)
{
    const size_t digest_at = 16, checked = 32;
    memcpy(data + digest_at, data + bytes - TAMIS__SUM_BYTES, TAMIS__SUM_BYTES);
    const uint64_t checksum = tamis__checksum(data, checked);
    memcpy(data + checked, &checksum, sizeof checksum);
}

static void mend_all(uint8_t *data, size_t bytes)
{
    if (bytes < PREFACE_BYTES + HEAD_BYTES || tamis__get32(data + 8) != PREFACE) {
        mend(data, bytes);
        return;
    }
    mend(data + PREFACE_BYTES, bytes - PREFACE_BYTES);
    mend_preface(data, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_stream(&tamis__format_portable, data, bytes, true);
    uint8_t *mended = malloc(bytes + 1);
    FUZZ_CHECK(mended != NULL);
    memcpy(mended, data, bytes);
    mend_all(mended, bytes);
    fuzz_stream(&tamis__format_portable, mended, bytes, true);
    free(mended);
    return 0;
}
