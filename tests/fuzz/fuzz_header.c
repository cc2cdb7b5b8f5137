/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_header.c: the first bytes of a segment file, as they are, and once more with the checksum
 * put right, as otherwise nothing that is wrong would get past it.
 */
#include "fuzz_policy.h"

#include <string.h>

#include "kind/kind.h"
#include "segment/header.h"

/* A header that was accepted leads nowhere outside the file. */
static void check_accepted(const struct tamis__segment_header *h, uint64_t file_bytes)
{
    const struct tamis__kind *kind = tamis__kind_by_id(h->kind);
    const char *reason = "";
    FUZZ_CHECK(h->counter_bits != 0 || h->file_bytes == file_bytes);
    FUZZ_CHECK(h->file_bytes <= file_bytes && tamis__header_file_bytes(h) <= file_bytes);
    FUZZ_CHECK(file_bytes <= tamis__header_file_bytes_max(h));
    FUZZ_CHECK(h->data_offset >= h->header_bytes && h->data_offset <= h->file_bytes);
    FUZZ_CHECK(h->data_bytes <= h->file_bytes - h->data_offset);
    const struct tamis__policy policy = tamis__header_policy(h);
    fuzz_policy(&policy, h->slice, h->slice_start, h->step);
    FUZZ_CHECK(h->k >= 1 && h->k <= TAMIS_K_MAX && h->m_bits >= 1);
    if (kind == NULL || kind->check(h, &reason) < 0 || kind->positions == NULL) return;
    uint64_t positions[TAMIS_K_MAX];
    kind->positions(h, "key", 3, positions);
    const uint64_t width = h->counter_bits ? h->counter_bits : 1;
    for (uint32_t i = 0; i < h->k; i++)
        FUZZ_CHECK(positions[i] < h->m_bits && positions[i] * width / 64 * 8 < h->data_bytes);
}

static void check(const void *data, size_t bytes, uint64_t file_bytes)
{
    struct tamis__refusal refusal = {UINT64_MAX, ""};
    const int rc = tamis__header_check(data, bytes, file_bytes, &refusal);
    if (rc != 0) {
        FUZZ_CHECK(rc == TAMIS_EFOREIGN || rc == TAMIS_EVERSION || rc == TAMIS_ECORRUPT);
        FUZZ_CHECK(refusal.offset != UINT64_MAX && refusal.reason[0] != '\0');
        return;
    }
    struct tamis__segment_header header;
    memcpy(&header, data, sizeof header);
    check_accepted(&header, file_bytes);
    const struct tamis__name_label *label = tamis__label_current(&header);
    FUZZ_CHECK(label == NULL || strlen(label->name) <= TAMIS_NAME_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct tamis__segment_header header;
    check(data, bytes, bytes);
    if (bytes < sizeof header) return 0;
    memcpy(&header, data, sizeof header);
    check(data, bytes, header.file_bytes);
    tamis__header_seal(&header);
    check(&header, sizeof header, header.file_bytes);
    return 0;
}
