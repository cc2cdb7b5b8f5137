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

struct tamis__log_header {
    uint8_t magic[8];                      /*    0   8  TAMIS__LOG_MAGIC               */
    uint32_t format_version;               /*    8   4  readers refuse a greater one   */
    uint32_t header_bytes;                 /*   12   4  4096                           */
    uint64_t store_id;                     /*   16   8                                 */
    uint64_t filter_id;                    /*   24   8                                 */
    uint64_t nonce;                        /*   32   8  random, as in the name         */
    uint8_t boot_id[TAMIS__BOOT_ID_BYTES]; /*   40  16  under which it was made        */
    int64_t created_at;                    /*   56   8  ns since 1970 UTC              */
    uint64_t checksum;                     /*   64   8  XXH3-64 of the 64 bytes before */
    uint8_t zero[4024];                    /*   72 4024 0                              */
};
TAMIS__AT(struct tamis__log_header, format_version, 8);
TAMIS__AT(struct tamis__log_header, header_bytes, 12);
TAMIS__AT(struct tamis__log_header, store_id, 16);
TAMIS__AT(struct tamis__log_header, filter_id, 24);
TAMIS__AT(struct tamis__log_header, nonce, 32);
TAMIS__AT(struct tamis__log_header, boot_id, 40);
TAMIS__AT(struct tamis__log_header, created_at, 56);
TAMIS__AT(struct tamis__log_header, checksum, 64);
TAMIS__AT(struct tamis__log_header, zero, 72);
TAMIS__SIZE(struct tamis__log_header, TAMIS__LOG_HEADER_BYTES);

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

struct tamis__frame_header {
    uint64_t checksum;      /*    0   8  XXH3-64 of all that follows, from the log's nonce */
    uint32_t magic;         /*    8   4  TAMIS__FRAME_MAGIC                                */
    uint32_t type;          /*   12   4  enum tamis__frame_type                            */
    uint64_t segment;       /*   16   8  number of the segment that its keys are in        */
    uint64_t epoch;         /*   24   8  how often the log had begun anew                  */
    uint32_t count;         /*   32   4  keys, 1 to 1024                                   */
    uint32_t payload_bytes; /*   36   4  bytes of keys; then 0 up to a multiple of 64      */
};
TAMIS__AT(struct tamis__frame_header, magic, 8);
TAMIS__AT(struct tamis__frame_header, type, 12);
TAMIS__AT(struct tamis__frame_header, segment, 16);
TAMIS__AT(struct tamis__frame_header, epoch, 24);
TAMIS__AT(struct tamis__frame_header, count, 32);
TAMIS__AT(struct tamis__frame_header, payload_bytes, 36);
TAMIS__SIZE(struct tamis__frame_header, 40);

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
