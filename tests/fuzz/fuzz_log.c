/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_log.c: the header of a log and a run of frames, as they are and with their checksums put
 * right.
 *
 * The input is the nonce, then what stands behind the header.  What is read must be what it would
 * be written as.
 */
#include "fuzz.h"

#include <string.h>

#include "log/frame.h"

static void check_frame(uint64_t nonce, const struct tamis__frame *frame, const uint8_t *at,
                        size_t bytes)
{
    uint8_t *again = calloc(1, bytes);
    size_t offset = 0;
    if (again == NULL) return;
    FUZZ_CHECK(frame->count >= 1 && frame->count <= TAMIS__FRAME_KEYS_MAX);
    unsigned char *to = tamis__frame_payload(again);
    for (uint32_t i = 0; i < frame->count; i++) {
        if (frame->type == TAMIS__FRAME_DIGESTS) {
            to = tamis__frame_put_digest(to, tamis__frame_digest(frame, i));
        } else {
            const struct tamis_key key = tamis__frame_next_key(frame, &offset);
            to = tamis__frame_put_key(to, key.data, (uint32_t)key.bytes);
        }
    }
    FUZZ_CHECK(tamis__frame_seal(nonce, frame, again) == bytes);
    FUZZ_CHECK(memcmp(again, at, bytes) == 0);
    free(again);
}

static void run(uint64_t nonce, const uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        struct tamis__frame frame;
        size_t wanted;
        const size_t got = tamis__frame_read(nonce, data + at, bytes - at, &frame, &wanted);
        FUZZ_CHECK(got == 0 || wanted == 0);
        FUZZ_CHECK(wanted == 0 || wanted > bytes - at);
        if (got > 0) check_frame(nonce, &frame, data + at, got);
        at += got > 0 ? got : TAMIS__FRAME_UNIT;
    }
}

/* Let each frame have the checksum and the padding that it should, so that what is behind them is
 * reached. */
static void mend(uint64_t nonce, uint8_t *data, size_t bytes)
{
    for (size_t at = 0; bytes - at >= TAMIS__FRAME_UNIT;) {
        struct tamis__frame_header header;
        memcpy(&header, data + at, sizeof header);
        size_t whole = tamis__frame_bytes(header.payload_bytes);
        if (whole > bytes - at || whole < header.payload_bytes) whole = TAMIS__FRAME_UNIT;
        if (whole >= sizeof header + header.payload_bytes)
            memset(data + at + sizeof header + header.payload_bytes, 0,
                   whole - sizeof header - header.payload_bytes);
        header.checksum = tamis__checksum_from(nonce, data + at + 8, whole - 8);
        memcpy(data + at, &header.checksum, 8);
        at += whole;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *reason = NULL;
    const int rc = tamis__log_header_check(data, bytes, &reason);
    FUZZ_CHECK(rc == 0 || rc == TAMIS_ECORRUPT || rc == TAMIS_EVERSION || rc == TAMIS_EFOREIGN);
    FUZZ_CHECK(reason != NULL && *reason != '\0');
    if (bytes < 8 || bytes > (size_t)1 << 20) return 0;
    const uint64_t nonce = tamis__get64(data);
    uint8_t *own = malloc(bytes - 8 + !(bytes - 8)); /* its own, so that ASan sees its end */
    if (own == NULL) return 0;
    memcpy(own, data + 8, bytes - 8);
    run(nonce, own, bytes - 8);
    mend(nonce, own, bytes - 8);
    run(nonce, own, bytes - 8);
    free(own);
    return 0;
}
