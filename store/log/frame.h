/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.h: what a log consists of, as docs/format.md section 4 gives it: a page with a header, then
 * frames.  A log is a file with the keys that a durable filter took since its last checkpoint; a
 * frame is one record of it.
 *
 * A frame begins at a multiple of 64 bytes.  Only its checksum tells it from the bytes around it,
 * so the frames behind a torn one are found.  The checksum begins from the log's nonce, which
 * nobody outside knows: nobody can choose keys whose logged bytes look like a frame.
 *
 * Nothing here does I/O: it is what a fuzzer feeds.
 */
#pragma once

#include "hash/digest.h"
#include "segment/header.h"

#define TAMIS__LOG_MAGIC "TAMLOG\r\n" /* 8 bytes, without its NUL */
#define TAMIS__LOG_VERSION 1u
#define TAMIS__LOG_HEADER_BYTES 4096u

#define TAMIS__LOG_FIELDS(FIELD, s)                                                                \
    FIELD(s, 0, uint8_t, magic, [8], "`TAMLOG` CR LF")                                             \
    FIELD(s, 8, uint32_t, format_version, , "1; refuse a greater one")                             \
    FIELD(s, 12, uint32_t, header_bytes, , "4096")                                                 \
    FIELD(s, 16, uint64_t, store_id, , "of the store record (2.2)")                                \
    FIELD(s, 24, uint64_t, filter_id, , "as in the name")                                          \
    FIELD(s, 32, uint64_t, nonce, , "random, as in the name")                                      \
    FIELD(s, 40, uint8_t, boot_id, [TAMIS__BOOT_ID_BYTES],                                         \
          "as in a segment (3.1.3), of the boot under which it was made")                          \
    FIELD(s, 56, int64_t, created_at, , "time")                                                    \
    FIELD(s, 64, uint64_t, checksum, , "XXH3-64 of the 64 bytes before")                           \
    FIELD(s, 72, uint8_t, zero, [4024], "0")
TAMIS__FILE_STRUCT(tamis__log_header, TAMIS__LOG_FIELDS, TAMIS__LOG_HEADER_BYTES);

/* Closes the header with its checksum. */
void tamis__log_header_seal(struct tamis__log_header *header);
/* Is this the header of a log?  Returns 0, or TAMIS_EFOREIGN, TAMIS_EVERSION or TAMIS_ECORRUPT;
 * *reason is a clause that fits behind the name of the file. */
int tamis__log_header_check(const void *buffer, size_t bytes, const char **reason);

#define TAMIS__FRAME_MAGIC 0x0A4D5246u /* "FRM\n" */
#define TAMIS__FRAME_UNIT 64u
#define TAMIS__FRAME_KEYS_MAX 1024u
/* The most bytes of raw keys.  A single key may have as many bytes as this, less
 * its length field. */
#define TAMIS__FRAME_PAYLOAD_MAX ((size_t)16 << 20)

enum tamis__frame_type {
    TAMIS__FRAME_DIGESTS = 1, /* 128-bit digests, high half first */
    TAMIS__FRAME_KEYS = 2,    /* length as u32, bytes; for hash sets that have no such digest */
};

#define TAMIS__FRAME_FIELDS(FIELD, s)                                                              \
    FIELD(s, 0, uint64_t, checksum, ,                                                              \
          "XXH3-64 with the nonce as seed, of all bytes from 8 to the end of the frame")           \
    FIELD(s, 8, uint32_t, magic, , "`FRM` LF")                                                     \
    FIELD(s, 12, uint32_t, type, , "1: digests; 2: keys")                                          \
    FIELD(s, 16, uint64_t, segment, , "number of the segment that the keys were added to")         \
    FIELD(s, 24, uint64_t, epoch, ,                                                                \
          "1, and one more each time that the log has begun anew at its front")                    \
    FIELD(s, 32, uint32_t, count, , "of keys, 1 to 1024")                                          \
    FIELD(s, 36, uint32_t, payload_bytes, ,                                                        \
          "bytes of the payload, which follows; then 0 to the end of the frame")
TAMIS__FILE_STRUCT(tamis__frame_header, TAMIS__FRAME_FIELDS, 40);

struct tamis__frame {
    enum tamis__frame_type type;
    uint32_t count;
    uint64_t segment, epoch;
    const unsigned char *payload;
    size_t payload_bytes;
};

/* Bytes of a frame with that payload: header and padding included. */
static inline size_t tamis__frame_bytes(size_t payload_bytes)
{
    return (sizeof(struct tamis__frame_header) + payload_bytes + TAMIS__FRAME_UNIT - 1) /
           TAMIS__FRAME_UNIT * TAMIS__FRAME_UNIT;
}

/* Where the payload of a frame at `buffer` goes. */
static inline unsigned char *tamis__frame_payload(unsigned char *buffer)
{
    return buffer + sizeof(struct tamis__frame_header);
}

/* Writes one digest or key to a payload and returns its end. */
unsigned char *tamis__frame_put_digest(unsigned char *at, struct tamis__digest digest);
unsigned char *tamis__frame_put_key(unsigned char *at, const void *key, uint32_t key_bytes);

/* Closes the frame whose payload stands at tamis__frame_payload(buffer).  frame->payload is not
 * read.  Returns the bytes of the frame. */
size_t tamis__frame_seal(uint64_t nonce, const struct tamis__frame *frame, unsigned char *buffer);

/*
 * Reads the frame that begins at `buffer` and returns its bytes, or 0 if there is no whole frame.
 * If *wanted is not 0, it is the length of a frame that begins here, which has more bytes than the
 * `bytes` in the buffer.
 */
size_t tamis__frame_read(uint64_t nonce, const unsigned char *buffer, size_t bytes,
                         struct tamis__frame *frame, size_t *wanted);

/* For a frame that was read: its digest i; and its next key from *offset on, which begins at 0. */
struct tamis__digest tamis__frame_digest(const struct tamis__frame *frame, uint32_t i);
struct tamis_key tamis__frame_next_key(const struct tamis__frame *frame, size_t *offset);
