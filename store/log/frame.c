/* SPDX-License-Identifier: BSD-2-Clause */
/* frame.c: see frame.h. */
#include "log/frame.h"

#define HEADER_BYTES sizeof(struct tamis__frame_header)
#define DIGEST_BYTES 16u
#define LENGTH_BYTES 4u
#define SUM_BYTES sizeof(uint64_t)

/* ---- The header of a log --------------------------------------------------------------------- */

void tamis__log_header_seal(struct tamis__log_header *header)
{
    memcpy(header->magic, TAMIS__LOG_MAGIC, sizeof header->magic);
    header->format_version = TAMIS__LOG_VERSION;
    header->header_bytes = TAMIS__LOG_HEADER_BYTES;
    header->checksum = tamis__checksum(header, offsetof(struct tamis__log_header, checksum));
}

int tamis__log_header_check(const void *buffer, size_t bytes, const char **reason)
{
    struct tamis__log_header header;
    *reason = "is shorter than the header of a log";
    if (bytes < sizeof header) return TAMIS_ECORRUPT;
    memcpy(&header, buffer, sizeof header);
    *reason = "is no log of Tamis";
    if (memcmp(header.magic, TAMIS__LOG_MAGIC, sizeof header.magic) != 0) return TAMIS_EFOREIGN;
    *reason = "was written by a newer version of Tamis; use that";
    if (header.format_version > TAMIS__LOG_VERSION) return TAMIS_EVERSION;
    *reason = "has a header that does not match its checksum";
    if (header.checksum != tamis__checksum(buffer, offsetof(struct tamis__log_header, checksum)))
        return TAMIS_ECORRUPT;
    *reason = "has a header of another shape";
    if (header.format_version == 0 || header.header_bytes != TAMIS__LOG_HEADER_BYTES ||
        !tamis__is_zero(header.zero, sizeof header.zero))
        return TAMIS_ECORRUPT;
    *reason = "is a log of Tamis";
    return 0;
}

/* ---- Writing a frame ------------------------------------------------------------------------- */

unsigned char *tamis__frame_put_digest(unsigned char *at, struct tamis__digest digest)
{
    memcpy(at, &digest.high, sizeof digest.high);
    memcpy(at + sizeof digest.high, &digest.low, sizeof digest.low);
    return at + DIGEST_BYTES;
}

unsigned char *tamis__frame_put_key(unsigned char *at, const void *key, uint32_t key_bytes)
{
    memcpy(at, &key_bytes, LENGTH_BYTES);
    if (key_bytes > 0) memcpy(at + LENGTH_BYTES, key, key_bytes);
    return at + LENGTH_BYTES + key_bytes;
}

size_t tamis__frame_seal(uint64_t nonce, const struct tamis__frame *frame, unsigned char *buffer)
{
    const size_t bytes = tamis__frame_bytes(frame->payload_bytes);
    struct tamis__frame_header header = {.magic = TAMIS__FRAME_MAGIC,
                                         .type = frame->type,
                                         .segment = frame->segment,
                                         .epoch = frame->epoch,
                                         .count = frame->count,
                                         .payload_bytes = (uint32_t)frame->payload_bytes};
    memcpy(buffer, &header, HEADER_BYTES);
    memset(buffer + HEADER_BYTES + frame->payload_bytes, 0,
           bytes - HEADER_BYTES - frame->payload_bytes);
    header.checksum = tamis__checksum_from(nonce, buffer + SUM_BYTES, bytes - SUM_BYTES);
    memcpy(buffer, &header.checksum, SUM_BYTES);
    return bytes;
}

/* ---- Reading one ----------------------------------------------------------------------------- */

/* Can this be a frame, by its header alone? */
static bool is_plausible(const struct tamis__frame_header *header)
{
    if (header->magic != TAMIS__FRAME_MAGIC) return false;
    if (header->count == 0 || header->count > TAMIS__FRAME_KEYS_MAX) return false;
    if (header->type == TAMIS__FRAME_DIGESTS)
        return header->payload_bytes == header->count * DIGEST_BYTES;
    return header->type == TAMIS__FRAME_KEYS &&
           header->payload_bytes >= header->count * LENGTH_BYTES &&
           header->payload_bytes <= TAMIS__FRAME_PAYLOAD_MAX;
}

/* Do the lengths of its keys add up to the payload? */
static bool holds_keys(const struct tamis__frame *frame)
{
    size_t at = 0;
    for (uint32_t i = 0; i < frame->count; i++) {
        if (frame->payload_bytes - at < LENGTH_BYTES) return false;
        const size_t key_bytes = tamis__get32(frame->payload + at);
        at += LENGTH_BYTES;
        if (frame->payload_bytes - at < key_bytes) return false;
        at += key_bytes;
    }
    return at == frame->payload_bytes;
}

size_t tamis__frame_read(uint64_t nonce, const unsigned char *buffer, size_t bytes,
                         struct tamis__frame *frame, size_t *wanted)
{
    struct tamis__frame_header header;
    *wanted = 0;
    if (bytes < HEADER_BYTES) return 0;
    memcpy(&header, buffer, HEADER_BYTES);
    if (!is_plausible(&header)) return 0;
    const size_t whole = tamis__frame_bytes(header.payload_bytes);
    if (whole > bytes) {
        *wanted = whole;
        return 0;
    }
    if (header.checksum != tamis__checksum_from(nonce, buffer + SUM_BYTES, whole - SUM_BYTES))
        return 0;
    *frame = (struct tamis__frame){.type = header.type,
                                   .count = header.count,
                                   .segment = header.segment,
                                   .epoch = header.epoch,
                                   .payload = buffer + HEADER_BYTES,
                                   .payload_bytes = header.payload_bytes};
    const size_t end = HEADER_BYTES + header.payload_bytes;
    if (!tamis__is_zero(buffer + end, whole - end)) return 0;
    return frame->type == TAMIS__FRAME_DIGESTS || holds_keys(frame) ? whole : 0;
}

struct tamis__digest tamis__frame_digest(const struct tamis__frame *frame, uint32_t i)
{
    const unsigned char *at = frame->payload + (size_t)i * DIGEST_BYTES;
    return (struct tamis__digest){.high = tamis__get64(at), .low = tamis__get64(at + 8)};
}

struct tamis_key tamis__frame_next_key(const struct tamis__frame *frame, size_t *offset)
{
    const unsigned char *at = frame->payload + *offset;
    const struct tamis_key key = {.data = at + LENGTH_BYTES, .bytes = tamis__get32(at)};
    *offset += LENGTH_BYTES + key.bytes;
    return key;
}
