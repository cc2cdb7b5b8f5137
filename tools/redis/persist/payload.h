/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * payload.h: what DUMP gives of a value, as a thread reads it.
 *
 *     7  0x81  module and encoding version  the value  0  version of RDB  CRC-64
 *     1   1               8                            1        2           8      bytes
 *
 * The server's own functions read a payload in the main thread only.  So rdb*.c read by those of
 * load.h, which call the server's functions, or in a thread those below.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_HEAD_BYTES 10u
#define PAYLOAD_TAIL_BYTES 10u

/* Begins the payload like that of a module's value?  Tells the name of the module's type, the
 * version of its encoding, and the version of RDB. */
struct payload_head {
    char type[10];
    int encoding;
    unsigned rdb_version;
};
bool payload_has_head(const void *payload, size_t bytes, struct payload_head *head);
/* Is the checksum right? */
bool payload_is_whole(const void *payload, size_t bytes);
/* Writes a payload of that version that no server can load, with a right checksum. */
#define PAYLOAD_EMPTY_BYTES (1 + PAYLOAD_TAIL_BYTES)
void payload_write_empty(unsigned rdb_version, unsigned char payload[PAYLOAD_EMPTY_BYTES]);

/* Reads the value of a payload, number by number.  What is damaged sets `failed`, for good. */
struct payload {
    const unsigned char *at, *end;
    bool failed;
};
struct payload payload_value(const void *payload, size_t bytes);
uint64_t payload_number(struct payload *payload);
double payload_double(struct payload *payload);
/* RedisModule_Free() frees it.  NULL: failed. */
char *payload_string(struct payload *payload, size_t *bytes);
/* Was all of the value read, and nothing wrong? */
bool payload_is_read(const struct payload *payload);
